//! Zoos: all problems are found at once, and measurements equal those of a plain computation.

use abstain::statistics::average_positive_gain;
use abstain::{
    Estimator, Fallback, Labels, Logits, Losses, Method, Metric, RcCurve, Tuner, internal::Profiles,
};
use abstain_io::zoo::{Zoo, ZooProblem};
use abstain_kit::{Lcg, npy};
use abstain_lab::{Holdout, Spread};
use abstain_paper::measure::MeasuredPart;
use abstain_paper::measure::{Activity, ModelResults, ModelStep, Runner, ZooResults};
use abstain_paper::protocol::{MAX_LOGIT_PNORM, methods};
use abstain_paper::study::centring::CentringStudy;
use abstain_paper::study::efficiency::EfficiencyStudy;
use abstain_paper::study::exponent::ExponentStudy;
use abstain_paper::study::influence::InfluenceStudy;
use abstain_paper::study::methods::{MethodsStudy, PStar};
use abstain_paper::study::scatter::ScatterStudy;
use abstain_paper::study::shift::{Column, ShiftStudy};
use abstain_paper::study::summary::Summary;
use abstain_paper::study::{Context, NotMeasured, Study};
use abstain_paper::{BenchRequest, Choice, PaperError, Protocol, StudyRequest, bench, study};
use std::collections::BTreeMap;
use std::path::Path;

const ROWS: usize = 600;
const CLASSES: usize = 5;

fn labels(rows: usize) -> Vec<u8> {
    (0..rows).map(|i| u8::try_from(i * 7 % CLASSES).expect("a class")).collect()
}

/// A made-up classifier; rows that are scaled at random have a broken MSP.
fn logits(rows: usize, classes: usize, seed: u64, broken: f64, strength: f64) -> Vec<f32> {
    let mut random = Lcg(seed);
    let labels = labels(rows);
    let mut all = Vec::new();
    for &label in &labels {
        let scale = (broken * random.normal()).exp();
        for class in 0..classes {
            let signal = if class == usize::from(label) { strength * random.next() } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "what files hold")]
            all.push((scale * (random.normal() + signal)) as f32);
        }
    }
    all
}

fn put(folder: &Path, name: &str, values: &[f32], classes: usize) {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let shape = format!("({}, {classes})", values.len() / classes);
    std::fs::create_dir_all(folder.join(name).parent().expect("a parent")).expect("a folder");
    std::fs::write(folder.join(name), npy("'<f4'", &shape, &bytes)).expect("written");
}

fn put_labels(folder: &Path, name: &str, labels: &[u8]) {
    let shape = format!("({},)", labels.len());
    std::fs::write(folder.join(name), npy("'|u1'", &shape, labels)).expect("written");
}

/// Three models, one set that is aligned with their rows and one that is not.
fn zoo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    put_labels(path, "labels.npy", &labels(ROWS));
    put_labels(path, "other-labels.npy", &labels(200));
    for (model, broken) in [("plain", 0.0), ("broken", 0.8), ("worse", 1.2)] {
        put(path, &format!("{model}.npy"), &logits(ROWS, CLASSES, 1, broken, 6.0), CLASSES);
        put(path, &format!("noise-1/{model}.npy"), &logits(ROWS, CLASSES, 2, broken, 4.0), CLASSES);
        put(path, &format!("other/{model}.npy"), &logits(200, CLASSES, 3, broken, 5.0), CLASSES);
    }
    let manifest = r#"
        title = "Made up"
        labels = "labels.npy"
        [[model]]
        name = "plain"
        title = "A plain one"
        logits = "plain.npy"
        [[model]]
        name = "broken"
        logits = "broken.npy"
        [[model]]
        name = "worse"
        logits = "worse.npy"
        [[set]]
        name = "noise-1"
        group = "noise"
        severity = 1
        aligned = true
        logits = "noise-1/{model}.npy"
        models = ["plain", "broken"]
        [[set]]
        name = "other"
        aligned = false
        labels = "other-labels.npy"
        logits = "other/{model}.npy"
    "#;
    std::fs::write(path.join("zoo.toml"), manifest).expect("written");
    folder
}

/// Small enough for a test.
fn protocol() -> Protocol {
    let mut protocol = Protocol {
        splits: 2,
        holdout: Holdout::Rows(200),
        smaller: vec![100],
        accuracy: 0.9,
        realisations: 2,
        replicates: 20,
        ..Protocol::default()
    };
    let space = &mut protocol.tuner.space;
    space.temperatures = space.temperatures.iter().copied().skip(24).step_by(25).collect();
    space.gammas = space.gammas.iter().copied().step_by(6).collect();
    protocol
}

/// Everything that `study all` measures.
const ALL: [MeasuredPart; 3] = [MeasuredPart::Centring, MeasuredPart::Shift, MeasuredPart::Closeup];

fn run(zoo: &Zoo, protocol: &Protocol, out: Option<&Path>) -> ZooResults {
    let bench = Runner::new(zoo, protocol, out).expect("rows enough");
    bench.run(&ALL, &["broken".to_string()], &mut |_| {}).expect("sound models")
}

/// The passes over each file of a run, by its path in the zoo.
fn passes(zoo: &Path, parts: &[MeasuredPart], out: Option<&Path>) -> BTreeMap<String, usize> {
    let (opened, protocol) = (Zoo::open(zoo).expect("a zoo"), protocol());
    let bench = Runner::new(&opened, &protocol, out).expect("rows enough");
    let mut passes = BTreeMap::new();
    let mut count = |step: ModelStep<'_>| {
        if let Activity::Reading(path) = step.activity {
            let path = path.strip_prefix(zoo).expect("below").display().to_string();
            *passes.entry(path).or_default() += 1;
        }
    };
    bench.run(parts, &["broken".to_string()], &mut count).expect("sound models");
    passes
}

/// The same number of passes over each of these files.
fn each(files: &[&str], passes: usize) -> BTreeMap<String, usize> {
    files.iter().map(|file| (file.to_string(), passes)).collect()
}

const MODELS: [&str; 3] = ["broken.npy", "plain.npy", "worse.npy"];
const SETS: [&str; 5] = [
    "noise-1/broken.npy",
    "noise-1/plain.npy",
    "other/broken.npy",
    "other/plain.npy",
    "other/worse.npy",
];

#[test]
fn a_fresh_run_reads_each_file_once_and_chosen_models_twice() {
    let folder = zoo();
    assert_eq!(passes(folder.path(), &[], None), each(&MODELS, 1), "bench");
    let mut expected = each(&[&MODELS[..], &SETS].concat(), 1);
    expected.insert("broken.npy".into(), 2);
    assert_eq!(passes(folder.path(), &ALL, None), expected, "study all");
}

#[test]
fn a_repeated_run_reads_each_file_once() {
    let folder = zoo();
    let out = tempfile::tempdir().expect("a folder");
    let study_all = || passes(folder.path(), &ALL, Some(out.path()));
    study_all();
    let all = [&MODELS[..], &SETS].concat();
    assert_eq!(study_all(), each(&all, 1), "to compare fingerprints");
    // A changed file is read for its fingerprint, for its profiles and for the closer look.
    put(folder.path(), "broken.npy", &logits(ROWS, CLASSES, 9, 0.8, 6.0), CLASSES);
    let mut expected = each(&all, 1);
    expected.insert("broken.npy".into(), 3);
    for set in ["noise-1/broken.npy", "other/broken.npy"] {
        expected.insert(set.into(), 2);
    }
    assert_eq!(study_all(), expected, "after a change");
    // Records that were made with other settings need no fingerprint to be discarded.
    for record in std::fs::read_dir(out.path().join("models")).expect("a folder") {
        let path = record.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let (_, rest) = text.split_once(',').expect("settings come first");
        std::fs::write(&path, format!("{{\"settings\":\"other\",{rest}")).expect("written");
    }
    let mut expected = each(&all, 1);
    expected.insert("broken.npy".into(), 2);
    assert_eq!(study_all(), expected, "with other settings");
}

#[test]
fn all_problems_are_reported_at_once() {
    let folder = zoo();
    let path = folder.path();
    put(path, "short.npy", &logits(599, CLASSES, 1, 0.0, 6.0), CLASSES);
    put(path, "wide.npy", &logits(ROWS, 6, 1, 0.0, 6.0), 6);
    std::fs::write(path.join("garbage.npy"), b"not numpy").expect("written");
    let manifest = r#"
        labels = "labels.npy"
        [[model]]
        name = "plain"
        logits = "plain.npy"
        [[model]]
        name = "Plain"
        logits = "short.npy"
        [[model]]
        name = "a/b"
        logits = "wide.npy"
        [[model]]
        name = "gone"
        logits = "gone.npy"
        [[model]]
        name = "garbage"
        logits = "garbage.npy"
        [[set]]
        name = "x"
        aligned = false
        logits = "x.npy"
        models = ["nobody"]
        [[set]]
        name = "y"
        group = "g"
        aligned = true
        labels = "other-labels.npy"
        logits = "other/{model}.npy"
        models = ["plain"]
    "#;
    std::fs::write(path.join("zoo.toml"), manifest).expect("written");
    let error = Zoo::open(path).expect_err("full of mistakes");
    let text = error.to_string().replace(&path.display().to_string(), "ZOO");
    for problem in [
        "two models are called 'Plain'",
        "the name of a model, \"a/b\"",
        "short.npy: 599 rows, ZOO/labels.npy has 600 labels",
        "wide.npy: 6 classes, plain has 5",
        "gone.npy: ",
        "garbage.npy: ",
        "set 'x': 'x.npy' does not contain {model}",
        "set 'x': rows that are not aligned need labels",
        "set 'x': no model is called 'nobody'",
        "set 'y': group and severity go together, but only one of them is there",
        "set 'y': 200 rows, but aligned rows must be 600",
    ] {
        assert!(text.contains(problem), "{problem} is not in:\n{text}");
    }
    assert!(error.problems.len() >= 11, "{text}");
}

#[test]
fn a_single_problem_is_reported_on_one_line() {
    let folder = zoo();
    let path = folder.path();
    let fails = |manifest: &str| {
        std::fs::write(path.join("zoo.toml"), manifest).expect("written");
        let problems = Zoo::open(path).expect_err("a mistake").problems;
        problems.iter().map(ZooProblem::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(fails("labels = 3\n").starts_with("line 1: "), "{}", fails("labels = 3\n"));
    let unknown = fails("labels = \"labels.npy\"\ntitel = \"x\"\n");
    assert!(unknown.contains("line 2") && unknown.contains("titel"), "{unknown}");
    assert_eq!(fails("labels = \"labels.npy\"\n"), "there is no model");
    let missing = Zoo::open(&path.join("nowhere")).expect_err("nothing there").to_string();
    assert!(missing.contains("no such file"), "{missing}");
    std::fs::remove_file(path.join("zoo.toml")).expect("removed");
    std::fs::remove_file(path.join("labels.npy")).expect("removed");
    std::fs::remove_file(path.join("other-labels.npy")).expect("removed");
    let bare = Zoo::open(path).expect_err("no labels").to_string();
    assert!(bare.contains("neither labels.npy nor zoo.toml"), "{bare}");
}

#[test]
fn a_folder_is_a_zoo() {
    let folder = tempfile::tempdir().expect("a folder");
    put_labels(folder.path(), "labels.npy", &labels(ROWS));
    put(folder.path(), "net-1.5.npy", &logits(ROWS, CLASSES, 1, 0.0, 6.0), CLASSES);
    put(folder.path(), "alpha.npy", &logits(ROWS, CLASSES, 4, 0.0, 6.0), CLASSES);
    std::fs::write(folder.path().join("notes.md"), "no logits").expect("written");
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let names: Vec<&str> = zoo.models.iter().map(|model| &model.name[..]).collect();
    assert_eq!((names, zoo.rows(), zoo.classes), (vec!["alpha", "net-1.5"], ROWS, CLASSES));
    assert!(zoo.clone().only(&["beta".to_string()]).is_err_and(|name| name == "beta"));
    let one = zoo.only(&["alpha".to_string()]).expect("it is there");
    assert_eq!(one.models.len(), 1);
}

/// The protocol against a plain computation: logits are selected, tuned and scored directly.
#[test]
fn outcomes_equal_a_plain_computation() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    let splits = protocol.splits(ROWS).expect("two halves");
    let all = methods();
    for (result, (name, broken)) in
        results.models.iter().zip([("plain", 0.0), ("broken", 0.8), ("worse", 1.2)])
    {
        assert_eq!(result.model.name, name);
        let values = logits(ROWS, CLASSES, 1, broken, 6.0);
        let logits = Logits::new(values, CLASSES).expect("logits");
        let labels = Labels::new(&labels(ROWS), CLASSES).expect("labels");
        for (index, (split, found)) in splits.iter().zip(&result.full().splits).enumerate() {
            let (tuning, test) = (logits.select(&split.tuning), logits.select(&split.test));
            let tuning_labels = labels.select(&split.tuning);
            let losses = Losses::zero_one(&test, &labels.select(&split.test)).expect("as many");
            let tuner = Tuner { seed: index as u64, ..protocol.tuner.clone() };
            assert_eq!(tuner.fallback, Fallback::Paper);
            let profiles =
                Profiles::new(&tuning, &tuning_labels, &tuner.plan(&all)).expect("profiles");
            assert_eq!(found.outcomes.len(), all.len());
            for method in &all {
                let outcome = found.outcome(*method).expect("every method is measured");
                let tuned = tuner.tune(*method, &profiles).expect("some rows are wrong");
                assert_eq!(tuned.best.estimator, outcome.estimator, "{name}, {method}");
                assert_eq!(tuned.fell_back, outcome.fell_back, "{name}, {method}");
                let confidences = outcome.estimator.confidences(&test);
                let curve = RcCurve::new(&confidences, &losses).expect("a curve");
                let naurc = Metric::NAURC.evaluate(&curve).ok();
                let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
                    (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                    (a, b) => a == b,
                };
                assert!(same(naurc, outcome.measured.naurc), "{name}, {method}");
                let auroc = Metric::AUROC.evaluate(&curve).ok();
                assert!(same(auroc, outcome.measured.auroc), "{name}, {method}");
                let sac = "SAC@0.9".parse::<Metric>().expect("a metric").evaluate(&curve).ok();
                assert!(same(sac, outcome.measured.coverage), "{name}, {method}");
            }
            let curve = RcCurve::new(&Estimator::MSP.confidences(&test), &losses).expect("a curve");
            assert_eq!(Metric::NAURC.evaluate(&curve).ok(), found.baseline.naurc);
            assert!((found.accuracy - (1.0 - curve.risk())).abs() < 1e-12);
        }
    }
}

#[test]
fn studies_equal_sums_by_hand() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    let context = Context {
        zoo: &zoo,
        protocol: &protocol,
        results: &results,
        epsilon: 0.01,
        certified: false,
    };
    let study = MethodsStudy::new(&context).expect("measured");
    // Scaled rows break MSP, and dividing by a norm mends that.
    assert_eq!(study.order[0], "worse");
    let apg: Vec<f64> = (0..2)
        .map(|split| {
            let split = |model: &ModelResults| model.full().splits[split].clone();
            let before = |model: &ModelResults| split(model).baseline.naurc.expect("defined");
            let gain = |model: &ModelResults| split(model).gain(MAX_LOGIT_PNORM).expect("defined");
            let after: Vec<f64> =
                results.models.iter().map(|model| before(model) - gain(model)).collect();
            let before: Vec<f64> = results.models.iter().map(before).collect();
            average_positive_gain(&before, &after, 0.01).expect("defined")
        })
        .collect();
    let expected = Spread::of(&apg).expect("two splits");
    // MaxLogit is the third score, pNorm the fourth transform.
    let found = study.apg[0].apg[2][3].expect("defined");
    assert!((found.mean - expected.mean).abs() < 1e-15 && found.mean > 0.02, "{found:?}");
    assert!((found.std - expected.std).abs() < 1e-15);
    assert_eq!(study.apg.iter().map(|table| table.tuning_rows).collect::<Vec<_>>(), [200, 100]);
    assert_eq!(study.apg[0].apg[2][1], None, "a temperature does not change MaxLogit");
    let exponents = ExponentStudy::new(&context).expect("measured");
    let tuned = exponents.tables[0].lines.last().expect("the tuned one");
    assert_eq!((tuned.p, tuned.max_logit), (None, Some(found)));
    let scatter = ScatterStudy::new(&context).expect("measured");
    assert_eq!(scatter.models[0].title, "A plain one");
    assert!(matches!(scatter.models[2].p, Some(PStar::At(_))));
    let certified = ScatterStudy::new(&Context { certified: true, ..context }).expect("measured");
    for (certified, plain) in certified.models.iter().zip(&scatter.models) {
        let after = |model: &abstain_paper::study::scatter::ScatterModel| {
            model.coverage.after.expect("defined").mean
        };
        assert!(after(certified) <= after(plain), "{}", plain.model);
    }
    let centring = CentringStudy::new(&context).expect("measured");
    let mean = centring.tables[0].lines.iter().find(|line| line.centring == "μ(z)");
    let centred = mean.and_then(|line| line.unshifted).expect("defined");
    assert!((centred.mean - found.mean).abs() < 1e-15, "Γ = μ, γ = 0 is MaxLogit-pNorm");
    let shift = ShiftStudy::new(&context).expect("measured");
    let columns = |table: usize| {
        let columns = shift.tables[table].columns.iter().map(|column| column.column.clone());
        columns.collect::<Vec<Column>>()
    };
    let other = Column::Set("other".into());
    assert_eq!(columns(0), [Column::Clean, Column::Severity(1), other.clone()]);
    assert_eq!(columns(2), [Column::Clean, other]);
    let summary = Summary::new(&context).expect("measured");
    assert_eq!(summary.models.len(), 3);
    assert!(summary.apg.is_sorted_by(|a, b| a.apg.map(|x| x.mean) >= b.apg.map(|x| x.mean)));
    assert_eq!(summary.apg.iter().filter(|gain| gain.method == Method::MSP).count(), 1);
}

/// JSON of studies that people have stored must stay readable.
#[test]
fn json_of_studies_keeps_arrays_and_texts() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    let (epsilon, certified) = (0.01, false);
    let context = Context { zoo: &zoo, protocol: &protocol, results: &results, epsilon, certified };
    let json = serde_json::to_value(ShiftStudy::new(&context).expect("measured")).expect("JSON");
    let columns = json["tables"][0]["columns"].as_array().expect("columns");
    let names: Vec<&str> = columns.iter().filter_map(|column| column["name"].as_str()).collect();
    assert_eq!(names, ["0", "1", "other"]);
    assert_eq!(json["titles"][0], serde_json::json!(["other", "other"]));
    assert!(columns[1]["naurc"][2]["mean"].is_f64(), "in the order of the methods");
    assert_eq!(json["tables"][0]["methods"][2], "MaxLogit-pNorm");
    let json = serde_json::to_value(CentringStudy::new(&context).expect("measured")).expect("JSON");
    assert_eq!(json["tables"][0]["lines"][2][0], "min z");
    let json = serde_json::to_value(Summary::new(&context).expect("measured")).expect("JSON");
    assert!(json["apg"][0][0].is_string() && json["apg"][0][1]["mean"].is_f64(), "{}", json["apg"]);
}

#[test]
fn a_study_refuses_what_was_not_measured() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let bench = Runner::new(&zoo, &protocol, None).expect("rows enough");
    let results = bench.run(&[], &[], &mut |_| {}).expect("sound models");
    let (epsilon, certified) = (0.01, false);
    let context = Context { zoo: &zoo, protocol: &protocol, results: &results, epsilon, certified };
    let refused = |found: Option<NotMeasured>, part: MeasuredPart| {
        assert_eq!(found, Some(NotMeasured { part }));
    };
    refused(CentringStudy::new(&context).err(), MeasuredPart::Centring);
    refused(ShiftStudy::new(&context).err(), MeasuredPart::Shift);
    refused(EfficiencyStudy::new(&context).err(), MeasuredPart::Closeup);
    refused(InfluenceStudy::new(&context).err(), MeasuredPart::Closeup);
}

/// Rows that tuned must not measure, on sets that are aligned with them.
#[test]
fn aligned_sets_are_measured_on_test_rows_alone() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    let splits = protocol.splits(ROWS).expect("two halves");
    let values = logits(ROWS, CLASSES, 2, 0.8, 4.0);
    let noisy = Logits::new(values, CLASSES).expect("logits");
    let labels = Labels::new(&labels(ROWS), CLASSES).expect("labels");
    let sets = &results.models[1].shift.as_ref().expect("measured").sets;
    assert_eq!(sets.len(), 2);
    for (split, found) in splits.iter().zip(&sets[0].splits) {
        let (rows, labels) = (noisy.select(&split.test), labels.select(&split.test));
        let losses = Losses::zero_one(&rows, &labels).expect("as many");
        let curve = RcCurve::new(&Estimator::MSP.confidences(&rows), &losses).expect("a curve");
        let msp = found.method(Method::MSP).expect("measured");
        assert_eq!(Metric::NAURC.evaluate(&curve).ok(), msp.naurc);
        assert!((found.accuracy - (1.0 - curve.risk())).abs() < 1e-12);
    }
    // The other set has 200 rows, all of which measure: MSP is the same on every split.
    let other = &sets[1].splits;
    let naurc = |split: usize| other[split].method(Method::MSP).and_then(|msp| msp.naurc);
    assert!(naurc(0).is_some() && naurc(0) == naurc(1));
}

#[test]
fn records_are_reused_until_rows_or_protocol_change() {
    let folder = zoo();
    let out = tempfile::tempdir().expect("a folder");
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    run(&zoo, &protocol, Some(out.path()));
    let models = out.path().join("models");
    let files = || {
        let mut all: Vec<(String, Vec<u8>, std::time::SystemTime)> = std::fs::read_dir(&models)
            .expect("a folder")
            .map(|entry| {
                let entry = entry.expect("an entry");
                let bytes = std::fs::read(entry.path()).expect("a file");
                let name = entry.file_name().to_string_lossy().into_owned();
                (name, bytes, entry.metadata().and_then(|data| data.modified()).expect("a time"))
            })
            .collect();
        all.sort();
        all
    };
    let first = files();
    let names: Vec<&str> = first.iter().map(|file| &file.0[..]).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    assert!(names.contains(&"broken.closeup.json"));
    // Nothing is done again …
    run(&zoo, &protocol, Some(out.path()));
    assert_eq!(files(), first);
    // … but what is missing or damaged, to the same bytes …
    std::fs::remove_file(models.join("plain.methods.json")).expect("removed");
    std::fs::write(models.join("worse.centring.json"), b"{\"key\": \"half").expect("written");
    run(&zoo, &protocol, Some(out.path()));
    let contents = |files: &[(String, Vec<u8>, std::time::SystemTime)]| {
        files.iter().map(|file| (file.0.clone(), file.1.clone())).collect::<Vec<_>>()
    };
    assert_eq!(contents(&files()), contents(&first));
    // … and what was made from other rows or by another protocol.
    put(folder.path(), "broken.npy", &logits(ROWS, CLASSES, 9, 0.8, 6.0), CLASSES);
    run(&Zoo::open(folder.path()).expect("a zoo"), &protocol, Some(out.path()));
    let changed: Vec<String> = files()
        .iter()
        .zip(&first)
        .filter(|(now, before)| now.1 != before.1)
        .map(|(now, _)| now.0.clone())
        .collect();
    assert!(changed.iter().all(|name| name.starts_with("broken.")), "{changed:?}");
    assert_eq!(changed.len(), 4);
    let other = Protocol { splits: 1, ..protocol };
    run(&zoo, &other, Some(out.path()));
    assert!(files().iter().zip(&first).all(|(now, before)| now.1 != before.1));
}

#[test]
fn a_record_depends_on_its_model_alone() {
    let folder = zoo();
    let out = tempfile::tempdir().expect("a folder");
    let protocol = protocol();
    let bench = |zoo: &Zoo| {
        let bench = Runner::new(zoo, &protocol, Some(out.path())).expect("rows enough");
        bench.run(&[], &[], &mut |_| {}).expect("sound models").models
    };
    let file = out.path().join("models/broken.methods.json");
    let read = || std::fs::metadata(&file).and_then(|data| data.modified()).expect("a time");
    let all = Zoo::open(folder.path()).expect("a zoo");
    bench(&all.clone().only(&["broken".to_string()]).expect("it is there"));
    let first = read();
    bench(&all);
    assert_eq!(read(), first, "other models make no difference");
    // As another kind of numbers, the same bytes are another model.
    let manifest = std::fs::read_to_string(folder.path().join("zoo.toml")).expect("text");
    let masked =
        manifest.replace("logits = \"broken.npy\"", "logits = \"broken.npy\"\nkind = \"masked\"");
    std::fs::write(folder.path().join("zoo.toml"), masked).expect("written");
    bench(&Zoo::open(folder.path()).expect("a zoo"));
    assert_ne!(read(), first);
    // A record that was edited is made again.
    let text = std::fs::read_to_string(&file).expect("text");
    let (key, _) = text.split_once("\"result\"").expect("a record");
    let emptied = format!("{key}\"result\":{}}}", serde_json::json!({ "holdings": [] }));
    std::fs::write(&file, emptied).expect("written");
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    assert_eq!(bench(&zoo).len(), 3);
    assert_eq!(std::fs::read_to_string(&file).expect("text"), text);
}

/// A model that is always right, or never, has no NAURC.
#[test]
fn perfect_and_hopeless_models_do_not_affect_others() {
    let folder = zoo();
    let labels = labels(ROWS);
    let sure = |right: bool| -> Vec<f32> {
        let row = |label: &u8| {
            let chosen =
                if right { usize::from(*label) } else { (usize::from(*label) + 1) % CLASSES };
            let mut row = vec![0.0; CLASSES];
            row[chosen] = 1.0 + f32::from(*label);
            row
        };
        labels.iter().flat_map(row).collect()
    };
    for (name, right) in [("plain", true), ("broken", false)] {
        put(folder.path(), &format!("{name}.npy"), &sure(right), CLASSES);
    }
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    assert_eq!(results.models[0].full().splits[0].accuracy, 1.0);
    assert_eq!(results.models[0].gain(), None);
    let context = Context {
        zoo: &zoo,
        protocol: &protocol,
        results: &results,
        epsilon: 0.01,
        certified: true,
    };
    let study = MethodsStudy::new(&context).expect("measured");
    assert!(study.apg[0].apg[2][3].is_some_and(|apg| apg.mean > 0.05), "that of the third model");
    let shift = ShiftStudy::new(&context).expect("measured");
    let clean = &shift.tables[0].columns[0];
    assert_eq!(clean.coverage_of(Method::MSP), None, "nothing is certified on the rows of the zoo");
    assert_eq!(Summary::new(&context).expect("measured").models.len(), 3);
}

#[test]
fn requests_are_checked_before_any_work() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let refused = |change: fn(&mut BenchRequest)| {
        let mut request = BenchRequest::new(protocol());
        change(&mut request);
        let mut on_progress = |_: ModelStep<'_>| panic!("no work is done");
        bench(&zoo, &request, &mut on_progress).expect_err("refused").to_string()
    };
    assert!(refused(|request| request.epsilon = f64::NAN).contains("epsilon"));
    assert!(refused(|request| request.protocol.delta = 0.0).contains("delta"));
    assert!(refused(|request| request.protocol.accuracy = 1.0).contains("target accuracy"));
    assert!(refused(|request| request.protocol.replicates = 1).contains("replicates"));
    assert!(refused(|request| request.protocol.splits = 0).contains("splits"));
    assert!(refused(|request| request.protocol.holdout = Holdout::Rows(ROWS)).contains("hold-out"));
    assert!(refused(|request| request.models = vec!["none".into()]).contains("'none'"));
    assert!(matches!("none".parse::<Choice>(), Err(PaperError::UnknownStudy { .. })));
}

#[test]
fn a_study_without_a_folder_finds_the_same_and_writes_nothing() {
    let folder = zoo();
    let out = tempfile::tempdir().expect("a folder");
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let choice: Choice = "epsilon".parse().expect("a study");
    let mut request = StudyRequest::new(choice, BenchRequest::new(protocol()));
    let found = study(&zoo, &request, &mut |_| {}).expect("sound models");
    assert_eq!(found.written, None);
    request.bench.output = Some(out.path().to_path_buf());
    let stored = study(&zoo, &request, &mut |_| {}).expect("sound models");
    let written = stored.written.as_ref().expect("a folder");
    assert_eq!(written.page, out.path().join("epsilon.md"));
    let json = |answer| serde_json::to_value(answer).expect("JSON");
    assert_eq!(json(&found), json(&stored));
    let text = std::fs::read(out.path().join("json/epsilon.json")).expect("a file");
    let text: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(json(&found)["epsilon"], text);
}
