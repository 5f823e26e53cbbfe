//! How the program ends after an error or a refusal.

use crate::{export, hints};
use abstain_lab::{ErrorClass, LabError, Refusal, SettingDiffers};
use abstain_models::onnx::OnnxError;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// A valid request without a solution; the program exits with 1.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// Alarms of a monitor that stand; the program exits with 1, after the report.
#[derive(Debug)]
pub(crate) struct Alarmed(pub(crate) usize);

impl fmt::Display for Alarmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 alarm stands"),
            alarms => write!(f, "{alarms} alarms stand"),
        }
    }
}

impl std::error::Error for Alarmed {}

/// An error and what may help against it.
#[derive(Debug)]
pub(crate) struct Hinted {
    pub(crate) problem: String,
    pub(crate) hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Hinted {}

/// An error and what may help against it.
pub(crate) fn hinted(problem: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Hinted { problem: problem.into(), hint: hint.into() }.into()
}

/// How the program ends after an error.
#[derive(Serialize)]
struct Ending {
    /// `error`, `refused` or `alarm`.
    kind: &'static str,
    message: String,
    /// What may help.
    hint: Option<String>,
    #[serde(skip)]
    code: u8,
}

impl Ending {
    /// The words of an error; none where the reader of a pipe has closed it, as `| head` does.
    fn of(error: &anyhow::Error) -> Option<Self> {
        if is_broken_pipe(error) {
            return None;
        }
        if let Some(alarmed) = error.downcast_ref::<Alarmed>() {
            let message = alarmed.to_string();
            return Some(Ending { kind: "alarm", message, hint: None, code: 1 });
        }
        if let Some(message) = refusal(error) {
            let hint = error.downcast_ref::<LabError>().and_then(hint_for);
            return Some(Ending { kind: "refused", message, hint, code: 1 });
        }
        // The sources of a file's error say nothing more than it does.
        let mut message = error.to_string();
        let contexts = error.chain().skip(1).take_while(|cause| !cause.is::<io::Error>());
        for cause in contexts {
            message = format!("{message}: {cause}");
        }
        let hint = error
            .chain()
            .find_map(|cause| cause.downcast_ref::<abstain_io::Error>())
            .and_then(|error| hints::for_file(&error.kind))
            .or_else(|| hint_for(error.downcast_ref::<LabError>()?))
            .or_else(|| export::hint_for(error.downcast_ref::<OnnxError>()?))
            .or_else(|| error.downcast_ref::<Hinted>().map(|hinted| hinted.hint.clone()));
        Some(Ending { kind: "error", message, hint, code: 2 })
    }
}

/// Prints an error and returns the code to exit with. Where JSON is wanted and none was printed, the error is
/// printed as such to standard output, too.
pub(crate) fn report(error: &anyhow::Error, json: Option<&mut dyn io::Write>) -> ExitCode {
    let Some(ending) = Ending::of(error) else { return ExitCode::SUCCESS };
    if let Some(out) = json {
        // The exit code says the rest where standard output is closed.
        let _ = writeln!(out, "{:#}", serde_json::json!({ "error": ending }));
        let _ = out.flush();
    }
    anstream::eprintln!("{RED}{}{RED:#}: {}", ending.kind, ending.message);
    if let Some(hint) = &ending.hint {
        anstream::eprintln!("{CYAN}hint{CYAN:#}: {hint}");
    }
    ExitCode::from(ending.code)
}

/// Names the file that an error is about, unless it does so itself.
pub(crate) fn in_file(path: &Path) -> impl FnOnce(LabError) -> anyhow::Error + '_ {
    move |error| match error {
        LabError::File(_) | LabError::Refused(_) => error.into(),
        other => anyhow::Error::from(other).context(path.display().to_string()),
    }
}

/// The text of a refusal.
fn refusal(error: &anyhow::Error) -> Option<String> {
    if let Some(error) = error.downcast_ref::<LabError>()
        && error.class() == ErrorClass::Refused
    {
        return Some(error.to_string());
    }
    error.downcast_ref::<Refused>().map(ToString::to_string)
}

/// What to do about a request that was refused, in terms of the program's options.
fn hint_for(error: &LabError) -> Option<String> {
    Some(match error {
        LabError::File(error) => return hints::for_file(&error.kind),
        LabError::CannotSplit { .. } => {
            "at least one row must tune, and at least one must be left to measure on".into()
        }
        LabError::NoCertifyingRows => {
            "certify on other rows, or request the certificate when tuning".into()
        }
        LabError::TooFewToCrossFit { .. } => {
            "label four rows at least, or use --no-labels with the logits alone".into()
        }
        LabError::CertifyingRowsScaled => {
            "give --unlabelled other rows than those that certify, or leave out --delta".into()
        }
        LabError::ExtraNotUsed => "leave out --extra, or tune with it".into(),
        LabError::Rows(abstain::Error::ExtraMissing) => {
            "give the column that it was tuned with: --extra FILE".into()
        }
        LabError::ConstantObjective => {
            "SAC@0.95, for example, is the coverage at an accuracy of 0.95".into()
        }
        LabError::LossOfOneSet => {
            "leave out the other rows, or use zero-one or top-5 losses or a matrix of costs".into()
        }
        LabError::TestRowsTuned => "leave out --test: the rows are then measured in folds".into(),
        LabError::OtherModel { .. } => {
            "use the estimator of this model, or correct --model-id".into()
        }
        LabError::NothingToTune => {
            "find a threshold: `abstain certify Confidence FILE --target-accuracy 0.95`".into()
        }
        LabError::NoLogits => "give a table of confidences".into(),
        LabError::NoOtherValue => "leave out --values".into(),
        LabError::CertifyingRowsTuned | LabError::CertifyingRowsShared => {
            "certify on other rows, or let `abstain tune --delta` keep some of them for it".into()
        }
        LabError::OtherEncoding { .. } => {
            "give rows in the encoding that the estimator was tuned on, or tune on these".into()
        }
        LabError::OtherFloor { .. } => "leave out --floor, or tune again".into(),
        LabError::LossNeeded { .. } => {
            "give --loss with the costs of these rows, or --loss zero-one".into()
        }
        LabError::OtherOrder { names, .. } => return Some(hints::for_order(names)),
        LabError::OtherPredictions { .. } => {
            "measure them by their predictions: `abstain eval --confidence FILE --labels LABELS`".into()
        }
        LabError::NameTaken { .. } => "rename the file of the confidences".into(),
        LabError::GradedLoss => "use zero-one or top-5 losses, or leave out --delta".into(),
        LabError::GateWithoutThreshold => {
            "set one with `abstain certify` or `abstain threshold`, or leave out the requirement"
                .into()
        }
        LabError::GateWithoutTarget => {
            "give --target-accuracy or --target-risk, or certify a target with `abstain certify`"
                .into()
        }
        LabError::GateWithWeights => {
            "leave out --fail-if-violated or --weight-name; --min-accuracy compares the value"
                .into()
        }
        LabError::MaxWeightNeeded { .. } => {
            "give --max-weight: a bound that is known without looking at these rows".into()
        }
        LabError::GroupsWithWeights => "leave out --weight-name or --group-folds".into(),
        LabError::MaxWeightNotUsed => "leave out --max-weight, or give --weight-name".into(),
        LabError::Rows(abstain::Error::WeightAbove { .. }) => {
            "--max-weight must bound the weights of all rows of the population".into()
        }
        LabError::NoIds { .. } => "give every row an id, or name its column with --id-name".into(),
        LabError::NoOutcomes { .. } => {
            "name the column with --labels-name, --correct-name or --losses-name".into()
        }
        LabError::RecordsReplaced { .. } => {
            "if it is the next file of the same stream, give --next; if it is another stream, another --state"
                .into()
        }
        LabError::StateVersion { .. } => {
            "use the version of the program that wrote it, or another --state".into()
        }
        LabError::OtherArtifactWatched => {
            "use the estimator that the state was made with, or another --state for this one".into()
        }
        LabError::OtherSettingsWatched(settings) => {
            let each = settings.iter().map(as_before).collect::<Vec<_>>();
            format!("{}, or another --state", each.join(", "))
        }
        LabError::NoAbstainedLabels { .. } => {
            "have some of these labelled, too (`abstain audit` chooses rows), or leave out --abstained-labelled"
                .into()
        }
        LabError::Refused(refusal) => return hint_for_refusal(refusal),
        LabError::Rows(abstain::Error::NoThreshold) => {
            "set one with `abstain certify` or `abstain threshold`".into()
        }
        LabError::ClassesUnknown => "use an estimator of `abstain tune`, or --at".into(),
        LabError::OtherClasses { .. } => "tune an estimator on rows of this classifier".into(),
        LabError::OtherRowClasses { .. } => "both must come from the same classifier".into(),
        _ => return None,
    })
}

fn hint_for_refusal(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::LabelsBeforeShift { since, .. } => format!(
            "have rows since then labelled (`abstain audit --from-row {since}`); with --restart-certification \
             only rows from now on count"
        ),
        Refusal::LabelsMissing { .. } => {
            "have the other rows of the list labelled, too: those that were labelled first may be the easy ones"
                .into()
        }
        Refusal::LabelsNotRandom { .. } => {
            "have a random part of the rows labelled, or give the propensities of the labels (`abstain audit` \
             does both), and give --restart-certification, so that only rows from now on count"
                .into()
        }
        _ => return None,
    })
}

/// How a setting is made that of a state.
fn as_before(setting: &SettingDiffers) -> String {
    let flag = match setting.name {
        "target_risk" => "--target-risk",
        "alpha" => "--alpha",
        "delta" => "--delta",
        "max_loss" => "--max-loss",
        "group" => "--group",
        "abstained_labelled" => {
            let given = setting.stored.as_deref() == Some("true");
            return if given { "give" } else { "leave out" }.to_string() + " --abstained-labelled";
        }
        name => return format!("give the same {name} as before"),
    };
    match &setting.stored {
        Some(value) => format!("give {flag} {value}"),
        None => format!("leave out {flag}"),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}
