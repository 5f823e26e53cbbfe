//! Certificates: what they say, and that they hold.

use super::*;
use crate::losses::Losses;
use crate::random::Random;

#[test]
fn procedures_read_back() {
    for (&procedure, &name) in Procedure::ALL.iter().zip(Procedure::NAMES) {
        assert_eq!(procedure.to_string(), name);
        assert_eq!(name.to_uppercase().parse(), Ok(procedure));
        let json = serde_json::to_string(&procedure).expect("serialises");
        assert_eq!(json, format!("\"{name}\""));
        assert_eq!(serde_json::from_str::<Procedure>(&json).expect("reads"), procedure);
    }
    let error = "fixed-sequense".parse::<Procedure>().unwrap_err().to_string();
    assert!(error.contains("did you mean 'fixed-sequence'?"), "{error}");
}

#[test]
fn tails_are_exact() {
    // By hand: (1 − p)^n, and (1 − p)^n + n p (1 − p)^(n−1).
    assert!((binomial_tail(0, 59, 0.05) - 0.95_f64.powi(59)).abs() < 1e-12);
    let one = 0.95_f64.powi(10) + 10.0 * 0.05 * 0.95_f64.powi(9);
    assert!((binomial_tail(1, 10, 0.05) - one).abs() < 1e-12);
    assert_eq!(binomial_tail(10, 10, 0.3), 1.0);
    assert_eq!(binomial_tail(3, 10, 0.0), 1.0);
    assert_eq!(binomial_tail(3, 10, 1.0), 0.0);
    // Integer counts: the published code of SGR, which truncates a float, gives 0.0593 here.
    assert!((upper_bound(1, 49, 0.05) - 0.0932).abs() < 5e-5);
    assert!((upper_bound(0, 59, 0.05) - 0.0495).abs() < 5e-5);
    assert_eq!(upper_bound(7, 7, 0.05), 1.0);
    assert_eq!(smallest_certifiable(0.05, 0.05), 59);
    assert_eq!(smallest_certifiable(0.5, 0.5), 1);
    assert!((upper_bound(10, 20, 0.9) - 0.3848).abs() < 5e-5);
    // Beyond a million rows a bound that is never too small: the truth is near one half here.
    assert!(binomial_tail(100_000_000, 1_000_000_000, 0.1) >= 0.5);
    assert!(binomial_tail(90_000_000, 1_000_000_000, 0.1) < 1e-300);
    let (exact, bound) =
        (binomial_tail(49_500, 1_000_000, 0.05), binomial_tail(49_501, 1_000_001, 0.05));
    assert!(bound > exact && bound < 20.0 * exact, "{exact} {bound}");
}

fn curve(errors_at: &[usize], n: usize) -> RcCurve {
    let confidences: Vec<f64> = (0..n).map(|i| -(i as f64)).collect();
    let losses = (0..n).map(|i| if errors_at.contains(&i) { 1.0 } else { 0.0 }).collect();
    RcCurve::new(&confidences, &Losses::new(losses).expect("losses")).expect("a curve")
}

#[test]
fn certificates_stop_where_the_evidence_does() {
    let good = curve(&[150, 160, 170, 180, 190, 191, 192, 193, 194, 195], 200);
    for procedure in [Procedure::FixedSequence, Procedure::Sgr] {
        let certifier = Certifier { procedure, ..Certifier::risk(0.05, 0.05) };
        let found = certifier.certify(&good).expect("valid").expect("feasible");
        assert!((59..=190).contains(&found.accepted), "{procedure:?}: {found:?}");
        let p = binomial_tail(found.errors, found.accepted, 0.05);
        assert!(p <= 0.05, "{procedure:?}: {p}");
        assert_eq!(found.threshold, -((found.accepted - 1) as f64));
    }
    // Shared among ten estimators, the same rows certify less.
    let alone = Certifier::risk(0.05, 0.05).certify(&good).expect("valid").expect("feasible");
    let shared = Certifier { tried: 10, ..Certifier::risk(0.05, 0.05) };
    let shared = shared.certify(&good).expect("valid").expect("feasible");
    assert!(shared.accepted < alone.accepted);
    assert_eq!(Certifier::accuracy(0.98, 0.1).risk, 0.02);
}

#[test]
fn infeasible_targets_say_what_is_missing() {
    let certify = |curve: &RcCurve| {
        let one = Certifier { starts: 1, ..Certifier::risk(0.05, 0.05) };
        one.certify(curve).expect("valid").unwrap_err()
    };
    let few = certify(&curve(&[], 50));
    assert_eq!(few.reason, Reason::TooFewRows { rows: 50, needed: 59 });
    let all_wrong: Vec<usize> = (0..100).collect();
    let out_of_reach = Reason::OutOfReach { lowest: 1.0, enough: 59, needed: None };
    let nothing = Infeasible { reason: out_of_reach, instead: None };
    assert_eq!(certify(&curve(&all_wrong, 100)), nothing);
    let unsure = certify(&curve(&[3, 30], 80));
    let Reason::NotSure { lowest, rows: 80, needed } = unsure.reason else {
        panic!("two errors in eighty rows are below the target");
    };
    assert_eq!(lowest, 0.025);
    assert!(needed.is_some_and(|needed| (200..2000).contains(&needed)), "{needed:?}");
    // The 30 surest rows are right, but no 59 of them are.
    let beyond: Vec<usize> = (30..100).collect();
    let Reason::OutOfReach { enough: 59, needed: Some(needed), .. } =
        certify(&curve(&beyond, 100)).reason
    else {
        panic!("the surest rows are below the target");
    };
    assert!((200..2000).contains(&needed), "{needed}");
    // With four starts as with one: those beyond the rows are not paid for.
    for n in [59, 65, 100, 200] {
        assert!(Certifier::risk(0.05, 0.05).certify(&curve(&[], n)).expect("valid").is_ok(), "{n}");
    }
    // SGR needs more rows than there are.
    let sgr = Certifier { procedure: Procedure::Sgr, ..Certifier::risk(0.05, 0.05) };
    let missing = sgr.certify(&curve(&[], 80)).expect("valid").unwrap_err().reason;
    assert!(matches!(missing, Reason::TooFewRows { rows: 80, needed: 97 }), "{missing:?}");
    assert_eq!(
        few.to_string(),
        "50 rows cannot certify this target even without errors; it takes 59 at least (a risk of \
         0.059, that is an accuracy of 0.941, could have been certified at a coverage of 1.000: \
         advice for the next rows, not a certificate)"
    );
    let json = serde_json::to_string(&few).expect("serialises");
    assert_eq!(
        json,
        "{\"reason\":\"too-few-rows\",\"rows\":50,\"needed\":59,\
         \"instead\":{\"risk\":0.059,\"coverage\":1.0}}"
    );
}

/// What could have been certified is just that: the same procedure certifies it, and nothing below.
#[test]
fn advice_is_the_lowest_risk_that_the_rows_certify() {
    let rows = curve(&[3, 30, 70, 71, 72, 90, 100, 101, 110], 120);
    let pilot = Pilot::of(&curve(&[10, 40, 60, 75, 80, 88, 91, 95], 100));
    for pilot in [None, pilot] {
        for procedure in Procedure::ALL.iter().copied() {
            let certifier =
                Certifier { procedure, pilot: pilot.clone(), ..Certifier::risk(0.04, 0.1) };
            let missing = certifier.certify(&rows).expect("valid").unwrap_err();
            let Instead { risk, coverage } = missing.instead.expect("most rows are right");
            let found = Certifier { risk, ..certifier.clone() }.certify(&rows);
            assert_eq!(found.expect("valid").expect("feasible").coverage(), coverage);
            let lower = Certifier { risk: risk - 0.001, ..certifier };
            assert!(lower.certify(&rows).expect("valid").is_err(), "{procedure} {risk}");
        }
    }
}

/// Where the boundary of a pilot and that of nobody differ, both are tails of at most δ.
#[test]
fn pilots_choose_where_to_look() {
    let wrong = |n: usize| (n * 6 / 10..n).step_by(4).collect::<Vec<_>>();
    let (other, rows) = (curve(&wrong(300), 300), curve(&wrong(1000), 1000));
    let pilot = Pilot::of(&other).expect("zeros and ones");
    assert_eq!((pilot.rows, pilot.check()), (300, Ok(())));
    assert!((60..=64).contains(&pilot.accepted.len()), "{}", pilot.accepted.len());
    assert_eq!((pilot.accepted.last(), pilot.errors.last()), (Some(&300), Some(&30)));
    let place = pilot.place(0.05, 0.1, 1000);
    assert!((650..800).contains(&place), "{place}");
    let with = Certifier { pilot: Some(pilot.clone()), ..Certifier::risk(0.05, 0.1) };
    let found = with.certify(&rows).expect("valid").expect("feasible");
    let blind = Certifier::risk(0.05, 0.1).certify(&rows).expect("valid").expect("feasible");
    assert_eq!((found.pilot, found.starts, blind.pilot, blind.starts), (Some(300), 1, None, 4));
    assert!(found.accepted >= blind.accepted - 20, "{found:?} {blind:?}");
    assert_eq!((found.check(), blind.check()), (Ok(()), Ok(())));
    // Nonsense is harmless.
    let silly = Pilot { rows: 10, accepted: vec![1, 10], errors: vec![1, 10] };
    let silly = Certifier { pilot: Some(silly), ..Certifier::risk(0.05, 0.1) };
    assert!(silly.certify(&rows).expect("valid").is_ok());
    for (accepted, errors) in [
        (vec![], vec![]),
        (vec![5], vec![]),
        (vec![5, 4], vec![0, 0]),
        (vec![5, 8], vec![2, 1]),
        (vec![5, 8], vec![0, 4]),
        (vec![5], vec![6]),
        (vec![11], vec![6]),
    ] {
        let pilot = Pilot { rows: 10, accepted, errors };
        assert!(pilot.check().is_err(), "{pilot:?}");
    }
    let graded = Losses::new(vec![0.5, 0.0]).expect("losses");
    assert_eq!(Pilot::of(&RcCurve::new(&[1.0, 2.0], &graded).expect("a curve")), None);
}

#[test]
fn a_sequence_takes_its_share_of_delta_along() {
    // Nine errors at 500 rows are unlikely enough for all of δ, not for a quarter of it. The
    // sequence from the first start has passed all the others by then.
    let errors: Vec<usize> = (0..11).map(|i| 330 + 12 * i).collect();
    let rows = curve(&errors, 480);
    let all = Certifier { starts: 1, ..Certifier::risk(0.05, 0.1) };
    let four = Certifier::risk(0.05, 0.1);
    let (all, four) = (all.certify(&rows), four.certify(&rows));
    let accepted = |found: Result<Result<Certificate, Infeasible>, Error>| {
        found.expect("valid").expect("feasible").accepted
    };
    assert_eq!(accepted(all), accepted(four));
}

#[test]
fn bad_targets_and_graded_losses_are_refused() {
    let good = curve(&[], 100);
    for (risk, delta) in [(0.0, 0.1), (1.0, 0.1), (0.1, 0.0), (f64::NAN, 0.1), (0.1, 1.0)] {
        let error = Certifier::risk(risk, delta).certify(&good).unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }));
    }
    let none = Certifier { tried: 0, ..Certifier::risk(0.1, 0.1) };
    assert!(none.certify(&good).is_err());
    for starts in [0, 33] {
        assert!(Certifier { starts, ..Certifier::risk(0.1, 0.1) }.certify(&good).is_err());
    }
    let graded = Losses::new(vec![0.5, 0.0]).expect("losses");
    let graded = RcCurve::new(&[1.0, 2.0], &graded).expect("a curve");
    let error = Certifier::risk(0.1, 0.1).certify(&graded).unwrap_err();
    assert_eq!(error, Error::Undefined(Undefined::LossNotZeroOne));
}

/// Between few ties and many there is a gap that no population fills: where the number of distinct
/// confidences varies most, it varies by less.
#[test]
fn the_number_of_distinct_confidences_decides_reliably() {
    let certifier = Certifier::risk(0.1, 0.1);
    let certifier_ties = |rows, distinct| Certifier::risk(0.1, 0.1).ties(rows, distinct);
    for rows in [100, 400, 1500, 100_000] {
        assert_eq!(certifier.ties(rows, rows), Ties::Few);
        assert_eq!(certifier.ties(rows, rows - rows / 50), Ties::Few);
        assert_eq!(certifier.ties(rows, 21), Ties::Many);
        assert_eq!(certifier.ties(rows, rows / 3), Ties::Many);
        let is = |ties| move |&distinct: &usize| certifier_ties(rows, distinct) == ties;
        let few = (1..=rows).find(is(Ties::Few)).expect("all distinct");
        let many = (1..=rows).rfind(is(Ties::Many)).expect("few distinct");
        let apart = few - many;
        // The deviation of the number is half the root of the rows at most: the ends are eight of these
        // apart.
        assert!(apart as f64 > 8.0 * 0.5 * (rows as f64).sqrt(), "{rows}: {apart}");
    }
    // More rows than boundaries are made for.
    assert_eq!(certifier.ties(2_000_000, 21), Ties::Few);
}

fn uniform(random: &mut Random) -> f64 {
    random.below(1 << 53) as f64 / (1_u64 << 53) as f64
}

/// The share of samples on which a bad threshold is certified.
///
/// The population has equal parts from the surest to the least sure, each with a chance of an error;
/// the rows of a part tie, if there are ties.
fn broken(certifier: &Certifier, parts: &[f64], rows: usize, ties: bool, runs: usize) -> f64 {
    let mut excess = vec![0.0];
    for part in parts {
        excess.push(excess[excess.len() - 1] + part - certifier.risk);
    }
    let plans = [Ties::Few, Ties::Some, Ties::Many].map(|ties| certifier.plan(rows, ties));
    let mut random = Random::new(1);
    let broken = (0..runs).filter(|_| {
        let mut sample: Vec<(usize, f64, bool)> = (0..rows)
            .map(|_| {
                let (part, place) = (random.below(parts.len()), uniform(&mut random));
                (part, if ties { 1.0 } else { place }, uniform(&mut random) < parts[part])
            })
            .collect();
        sample.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut knots, mut places) = (Vec::new(), Vec::new());
        let mut errors = 0;
        for (index, &(part, place, wrong)) in sample.iter().enumerate() {
            errors += usize::from(wrong);
            if sample.get(index + 1).is_none_or(|next| (next.0, next.1) != (part, place)) {
                knots.push((index + 1, errors));
                places.push((part, place));
            }
        }
        let plan = &plans[certifier.ties(rows, knots.len()) as usize];
        plan.find(certifier.risk, &knots).is_some_and(|index| {
            let (part, place) = places[index];
            excess[part] + (excess[part + 1] - excess[part]) * place > 1e-9
        })
    });
    broken.count() as f64 / runs as f64
}

/// Populations that were made to break certificates: all thresholds bad, by next to nothing; errors
/// among the surest, so that the least sure accepted rows are less risky than the rest; parts that
/// are bad and good in turn; a step from good to bad; a part of one row in many.
#[test]
fn certificates_hold_in_contrived_cases() {
    let (risk, delta, rows, runs) = (0.1, 0.1, 150, 2500);
    let allowed = delta + 3.0 * (delta * (1.0 - delta) / runs as f64).sqrt();
    let comb = |bad: f64, n: usize| (0..n).map(|i| if i % 2 == 0 { bad } else { 0.0 }).collect();
    let mut errors_first = vec![0.0; 30];
    errors_first[..15].fill(0.2001);
    let mut step = vec![0.02; 30];
    step[15..].fill(0.2);
    let mut rare = vec![0.101; 150];
    for i in (0..150).step_by(3) {
        rare[i] = 0.0;
        rare[i + 1] = 0.21;
    }
    let mut late = vec![0.1; 40];
    (late[0], late[39]) = (0.14, 0.07);
    let cases: [(&str, Vec<f64>); 7] = [
        ("flat", vec![0.1 + 1e-6; 20]),
        ("errors first", errors_first),
        ("comb", comb(0.2002, 30)),
        ("fine comb", comb(0.2002, 300)),
        ("step", step),
        ("rare", rare),
        ("late", late),
    ];
    let pilots = [
        Pilot { rows: 100, accepted: vec![40, 60, 100], errors: vec![0, 2, 10] },
        Pilot { rows: 100, accepted: vec![90, 100], errors: vec![2, 6] },
    ];
    let mut certifiers = vec![
        Certifier::risk(risk, delta),
        Certifier { starts: 1, ..Certifier::risk(risk, delta) },
        Certifier { procedure: Procedure::Sgr, ..Certifier::risk(risk, delta) },
    ];
    for pilot in pilots {
        certifiers.push(Certifier { pilot: Some(pilot), ..Certifier::risk(risk, delta) });
    }
    let mut most: f64 = 0.0;
    for (name, parts) in &cases {
        for ties in [false, true] {
            let shares: Vec<f64> =
                certifiers.iter().map(|c| broken(c, parts, rows, ties, runs)).collect();
            println!("{name}, ties: {ties}: {shares:.4?}");
            assert!(shares.iter().all(|&share| share <= allowed), "{name}: {shares:?}");
            most = shares.iter().copied().fold(most, f64::max);
        }
    }
    // And the boundary spends nearly all of δ: a promise kept by certifying nothing is worth nothing.
    assert!(most > 0.8 * delta, "{most}");
}

/// With more rows than steps, the boundary looks at every so manyth count and still holds.
#[test]
fn boundaries_in_steps_hold() {
    let pilot = Pilot { rows: 100, accepted: vec![50, 70, 100], errors: vec![1, 4, 12] };
    let certifier = Certifier { pilot: Some(pilot), ..Certifier::risk(0.1, 0.1) };
    let share = broken(&certifier, &[0.1 + 1e-6; 20], 5000, false, 1500);
    assert!((0.06..=0.1 + 0.0233).contains(&share), "{share}");
}
