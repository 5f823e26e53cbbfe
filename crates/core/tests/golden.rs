//! The golden corpus (`testdata/golden.toml`), whose figures come from an independent oracle in
//! exact arithmetic, against the library.

use abstain::calibration::{self, Reliability};
use abstain::compat::AurcConvention;
use abstain::{
    CostMatrix, Error, Estimator, Labels, Logits, Losses, Metric, Probabilities, RcCurve, Score,
    family::Family, logits::Floor, metric::MetricKind, statistics, transform::Transform,
};
use std::collections::{BTreeMap, HashSet};
use toml::{Table, Value};

fn corpus() -> Table {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden.toml");
    let text = std::fs::read_to_string(path).expect("testdata/golden.toml is part of the project");
    text.parse().expect("golden.toml is valid TOML")
}

fn tables<'a>(parent: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    parent[key].as_array().expect("an array").iter().map(|t| t.as_table().expect("a table"))
}

fn numbers(value: &Value) -> Vec<f64> {
    let number = |v: &Value| v.as_float().expect("a float");
    value.as_array().expect("an array").iter().map(number).collect()
}

fn indices(value: &Value) -> Vec<i64> {
    let index = |v: &Value| v.as_integer().expect("an integer");
    value.as_array().expect("an array").iter().map(index).collect()
}

fn matrix(value: &Value) -> (Vec<f64>, usize) {
    let rows: Vec<Vec<f64>> = value.as_array().expect("rows").iter().map(numbers).collect();
    let width = rows[0].len();
    (rows.concat(), width)
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table[key].as_str().expect("a string")
}

/// Whether a result is the number, or the word "undefined", that the oracle gives.
fn agrees<E: std::fmt::Debug>(found: &Result<f64, E>, wanted: &Value, tolerance: f64) -> bool {
    match (found, wanted.as_float()) {
        (Ok(found), Some(wanted)) => close(*found, wanted, tolerance),
        (Err(_), None) => wanted.as_str() == Some("undefined"),
        _ => false,
    }
}

fn close(found: f64, wanted: f64, tolerance: f64) -> bool {
    found == wanted || (found - wanted).abs() <= tolerance * wanted.abs().max(1e-300)
}

struct Case {
    logits: Logits<'static>,
    losses: Losses,
    nll: Result<f64, Error>,
}

fn read(case: &Table) -> Case {
    let (values, classes) = matrix(&case["rows"]);
    let logits = if text(case, "kind") == "probabilities" {
        let floor = case
            .get("floor")
            .map_or(Floor::SmallestNonZero, |floor| Floor::At(floor.as_float().expect("a float")));
        Logits::from_probabilities(values, classes, Probabilities { floor, tolerance: None })
    } else if case.contains_key("masked") {
        Logits::masked(values, classes)
    } else {
        Logits::new(values, classes)
    }
    .expect("valid rows");
    let labels = Labels::new(&indices(&case["labels"]), classes).expect("valid labels");
    let losses = match text(case, "loss") {
        "0/1" => Losses::zero_one(&logits, &labels),
        "given" => Losses::new(numbers(&case["losses"])),
        "cost" => {
            let (costs, classes) = matrix(&case["cost"]);
            Losses::cost(&logits, &labels, &CostMatrix::new(costs, classes).expect("costs"))
        }
        top => {
            let k = top.strip_prefix("top-").and_then(|k| k.parse().ok()).expect("a known loss");
            Losses::top_k(&logits, &labels, k)
        }
    }
    .expect("valid losses");
    let nll = calibration::nll(&logits, &labels, &Transform::RAW);
    Case { logits, losses, nll }
}

/// Dense ranks of the confidences, the least sure being 0.
fn dense_ranks(confidences: &[f64]) -> Vec<i64> {
    let mut sorted = confidences.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let rank = |c: &f64| sorted.partition_point(|x| x < c);
    confidences.iter().map(|c| i64::try_from(rank(c)).expect("small")).collect()
}

#[test]
fn cases() {
    let corpus = corpus();
    let mut failures = Vec::new();
    let mut checked = 0;
    for case in tables(&corpus, "case") {
        let name = text(case, "name");
        let Case { logits, losses, nll } = read(case);
        let predictions: Vec<i64> =
            logits.predictions().iter().map(|&k| i64::try_from(k).expect("small")).collect();
        assert_eq!(predictions, indices(&case["predictions"]), "{name}");
        assert_eq!(losses.values(), numbers(&case["expected_losses"]), "{name}");
        if !agrees(&nll, &case["nll"], 1e-12) {
            failures.push(format!("{name}: nll {nll:?}, oracle {}", case["nll"]));
        }
        for wanted in tables(case, "estimator") {
            let text = text(wanted, "name");
            let estimator: Estimator = text.parse().expect(text);
            let confidences = estimator.confidences(&logits);
            let values = estimator.values(&logits);
            for (row, (&value, &oracle)) in
                values.iter().zip(&numbers(&wanted["values"])).enumerate()
            {
                // Differences of 1e-6 between logits of 1 have ten digits to give.
                if !(close(value, oracle, 1e-9) || (value - oracle).abs() < 1e-15) {
                    failures
                        .push(format!("{name}, {text}, row {row}: {value:e}, oracle {oracle:e}"));
                }
                checked += 1;
            }
            let ranks = dense_ranks(&confidences);
            if ranks != indices(&wanted["ranks"]) {
                let oracle = &wanted["ranks"];
                failures.push(format!(
                    "{name}, {text}: ranks {ranks:?}, oracle {oracle}: {confidences:?}"
                ));
            }
            let curve = RcCurve::new(&confidences, &losses).expect("a curve");
            for (metric, oracle) in wanted["metrics"].as_table().expect("a table") {
                let found = metric.parse::<Metric>().expect(metric).evaluate(&curve);
                if !(agrees(&found, oracle, 1e-12)
                    || found.is_ok_and(|x| x.abs() < 1e-15) && oracle.as_float() == Some(0.0))
                {
                    failures.push(format!("{name}, {text}: {metric} {found:?}, oracle {oracle}"));
                }
                checked += 1;
            }
            if let Some(oracle) = wanted.get("ece") {
                assert!(estimator.is_probability(), "{text}");
                let bins = calibration::DEFAULT_BINS;
                let ece = Reliability::new(&values, &losses, bins).map(|r| r.ece());
                if !(agrees(&ece, oracle, 1e-9)) {
                    failures.push(format!("{name}, {text}: ece {ece:?}, oracle {oracle}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(checked > 5000, "only {checked} figures were checked");
}

/// A score, family, metric or convention without a golden case would go unchecked.
#[test]
fn the_corpus_covers_every_registry() {
    let corpus = corpus();
    let (mut scores, mut families) = (HashSet::new(), HashSet::new());
    let (mut metrics, mut names) = (HashSet::new(), HashSet::new());
    for case in tables(&corpus, "case") {
        assert!(names.insert(text(case, "name")), "cases have unique names");
        for wanted in tables(case, "estimator") {
            match text(wanted, "name").parse().expect("a name") {
                Estimator::Scored { score, transform, .. } => {
                    scores.insert((score, transform.norm.is_some()));
                }
                Estimator::Family(estimator) => {
                    families.insert(estimator.family());
                }
                other => panic!("{other} is neither a score nor a family"),
            }
            metrics.extend(wanted["metrics"].as_table().expect("a table").keys().cloned());
        }
    }
    for &score in Score::ALL {
        assert!(scores.contains(&(score, false)), "{score:?} has no golden case");
        assert!(scores.contains(&(score, true)), "{score:?} has no golden case with a norm");
    }
    for family in Family::ALL {
        assert!(families.contains(family), "{family:?} has no golden case");
    }
    for kind in MetricKind::ALL {
        let name = kind.info().name;
        let covered = metrics.iter().any(|m| m.split('@').next() == Some(name));
        assert!(covered, "{name} has no golden case");
    }
}

#[test]
fn conventions_of_other_projects() {
    for case in tables(&corpus(), "compat") {
        let confidences = numbers(&case["confidences"]);
        let losses = Losses::new(numbers(&case["losses"])).expect("losses");
        for convention in AurcConvention::ALL {
            let found = convention.aurc(&confidences, &losses);
            let wanted = &case[convention.name()];
            assert!(
                agrees(&found, wanted, 1e-12),
                "{}: {convention} {found:?}, oracle {wanted}",
                text(case, "name")
            );
        }
    }
}

#[test]
fn correlations_and_average_positive_gain() {
    let corpus = corpus();
    for case in tables(&corpus, "correlation") {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let found = BTreeMap::from([
            ("pearson", statistics::pearson(&x, &y)),
            ("spearman", statistics::spearman(&x, &y)),
        ]);
        for (name, found) in found {
            let exact = agrees(&found, &case[name], 1e-12);
            let zero =
                found.as_ref().is_ok_and(|r| r.abs() < 1e-15) && case[name].as_float() == Some(0.0);
            assert!(exact || zero, "{x:?}: {name} {found:?}, oracle {}", case[name]);
        }
    }
    for case in tables(&corpus, "apg") {
        let epsilon = case["epsilon"].as_float().expect("a float");
        let found = statistics::average_positive_gain(
            &numbers(&case["baseline"]),
            &numbers(&case["method"]),
            epsilon,
        );
        assert!(agrees(&found, &case["apg"], 1e-12), "{found:?}, oracle {}", case["apg"]);
    }
}
