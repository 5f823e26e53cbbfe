//! Laws that every estimator and every metric of the registries obeys, on generated data. A new
//! score, family or metric is covered by its registry line.
#![allow(clippy::unwrap_used)]

use abstain::family::Domain;
use abstain::family::stack::{Clip, Stack, Term};
use abstain::{
    Estimator, Labels, Logits, Losses, Method, Metric, RcCurve, curve::CurveBuilder,
    family::FamilyEstimator, method::TransformKind, metric::MetricKind,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Logits on a grid of 1/64: differences and small sums are exact, and ties occur.
fn rows(classes: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let logit = (-640..640_i32).prop_map(|i| f64::from(i) / 64.0);
    prop::collection::vec(prop::collection::vec(logit, classes), 1..30)
}

/// Rows of one common length between 2 and 12, with labels.
fn data() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<u32>)> {
    (2..13_usize).prop_flat_map(|classes| {
        rows(classes).prop_flat_map(move |rows| {
            let labels = prop::collection::vec(0..u32::try_from(classes).unwrap(), rows.len());
            (Just(rows), labels)
        })
    })
}

/// Any estimator: a single one, or a stack of some.
fn estimator() -> impl Strategy<Value = Estimator> {
    let term = (single(), -3.0..3.0_f64, 0.1..3.0_f64, -2.0..2.0_f64).prop_map(
        |(estimator, mean, deviation, weight)| Term { estimator, mean, deviation, weight },
    );
    let clip = select(vec![Clip::SOFT, Clip::HARD, Clip::Soft(0.5)]);
    let stack = (any::<bool>(), clip, -2.0..2.0_f64, prop::collection::vec(term, 1..5)).prop_map(
        |(labelled, clip, b, terms)| {
            Estimator::Stack(Stack::new(labelled, clip, b, terms).expect("valid"))
        },
    );
    prop_oneof![9 => single(), 1 => stack]
}

/// Any method with any parameters in their range.
fn single() -> impl Strategy<Value = Estimator> {
    let methods: Vec<Method> = Method::all().filter(|m| !m.is_stack()).collect();
    let p =
        prop_oneof![Just(0.0), Just(f64::INFINITY), (1..12_i32).prop_map(f64::from), 0.2..20.0_f64];
    let family_values = (Values::any(), Values::any());
    (select(methods), p, 0.05..5.0_f64, -2.0..2.0_f64, family_values).prop_map(
        |(method, p, temperature, gamma, (first, second))| {
            let estimator = if let Method::Family(family) = method {
                let parameters = family.info().parameters.iter().zip([first, second]);
                let values: Vec<f64> = parameters.map(|(p, values)| values.of(p.domain)).collect();
                FamilyEstimator::new(family, &values).map(Estimator::Family)
            } else {
                let value = |name: &&'static str| match *name {
                    "p" => ("p", p),
                    "gamma" => ("gamma", gamma),
                    name => (name, temperature),
                };
                let parameters: Vec<_> = method.parameters().iter().map(value).collect();
                Estimator::new(method, &parameters)
            };
            estimator.expect("parameters in range")
        },
    )
}

/// A value in every domain of a family's parameters.
#[derive(Debug, Clone, Copy)]
struct Values {
    temperature: f64,
    real: f64,
    share: f64,
    power: f64,
    classes: f64,
}

impl Values {
    fn any() -> impl Strategy<Value = Self> {
        let power = prop_oneof![Just(0.001), Just(100.0), 0.01..2.0_f64];
        let classes = prop_oneof![Just(1e9), (1..15_i32).prop_map(f64::from)];
        (0.05..5.0_f64, -2.0..2.0_f64, 0.0..1.0_f64, power, classes).prop_map(
            |(temperature, real, share, power, classes)| Values {
                temperature,
                real,
                share,
                power,
                classes,
            },
        )
    }

    fn of(self, domain: Domain) -> f64 {
        match domain {
            Domain::Temperature => self.temperature,
            Domain::Real => self.real,
            Domain::Share => self.share,
            Domain::Power => self.power,
            Domain::Classes => self.classes,
        }
    }
}

fn metric() -> impl Strategy<Value = Metric> {
    (select(MetricKind::ALL), 0.0..0.5_f64, 0.5..1.0_f64).prop_map(|(kind, low, high)| {
        let values = [low, high];
        Metric::new(kind, &values[..kind.info().parameters.len()]).expect("values in range")
    })
}

/// Confidences with ties, and losses that are 0/1 or graded.
fn scored() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let confidence = || (-12..12_i32).prop_map(|i| f64::from(i) / 8.0);
    let zero_one = prop::collection::vec((confidence(), select(vec![0.0, 1.0])), 1..60);
    let graded = prop::collection::vec((confidence(), 0.0..3.0_f64), 1..60);
    prop_oneof![zero_one, graded]
}

fn curve(pairs: &[(f64, f64)]) -> RcCurve {
    let (confidences, losses): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    RcCurve::new(&confidences, &Losses::new(losses).expect("losses")).expect("a curve")
}

fn logits(rows: &[Vec<f64>]) -> Logits<'static> {
    Logits::new(rows.concat(), rows[0].len()).expect("valid logits")
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

fn all_close(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| close(a, b, 1e-9))
}

/// Whether a constant added to a row leaves the estimator as it was.
fn ignores_constants(estimator: &Estimator) -> bool {
    if let Estimator::Stack(stack) = estimator {
        return stack.terms().iter().all(|term| ignores_constants(&term.estimator));
    }
    match estimator.method() {
        Method::Scored { score, transform } => match transform {
            TransformKind::PNorm { centring, .. } => centring != abstain::transform::Centring::None,
            _ => !score.info().sees_constants,
        },
        Method::Family(family) => !family.info().sees_constants,
        _ => true,
    }
}

/// Whether the number of classes itself is part of the formula.
fn counts_classes(estimator: &Estimator) -> bool {
    match (estimator, estimator.method()) {
        (Estimator::Stack(stack), _) => stack.terms().iter().any(|t| counts_classes(&t.estimator)),
        (_, Method::Scored { score, .. }) => score.info().counts_classes,
        (_, Method::Family(family)) => family.info().counts_classes,
        _ => false,
    }
}

/// Whether the row is multiplied out again: a p-norm without a shift.
fn ignores_scale(estimator: &Estimator) -> bool {
    match estimator {
        Estimator::Stack(stack) => stack.terms().iter().all(|term| ignores_scale(&term.estimator)),
        Estimator::Scored { transform, .. } => {
            transform.norm.is_some_and(|norm| norm.p.get() > 0.0 && norm.gamma.get() == 0.0)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn metrics_do_not_see_the_order_of_rows(
        pairs in scored().prop_flat_map(|p| (Just(p.clone()), Just(p).prop_shuffle())),
        metric in metric(),
    ) {
        let (pairs, shuffled) = pairs;
        prop_assert_eq!(metric.evaluate(&curve(&pairs)), metric.evaluate(&curve(&shuffled)));
    }

    #[test]
    fn metrics_do_not_see_increasing_maps_of_the_confidence(pairs in scored(), metric in metric()) {
        let mapped: Vec<_> = pairs.iter().map(|&(c, l)| ((c * 0.3).exp() - 7.0, l)).collect();
        prop_assert_eq!(metric.evaluate(&curve(&pairs)), metric.evaluate(&curve(&mapped)));
    }

    #[test]
    fn merged_builders_are_one_builder(pairs in scored(), cut in 0.0..1.0_f64, metric in metric()) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let (first, second) = pairs.split_at((pairs.len() as f64 * cut) as usize);
        let fill = |part: &[(f64, f64)]| {
            let mut builder = CurveBuilder::new();
            for &(confidence, loss) in part {
                builder.push(confidence, loss).expect("valid");
            }
            builder
        };
        let mut merged = fill(second);
        merged.merge(fill(first));
        let merged = merged.finish().expect("a curve");
        let whole = curve(&pairs);
        prop_assert_eq!(metric.evaluate(&whole), metric.evaluate(&merged));
        prop_assert_eq!(whole, merged);
    }

    #[test]
    fn the_oracle_is_ideal_and_a_constant_is_random(pairs in scored(), metric in metric()) {
        let ideal: Vec<_> = pairs.iter().map(|&(_, l)| (-l, l)).collect();
        let ideal = curve(&ideal);
        let constant: Vec<_> = pairs.iter().map(|&(_, l)| (0.25, l)).collect();
        let constant = curve(&constant);
        if let Ok(naurc) = Metric::NAURC.evaluate(&ideal) {
            prop_assert!(naurc < 1e-12, "{naurc}");
            prop_assert!(close(Metric::NAURC.evaluate(&constant).unwrap(), 1.0, 1e-12));
        }
        if let Ok(auroc) = Metric::AUROC.evaluate(&ideal) {
            prop_assert_eq!(auroc, 1.0);
            prop_assert_eq!(Metric::AUROC.evaluate(&constant), Ok(0.5));
        }
        prop_assert!(close(Metric::AURC.evaluate(&constant).unwrap(), constant.risk(), 1e-13));
        // No confidence is better than the ideal one, in the direction of the metric.
        if !metric.kind().info().one_threshold {
            let found = metric.evaluate(&curve(&pairs));
            if let (Ok(found), Ok(best)) = (found, metric.evaluate(&ideal)) {
                let ahead = match metric.better() {
                    abstain::metric::Direction::Lower => found - best,
                    abstain::metric::Direction::Higher => best - found,
                };
                prop_assert!(ahead > -1e-12, "{metric}: {found} beats the ideal {best}");
            }
        }
    }

    /// AURC as a weighted mean of losses: a row of ascending rank r weighs Σ_{k=n−r+1..n} 1/k,
    /// and ties share the mean of their weights.
    #[test]
    fn aurc_is_its_weighted_form(pairs in scored()) {
        let n = pairs.len();
        let mut sorted = pairs.clone();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let weight = |position: usize| (position..=n).map(|k| 1.0 / k as f64).sum::<f64>();
        let (mut start, mut sum) = (1, 0.0);
        for tie in sorted.chunk_by(|a, b| a.0 == b.0) {
            let weights: f64 = (start..start + tie.len()).map(weight).sum();
            let mean_loss: f64 = tie.iter().map(|t| t.1).sum::<f64>() / tie.len() as f64;
            sum += weights * mean_loss;
            start += tie.len();
        }
        let found = Metric::AURC.evaluate(&curve(&pairs)).unwrap();
        prop_assert!(close(found, sum / n as f64, 1e-12), "{found}");
    }

    #[test]
    fn metrics_agree_with_each_other(pairs in scored(), share in 0.0..1.0_f64) {
        let curve = curve(&pairs);
        let metric = |text: &str| text.parse::<Metric>().expect("a metric").evaluate(&curve);
        prop_assert_eq!(metric("PartialAURC@0..1"), metric("AURC"));
        let last = curve.points().last().map(|point| point.area).unwrap();
        prop_assert!(close(last, metric("AURC").unwrap(), 1e-12));
        if let (Ok(accuracy), Ok(augrc)) = (metric("Accuracy"), metric("AUGRC")) {
            let wrong = 1.0 - accuracy;
            let auroc = metric("AUROC").unwrap_or(0.5);
            let closed_form = (1.0 - auroc) * accuracy * wrong + 0.5 * wrong * wrong;
            prop_assert!(close(augrc, closed_form, 1e-12));
            let sac = metric(&format!("SAC@{share}"));
            prop_assert_eq!(sac, metric(&format!("CoverageAtRisk@{}", 1.0 - share)));
            // Decimal targets that are met exactly count as met.
            prop_assert_eq!(metric(&format!("SAC@{accuracy}")), Ok(1.0));
        }
        let coverage = metric(&format!("CoverageAtRisk@{share}")).unwrap();
        if coverage > 0.0 {
            let risk = metric(&format!("RiskAtCoverage@{coverage}")).unwrap();
            prop_assert!(risk <= share * (1.0 + 1e-9) + 1e-300, "{risk} at {coverage}");
        }
    }

    #[test]
    fn estimators_do_not_see_the_order_of_classes(
        (rows, order) in (2..13_usize).prop_flat_map(|classes| {
            (rows(classes), Just((0..classes).collect::<Vec<_>>()).prop_shuffle())
        }),
        estimator in estimator(),
    ) {
        let permute = |row: &Vec<f64>| order.iter().map(|&k| row[k]).collect::<Vec<f64>>();
        let permuted: Vec<Vec<f64>> = rows.iter().map(permute).collect();
        let plain = estimator.confidences(&logits(&rows));
        let permuted = estimator.confidences(&logits(&permuted));
        prop_assert!(all_close(&plain, &permuted), "{estimator}: {plain:?} {permuted:?}");
    }

    #[test]
    fn constants_added_to_a_row_change_nothing_where_they_should_not(
        (rows, _) in data(),
        estimator in estimator(),
        offset in (-4000..4000_i32).prop_map(f64::from),
    ) {
        if !ignores_constants(&estimator) {
            return Ok(());
        }
        let moved: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|z| z + offset).collect()).collect();
        // The sums are exact on this grid, so that the confidences are the same bits.
        prop_assert_eq!(
            estimator.confidences(&logits(&rows)),
            estimator.confidences(&logits(&moved)),
            "{}", estimator
        );
    }

    #[test]
    fn pnorms_do_not_see_the_scale_of_a_row(
        (rows, _) in data(),
        estimator in estimator(),
        scale in prop_oneof![Just(2.0), Just(0.125), 0.01..100.0_f64],
    ) {
        if !ignores_scale(&estimator) {
            return Ok(());
        }
        let scaled: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|z| z * scale).collect()).collect();
        let plain = estimator.confidences(&logits(&rows));
        let scaled = estimator.confidences(&logits(&scaled));
        prop_assert!(all_close(&plain, &scaled), "{estimator}: {plain:?} {scaled:?}");
    }

    #[test]
    fn values_follow_the_confidences_and_are_numbers((rows, labels) in data(), estimator in estimator()) {
        let logits = logits(&rows);
        let confidences = estimator.confidences(&logits);
        let values = estimator.values(&logits);
        prop_assert!(confidences.iter().chain(&values).all(|c| !c.is_nan()), "{estimator}");
        for (i, &a) in confidences.iter().enumerate() {
            for (j, &b) in confidences.iter().enumerate() {
                prop_assert!(a <= b || values[i] >= values[j], "{estimator}: rows {i} and {j}");
            }
        }
        if estimator.is_probability() && !estimator.method().is_stack() {
            let floor = 1.0 / rows[0].len() as f64 - 1e-9;
            prop_assert!(values.iter().all(|v| (floor..=1.0).contains(v)), "{estimator}: {values:?}");
        }
        let labels = Labels::new(&labels, rows[0].len()).unwrap();
        let losses = Losses::zero_one(&logits, &labels).unwrap();
        prop_assert!(RcCurve::new(&confidences, &losses).is_ok());
    }

    /// Whatever finite numbers come in, no confidence is NaN.
    #[test]
    fn no_logits_make_nan(
        row in prop::collection::vec(
            prop_oneof![
                any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
                Just(0.0),
                Just(-3.4e38),
                -1e100..1e100_f64,
                -1e-200..1e-200_f64,
            ],
            2..20,
        ),
        estimator in estimator(),
    ) {
        let confidence = estimator.confidences(&logits(std::slice::from_ref(&row)))[0];
        prop_assert!(!confidence.is_nan(), "{estimator} of {row:?}");
        prop_assert!(!estimator.value(confidence, row.len()).is_nan());
    }

    #[test]
    fn masked_classes_are_as_good_as_absent(
        (rows, _) in data(),
        masked in prop::collection::vec(0..13_usize, 1..4),
        estimator in estimator(),
    ) {
        // Some count the masked classes by definition.
        if counts_classes(&estimator) {
            return Ok(());
        }
        let mut with_masks = rows.clone();
        for row in &mut with_masks {
            for &k in &masked {
                row.insert(k.min(row.len()), f64::NEG_INFINITY);
            }
        }
        let classes = with_masks[0].len();
        let with_masks = Logits::masked(with_masks.concat(), classes).unwrap();
        let without = estimator.confidences(&logits(&rows));
        prop_assert_eq!(without, estimator.confidences(&with_masks), "{}", estimator);
    }

    #[test]
    fn one_thread_is_as_good_as_many(estimator in estimator(), seed in any::<u32>()) {
        let rows: Vec<f64> = (0..3000_u32)
            .map(|i| f64::from(i.wrapping_mul(2654435761).wrapping_add(seed) >> 16) / 5000.0)
            .collect();
        let logits = Logits::new(rows, 10).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| estimator.confidences(&logits))
        };
        prop_assert_eq!(run(1), run(4));
    }

    #[test]
    fn estimators_read_back(estimator in estimator()) {
        if !estimator.method().is_stack() {
            prop_assert_eq!(estimator.to_string().parse::<Estimator>(), Ok(estimator.clone()));
        }
        let json = serde_json::to_string(&estimator).unwrap();
        prop_assert_eq!(serde_json::from_str::<Estimator>(&json).unwrap(), estimator);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", name in "(MSP|MaxLogit|BK|SAC|AURC)[-@(),=.a-zA-Z0-9]{0,20}") {
        for text in [text, name] {
            let _ = text.parse::<Estimator>();
            let _ = text.parse::<Metric>();
            let _ = serde_json::from_str::<Estimator>(&text);
        }
    }
}
