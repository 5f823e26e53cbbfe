//! What the `datasets` library of Hugging Face writes about columns, as JSON beside the key `huggingface`.

use serde_json::{Map, Value};

/// The descriptions of columns by their names; none where the text is not such a description.
pub fn features(text: &str) -> Map<String, Value> {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let found = value.as_ref().and_then(|value| value.pointer("/info/features"));
    found.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The names that the numbers in a column stand for.
pub fn names_of_numbers(features: &Map<String, Value>, column: &str) -> Option<Vec<String>> {
    let names = features.get(column)?.get("names")?.as_array()?;
    names.iter().map(|name| name.as_str().map(str::to_string)).collect()
}
