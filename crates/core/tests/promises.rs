//! Statistical promises, simulated: a certificate at level δ is broken in at most δ of the runs, and
//! an interval holds the truth about as often as it says. Seeds are fixed.

use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::certify::{Certifier, Pilot, Procedure, Reason, bound_everywhere, upper_bound};
use abstain::internal::Profiles;
use abstain::{Bootstrap, Estimator, Labels, Logits, Losses, Metric, RcCurve, Tuner, curve::Knot};

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows with uniform confidences, in `levels` steps or (0) without ties, and the chance of an error
/// that goes with each.
fn rows(
    random: &mut Random,
    n: usize,
    levels: u32,
    risk: impl Fn(f64) -> f64,
) -> (Vec<f64>, Losses) {
    let (mut confidences, mut losses) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let c = random.uniform();
        let step = f64::from(levels);
        confidences.push(if levels == 0 { c } else { (c * step).floor() / step });
        losses.push(f64::from(u8::from(random.uniform() < risk(c))));
    }
    (confidences, Losses::new(losses).expect("zeros and ones"))
}

/// The share that chance allows beyond δ: three standard deviations of a share of so many runs.
fn allowed(delta: f64, runs: u32) -> f64 {
    delta + 3.0 * (delta * (1.0 - delta) / f64::from(runs)).sqrt()
}

/// The ways to certify: both procedures, and the fixed sequence with a pilot.
const WAYS: [(Procedure, bool); 3] =
    [(Procedure::FixedSequence, false), (Procedure::FixedSequence, true), (Procedure::Sgr, false)];

/// A certifier that knows other rows of the same population, if it wants a pilot.
fn certifier(
    (procedure, with_pilot): (Procedure, bool),
    delta: f64,
    random: &mut Random,
    levels: u32,
    risk: impl Fn(f64) -> f64,
) -> Certifier {
    let (confidences, losses) = rows(random, 200, levels, risk);
    let curve = RcCurve::new(&confidences, &losses).expect("a curve");
    let pilot = Pilot::of(&curve).filter(|_| with_pilot);
    Certifier { procedure, pilot, ..Certifier::risk(0.05, delta) }
}

/// Every threshold is truly bad, so that any certificate is broken.
#[test]
fn hopeless_targets_are_certified_at_most_delta_of_the_time() {
    let (runs, delta) = (1000, 0.05);
    for levels in [0, 20] {
        for way in WAYS {
            let mut broken = 0;
            for run in 0..runs {
                let mut random = Random::new(u64::from(run));
                let certifier = certifier(way, delta, &mut random, levels, |_| 0.055);
                let (confidences, losses) = rows(&mut random, 600, levels, |_| 0.055);
                let curve = RcCurve::new(&confidences, &losses).expect("a curve");
                broken += u32::from(certifier.widest(&curve).expect("valid").is_some());
            }
            let share = f64::from(broken) / f64::from(runs);
            println!("{way:?}, {levels} levels: {share:.4} of {runs} runs");
            assert!(share <= allowed(delta, runs), "{way:?}, {levels} levels: {share}");
        }
    }
}

/// Strict thresholds are good and loose ones bad: the chance of an error falls from 0.2 to 0 as the
/// confidence rises, so that accepting everything from t on has the risk 0.1 (1 − t).
#[test]
fn reachable_targets_are_broken_at_most_delta_of_the_time() {
    let (runs, delta) = (1000, 0.1);
    for levels in [0, 20] {
        let mut coverages = Vec::new();
        for way in WAYS {
            let (mut broken, mut found, mut coverage) = (0, 0, 0.0);
            for run in 0..runs {
                let mut random = Random::new(u64::from(run) + 10_000);
                let risk = |c: f64| 0.2 * (1.0 - c);
                let certifier = certifier(way, delta, &mut random, levels, risk);
                let (confidences, losses) = rows(&mut random, 800, levels, risk);
                let curve = RcCurve::new(&confidences, &losses).expect("a curve");
                if let Some(certificate) = certifier.widest(&curve).expect("valid") {
                    found += 1;
                    coverage += certificate.coverage();
                    assert_eq!(certificate.check(), Ok(()));
                    // 0.5 itself is exactly at the target.
                    broken += u32::from(0.1 * (1.0 - certificate.threshold) > 0.05 + 1e-9);
                }
            }
            let share = f64::from(broken) / f64::from(runs);
            let mean = coverage / f64::from(runs);
            println!(
                "{way:?}, {levels} levels: broken {share:.4}, found {found}, coverage {mean:.3}"
            );
            assert!(share <= allowed(delta, runs), "{way:?}, {levels} levels: {share}");
            // A promise that is kept by never certifying anything would be worth nothing.
            assert!(found > runs / 5 && mean > 0.07, "{way:?}: {found}, {mean}");
            coverages.push(mean);
        }
        assert!(coverages[1] > coverages[0], "a pilot is worth nothing: {coverages:?}");
    }
}

/// Rows whose confidences crowd at the top, as scores do that a person or a language model gives, in steps
/// or (0) without ties, and the chance of an error that goes with each. In steps of 5, 22 % of the rows are
/// in the highest with a power of 2, and 37 % with one of 3.
fn crowded(random: &mut Random, n: usize, levels: u32, power: i32) -> (Vec<f64>, Losses) {
    let (mut confidences, mut losses) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let place = random.uniform();
        let (c, step) = (1.0 - place.powi(power), f64::from(levels));
        confidences.push(if levels == 0 { c } else { (c * step).floor() / step });
        losses.push(f64::from(u8::from(random.uniform() < 0.03 + 0.3 * place * place)));
    }
    (confidences, Losses::new(losses).expect("zeros and ones"))
}

/// Of how many samples a certifier certifies a threshold, and the mean coverage.
fn power(
    certifier: &Certifier,
    runs: u32,
    sample: impl Fn(&mut Random) -> (Vec<f64>, Losses),
) -> (u32, f64) {
    let (mut found, mut coverage) = (0, 0.0);
    for run in 0..runs {
        let (confidences, losses) = sample(&mut Random::new(u64::from(run) + 60_000));
        let curve = RcCurve::new(&confidences, &losses).expect("a curve");
        if let Some(certificate) = certifier.widest(&curve).expect("valid") {
            assert_eq!(certificate.check(), Ok(()));
            (found, coverage) = (found + 1, coverage + certificate.coverage());
        }
    }
    (found, coverage / f64::from(runs))
}

/// Scores in steps certify about as much as scores without ties, and more than SGR.
#[test]
fn coarse_confidences_are_certified() {
    let runs = 60;
    let ours = Certifier::risk(0.08, 0.05);
    let sgr = Certifier { procedure: Procedure::Sgr, ..ours.clone() };
    let [fine, five, ten, three] =
        [0, 20, 10, 3].map(|levels| power(&ours, runs, |random| crowded(random, 1500, levels, 2)));
    let steps = |levels| power(&sgr, runs, |random| crowded(random, 1500, levels, 2));
    let (sgr_five, sgr_ten, sgr_three) = (steps(20), steps(10), steps(3));
    println!("without ties {fine:?}, steps of 5 {five:?}, of 10 {ten:?}, three values {three:?}");
    println!("SGR: steps of 5 {sgr_five:?}, of 10 {sgr_ten:?}, three values {sgr_three:?}");
    assert!(five.0 >= 50 && five.1 >= 0.4, "{five:?}");
    let crowd = |certifier| power(certifier, runs, |random| crowded(random, 1500, 20, 3));
    let (many, sgr_many) = (crowd(&ours), crowd(&sgr));
    println!("37 % in the highest step: {many:?}, SGR {sgr_many:?}");
    for (ours, sgr) in [(five, sgr_five), (ten, sgr_ten), (three, sgr_three), (many, sgr_many)] {
        assert!(ours.1 >= sgr.1 - 0.01, "{ours:?} {sgr:?}");
    }
}

/// The coverage that a certificate states is that of the rows it was chosen on, and a little more than that of
/// the population. Its limits hold for the population.
#[test]
fn limits_of_the_coverage_hold_the_truth() {
    for (rows_of, levels) in [(60, 0), (200, 0), (200, 20)] {
        let (mut held, mut found, mut optimism) = (0, 0, 0.0);
        for run in 0..400 {
            let mut random = Random::new(run + 80_000);
            let risk = |c: f64| 0.3 * (1.0 - c);
            let (confidences, losses) = rows(&mut random, rows_of, levels, risk);
            let curve = RcCurve::new(&confidences, &losses).expect("a curve");
            let certifier = Certifier::risk(0.1, 0.1);
            let Some(certificate) = certifier.widest(&curve).expect("valid") else { continue };
            let truth = 1.0 - certificate.threshold;
            let (low, high) = certificate.coverage_limits(0.95);
            assert!(low <= certificate.coverage() && certificate.coverage() <= high);
            found += 1;
            optimism += certificate.coverage() - truth;
            held += u32::from((low..=high).contains(&truth));
        }
        let (share, optimism) = (f64::from(held) / f64::from(found), optimism / f64::from(found));
        println!(
            "{rows_of} rows, {levels} levels: {share:.3} of {found}, too high by {optimism:.3}"
        );
        assert!(found > 50 && share >= 0.95, "{rows_of}, {levels}: {share} of {found}");
    }
}

/// One value for most of the rows: its threshold is certified if the rows allow it, few rows or many.
#[test]
fn a_large_tie_at_the_top_is_certified() {
    for (n, target) in [(100, 0.2), (400, 0.12), (1500, 0.08)] {
        let top = |random: &mut Random| {
            let (mut confidences, mut losses) = (Vec::new(), Vec::new());
            for _ in 0..n {
                let place = random.uniform();
                let rest = (1.0 - place) / 0.4;
                confidences.push(if place < 0.6 { 1.0 } else { (rest * 20.0).floor() / 20.0 });
                let risk = if place < 0.6 { 0.4 } else { 1.0 + 2.5 * (1.0 - rest) } * target;
                losses.push(f64::from(u8::from(random.uniform() < risk)));
            }
            (confidences, Losses::new(losses).expect("zeros and ones"))
        };
        let ours = Certifier::risk(target, 0.05);
        let sgr = Certifier { procedure: Procedure::Sgr, ..ours.clone() };
        let (ours, sgr) = (power(&ours, 60, top), power(&sgr, 60, top));
        println!("{n} rows: {ours:?}, SGR {sgr:?}");
        assert!(ours.1 >= sgr.1 - 0.01 && ours.0 >= 25, "{n} rows: {ours:?}, SGR {sgr:?}");
    }
}

/// Where a refusal says how many rows would do, as many certify in at least half of the cases.
#[test]
fn the_number_of_rows_that_would_do_is_true() {
    for (levels, n) in [(0, 150), (0, 400), (20, 150), (20, 400)] {
        let certifier = Certifier::risk(0.08, 0.05);
        let (mut said, mut certified, mut silent) = (0, 0, 0);
        for run in 0..60 {
            let mut random = Random::new(run + 70_000);
            let (confidences, losses) = crowded(&mut random, n, levels, 2);
            let curve = RcCurve::new(&confidences, &losses).expect("a curve");
            let Err(refusal) = certifier.certify(&curve).expect("valid") else { continue };
            let (Reason::NotSure { needed, .. } | Reason::OutOfReach { needed, .. }) =
                refusal.reason
            else {
                panic!("{refusal:?}")
            };
            // Larger ones take the test too long.
            let Some(needed) = needed.filter(|&needed| needed < 8000) else {
                silent += 1;
                continue;
            };
            let (confidences, losses) = crowded(&mut random, needed, levels, 2);
            let curve = RcCurve::new(&confidences, &losses).expect("a curve");
            said += 1;
            certified += u32::from(certifier.widest(&curve).expect("valid").is_some());
        }
        println!("{levels} levels, {n} rows: {certified} of {said}, {silent} silent");
        assert!(said > silent && 2 * certified >= said, "{certified} of {said}, {silent} silent");
    }
}

/// Ten estimators are tried on the same rows and the luckiest is certified.
#[test]
fn choosing_on_the_certifying_rows_is_paid_for() {
    let (runs, delta) = (600, 0.1);
    let share_broken = |tried| {
        let certifier = Certifier { tried, ..Certifier::risk(0.05, delta) };
        let broken = (0..runs).filter(|run| {
            let mut random = Random::new(u64::from(*run) + 20_000);
            (0..10).any(|_| {
                let (confidences, losses) = rows(&mut random, 400, 0, |_| 0.055);
                let curve = RcCurve::new(&confidences, &losses).expect("a curve");
                certifier.widest(&curve).expect("valid").is_some()
            })
        });
        broken.count() as f64 / f64::from(runs)
    };
    let (paid, unpaid) = (share_broken(10), share_broken(1));
    println!("paid for {paid:.4}, not paid for {unpaid:.4}");
    assert!(paid <= allowed(delta, runs), "{paid}");
    assert!(unpaid > allowed(delta, runs), "not paying would do no harm: {unpaid}");
}

/// The values in the population are those of a very large sample.
#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    let metrics: Vec<Metric> =
        ["AURC", "NAURC", "AUROC", "AUGRC", "RiskAtCoverage@0.7", "SAC@0.9", "Accuracy"]
            .map(|text| text.parse().expect("a metric"))
            .to_vec();
    let risk = |c: f64| 0.5 * (1.0 - c);
    let blur = |random: &mut Random, c: &[f64]| -> Vec<f64> {
        c.iter().map(|c| c + 0.8 * random.uniform()).collect()
    };
    let values = |confidences: &[f64], losses: &Losses| -> Vec<f64> {
        let curve = RcCurve::new(confidences, losses).expect("a curve");
        metrics.iter().map(|metric| metric.evaluate(&curve).expect("defined")).collect()
    };
    let mut random = Random::new(99);
    let (sharp, losses) = rows(&mut random, 1_000_000, 0, risk);
    let blurred = blur(&mut random, &sharp);
    let (truth, other) = (values(&sharp, &losses), values(&blurred, &losses));

    let runs: u32 = 300;
    let mut held = vec![[0_u32; 2]; metrics.len()];
    for run in 0..runs {
        let mut random = Random::new(u64::from(run) + 30_000);
        let (sharp, losses) = rows(&mut random, 500, 0, risk);
        let blurred = blur(&mut random, &sharp);
        let bootstrap = Bootstrap { replicates: 300, level: 0.9, seed: u64::from(run) };
        let intervals = bootstrap.intervals(&metrics, &sharp, &losses).expect("valid");
        let pair = bootstrap.differences(&metrics, &blurred, &sharp, &losses).expect("valid");
        for k in 0..metrics.len() {
            let interval = intervals[k].expect("defined");
            held[k][0] += u32::from((interval.low..=interval.high).contains(&truth[k]));
            let pair = pair[k].expect("defined");
            held[k][1] += u32::from((pair.low..=pair.high).contains(&(other[k] - truth[k])));
        }
    }
    // 0.9 ± 3 standard deviations is 0.85 to 0.95. Coverages at an accuracy are searched for and
    // jump from row to row: their intervals, percentiles of the same search, come out wide or
    // short by a few per cent more.
    for (metric, [single, paired]) in metrics.iter().zip(held) {
        let (single, paired) =
            (f64::from(single) / f64::from(runs), f64::from(paired) / f64::from(runs));
        println!("{metric}: {single:.3}, difference {paired:.3}");
        let wide = if metric.to_string().starts_with("SAC") { 0.04 } else { 0.0 };
        assert!((0.85 - wide..=0.95 + wide).contains(&single), "{metric}: {single}");
        // The accuracy does not depend on the confidence: no difference, always held.
        if metric.to_string() == "Accuracy" {
            assert_eq!(paired, 1.0);
        } else {
            assert!(
                (0.85 - wide..=0.95 + wide).contains(&paired),
                "difference of {metric}: {paired}"
            );
        }
    }
}

/// Bounds for all thresholds of two estimators hold at once, so that one may be chosen after looking; those
/// of single thresholds do not.
#[test]
fn bounds_everywhere_hold_at_once() {
    let (runs, delta, n) = (200, 0.1, 150);
    for (levels, falls) in [(0, false), (0, true), (12, false)] {
        let (mut broken, mut broken_alone) = (0, 0);
        for run in 0..runs {
            let mut random = Random::new(u64::from(run) + 50_000);
            let risk = |c: f64| if falls { 0.3 * (1.0 - c) } else { 0.1 };
            let (confidences, losses) = rows(&mut random, n, levels, risk);
            // The other estimator knows nothing: whatever it accepts has the risk of all rows.
            let blind: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
            let of_all = if falls { 0.15 } else { 0.1 };
            let above = |t: f64| if falls { 0.15 * (1.0 - t) } else { 0.1 };
            let breaks = |bound: &dyn Fn(&Knot) -> f64| {
                let of = |confidences: &[f64], truth: &dyn Fn(f64) -> f64| {
                    let curve = RcCurve::new(confidences, &losses).expect("a curve");
                    curve.knots().any(|knot| truth(knot.threshold) > bound(&knot))
                };
                of(&confidences, &above) || of(&blind, &|_| of_all)
            };
            broken += u32::from(breaks(&|knot| bound_everywhere(knot, delta, n, 2)));
            let alone = |knot: &Knot| upper_bound(knot.errors(), knot.accepted, delta);
            broken_alone += u32::from(breaks(&alone));
        }
        let share = f64::from(broken) / f64::from(runs);
        let alone = f64::from(broken_alone) / f64::from(runs);
        println!("{levels} levels, falling: {falls}: {share:.4}, alone {alone:.4} of {runs} runs");
        assert!(share <= allowed(delta, runs), "{levels} levels, {falls}: {share}");
        assert!(alone > allowed(delta, runs), "{levels} levels, {falls}: {alone}");
    }
}

/// Rows of ten classes whose logits say little of which predictions are wrong, but the predicted class
/// says much.
fn rows_whose_classes_differ(rows: usize, seed: u64) -> (Logits<'static>, Labels) {
    let mut random = Random::new(seed);
    let mut uniform = || random.uniform();
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let predicted = row % 10;
        let top = 2.0 + 4.0 * uniform();
        values.extend((0..10).map(|class| if class == predicted { top } else { uniform() }));
        let right = uniform() < if predicted < 2 { 0.3 } else { 0.9 + 0.09 * (top - 2.0) / 4.0 };
        let label = if right { predicted } else { (predicted + 1) % 10 };
        labels.push(i64::try_from(label).expect("small"));
    }
    (Logits::new(values, 10).expect("logits"), Labels::new(&labels, 10).expect("labels"))
}

/// The interval of the gain is that of the estimator that is tuned on all rows, which is better than
/// those of the folds: more rows tell more of the classes.
#[test]
fn the_gain_of_a_fit_holds_on_new_rows() {
    let (logits, labels) = rows_whose_classes_differ(10_000, 1);
    let losses = Losses::zero_one(&logits, &labels).expect("losses");
    let naurc = |estimator: &Estimator| {
        let curve = RcCurve::new(&estimator.confidences(&logits), &losses).expect("a curve");
        Metric::NAURC.evaluate(&curve).expect("defined")
    };
    let msp = naurc(&Estimator::MSP);
    let runs = 60;
    let (mut held, mut fits) = (0, 0);
    for run in 0..runs {
        let (logits, labels) = rows_whose_classes_differ(200, 100 + run);
        let fit = abstain::tune(&logits, &labels).expect("tuned");
        let Some(gain) = fit.gain.ok().filter(|_| fit.estimator != Estimator::MSP) else {
            continue;
        };
        fits += 1;
        held += i32::from((gain.low..=gain.high).contains(&(msp - naurc(&fit.estimator))));
    }
    let share = f64::from(held) / f64::from(fits);
    println!("the gain holds in {share:.3} of {fits} samples");
    // Two standard deviations of chance below 93 %.
    assert!(share >= 0.93 - 2.0 * (0.93 * 0.07 / f64::from(fits)).sqrt(), "{share} of {fits}");
}

/// The logits of a net on images with noise, on which its predicted classes differ much.
fn rows_under_noise() -> (Logits<'static>, Labels) {
    let zoo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo");
    let bytes = std::fs::read(zoo.join("shift/noise-3/resnet-ls.npy")).expect("logits");
    let npy = npyz::NpyFile::new(&bytes[..]).expect("an npy file");
    let logits = Logits::new(npy.into_vec::<abstain::half::f16>().expect("f16"), 10);
    let bytes = std::fs::read(zoo.join("labels.npy")).expect("labels");
    let npy = npyz::NpyFile::new(&bytes[..]).expect("an npy file");
    let labels = Labels::new(&npy.into_vec::<u8>().expect("bytes"), 10);
    (logits.expect("valid logits"), labels.expect("valid labels"))
}

/// The last step of a stack, the offsets of classes, moves the probabilities that the earlier ones fitted;
/// rows out of fold mend them. The order of rows stays as it is.
#[test]
fn the_probability_of_being_right_is_mended_out_of_fold() {
    let (logits, labels) = rows_under_noise();
    let (tuning, fresh): (Vec<usize>, Vec<usize>) =
        (0..logits.rows()).partition(|row| row % 10 == 3);
    let (few, of_few) = (logits.select(&tuning), labels.select(&tuning));
    let tuner = Tuner::default();
    let plan = tuner.plan(&[Tuner::RECOMMENDED]);
    let profiles = Profiles::new(&few, &of_few, &plan).expect("profiles");
    let before = tuner.tune(Tuner::RECOMMENDED, &profiles).expect("tuned").best.estimator;
    let after = abstain::tune(&few, &of_few).expect("tuned").estimator;
    let (logits, labels) = (logits.select(&fresh), labels.select(&fresh));
    let losses = Losses::zero_one(&logits, &labels).expect("losses");
    let ece = |estimator: &Estimator| {
        let reliability = Reliability::new(&estimator.values(&logits), &losses, DEFAULT_BINS);
        reliability.expect("probabilities").ece()
    };
    let (was, is) = (ece(&before), ece(&after));
    println!("ECE {was:.3}, recalibrated {is:.3}");
    assert!(was > 0.1 && is < 0.06, "{was} {is}");
    let aurc = |estimator: &Estimator| {
        let curve = RcCurve::new(&estimator.confidences(&logits), &losses).expect("a curve");
        Metric::AURC.evaluate(&curve).expect("defined")
    };
    assert!((aurc(&before) - aurc(&after)).abs() < 1e-9);
}
