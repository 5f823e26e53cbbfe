//! The hints of file errors in words, with the names of this program's options.

use abstain_io::{Format, Hint, Quantity, Role};

/// A hint as a sentence.
pub(crate) fn words(hint: &Hint) -> String {
    let fixed = match hint {
        Hint::WriteInstead(how) => return how.clone(),
        Hint::NameTheFormat => {
            return format!("name the format with --format ({})", Format::names());
        }
        Hint::WriteAlone(what) => {
            return format!("write the {what} to a separate file, or under a usual name");
        }
        Hint::EarlierFileUnchanged => "an earlier file of that name is unchanged",
        Hint::CopyAgain => "copy it again, or write it again",
        Hint::NameTheColumn(what) => {
            return format!("choose with {}", option_of(*what));
        }
        Hint::NameTheRole(role) => {
            return format!("choose with {}", option_of_role(*role));
        }
        Hint::StateProbabilities => {
            "add --probs to read them as such, or name the logits with --logits-name"
        }
        Hint::StateOneNumber => {
            "--binary probability or --binary logit reads the only number of a binary classifier; \
             a confidence is read by `abstain certify Confidence FILE` and the like"
        }
        Hint::NameTheClasses => {
            "name the columns of the classes with --logits-name 'cat,dog', or all classes with \
             --class-names"
        }
        Hint::GiveClassNames => "give --class-names: a file with one name per line, or 'cat,dog'",
        Hint::LabelsAreOneNumber => {
            "labels are one number or name in each row, or one-hot; is this another file?"
        }
        Hint::GiveFirstLabel => "give --first-label 0 or --first-label 1",
        Hint::GiveAsCorrect => {
            "give it as --correct-name, or a column that is 1 where the prediction is wrong"
        }
        Hint::GiveTheOutcome => {
            "give --correct-name, --losses-name, or labels and --predictions-name"
        }
        Hint::NameEachColumn => {
            "name a different column for each, as with --confidence-name and --labels-name"
        }
        Hint::SpellAlike => "write each class in one way, in the predictions and in the labels",
        Hint::SortAlike => {
            "bring the rows of both files into the same order, or remove the column if it means \
             something else"
        }
        Hint::QuoteThePattern => {
            "quote a pattern of several files, as in 'part-*.parquet', so that the shell leaves it"
        }
        Hint::WriteListsWhole => {
            "write the numbers with numpy.save, to_parquet or to_json, which keep all of them"
        }
        Hint::NotOneNumber => "leave out --binary: the rows have one number for each class",
        Hint::NameTheLogits => "choose with --logits-name, as in 'logit_*' or 'cat,dog'",
        Hint::NameTheLabels => "choose with --labels-name",
        Hint::ChooseLogitColumns => {
            "choose the columns of the logits with --logits-name, as in 'logit_*'"
        }
        Hint::LabelsForLogits => "is this the file of the labels? The logits come first",
        Hint::LabelsCountFromZero => {
            "labels are classes, counted from 0 (--first-label), or names (--class-names)"
        }
        Hint::LabelsCountFromOne => "if the labels are counted from 1, give --first-label 1",
        Hint::ReadAsMasked => "if -inf marks classes that were ruled out, add --masked",
        Hint::DropTheRow => "the classifier's output is broken there; drop the row",
        Hint::NotProbabilities => {
            "if these are logits, leave out --probs; if they are rounded, raise --tolerance"
        }
        Hint::LowerTheFloor => "choose a lower --floor",
        Hint::LossPerRow => "give one loss per row, or a square matrix of classes × classes",
        Hint::NamesForLabels => "was a line of names read as a label, or a row as names?",
        Hint::SameRun => "both files must come from the same run, row for row",
        Hint::GiveTheLabels => {
            "give the file of the labels after that of the logits, or their --labels-name"
        }
        Hint::GiveOneAsFile => "give one of them as a file",
    };
    fixed.into()
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
