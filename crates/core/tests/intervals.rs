//! Closed-form intervals: against figures of an independent computation, in edge cases, against the
//! bootstrap's standard errors, and on samples of real sets.

use abstain::half::f16;
use abstain::{
    Bootstrap, Estimator, Interval, Intervals, Labels, Logits, Losses, Metric, RcCurve, Undefined,
    internal::permutation, interval::Compared, logits::Values, metric::MetricKind,
};
use std::path::Path;

const CLOSED: Intervals = Intervals { level: 0.9, replicates: None, seed: 0 };

fn metric(text: &str) -> Metric {
    text.parse().expect("a metric")
}

/// A metric of every kind.
fn every_metric() -> Vec<Metric> {
    let values = |kind: MetricKind| match kind {
        MetricKind::Sac => vec![0.9],
        MetricKind::CoverageAtRisk => vec![0.1],
        MetricKind::RiskAtCoverage => vec![0.7],
        MetricKind::PartialAurc => vec![0.2, 0.8],
        _ => Vec::new(),
    };
    let of_kind = |&kind: &MetricKind| Metric::new(kind, &values(kind)).expect("valid values");
    MetricKind::ALL.iter().map(of_kind).collect()
}

fn one(name: &str, confidences: &[f64], losses: &[f64]) -> Result<Interval, Undefined> {
    let losses = Losses::new(losses.to_vec()).expect("losses");
    CLOSED.intervals(&[metric(name)], confidences, &losses).expect("valid")[0]
}

/// Two confidences with ties, and losses.
fn rows() -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let a: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 23)).collect();
    let b: Vec<f64> = (0..40).map(|i| f64::from(i * 29 % 31)).collect();
    let wrong = [0, 4, 7, 11, 15, 17, 22, 29, 30, 33, 37];
    let zero_one: Vec<f64> = (0..40).map(|i| f64::from(u8::from(wrong.contains(&i)))).collect();
    let graded = (0..40_u8).zip(&zero_one).map(|(i, wrong)| {
        wrong * f64::from(1 + i % 3) * 0.5 + f64::from(u8::from(i % 9 == 0)) * 0.25
    });
    (a, b, graded.collect(), zero_one)
}

/// Computed with NumPy and SciPy from the definitions, place by place, at a level of 90 %: estimate,
/// low, high and standard error of `a`, and of `b` less `a`.
#[test]
fn intervals_are_those_of_an_independent_computation() {
    let (a, b, graded, zero_one) = rows();
    let exchanged = zero_one.iter().map(|loss| 1.0 - loss).collect();
    let [graded, zero_one, exchanged] =
        [graded, zero_one, exchanged].map(|losses| Losses::new(losses).expect("losses"));
    for (name, losses, single, difference) in [
        (
            "AURC",
            &zero_one,
            [0.15091799279506848, 0.05575096387007997, 0.30801419066030833, 0.057857445407691714],
            [0.07153610055921003, -0.07978530524947833, 0.2534755106460913, 0.0712360926510903],
        ),
        (
            "NAURC",
            &zero_one,
            [0.45991351610428743, 0.200314384542225, 0.8640248238804358, 0.14323495059001143],
            [0.3113721472834001, -0.37915386305282694, 1.0447270258172443, 0.3023483076084036],
        ),
        (
            "E-AURC",
            &zero_one,
            [0.10566269277332421, 0.03814065976063177, 0.22696139259343084, 0.04105048127463839],
            [0.07153610055921003, -0.07978530524947833, 0.2534755106460913, 0.0712360926510903],
        ),
        (
            "AUROC",
            &zero_one,
            [0.6724137931034483, 0.517056901172071, 0.8301573970730888, 0.08519820570663023],
            [-0.07210031347962376, -0.3457006752098253, 0.20327860006881887, 0.13716411849859164],
        ),
        (
            "AUGRC",
            &zero_one,
            [0.103125, 0.04612848029938711, 0.1871234998180552, 0.03465142354718134],
            [0.014375000000000013, -0.04367012193238967, 0.0762492431185937, 0.02744531275660185],
        ),
        (
            "Accuracy",
            &zero_one,
            [0.725, 0.5861225567735016, 0.8374785017112015, 0.07060010623221676],
            [0.0; 4],
        ),
        // Most rows are wrong: right ones are counted.
        (
            "AURC",
            &exchanged,
            [0.8490820072049315, 0.6652417224317952, 0.9442490361299201, 0.0578574454076917],
            [-0.07153610055921, -0.2733104030192702, 0.10261654833719436, 0.07123609265109031],
        ),
        (
            "NAURC",
            &exchanged,
            [1.358480652215077, 0.9360956486126832, 1.6373811406584322, 0.10600287029314943],
            [-0.20667225299664338, -0.7791875840415504, 0.29922034118543306, 0.20340928534782352],
        ),
        (
            "AURC",
            &graded,
            [0.23237006931663767, 0.10928023418849316, 0.42945216882171344, 0.07483330620504873],
            [0.020659783778707586, -0.1611764169034697, 0.22770722836688514, 0.08794402681106496],
        ),
        (
            "NAURC",
            &graded,
            [0.7529505698910127, 0.44170331212535124, 1.179193186829276, 0.153323568939759],
            [0.08315401714991011, -0.6613229130653968, 0.9015769016726144, 0.3525461751528147],
        ),
        (
            "E-AURC",
            &graded,
            [0.18707209228339466, 0.09133919074925027, 0.343321775918236, 0.05820147152641977],
            [0.020659783778707586, -0.16117641690346976, 0.22770722836688523, 0.08794402681106496],
        ),
    ] {
        let found = CLOSED.compare(&[metric(name)], &[&a, &b], losses, &mut |_| {});
        let found = found.expect("valid");
        let pairs = [(found[0][0].value, single), (found[1][0].difference, difference)];
        for (found, expected) in pairs {
            let Interval { estimate, low, high, standard_error, replicates } =
                found.expect("defined");
            assert_eq!(replicates, None);
            for (found, expected) in [estimate, low, high, standard_error].into_iter().zip(expected)
            {
                assert!((found - expected).abs() < 1e-8, "{name}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn edge_cases_have_answers() {
    let sure = [0.9, 0.8, 0.7, 0.6, 0.5];
    for interval in every_metric() {
        // No errors, only errors, ties, few rows: defined where the metric is, inside its range.
        for losses in [[0.0; 5], [1.0; 5], [0.0, 0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 2.0, 0.0, 1.0]] {
            for rows in [1, 2, 5] {
                for confidences in [&sure[..rows], &[0.5; 5][..rows]] {
                    let known = Losses::new(losses[..rows].to_vec()).expect("losses");
                    let curve = RcCurve::new(confidences, &known).expect("a curve");
                    let value = interval.evaluate(&curve);
                    let found = one(&interval.to_string(), confidences, &losses[..rows]);
                    assert_eq!(found.map(|found| found.estimate), value);
                    let Ok(Interval { estimate, low, high, standard_error, .. }) = found else {
                        continue;
                    };
                    assert!(0.0 <= low && low <= estimate && estimate <= high, "{found:?}");
                    assert!(high.is_finite() && standard_error.is_finite(), "{found:?}");
                    let most = if known.is_zero_one() { 1.0 } else { f64::INFINITY };
                    assert!(interval == Metric::NAURC || high <= most, "{interval} {found:?}");
                }
            }
        }
    }
    // Without errors the upper end says how many there may be: 1 − 0.05^(1/n) and the like.
    let none = one("Accuracy", &[0.5; 20], &[0.0; 20]).expect("defined");
    assert_eq!((none.estimate, none.high), (1.0, 1.0));
    assert!((none.low - 0.05_f64.powf(0.05)).abs() < 1e-12);
    let none = one("RiskAtCoverage@1", &[0.5; 20], &[0.0; 20]).expect("defined");
    assert!((none.high - 3.0 / 20.0).abs() < 0.001, "{none:?}");
    assert_eq!(one("AUROC", &[0.5; 20], &[0.0; 20]), Err(Undefined::NoErrors));
    assert_eq!(one("NAURC", &[0.5; 20], &[1.0; 20]), Err(Undefined::EqualLosses));
    let no_metrics =
        CLOSED.compare(&[], &[&sure], &Losses::new(vec![0.0; 5]).expect("losses"), &mut |_| {});
    assert_eq!(no_metrics, Ok(vec![vec![]]));
}

#[test]
fn equal_rankings_do_not_differ() {
    let (a, _, graded, zero_one) = rows();
    let mapped: Vec<f64> = a.iter().map(|c| c.exp()).collect();
    for losses in [graded, zero_one] {
        let losses = Losses::new(losses).expect("losses");
        let metrics = every_metric();
        let all = CLOSED.compare(&metrics, &[&a, &mapped], &losses, &mut |_| {}).expect("valid");
        assert_eq!(all[0], all[1]);
        for difference in all[1].iter().filter_map(|compared| compared.difference.ok()) {
            let Interval { estimate, low, high, standard_error, .. } = difference;
            assert_eq!([estimate, low, high, standard_error], [0.0; 4]);
        }
    }
}

fn near(a: Result<Interval, Undefined>, b: Result<Interval, Undefined>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => [
            (a.estimate, b.estimate),
            (a.low, b.low),
            (a.high, b.high),
            (a.standard_error, b.standard_error),
        ]
        .iter()
        .all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs())),
        (a, b) => a.err() == b.err(),
    }
}

#[test]
fn the_order_of_rows_does_not_matter_and_differences_are_antisymmetric() {
    let (a, b, graded, zero_one) = rows();
    let order = permutation(a.len(), 3);
    let shuffled = |values: &[f64]| -> Vec<f64> { order.iter().map(|&row| values[row]).collect() };
    for losses in [graded, zero_one] {
        let known = Losses::new(losses.clone()).expect("losses");
        let other = Losses::new(shuffled(&losses)).expect("losses");
        for metric in every_metric() {
            let pair = |losses: &Losses, a: &[f64], b: &[f64]| -> [Compared; 2] {
                let all = CLOSED.compare(&[metric], &[a, b], losses, &mut |_| {}).expect("valid");
                [all[0][0], all[1][0]]
            };
            let first = pair(&known, &a, &b);
            let second = pair(&other, &shuffled(&a), &shuffled(&b));
            for (first, second) in first.iter().zip(&second) {
                assert!(near(first.value, second.value), "{metric}: {first:?} {second:?}");
                assert!(near(first.difference, second.difference), "{metric}");
            }
            let negative = |interval: Interval| Interval {
                estimate: -interval.estimate,
                low: -interval.high,
                high: -interval.low,
                ..interval
            };
            let reverse = pair(&known, &b, &a)[1].difference.map(negative);
            assert!(near(first[1].difference, reverse), "{metric}: {first:?} {reverse:?}");
            let pairs = CLOSED.pairs(metric, &[&a, &b], &known).expect("valid");
            assert!(near(pairs[1][0], first[1].difference), "{metric}");
        }
    }
}

#[test]
fn levels_replicates_and_progress() {
    let (a, b, _, losses) = rows();
    let losses = Losses::new(losses).expect("losses");
    let at = |level| Intervals { level, ..CLOSED }.intervals(&[Metric::AURC], &a, &losses);
    let (narrow, wide) = (at(0.8).expect("valid")[0], at(0.99).expect("valid")[0]);
    let (narrow, wide) = (narrow.expect("defined"), wide.expect("defined"));
    assert!(wide.low < narrow.low && narrow.high < wide.high);
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(at(bad).is_err());
    }
    // On request it is the bootstrap.
    let resampled = Intervals { replicates: Some(50), ..CLOSED };
    let bootstrap = Bootstrap { replicates: 50, level: 0.9, seed: 0 };
    let columns: [&[f64]; 3] = [&a, &b, &b];
    for (intervals, steps) in [(resampled, 50), (CLOSED, 3)] {
        let mut done = Vec::new();
        let mut progress = |steps| done.push(steps);
        intervals.compare(&[Metric::AURC], &columns, &losses, &mut progress).expect("valid");
        assert_eq!((done.last(), intervals.steps(3)), (Some(&steps), steps));
    }
    assert_eq!(
        resampled.differences(&[Metric::AUROC], &a, &b, &losses),
        bootstrap.differences(&[Metric::AUROC], &a, &b, &losses),
    );
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((u128::from(self.0) * n as u128) >> 64).expect("below n")
    }

    fn uniform(&mut self) -> f64 {
        self.below(1 << 52) as f64 / (1_u64 << 52) as f64
    }
}

/// Where errors are many, the influence function and the bootstrap agree, ties included.
#[test]
fn standard_errors_are_those_of_the_bootstrap() {
    let mut random = Random(7);
    let n = 2000;
    let a: Vec<f64> = (0..n).map(|_| (random.uniform() * 50.0).floor()).collect();
    let b: Vec<f64> = a.iter().map(|c| c + 20.0 * random.uniform()).collect();
    let zero_one: Vec<f64> =
        a.iter().map(|c| f64::from(u8::from(random.uniform() < 0.5 - 0.009 * c))).collect();
    let graded = zero_one.iter().map(|wrong| wrong * (1.0 + random.uniform()) + 0.1).collect();
    let metrics: Vec<Metric> = every_metric()
        .into_iter()
        .filter(|metric| !matches!(metric.kind(), MetricKind::Sac | MetricKind::CoverageAtRisk))
        .collect();
    for losses in [zero_one, graded] {
        let losses = Losses::new(losses).expect("losses");
        let bootstrap = Bootstrap { replicates: 500, level: 0.9, seed: 1 };
        let columns: [&[f64]; 2] = [&a, &b];
        let slow = bootstrap.compare(&metrics, &columns, &losses, &mut |_| {}).expect("valid");
        let fast = CLOSED.compare(&metrics, &columns, &losses, &mut |_| {}).expect("valid");
        for (index, metric) in metrics.iter().enumerate() {
            for column in 0..2 {
                let (slow, fast) = (slow[column][index], fast[column][index]);
                for (slow, fast) in [(slow.value, fast.value), (slow.difference, fast.difference)] {
                    let (Ok(slow), Ok(fast)) = (slow, fast) else {
                        assert_eq!(slow.err(), fast.err());
                        continue;
                    };
                    assert!((slow.estimate - fast.estimate).abs() < 1e-12, "{metric}");
                    let (slow, fast) = (slow.standard_error, fast.standard_error);
                    // 500 replicates know it to 3 %. At a single threshold the risk of the rows
                    // around it is known less well.
                    let loose =
                        if metric.kind() == MetricKind::RiskAtCoverage { 0.3 } else { 0.12 };
                    assert!((fast - slow).abs() <= loose * slow, "{metric}: {fast}, not {slow}");
                }
            }
        }
    }
}

struct Set {
    name: &'static str,
    columns: [Vec<f64>; 2],
    losses: Vec<f64>,
}

fn read(name: &'static str) -> Set {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (logits, labels) = if let Some(net) = name.strip_prefix("zoo/") {
        (format!("zoo/clean/{net}.npy"), "zoo/labels.npy".to_string())
    } else {
        let folder = format!("crates/cli/demo/{name}");
        (format!("{folder}/logits.npy"), format!("{folder}/labels.npy"))
    };
    let bytes = std::fs::read(workspace.join(logits)).expect("logits");
    let npy = npyz::NpyFile::new(&bytes[..]).expect("an npy file");
    let classes = usize::try_from(npy.shape()[1]).expect("classes");
    let values = if npy.dtype().descr().contains("f2") {
        Values::from(npy.into_vec::<f16>().expect("f16"))
    } else {
        Values::from(npy.into_vec::<f32>().expect("f32"))
    };
    let logits = Logits::new(values, classes).expect("valid logits");
    let bytes = std::fs::read(workspace.join(labels)).expect("labels");
    let npy = npyz::NpyFile::new(&bytes[..]).expect("an npy file");
    let labels = if npy.dtype().descr().contains("u1") {
        Labels::new(&npy.into_vec::<u8>().expect("bytes"), classes)
    } else {
        Labels::new(&npy.into_vec::<i64>().expect("int64"), classes)
    };
    let labels = labels.expect("valid labels");
    let pnorm: Estimator = "MaxLogit-pNorm(p=4)".parse().expect("an estimator");
    let columns = [Estimator::MSP.confidences(&logits), pnorm.confidences(&logits)];
    let losses = Losses::zero_one(&logits, &labels).expect("losses").values().to_vec();
    Set { name, columns, losses }
}

/// Real sets as populations: nominal 90 % intervals of samples hold the truth in 86 % to 100 % of the
/// cases on every set, at every size within chance, and in at least 90 % on average at every size. The nets were trained with
/// cross-entropy, label smoothing and mixup; `mlp-ls` has a few errors that it is very sure of, and
/// is the set on which the bootstrap is worst. `cargo run -p abstain-bench --bin intervals` measures more.
#[test]
fn intervals_hold_on_samples_of_real_sets() {
    let names = [
        "fashion-ce",
        "fashion-mixup",
        "fashion-mixup-shifted",
        "imagenet-efficientnet-lite2",
        "zoo/linear-ce",
        "zoo/mixer-ls-mixup",
        "zoo/mlp-ls",
        "zoo/resnet-ls",
    ];
    let sizes = [(100, 160), (300, 140), (1000, 100), (3000, 40)];
    let metrics = every_metric();
    let mut by_size = vec![[(0, 0); 4]; 2 * metrics.len()];
    for (seed, name) in (1_u64..).zip(names) {
        let set = read(name);
        let population = Losses::new(set.losses.clone()).expect("losses");
        let truth = set.columns.each_ref().map(|column| -> Vec<f64> {
            let curve = RcCurve::new(column, &population).expect("a curve");
            metrics.iter().map(|metric| metric.evaluate(&curve).expect("defined")).collect()
        });
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut of_set = vec![[(0, 0); 4]; 2 * metrics.len()];
        for (size, (rows, runs)) in sizes.into_iter().enumerate() {
            for _ in 0..runs {
                let sample: Vec<usize> =
                    (0..rows).map(|_| random.below(set.losses.len())).collect();
                let losses = population.select(&sample);
                let drawn = set
                    .columns
                    .each_ref()
                    .map(|column| -> Vec<f64> { sample.iter().map(|&row| column[row]).collect() });
                let columns: Vec<&[f64]> = drawn.iter().map(|column| &column[..]).collect();
                let found = CLOSED.compare(&metrics, &columns, &losses, &mut |_| {});
                let found = found.expect("valid");
                for index in 0..metrics.len() {
                    let (a, b) = (truth[0][index], truth[1][index]);
                    let mut count = |place: usize, interval: Result<Interval, _>, truth: f64| {
                        let Ok(Interval { low, high, .. }) = interval else { return };
                        let held = i32::from((low - 1e-12..=high + 1e-12).contains(&truth));
                        for (count, all) in [&mut of_set[place][size], &mut by_size[place][size]] {
                            *count += held;
                            *all += 1;
                        }
                    };
                    count(index, found[0][index].value, a);
                    count(index, found[1][index].value, b);
                    count(metrics.len() + index, found[1][index].difference, b - a);
                }
            }
        }
        for (place, of_sizes) in of_set.into_iter().enumerate() {
            let metric = metrics[place % metrics.len()];
            let of = if place < metrics.len() { "" } else { "difference of " };
            let (mut held_in_all, mut runs_in_all) = (0, 0);
            for ((held, all), (rows, _)) in of_sizes.into_iter().zip(sizes) {
                let share = f64::from(held) / f64::from(all);
                // Three standard deviations of chance below 86 %.
                let chance = 3.0 * (0.86 * 0.14 / f64::from(all)).sqrt();
                assert!(share >= 0.86 - chance, "{}, {of}{metric}, {rows}: {share}", set.name);
                (held_in_all, runs_in_all) = (held_in_all + held, runs_in_all + all);
            }
            let share = f64::from(held_in_all) / f64::from(runs_in_all);
            println!("{}, {of}{metric}: {share:.3} of {runs_in_all}", set.name);
            assert!(share >= 0.86, "{}, {of}{metric}: {share}", set.name);
        }
    }
    for (place, sizes_of) in by_size.into_iter().enumerate() {
        for ((held, all), (rows, _)) in sizes_of.into_iter().zip(sizes) {
            let (metric, share) =
                (metrics[place % metrics.len()], f64::from(held) / f64::from(all));
            println!("{metric}, {rows} rows: {share:.3}");
            // Two standard deviations of chance below 90 %.
            let chance = 2.0 * (0.09 / f64::from(all)).sqrt();
            assert!(share >= 0.9 - chance, "{metric}, {rows} rows: {share}");
        }
    }
}

/// The standard error of AUROC by DeLong et al. (1988), from all pairs: the placements of right rows
/// among the wrong ones and of wrong rows among the right ones. Of two rankings, that of the difference.
fn delong(columns: &[&[f64]], losses: &[f64]) -> f64 {
    let side = |wanted: f64| -> Vec<usize> {
        (0..losses.len()).filter(|&row| losses[row] == wanted).collect()
    };
    let (right, wrong) = (side(0.0), side(1.0));
    let wins = |column: &[f64], right: usize, wrong: usize| match column[right] - column[wrong] {
        difference if difference > 0.0 => 1.0,
        difference if difference < 0.0 => 0.0,
        _ => 0.5,
    };
    let wins = |right: usize, wrong: usize| match columns {
        [one] => wins(one, right, wrong),
        [one, other] => wins(other, right, wrong) - wins(one, right, wrong),
        _ => unreachable!("one ranking or two"),
    };
    let variance = |placements: Vec<f64>| {
        let n = placements.len() as f64;
        let mean = placements.iter().sum::<f64>() / n;
        placements.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / ((n - 1.0) * n)
    };
    let of_right = right.iter().map(|&r| wrong.iter().map(|&w| wins(r, w)).sum::<f64>());
    let of_wrong = wrong.iter().map(|&w| right.iter().map(|&r| wins(r, w)).sum::<f64>());
    let of_right = variance(of_right.map(|sum| sum / wrong.len() as f64).collect());
    let of_wrong = variance(of_wrong.map(|sum| sum / right.len() as f64).collect());
    (of_right + of_wrong).sqrt()
}

const CLOSED_95: Intervals = Intervals { level: 0.95, replicates: None, seed: 0 };

/// AUROC tells right rows from wrong ones as well as wrong ones from right ones.
#[test]
fn auroc_is_symmetric_in_right_and_wrong() {
    let mut random = Random(3);
    for accuracy in [0.1, 0.4, 0.8] {
        let losses: Vec<f64> =
            (0..400).map(|_| f64::from(u8::from(random.uniform() >= accuracy))).collect();
        let draw = |random: &mut Random, spread: f64| -> Vec<f64> {
            losses.iter().map(|loss| (9.0 * (spread * random.uniform() - loss)).round()).collect()
        };
        let columns = [draw(&mut random, 1.5), draw(&mut random, 2.5)];
        let negative =
            columns.each_ref().map(|column| column.iter().map(|c| -c).collect::<Vec<_>>());
        let exchanged = losses.iter().map(|loss| 1.0 - loss).collect();
        let compared = |columns: &[Vec<f64>; 2], losses: Vec<f64>| {
            let losses = Losses::new(losses).expect("losses");
            let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
            let found = CLOSED_95.compare(&[Metric::AUROC], &columns, &losses, &mut |_| {});
            found.expect("valid").remove(1).remove(0)
        };
        let (one, other) = (compared(&columns, losses.clone()), compared(&negative, exchanged));
        assert!(near(one.value, other.value), "{one:?} {other:?}");
        assert!(near(one.difference, other.difference), "{one:?} {other:?}");
    }
}

/// At any accuracy, intervals hold, and those of AUROC are at most 1.3 times as wide as DeLong's where
/// there are 300 rows, and at least thirty of them are right and thirty wrong (the median over samples).
/// Real sets, with right and wrong rows drawn as often as the accuracy says.
#[test]
fn intervals_hold_and_are_narrow_at_any_accuracy() {
    let metrics = [Metric::AUROC, Metric::NAURC];
    let runs = 200;
    for (seed, name) in (11_u64..).zip(["zoo/mlp-ls", "fashion-mixup-shifted", "zoo/resnet-ls"]) {
        let set = read(name);
        let (wrong, right): (Vec<usize>, Vec<usize>) =
            (0..set.losses.len()).partition(|&row| set.losses[row] == 1.0);
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for right_of_100 in [2_u32, 5, 10, 25, 50, 75, 90, 95, 98] {
            let accuracy = f64::from(right_of_100) / 100.0;
            // Each row as often as it must be.
            let (all, share) = (10_000, 100 * right_of_100 as usize);
            let repeated = |rows: &[usize], wanted: usize| -> Vec<usize> {
                (0..wanted).map(|place| rows[place * rows.len() / wanted]).collect()
            };
            let population = [repeated(&right, share), repeated(&wrong, all - share)].concat();
            let losses: Vec<f64> = population.iter().map(|&row| set.losses[row]).collect();
            let losses = Losses::new(losses).expect("losses");
            let truth = set.columns.each_ref().map(|column| {
                let column: Vec<f64> = population.iter().map(|&row| column[row]).collect();
                let curve = RcCurve::new(&column, &losses).expect("a curve");
                metrics.map(|metric| metric.evaluate(&curve).expect("defined"))
            });
            for rows in [100, 300] {
                let mut held = [[0; 2]; 2];
                let (mut defined, mut narrow): (i32, Vec<[f64; 2]>) = (0, Vec::new());
                for run in 0..runs {
                    let sample: Vec<usize> =
                        (0..rows).map(|_| population[random.below(all)]).collect();
                    let drawn = |values: &[f64]| -> Vec<f64> {
                        sample.iter().map(|&row| values[row]).collect()
                    };
                    let losses = Losses::new(drawn(&set.losses)).expect("losses");
                    let columns = [drawn(&set.columns[0]), drawn(&set.columns[1])];
                    let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
                    let found = CLOSED_95.compare(&metrics, &columns, &losses, &mut |_| {});
                    let found = found.expect("valid");
                    if found[0][0].value.is_err() {
                        continue;
                    }
                    defined += 1;
                    for (index, held) in held.iter_mut().enumerate() {
                        let (one, two) = (found[0][index], found[1][index]);
                        let (a, b) = (truth[0][index], truth[1][index]);
                        let each = [(one.value, a), (two.difference, b - a)];
                        for (held, (interval, truth)) in held.iter_mut().zip(each) {
                            let Interval { low, high, .. } = interval.expect("defined");
                            *held += i32::from((low - 1e-12..=high + 1e-12).contains(&truth));
                        }
                    }
                    let errors = losses.values().iter().sum::<f64>();
                    if run % 4 == 0 && rows == 300 && errors.min(300.0 - errors) >= 30.0 {
                        let ratio = |interval: Result<Interval, _>, columns: &[&[f64]]| {
                            let Interval { low, high, .. } = interval.expect("defined");
                            (high - low) / (2.0 * 1.96 * delong(columns, losses.values()))
                        };
                        narrow.push([
                            ratio(found[0][0].value, &columns[..1]),
                            ratio(found[1][0].difference, &columns),
                        ]);
                    }
                }
                let chance = 3.0 * (0.93 * 0.07 / f64::from(defined)).sqrt();
                for (metric, held) in metrics.iter().zip(held) {
                    for (of, held) in ["", "difference of "].into_iter().zip(held) {
                        let share = f64::from(held) / f64::from(defined);
                        println!("{name}, {accuracy}, {rows} rows, {of}{metric}: {share:.3}");
                        assert!(share >= 0.93 - chance, "{name} {accuracy} {rows} {of}{metric}");
                    }
                }
                for of in 0..2 {
                    let mut ratios: Vec<f64> = narrow.iter().map(|ratios| ratios[of]).collect();
                    ratios.sort_by(f64::total_cmp);
                    let Some(median) = ratios.get(ratios.len() / 2) else { continue };
                    println!("{name}, {accuracy}, {rows} rows: {median:.2} of DeLong's width");
                    // Thirty errors tell less of a difference than DeLong's normal limits claim.
                    let many = of == 0 || (0.25..=0.75).contains(&accuracy);
                    assert!(!many || *median <= 1.3, "{name} {accuracy} {of} {ratios:?}");
                }
            }
        }
    }
}
