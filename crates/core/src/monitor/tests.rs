use super::mean::{MeanTest, Starts, log_evidence_above};
use super::*;
use crate::random::Random;
use crate::rule::Rule;
use shift::Order;

const ALPHA: f64 = 0.05;

fn artifact(at: f64) -> Artifact {
    let mut artifact = Artifact::new(crate::Estimator::MSP);
    artifact.rule = Some(Threshold::given(at).into());
    artifact
}

fn settings() -> MonitorSettings {
    MonitorSettings { target_risk: Some(0.03), ..MonitorSettings::default() }
}

/// A monitor whose artifact has a coverage, a target and a reference.
fn monitor_of(settings: &MonitorSettings) -> Monitor {
    let confidences: Vec<f64> = (0..2000).map(|i| f64::from(i % 200) / 100.0).collect();
    let losses: Vec<f64> = confidences.iter().map(|&c| if c < 0.05 { 1.0 } else { 0.0 }).collect();
    let classes: Vec<usize> = (0..2000).map(|i| i % 10).collect();
    let mut artifact = artifact(0.5);
    let reference = Reference::new(&confidences, &losses, Some(&classes), 0.5, 7);
    artifact.reference = Some(reference.expect("a reference"));
    let basis = Basis::Risk {
        risk: 0.03,
        loss: "zero-one".into(),
        rows: 2000,
        accepted: 1500,
        selective_risk: 0.0,
        weighted_coverage: None,
    };
    artifact.rule = Some(Threshold { at: 0.5, basis }.into());
    Monitor::new(&artifact, settings).expect("a monitor")
}

/// How many of `streams` raise an alarm.
fn alarms(streams: usize, mut stream: impl FnMut(&mut Random) -> bool) -> usize {
    (0..streams).filter(|&i| stream(&mut Random::of_task(11, i))).count()
}

/// The most false alarms that are likely at a level: three standard deviations above.
fn likely(streams: usize, level: f64) -> usize {
    let expected = streams as f64 * level;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let most = (expected + 3.0 * (expected * (1.0 - level)).sqrt()).ceil() as usize;
    most
}

fn bernoulli(random: &mut Random, p: f64) -> f64 {
    if random.share() < p { 1.0 } else { 0.0 }
}

#[test]
fn false_alarms_at_the_boundary_are_rare() {
    for (target, starts) in [
        (0.03, Starts::Always),
        (0.3, Starts::Always),
        (0.97, Starts::Once),
        (0.001, Starts::Always),
    ] {
        let found = alarms(400, |random| {
            let mut test = MeanTest::new(target, ALPHA, starts);
            (0..3000).any(|row| test.observe(row, bernoulli(random, target), 1.0))
        });
        assert!(found <= likely(400, ALPHA), "{target}: {found} of 400");
    }
}

/// Rows are labelled with propensities that rise with their risk; risk is at the target on average only.
#[test]
fn false_alarms_of_sampled_labels_are_rare() {
    let found = alarms(400, |random| {
        let mut test = MeanTest::new(0.05, ALPHA, Starts::Always);
        (0..10_000).any(|row| {
            let risky = random.share() < 0.5;
            let (risk, propensity) = if risky { (0.09, 0.5) } else { (0.01, 0.1) };
            let loss = bernoulli(random, risk);
            let labelled = random.share() < propensity;
            labelled && test.observe(row, loss, 0.1 / propensity)
        })
    });
    assert!(found <= likely(400, ALPHA), "{found} of 400");
    let ignored = alarms(100, |random| {
        let mut test = MeanTest::new(0.05, ALPHA, Starts::Always);
        (0..10_000).any(|row| {
            let risky = random.share() < 0.5;
            let (risk, propensity) = if risky { (0.09, 0.5) } else { (0.01, 0.1) };
            let loss = bernoulli(random, risk);
            let labelled = random.share() < propensity;
            labelled && test.observe(row, loss, 1.0)
        })
    });
    assert!(ignored > 90, "without weights {ignored} of 100");
}

#[test]
fn false_alarms_of_graded_losses_are_rare() {
    let found = alarms(400, |random| {
        let mut test = MeanTest::new(0.1, ALPHA, Starts::Always);
        (0..3000).any(|row| test.observe(row, if random.share() < 0.4 { 0.25 } else { 0.0 }, 1.0))
    });
    assert!(found <= likely(400, ALPHA), "{found} of 400");
}

#[test]
fn changes_are_found_after_a_long_good_time() {
    let mut delays: Vec<u64> = (0..101)
        .map(|i| {
            let random = &mut Random::of_task(5, i);
            let mut test = MeanTest::new(0.03, ALPHA, Starts::Always);
            for row in 0..5000 {
                test.observe(row, bernoulli(random, 0.02), 1.0);
            }
            let after = (5000..25_000).find(|&row| test.observe(row, bernoulli(random, 0.1), 1.0));
            let since = test.since_change().expect("a rise");
            assert!(since.row > 3000, "{since:?}");
            after.map_or(20_000, |row| row - 5000)
        })
        .collect();
    delays.sort_unstable();
    assert!(delays[50] < 250, "a median of {} labels", delays[50]);
}

/// The risk moves up and down; its running mean must stay inside at all times.
#[test]
fn confidence_sequences_cover_means_that_move() {
    for weighted in [false, true] {
        let left = alarms(300, |random| {
            let (mut weight, mut total, mut means) = (0.0, 0.0, 0.0);
            (0..2000).any(|row| {
                let mean = if row / 300 % 2 == 0 { 0.02 } else { 0.3 };
                let v = if weighted && random.share() < 0.5 { 0.2 } else { 1.0 };
                weight += v;
                means += v * mean;
                total += v * bernoulli(random, mean);
                let above = log_evidence_above(means / weight, weight, total);
                let below = log_evidence_above(1.0 - means / weight, weight, weight - total);
                above.max(below) >= (2.0 / ALPHA).ln()
            })
        });
        assert!(left <= likely(300, ALPHA), "{left} of 300");
    }
}

#[test]
fn intervals_narrow_and_contain_the_mean() {
    for (n, k) in
        [(0.0, 0.0), (10.0, 0.0), (100.0, 3.0), (10_000.0, 300.0), (1e6, 3e4), (50.0, 50.0)]
    {
        let (low, high) = mean::running_interval(n, k, ALPHA);
        assert!(low <= k / n.max(1.0) && (k / n.max(1.0)) <= high && low >= 0.0 && high <= 1.0);
    }
    let width = |n: f64| {
        let (low, high) = mean::running_interval(n, 0.03 * n, ALPHA);
        high - low
    };
    assert!(width(1e4) < 0.018 && width(1e6) < 0.0020, "{} {}", width(1e4), width(1e6));
}

/// Numbers of any distribution, ties included, from small references and large.
#[test]
fn false_alarms_without_a_shift_are_rare() {
    type Draw = fn(&mut Random) -> f64;
    let draws: [(&str, Draw); 3] = [
        ("continuous", |random| random.share().ln()),
        ("tied", |random| (random.share() * 4.0).floor()),
        ("constant", |_| 1.0),
    ];
    for (name, draw) in draws {
        for (rows, order) in [(50, Order::Ordered), (1000, Order::Ordered), (300, Order::Nominal)] {
            let found = alarms(300, |random| {
                let numbers: Vec<f64> = (0..rows).map(|_| draw(random)).collect();
                let seed = random.below(1 << 30) as u64;
                let ranks = Ranks::new(&numbers, seed).expect("ranks");
                let mut test = ShiftTest::new(ranks, order, ALPHA, seed);
                (0..1500).any(|row| {
                    let number = draw(random);
                    test.observe(row, number)
                })
            });
            assert!(found <= likely(300, ALPHA), "{name}, {rows} rows, {order:?}: {found} of 300");
        }
    }
}

#[test]
fn shifts_are_found() {
    let found = alarms(50, |random| {
        let numbers: Vec<f64> = (0..1000).map(|_| random.share()).collect();
        let mut test =
            ShiftTest::new(Ranks::new(&numbers, 1).expect("ranks"), Order::Ordered, ALPHA, 1);
        for row in 0..2000 {
            let number = random.share();
            test.observe(row, number);
        }
        (2000..3000).any(|row| {
            let number = random.share().powi(2);
            test.observe(row, number)
        })
    });
    assert!(found >= 45, "{found} of 50");
}

/// Every threshold is just as bad as is not allowed.
#[test]
fn certificates_of_streams_hold() {
    let found = alarms(300, |random| {
        let numbers: Vec<f64> = (0..500).map(|_| random.share()).collect();
        let ranks = Ranks::new(&numbers, 1).expect("ranks");
        let mut tests = ThresholdTests::new(0.05, 0.1, 0.5, 0.0, Some(&ranks));
        (0..4000).any(|row| {
            if row == 1000 || row == 1500 {
                tests.restart(row);
            }
            let confidence = random.share();
            tests.record(confidence);
            tests.observe(row, confidence, bernoulli(random, 0.05), 1.0);
            row % 50 == 0 && !tests.certified().is_empty()
        })
    });
    assert!(found <= likely(300, 0.1), "{found} of 300");
}

#[test]
fn good_thresholds_are_certified_and_bad_ones_are_not() {
    let random = &mut Random::new(3);
    let numbers: Vec<f64> = (0..500).map(|_| random.share()).collect();
    let ranks = Ranks::new(&numbers, 1).expect("ranks");
    let mut tests = ThresholdTests::new(0.05, 0.1, 0.9, 0.0, Some(&ranks));
    for row in 0..20_000 {
        let confidence = random.share();
        tests.record(confidence);
        // The selective risk at t is 0.2 (1 - t).
        tests.observe(row, confidence, bernoulli(random, 0.4 * (1.0 - confidence)), 1.0);
    }
    let certified = tests.certified();
    let lowest = certified.last().expect("a certificate");
    assert!((0.75..0.9).contains(&lowest.threshold), "{lowest:?}");
    assert!(lowest.check().is_ok() && lowest.selective_risk < 0.05);
    let share = lowest.accepted as f64 / lowest.rows as f64;
    assert!((share - (1.0 - lowest.threshold)).abs() < 0.02);
}

/// A stream with everything, whole and in four parts.
#[test]
fn merged_parts_have_the_wealth_and_counts_of_the_whole() {
    let settings = MonitorSettings { parts: 4, ..settings() };
    let mut whole = monitor_of(&settings);
    let mut parts = vec![monitor_of(&settings); 4];
    let random = &mut Random::new(2);
    for (row, part) in (0..4000_u64).zip((0..4).cycle()) {
        let confidence = 2.0 * random.share();
        let group = if row % 3 == 0 { "night" } else { "day" };
        let (class, group) = (random.below(10), Some(group));
        let prediction = u32::try_from(class).ok();
        let record = Record {
            prediction,
            group,
            probability: Some(0.9),
            row: Some(row),
            ..Record::new(confidence)
        };
        let loss = bernoulli(random, 0.03);
        let weight = if row % 2 == 0 { 1.0 } else { 0.3 };
        let feedback = Feedback { weight, group, ..Feedback::new(row, confidence, loss) };
        for monitor in [&mut whole, &mut parts[part]] {
            monitor.record(&record);
            monitor.label(&feedback).expect("valid");
        }
    }
    let mut merged = parts.remove(0);
    for part in &parts {
        merged.merge(part).expect("the same settings");
    }
    let (a, b) = (merged.report(), whole.report());
    assert_eq!((a.records, a.accepted, a.labels), (b.records, b.accepted, b.labels));
    let both = |monitor: &Monitor| {
        let risk = monitor.risk.clone().expect("a target");
        (risk.observations(), risk.mean(), risk.interval(0.05), risk.wealth_from_the_start())
    };
    assert_eq!(both(&merged), both(&whole));
    assert_eq!(a.coverage.share, b.coverage.share);
    assert_eq!(a.estimates, b.estimates);
    assert_eq!(a.groups.len(), 2);
    for (merged, whole) in
        [(&merged.confidences, &whole.confidences), (&merged.predictions, &whole.predictions)]
    {
        let (merged, whole) = (merged.as_ref().expect("a test"), whole.as_ref().expect("a test"));
        assert_eq!(merged.counts(), whole.counts());
        let wealth = (merged.wealth_from_the_start(), whole.wealth_from_the_start());
        assert!((wealth.0 - wealth.1).abs() < 1e-8, "{wealth:?}");
    }
    assert_eq!(a.certified.len(), b.certified.len());
    let mut other = monitor_of(&MonitorSettings { alpha: 0.01, ..settings });
    assert_eq!(other.merge(&whole), Err(Error::StatesDiffer));
}

#[test]
fn alarms_stay_through_good_rows_merges_and_files() {
    let mut bad = monitor_of(&settings());
    for row in 0..200 {
        bad.record(&Record::new(1.0));
        bad.label(&Feedback::new(row, 1.0, 1.0)).expect("valid");
    }
    let raised = bad.report().risk.expect("a target").test.alarm.expect("an alarm");
    assert!(raised.row < 10 && bad.has_alarm());
    for row in 200..3000 {
        bad.record(&Record::new(1.0));
        bad.label(&Feedback::new(row, 1.0, 0.0)).expect("valid");
    }
    let mut good = monitor_of(&settings());
    good.record(&Record::new(1.0));
    good.merge(&bad).expect("the same settings");
    let text = serde_json::to_string(&good).expect("serialises");
    let again: Monitor = serde_json::from_str(&text).expect("reads");
    assert_eq!(again, good);
    let alarm = again.report().risk.expect("a target").test.alarm;
    assert_eq!(alarm, Some(raised));
}

#[test]
fn states_are_small_and_continue_where_they_were() {
    let mut through = monitor_of(&settings());
    let mut stored = through.clone();
    let random = &mut Random::new(8);
    let mut largest = 0;
    for row in 0..3000 {
        let confidence = 2.0 * random.share();
        let loss = bernoulli(random, 0.04);
        let class = u32::try_from(random.below(10)).ok();
        for monitor in [&mut through, &mut stored] {
            monitor.record(&Record { prediction: class, ..Record::new(confidence) });
            monitor.label(&Feedback::new(row, confidence, loss)).expect("valid");
        }
        if row % 100 == 0 {
            let text = serde_json::to_string(&stored).expect("serialises");
            largest = largest.max(text.len());
            stored = serde_json::from_str(&text).expect("reads");
        }
    }
    assert_eq!(stored.report(), through.report());
    assert!(largest < 10_000, "{largest} bytes");
}

#[test]
fn losses_weights_and_settings_out_of_range_are_refused() {
    let mut monitor = monitor_of(&settings());
    for (loss, weight) in
        [(1.5, 1.0), (-0.1, 1.0), (f64::NAN, 1.0), (0.5, 0.0), (0.5, 1.1), (0.5, f64::NAN)]
    {
        let feedback = Feedback { weight, ..Feedback::new(0, 1.0, loss) };
        assert!(monitor.label(&feedback).is_err(), "{loss} {weight}");
    }
    assert_eq!(monitor.labels(), 0);
    let with = |edit: fn(&mut MonitorSettings)| {
        let mut settings = settings();
        edit(&mut settings);
        Monitor::new(&artifact(0.5), &settings)
    };
    assert!(with(|_| {}).is_ok());
    assert!(with(|s| s.alpha = 0.0).is_err() && with(|s| s.delta = 1.0).is_err());
    assert!(with(|s| s.parts = 0).is_err() && with(|s| s.groups = 0).is_err());
    assert!(with(|s| s.max_loss = f64::INFINITY).is_err());
    assert!(with(|s| s.target_risk = Some(1.0)).is_err());
    assert!(with(|s| (s.target_risk, s.max_loss) = (Some(5.0), 10.0)).is_ok());
    let mut bare = Artifact::new(crate::Estimator::MSP);
    assert_eq!(Monitor::new(&bare, &settings()), Err(Error::NoThreshold));
    bare.rule = Some(Rule::ByClass(vec![None; 2]));
    let refused = Error::ThresholdTable { by: "class" };
    assert_eq!(Monitor::new(&bare, &settings()), Err(refused.clone()));
    assert_eq!(Strata::new(&bare), Err(refused));
}

#[test]
fn costs_are_watched_on_their_scale() {
    let wanted = MonitorSettings { target_risk: Some(2.0), max_loss: 10.0, ..settings() };
    let mut monitor = Monitor::new(&artifact(0.0), &wanted).expect("a monitor");
    for row in 0..400 {
        monitor.record(&Record::new(1.0));
        monitor
            .label(&Feedback::new(row, 1.0, if row % 2 == 0 { 8.0 } else { 0.0 }))
            .expect("valid");
    }
    let risk = monitor.report().risk.expect("a target");
    assert!((risk.target - 2.0).abs() < 1e-12 && (risk.mean.expect("labels") - 4.0).abs() < 1e-6);
    assert!(risk.test.alarm.is_some() && risk.interval.0 > 2.0 && risk.interval.1 < 10.0);
}

#[test]
fn more_groups_than_allowed_are_counted_and_not_tested() {
    let mut monitor = monitor_of(&MonitorSettings { groups: 2, ..settings() });
    for name in ["a", "b", "c", "a"] {
        monitor.record(&Record { group: Some(name), ..Record::new(1.0) });
        let feedback = Feedback { group: Some(name), ..Feedback::new(0, 1.0, 0.0) };
        monitor.label(&feedback).expect("valid");
    }
    let report = monitor.report();
    assert_eq!((report.groups.len(), report.ungrouped), (2, 1));
    assert_eq!(report.groups[0].records, 2);
}

/// How far the share of rows with weights is off depends on the weights, and the rows of an anytime
/// certificate were not fixed beforehand.
#[test]
fn coverage_is_tested_as_far_as_the_certifying_rows_bound_it() {
    let allowed = |threshold: Threshold| {
        let mut artifact = artifact(0.5);
        artifact.rule = Some(threshold.into());
        let monitor = Monitor::new(&artifact, &settings()).expect("a monitor");
        assert_eq!(monitor.coverage_high.is_some(), monitor.coverage_low.is_some());
        monitor.coverage_high.map(|high| high.target())
    };
    let found = |weighted_coverage| Threshold {
        at: 0.5,
        basis: Basis::Coverage { coverage: 0.7, rows: 2000, accepted: 1400, weighted_coverage },
    };
    let plain = allowed(found(None)).expect("a test");
    // A third of α is for the coverage.
    assert!((plain - 0.7370).abs() < 1e-4, "{plain}");
    assert_eq!(allowed(found(Some(0.7))), None);
    let alarm = Alarm { row: 2000, observations: 1400, log_e_value: 9.0, change: None };
    let certificate = AnytimeCertificate {
        threshold: 0.5,
        risk: 0.03,
        delta: 0.05,
        rows: 2000,
        accepted: 1400,
        labels: 1400,
        selective_risk: 0.01,
        since: 0,
        alarm,
    };
    let anytime = allowed(Threshold::anytime(certificate, String::new()));
    assert!(anytime.is_some_and(|high| high > plain && high < 0.76), "{anytime:?}");
}

/// A monitor of a part of a stream: late labels of rows before a restart are no evidence after it.
#[test]
fn certification_restarts_after_the_last_row_of_the_stream_that_was_seen() {
    let mut monitor = Monitor::new(&artifact(0.5), &settings()).expect("a monitor");
    for row in 10_000..12_000 {
        monitor.record(&Record { row: Some(row), ..Record::new(1.0) });
    }
    monitor.restart_certification();
    for row in 10_000..12_000 {
        monitor.label(&Feedback::new(row, 1.0, 0.0)).expect("valid");
    }
    assert_eq!(monitor.certified(), []);
    for row in 12_000..14_000 {
        monitor.record(&Record { row: Some(row), ..Record::new(1.0) });
        monitor.label(&Feedback::new(row, 1.0, 0.0)).expect("valid");
    }
    assert_eq!(monitor.certified().first().map(|found| found.since), Some(12_000));
}

/// `testdata/monitor_oracle.py` prints these numbers and those of the next two tests: a second
/// implementation, from the formulas, with sums over all starts instead of updates.
#[test]
fn evidence_of_a_risk_is_that_of_the_oracle() {
    let plain = |n: u64| if (n * n + 7 * n) % 23 < 2 { 1.0 } else { 0.0 };
    let graded = |n: u64| (n * 37 % 11) as f64 / 40.0;
    let weight = |n: u64| match n % 3 {
        0 => 1.0,
        1 => 0.5,
        _ => 0.25,
    };
    for (rows, of_plain, of_graded) in [
        (1, 0.706185863465, -0.109919116486),
        (40, -0.614066586293, 0.060681249842),
        (150, -1.047295145774, 2.114594521095),
        (600, -1.917794503970, 16.777946787015),
    ] {
        let mut tests = [0.08, 0.1].map(|target| MeanTest::new(target, ALPHA, Starts::Always));
        for n in 0..rows {
            tests[0].observe(n, plain(n), 1.0);
            tests[1].observe(n, graded(n), weight(n));
        }
        // Logarithms are rounded down to 2⁻³⁰ at each observation.
        for (test, expected) in tests.iter().zip([of_plain, of_graded]) {
            let found = test.log_e_value();
            assert!((found - expected).abs() < 1e-6, "{rows} rows: {found}, not {expected}");
        }
    }
    let mut test = MeanTest::new(0.03, ALPHA, Starts::Always);
    (0..600).for_each(|n| {
        test.observe(n, plain(n), 1.0);
    });
    assert_eq!(test.alarm().map(|alarm| (alarm.row, alarm.observations)), Some((92, 93)));
}

#[test]
fn evidence_of_a_shift_is_that_of_the_oracle() {
    let reference: Vec<f64> = (0..500).map(f64::from).collect();
    let number = |n: u64| ((n * n * 13 + 5 * n) % 400) as f64 + 0.5;
    for (rows, ordered, nominal) in [
        (1, 0.325566325930, 0.0),
        (40, -0.537259556721, -1.362542061583),
        (150, 5.859352027870, 7.277687888893),
        (600, 44.976793505793, 46.252884649378),
    ] {
        for (order, expected) in [(Order::Ordered, ordered), (Order::Nominal, nominal)] {
            let ranks = Ranks::new(&reference, 1).expect("ranks");
            let mut test = ShiftTest::new(ranks, order, ALPHA, 1);
            (0..rows).for_each(|n| {
                test.observe(n, number(n));
            });
            let found = test.log_e_value();
            assert!((found - expected).abs() < 1e-9, "{rows} rows: {found}, not {expected}");
        }
    }
}

#[test]
fn limits_of_a_running_mean_are_those_of_the_oracle() {
    for (weight, total, low, high) in [
        (10.0, 0.00, 0.000000000000, 0.414671428539),
        (100.0, 3.00, 0.001210517964, 0.126205847836),
        (12.5, 6.25, 0.105416605985, 0.894583394015),
        (10_000.0, 300.00, 0.024439805774, 0.036318123809),
        (50.0, 50.00, 0.899467774338, 1.000000000000),
    ] {
        let found = mean::running_interval(weight, total, 0.05);
        assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?}");
    }
}

/// Numbers of a state that someone changed: refused, or counted on without a panic.
#[test]
fn damaged_states_are_refused_or_go_on() {
    let mut monitor = monitor_of(&settings());
    for row in 0..300 {
        let group = Some(if row % 2 == 0 { "a" } else { "b" });
        monitor.record(&Record { prediction: Some(3), group, ..Record::new(0.7) });
        let feedback = Feedback { group, ..Feedback::new(row, 0.7, 1.0) };
        monitor.label(&feedback).expect("valid");
    }
    let text = serde_json::to_string(&monitor).expect("serialises");
    let digits: Vec<usize> =
        text.match_indices(|c: char| c.is_ascii_digit()).map(|m| m.0).collect();
    let random = &mut Random::new(17);
    let (mut refused, mut read) = (0, 0);
    for _ in 0..3000 {
        let mut changed = text.clone();
        let at = digits[random.below(digits.len())];
        let new = ["0", "9", "-1", "1e300", "99999999999999999999", "18446744073709551615", "null"];
        changed.replace_range(at..=at, new[random.below(new.len())]);
        let Ok(mut state) = serde_json::from_str::<Monitor>(&changed) else {
            refused += 1;
            continue;
        };
        read += 1;
        for row in 0..5 {
            state.record(&Record { prediction: Some(1), ..Record::new(0.6) });
            state.label(&Feedback::new(row, 0.6, 0.0)).ok();
        }
        let again = state.clone();
        state.merge(&again).ok();
        state.report();
        state.certified();
    }
    assert!(refused > 300 && read > 300, "{refused} refused, {read} read");
}

/// With labels of accepted rows alone, thresholds below the one in use are not tested: rows that reach only
/// them may all be wrong.
#[test]
fn labels_of_accepted_rows_certify_no_lower_threshold() {
    for (abstained_labelled, expected) in [(false, true), (true, false)] {
        let mut monitor = monitor_of(&MonitorSettings { abstained_labelled, ..settings() });
        for row in 0..3000_u32 {
            // Rows that rise and fall in turn would be a change after the other.
            let confidence = 0.5 + f64::from(row * 7919 % 150) / 100.0;
            monitor.record(&Record::new(confidence));
            monitor.label(&Feedback::new(row.into(), confidence, 0.0)).expect("valid");
        }
        let lowest = monitor.certified().last().expect("a certificate").threshold;
        assert_eq!(lowest >= 0.5, expected, "{lowest}");
    }
}

/// A restart never goes back behind an earlier one.
#[test]
fn restarts_go_forwards() {
    let mut monitor = monitor_of(&settings());
    (0..500).for_each(|_| monitor.record(&Record::new(1.0)));
    monitor.restart_certification();
    for row in 0..100 {
        monitor.label(&Feedback::new(row, 1.0, 1.0)).expect("valid");
    }
    assert!(monitor.has_alarm());
    assert_eq!(monitor.report().certified_since, Some(500));
}
