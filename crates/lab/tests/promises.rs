//! The promise of the whole experiment, simulated: tuned, chosen and certified in one go, a certificate
//! fails no more often than it says.

use abstain::certify::Procedure;
use abstain::{Artifact, Estimator, Labels, Logits, Losses, MemoryRows, Method, Weights};
use abstain_kit::Lcg;
use abstain_lab::{
    CertifyRequest, Contender, Holdout, LabError, MeasuredRows, Reason, Target, TuneRequest,
    certify, confidence_artifact, tune,
};

const CLASSES: usize = 4;

/// Rows of one population: a classifier that is right more often the stronger the signal, and whose
/// logits have a scale that says nothing.
fn rows(count: usize, spread: f64, random: &mut Lcg) -> (Vec<f64>, Vec<u32>) {
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for row in 0..count {
        let label = row % CLASSES;
        let (signal, scale) = (5.0 * random.next(), 0.3 + spread * random.next());
        for class in 0..CLASSES {
            let mean = if class == label { signal } else { 0.0 };
            logits.push(scale * (mean + random.normal()));
        }
        labels.push(u32::try_from(label).expect("small"));
    }
    (logits, labels)
}

#[test]
fn a_certificate_of_the_whole_experiment_holds() {
    let mut random = Lcg(7);
    // The population itself, nearly.
    let (population, truth) = rows(60_000, 2.0, &mut random);
    let population = Logits::new(&population, CLASSES).expect("valid");
    let risk_above = |estimator: &Estimator, at: f64| {
        let answers = Artifact::new(estimator.clone()).answers(&population).expect("answers");
        let accepted = answers.iter().zip(&truth).filter(|(answer, _)| answer.confidence >= at);
        let (mut rows, mut wrong) = (0.0, 0.0);
        for (answer, label) in accepted {
            rows += 1.0;
            wrong += f64::from(u8::from(answer.prediction != *label));
        }
        wrong / rows
    };
    let methods: Vec<Method> =
        ["MaxLogit-pNorm", "Stack"].iter().map(|name| name.parse().expect("a method")).collect();
    let (target, delta, runs) = (0.1, 0.1, 400);
    let (mut issued, mut broken, mut uncertified) = (0, 0, 0);
    for seed in 0..runs {
        let (logits, labels) = rows(600, 2.0, &mut random);
        let logits = Logits::new(&logits, CLASSES).expect("valid");
        let labels = Labels::new(&labels, CLASSES).expect("valid");
        let mut request = TuneRequest {
            methods: methods.clone(),
            target: Some(Target::Risk(target)),
            delta: Some(delta),
            procedure: if seed % 2 == 0 { Procedure::FixedSequence } else { Procedure::Sgr },
            // The default, and another share of the rows.
            holdout: (seed % 4 < 2).then_some(Holdout::Share(0.4)),
            ..TuneRequest::default()
        };
        request.tuner.seed = seed;
        let mut source = MemoryRows::zero_one(logits, labels).expect("rows");
        let report = tune(&request, &mut source, &mut |_| {}).expect("a report").report;
        if let Some(certificate) = report.certificate {
            issued += 1;
            // Ties with the target are no failure: the population here is a sample, too.
            let fails = |at| risk_above(&report.choice.estimator, at) > target + 0.002;
            broken += usize::from(fails(certificate.threshold));
            uncertified +=
                usize::from(report.at_target.is_some_and(|found| fails(found.threshold)));
        }
    }
    assert!(issued > runs / 2, "{issued} certificates of {runs}");
    // δ of all runs, and what chance may add to it: three standard deviations.
    let allowed = delta * runs as f64 + 3.0 * (delta * (1.0 - delta) * runs as f64).sqrt();
    assert!((broken as f64) < allowed, "{broken} of {issued} were broken");
    // The threshold that just met the target on the same rows does not hold so often.
    assert!(uncertified as f64 > allowed, "{uncertified} of {issued} thresholds were broken");
    println!("of {issued}, {broken} certificates and {uncertified} bare thresholds were broken");
}

/// The certifying rows have no part in the choice, so that the choice costs nothing of δ: whatever their
/// labels are, the estimator stays the same.
#[test]
fn certifying_rows_do_not_choose() {
    let mut random = Lcg(3);
    // One classifier whose MSP is broken, and one whose MSP is fine.
    let sets = [30.0, 0.5].map(|spread| rows(2000, spread, &mut random));
    let mut seen = Vec::new();
    for (set, methods, fallback) in [
        (0, "MSP", "veto"),
        (0, "Stack", "veto"),
        (0, "Stack", "none"),
        (1, "Stack", "veto"),
        (0, "LogitsMargin", "standard-errors=50"),
        (1, "MaxLogit-pNorm", "veto=0"),
        (1, "LogitsMargin,MaxLogit-pNorm,HTS", "veto"),
    ] {
        let (logits, labels) = &sets[set];
        let mut request = TuneRequest {
            methods: TuneRequest::methods_by_name(&methods.split(',').collect::<Vec<_>>())
                .expect("methods"),
            target: Some(Target::Risk(0.1)),
            delta: Some(0.1),
            ..TuneRequest::default()
        };
        request.tuner.fallback = fallback.parse().expect("a rule");
        let report = |labels: &[u32]| {
            let rows = labels.len();
            let logits = Logits::new(logits.clone(), CLASSES).expect("valid");
            let labels = Labels::new(labels, CLASSES).expect("valid");
            let mut source = MemoryRows::zero_one(logits, labels).expect("rows");
            let found = tune(&request, &mut source, &mut |_| {}).expect("a report");
            // Where nothing is tuned, every row certifies.
            let all = || (0..rows).collect();
            (found.report, found.run.rows.unwrap_or_else(all))
        };
        let (found, certifying) = report(labels);
        let mut other = labels.clone();
        for &row in &certifying {
            other[row] = (other[row] + 1) % 4;
        }
        let (changed, _) = report(&other);
        assert_eq!(found.choice.estimator, changed.choice.estimator, "{methods}, {fallback}");
        assert_ne!(found.accuracy, changed.accuracy);
        if let Some(certificate) = found.certificate {
            assert_eq!(certificate.tried, 1);
            assert_eq!(certificate.rows, certifying.len());
            seen.push(found.choice.reason);
        }
    }
    for reason in [Reason::Confirmed, Reason::AsRequested, Reason::FellBack, Reason::OnlyMsp] {
        assert!(seen.contains(&reason), "{reason:?} is not among {seen:?}");
    }
    let untargeted = TuneRequest { delta: Some(0.1), target: None, ..TuneRequest::default() };
    assert!(matches!(untargeted.check(), Err(LabError::DeltaWithoutTarget)));
}

/// Rows that are drawn unevenly, with weights that make up for it: hard rows are a fifth of the sample and
/// two thirds of the population. The confidence says nothing, so that the risk of the population is just
/// above the target at every threshold: each certificate is broken.
fn uneven(count: usize, target: f64, random: &mut Lcg) -> MeasuredRows {
    let (mut confidences, mut losses, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let easy_risk = 0.2 * target;
    let hard_risk = 1.5 * (1.001 * target - easy_risk / 3.0);
    for _ in 0..count {
        let hard = random.next() < 0.2;
        let risk = if hard { hard_risk } else { easy_risk };
        confidences.push(random.next());
        losses.push(if random.next() < risk { 1.0 } else { 0.0 });
        weights.push(if hard { 4.0 } else { 0.5 });
    }
    let losses = Losses::new(losses).expect("losses");
    let mut rows = MeasuredRows::new(Contender::of_column("mine", confidences), Some(losses));
    rows.weights = Some(Weights::new(weights).expect("weights"));
    rows
}

#[test]
fn certificates_of_weighted_rows_hold_in_the_worst_case() {
    let mut random = Lcg(11);
    let (target, delta, runs) = (0.1, 0.1, 2000_u32);
    let artifact = confidence_artifact();
    for (procedure, max_weight) in [
        (Procedure::FixedSequence, 4.0),
        // A bound that is too large keeps fewer rows, and is as safe.
        (Procedure::FixedSequence, 6.0),
        (Procedure::Sgr, 4.0),
    ] {
        let request = CertifyRequest {
            delta: Some(delta),
            procedure,
            max_weight: Some(max_weight),
            ..CertifyRequest::uncertified(Target::Risk(target))
        };
        let (mut broken, mut ignoring) = (0_u32, 0_u32);
        for _ in 0..runs {
            let rows = uneven(800, target, &mut random);
            let mut unweighted = rows.clone();
            broken += u32::from(certify(&artifact, &request, rows).is_ok());
            unweighted.weights = None;
            let request = CertifyRequest { max_weight: None, ..request };
            ignoring += u32::from(certify(&artifact, &request, unweighted).is_ok());
        }
        println!(
            "{procedure:?}, {max_weight}: {broken} of {runs} broken, {ignoring} without weights"
        );
        let expected = delta * f64::from(runs);
        let allowed = expected + 3.0 * (expected * (1.0 - delta)).sqrt();
        assert!(f64::from(broken) < allowed, "{broken} of {runs} were broken");
        assert!(f64::from(ignoring) > 5.0 * allowed, "{ignoring} of {runs} without the weights");
    }
}
