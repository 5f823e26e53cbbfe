//! One label at a time, as streams have them: no other label helps to understand it.

use std::collections::HashMap;

/// Classes by their names.
///
/// Blanks around a name do not count, and of the classes of ImageNet only the identifier does, such as
/// `n01440764`, which lists of them continue with synonyms.
#[derive(Debug, Clone)]
pub struct ClassNames<'a> {
    places: HashMap<&'a str, usize>,
    /// Whether all names are numbers: what is none of them is then not the number of a class.
    are_numbers: bool,
}

impl<'a> ClassNames<'a> {
    /// The names in the order of the classes.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut places = HashMap::new();
        let mut are_numbers = true;
        for (place, name) in names.into_iter().enumerate() {
            places.entry(compared(name)).or_insert(place);
            are_numbers &= is_number(name);
        }
        are_numbers &= !places.is_empty();
        ClassNames { places, are_numbers }
    }

    /// The class of a name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(compared(name)).copied()
    }

    /// Whether all names are numbers.
    pub(super) fn are_numbers(&self) -> bool {
        self.are_numbers
    }
}

/// The class that a text names, or else that whose number it states: `3`, `3.0` and `LABEL_3`.
pub fn class_of(text: &str, names: &[String]) -> Option<u32> {
    let wanted = compared(text);
    if let Some(place) = names.iter().position(|name| compared(name) == wanted) {
        return u32::try_from(place).ok();
    }
    let are_numbers = !names.is_empty() && names.iter().all(|name| is_number(name));
    if are_numbers { None } else { number_of(text).and_then(|number| u32::try_from(number).ok()) }
}

fn is_number(name: &str) -> bool {
    name.trim().parse::<i64>().is_ok()
}

/// The part of a name that is compared.
fn compared(name: &str) -> &str {
    let name = name.trim();
    let first = name.split_whitespace().next().unwrap_or(name);
    let is_synset = first.strip_prefix('n').is_some_and(|digits| {
        digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_synset { first } else { name }
}

/// The number of a class that a text states: `3`, `3.0`, or `LABEL_3`, as transformers call classes that
/// have no names.
pub(super) fn number_of(text: &str) -> Option<i64> {
    let digits = text.trim();
    let digits = digits.strip_prefix("LABEL_").unwrap_or(digits);
    digits.strip_suffix(".0").unwrap_or(digits).parse().ok()
}

/// A truth value as tables hold it.
pub fn truth_of(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "1.0" | "yes" => Some(true),
        "false" | "0" | "0.0" | "no" => Some(false),
        _ => None,
    }
}

/// Whether a prediction is right, as a flag says it.
pub(crate) fn flag_of(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "correct" | "right" | "y" | "t" | "pass" | "passed" => Some(true),
        "incorrect" | "wrong" | "n" | "f" | "fail" | "failed" => Some(false),
        other => truth_of(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_before_a_number() {
        let words = ["cat", "dog", " emu "].map(String::from);
        let found =
            ["dog", " dog", "emu", "1", "1.0", "LABEL_1"].map(|text| class_of(text, &words));
        assert_eq!(found, [Some(1), Some(1), Some(2), Some(1), Some(1), Some(1)]);
        assert_eq!(["Dog", "1.5", "-1", ""].map(|text| class_of(text, &words)), [None; 4]);
        let digits = ["3", "7"].map(String::from);
        assert_eq!(["7", "1"].map(|text| class_of(text, &digits)), [Some(1), None]);
        assert_eq!(class_of("LABEL_10", &[]), Some(10));
    }

    #[test]
    fn classes_of_imagenet_are_known_by_their_identifiers() {
        let names = ClassNames::new(["n01440764 tench, Tinca tinca", "n01443537 goldfish"]);
        assert_eq!(names.place("n01443537"), Some(1));
        assert_eq!(names.place("n01440764 tench"), Some(0));
        assert_eq!(names.place("tench"), None);
    }
}
