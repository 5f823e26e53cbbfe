//! Do the promises of a monitor hold, how fast is it, and how soon does it alarm?
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin monitor -- [--streams N] [--rows N] [--seed N] [--only WORD]
//! cargo run --release -p abstain-bench --bin monitor -- speed
//! cargo run --release -p abstain-bench --bin monitor -- alarms FOLDER
//! ```
//!
//! The first simulates streams at the boundary of each hypothesis, where false alarms are likeliest, and
//! counts those that alarmed at any row. The second measures rows and labels per second, and the size of
//! the state. The third is the Rust half of `compare_monitor.py`: the first alarm of each stream in files
//! `case-*.npy`, as JSON.

use abstain::monitor::{
    AuditPlan, Feedback, Monitor, MonitorReport, MonitorSettings, Record, Reference, Strata,
};
use abstain::{Artifact, Estimator, Rule, Threshold, threshold::Basis};
use abstain_bench::Random;
use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

const ALPHA: f64 = 0.05;
const TARGET: f64 = 0.03;

/// Coverage, confidences and predictions share α: with this one each of them has `ALPHA`.
const SHARED: f64 = 3.0 * ALPHA;

/// What may go wrong in a stream, and with which probability.
type Promise = (&'static str, f64);

/// Whether each of them did.
type Broken = Vec<bool>;

/// One stream of so many rows.
type Stream = dyn Fn(&mut Random, u64) -> Result<Broken> + Sync;

/// Streams that are simulated.
struct Case {
    name: &'static str,
    promises: Vec<Promise>,
    /// One in so many of the streams is simulated.
    one_in: usize,
    stream: Box<Stream>,
}

fn case(
    name: &'static str,
    promises: &[Promise],
    stream: impl Fn(&mut Random, u64) -> Result<Broken> + Sync + 'static,
) -> Case {
    Case { name, promises: promises.to_vec(), one_in: 1, stream: Box::new(stream) }
}

fn settings() -> MonitorSettings {
    let target_risk = Some(TARGET);
    MonitorSettings { target_risk, abstained_labelled: true, ..MonitorSettings::default() }
}

fn accepted_by(at: f64, confidences: &[f64]) -> usize {
    let threshold = Threshold::given(at);
    confidences.iter().filter(|confidence| threshold.accepts(**confidence)).count()
}

fn given(at: f64) -> Artifact {
    let mut artifact = Artifact::new(Estimator::MSP);
    artifact.rule = Some(Threshold::given(at).into());
    artifact
}

/// A threshold that so many of so many rows reached.
fn found(at: f64, rows: usize, accepted: usize) -> Artifact {
    let mut artifact = Artifact::new(Estimator::MSP);
    let basis = Basis::Risk {
        risk: TARGET,
        loss: "zero-one".into(),
        rows,
        accepted,
        selective_risk: 0.0,
        weighted_coverage: None,
    };
    artifact.rule = Some(Threshold { at, basis }.into());
    artifact
}

/// Of tests without labels.
fn unlabelled() -> MonitorSettings {
    MonitorSettings { alpha: SHARED, ..MonitorSettings::default() }
}

/// Whether a test alarmed.
fn alarmed(report: &MonitorReport, test: &str) -> bool {
    report.alarms.iter().any(|alarm| alarm.test == test)
}

/// A stream of labelled rows, all of them accepted, with the loss of each row.
fn labelled(
    monitor: &mut Monitor,
    rows: std::ops::Range<u64>,
    mut loss: impl FnMut(u64) -> f64,
) -> Result<()> {
    for row in rows {
        monitor.record(&Record::new(1.0));
        monitor.label(&Feedback::new(row, 1.0, loss(row)))?;
    }
    Ok(())
}

fn risk_cases() -> Vec<Case> {
    let plain = |target: f64| {
        move |random: &mut Random, rows: u64| {
            let settings = MonitorSettings { target_risk: Some(target), ..settings() };
            let mut monitor = Monitor::new(&given(0.0), &settings)?;
            labelled(&mut monitor, 0..rows, |_| random.loss(target))?;
            Ok(vec![monitor.has_alarm()])
        }
    };
    let risk: &[Promise] = &[("risk", ALPHA)];
    vec![
        case("risk at a target of 3 %", risk, plain(TARGET)),
        case("risk at a target of 0.5 %", risk, plain(0.005)),
        case("risk at a target of 30 %", risk, plain(0.3)),
        case("costs of 0, 1 and 4, confidences with ties", risk, |random, rows| {
            // The mean cost is 0.25, of at most 4; accepted rows have one of three confidences.
            let settings = MonitorSettings { target_risk: Some(0.25), max_loss: 4.0, ..settings() };
            let mut monitor = Monitor::new(&given(1.0), &settings)?;
            for row in 0..rows {
                let confidence = f64::from(random.below(4));
                let share = random.share();
                let cost = if share < 0.05 { 4.0 } else { random.loss(0.05 / 0.95) };
                monitor.record(&Record::new(confidence));
                monitor.label(&Feedback::new(row, confidence, cost))?;
            }
            Ok(vec![monitor.has_alarm()])
        }),
        case("seven labels of ten, late and in random order", risk, |random, rows| {
            let mut monitor = Monitor::new(&given(0.3), &settings())?;
            late_labels(&mut monitor, random, rows, |random, _| random.loss(TARGET), |_, _| {})?;
            Ok(vec![monitor.has_alarm()])
        }),
        case("half the rows at 2 %, then at the target", risk, |random, rows| {
            let mut monitor = Monitor::new(&given(0.0), &settings())?;
            labelled(&mut monitor, 0..rows, |row| {
                random.loss(if row < rows / 2 { 0.02 } else { TARGET })
            })?;
            Ok(vec![monitor.has_alarm()])
        }),
        case("2 % and the target in turn, every 500 rows", risk, |random, rows| {
            let mut monitor = Monitor::new(&given(0.0), &settings())?;
            labelled(&mut monitor, 0..rows, |row| {
                random.loss(if row / 500 % 2 == 0 { 0.02 } else { TARGET })
            })?;
            Ok(vec![monitor.has_alarm()])
        }),
        case("five groups at the target", &[("any group", ALPHA)], |random, rows| {
            let settings = MonitorSettings { groups: 5, ..settings() };
            let mut monitor = Monitor::new(&given(0.0), &settings)?;
            for row in 0..rows {
                let group = Some(["a", "b", "c", "d", "e"][random.below(5) as usize]);
                monitor.record(&Record { group, ..Record::new(1.0) });
                let loss = random.loss(TARGET);
                monitor.label(&Feedback { group, ..Feedback::new(row, 1.0, loss) })?;
            }
            Ok(vec![monitor.report().alarms.iter().any(|alarm| alarm.group.is_some())])
        }),
        case(
            "four parts, merged every 500 rows",
            &[("any part or merger", ALPHA)],
            |random, rows| {
                let settings = MonitorSettings { parts: 4, ..settings() };
                let mut parts = vec![Monitor::new(&given(0.0), &settings)?; 4];
                let mut any = false;
                for row in 0..rows {
                    let part = &mut parts[random.below(4) as usize];
                    part.record(&Record { row: Some(row), ..Record::new(1.0) });
                    part.label(&Feedback::new(row, 1.0, random.loss(TARGET)))?;
                    if row % 500 == 499 {
                        let mut whole = parts[0].clone();
                        parts[1..].iter().try_for_each(|part| whole.merge(part))?;
                        any |= whole.has_alarm();
                    }
                }
                Ok(vec![any])
            },
        ),
    ]
}

/// Rows of uniform confidences, and labels of seven in ten of them, up to 2,000 rows later.
fn late_labels(
    monitor: &mut Monitor,
    random: &mut Random,
    rows: u64,
    mut loss: impl FnMut(&mut Random, u64) -> f64,
    mut before: impl FnMut(&mut Monitor, u64),
) -> Result<()> {
    let confidences: Vec<f64> = (0..rows).map(|_| random.share()).collect();
    let mut arrivals: Vec<(u64, u64)> = Vec::new();
    for row in 0..rows {
        if random.share() < 0.7 {
            arrivals.push((row + u64::from(random.below(2000)), row));
        }
    }
    // Of labels that arrive together, the order is random.
    arrivals.sort_by_key(|&(time, row)| (time, row.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut next = 0;
    for (row, &confidence) in (0..).zip(&confidences) {
        before(monitor, row);
        monitor.record(&Record::new(confidence));
        while let Some(&(_, labelled)) = arrivals.get(next).filter(|(time, _)| *time <= row) {
            let confidence = confidences[usize::try_from(labelled)?];
            let loss = loss(random, labelled);
            monitor.label(&Feedback::new(labelled, confidence, loss))?;
            next += 1;
        }
    }
    Ok(())
}

/// The risk of a row by its confidence, which is uniform: on average the target from `AT` on.
const AT: f64 = 0.2;

fn risk_of(confidence: f64) -> f64 {
    2.0 * TARGET * (1.0 - confidence) / (1.0 - AT)
}

/// A reference of so many rows whose risk falls with the confidence.
fn reference(random: &mut Random, rows: usize) -> Result<Reference> {
    let confidences: Vec<f64> = (0..rows).map(|_| random.share()).collect();
    let losses: Vec<f64> = confidences.iter().map(|&c| random.loss(risk_of(c))).collect();
    let seed = u64::from(random.below(u32::MAX));
    Ok(Reference::new(&confidences, &losses, None, AT, seed)?)
}

/// Rows sampled by a plan for so many of them, with propensities that depend on the confidence.
fn audited(
    random: &mut Random,
    rows: u64,
    budget: f64,
    risk: fn(f64) -> f64,
    weigh: fn(&AuditPlan, f64) -> f64,
) -> Result<Monitor> {
    let mut artifact = given(AT);
    artifact.reference = Some(reference(random, 2000)?);
    let confidences: Vec<f64> = (0..rows).map(|_| random.share()).collect();
    let mut strata = Strata::new(&artifact)?;
    for &confidence in &confidences {
        strata.count(confidence);
    }
    let plan = strata.plan(budget, 0.25, u64::from(random.below(u32::MAX)))?;
    let mut monitor = Monitor::new(&artifact, &settings())?;
    for (row, &confidence) in (0..).zip(&confidences) {
        if let Some(propensity) = plan.choose(row, confidence) {
            let (loss, weight) = (random.loss(risk(confidence)), weigh(&plan, propensity));
            monitor.label(&Feedback { weight, ..Feedback::new(row, confidence, loss) })?;
        }
    }
    Ok(monitor)
}

fn audit_cases() -> Vec<Case> {
    let by_propensity = |plan: &AuditPlan, propensity: f64| plan.min_propensity / propensity;
    let risk: &[Promise] = &[("risk", ALPHA)];
    let sampled = |share: f64| {
        move |random: &mut Random, rows: u64| {
            let budget = share * rows as f64;
            let monitor = audited(random, rows, budget, risk_of, by_propensity)?;
            Ok(vec![alarmed(&monitor.report(), "risk")])
        }
    };
    vec![
        case("an audit of a tenth of the rows, with its weights", risk, sampled(0.1)),
        case("an audit of half of the rows, with its weights", risk, sampled(0.5)),
        case("an audit of half, any certified threshold", &[("δ", ALPHA)], move |random, rows| {
            let budget = 0.5 * rows as f64;
            let monitor = audited(random, rows, budget, |_| TARGET, by_propensity)?;
            Ok(vec![!monitor.certified().is_empty()])
        }),
        case("an audit of half, weights ignored", &[("risk", 1.0)], |random, rows| {
            let monitor = audited(random, rows, 0.5 * rows as f64, risk_of, |_, _| 1.0)?;
            Ok(vec![alarmed(&monitor.report(), "risk")])
        }),
    ]
}

/// The share of a stream that is accepted is at the end of the allowed interval.
fn coverage_at_the_end(end: fn((f64, f64)) -> f64) -> impl Fn(&mut Random, u64) -> Result<Broken> {
    move |random, rows| {
        let mut monitor = Monitor::new(&found(0.5, 2000, 1400), &unlabelled())?;
        let share = end(monitor.report().coverage.allowed.context("a coverage")?);
        (0..rows).for_each(|_| monitor.record(&Record::new(random.loss(share))));
        let report = monitor.report();
        Ok(vec![alarmed(&report, "coverage-high"), alarmed(&report, "coverage-low")])
    }
}

fn coverage_cases() -> Vec<Case> {
    // The certifying rows and the stream are uniform; the threshold is chosen on the former.
    let sampled = |rows_of_sample: usize, choose: fn(&[f64]) -> usize| {
        move |random: &mut Random, rows: u64| {
            let mut sample: Vec<f64> = (0..rows_of_sample).map(|_| random.share()).collect();
            sample.sort_unstable_by(f64::total_cmp);
            let place = choose(&sample);
            let artifact = found(sample[place], rows_of_sample, rows_of_sample - place);
            let mut monitor = Monitor::new(&artifact, &unlabelled())?;
            (0..rows).for_each(|_| monitor.record(&Record::new(random.share())));
            Ok(vec![monitor.has_alarm()])
        }
    };
    // Where the sample departs most from the population.
    let worst = |sample: &[f64]| {
        let n = sample.len() as f64;
        let gap = |place: usize| (sample[place] - place as f64 / n).abs();
        (0..sample.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap_or(0)
    };
    let both: &[Promise] = &[("coverage-high", ALPHA / 4.0), ("coverage-low", ALPHA / 4.0)];
    let either: &[Promise] = &[("either side", ALPHA)];
    vec![
        case("coverage at the upper end of the allowed", both, coverage_at_the_end(|ends| ends.1)),
        case("coverage at the lower end of the allowed", both, coverage_at_the_end(|ends| ends.0)),
        case(
            "500 certifying rows, threshold at 3 of 10",
            either,
            sampled(500, |sample| sample.len() * 3 / 10),
        ),
        case("500 certifying rows, the worst threshold", either, sampled(500, worst)),
        case("500 certifying rows with weights", either, |random, rows| {
            // One in a hundred counts as a hundred: half of the population.
            let sample: Vec<(f64, f64)> = (0..500)
                .map(|_| (random.share(), if random.share() < 0.01 { 100.0 } else { 1.0 }))
                .collect();
            let sum = |from: f64| -> f64 {
                sample.iter().filter(|row| row.0 >= from).map(|row| row.1).sum()
            };
            let mut artifact = found(0.3, 500, 350);
            if let Some(Rule::Threshold(threshold)) = &mut artifact.rule
                && let Basis::Risk { weighted_coverage, .. } = &mut threshold.basis
            {
                *weighted_coverage = Some(sum(0.3) / sum(0.0));
            }
            let mut monitor = Monitor::new(&artifact, &unlabelled())?;
            (0..rows).for_each(|_| monitor.record(&Record::new(random.share())));
            Ok(vec![monitor.has_alarm()])
        }),
        case("a threshold certified anew, then watched", either, |random, rows| {
            // Adopted at the first certificate whose coverage is above the population's.
            let mut first = with_thresholds(random)?;
            for row in 0..rows {
                let confidence = random.share();
                first.record(&Record::new(confidence));
                first.label(&Feedback::new(row, confidence, random.loss(TARGET / 10.0)))?;
                if row % 10 != 0 {
                    continue;
                }
                let adopted = first.certified().into_iter().find(|found| {
                    let high = found.accepted as f64 / found.rows as f64 + found.threshold - 1.0;
                    high > 1.2 / (found.rows as f64).sqrt()
                });
                if let Some(certificate) = adopted {
                    let mut artifact = given(0.0);
                    artifact.rule = Some(Threshold::anytime(certificate, "zero-one".into()).into());
                    let mut monitor = Monitor::new(&artifact, &unlabelled())?;
                    (0..rows).for_each(|_| monitor.record(&Record::new(random.share())));
                    return Ok(vec![monitor.has_alarm()]);
                }
            }
            Ok(vec![false])
        }),
    ]
}

/// Confidences and classes of the distribution of a reference that is drawn anew for each stream.
fn unshifted(
    size: usize,
    draw: fn(&mut Random) -> f64,
    settings: MonitorSettings,
) -> impl Fn(&mut Random, u64) -> Result<Broken> {
    // Ten classes, some of them rare.
    let class = |random: &mut Random| (random.share().powi(2) * 10.0).floor();
    move |random, rows| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a class")]
        let classes: Vec<usize> = (0..size).map(|_| class(random) as usize).collect();
        let confidences: Vec<f64> = (0..size).map(|_| draw(random)).collect();
        let seed = u64::from(random.below(u32::MAX));
        let accepted = accepted_by(0.5, &confidences);
        let mut artifact = found(0.5, size, accepted);
        let losses = vec![0.0; size];
        let summary = Reference::new(&confidences, &losses, Some(&classes), 0.5, seed)?;
        artifact.reference = Some(summary);
        let settings = MonitorSettings { seed: seed ^ 0xabcd, ..settings };
        let mut monitor = Monitor::new(&artifact, &settings)?;
        for _ in 0..rows {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a class")]
            let prediction = Some(class(random) as u32);
            monitor.record(&Record { prediction, ..Record::new(draw(random)) });
        }
        let report = monitor.report();
        let tests = ["confidences", "predictions"].map(|test| alarmed(&report, test));
        Ok(vec![tests[0], tests[1], monitor.has_alarm()])
    }
}

fn shift_cases() -> Vec<Case> {
    let both: &[Promise] = &[("confidences", ALPHA), ("predictions", ALPHA)];
    let tied = |random: &mut Random| (random.share() * 5.0).floor() / 5.0;
    vec![
        case("no shift, 200 certifying rows", both, unshifted(200, Random::share, unlabelled())),
        case("no shift, 2,000 certifying rows", both, unshifted(2000, Random::share, unlabelled())),
        case("no shift, 200 rows with five confidences", both, unshifted(200, tied, unlabelled())),
        case(
            "no shift, 2,000 rows with five confidences",
            both,
            unshifted(2000, tied, unlabelled()),
        ),
    ]
}

/// A monitor that tests several thresholds on confidences between 0 and 1.
fn with_thresholds(random: &mut Random) -> Result<Monitor> {
    let mut artifact = given(0.5);
    artifact.reference = Some(reference(random, 500)?);
    Ok(Monitor::new(&artifact, &settings())?)
}

fn threshold_cases() -> Vec<Case> {
    let any: &[Promise] = &[("any certified", ALPHA)];
    vec![
        // Nothing is taken back until a restart: a look before each and one at the end see all.
        case("all thresholds just bad", any, |random, rows| {
            let mut monitor = with_thresholds(random)?;
            for row in 0..rows {
                let (confidence, loss) = (random.share(), random.loss(TARGET));
                monitor.label(&Feedback::new(row, confidence, loss))?;
            }
            Ok(vec![!monitor.certified().is_empty()])
        }),
        case("all thresholds just bad, four restarts", any, |random, rows| {
            let mut monitor = with_thresholds(random)?;
            let mut broken = false;
            for row in 0..rows {
                if [rows / 20, rows / 10, rows / 5, rows / 2].contains(&row) {
                    broken |= !monitor.certified().is_empty();
                    monitor.restart_certification();
                }
                let (confidence, loss) = (random.share(), random.loss(TARGET));
                monitor.record(&Record::new(confidence));
                monitor.label(&Feedback::new(row, confidence, loss))?;
            }
            Ok(vec![broken || !monitor.certified().is_empty()])
        }),
        case("thresholds from 0.8 on are good", &[("a bad one", ALPHA)], |random, rows| {
            let mut monitor = with_thresholds(random)?;
            for row in 0..rows {
                let confidence = random.share();
                // The risk from a threshold on is 5 (1 − threshold) times the target.
                let loss = random.loss(10.0 * TARGET * (1.0 - confidence));
                monitor.label(&Feedback::new(row, confidence, loss))?;
            }
            Ok(vec![monitor.certified().iter().any(|certified| certified.threshold < 0.8)])
        }),
        case("good rows, a restart, then just bad; late labels", any, |random, rows| {
            let mut monitor = with_thresholds(random)?;
            let change = rows / 2;
            let loss = |random: &mut Random, row: u64| {
                random.loss(if row < change { TARGET / 10.0 } else { TARGET })
            };
            late_labels(&mut monitor, random, rows, loss, |monitor, row| {
                if row == change {
                    monitor.restart_certification();
                }
            })?;
            Ok(vec![!monitor.certified().is_empty()])
        }),
    ]
}

/// After which rows intervals are looked at: all of the first hundred, then when there are 2 % more.
fn looks(rows: u64) -> Vec<u64> {
    let mut looks = Vec::new();
    let mut row = 1;
    while row <= rows {
        looks.push(row);
        row += (row / 50).max(1);
    }
    looks
}

fn sequence_cases() -> Vec<Case> {
    let moving = |weighted: bool| {
        move |random: &mut Random, rows: u64| {
            let mut monitor = Monitor::new(&given(0.5), &settings())?;
            let mut looks = looks(rows).into_iter().peekable();
            let (mut weights, mut risks, mut shares) = (0.0, 0.0, 0.0);
            let mut outside = [false; 2];
            for row in 0..rows {
                let high = row / 300 % 2 == 1;
                let (risk, share) = if high { (0.3, 0.9) } else { (0.02, 0.4) };
                let confidence = random.loss(share);
                monitor.record(&Record::new(confidence));
                shares += share;
                if confidence > 0.5 {
                    let weight = if weighted && random.share() < 0.5 { 0.2 } else { 1.0 };
                    let feedback = Feedback::new(row, confidence, random.loss(risk));
                    monitor.label(&Feedback { weight, ..feedback })?;
                    weights += weight;
                    risks += weight * risk;
                }
                if looks.next_if_eq(&(row + 1)).is_some() {
                    let report = monitor.report();
                    let leaves = |(low, high): (f64, f64), mean: f64| {
                        mean < low - 1e-12 || mean > high + 1e-12
                    };
                    let risk = report.risk.context("a target")?.interval;
                    outside[0] |= weights > 0.0 && leaves(risk, risks / weights);
                    outside[1] |= leaves(report.coverage.interval, shares / (row + 1) as f64);
                }
            }
            Ok(outside.to_vec())
        }
    };
    let both: &[Promise] = &[("running risk", ALPHA), ("running coverage", ALPHA)];
    let one: &[Promise] = &[("risk", ALPHA)];
    let mut cases = vec![
        case("means that move leave their limits", both, moving(false)),
        case("the same, labels with weights", both, moving(true)),
        case("the risk of sampled rows leaves its limits", one, |random, rows| {
            let mut looks = looks(rows).into_iter().peekable();
            let mut monitor = Monitor::new(&given(0.0), &settings())?;
            // Half of the rows have a risk of 9 %, and are sampled five times as often as the others.
            for row in 0..rows {
                let (risk, propensity) =
                    if random.share() < 0.5 { (0.09, 0.5) } else { (0.01, 0.1) };
                let loss = random.loss(risk);
                if random.share() < propensity {
                    let weight = 0.1 / propensity;
                    monitor.label(&Feedback { weight, ..Feedback::new(row, 1.0, loss) })?;
                }
                if looks.next_if_eq(&(row + 1)).is_some() {
                    let (low, high) = monitor.report().risk.context("a target")?.interval;
                    if 0.05 < low || 0.05 > high {
                        return Ok(vec![true]);
                    }
                }
            }
            Ok(vec![false])
        }),
    ];
    // An interval takes far longer than a row.
    for case in &mut cases {
        case.one_in = 10;
    }
    cases
}

/// All tests without labels share α.
fn together() -> Vec<Case> {
    let level = ALPHA / 3.0;
    let promises: &[Promise] =
        &[("confidences", level), ("predictions", level), ("any test without labels", ALPHA)];
    let stream = unshifted(2000, Random::share, MonitorSettings::default());
    vec![case("no shift, α of 5 % for all tests", promises, stream)]
}

fn promises(streams: usize, rows: u64, seed: u64, only: Option<&str>) -> Result<()> {
    let cases: Vec<Case> = [
        risk_cases(),
        audit_cases(),
        coverage_cases(),
        shift_cases(),
        threshold_cases(),
        sequence_cases(),
        together(),
    ]
    .into_iter()
    .flatten()
    .collect();
    println!("{streams} streams of {rows} rows, seed {seed}\n");
    println!(
        "| stream | of | streams | broken | share | at most | |\n|---|---|---|---|---|---|---|"
    );
    for (place, case) in cases.iter().enumerate() {
        if only.is_some_and(|only| !case.name.contains(only)) {
            continue;
        }
        let start = Instant::now();
        let streams = streams.div_ceil(case.one_in);
        let results: Vec<Broken> = (0..streams)
            .into_par_iter()
            .map(|stream| (case.stream)(&mut Random::of(seed, place, stream), rows))
            .collect::<Result<_>>()?;
        for (index, (of, level)) in case.promises.iter().enumerate() {
            let broken = results.iter().filter(|broken| broken[index]).count();
            let share = broken as f64 / streams as f64;
            // Three standard deviations of the count where the probability is the level.
            let noise = 3.0 * (level * (1.0 - level) / streams as f64).sqrt();
            let mark = match share {
                _ if *level == 1.0 => "no promise",
                share if share <= *level => "holds",
                share if share <= level + noise => "holds within noise",
                _ => "**broken**",
            };
            let (share, level) = (100.0 * share, 100.0 * level);
            let counts = format!("{streams} | {broken} | {share:.2} %");
            println!("| {} | {of} | {counts} | {level:.2} % | {mark} |", case.name);
        }
        eprintln!("{}: {:.0} s", case.name, start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Seconds of this thread on a processor, where Linux tells; elsewhere seconds.
fn seconds(start: Instant) -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    spent.map_or(start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// How many of so many items are done in a second, in the best of ten parts.
fn rate<T>(items: &[T], mut each: impl FnMut(u64, &T) -> Result<()>) -> Result<f64> {
    let (start, mut best, mut row) = (Instant::now(), 0.0_f64, 0);
    for part in items.chunks(items.len() / 10) {
        let before = seconds(start);
        for item in part {
            each(row, item)?;
            row += 1;
        }
        best = best.max(part.len() as f64 / (seconds(start) - before));
    }
    Ok(best)
}

/// Rows and labels per second of one thread, and the bytes of the state as JSON.
fn speed() -> Result<()> {
    let random = &mut Random::of(1, 0, 0);
    let confidences: Vec<f64> = (0..2000).map(|_| random.share()).collect();
    let losses: Vec<f64> = confidences.iter().map(|&c| random.loss(risk_of(c))).collect();
    let classes: Vec<usize> = (0..2000).map(|_| random.below(10) as usize).collect();
    let accepted = accepted_by(AT, &confidences);
    let mut artifact = found(AT, 2000, accepted);
    artifact.reference = Some(Reference::new(&confidences, &losses, Some(&classes), AT, 0)?);
    let mut monitor = Monitor::new(&artifact, &settings())?;
    let rows: Vec<(f64, u32, f64)> = (0..2_000_000)
        .map(|_| {
            let confidence = random.share();
            (confidence, random.below(10), random.loss(risk_of(confidence)))
        })
        .collect();
    println!("| what | a second | bytes of the state afterwards |\n|---|---|---|");
    let print = |what: &str, rate: f64, monitor: &Monitor| -> Result<()> {
        println!("| {what} | {rate:.0} | {} |", serde_json::to_string(monitor)?.len());
        Ok(())
    };
    let recorded = rate(&rows, |_, &(confidence, class, _)| {
        let (prediction, probability) = (Some(class), Some(confidence));
        monitor.record(&Record { prediction, probability, ..Record::new(confidence) });
        Ok(())
    })?;
    print("rows, all tests on", recorded, &monitor)?;
    let labelled = rate(&rows, |row, &(confidence, _, loss)| {
        Ok(monitor.label(&Feedback::new(row, confidence, loss))?)
    })?;
    print("labels, nine thresholds tested", labelled, &monitor)?;
    let weighted = rate(&rows, |row, &(confidence, _, loss)| {
        let weight = if row % 2 == 0 { 0.5 } else { 0.25 };
        Ok(monitor.label(&Feedback { weight, ..Feedback::new(row, confidence, loss) })?)
    })?;
    print("labels with weights", weighted, &monitor)?;
    let mut plain = Monitor::new(&given(AT), &settings())?;
    let both = rate(&rows, |row, &(confidence, _, loss)| {
        plain.record(&Record::new(confidence));
        Ok(plain.label(&Feedback::new(row, confidence, loss))?)
    })?;
    print("rows with labels, no reference", both, &plain)
}

/// The label of the first alarm of each stream, counted from 1.
fn alarms(folder: &Path) -> Result<()> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut found = serde_json::Map::new();
    for path in paths {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if !name.starts_with("case-") || path.extension().is_none_or(|end| end != "npy") {
            continue;
        }
        let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
        let npy = npyz::NpyFile::new(std::io::BufReader::new(file))?;
        ensure!(npy.shape().len() == 2, "{} is no table", path.display());
        let rows = usize::try_from(npy.shape()[1])?;
        let losses: Vec<u8> = npy.into_vec()?;
        let first = |stream: &[u8]| -> Result<Option<u64>> {
            let mut monitor = Monitor::new(&given(0.0), &settings())?;
            for (row, &loss) in (0..).zip(stream) {
                monitor.record(&Record::new(1.0));
                monitor.label(&Feedback::new(row, 1.0, f64::from(loss)))?;
                if monitor.has_alarm() {
                    return Ok(Some(row + 1));
                }
            }
            Ok(None)
        };
        let alarms: Vec<Option<u64>> = losses.par_chunks(rows).map(first).collect::<Result<_>>()?;
        found.insert(name.to_string(), serde_json::to_value(alarms)?);
    }
    println!("{}", serde_json::Value::Object(found));
    Ok(())
}

fn main() -> Result<()> {
    let (mut streams, mut rows, mut seed, mut only) = (10_000, 10_000, 18, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().context("a value is missing");
        match argument.as_str() {
            "speed" => return speed(),
            "alarms" => return alarms(Path::new(&value()?)),
            "--streams" => streams = value()?.parse()?,
            "--rows" => rows = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--only" => only = Some(value()?),
            option => bail!("there is no option {option}"),
        }
    }
    promises(streams, rows, seed, only.as_deref())
}
