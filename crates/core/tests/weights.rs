//! Laws of weights, which every metric of the registry obeys, and metrics of weighted rows against
//! their definitions.
#![allow(clippy::unwrap_used)]

use abstain::calibration::Reliability;
use abstain::{
    Error, Intervals, Losses, Metric, RcCurve, Undefined, Weights, curve::WeightedCurve,
    metric::MetricKind,
};
use abstain_kit::Lcg;
use proptest::prelude::*;
use proptest::sample::select;

/// Confidence, loss and weight.
type Row = (f64, f64, f64);

fn metric() -> impl Strategy<Value = Metric> {
    let share = || (0..=40_i32).prop_map(|i| f64::from(i) / 40.0);
    (select(MetricKind::ALL), share(), share()).prop_map(|(kind, a, b)| {
        let values = [a.min(b), a.max(b) + 0.01 * f64::from(u8::from(a == b))];
        let values = [values[0].min(0.99), values[1].min(1.0)];
        Metric::new(kind, &values[..kind.info().parameters.len()]).unwrap()
    })
}

/// Rows with ties, losses that are 0/1 or graded, and weights of some kind.
fn rows<W: Strategy<Value = f64> + Clone>(weight: W) -> impl Strategy<Value = Vec<Row>> {
    let confidence = || (-9..9_i32).prop_map(|i| f64::from(i) / 8.0);
    let zero_one =
        prop::collection::vec((confidence(), select(vec![0.0, 1.0]), weight.clone()), 1..40);
    let graded = prop::collection::vec((confidence(), 0.0..3.0_f64, weight), 1..40);
    prop_oneof![zero_one, graded]
}

fn whole() -> impl Strategy<Value = f64> + Clone {
    (0..6_i32).prop_map(f64::from)
}

fn real() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![4 => 0.1..5.0_f64, 1 => Just(1.0), 1 => Just(0.0), 1 => 1e-9..1e-3_f64]
}

fn columns(rows: &[Row]) -> (Vec<f64>, Losses, Result<Weights, Error>) {
    let column = |of: fn(&Row) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    (column(|r| r.0), Losses::new(column(|r| r.1)).unwrap(), Weights::new(column(|r| r.2)))
}

/// Nothing if all weights are 0.
fn weighted(rows: &[Row]) -> Option<WeightedCurve> {
    let (confidences, losses, weights) = columns(rows);
    Some(RcCurve::weighted(&confidences, &losses, &weights.ok()?).unwrap())
}

fn plain(rows: &[Row]) -> RcCurve {
    let (confidences, losses, _) = columns(rows);
    RcCurve::new(&confidences, &losses).unwrap()
}

/// Every row as often as its weight says, with weight 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn repeated(rows: &[Row]) -> Vec<Row> {
    rows.iter().flat_map(|&(c, l, w)| vec![(c, l, 1.0); w as usize]).collect()
}

fn same(a: Result<f64, Undefined>, b: Result<f64, Undefined>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-12 * (1.0 + b.abs()),
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn weights_of_one_change_no_metric(rows in rows(Just(1.0)), metric in metric()) {
        let (with, without) = (metric.evaluate(&weighted(&rows).unwrap()), metric.evaluate(&plain(&rows)));
        prop_assert!(same(with, without), "{metric}: {with:?} {without:?}");
    }

    #[test]
    fn whole_weights_are_repeated_rows(rows in rows(whole()), metric in metric()) {
        let Some(curve) = weighted(&rows) else { return Ok(()) };
        let (with, without) = (metric.evaluate(&curve), metric.evaluate(&plain(&repeated(&rows))));
        prop_assert!(same(with, without), "{metric}: {with:?} {without:?}");
    }

    #[test]
    fn a_row_of_weight_zero_is_as_good_as_absent(
        rows in rows(real()),
        (confidence, loss, place) in (-2.0..2.0_f64, 0.0..2.0_f64, any::<prop::sample::Index>()),
        metric in metric(),
    ) {
        let Some(curve) = weighted(&rows) else { return Ok(()) };
        let mut more = rows.clone();
        more.insert(place.index(rows.len() + 1), (confidence, loss, 0.0));
        prop_assert_eq!(&weighted(&more).unwrap(), &curve);
        prop_assert_eq!(metric.evaluate(&weighted(&more).unwrap()), metric.evaluate(&curve));
    }

    #[test]
    fn weighted_metrics_do_not_see_the_order_of_rows(
        (rows, shuffled) in rows(real()).prop_flat_map(|r| (Just(r.clone()), Just(r).prop_shuffle())),
        metric in metric(),
    ) {
        let Some(curve) = weighted(&rows) else { return Ok(()) };
        prop_assert_eq!(metric.evaluate(&weighted(&shuffled).unwrap()), metric.evaluate(&curve));
    }

    /// Rows that tie count by their sums, so that a row may be cut in two. Not very light rows: where
    /// those are the only right ones, rounding takes digits of NAURC.
    #[test]
    fn a_row_may_be_cut_in_two(rows in rows(0.1..5.0_f64), share in 0.1..0.9_f64, metric in metric()) {
        let Some(curve) = weighted(&rows) else { return Ok(()) };
        let halves: Vec<Row> =
            rows.iter().flat_map(|&(c, l, w)| [(c, l, w * share), (c, l, w - w * share)]).collect();
        let (a, b) = (metric.evaluate(&weighted(&halves).unwrap()), metric.evaluate(&curve));
        // A total just at a whole number may round to either side, and so may the range of coverages.
        let counted = metric.kind() == MetricKind::PartialAurc
            || matches!((a, b), (Err(Undefined::LessThanARow), _) | (_, Err(Undefined::LessThanARow)));
        prop_assert!(counted || same(a, b), "{metric}: {a:?} {b:?}");
    }

    #[test]
    fn the_scale_of_weights_matters_only_where_row_counts_do(
        rows in rows(real()),
        scale in 2.0..9.0_f64,
        metric in metric(),
    ) {
        let Some(curve) = weighted(&rows) else { return Ok(()) };
        if counts_rows(metric.kind()) {
            return Ok(());
        }
        let scaled: Vec<Row> = rows.iter().map(|&(c, l, w)| (c, l, w * scale)).collect();
        let (a, b) = (metric.evaluate(&weighted(&scaled).unwrap()), metric.evaluate(&curve));
        prop_assert!(same(a, b), "{metric}: {a:?} {b:?}");
    }

    /// An ideal confidence has NAURC 0 and a constant one 1, whatever the weights.
    #[test]
    fn naurc_is_0_for_an_ideal_confidence_and_1_for_a_constant_one(rows in rows(real())) {
        let ranked = |of: fn(f64) -> f64| {
            let rows: Vec<Row> = rows.iter().map(|&(_, l, w)| (of(l), l, w)).collect();
            weighted(&rows).map(|curve| Metric::NAURC.evaluate(&curve))
        };
        let (Some(ideal), Some(constant)) = (ranked(|l| -l), ranked(|_| 0.5)) else { return Ok(()) };
        match (ideal, constant) {
            (Ok(ideal), Ok(constant)) => {
                prop_assert!(ideal < 1e-11, "{ideal}");
                prop_assert!((constant - 1.0).abs() < 1e-11, "{constant}");
            }
            (ideal, constant) => prop_assert_eq!(ideal, constant),
        }
    }

    #[test]
    fn whole_weights_of_ece_are_repeated_rows(
        rows in prop::collection::vec((0.0..=1.0_f64, select(vec![0.0, 1.0]), whole()), 1..40),
        bins in 1..20_usize,
    ) {
        let (probabilities, losses, weights) = columns(&rows);
        let Ok(weights) = weights else { return Ok(()) };
        let found = Reliability::weighted(&probabilities, &losses, &weights, bins).unwrap();
        let (probabilities, losses, _) = columns(&repeated(&rows));
        let wanted = Reliability::new(&probabilities, &losses, bins).unwrap();
        prop_assert!((found.ece() - wanted.ece()).abs() < 1e-12);
        for (found, wanted) in found.bins().iter().zip(wanted.bins()) {
            prop_assert_eq!(found.rows, wanted.rows as f64);
            prop_assert_eq!(found.accuracy(), wanted.accuracy());
        }
    }
}

/// Whether a metric is a mean over row counts.
fn counts_rows(kind: MetricKind) -> bool {
    use MetricKind::{Aurc, EAurc, Naurc, PartialAurc};
    matches!(kind, Aurc | EAurc | Naurc | PartialAurc)
}

/// All orders of the numbers below `n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = orders(n - 1);
    let insert = |order: &Vec<usize>| {
        (0..n).map(|at| [&order[..at], &[n - 1], &order[at..]].concat()).collect::<Vec<_>>()
    };
    shorter.iter().flat_map(insert).collect()
}

/// The mean over all orders of ties of the mean of the selective risks at the row counts that are
/// kept: the definition, with rows repeated.
fn naive_mean_of_risks(rows: &[Row], keep: impl Fn(usize, usize) -> bool) -> Option<f64> {
    let rows = repeated(rows);
    let n = rows.len();
    let (mut sum, mut count) = (0.0, 0.0);
    for order in orders(n) {
        let mut sorted: Vec<Row> = order.iter().map(|&i| rows[i]).collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut loss = 0.0;
        for (i, row) in sorted.iter().enumerate() {
            loss += row.1;
            if keep(i + 1, n) {
                sum += loss / (i + 1) as f64;
                count += 1.0;
            }
        }
    }
    (count > 0.0).then_some(sum / count)
}

#[test]
fn small_cases_are_means_over_all_orders_of_ties() {
    let cases: [&[Row]; 4] = [
        &[(2.0, 0.0, 2.0), (1.0, 1.0, 3.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0)],
        &[(1.0, 1.0, 2.0), (1.0, 0.0, 4.0)],
        &[(3.0, 0.5, 1.0), (3.0, 2.0, 2.0), (1.0, 0.0, 3.0), (0.5, 0.0, 0.0)],
        &[(0.1, 1.0, 1.0), (0.9, 1.0, 2.0), (0.5, 0.0, 3.0), (0.5, 1.0, 1.0)],
    ];
    for rows in cases {
        let curve = weighted(rows).unwrap();
        let value = |name: &str| name.parse::<Metric>().unwrap().evaluate(&curve).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-13, "{rows:?}: {a} {b}");
        let aurc = naive_mean_of_risks(rows, |_, _| true).unwrap();
        let by_loss: Vec<Row> = rows.iter().map(|&(_, l, w)| (-l, l, w)).collect();
        let ideal = naive_mean_of_risks(&by_loss, |_, _| true).unwrap();
        near(value("AURC"), aurc);
        near(value("E-AURC"), aurc - ideal);
        near(value("NAURC"), (aurc - ideal) / (curve.risk() - ideal));
        let partial = naive_mean_of_risks(rows, |k, n| 5 * k > n && 5 * k <= 4 * n).unwrap();
        near(value("PartialAURC@0.2..0.8"), partial);
    }
}

/// The mean over all pairs of a right and a wrong row, weighted by both.
#[test]
fn auroc_is_a_weighted_mean_over_pairs_however_uneven_the_weights() {
    for scale in [1.0, 1e-8, 1e8, 1e-30, 1e30] {
        let rows: Vec<Row> = (0..60_u32)
            .map(|i| {
                let (confidence, wrong) = (f64::from(i * 37 % 23), i * 7 % 5 == 0);
                let weight = 0.1 + f64::from(i * 11 % 13);
                (
                    confidence,
                    f64::from(u8::from(wrong)),
                    if wrong { weight } else { weight * scale },
                )
            })
            .collect();
        let (mut sum, mut all) = (0.0, 0.0);
        for right in rows.iter().filter(|r| r.1 == 0.0) {
            for wrong in rows.iter().filter(|r| r.1 == 1.0) {
                let pair = right.2 * wrong.2;
                all += pair;
                sum += pair * if right.0 > wrong.0 { 1.0 } else { 0.0 };
                sum += pair * if right.0 == wrong.0 { 0.5 } else { 0.0 };
            }
        }
        let found = Metric::AUROC.evaluate(&weighted(&rows).unwrap()).unwrap();
        assert!((found - sum / all).abs() < 1e-13, "{scale}: {found} {}", sum / all);
    }
}

/// A limit of repeated rows: 1000 times the weights is nearly the area under the curve itself, and
/// what is left falls as one over the total.
#[test]
fn heavy_weights_tend_to_the_area_under_the_curve() {
    let rows = [(2.0, 0.0, 0.5), (1.0, 1.0, 0.25), (0.0, 0.0, 1.25)];
    // R(x) = (x − ½)/x up to ¾, then ¼/x: ∫ = ¼ − ½ ln 1.5 + ¼ ln(8/3), over a total of 2.
    let area = 0.5 * (0.25 - 0.5 * 1.5_f64.ln() + 0.25 * (8.0_f64 / 3.0).ln());
    let gap = |scale: f64| {
        let scaled: Vec<Row> = rows.iter().map(|&(c, l, w)| (c, l, w * scale)).collect();
        Metric::AURC.evaluate(&weighted(&scaled).unwrap()).unwrap() - area
    };
    assert!(gap(1e9).abs() < 1e-9);
    assert!((gap(1e4) / gap(1e3) - 0.1).abs() < 1e-3, "{} {}", gap(1e3), gap(1e4));
}

#[test]
fn weights_that_sum_to_one_row_have_no_mean_over_row_counts() {
    let rows = [(2.0, 0.0, 0.5), (1.0, 1.0, 0.3), (0.0, 0.0, 0.2)];
    let curve = weighted(&rows).unwrap();
    for &kind in MetricKind::ALL {
        let values = &[0.25, 0.75][..kind.info().parameters.len()];
        let found = Metric::new(kind, values).unwrap().evaluate(&curve);
        assert_eq!(found == Err(Undefined::LessThanARow), counts_rows(kind), "{kind:?}: {found:?}");
    }
    // A single row has the risk of its loss, whatever its weight.
    let single = weighted(&[(2.0, 1.0, 0.25), (1.0, 0.0, 0.0)]).unwrap();
    assert_eq!(Metric::AURC.evaluate(&single), Ok(1.0));
}

#[test]
fn light_rows_beside_heavy_ones_make_no_nan() {
    let rows = [(3.0, 0.0, 1e100), (2.0, 1.0, 1e-100), (1.0, 0.0, 1.0), (0.0, 1.0, 1e100)];
    let curve = weighted(&rows).unwrap();
    assert_eq!(curve.knots().map(|k| k.threshold).collect::<Vec<_>>(), [1.0, 0.0]);
    for &kind in MetricKind::ALL {
        let values = &[0.25, 0.75][..kind.info().parameters.len()];
        let found = Metric::new(kind, values).unwrap().evaluate(&curve).unwrap();
        assert!(found.is_finite() && found >= 0.0, "{kind:?}: {found}");
    }
    assert_eq!(Metric::AUROC.evaluate(&curve), Ok(1.0));
}

#[test]
fn equal_losses_are_noticed_among_many_weighted_rows() {
    let rows: Vec<Row> = (0..20_000_u32)
        .map(|i| (f64::from(i * 7919 % 20_011), 0.3, 0.1 + f64::from(i % 97) / 7.0))
        .collect();
    assert_eq!(Metric::NAURC.evaluate(&weighted(&rows).unwrap()), Err(Undefined::EqualLosses));
}

#[test]
fn columns_of_other_lengths_and_nan_are_refused() {
    let losses = Losses::new(vec![0.0, 1.0]).unwrap();
    let weights = Weights::new(vec![1.0, 0.0]).unwrap();
    let short = Weights::new(vec![1.0]).unwrap();
    let length = |what| Err(Error::Length { what, found: 1, expected: 2 });
    assert_eq!(RcCurve::weighted(&[0.5], &losses, &weights), length("confidences"));
    assert_eq!(RcCurve::weighted(&[0.5, 0.1], &losses, &short), length("weights"));
    let nan = RcCurve::weighted(&[0.5, f64::NAN], &losses, &weights);
    assert_eq!(nan, Err(Error::InvalidConfidence { row: 1 }));
    let ece = Reliability::weighted(&[0.5, 0.1], &losses, &short, 15).map(|found| found.ece());
    assert_eq!(ece, Err(Error::Length { what: "weights", found: 1, expected: 2 }));
}

/// Hard rows, of which there are few in the sample and many in the population, and easy ones.
fn row(random: &mut Lcg) -> Row {
    let (hard, confidence) = (random.next() < 0.4, random.next());
    let risk = if hard { 0.7 } else { 0.2 } * (1.0 - confidence);
    let weight = if hard { 3.0 } else { 0.3 } * (0.5 + random.next());
    (confidence, if random.next() < risk { 1.0 } else { 0.0 }, weight)
}

/// An interval of weighted rows is about the population in which a row counts by its weight; one that
/// ignores the weights is about another.
#[test]
fn intervals_of_weighted_rows_hold_the_weighted_value() {
    let mut random = Lcg(1);
    let population: Vec<Row> = (0..400_000).map(|_| row(&mut random)).collect();
    let population = weighted(&population).unwrap();
    let metrics = ["Accuracy", "AURC", "AUROC", "RiskAtCoverage@0.5"];
    let metrics: Vec<Metric> = metrics.iter().map(|name| name.parse().unwrap()).collect();
    let truth: Vec<f64> = metrics.iter().map(|m| m.evaluate(&population).unwrap()).collect();
    let runs = 200;
    let (mut held, mut ignored) = (vec![0; metrics.len()], vec![0; metrics.len()]);
    let request = Intervals { replicates: Some(200), ..Intervals::default() };
    for _ in 0..runs {
        let rows: Vec<Row> = (0..400).map(|_| row(&mut random)).collect();
        let (confidences, losses, weights) = columns(&rows);
        let columns: [&[f64]; 1] = [&confidences];
        let found = request
            .compare_weighted(&metrics, &columns, &losses, &weights.unwrap(), &mut |_| {})
            .unwrap();
        let without = request.compare(&metrics, &columns, &losses, &mut |_| {}).unwrap();
        for metric in 0..metrics.len() {
            let holds = |found: &[Vec<abstain::interval::Compared>]| {
                let interval = found[0][metric].value.unwrap();
                usize::from(interval.low <= truth[metric] && truth[metric] <= interval.high)
            };
            held[metric] += holds(&found);
            ignored[metric] += holds(&without);
        }
    }
    println!("of {runs}, {held:?} intervals hold, and {ignored:?} without the weights");
    // 95 % of all, and what a percentile bootstrap of so few rows misses.
    assert!(held.iter().all(|&count| count * 10 >= runs * 9), "{held:?}");
    assert!(ignored[0] * 2 < runs, "{ignored:?}");
}
