//! The lists of the artifact's JSON Schema (`docs/artifact.schema.json`) are those of the registries.
//! The tests of the Python package validate artifacts against it.

use abstain::certify::Procedure;
use abstain::{
    Encoding, Method,
    method::{TemperatureObjective, TransformKind},
    metric::MetricKind,
};
use serde_json::Value;
use std::collections::BTreeMap;

fn definition(name: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/artifact.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema is part of the project");
    let mut schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    schema["$defs"][name].take()
}

/// The texts that a field may have.
fn texts(field: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    match field.get("const") {
        Some(only) => vec![text(only)],
        None => field["enum"].as_array().expect("a list").iter().map(text).collect(),
    }
}

fn alternatives(definition: &Value) -> &[Value] {
    definition["oneOf"].as_array().expect("alternatives")
}

/// The fields of each method that is no stack, apart from its name.
fn fields_of_methods() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for alternative in alternatives(&definition("simple_estimator")) {
        let fields = alternative["properties"].as_object().expect("fields");
        let mut parameters: Vec<String> = fields.keys().cloned().collect();
        parameters.retain(|name| name != "method");
        for method in texts(&fields["method"]) {
            assert_eq!(found.insert(method.clone(), parameters.clone()), None, "{method}");
        }
    }
    found
}

#[test]
fn estimators_have_the_parameters_of_their_method() {
    let searched = |method: &Method| {
        let tuned = [TemperatureObjective::Nll, TemperatureObjective::Aurc];
        matches!(method, Method::Scored { transform: TransformKind::Temperature(objective), .. }
            if tuned.contains(objective))
    };
    let mut wanted = BTreeMap::new();
    let methods = Method::all().filter(|method| !method.is_stack() && !searched(method));
    for method in methods.chain([Method::Extra]) {
        let mut names: Vec<String> = method.parameters().iter().map(ToString::to_string).collect();
        names.sort_unstable();
        wanted.insert(method.to_string(), names);
    }
    assert_eq!(fields_of_methods(), wanted);
}

#[test]
fn lists_are_those_of_the_registries() {
    let all: Vec<String> = Method::all().map(|method| method.to_string()).collect();
    assert_eq!(texts(&definition("method")), all);
    let stacks: Vec<String> =
        Method::all().filter(|m| m.is_stack()).map(|m| m.to_string()).collect();
    assert_eq!(texts(&definition("stack")["properties"]["method"]), stacks);

    let procedures: Vec<String> = Procedure::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(texts(&definition("certificate")["properties"]["procedure"]), procedures);

    let mut kinds: Vec<String> = alternatives(&definition("input"))
        .iter()
        .flat_map(|alternative| texts(&alternative["properties"]["kind"]))
        .collect();
    kinds.sort_unstable();
    let mut names: Vec<String> = Encoding::NAMES.iter().map(ToString::to_string).collect();
    names.sort_unstable();
    assert_eq!(kinds, names);
}

#[test]
fn objectives_are_the_metrics_and_the_log_likelihood() {
    let objective = definition("objective");
    let pattern = objective["pattern"].as_str().expect("a pattern");
    let inside = pattern.strip_prefix("^(").and_then(|p| p.strip_suffix(")$")).expect("a choice");
    let mut found: Vec<&str> =
        inside.split('|').map(|form| form.split('@').next().unwrap_or(form)).collect();
    found.sort_unstable();
    let mut wanted: Vec<&str> = MetricKind::ALL.iter().map(|kind| kind.info().name).collect();
    wanted.push("NLL");
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}
