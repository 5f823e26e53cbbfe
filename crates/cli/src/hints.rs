//! What may help against the error of a file, with the names of this program's options.

use abstain::Error as ValueError;
use abstain_io::{ErrorKind, ExpectedShape, Format, Quantity, Role};
use std::io;

const NAME_THE_LOGITS: &str = "choose with --logits-name, as in 'logit_*' or 'cat,dog'";
const LABELS_ARE_CLASSES: &str =
    "labels are classes, counted from 0 (--first-label), or names (--class-names)";

/// What may help against an error, if that is known.
pub(crate) fn for_file(kind: &ErrorKind) -> Option<String> {
    let fixed = match kind {
        ErrorKind::InFile { kind, .. } => return for_file(kind),
        ErrorKind::Unsupported { instead, .. } => return Some(instead.clone()),
        ErrorKind::OtherFormat { .. } | ErrorKind::UnknownFormat => {
            return Some(format!("name the format with --format ({})", Format::names()));
        }
        ErrorKind::Ambiguous { what: Quantity::Logits, .. } => NAME_THE_LOGITS,
        ErrorKind::Unconfirmed { names, seen }
            if *seen > 1 && names.iter().all(|name| name.parse::<usize>().is_ok()) =>
        {
            return Some(format!(
                "if the last is no class, give --logits-name {}; if all are classes, name them with \
                 --class-names",
                names[..*seen].join(",")
            ));
        }
        ErrorKind::Ambiguous { what, .. } => match what {
            Quantity::Losses | Quantity::Extra | Quantity::Column => {
                return Some(format!("write the {what} to a separate file, or under a usual name"));
            }
            what => return Some(format!("choose with {}", option_of(*what))),
        },
        ErrorKind::LongTable { row, class, number } => {
            return Some(format!(
                "bring the classes of a row into one line, as with pandas: df.pivot(index='{row}', \
                 columns='{class}', values='{number}').add_prefix('{number}_').reset_index(); if each line \
                 is a row of a binary classifier, add --binary probability or --binary logit"
            ));
        }
        ErrorKind::SeveralColumns { role, .. } => {
            return Some(format!("choose with {}", option_of_role(*role)));
        }
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::StorageFull => {
            "an earlier file of that name is unchanged"
        }
        ErrorKind::Truncated { .. } => "copy it again, or write it again",
        ErrorKind::ShortenedList { .. } => {
            "write the numbers with numpy.save, to_parquet or to_json, which keep all of them"
        }
        ErrorKind::StandardInputTwice => "give one of them as a file",
        ErrorKind::Values(error) => for_values(error)?,
        kind => for_columns(kind).or_else(|| for_labels(kind)).or_else(|| for_rows(kind))?,
    };
    Some(fixed.into())
}

/// What may help where it is uncertain which columns are meant.
fn for_columns(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Shape { expected: ExpectedShape::RowsByClasses, found, .. }
            if found.len() == 1 =>
        {
            "is this the file of the labels? The logits come first"
        }
        ErrorKind::NoSuchName { what: Quantity::Labels, .. } => "choose with --labels-name",
        ErrorKind::NoSuchName { what: Quantity::Logits, .. }
        | ErrorKind::SameName { .. }
        | ErrorKind::SameNumber { .. }
        | ErrorKind::MissingNumber { .. }
        | ErrorKind::CountsRows { .. }
        | ErrorKind::WholeAmongFractions { .. } => NAME_THE_LOGITS,
        ErrorKind::NoClasses { .. } => {
            "name the columns of the classes with --logits-name, as in 'logit_*' or 'cat,dog'; one number of a \
             binary classifier is read with --binary probability or --binary logit"
        }
        ErrorKind::NamedProbabilities { .. } => {
            "add --probs to read them as such, or name the logits with --logits-name"
        }
        ErrorKind::OneColumn { .. } => {
            "--binary probability or --binary logit reads the only number of a binary classifier; \
             a confidence is read by `abstain certify Confidence FILE` and the like"
        }
        ErrorKind::NotANumber { what: Quantity::Logits, .. } => {
            "choose the columns of the logits with --logits-name, as in 'logit_*'"
        }
        ErrorKind::TwoRoles { .. } => {
            "name a different column for each, as with --confidence-name and --labels-name"
        }
        _ => return None,
    })
}

/// What may help where labels and classes do not fit together.
fn for_labels(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NeverALabel { .. }
        | ErrorKind::Unconfirmed { .. }
        | ErrorKind::BoolLabels { .. }
        | ErrorKind::OneHotWidth { .. }
        | ErrorKind::NoColumnOfLabel { .. } => {
            "name the columns of the classes with --logits-name 'cat,dog', or all classes with \
             --class-names"
        }
        ErrorKind::UnknownLabel { .. }
        | ErrorKind::LabelCount { .. }
        | ErrorKind::ClassNameCount { .. } => {
            "give --class-names: a file with one name per line, or 'cat,dog'"
        }
        ErrorKind::PositiveOfMany { .. } => {
            "leave out --positive, and name the classes in their order with --class-names"
        }
        ErrorKind::NoSuchPositive { .. } => "give --positive a name as the labels write it",
        ErrorKind::OtherPositive { .. } => {
            "leave out --positive; if the number is that of the first class, give the other one \
             (1 − p, or −z)"
        }
        ErrorKind::FirstLabel | ErrorKind::NumberOrName { .. } => {
            "give --first-label 0 or --first-label 1"
        }
        ErrorKind::NotOneHot { .. } => {
            "labels are one number or name in each row, or one-hot; is this another file?"
        }
        ErrorKind::NotANumber { what: Quantity::Labels, .. } | ErrorKind::NotWhole { .. } => {
            LABELS_ARE_CLASSES
        }
        ErrorKind::TwoSpellings { .. } => {
            "write each class in one way, in the predictions and in the labels"
        }
        ErrorKind::NoLabels => {
            "give the file of the labels after that of the logits, or their --labels-name"
        }
        _ => return None,
    })
}

/// What may help where rows lack something, or two files do not have the same rows.
fn for_rows(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::CorrectForLosses { .. } => {
            "give it as --correct-name, or a column that is 1 where the prediction is wrong"
        }
        ErrorKind::NoOutcome { .. } => {
            "give --correct-name, --losses-name, or labels and --predictions-name"
        }
        ErrorKind::OtherRow { .. } => {
            "give the labels of these rows, or remove the column if it means something else"
        }
        ErrorKind::RepeatedId { .. } => {
            "keep one label of each row, or remove the column if it means something else"
        }
        ErrorKind::Null { column, .. } if column == "of the labels" => {
            "leave out --missing refuse: rows without a label are then left out, and counted"
        }
        ErrorKind::SecondTable { .. } => {
            "quote a pattern of several files, as in 'part-*.parquet', so that the shell leaves it"
        }
        ErrorKind::RowCount { what: "losses", .. } => {
            "give one loss per row, or a square matrix of classes × classes"
        }
        ErrorKind::RowCount { what: "labels", found, expected, .. }
            if expected.checked_add(1) == Some(*found) =>
        {
            "was a line of names read as a label, or a row as names?"
        }
        ErrorKind::RowCount { .. } => "both files must come from the same run, row for row",
        _ => return None,
    })
}

/// What may help against a value.
fn for_values(error: &ValueError) -> Option<&'static str> {
    Some(match error {
        ValueError::NotFinite { value, .. } if *value == f64::NEG_INFINITY => {
            "if -inf marks classes that were ruled out, add --masked"
        }
        ValueError::NotFinite { .. } => "the classifier's output is broken there; drop the row",
        ValueError::NotAProbability { .. } | ValueError::ProbabilitySum { .. } => {
            "if these are logits, leave out --probs; if they are rounded, raise --tolerance"
        }
        ValueError::NotOneNumber { .. } => {
            "leave out --binary: the rows have one number for each class"
        }
        ValueError::LabelOutOfRange { label, classes, .. } if *label == *classes as i128 => {
            "if the labels are counted from 1, give --first-label 1"
        }
        ValueError::LabelOutOfRange { .. } => LABELS_ARE_CLASSES,
        ValueError::Parameter { name: "floor", value, .. } if *value > 0.0 && *value < 1.0 => {
            "choose a lower --floor"
        }
        _ => return None,
    })
}

/// What states the order of classes, where the sorted order of their names does not fit.
pub(crate) fn for_order(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let plain = |name: &String| !name.is_empty() && !name.contains([',', '\'']);
    if names.len() > SHOWN || !names.iter().all(plain) {
        return "write the names in the order of the columns to a file, one per line, and give it as \
                --class-names FILE"
            .into();
    }
    let list = |names: &mut dyn Iterator<Item = &String>| {
        let joined = names.map(String::as_str).collect::<Vec<_>>().join(",");
        quoted(&joined)
    };
    let (fits, mut sorted) = (list(&mut names.iter()), names.to_vec());
    sorted.sort();
    let sorted = list(&mut sorted.iter());
    let positive = match names {
        [_, positive] => format!(" (or --positive {})", quoted(positive)),
        _ => String::new(),
    };
    format!(
        "--class-names {fits}{positive} is the order that fits; --class-names {sorted} states the sorted one"
    )
}

/// A word of a command, in quotes where a shell needs them.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,/:+=@%".contains(c);
    if word.chars().all(plain) { word.into() } else { format!("'{word}'") }
}

/// The option that names the column of a quantity.
fn option_of(what: Quantity) -> &'static str {
    match what {
        Quantity::Labels => "--labels-name",
        Quantity::Predictions => "--predictions-name",
        Quantity::Confidences => "--confidence-name",
        Quantity::Correct => "--correct-name",
        Quantity::Losses => "--losses-name",
        Quantity::Extra => "--extra-name",
        Quantity::Weights => "--weight-name",
        _ => "--logits-name",
    }
}

/// The option that names a column of records.
fn option_of_role(role: Role) -> &'static str {
    match role {
        Role::Id => "--id-name",
        Role::Time => "--time-name",
        Role::Group => "--group",
        Role::Prediction => "--predictions-name",
        Role::Label => "--labels-name",
        Role::Correct => "--correct-name",
        Role::Loss => "--losses-name",
        // They have one usual name each.
        Role::Accept | Role::Propensity | Role::MinPropensity => "other names of the columns",
    }
}
