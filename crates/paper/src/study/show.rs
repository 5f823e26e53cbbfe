//! What the words, tables and figures of studies have in common.

use super::Context;
use super::methods::PStar;
use abstain::{Fallback, Method};
use abstain_lab::Spread;
use abstain_report::figure::{Layer, Style};
use abstain_report::sheet::{Cell, Heading, Value};
use abstain_report::words;

/// What all captions state.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The title of the zoo.
    pub zoo: String,
    /// The number of models.
    pub models: usize,
    /// The number of random splits.
    pub splits: usize,
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// The number of test rows.
    pub test_rows: usize,
    /// Gains up to this count as none.
    pub epsilon: f64,
    /// Whether tuned methods may fall back to MSP.
    pub falls_back: bool,
    /// The models that are shown individually.
    pub chosen: Vec<String>,
    /// Whether they were requested, and not chosen by their gains.
    pub requested: bool,
    /// The settings of the tuner, in words.
    pub settings: String,
}

impl About {
    /// Of what was measured. `requested` is whether the models to show were requested.
    pub fn new(context: &Context<'_>, requested: bool) -> Self {
        let Context { zoo, protocol, results, .. } = *context;
        let tuner = &protocol.tuner;
        let tuning_rows = protocol.sizes(zoo.rows())[0];
        About {
            epsilon: context.epsilon,
            falls_back: tuner.fallback != Fallback::None,
            chosen: results.chosen.clone(),
            requested,
            settings: format!(
                "Search space: {} (γ in steps of ½); fallback: {}; seed: {}",
                protocol.space_name(),
                tuner.fallback,
                tuner.seed
            ),
            zoo: zoo.title.clone(),
            models: zoo.models.len(),
            splits: protocol.splits,
            tuning_rows,
            test_rows: zoo.rows() - tuning_rows,
        }
    }

    /// "mean ± std over 10 random splits; 5,000 tuning rows, 5,000 test rows".
    pub(crate) fn protocol(&self) -> String {
        let (tuning, test) = (words::count(self.tuning_rows), words::count(self.test_rows));
        format!("{}; {tuning} tuning rows, {test} test rows", self.spread())
    }

    pub(super) fn spread(&self) -> String {
        match self.splits {
            1 => "one random split".into(),
            many => format!("mean ± std over {many} random splits"),
        }
    }

    /// What is used where MSP beats a method on the hold-out.
    pub(super) fn used(&self) -> &'static str {
        if self.falls_back {
            "MSP on splits where a method fell back"
        } else {
            "without a fallback to MSP"
        }
    }

    /// How an average positive gain is computed.
    pub(super) fn gains(&self) -> String {
        format!(
            "{}; gains up to ε = {} count as none; {}",
            self.spread(),
            words::short(self.epsilon, 4),
            self.used()
        )
    }

    /// "14 models of Fashion-MNIST".
    pub(super) fn models(&self) -> String {
        let plural = if self.models == 1 { "" } else { "s" };
        format!("{} model{plural} of {}", self.models, self.zoo)
    }

    /// Which models are shown individually, and why.
    pub(super) fn shown(&self) -> String {
        if self.chosen.is_empty() {
            return "No model is shown individually".into();
        }
        let why = if self.requested {
            "as requested"
        } else {
            "the largest, the median and the smallest gain"
        };
        format!("Shown individually: {} ({why})", self.chosen.join(", "))
    }
}

/// The methods in the order of their styles, so that each looks the same in all figures.
const LOOKS: [&str; 15] = [
    "MSP",
    "MaxLogit-pNorm",
    "MSP-TS-AURC",
    "MSP-pNorm",
    "LogitsMargin",
    "MSP-TS-NLL",
    "Stack",
    "NegativeEntropy-pNorm",
    "NegativeGini-pNorm",
    "SoftmaxMargin-pNorm",
    "LogitsMargin-pNorm",
    "HTS",
    "ETS",
    "BK",
    "MaxLogit",
];

/// The style of a method in all figures.
pub(super) fn look(method: Method) -> Style {
    let name = method.to_string();
    Style::series(LOOKS.iter().position(|other| **other == name).unwrap_or(LOOKS.len()))
}

/// A mean with its standard deviation, or a dash.
pub(super) fn spread(value: Option<Spread>, digits: usize) -> Cell {
    value.map_or(Value::Missing.into(), |spread| Cell::spread(spread.mean, spread.std, digits))
}

/// The same in per cent.
pub(super) fn percent(value: Option<Spread>, digits: usize) -> Cell {
    spread(value.map(|value| scaled(value, 100.0)), digits)
}

/// A mean with its standard deviation in another unit.
pub(super) fn scaled(value: Spread, factor: f64) -> Spread {
    Spread { mean: factor * value.mean, std: factor * value.std }
}

/// A number, or a dash.
pub(super) fn number(value: Option<f64>, digits: usize) -> Cell {
    value.map_or(Value::Missing.into(), |value| Cell::number(value, digits))
}

/// A p-value; small ones as "< 0.001".
pub(super) fn p_value(p: f64) -> Cell {
    if p < 0.001 { Cell::text("< 0.001") } else { Cell::number(p, 3) }
}

pub(super) fn headings<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Heading> {
    texts.into_iter().map(Heading::new).collect()
}

/// A line with a band of one standard deviation; points without a value interrupt it.
pub(super) fn band(label: String, points: &[(f64, Option<Spread>)], style: Style) -> Layer {
    let mean =
        |(x, value): &(f64, Option<Spread>)| (*x, value.map_or(f64::NAN, |spread| spread.mean));
    let ends = |(_, value): &(f64, Option<Spread>)| {
        value.map_or((f64::NAN, f64::NAN), |spread| {
            (spread.mean - spread.std, spread.mean + spread.std)
        })
    };
    Layer::Line {
        label: Some(label),
        points: points.iter().map(mean).collect(),
        band: Some(points.iter().map(ends).collect()),
        style,
    }
}

/// The number of panels side by side: no row should be nearly empty.
pub(super) fn columns(panels: usize) -> usize {
    if panels == 3 { 3 } else { panels.min(2) }
}

/// "F" for the fallback, "p* = 2" for an exponent.
pub(super) fn p_star_note(p: PStar) -> String {
    match p {
        PStar::At(_) => format!("p* = {}", p_star(p)),
        other => p_star(other),
    }
}

/// "F" for the fallback, else the number.
pub(super) fn p_star(p: PStar) -> String {
    match p {
        PStar::Fallback => "F".into(),
        PStar::Tuned => "tuned".into(),
        PStar::At(p) => words::short(p, 2),
    }
}

/// "ρ = 0.98", or "ρ undefined".
pub(super) fn correlation(letter: &str, value: Option<f64>) -> String {
    value.map_or_else(
        || format!("{letter} undefined"),
        |value| format!("{letter} = {value:.3}").replace('-', "−"),
    )
}
