//! Rows that tuned do not certify, also if they were rounded, shifted or shuffled, and rows that did not are
//! not taken for them.

use abstain::{Encoding, Labels, Logits, Loss, MemoryRows};
use abstain_kit::Lcg;
use abstain_lab::{
    CertifyRequest, LabError, Target, TuneRequest, Warning, certify, tune, tune_with_test,
};

const CLASSES: usize = 6;

type Set = (Vec<f64>, Vec<u32>);

fn rows(count: usize, seed: u64) -> Set {
    let mut random = Lcg(seed);
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for row in 0..count {
        let (label, signal) = (row % CLASSES, 6.0 * random.next());
        for class in 0..CLASSES {
            logits.push(2.0 * random.normal() + if class == label { signal } else { 0.0 });
        }
        labels.push(u32::try_from(label).expect("small"));
    }
    (logits, labels)
}

fn source((logits, labels): &Set) -> MemoryRows<'static> {
    let labels = Labels::new(labels, CLASSES).expect("labels");
    let logits = Logits::new(logits.clone(), CLASSES).expect("logits");
    MemoryRows::zero_one(logits, labels).expect("rows")
}

fn changed((logits, labels): &Set, change: impl Fn(f64) -> f64) -> Set {
    (logits.iter().map(|x| change(*x)).collect(), labels.clone())
}

/// Some rows of each of two sets.
fn mixed(some: &Set, of_some: usize, others: &Set) -> Set {
    let logits = [&some.0[..of_some * CLASSES], &others.0[..]].concat();
    (logits, [&some.1[..of_some], &others.1[..]].concat())
}

fn request() -> CertifyRequest {
    CertifyRequest { delta: Some(0.1), ..CertifyRequest::uncertified(Target::Risk(0.5)) }
}

fn tuning() -> TuneRequest {
    TuneRequest {
        methods: vec!["MaxLogit-pNorm".parse().expect("a method")],
        ..TuneRequest::default()
    }
}

#[test]
fn changed_tuning_rows_do_not_certify() {
    let (tuned, fresh) = (rows(400, 1), rows(400, 2));
    let artifact = tune(&tuning(), &mut source(&tuned), &mut |_| {}).expect("tuned").artifact;
    let refused = |set: &Set| {
        let found = certify(&artifact, &request(), &mut source(set));
        matches!(found, Err(LabError::CertifyingRowsTuned | LabError::CertifyingRowsShared))
    };
    let half = |x: f64| abstain::half::f16::from_f64(x).to_f64();
    let rounded = |x: f64| (x * 1000.0).round() / 1000.0;
    assert!(refused(&tuned));
    assert!(refused(&changed(&tuned, half)), "half precision");
    assert!(refused(&changed(&tuned, rounded)), "three decimals");
    assert!(refused(&changed(&tuned, |x| x + 3.7)), "an offset");
    // 59 tuning rows among 209, and the same rounded.
    let part = mixed(&tuned, 59, &rows(150, 3));
    assert!(refused(&part) && refused(&changed(&part, rounded)));
    let found = certify(&artifact, &request(), &mut source(&fresh)).expect("certified");
    assert!(!found.warnings.iter().any(|found| matches!(found, Warning::SharedRows { .. })));
    // The same rows as test rows of a certificate.
    let certified = TuneRequest { target: Some(Target::Risk(0.5)), delta: Some(0.1), ..tuning() };
    let with_test = |test: &Set| {
        tune_with_test(&certified, &mut source(&tuned), &mut source(test), &mut |_| {})
    };
    let refusal = with_test(&changed(&part, rounded)).expect_err("shared rows");
    assert!(matches!(refusal, LabError::CertifyingRowsShared), "{refusal}");
    assert!(with_test(&fresh).is_ok());
}

#[test]
fn test_rows_count_as_compared_in_any_order_and_rounded() {
    let (tuned, test) = (rows(300, 5), rows(400, 6));
    let artifact = tune_with_test(&tuning(), &mut source(&tuned), &mut source(&test), &mut |_| {})
        .expect("tuned")
        .artifact;
    let tried =
        |set: &Set| certify(&artifact, &request(), &mut source(set)).expect("certified").tried;
    let reversed = (
        test.0.chunks(CLASSES).rev().flatten().copied().collect(),
        test.1.iter().rev().copied().collect(),
    );
    assert_eq!((tried(&test), tried(&reversed)), (2, 2));
    assert_eq!(tried(&changed(&test, |x| (x * 1000.0).round() / 1000.0)), 2);
    assert_eq!(tried(&rows(400, 7)), 1);
}

#[test]
fn coarse_probabilities_of_other_rows_are_not_tuning_rows() {
    let binary = |seed: u64| {
        let mut random = Lcg(seed);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            let p = (random.next() * 100.0).round() / 100.0;
            values.extend([1.0 - p, p]);
            labels.push(u32::from(random.next() < p));
        }
        let encoding = Encoding::Probabilities { floor: None, tolerance: None };
        let logits =
            encoding.logits(abstain::logits::Values::from(values), 2).expect("probabilities");
        let labels = Labels::new(&labels, 2).expect("labels");
        MemoryRows::new(logits, encoding, labels, Loss::ZeroOne).expect("rows")
    };
    let artifact = tune(&tuning(), &mut binary(1), &mut |_| {}).expect("tuned").artifact;
    let found = certify(&artifact, &request(), &mut binary(2)).expect("certified");
    assert_eq!(found.warnings, []);
}
