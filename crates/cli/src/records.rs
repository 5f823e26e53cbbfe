//! The arguments that describe records of a deployment and labels that come later.

use abstain_io::{Format, RecordFile, RecordNames, Role, Source};
use std::path::Path;

#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct RecordArguments {
    #[arg(long, value_name = "FORMAT", help = format!("Format of the records, if the file name does not determine it: {}", Format::names()))]
    format: Option<Format>,
    /// Name of the column of the confidences
    #[arg(long, value_name = "NAME")]
    confidence_name: Option<String>,
    /// Name of the column of the ids
    #[arg(long, value_name = "NAME")]
    id_name: Option<String>,
    /// Name of the column of the predictions
    #[arg(long, value_name = "NAME")]
    predictions_name: Option<String>,
}

/// The names of columns that only a monitor reads.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Input")]
#[expect(clippy::struct_field_names, reason = "the names of the options")]
pub(crate) struct LabelArguments {
    /// Name of the column of the times
    #[arg(long, value_name = "NAME")]
    time_name: Option<String>,
    /// Name of the column of the labels, in the labels if there is a file of them
    #[arg(long, value_name = "NAME")]
    labels_name: Option<String>,
    /// Name of the column that is 1 or true where the prediction is right
    #[arg(long, value_name = "NAME")]
    correct_name: Option<String>,
    /// Name of the column of the losses: 1 where the prediction is wrong
    #[arg(long, value_name = "NAME")]
    losses_name: Option<String>,
}

impl RecordArguments {
    /// A file of records; `row_by_row` where it is followed while it grows.
    pub(crate) fn records(&self, source: Source, others: Vec<(Role, String)>) -> RecordFile {
        let mut names = vec![(Role::Prediction, &self.predictions_name), (Role::Id, &self.id_name)];
        names.retain(|(_, name)| name.is_some());
        let named = names.into_iter().filter_map(|(role, name)| Some((role, name.clone()?)));
        let row_by_row = source.path() == Path::new("-");
        RecordFile {
            source,
            format: self.format,
            names: RecordNames {
                confidence: self.confidence_name.clone(),
                others: named.chain(others).collect(),
            },
            confidences: true,
            row_by_row,
        }
    }

    /// A file of labels.
    pub(crate) fn labels(&self, source: Source, labels: &LabelArguments) -> RecordFile {
        let id = self.id_name.clone().map(|name| (Role::Id, name));
        RecordFile {
            source,
            format: None,
            names: RecordNames {
                confidence: None,
                others: id.into_iter().chain(labels.outcomes()).collect(),
            },
            confidences: false,
            row_by_row: false,
        }
    }
}

impl LabelArguments {
    /// The column of the times, if it is named.
    pub(crate) fn time(&self) -> Option<(Role, String)> {
        self.time_name.clone().map(|name| (Role::Time, name))
    }

    /// The columns of labels, flags and losses that are named.
    pub(crate) fn outcomes(&self) -> Vec<(Role, String)> {
        let named = [
            (Role::Label, &self.labels_name),
            (Role::Correct, &self.correct_name),
            (Role::Loss, &self.losses_name),
        ];
        named.into_iter().filter_map(|(role, name)| Some((role, name.clone()?))).collect()
    }
}
