//! Artifacts of older versions are read, and score the same bits. `testdata/version-1` has artifacts that
//! the program of that version wrote, and what it made of the rows in `rows.csv`.

use abstain::{Artifact, Encoding, Logits, Threshold, artifact::ArtifactErrorKind};
use serde_json::{Value, from_str, json, to_value};

fn read(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/version-1/");
    std::fs::read_to_string(format!("{folder}{name}")).expect("a file of the project")
}

/// Artifacts with each basis of a threshold that the first version could write to a file, and without one.
const NAMES: [&str; 7] =
    ["certified", "risk", "coverage", "given", "accepts-all", "without", "confidence"];

#[test]
fn the_first_version_scores_the_same_bits() {
    let text = read("rows.csv");
    let values: Vec<f64> =
        text.split([',', '\n']).filter_map(|cell| cell.trim().parse().ok()).collect();
    let logits = Logits::new(&values, 10).expect("rows");
    let rows = NAMES.iter().filter(|name| **name != "confidence");
    for name in rows {
        let artifact = Artifact::from_json(&read(&format!("{name}.json"))).expect("reads");
        let answers = artifact.answers(&logits).expect("answers");
        let scores = read(&format!("{name}.csv"));
        let lines: Vec<Vec<&str>> =
            scores.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!((lines.len(), answers.len()), (41, 41));
        for (line, answer) in lines.iter().zip(answers) {
            assert_eq!(line[0], answer.prediction.to_string(), "{name}");
            let confidence: f64 = line[1].parse().expect("a number");
            assert_eq!(confidence.to_bits(), answer.confidence.to_bits(), "{name}");
            let accept = answer.accept.map(|accept| accept.to_string());
            assert_eq!(line.get(2).copied(), accept.as_deref(), "{name}");
        }
    }
}

/// Nothing but the version and the place of the threshold differs from what is written now.
#[test]
fn the_first_version_is_written_as_the_current_one() {
    for name in NAMES {
        let text = read(&format!("{name}.json"));
        let mut expected: Value = from_str(&text).expect("JSON");
        let fields = expected.as_object_mut().expect("an object");
        let threshold = fields.remove("threshold").expect("a threshold or null");
        let rule = if threshold.is_null() { threshold } else { json!({"threshold": threshold}) };
        fields.extend([("rule".into(), rule), ("version".into(), Artifact::VERSION.into())]);
        let artifact = Artifact::from_json(&text).expect("reads");
        assert_eq!(to_value(&artifact).expect("serialises"), expected, "{name}");
        let again = serde_json::to_string(&artifact).expect("serialises");
        assert_eq!(Artifact::from_json(&again).expect("reads"), artifact, "{name}");
        assert_eq!(artifact.input == Encoding::Confidence, name == "confidence");
    }
    let certified = Artifact::from_json(&read("certified.json")).expect("reads");
    assert!(certified.threshold().and_then(Threshold::certificate).is_some());
}

#[test]
fn each_version_has_its_fields_only() {
    let problem = |version: Value, edit: &dyn Fn(&mut Value)| {
        let mut json: Value = from_str(&read("given.json")).expect("JSON");
        json["version"] = version;
        edit(&mut json);
        let error = Artifact::from_json(&json.to_string()).expect_err("refused");
        (error.kind(), error.to_string())
    };
    let another = |field: &str| {
        (ArtifactErrorKind::Json, format!("the field `{field}` is of another version"))
    };
    let leave = |_: &mut Value| {};
    assert_eq!(problem(2.into(), &leave), another("threshold"));
    let with_rule = |json: &mut Value| json["rule"] = Value::Null;
    assert_eq!(problem(1.into(), &with_rule), another("rule"));
    let null = |json: &mut Value| json["threshold"] = Value::Null;
    assert_eq!(problem(2.into(), &null), another("threshold"));
    let (kind, text) = problem(3.into(), &leave);
    assert!(kind == ArtifactErrorKind::Version && text.contains("this program reads up to 2"));
    for version in [json!(0), json!(1.5), json!("1"), Value::Null] {
        let missing = "its version is missing or unknown".to_string();
        assert_eq!(problem(version, &leave), (ArtifactErrorKind::Version, missing));
    }
    let one_class = |json: &mut Value| json["classes"] = 1.into();
    assert_eq!(problem(1.into(), &one_class).0, ArtifactErrorKind::Unsound);
    let other = |json: &mut Value| json["format"] = "abstain-watch".into();
    assert_eq!(problem(1.into(), &other).0, ArtifactErrorKind::OtherFormat);
}
