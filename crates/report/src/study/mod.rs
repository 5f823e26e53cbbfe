//! The paper's studies as tables and figures. One file a study.

mod calibration;
mod centring;
mod curves;
mod efficiency;
mod epsilon;
mod exponent;
mod index;
mod influence;
mod methods;
mod others;
mod scatter;
mod shift;
mod significance;
mod summary;

pub use calibration::calibration;
pub use centring::centring;
pub use curves::curves;
pub use efficiency::efficiency;
pub use epsilon::epsilon;
pub use exponent::exponent;
pub use index::index;
pub use influence::influence;
pub use methods::methods;
pub use others::others;
pub use scatter::scatter;
pub use shift::shift;
pub use significance::significance;
pub use summary::summary;

use crate::figure::{Figure, Layer, Style};
use crate::sheet::{Cell, Heading, Sheet, Value};
use crate::words;
use abstain::Method;
use abstain_lab::Spread;
use abstain_lab::study::PStar;

/// What a study shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Its name.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What to take from it, in sentences made of its numbers.
    pub remarks: Vec<String>,
    /// Its tables.
    pub sheets: Vec<Sheet>,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// What all captions say.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The zoo.
    pub zoo: String,
    /// Its models.
    pub models: usize,
    /// Random splits.
    pub splits: usize,
    /// The rows that tune.
    pub tuning_rows: usize,
    /// The rows that measure.
    pub test_rows: usize,
    /// Smaller gains do not count.
    pub epsilon: f64,
    /// Whether tuned methods are ever given up for MSP.
    pub gives_up: bool,
    /// The models that are shown on their own, and why these.
    pub shown: String,
    /// How they were tuned, in words.
    pub settings: String,
}

impl About {
    /// "mean ± std over 10 random splits; 5,000 rows tune and 5,000 measure".
    pub(crate) fn protocol(&self) -> String {
        let (tune, measure) = (words::count(self.tuning_rows), words::count(self.test_rows));
        format!("{}; {tune} rows tune and {measure} measure", self.spread())
    }

    fn spread(&self) -> String {
        match self.splits {
            1 => "one random split".into(),
            many => format!("mean ± std over {many} random splits"),
        }
    }

    /// What becomes of methods that MSP beats on the hold-out.
    fn used(&self) -> &'static str {
        if self.gives_up {
            "MSP on splits whose hold-out favours it"
        } else {
            "none given up for MSP"
        }
    }

    /// What an average positive gain is.
    fn gains(&self) -> String {
        format!(
            "{}; gains of at most ε = {} count as none; {}",
            self.spread(),
            words::short(self.epsilon, 4),
            self.used()
        )
    }

    /// "14 models of Fashion-MNIST".
    fn models(&self) -> String {
        let plural = if self.models == 1 { "" } else { "s" };
        format!("{} model{plural} of {}", self.models, self.zoo)
    }
}

/// The order in which methods get their looks, so that each has the same one in all figures.
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

/// The look of a method in all figures.
fn look(method: Method) -> Style {
    let name = method.to_string();
    Style::series(LOOKS.iter().position(|own| **own == name).unwrap_or(LOOKS.len()))
}

/// A mean with its standard deviation, or a dash.
fn spread(value: Option<Spread>, digits: usize) -> Cell {
    value.map_or(Value::Missing.into(), |own| Cell::spread(own.mean, own.std, digits))
}

/// The same in per cent.
fn percent(value: Option<Spread>, digits: usize) -> Cell {
    spread(value.map(|own| Spread { mean: 100.0 * own.mean, std: 100.0 * own.std }), digits)
}

/// A number, or a dash.
fn number(value: Option<f64>, digits: usize) -> Cell {
    value.map_or(Value::Missing.into(), |value| Cell::number(value, digits))
}

/// A p-value: small ones as such.
fn p_value(p: f64) -> Cell {
    if p < 0.001 { Cell::text("< 0.001") } else { Cell::number(p, 3) }
}

fn headings<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Heading> {
    texts.into_iter().map(Heading::new).collect()
}

/// A line with a band of one standard deviation; points without a value interrupt it.
fn band(label: String, points: &[(f64, Option<Spread>)], style: Style) -> Layer {
    let mean = |(x, value): &(f64, Option<Spread>)| (*x, value.map_or(f64::NAN, |own| own.mean));
    let ends = |(_, value): &(f64, Option<Spread>)| {
        value.map_or((f64::NAN, f64::NAN), |own| (own.mean - own.std, own.mean + own.std))
    };
    Layer::Line {
        label: Some(label),
        points: points.iter().map(mean).collect(),
        band: Some(points.iter().map(ends).collect()),
        style,
    }
}

/// How many panels stand side by side: no row should be nearly empty.
fn columns(panels: usize) -> usize {
    if panels == 3 { 3 } else { panels.min(2) }
}

/// "F" for the fallback, else the number.
fn p_star(p: PStar) -> String {
    match p {
        PStar::Fallback => "F".into(),
        PStar::Tuned => "tuned".into(),
        PStar::At(p) => words::short(p, 2),
    }
}

/// "ρ = 0.98", or that it is undefined.
fn correlation(letter: &str, value: Option<f64>) -> String {
    value.map_or_else(
        || format!("{letter} undefined"),
        |value| format!("{letter} = {value:.3}").replace('-', "−"),
    )
}
