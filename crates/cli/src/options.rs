//! Options that several commands share: targets, δ, procedures.

use abstain::certify::Procedure;
use abstain::monitor::MonitorSettings;
use abstain_lab::{Repeats, Target};
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// What the accepted rows must meet.
#[derive(clap::Args, Debug, Clone, Copy)]
#[group(id = "target", multiple = false)]
pub(crate) struct TargetArguments {
    /// Accuracy required of the accepted rows
    #[arg(long, alias = "accuracy", value_name = "A", value_parser = share)]
    target_accuracy: Option<f64>,
    /// Selective risk allowed among the accepted rows
    #[arg(long, alias = "risk", value_name = "R", value_parser = risk)]
    target_risk: Option<f64>,
}

impl TargetArguments {
    pub(crate) fn target(self) -> Option<Target> {
        Target::of(self.target_accuracy, self.target_risk)
    }
}

/// Rows that belong together.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct TogetherArguments {
    /// What rows count as that are equal in more digits than chance repeats: 'once', as copies, or
    /// 'keep', each of them
    #[arg(long, value_name = "HOW", value_parser = repeats(), hide_possible_values = true, default_value = "once", help_heading = "Input")]
    pub(crate) repeats: Repeats,
    /// Column that near-copies share, such as the video of a frame or the id of an augmented image:
    /// their rows stay on one side of every split and fold, and count as one row of a certificate,
    /// drawn at random
    #[arg(long, value_name = "COLUMN", help_heading = "Input")]
    pub(crate) group_folds: Option<String>,
}

fn repeats() -> impl TypedValueParser<Value = Repeats> {
    PossibleValuesParser::new(Repeats::NAMES).try_map(|name| name.parse::<Repeats>())
}

/// How often a monitor may be wrong.
#[derive(clap::Args, Debug, Clone, Copy)]
pub(crate) struct LevelArguments {
    /// Largest probability of a false alarm of the risk, and of the tests without labels together
    #[arg(long, value_name = "A", value_parser = share, default_value_t = MonitorSettings::default().alpha)]
    pub(crate) alpha: f64,
    /// Probability with which thresholds that are certified anew may fail
    #[arg(long, value_name = "D", value_parser = share, default_value_t = MonitorSettings::default().delta)]
    pub(crate) delta: f64,
}

/// A number between 0 and 1, both excluded.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("a number between 0 and 1, both excluded".into()),
    }
}

/// A mean loss, which may be above 1 where losses can be.
fn risk(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a number above 0".into()),
    }
}

/// A coverage: above 0, at most 1.
pub(crate) fn coverage(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("a number above 0 and at most 1".into()),
    }
}

/// The procedures by name, so that shells can complete them.
pub(crate) fn procedure() -> impl TypedValueParser<Value = Procedure> {
    PossibleValuesParser::new(Procedure::NAMES).try_map(|name| name.parse::<Procedure>())
}
