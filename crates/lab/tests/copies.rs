//! Rows that belong together, copies and groups: a certificate counts them once, and no split has them on
//! both sides.

use abstain::{Artifact, Estimator, Labels, Logits, MemoryRows};
use abstain_kit::Lcg;
use abstain_lab::{
    CertifyRequest, Contender, Holdout, LabError, MeasuredRows, Repeats, Target, TuneRequest,
    Warning, certify, confidence_artifact, tune,
};

const CLASSES: usize = 4;

/// Rows of a classifier that is right more often the stronger the signal.
fn rows(count: usize, random: &mut Lcg) -> (Vec<f64>, Vec<u32>) {
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for row in 0..count {
        let label = row % CLASSES;
        let signal = 5.0 * random.next();
        for class in 0..CLASSES {
            logits.push(random.normal() + if class == label { signal } else { 0.0 });
        }
        labels.push(u32::try_from(label).expect("small"));
    }
    (logits, labels)
}

/// Each row so often, with noise of that size.
fn repeated(
    (logits, labels): &(Vec<f64>, Vec<u32>),
    times: usize,
    noise: f64,
    random: &mut Lcg,
) -> MemoryRows<'static> {
    let values: Vec<f64> =
        logits.repeat(times).iter().map(|x| x + noise * random.normal()).collect();
    let groups = (0..times * labels.len()).map(|row| format!("video {}", row % labels.len()));
    let groups = (noise > 0.0).then(|| groups.collect::<Vec<_>>());
    let labels = Labels::new(&labels.repeat(times), CLASSES).expect("labels");
    let rows = MemoryRows::zero_one(Logits::new(values, CLASSES).expect("logits"), labels);
    rows.expect("rows").with_fold_groups(groups)
}

fn certified(risk: f64, repeats: Repeats) -> CertifyRequest {
    CertifyRequest { delta: Some(0.1), repeats, ..CertifyRequest::uncertified(Target::Risk(risk)) }
}

/// Rows of which a share is wrong, whatever their logits: so is it above every threshold.
fn rows_at_risk(count: usize, risk: f64, random: &mut Lcg) -> (Vec<f64>, Vec<u32>) {
    let (logits, _) = rows(count, random);
    let predictions = Logits::new(&logits, CLASSES).expect("logits").predictions();
    let label = |prediction: usize| (prediction + usize::from(random.next() < risk)) % CLASSES;
    let labels = predictions.into_iter().map(label);
    let labels = labels.map(|label| u32::try_from(label).expect("small")).collect();
    (logits, labels)
}

/// δ of all runs, and what chance may add to it: three standard deviations.
fn allowed(runs: usize) -> f64 {
    let runs = runs as f64;
    0.1 * runs + 3.0 * (0.1 * 0.9 * runs).sqrt()
}

#[test]
fn certificates_on_copies_hold() {
    // The risk is above the target at every threshold, so that each certificate is broken.
    let (risk, target, mut random) = (0.105, 0.1, Lcg(2));
    for (count, times, noise, runs) in
        [(100, 10, 0.0, 300), (500, 2, 0.0, 150), (100, 10, 0.02, 300)]
    {
        let (mut broken, mut of_all) = (0, 0);
        for _ in 0..runs {
            let once = rows_at_risk(count, risk, &mut random);
            let certify = |source: &mut MemoryRows<'_>, repeats| {
                certify(&Artifact::new(Estimator::MSP), &certified(target, repeats), source).ok()
            };
            let mut source = repeated(&once, times, noise, &mut random);
            if let Some(found) = certify(&mut source, Repeats::Once) {
                broken += 1;
                let counted = found.counted.expect("rows that belong together");
                assert_eq!((counted.rows, counted.counted), (count * times, count));
            }
            let mut source = source.with_fold_groups(None);
            of_all += usize::from(certify(&mut source, Repeats::Keep).is_some());
        }
        println!("{count} × {times}: of {runs} {broken} broken; {of_all} where each counts");
        assert!(f64::from(broken) < allowed(runs), "{broken} of {runs} were broken");
        assert!(of_all as f64 > allowed(runs), "each counts, and {of_all} were broken");
    }
}

fn request(repeats: Repeats, seed: u64) -> TuneRequest {
    let mut request = TuneRequest {
        methods: vec!["MaxLogit-pNorm".parse().expect("a method")],
        target: Some(Target::Risk(0.15)),
        delta: Some(0.1),
        repeats,
        ..TuneRequest::default()
    };
    request.tuner.seed = seed;
    request
}

#[test]
fn tuning_has_copies_on_one_side_and_certifies_each_once() {
    let mut random = Lcg(5);
    let once = rows(300, &mut random);
    for (noise, holdout) in [(0.0, None), (0.0, Some(Holdout::Usual)), (0.05, None)] {
        let sides = |repeats, together: bool| {
            let source = repeated(&once, 4, noise, &mut Lcg(6));
            let mut source = if together { source } else { source.with_fold_groups(None) };
            let request = TuneRequest { holdout, ..request(repeats, 3) };
            let result = tune(&request, &mut source, &mut |_| {}).expect("tuned");
            let test = result.run.rows.clone().expect("some of the rows");
            let mut both = 0;
            for row in 0..300 {
                let tested = (0..4).filter(|time| test.contains(&(300 * time + row))).count();
                both += usize::from(tested > 0 && tested < 4);
            }
            (both, result)
        };
        let (both, result) = sides(Repeats::Once, true);
        assert_eq!(both, 0, "copies of {both} rows are on both sides");
        let counted = result.report.counted.expect("rows that belong together");
        assert_eq!((counted.rows, 4 * counted.counted), (result.report.test_rows, counted.rows));
        let certificate = result.report.certificate.expect("certified");
        assert_eq!(certificate.rows, counted.counted);
        let reference = result.artifact.reference.as_ref().expect("a reference");
        assert_eq!(reference.confidences.rows, counted.counted);
        // Another target on the same rows counts them once, too.
        let again = result.with_threshold(&certified(0.2, Repeats::Once)).expect("certified");
        assert_eq!(again.report.certificate.expect("certified").rows, counted.counted);
        let (both, result) = sides(Repeats::Keep, false);
        assert!(both > 50, "each counts");
        assert!(result.report.counted.is_none());
        assert!(
            !result.report.warnings.iter().any(|found| matches!(found, Warning::Copies { .. }))
        );
    }
}

#[test]
fn copies_are_counted_and_coarse_rows_are_not() {
    let mut random = Lcg(9);
    let once = rows(250, &mut random);
    let warnings = |source: &mut MemoryRows<'_>| {
        let request = certified(0.3, Repeats::Once);
        certify(&Artifact::new(Estimator::MSP), &request, source).expect("certified").warnings
    };
    let found = warnings(&mut repeated(&once, 2, 0.0, &mut random));
    assert_eq!(found, [Warning::Copies { rows: 500, distinct: 250 }]);
    assert_eq!(warnings(&mut repeated(&once, 1, 0.0, &mut random)), []);
    // Whole numbers are equal by chance.
    let coarse = (once.0.iter().map(|x| x.round()).collect(), once.1.clone());
    assert_eq!(warnings(&mut repeated(&coarse, 1, 0.0, &mut random)), []);
}

#[test]
fn an_id_decides_about_equal_confidences() {
    let mut random = Lcg(11);
    let confidences: Vec<f64> = (0..400).map(|_| (20.0 * random.next()).floor() / 20.0).collect();
    let losses: Vec<f64> = confidences
        .iter()
        .map(|c| if random.next() < 0.3 * (1.0 - c) { 1.0 } else { 0.0 })
        .collect();
    let mut twice = MeasuredRows::new(
        Contender::of_column("judge", confidences.repeat(2)),
        abstain::Losses::new(losses.repeat(2)).ok(),
    );
    let certify = |rows: &MeasuredRows| {
        certify(&confidence_artifact(), &certified(0.15, Repeats::Once), rows.clone())
    };
    let rows_of = |found: abstain_lab::FoundThreshold| {
        found.artifact.threshold().and_then(|found| found.certificate().map(|found| found.rows))
    };
    let bare = certify(&twice).expect("certified");
    assert!(bare.counted.is_none());
    assert_eq!(rows_of(bare), Some(800));
    twice.fold_groups = Some((0..800).map(|row| (row % 400).to_string()).collect());
    assert_eq!(rows_of(certify(&twice).expect("certified")), Some(400));
    twice.weights = abstain::Weights::new(vec![1.0; 800]).ok();
    assert!(matches!(certify(&twice), Err(LabError::GroupsWithWeights)));
}

/// Equal rows with different labels are one row, whose label is drawn.
#[test]
fn equal_rows_with_different_labels_count_once() {
    let (logits, labels) = rows(300, &mut Lcg(13));
    let other = labels.iter().map(|label| (label + 1) % 4);
    let both: Vec<u32> = labels.iter().copied().chain(other).collect();
    let source = |values: &[f64]| {
        let labels = Labels::new(&both, CLASSES).expect("labels");
        let logits = Logits::new(values.repeat(2), CLASSES).expect("logits");
        MemoryRows::zero_one(logits, labels).expect("rows")
    };
    // Half of the labels are wrong by construction, and a loose target still holds.
    let found = certify(
        &Artifact::new(Estimator::MSP),
        &certified(0.7, Repeats::Once),
        &mut source(&logits),
    )
    .expect("certified");
    let certificate = found.artifact.threshold().and_then(|found| found.certificate()).copied();
    let certificate = certificate.expect("a certificate");
    assert_eq!(certificate.rows, 300);
    let share = certificate.errors as f64 / certificate.accepted as f64;
    assert!((0.35..0.7).contains(&share), "{share}");
}
