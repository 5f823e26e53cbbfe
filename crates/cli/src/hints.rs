//! The hints of file errors in words, with the names of this program's options.

use abstain_io::{Format, Hint};

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
        Hint::NameTheLogits => "choose with --logits-name, as in 'logit_*' or 'cat,dog'",
        Hint::NameTheLabels => "choose with --labels-name",
        Hint::ChooseLogitColumns => {
            "choose the columns of the logits with --logits-name, as in 'logit_*'"
        }
        Hint::LabelsForLogits => "is this the file of the labels? The logits come first",
        Hint::OneHotLabels => "take the argmax of one-hot labels",
        Hint::LabelsCountFromZero => "labels are classes, counted from 0",
        Hint::LabelsCountFromOne => "labels count from 0; are these counted from 1?",
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
