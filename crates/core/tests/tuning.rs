//! Tuning: the fast search against the direct evaluation, and what a tuner promises.

use abstain::family::Domain;
use abstain::half::f16;
use abstain::{
    Error, Estimator, Fallback, Labels, Logits, Losses, Method, Metric, Objective, RcCurve, Space,
    Tuner, Undefined, calibration,
    family::{Family, FamilyEstimator},
    internal::{ProfilePlan, Profiles, evaluate_metrics},
    transform::Temperature,
};
use std::collections::HashSet;
use std::path::Path;

/// The first rows of a demo set.
fn demo(name: &str, rows: usize) -> (Logits<'static>, Labels) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/demo").join(name);
    let bytes = std::fs::read(folder.join("logits.npy")).expect("part of the project");
    let npy = npyz::NpyFile::new(&bytes[..]).expect("npy");
    let classes = usize::try_from(npy.shape()[1]).expect("small");
    let values: Vec<f32> = if npy.dtype().descr().contains("f2") {
        npy.into_vec::<f16>().expect("f16").iter().map(|x| x.to_f32()).collect()
    } else {
        npy.into_vec::<f32>().expect("f32")
    };
    let bytes = std::fs::read(folder.join("labels.npy")).expect("part of the project");
    let labels = npyz::NpyFile::new(&bytes[..]).expect("npy").into_vec::<i64>().expect("i64");
    let logits = Logits::new(values[..rows * classes].to_vec(), classes).expect("valid");
    (logits, Labels::new(&labels[..rows], classes).expect("valid"))
}

/// Logits of 60 classes whose scale says nothing about being right; the label of row i is i mod 60.
fn simulated_values(rows: usize) -> Vec<f64> {
    let mut state = 7_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut values = Vec::new();
    for row in 0..rows {
        let scale = 0.3 + 3.0 * uniform();
        for class in 0..60 {
            let raised = if class == row % 60 { 2.0 + 2.0 * uniform() } else { 0.0 };
            let noise = uniform() + uniform() + uniform() - 1.5;
            values.push(scale * (raised + 2.0 * noise));
        }
    }
    values
}

fn simulated_labels(rows: std::ops::Range<usize>) -> Labels {
    Labels::new(&rows.map(|row| row % 60).collect::<Vec<usize>>(), 60).expect("valid")
}

fn simulated(rows: usize) -> (Logits<'static>, Labels) {
    (Logits::new(simulated_values(rows), 60).expect("valid"), simulated_labels(0..rows))
}

/// The same with classes that somebody ruled out with large negative numbers.
fn masked_by_numbers(rows: usize) -> (Logits<'static>, Labels) {
    let mut values = simulated_values(rows);
    for (i, row) in values.chunks_mut(60).enumerate() {
        let label = i % 60;
        for k in [label + 7, label + 20, label + 31] {
            row[k % 60] = [-1e4, -65504.0, -1e9][i % 3];
        }
    }
    (Logits::new(values, 60).expect("valid"), simulated_labels(0..rows))
}

fn direct(logits: &Logits<'_>, losses: &Losses, estimator: &Estimator) -> f64 {
    let curve = RcCurve::new(&estimator.confidences(logits), losses).expect("a curve");
    Metric::AURC.evaluate(&curve).expect("always defined")
}

/// The methods of the paper, and all families that are not among them.
fn methods() -> Vec<Method> {
    let mut methods = Tuner::methods_of_the_paper();
    methods.extend(Family::ALL.iter().map(|&family| Method::Family(family)));
    let mut seen = HashSet::new();
    methods.retain(|method| seen.insert(*method));
    methods
}

/// An estimator of every method that has parameters by name.
fn one_of_each() -> Vec<Estimator> {
    let in_domain = |domain: Domain| match domain {
        Domain::Temperature => 0.6,
        Domain::Real => -0.7,
        Domain::Share | Domain::Power => 0.3,
        Domain::Classes => 3.0,
    };
    let of = |method: Method| {
        if let Method::Family(family) = method {
            let parameters = family.info().parameters.iter();
            let values: Vec<f64> = parameters.map(|p| in_domain(p.domain)).collect();
            return FamilyEstimator::new(family, &values).map(Estimator::Family);
        }
        let value = |&name: &&'static str| (name, if name == "p" { 3.0 } else { 0.4 });
        Estimator::new(method, &method.parameters().iter().map(value).collect::<Vec<_>>())
    };
    let methods = Method::all().filter(|method| !method.is_stack());
    methods.map(|method| of(method).expect("parameters in range")).collect()
}

/// Every candidate of every method has the AURC that the direct evaluation gives it, to
/// 1e-6; so the search finds the same point, or one that is as good to 1e-6.
#[test]
fn the_fast_search_is_the_direct_one_for_every_method() {
    let mut space = Space::standard();
    // A thinner grid for the slow side.
    space.temperatures = space.temperatures.into_iter().step_by(15).collect();
    space.exponents = space.exponents.into_iter().step_by(2).collect();
    space.gammas = space.gammas.into_iter().step_by(6).collect();
    space.family_step = 100;
    space.family_refinements = 0;
    let tuner = Tuner { space, fallback: Fallback::None, ..Tuner::default() };
    let methods = methods();
    for (name, (logits, labels)) in [
        ("imagenet", demo("imagenet-efficientnet-lite2", 500)),
        ("fashion", demo("fashion-mixup", 500)),
        ("simulated", simulated(500)),
        ("finite masks", masked_by_numbers(300)),
    ] {
        let losses = Losses::zero_one(&logits, &labels).expect("valid");
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&methods)).expect("valid");
        let mut candidates = 0;
        for &method in &methods {
            let tuned = tuner.search(method, &profiles).expect("defined");
            let mut best = f64::INFINITY;
            for candidate in &tuned.surface {
                let exact = direct(&logits, &losses, &candidate.estimator);
                let fast = candidate.value.expect("always defined");
                let text = format!("{name}, {}: {fast} {exact}", candidate.estimator);
                assert!((fast - exact).abs() < 1e-6, "{text}");
                best = best.min(exact);
                candidates += 1;
            }
            let chosen = direct(&logits, &losses, &tuned.best.estimator);
            assert!(chosen - best < 1e-6, "{name}, {method}: {chosen} {best}");
        }
        assert!(candidates > 700, "{candidates}");
    }
}

#[test]
fn chunks_give_the_profile_of_the_whole() {
    let (logits, labels) = simulated(90);
    let tuner = Tuner::default();
    let plan = tuner.plan(&Method::all().collect::<Vec<_>>());
    let whole = Profiles::new(&logits, &labels, &plan).expect("valid");
    let losses = Losses::zero_one(&logits, &labels).expect("valid");
    let mut chunked = Profiles::empty(60, &plan);
    let values = simulated_values(90);
    for (start, end) in [(0, 40), (40, 80), (80, 90)] {
        let chunk = Logits::new(&values[start * 60..end * 60], 60).expect("valid");
        let labels = simulated_labels(start..end);
        let losses = Losses::new(losses.values()[start..end].to_vec()).expect("valid");
        chunked.push(&chunk, &labels, &losses).expect("fits");
    }
    let estimators: Vec<Estimator> = [
        "MSP-TS(T=0.4)",
        "MaxLogit-pNorm(p=4)",
        "HTS(b=-1, w=0.5)",
        "LogitGap(N=5)",
        "GEN(gamma=0.5, M=1000)",
    ]
    .map(|text| text.parse().expect("valid"))
    .to_vec();
    assert_eq!(whole.confidences(&estimators), chunked.confidences(&estimators));
    let picked = whole.select(&[5, 80, 5]).confidences(&estimators).expect("in the plan");
    let all = whole.confidences(&estimators).expect("in the plan");
    for (picked, all) in picked.iter().zip(&all) {
        assert_eq!(*picked, [all[5], all[80], all[5]]);
    }
}

/// Any objective with any method; NLL where the method gives probabilities to the classes.
#[test]
fn every_objective_goes_with_every_method() {
    let (logits, labels) = simulated(150);
    let mut space = Space::standard();
    space.temperatures = space.temperatures.into_iter().step_by(60).collect();
    space.gammas.truncate(2);
    space.family_step = 200;
    let methods = methods();
    for text in [
        "AURC",
        "NAURC",
        "AUROC",
        "AUGRC",
        "SAC@0.9",
        "RiskAtCoverage@0.7",
        "PartialAURC@0.2..0.8",
        "NLL",
    ] {
        let objective: Objective = text.parse().expect("an objective");
        assert_eq!(objective.to_string(), text);
        let tuner = Tuner {
            objective,
            space: space.clone(),
            fallback: Fallback::Paper,
            ..Tuner::default()
        };
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&methods)).expect("valid");
        for &method in &methods {
            // Families that give no probability have no likelihood.
            let without = match method {
                Method::Scored { .. } => false,
                Method::Family(family) => !family.info().is_probability,
                _ => true,
            };
            match tuner.tune(method, &profiles) {
                Ok(tuned) => {
                    let best = tuned.best.value.expect("defined");
                    let values = tuned.surface.iter().filter_map(|c| c.value);
                    // MSP-TS-AURC is tuned for the AURC whatever the objective.
                    let higher = ["AUROC", "SAC@0.9"].contains(&text)
                        && !method.to_string().ends_with("AURC");
                    let extreme =
                        values.fold(best, |m, v| if higher { m.max(v) } else { m.min(v) });
                    assert_eq!(best, extreme, "{text}, {method}");
                }
                Err(error) => {
                    assert!(without && text == "NLL", "{text}, {method}: {error}");
                    assert_eq!(error, Error::Undefined(Undefined::NoLikelihood));
                }
            }
        }
    }
}

/// The likelihood is best at the temperature found: its direct evaluation rises on both sides.
#[test]
fn the_nll_temperature_is_the_optimum() {
    for (logits, labels) in [
        demo("imagenet-efficientnet-lite2", 800),
        demo("fashion-ce", 3000),
        simulated(400),
        masked_by_numbers(400),
    ] {
        let tuner = Tuner::default();
        let method: Method = "MSP-TS-NLL".parse().expect("valid");
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method])).expect("valid");
        let best = tuner.search(method, &profiles).expect("defined").best.estimator;
        let t = best.parameters()[0].1;
        let nll = |t: f64| {
            let transform = abstain::transform::Transform::temperature(t).expect("positive");
            calibration::nll(&logits, &labels, &transform).expect("defined")
        };
        // Differences this small are a few bits of the likelihood.
        for step in [1e-4, 1e-3, 1e-2] {
            assert!(nll(t) < nll(t * (1.0 + step)), "{t} {step}");
            assert!(nll(t) < nll(t * (1.0 - step)), "{t} {step}");
        }
        // The slope changes sign within a millionth.
        let slope = |t: f64| nll(t * (1.0 + 1e-6)) - nll(t * (1.0 - 1e-6));
        assert!(slope(t * (1.0 - 1e-4)) < 0.0 && slope(t * (1.0 + 1e-4)) > 0.0, "{t}");
    }
}

/// Masked classes, rows with a single class left and masked labels, with few classes and with many;
/// the first chunk has no masks.
#[test]
fn profiles_of_masked_logits_agree_with_the_direct_evaluation() {
    for classes in [10, 60] {
        let plain: Vec<f64> =
            simulated_values(40).chunks(60).flat_map(|row| row[..classes].to_vec()).collect();
        let mut masked = plain.clone();
        for (i, row) in masked.chunks_mut(classes).enumerate() {
            let kept = if i % 8 == 0 { 1 } else { classes - 3 };
            row[kept..].fill(f64::NEG_INFINITY);
        }
        let labels: Vec<usize> = (0..40).map(|i| i % classes).collect();
        let labels = Labels::new(&labels, classes).expect("valid");
        let estimators = one_of_each();
        let mut profiles = Profiles::empty(classes, &ProfilePlan::of(&estimators));
        let chunks = [
            Logits::new(&plain, classes).expect("valid"),
            Logits::masked(&masked, classes).expect("valid"),
        ];
        for logits in &chunks {
            let losses = Losses::zero_one(logits, &labels).expect("valid");
            profiles.push(logits, &labels, &losses).expect("fits");
        }
        let fast = profiles.confidences(&estimators).expect("in the plan");
        for (estimator, fast) in estimators.iter().zip(&fast) {
            let direct = chunks.iter().flat_map(|logits| estimator.confidences(logits));
            for (row, (direct, &fast)) in direct.zip(fast).enumerate() {
                let close = direct == fast || (direct - fast).abs() < 1e-6 * (1.0 + direct.abs());
                assert!(close, "{classes} classes, {estimator}, row {row}: {direct} {fast}");
            }
        }
        let method: Method = "MSP-TS-NLL".parse().expect("valid");
        let tuned = Tuner::default().search(method, &profiles).expect("AURC is always defined");
        assert!(tuned.best.value.is_some_and(f64::is_finite));
        let tuner = Tuner { objective: Objective::Nll, ..Tuner::default() };
        let error = tuner.search(Method::MSP, &profiles).unwrap_err();
        assert!(matches!(error, Error::Undefined(Undefined::MaskedLabel { .. })), "{error}");
    }
}

/// In whatever units the logits come, and where there is nothing to tune.
#[test]
fn the_nll_temperature_scales_with_the_logits() {
    let method: Method = "MSP-TS-NLL".parse().expect("valid");
    let tuner = Tuner::default();
    let temperature = |values: Vec<f64>| {
        let logits = Logits::new(values, 60).expect("valid");
        let labels = simulated_labels(0..logits.rows());
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method])).expect("valid");
        let best = tuner.search(method, &profiles).expect("defined").best.estimator;
        best.parameters().first().map_or(1.0, |(_, t)| *t)
    };
    let plain = temperature(simulated_values(200));
    for scale in [1e-6, 1e6] {
        let scaled = temperature(simulated_values(200).iter().map(|z| z * scale).collect());
        assert!((scaled / (plain * scale) - 1.0).abs() < 1e-7, "{scaled} {plain}");
    }
    assert_eq!(temperature(vec![1.5; 600]), 1.0);
}

/// An objective that some folds leave undefined, and spaces and profiles that hold too little.
#[test]
fn thin_data_and_thin_spaces_have_an_answer() {
    let (logits, _) = simulated(120);
    let mut labels = logits.predictions();
    labels[17] = (labels[17] + 1) % 60;
    let labels = Labels::new(&labels, 60).expect("valid");
    let folds = Fallback::CrossValidation { folds: 5, standard_errors: 0.0 };
    for objective in ["AUROC", "NAURC", "AURC"] {
        for fallback in [folds, Fallback::default()] {
            let objective = objective.parse().expect("valid");
            let tuner = Tuner { objective, fallback, ..Tuner::default() };
            let plan = tuner.plan(&[Method::Stack]);
            let profiles = Profiles::new(&logits, &labels, &plan).expect("valid");
            assert!(tuner.tune(Method::Stack, &profiles).is_ok(), "{fallback:?}");
        }
    }
    let method: Method = "MSP-pNorm".parse().expect("valid");
    let bare = Profiles::new(&logits, &labels, &ProfilePlan::default()).expect("valid");
    let recorded = Family::ALL.iter().filter(|family| family.info().recorded);
    for method in recorded.map(|&family| Method::Family(family)).chain([method]) {
        let error = Tuner::default().search(method, &bare).unwrap_err();
        assert!(matches!(error, Error::NotProfiled { .. }), "{error}");
    }
    let mut tuner = Tuner::default();
    tuner.space.temperatures.truncate(3);
    let shifted: Method = "MSP-pNorm-shift".parse().expect("valid");
    let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[shifted])).expect("valid");
    assert!(tuner.search(shifted, &profiles).is_ok());
    tuner.space.temperatures.clear();
    let error = tuner.search(method, &profiles).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "the search space", .. }), "{error}");
}

/// The likelihood needs exponentials even where the score does not.
#[test]
fn the_likelihood_of_a_logit_score_is_the_direct_one() {
    let (logits, labels) = simulated(150);
    let method: Method = "MaxLogit-pNorm".parse().expect("valid");
    let tuner = Tuner { objective: Objective::Nll, ..Tuner::default() };
    let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method])).expect("valid");
    for candidate in tuner.search(method, &profiles).expect("defined").surface {
        let p = candidate.estimator.parameters()[0].1;
        let transform = abstain::transform::Transform::pnorm(p).expect("valid");
        let exact = calibration::nll(&logits, &labels, &transform).expect("defined");
        assert!((candidate.value.expect("defined") - exact).abs() < 1e-7, "{p}");
    }
    let bare = ProfilePlan::default().without_exponentials();
    let bare = Profiles::new(&logits, &labels, &bare).expect("valid");
    let found = Objective::Nll.evaluate(&bare, &[Estimator::MSP]);
    assert!(matches!(found, Err(Error::NotProfiled { .. })));
}

#[test]
fn tuning_is_the_same_on_any_number_of_threads() {
    let (logits, labels) = simulated(200);
    let methods: Vec<Method> = ["MSP-pNorm", "MaxLogit-pNorm", "Stack", "HTS", "GEN"]
        .map(|name| name.parse().expect("valid"))
        .to_vec();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut tuner = Tuner::default();
            tuner.space.temperatures = tuner.space.temperatures.into_iter().step_by(20).collect();
            let profiles = Profiles::new(&logits, &labels, &tuner.plan(&methods)).expect("valid");
            tuner.tune_all(&methods, &profiles)
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn fallbacks_keep_msp_where_nothing_helps() {
    let (logits, labels) = demo("fashion-ce", 4000);
    let method: Method = "MaxLogit-pNorm".parse().expect("valid");
    for fallback in [
        Fallback::Paper,
        Fallback::StandardErrors(1.0),
        Fallback::CrossValidation { folds: 5, standard_errors: 0.0 },
    ] {
        let tuner = Tuner { fallback, ..Tuner::default() };
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method])).expect("valid");
        let tuned = tuner.tune(method, &profiles).expect("defined");
        assert!(tuned.fell_back, "{fallback:?}");
        assert_eq!(tuned.estimator, Estimator::MSP);
        assert_ne!(tuned.best.estimator, Estimator::MSP);
    }
    let (logits, labels) = demo("imagenet-efficientnet-lite2", 2000);
    for fallback in [
        Fallback::Paper,
        Fallback::default(),
        Fallback::CrossValidation { folds: 5, standard_errors: 0.0 },
    ] {
        let tuner = Tuner { fallback, ..Tuner::default() };
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method])).expect("valid");
        let tuned = tuner.tune(method, &profiles).expect("defined");
        assert!(!tuned.fell_back, "{fallback:?}");
        assert_eq!(tuned.estimator.to_string(), "MaxLogit-pNorm(p=6)");
    }
}

#[test]
fn two_classes_and_no_errors_fall_back() {
    let values: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 101) / 10.0).collect();
    let logits = Logits::new(values, 2).expect("valid");
    let labels: Vec<usize> = logits.predictions();
    let right = Labels::new(&labels, 2).expect("valid");
    let mixed: Vec<usize> =
        labels.iter().enumerate().map(|(i, y)| y ^ usize::from(i % 7 == 0)).collect();
    let mixed = Labels::new(&mixed, 2).expect("valid");
    let method: Method = "MaxLogit-pNorm".parse().expect("valid");
    for labels in [&right, &mixed] {
        let tuner = Tuner::default();
        let profiles = Profiles::new(&logits, labels, &tuner.plan(&[method])).expect("valid");
        for method in [method, Method::Stack] {
            let tuned = tuner.tune(method, &profiles).expect("AURC is always defined");
            let naurc =
                evaluate_metrics(&profiles, &tuned.estimator, &[Metric::NAURC]).expect("valid");
            if labels == &right {
                assert!(tuned.fell_back, "nothing beats MSP where nothing is wrong");
                assert_eq!(naurc[0], Err(Undefined::NoErrors));
            }
        }
    }
}

#[test]
fn what_a_profile_does_not_hold_is_said() {
    let (logits, labels) = simulated(20);
    let profiles = Profiles::new(&logits, &labels, &ProfilePlan::default()).expect("valid");
    let missing: Estimator = "MaxLogit-pNorm(p=3)".parse().expect("valid");
    let error = profiles.confidences(&[missing]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the profile does not hold what MaxLogit-pNorm(p=3) needs: add it to the plan"
    );
    let bare = ProfilePlan::default().without_exponentials();
    let bare = Profiles::new(&logits, &labels, &bare).expect("valid");
    assert!(bare.confidences(&["LogitsMargin".parse().expect("valid")]).is_ok());
    assert!(bare.confidences(&[Estimator::MSP]).is_ok());
    let error = bare.confidences(&["NegativeGini".parse().expect("valid")]).unwrap_err();
    assert_eq!(error, Error::NotProfiled { estimator: "NegativeGini".into() });
    let other = Logits::new(vec![0.0; 6], 3).expect("valid");
    let labels = Labels::new(&[0, 1], 3).expect("valid");
    let losses = Losses::zero_one(&other, &labels).expect("valid");
    let error = Profiles::empty(60, &ProfilePlan::default()).push(&other, &labels, &losses);
    assert_eq!(error, Err(Error::Classes { found: 3, expected: 60 }));
    let empty = Profiles::empty(60, &ProfilePlan::default());
    assert_eq!(Tuner::default().search(Method::MSP, &empty).unwrap_err(), Error::NoRows);
}

/// Real-valued p: a second profile around the best whole one can only do better on the tuning rows.
#[test]
fn the_exponent_can_be_refined() {
    let (logits, labels) = demo("imagenet-efficientnet-lite2", 600);
    let method: Method = "MaxLogit-pNorm".parse().expect("valid");
    let search = |space: Space| {
        let tuner = Tuner { space, ..Tuner::default() };
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&[method])).expect("valid");
        let best = tuner.search(method, &profiles).expect("defined").best;
        (best.estimator.parameters()[0].1, best.value.expect("defined"))
    };
    let coarse = search(Space::standard());
    let p = abstain::transform::Exponent::new(coarse.0).expect("valid");
    let finer = Space::standard().around_exponent(p);
    assert_eq!(finer.exponents.len(), 21);
    let fine = search(finer.clone());
    assert!((fine.0 - coarse.0).abs() <= 1.0 && fine.1 < coarse.1, "{coarse:?} {fine:?}");
    let p = abstain::transform::Exponent::new(fine.0).expect("valid");
    let finest = search(finer.around_exponent(p));
    assert!((finest.0 - fine.0).abs() <= 0.1 + 1e-12 && finest.1 <= fine.1, "{fine:?} {finest:?}");
}

#[test]
fn named_spaces_are_the_papers() {
    let paper = Space::paper();
    assert_eq!(paper.temperatures.len(), 300);
    assert_eq!(paper.temperatures.first().map(|t| t.get()), Some(0.01));
    assert_eq!(paper.temperatures.last().map(|t| t.get()), Some(3.0));
    assert!(paper.temperatures.contains(&Temperature::ONE));
    assert_eq!(
        paper.exponents.iter().map(|p| p.get()).collect::<Vec<_>>(),
        (0..=10).map(f64::from).collect::<Vec<_>>()
    );
    let code = Space::published_code();
    assert_eq!((code.temperatures.len(), code.exponents.len()), (200, 10));
    assert_eq!(code.temperatures.last().map(|t| t.get()), Some(2.0));
    assert!(Space::fine().exponents.iter().any(|p| p.get() == 2.25));
    for name in Space::NAMES {
        let space = name.to_uppercase().parse::<Space>().expect("a space by its name");
        assert_eq!(space.name(), *name);
    }
    assert_eq!("published-code".parse::<Space>(), Ok(Space::published_code()));
    assert_eq!(Space { family_step: 3, ..Space::paper() }.name(), "custom");
    let error = "papers".parse::<Space>().unwrap_err();
    assert_eq!(error.to_string(), "no search space is called 'papers'; did you mean 'paper'?");
}

/// Subsets that overlap are searched as each of them alone, where nothing is relative to a mean norm.
#[test]
fn subsets_are_searched_as_their_rows_alone() {
    let (logits, labels) = demo("fashion-mixup", 2000);
    let subsets: Vec<Vec<usize>> =
        (0..5).map(|k| (0..2000).filter(|row| row % 5 != k).collect()).collect();
    let methods = ["MSP-TS-AURC", "MaxLogit-pNorm", "MSP-TS-NLL", "Stack"];
    let methods = methods.map(|name| name.parse::<Method>().expect("a method"));
    for space in [Space::paper(), Space::standard()] {
        let exhaustive = !space.coarse_first;
        let tuner = Tuner { fallback: Fallback::None, space, ..Tuner::default() };
        let profiles = Profiles::new(&logits, &labels, &tuner.plan(&methods)).expect("valid");
        for method in methods {
            let found = tuner.search_subsets(method, &profiles, &subsets).expect("searched");
            assert_eq!(found.len(), subsets.len());
            for (found, rows) in found.into_iter().zip(&subsets) {
                let alone = tuner.search(method, &profiles.select(rows)).expect("searched");
                let found = found.expect("searched");
                if exhaustive || method.is_stack() {
                    assert_eq!(found.best, alone.best, "{method}");
                } else {
                    // What one subset leads to is tried on the others, too.
                    assert!(found.best.value <= alone.best.value, "{method}");
                }
            }
        }
    }
}
