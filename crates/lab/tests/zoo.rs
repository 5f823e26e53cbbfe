//! Zoos: what is wrong with them is found at once, and what is measured on them is what a plain
//! computation gives.

use abstain::statistics::average_positive_gain;
use abstain::{
    Estimator, Fallback, Labels, Logits, Losses, Method, Metric, Profiles, RcCurve, Tuner,
};
use abstain_lab::measure::Part;
use abstain_lab::protocol::{MAX_LOGIT_PNORM, methods};
use abstain_lab::study::{
    CentringStudy, Context, ExponentStudy, MethodsStudy, PStar, ScatterStudy, ShiftStudy, Summary,
};
use abstain_lab::{Bench, Holdout, ModelResults, Protocol, Spread, Zoo};
use std::path::Path;

const ROWS: usize = 600;
const CLASSES: usize = 5;

/// A file of numpy's.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

/// Numbers between 0 and 1, the same every time.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

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
            let own = if class == usize::from(label) { strength * random.next() } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "what files hold")]
            all.push((scale * (random.normal() + own)) as f32);
        }
    }
    all
}

fn put(folder: &Path, name: &str, values: &[f32], classes: usize) {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let shape = format!("({}, {classes})", values.len() / classes);
    std::fs::create_dir_all(folder.join(name).parent().expect("a parent")).expect("a folder");
    std::fs::write(folder.join(name), npy("<f4", &shape, &bytes)).expect("written");
}

fn put_labels(folder: &Path, name: &str, labels: &[u8]) {
    let shape = format!("({},)", labels.len());
    std::fs::write(folder.join(name), npy("|u1", &shape, labels)).expect("written");
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

fn run(zoo: &Zoo, protocol: &Protocol, out: Option<&Path>) -> Vec<ModelResults> {
    let bench = Bench::new(zoo, protocol, out).expect("rows enough");
    let mut results = bench.run(&[Part::Centring, Part::Shift], &mut |_| {}).expect("sound models");
    bench.look_closer(&mut results, &["broken".to_string()], &mut |_| {}).expect("a sound model");
    results
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
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
        "set 'x': 'x.npy' does not say {model} anywhere",
        "set 'x': rows that are not aligned have labels of their own",
        "set 'x': no model is called 'nobody'",
        "set 'y': a group has a severity, and a severity a group",
        "set 'y': 200 rows, aligned ones would be 600",
    ] {
        assert!(text.contains(problem), "{problem} is not in:\n{text}");
    }
    assert!(error.problems.len() >= 11, "{text}");
}

#[test]
fn one_mistake_is_one_line() {
    let folder = zoo();
    let path = folder.path();
    let fails = |manifest: &str| {
        std::fs::write(path.join("zoo.toml"), manifest).expect("written");
        Zoo::open(path).expect_err("a mistake").problems.join("\n")
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

/// The protocol against a plain computation: logits selected, tuned and scored on their own.
#[test]
fn the_protocol_is_what_it_says() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    let splits = protocol.splits(ROWS).expect("two halves");
    let all = methods();
    for (result, (name, broken)) in
        results.iter().zip([("plain", 0.0), ("broken", 0.8), ("worse", 1.2)])
    {
        assert_eq!(result.model.name, name);
        let values = logits(ROWS, CLASSES, 1, broken, 6.0);
        let logits = Logits::new(values, CLASSES).expect("logits");
        let labels = Labels::new(&labels(ROWS), CLASSES).expect("labels");
        for (index, (split, found)) in splits.iter().zip(&result.full().splits).enumerate() {
            let (tuning, test) = (logits.select(&split.tuning), logits.select(&split.test));
            let (own, fresh) = (labels.select(&split.tuning), labels.select(&split.test));
            let losses = Losses::zero_one(&test, &fresh).expect("as many");
            let tuner = Tuner { seed: index as u64, ..protocol.tuner.clone() };
            assert_eq!(tuner.fallback, Fallback::Paper);
            let profiles = Profiles::new(&tuning, &own, &tuner.plan(&all)).expect("profiles");
            for (method, outcome) in all.iter().zip(&found.outcomes) {
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

/// Tables by hand from what was measured.
#[test]
fn studies_are_what_they_say() {
    let folder = zoo();
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    let protocol = protocol();
    let results = run(&zoo, &protocol, None);
    let chosen = ["broken".to_string()];
    let context = Context {
        zoo: &zoo,
        protocol: &protocol,
        results: &results,
        chosen: &chosen,
        epsilon: 0.01,
        certified: false,
    };
    let study = MethodsStudy::new(&context);
    let place = methods().iter().position(|own| *own == MAX_LOGIT_PNORM).expect("in the list");
    // Scaled rows break MSP, and dividing by a norm mends that.
    assert_eq!(study.order[0], "worse");
    let apg: Vec<f64> = (0..2)
        .map(|split| {
            let split = |own: &ModelResults| own.full().splits[split].clone();
            let before: Vec<f64> =
                results.iter().map(|own| split(own).baseline.naurc.expect("defined")).collect();
            let after: Vec<f64> = results
                .iter()
                .map(|own| split(own).finally(place).naurc.expect("defined"))
                .collect();
            average_positive_gain(&before, &after, 0.01).expect("defined")
        })
        .collect();
    let expected = Spread::of(&apg).expect("two splits");
    // MaxLogit is the third score, pNorm the fourth transform.
    let found = study.apg[0].apg[2][3].expect("defined");
    assert!((found.mean - expected.mean).abs() < 1e-15 && found.mean > 0.02, "{found:?}");
    assert!((found.std - expected.std).abs() < 1e-15);
    assert_eq!(study.apg.iter().map(|own| own.tuning_rows).collect::<Vec<_>>(), [200, 100]);
    assert_eq!(study.apg[0].apg[2][1], None, "a temperature does not change MaxLogit");
    let exponents = ExponentStudy::new(&context);
    let tuned = exponents.tables[0].lines.last().expect("the tuned one");
    assert_eq!((tuned.p, tuned.max_logit), (None, Some(found)));
    let scatter = ScatterStudy::new(&context);
    assert_eq!(scatter.models[0].title, "A plain one");
    assert!(matches!(scatter.models[2].p, Some(PStar::At(_))));
    let certified = ScatterStudy::new(&Context { certified: true, ..context });
    for (own, bare) in certified.models.iter().zip(&scatter.models) {
        let coverage = |own: Option<Spread>| own.expect("defined").mean;
        assert!(coverage(own.coverage.after) <= coverage(bare.coverage.after), "{}", own.model);
    }
    let centring = CentringStudy::new(&context).expect("it was measured");
    let centred = centring.tables[0].lines[1].1.expect("defined");
    assert!((centred.mean - found.mean).abs() < 1e-15, "Γ = μ, γ = 0 is MaxLogit-pNorm");
    let shift = ShiftStudy::new(&context).expect("it was measured");
    let columns =
        |own: usize| shift.tables[own].columns.iter().map(|c| &c.name[..]).collect::<Vec<_>>();
    assert_eq!((columns(0), columns(2)), (vec!["0", "1", "other"], vec!["0", "other"]));
    let summary = Summary::new(&context);
    assert_eq!(summary.models.len(), 3);
    assert!(summary.apg.is_sorted_by(|a, b| a.1.map(|x| x.mean) >= b.1.map(|x| x.mean)));
    assert_eq!(summary.apg.iter().filter(|own| own.0 == Method::MSP).count(), 1);
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
    let sets = &results[1].shift.as_ref().expect("measured").sets;
    assert_eq!(sets.len(), 2);
    for (split, found) in splits.iter().zip(&sets[0].splits) {
        let (rows, labels) = (noisy.select(&split.test), labels.select(&split.test));
        let losses = Losses::zero_one(&rows, &labels).expect("as many");
        let curve = RcCurve::new(&Estimator::MSP.confidences(&rows), &losses).expect("a curve");
        assert_eq!(Metric::NAURC.evaluate(&curve).ok(), found.naurc[0]);
        assert!((found.accuracy - (1.0 - curve.risk())).abs() < 1e-12);
    }
    // The other set has 200 rows, all of which measure: MSP is the same on every split.
    let other = &sets[1].splits;
    assert_eq!(other[0].naurc[0], other[1].naurc[0]);
}

#[test]
fn finished_work_is_kept_and_changes_are_noticed() {
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
                (name, bytes, entry.metadata().and_then(|own| own.modified()).expect("a time"))
            })
            .collect();
        all.sort();
        all
    };
    let first = files();
    let names: Vec<&str> = first.iter().map(|own| &own.0[..]).collect();
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
        files.iter().map(|own| (own.0.clone(), own.1.clone())).collect::<Vec<_>>()
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

/// What was kept of a model depends on that model alone.
#[test]
fn kept_work_is_that_of_its_model() {
    let folder = zoo();
    let out = tempfile::tempdir().expect("a folder");
    let protocol = protocol();
    let bench = |zoo: &Zoo| {
        let bench = Bench::new(zoo, &protocol, Some(out.path())).expect("rows enough");
        bench.run(&[], &mut |_| {}).expect("sound models")
    };
    let file = out.path().join("models/broken.methods.json");
    let read = || std::fs::metadata(&file).and_then(|own| own.modified()).expect("a time");
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
    // A record that was edited is done again.
    let text = std::fs::read_to_string(&file).expect("text");
    let (key, _) = text.split_once("\"result\"").expect("a record");
    let emptied = format!("{key}\"result\":{}}}", serde_json::json!({ "holdings": [] }));
    std::fs::write(&file, emptied).expect("written");
    let zoo = Zoo::open(folder.path()).expect("a zoo");
    assert_eq!(bench(&zoo).len(), 3);
    assert_eq!(std::fs::read_to_string(&file).expect("text"), text);
}

/// A model that is always right, or never, has no NAURC; the others have theirs all the same.
#[test]
fn perfect_and_hopeless_models_stop_no_one() {
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
    assert_eq!(results[0].full().splits[0].accuracy, 1.0);
    assert_eq!(results[0].gain(), None);
    let context = Context {
        zoo: &zoo,
        protocol: &protocol,
        results: &results,
        chosen: &[],
        epsilon: 0.01,
        certified: true,
    };
    let study = MethodsStudy::new(&context);
    assert!(study.apg[0].apg[2][3].is_some_and(|apg| apg.mean > 0.05), "that of the third model");
    let shift = ShiftStudy::new(&context).expect("it was measured");
    assert_eq!(shift.tables[0].columns[0].coverage[0], None, "nothing is certified on own rows");
    assert_eq!(Summary::new(&context).models.len(), 3);
}
