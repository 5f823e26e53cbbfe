//! What labels of a stream certify and confirm, simulated: labels from before a shift, and labels that are
//! not of a random part of the rows. `STREAMS` is a number to scale up.

use abstain::monitor::{Feedback, Monitor, MonitorSettings, Record, Reference, SelectedBy};
use abstain::{Artifact, Estimator, Threshold};
use abstain_kit::Lcg;

const STREAMS: u64 = 100;
const TARGET: f64 = 0.05;

/// An estimator with a threshold, and what its certifying rows looked like, if that is to be watched.
fn artifact(at: f64, watched: bool, random: &mut Lcg) -> Artifact {
    let mut artifact = Artifact::new(Estimator::MSP);
    artifact.rule = Some(Threshold::given(at).into());
    if watched {
        let confidences: Vec<f64> = (0..2000).map(|_| random.next()).collect();
        let reference = Reference::new(&confidences, &[0.0; 2000], None, at, 1);
        artifact.reference = Some(reference.expect("a reference"));
    }
    artifact
}

fn monitor(at: f64, watched: bool, abstained_labelled: bool, random: &mut Lcg) -> Monitor {
    monitor_of(at, TARGET, watched, abstained_labelled, random)
}

fn monitor_of(
    at: f64,
    target: f64,
    watched: bool,
    abstained_labelled: bool,
    random: &mut Lcg,
) -> Monitor {
    let target_risk = Some(target);
    let settings =
        MonitorSettings { target_risk, abstained_labelled, ..MonitorSettings::default() };
    Monitor::new(&artifact(at, watched, random), &settings).expect("a monitor")
}

/// Old rows are wrong in 2 % of the cases, those after a shift in 12 %. Labels come after all rows, and few
/// of those since the shift have one yet.
/// Returns whether a threshold is certified: each would be broken by the rows since the shift.
fn certifies_after_a_shift(stream: u64, watched: bool, early: &mut u64) -> bool {
    let random = &mut Lcg::new(stream + 1);
    let mut monitor = monitor(0.3, watched, false, random);
    let rows: Vec<(f64, f64)> = (0..2100)
        .map(|row| {
            let old = row < 1500;
            let confidence = if old { random.next() } else { random.next().powf(1.6) };
            let wrong = random.next() < if old { 0.02 } else { 0.12 };
            (confidence, if wrong { 1.0 } else { 0.0 })
        })
        .collect();
    for (confidence, _) in &rows {
        monitor.record(&Record::new(*confidence));
    }
    for (row, (confidence, loss)) in (0..1540).zip(&rows) {
        monitor.label(&Feedback::new(row, *confidence, *loss)).expect("valid");
    }
    monitor.compare_labels();
    let report = monitor.report();
    if watched {
        let since = report.changed_since.expect("the shift is noticed");
        assert!(report.certified_since >= Some(since));
        *early += u64::from(since < 1400);
    }
    !report.certified.is_empty()
}

#[test]
fn labels_from_before_a_shift_certify_nothing() {
    let mut early = 0;
    let mut count = |watched: bool| {
        (0..STREAMS).filter(|stream| certifies_after_a_shift(*stream, watched, &mut early)).count()
    };
    // Where the shift is not watched, old labels certify: the simulation can fail.
    let unwatched = count(false) as u64;
    let found = count(true) as u64;
    println!("certified after a shift: {unwatched} of {STREAMS} unwatched, {found} watched");
    println!("likeliest change more than 100 rows early: {early}");
    assert!(unwatched > STREAMS * 9 / 10, "{unwatched} of {STREAMS}");
    // At most delta of the streams, 5 %.
    assert!(found <= STREAMS / 20, "{found} of {STREAMS}");
    assert!(early <= STREAMS / 10, "{early} of {STREAMS}");
}

/// Labels after the shift certify as before, where the risk is low.
#[test]
fn labels_from_after_a_shift_certify() {
    let random = &mut Lcg::new(5);
    let mut monitor = monitor(0.3, true, false, random);
    for row in 0..5000 {
        let confidence = if row < 1000 { random.next() } else { random.next().powf(1.6) };
        monitor.record(&Record::new(confidence));
        let loss = if random.next() < 0.01 { 1.0 } else { 0.0 };
        monitor.label(&Feedback::new(row, confidence, loss)).expect("valid");
    }
    monitor.compare_labels();
    let report = monitor.report();
    let lowest = report.certified.last().expect("a certificate");
    assert!((900..1200).contains(&lowest.since), "{}", lowest.since);
    // A second change is noticed, and restarts the certification.
    for row in 5000..7000 {
        monitor.record(&Record::new(0.3 + 0.3 * random.next()));
        let loss = if random.next() < 0.2 { 1.0 } else { 0.0 };
        monitor.label(&Feedback::new(row, 0.5, loss)).expect("valid");
    }
    let report = monitor.report();
    assert!(report.alarms.iter().any(|alarm| alarm.test == "changed-again"), "{:?}", report.alarms);
    assert!(report.certified.is_empty() && report.certified_since >= Some(4900));
}

/// Rows of which some have labels: the confidence, the class, the group, the number of the row and a random
/// number decide.
type Chosen = fn(f64, u32, &str, u64, f64) -> bool;

struct Outcome {
    confirmed: bool,
    certified: bool,
    found: Vec<SelectedBy>,
}

/// Rows from .24 on are accepted, and 13 % of these are wrong: the surer, the fewer.
fn labelled(stream: u64, target: f64, watched: bool, steps: u64, chosen: Chosen) -> Outcome {
    let random = &mut Lcg::new(stream + 1);
    let mut monitor = monitor_of(0.24, target, watched, false, random);
    let mut row = 0;
    let mut found = Vec::new();
    // Where labels are not compared, there is one step.
    for _ in 0..steps.max(1) {
        let mut labels = Vec::new();
        for _ in 0..2000 / steps.max(1) {
            let confidence = random.next();
            let class = (random.next() * 7.0).floor();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 6")]
            let class = class as u32;
            let group = if random.next() < 0.3 { "night" } else { "day" };
            let (prediction, of) = (Some(class), Some(group));
            monitor.record(&Record { prediction, group: of, ..Record::new(confidence) });
            let loss = if random.next() < 0.7 * (1.0 - confidence).powi(2) { 1.0 } else { 0.0 };
            let with = random.next();
            if confidence >= 0.24 && chosen(confidence, class, group, row, with) {
                let feedback = Feedback::new(row, confidence, loss);
                labels.push(Feedback { prediction, group: of, ..feedback });
            }
            row += 1;
        }
        // A list of labels may be in any order: the surest first.
        labels.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        for label in &labels {
            monitor.label(label).expect("valid");
        }
        if steps > 0 {
            monitor.compare_labels();
        }
        let report = monitor.report();
        found = report.selection.expect("labels are compared").found.iter().map(|f| f.by).collect();
    }
    let report = monitor.report();
    let risk = report.risk.expect("a target");
    let against = report.selection.expect("labels are compared").against().count();
    let (confirmed, certified) = (risk.interval.1 <= target, !report.certified.is_empty());
    Outcome { confirmed: confirmed && against == 0, certified, found }
}

#[test]
fn labels_of_sure_rows_confirm_and_certify_nothing() {
    let sure: Chosen = |confidence, _, _, _, _| confidence >= 0.85;
    for watched in [true, false] {
        for steps in [0, 1, 5] {
            let wrong = (0..STREAMS)
                .map(|stream| labelled(stream, TARGET, watched, steps, sure))
                .filter(|found| found.confirmed || found.certified)
                .count() as u64;
            println!("confirmed or certified, compared {steps} times: {wrong} of {STREAMS}");
            // Where labels are not compared, they mislead: the simulation can fail.
            assert!(if steps == 0 { wrong > STREAMS * 9 / 10 } else { wrong == 0 }, "{wrong}");
        }
    }
    // Not only where nothing below is labelled.
    let rather: Chosen =
        |confidence, _, _, _, with| with < if confidence > 0.6 { 0.5 } else { 0.2 };
    let class: Chosen = |_, class, _, _, with| with < if class == 3 { 0.05 } else { 0.3 };
    let group: Chosen = |_, _, group, _, with| with < if group == "night" { 0.1 } else { 0.3 };
    let early: Chosen = |_, _, _, row, with| with < if row < 1000 { 0.4 } else { 0.1 };
    for (chosen, by) in [
        (rather, SelectedBy::Confidences),
        (class, SelectedBy::Predictions),
        (group, SelectedBy::Groups),
        (early, SelectedBy::Times),
    ] {
        let found = (0..STREAMS).filter(|s| labelled(*s, 0.3, true, 5, chosen).found.contains(&by));
        let found = found.count() as u64;
        println!("{by:?}: {found} of {STREAMS}");
        assert!(found >= STREAMS * 9 / 10, "{by:?}: {found} of {STREAMS}");
    }
}

#[test]
fn labels_of_a_random_part_are_rarely_suspected() {
    let part: Chosen = |_, _, _, _, with| with < 0.3;
    let all: Chosen = |_, _, _, _, _| true;
    // Late labels and a budget that changes say nothing against labels, but of their times.
    let fewer: Chosen = |_, _, _, row, with| with < if row < 1000 { 0.5 } else { 0.05 };
    for (name, chosen, times) in [("part", part, true), ("all", all, true), ("fewer", fewer, false)]
    {
        for watched in [true, false] {
            let streams = STREAMS * 2;
            let found = (0..streams).filter(|stream| {
                let found = labelled(*stream, 0.3, watched, 20, chosen).found;
                found.iter().any(|by| times || *by != SelectedBy::Times)
            });
            let found = found.count();
            println!("{name}: {found} of {streams}");
            // The level is 1 %: three standard deviations above.
            assert!(found <= 6, "{name}: {found} of {streams}");
        }
    }
}

/// Propensities make labels stand for all rows, whichever were chosen.
#[test]
fn labels_with_propensities_are_not_compared() {
    let random = &mut Lcg::new(3);
    let mut monitor = monitor(0.24, true, false, random);
    for row in 0..2000 {
        let confidence = random.next();
        monitor.record(&Record::new(confidence));
        let weight = if confidence >= 0.85 { 0.5 } else { 1.0 };
        if confidence >= 0.85 || random.next() < 0.5 {
            let feedback =
                Feedback { weight, sampled: true, ..Feedback::new(row, confidence, 0.0) };
            monitor.label(&feedback).expect("valid");
        }
        monitor.compare_labels();
    }
    let report = monitor.report();
    assert!(!report.certified.is_empty());
    assert_eq!(report.selection.map(|found| found.found.len()), Some(0));
}

/// Rows below the threshold are all wrong, and none of them has a label.
#[test]
fn labels_of_abstained_rows_are_needed_for_lower_thresholds() {
    for labelled in [false, true] {
        let random = &mut Lcg::new(4);
        let mut monitor = monitor(0.5, true, true, random);
        for row in 0..4000 {
            let confidence = random.next();
            monitor.record(&Record::new(confidence));
            if confidence >= 0.5 || labelled {
                let loss = if confidence < 0.4 { 1.0 } else { 0.0 };
                monitor.label(&Feedback::new(row, confidence, loss)).expect("valid");
            }
        }
        assert_eq!(monitor.lacks_abstained_labels(), !labelled);
        let lowest = monitor.certified().last().map(|found| found.threshold);
        assert!(lowest >= Some(if labelled { 0.38 } else { 0.5 }), "{lowest:?}");
        monitor.compare_labels();
        assert_eq!(monitor.certified().is_empty(), !labelled);
    }
}
