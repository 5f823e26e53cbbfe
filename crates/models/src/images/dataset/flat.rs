//! Labels of images in a table: `name,label` in each line.

use super::{DatasetError, Item, Label, Result};
use std::collections::HashMap;
use std::path::Path;

/// Gives each item the label that the table has for its name.
///
/// The separator is a comma, a tab or blanks. A first line whose second field is the name of a column
/// is a header: of `image,label`, or of Kaggle's `ImageId,PredictionString`, whose label is the first
/// word of the text. Images are found by their path, and, where no other image has the same, by their
/// file name or their name without its end.
pub(super) fn label(items: &mut [Item], path: &Path) -> Result<()> {
    let wrong = |problem: String| DatasetError::Labels { path: path.to_path_buf(), problem };
    let text = std::fs::read_to_string(path).map_err(super::io_error(path))?;
    let mut labels: HashMap<&str, (usize, &str)> = HashMap::new();
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let separator = [',', '\t', ' ']
        .into_iter()
        .find(|&separator| text.lines().next().is_some_and(|line| line.trim().contains(separator)));
    let Some(separator) = separator else {
        return Err(wrong(
            "each line must have the name of an image and its label; a list of labels alone may be in \
             another order"
                .into(),
        ));
    };
    let mut first_word = false;
    for (number, line) in lines {
        if line.trim().is_empty() {
            continue;
        }
        let Some((name, label)) = line.trim().split_once(separator) else {
            return Err(wrong(format!("line {}: there is no label in '{line}'", number + 1)));
        };
        let (name, mut label) = (unquoted(name), unquoted(label));
        if number == 0 && HEADERS.iter().any(|header| header.eq_ignore_ascii_case(label)) {
            first_word = label.eq_ignore_ascii_case("PredictionString");
            continue;
        }
        if first_word {
            label = label.split_whitespace().next().unwrap_or_default();
        }
        if name.is_empty() || label.is_empty() {
            return Err(wrong(format!("line {}: the name or the label is empty", number + 1)));
        }
        if label.contains(separator) && separator != ' ' {
            return Err(wrong(format!(
                "line {}: three fields or more, where a name and a label are expected",
                number + 1
            )));
        }
        if let Some((before, other)) = labels.insert(name, (number + 1, label))
            && other != label
        {
            return Err(wrong(format!(
                "lines {before} and {}: {name} has the labels {other} and {label}",
                number + 1
            )));
        }
    }
    let mut missing = Vec::new();
    let mut with_stem: HashMap<String, usize> = HashMap::new();
    for item in &*items {
        *with_stem.entry(file_and_stem(&item.name).1.to_string()).or_default() += 1;
    }
    for item in items.iter_mut() {
        let (file, stem) = file_and_stem(&item.name);
        let names = [item.name.as_str(), file, stem];
        let usable = if with_stem.get(stem) == Some(&1) { &names[..] } else { &names[..1] };
        let found = usable.iter().find_map(|name| labels.get(name));
        match found {
            Some((_, label)) => {
                let number = label.parse().ok();
                let label = number.map_or_else(|| Label::Name((*label).to_string()), Label::Number);
                item.label = Some(label);
            }
            None => missing.push(item.name.clone()),
        }
    }
    if let Some(example) = missing.first() {
        return Err(wrong(format!(
            "{} of {} images have no label, such as {example}",
            missing.len(),
            items.len()
        )));
    }
    Ok(())
}

/// The name of a file without its folders, and without its ending.
fn file_and_stem(path: &str) -> (&str, &str) {
    let file = path.rsplit('/').next().unwrap_or_default();
    (file, file.rsplit_once('.').map_or(file, |(stem, _)| stem))
}

/// The names of a column of labels.
const HEADERS: [&str; 8] =
    ["label", "labels", "class", "target", "y", "category", "wnid", "PredictionString"];

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
