//! What a page draws, against plain counting.

use abstain::{Estimator, Intervals, Labels, Losses};
use abstain_lab::picture::{DrawnRows, MethodPicture, Painter, Picture, Subject};
use abstain_lab::{Answers, Contender, Contenders, Target};

const CLASSES: usize = 3;

/// Numbers that look random and are always the same.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(|_| next()).collect()
}

struct Sample {
    confidences: Vec<f64>,
    losses: Losses,
    answers: Answers,
}

/// Rows of which the surer ones are more often right; `steps` of confidence, so that rows tie.
fn sample(rows: usize, steps: f64, graded: bool) -> Sample {
    let confidences: Vec<f64> =
        numbers(rows, 1).iter().map(|c| (c * steps).floor() / steps).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a class")]
    let labels: Vec<u32> = numbers(rows, 2).iter().map(|x| (x * 3.0) as u32).collect();
    let wrong: Vec<bool> =
        numbers(rows, 3).iter().zip(&confidences).map(|(x, c)| *x > 0.4 + 0.6 * c).collect();
    let cost = if graded { 0.7 } else { 1.0 };
    let losses = wrong.iter().map(|&wrong| if wrong { cost } else { 0.0 }).collect();
    let predictions =
        labels.iter().zip(&wrong).map(|(&l, &w)| (l as usize + usize::from(w)) % CLASSES).collect();
    let labels = Labels::new(&labels, CLASSES).expect("labels");
    let losses = Losses::new(losses).expect("losses");
    Sample { confidences, losses, answers: Answers { labels, predictions } }
}

fn painter(pictures: usize) -> Painter {
    let intervals = Intervals::default();
    Painter { delta: Some(0.05), target: Target::Accuracy(0.9), intervals, pictures }
}

fn draw(sample: &Sample, thresholds: &[f64], painter: &Painter) -> Picture {
    let estimator = Estimator::MSP;
    let subject = |name: &str, lead: bool| Subject {
        name: name.into(),
        estimator: lead.then_some(&estimator),
        confidences: &sample.confidences,
        surface: None,
        lead,
        thresholds: thresholds.to_vec(),
    };
    let rows = DrawnRows {
        losses: &sample.losses,
        classes: Some(CLASSES),
        answers: Some(&sample.answers),
        index: None,
    };
    painter.picture(&[subject("a", true), subject("b", false)], &rows).expect("a picture")
}

/// Rows and losses from a threshold on.
fn from(sample: &Sample, at: f64, class: Option<u32>) -> (usize, f64) {
    let labels = sample.answers.labels.values();
    let above = (0..sample.confidences.len())
        .filter(|&row| sample.confidences[row] >= at)
        .filter(|&row| class.is_none_or(|class| labels[row] == class));
    let losses: Vec<f64> = above.map(|row| sample.losses.values()[row]).collect();
    (losses.len(), losses.iter().sum())
}

fn check_positions(sample: &Sample, method: &MethodPicture) {
    let positions = &method.positions;
    assert_eq!(positions.accepted.last(), Some(&sample.confidences.len()));
    assert!(positions.accepted.is_sorted_by(|a, b| a < b));
    for (at, threshold) in positions.threshold.iter().enumerate() {
        let (accepted, loss) = from(sample, threshold.0, None);
        assert_eq!(positions.accepted[at], accepted);
        assert!((positions.loss[at].0 - loss).abs() < 1e-9);
    }
}

#[test]
fn every_position_is_a_threshold_with_its_counts() {
    for (rows, steps, graded) in [(300, 1e9, false), (5000, 1e9, false), (5000, 40.0, true)] {
        let sample = sample(rows, steps, graded);
        let picture = draw(&sample, &[0.5, -1.0, 2.0], &painter(1));
        for method in &picture.methods {
            check_positions(&sample, method);
            assert_eq!(method.positions.bound.is_some(), !graded);
            // The threshold that was requested is there: the surest rows down to it.
            let (accepted, _) = from(&sample, 0.5, None);
            assert!(method.positions.accepted.contains(&accepted));
            let counted = method.histogram.right.iter().chain(&method.histogram.wrong);
            assert_eq!(counted.sum::<usize>(), rows);
        }
        let [lead, other] = &picture.methods[..] else { panic!("two methods") };
        assert!(
            other.positions.accepted.len() < lead.positions.accepted.len() || rows == 300 || graded
        );
        assert!(other.positions.value.is_none());
        // Evenly spaced ones, corners of the hull, an accuracy each tenth of a per cent.
        assert!(lead.positions.accepted.len() <= 2000, "{}", lead.positions.accepted.len());
        assert!(lead.positions.value.is_some() && other.band.is_none());
        assert_eq!(lead.positions.accepted.len() == rows, rows == 300);
        assert_eq!(picture.rows, rows);
    }
}

#[test]
fn bounds_are_above_the_risk_and_wider_for_all_at_once() {
    let sample = sample(2000, 1e9, false);
    let picture = draw(&sample, &[], &painter(1));
    let positions = &picture.methods[0].positions;
    let (Some(bound), Some(alone)) = (&positions.bound, &positions.alone) else {
        panic!("errors are counted")
    };
    for at in 0..bound.len() {
        let risk = positions.loss[at].0 / positions.accepted[at] as f64;
        assert!(risk < alone[at] && alone[at] < bound[at], "{at}");
    }
    // By hand: without an error among n rows the bound is 1 − level^(1/n); everywhere, one row is the
    // threshold itself.
    let level: f64 = 0.05 / (2000.0 * 2.0);
    let clean = (0..bound.len()).rfind(|&at| positions.loss[at].0 == 0.0).expect("sure rows");
    let n = positions.accepted[clean] as f64;
    assert!(n > 5.0);
    assert!((bound[clean] - (1.0 - level.powf(1.0 / (n - 1.0)))).abs() < 1e-9);
    assert!((alone[clean] - (1.0 - 0.05_f64.powf(1.0 / n))).abs() < 1e-9);
    let without = Painter { delta: None, ..painter(1) };
    let positions = draw(&sample, &[], &without).methods[0].positions.clone();
    assert_eq!((positions.bound, positions.alone), (None, None));
}

#[test]
fn bands_hold_the_curve_and_the_oracle_is_below() {
    let sample = sample(2000, 1e9, false);
    let picture = draw(&sample, &[], &painter(1));
    let band = picture.methods[0].band.as_ref().expect("of a lead");
    assert_eq!(band.coverage.len(), 100);
    let all = sample.losses.values().iter().sum::<f64>() / 2000.0;
    assert!(band.low[99] < all && all < band.high[99]);
    assert!(band.low.iter().zip(&band.high).all(|(low, high)| low <= high));
    // Of 2,000 rows with k errors the best order has none among the first 2,000 − k.
    let right = 1.0 - all;
    for (coverage, risk) in picture.oracle.coverage.iter().zip(&picture.oracle.selective_risk) {
        let expected = ((coverage - right) / coverage).max(0.0);
        assert!((risk - expected).abs() < 1e-9, "{coverage}: {risk} {expected}");
    }
}

#[test]
fn classes_add_up() {
    let sample = sample(900, 30.0, false);
    let picture = draw(&sample, &[], &painter(1));
    assert!(picture.methods[1].by_class.is_none());
    let by_class = picture.methods[0].by_class.as_ref().expect("of a lead");
    let mut sorted = sample.confidences.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    for (level, &accepted) in by_class.accepted.iter().enumerate() {
        let threshold = sorted[accepted - 1];
        for (class, label) in (0..3_u32).enumerate() {
            let (rows, loss) = from(&sample, threshold, Some(label));
            assert_eq!(
                (by_class.answered[level][class], by_class.loss[level][class].0),
                (rows, loss)
            );
        }
    }
    assert_eq!(by_class.answered.last(), Some(&by_class.rows));
    // So many pictures that a page has no room for classes.
    let crowded = draw(&sample, &[], &painter(30_000));
    assert!(crowded.methods[0].by_class.is_none());
    assert!(crowded.methods[0].band.as_ref().is_some_and(|band| band.coverage.len() == 20));
    assert!(crowded.methods[0].errors.len() == 10 && picture.methods[0].errors.len() == 50);
}

#[test]
fn the_surest_errors_come_first_with_their_rows() {
    let sample = sample(400, 20.0, false);
    let index: Vec<usize> = (0..200).map(|i| 2 * i).collect();
    let confidences: Vec<f64> = index.iter().map(|&row| sample.confidences[row]).collect();
    let rows = DrawnRows {
        losses: &sample.losses.select(&index),
        classes: Some(CLASSES),
        answers: Some(&sample.answers),
        index: Some(&index),
    };
    let subject = Subject {
        name: "mine".into(),
        estimator: None,
        confidences: &confidences,
        surface: None,
        lead: true,
        thresholds: vec![],
    };
    let picture = painter(1).picture(&[subject], &rows).expect("a picture");
    let errors = &picture.methods[0].errors;
    let mut expected: Vec<usize> =
        index.iter().copied().filter(|&row| sample.losses.values()[row] > 0.0).collect();
    expected.sort_by(|&a, &b| sample.confidences[b].total_cmp(&sample.confidences[a]));
    expected.truncate(50);
    assert_eq!(errors.iter().map(|error| error.row).collect::<Vec<_>>(), expected);
    for error in errors {
        assert_eq!(error.label, Some(sample.answers.labels.values()[error.row] as usize));
        assert_eq!(error.predicted, Some(sample.answers.predictions[error.row]));
        assert_eq!(error.confidence.0, sample.confidences[error.row]);
        assert_eq!(error.value, None);
    }
}

#[test]
fn every_threshold_of_the_first_set_is_known_on_the_others() {
    let (one, other) = (sample(3000, 1e9, false), sample(700, 25.0, false));
    let contender = |name: &str, sample: &Sample, sign: f64| {
        Contender::of_column(name, sample.confidences.iter().map(|c| sign * c).collect())
    };
    let drawn = |sample: &Sample, first: Option<&Picture>| {
        let contenders = Contenders {
            compared: vec![contender("other", sample, 1.0)],
            baseline: contender("base", sample, -1.0),
            of_artifact: 0,
            threshold: Some(0.123),
        };
        let rows = DrawnRows { losses: &sample.losses, classes: None, answers: None, index: None };
        painter(2).compared(&contenders, &rows, first).expect("a picture")
    };
    let first = drawn(&one, None);
    let second = drawn(&other, Some(&first));
    assert_eq!(first.methods.iter().map(|m| &m.name[..]).collect::<Vec<_>>(), ["base", "other"]);
    assert!(first.methods[1].positions.bound.is_some());
    assert!(second.methods[1].positions.bound.is_none());
    for (of_first, here, sign) in [
        (&first.methods[0], &second.methods[0], -1.0),
        (&first.methods[1], &second.methods[1], 1.0),
    ] {
        for threshold in of_first.positions.threshold.iter().map(|number| number.0).chain([0.123]) {
            // The last position that is at least so strict, as the page looks it up.
            let positions = &here.positions;
            let at = positions.threshold.iter().rposition(|number| number.0 >= threshold);
            let seen = at.map_or((0, 0.0), |at| (positions.accepted[at], positions.loss[at].0));
            let above = (0..700).filter(|&row| sign * other.confidences[row] >= threshold);
            let counted = above
                .fold((0, 0.0), |(rows, loss), row| (rows + 1, loss + other.losses.values()[row]));
            if threshold != 0.123 || sign > 0.0 {
                assert_eq!(seen, counted, "{threshold}");
            }
        }
    }
}
