//! The effect of what is subtracted before the norm, and of what is added.

mod present;

use super::methods::PStar;
use super::{Context, NotMeasured, Study, json_as_array, over_splits};
use crate::measure::MeasuredPart;
use crate::measure::ModelResults;
use crate::protocol::MAX_LOGIT_PNORM;
use abstain::statistics::pearson;
use abstain::{Method, Score, method::TransformKind, transform::Centring};
use abstain_lab::Spread;
use serde::Serialize;

/// The paper shows two sizes of the hold-out.
const SIZES: usize = 2;

/// MaxLogit-pNorm under other centrings.
#[derive(Debug, Clone, Serialize)]
pub struct CentringStudy {
    /// Average positive gains, by the size of the hold-out.
    pub tables: Vec<CentringTable>,
    /// The models.
    pub models: Vec<CentredModel>,
    /// Pearson's correlation of what centring gains with the distance of the mean logit from 0, over
    /// the models that did not fall back.
    pub correlation: Option<f64>,
}

/// One size of the hold-out.
#[derive(Debug, Clone, Serialize)]
pub struct CentringTable {
    /// The number of tuning rows.
    pub tuning_rows: usize,
    /// One line per centring.
    pub lines: Vec<CentringLine>,
}

/// The average positive gains of one centring. In JSON, an array of the three.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CentringLine {
    /// The formula of the centring, the paper's `Γ`.
    pub centring: &'static str,
    /// The gain with `γ = 0`.
    pub unshifted: Option<Spread>,
    /// The gain with a tuned `γ`.
    pub shifted: Option<Spread>,
}

json_as_array!(CentringLine: centring, unshifted, shifted);

/// A model.
#[derive(Debug, Clone, Serialize)]
pub struct CentredModel {
    /// The model.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The mean of its logits.
    pub mean_logit: f64,
    /// By how much centring lowers the NAURC of MaxLogit-pNorm.
    pub centring_gain: Option<Spread>,
    /// By how much MaxLogit-pNorm lowers that of MSP.
    pub gain: Option<Spread>,
    /// Whether MaxLogit-pNorm fell back to MSP on most splits.
    pub fell_back: bool,
}

const fn max_logit(centring: Centring, shift: bool) -> Method {
    Method::Scored { score: Score::MaxLogit, transform: TransformKind::PNorm { centring, shift } }
}

impl Study for CentringStudy {
    const NAME: &'static str = "centring";
    const NEEDS: &'static [MeasuredPart] = &[MeasuredPart::Centring];

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let models: Option<Vec<CentredModel>> = context.models().iter().map(model).collect();
        let models = models.ok_or(NotMeasured { part: MeasuredPart::Centring })?;
        let sizes = context.sizes().into_iter().take(SIZES).enumerate();
        let tables = sizes.map(|(size, tuning_rows)| {
            let gain = |method: Method| {
                context.apg(context.epsilon, |model, split| {
                    let split = model.centring.as_ref()?.get(size)?.splits.get(split)?;
                    split.used_measured(method)?.naurc
                })
            };
            let line = |(centring, formula): (Centring, &'static str)| CentringLine {
                centring: formula,
                unshifted: gain(max_logit(centring, false)),
                shifted: gain(max_logit(centring, true)),
            };
            let centrings =
                [(Centring::None, "0"), (Centring::Mean, "μ(z)"), (Centring::Min, "min z")];
            CentringTable { tuning_rows, lines: centrings.map(line).to_vec() }
        });
        let improved = models.iter().filter(|model| !model.fell_back);
        let points =
            improved.filter_map(|model| Some((model.mean_logit.abs(), model.centring_gain?.mean)));
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        Ok(CentringStudy { tables: tables.collect(), correlation: pearson(&x, &y).ok(), models })
    }
}

fn model(model: &ModelResults) -> Option<CentredModel> {
    let full = model.centring.as_ref()?.first()?;
    Some(CentredModel {
        model: model.model.name.clone(),
        title: model.model.title.clone(),
        mean_logit: model.methods.mean_logit,
        centring_gain: over_splits(full, |split| {
            let naurc =
                |centring: Centring| split.outcome(max_logit(centring, false))?.measured.naurc;
            Some(naurc(Centring::None)? - naurc(Centring::Mean)?)
        }),
        gain: model.gain(),
        fell_back: PStar::of(model, MAX_LOGIT_PNORM) == Some(PStar::Fallback),
    })
}
