//! All methods on all splits, and what curves and histograms of some of them look like.

use super::rows::{Rows, distinct};
use crate::protocol::{
    self, Holdings, LOGITS_MARGIN, MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, MSP_TS_NLL, Measured,
    Outcome, Protocol,
};
use crate::split::Split;
use crate::statistics::Spread;
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::{
    Bootstrap, Error, Estimator, Fallback, Family, Method, Metric, Profiles, RcCurve,
    TransformKind, Tuned,
};
use serde::{Deserialize, Serialize};

/// The methods whose risk-coverage curves are shown.
pub const CURVES: [Method; 6] =
    [Method::MSP, MSP_TS_NLL, MSP_TS_AURC, LOGITS_MARGIN, MSP_PNORM, MAX_LOGIT_PNORM];

/// The methods whose confidences are held against how often they are right.
pub const RELIABLE: [Method; 5] =
    [Method::MSP, MSP_TS_NLL, MSP_TS_AURC, MSP_PNORM, MAX_LOGIT_PNORM];

/// The methods that are compared pair by pair.
pub const COMPARED: [Method; 8] = [
    Method::MSP,
    MSP_TS_NLL,
    MSP_TS_AURC,
    LOGITS_MARGIN,
    MSP_PNORM,
    MAX_LOGIT_PNORM,
    Method::Family(Family::Hts),
    Method::Stack,
];

/// The fixed exponents of the ablation.
pub const EXPONENTS: [f64; 11] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// How sure counts as very sure.
const VERY_SURE: f64 = 0.999;

/// Points of a curve: enough for any picture.
const POINTS: usize = 200;

/// Bins of a histogram.
const HISTOGRAM_BINS: usize = 25;

/// What a model came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodsResult {
    /// Its rows.
    pub rows: usize,
    /// Its accuracy on all of them.
    pub accuracy: f64,
    /// The mean of all logits.
    pub mean_logit: f64,
    /// The share of rows with an MSP above 0.999.
    pub very_sure: f64,
    /// [`protocol::methods`] with hold-outs of every size, the full one first.
    pub holdings: Vec<Holdings>,
    /// MaxLogit-pNorm at each of [`EXPONENTS`], then MSP-pNorm at each, with a tuned `τ`: by size of
    /// the hold-out and by split.
    pub exponents: Vec<Vec<Vec<Outcome>>>,
    /// The risk-coverage curves of [`CURVES`] over the splits.
    pub curves: Vec<CurveBand>,
    /// How [`RELIABLE`] do on the first split.
    pub reliability: Vec<ReliabilityLine>,
    /// The coverage that can be certified at the target accuracy with the test rows of each split: of
    /// MSP, and of MaxLogit-pNorm as used in the end.
    pub certified: Vec<[f64; 2]>,
    /// The confidences of MSP on the first split.
    pub before: ConfidenceCounts,
    /// Those of MaxLogit-pNorm, or of MSP again where it was given up.
    pub after: ConfidenceCounts,
    /// Differences in NAURC of [`COMPARED`] on the first split, as used in the end: first less MSP,
    /// then less MaxLogit-pNorm.
    pub comparisons: [Vec<Option<Comparison>>; 2],
}

impl MethodsResult {
    /// Whether nothing is missing: what was kept may have been edited.
    pub(crate) fn is_whole(&self, splits: usize) -> bool {
        let methods = protocol::methods().len();
        let whole = |own: &Holdings| {
            own.splits.len() == splits
                && own.splits.iter().all(|split| split.outcomes.len() == methods)
        };
        !self.holdings.is_empty()
            && self.holdings.iter().all(whole)
            && self.exponents.len() == self.holdings.len()
            && self.certified.len() == splits
            && self.comparisons.iter().all(|own| own.len() == COMPARED.len())
    }
}

/// A risk-coverage curve over the splits, at the coverages of [`curve_coverages`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveBand {
    /// The method, as tuned, given up or not.
    pub method: Method,
    /// The selective risk at each coverage.
    pub selective_risk: Vec<Spread>,
}

/// The coverages at which curves are kept.
pub fn curve_coverages() -> Vec<f64> {
    (1..=POINTS).map(|i| i as f64 / POINTS as f64).collect()
}

/// How often a method is right at each confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityLine {
    /// The method.
    pub method: Method,
    /// Its calibration error; nothing if it is not meant as a probability.
    pub ece: Option<f64>,
    /// The bins that have rows.
    pub bins: Vec<BinLine>,
}

/// Rows of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BinLine {
    /// Confidences above this …
    pub lower: f64,
    /// … and up to this.
    pub upper: f64,
    /// How many rows.
    pub rows: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// How many of them are right, as a share.
    pub accuracy: f64,
}

/// A histogram of confidences between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCounts {
    /// Whose.
    pub estimator: Estimator,
    /// The rows that are right, in bins of equal width.
    pub right: Vec<usize>,
    /// Those that are wrong.
    pub wrong: Vec<usize>,
}

/// A difference on the same rows, by the bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The difference.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Measures all methods.
pub(crate) fn methods(
    profiles: &Profiles,
    protocol: &Protocol,
    splits: &[Split],
    progress: &mut dyn FnMut(usize),
) -> Result<MethodsResult, Error> {
    let rows = Rows::new(profiles, protocol);
    let methods = protocol::methods();
    let sizes = protocol.sizes(profiles.rows()).len();
    let fixed = |size: usize, split: usize, _: &Split, tuned: &[Option<Tuned>]| {
        progress(split * sizes + size);
        let of = |method: Method| {
            let place = methods.iter().position(|own| *own == method);
            place.and_then(|place| tuned[place].as_ref())
        };
        let searches = [of(MAX_LOGIT_PNORM), of(MSP_PNORM)];
        Ok(searches
            .into_iter()
            .flat_map(|search| {
                EXPONENTS.iter().map(move |&p| at_exponent(search, p, profiles, protocol))
            })
            .collect())
    };
    let (holdings, exponents) = rows.holdings(protocol, splits, &methods, fixed)?;
    let all = profiles.rows() as f64;
    let msp = profiles.confidences(&[Estimator::MSP])?;
    let sure = rows.values(&Estimator::MSP, &msp[0]).iter().filter(|&&x| x > VERY_SURE).count();
    let first = Figures::new(&rows, &splits[0], &methods, &holdings[0]);
    Ok(MethodsResult {
        rows: profiles.rows(),
        accuracy: 1.0 - rows.losses.values().iter().sum::<f64>() / all,
        mean_logit: profiles.mean_logits().iter().sum::<f64>() / all,
        very_sure: sure as f64 / all,
        curves: curves(&rows, splits, &methods, &holdings[0])?,
        reliability: first.reliability()?,
        certified: certified(&rows, splits, &methods, &holdings[0], protocol.delta)?,
        before: first.counts(&Estimator::MSP)?,
        after: first.counts(&first.finally(MAX_LOGIT_PNORM))?,
        comparisons: first.comparisons(protocol)?,
        holdings,
        exponents,
    })
}

/// The best of a search among the candidates with this exponent.
fn at_exponent(
    search: Option<&Tuned>,
    p: f64,
    profiles: &Profiles,
    protocol: &Protocol,
) -> Outcome {
    let given_up =
        Outcome { estimator: Estimator::MSP, fell_back: true, measured: Measured::default() };
    let Some(search) = search else { return given_up };
    let exponent = |estimator: &Estimator| match estimator {
        Estimator::Scored { transform, .. } => transform.norm.map(|norm| norm.p.get()),
        _ => None,
    };
    let own = search.surface.iter().filter(|candidate| exponent(&candidate.estimator) == Some(p));
    let valued = own.filter_map(|candidate| Some((candidate, candidate.value?)));
    // The searches of this protocol are for the AURC, of which less is better.
    let best = valued.min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, value)) = best else { return given_up };
    let constant = best.estimator.is_constant(profiles.classes());
    // By the paper's rule, unless nothing is ever given up.
    let worse = search.baseline.is_none_or(|baseline| value > baseline);
    let fell_back = constant || (worse && protocol.tuner.fallback != Fallback::None);
    Outcome { estimator: best.estimator.clone(), fell_back, measured: Measured::default() }
}

fn curves(
    rows: &Rows<'_>,
    splits: &[Split],
    methods: &[Method],
    holdings: &Holdings,
) -> Result<Vec<CurveBand>, Error> {
    let coverages = curve_coverages();
    let mut risks = vec![vec![Vec::new(); coverages.len()]; CURVES.len()];
    for (split, result) in splits.iter().zip(&holdings.splits) {
        let estimators = CURVES.map(|method| estimator_of(methods, method, &result.outcomes));
        let losses = rows.losses.select(&split.test);
        let columns = rows.profiles.confidences(&estimators)?;
        for (column, risks) in columns.iter().zip(&mut risks) {
            let own: Vec<f64> = split.test.iter().map(|&row| column[row]).collect();
            let curve = RcCurve::new(&own, &losses)?;
            for (&coverage, risks) in coverages.iter().zip(risks) {
                risks.push(curve.narrowest_covering(coverage).selective_risk());
            }
        }
    }
    let band = |(method, risks): (&Method, Vec<Vec<f64>>)| CurveBand {
        method: *method,
        selective_risk: risks.iter().filter_map(|own| Spread::of(own)).collect(),
    };
    Ok(CURVES.iter().zip(risks).map(band).collect())
}

/// What MSP and MaxLogit-pNorm can promise. The test rows have tuned nothing.
fn certified(
    rows: &Rows<'_>,
    splits: &[Split],
    methods: &[Method],
    holdings: &Holdings,
    delta: f64,
) -> Result<Vec<[f64; 2]>, Error> {
    let mut all = Vec::new();
    for (split, result) in splits.iter().zip(&holdings.splits) {
        let place = methods.iter().position(|own| *own == MAX_LOGIT_PNORM);
        let after = place.map_or(Estimator::MSP, |place| result.used(place));
        let losses = rows.losses.select(&split.test);
        let mut both = [0.0; 2];
        let columns = rows.profiles.confidences(&[Estimator::MSP, after])?;
        for (column, coverage) in columns.iter().zip(&mut both) {
            let own: Vec<f64> = split.test.iter().map(|&row| column[row]).collect();
            let curve = RcCurve::new(&own, &losses)?;
            let found = rows.target.certifier(delta).certify(&curve)?;
            // What cannot be certified covers nothing.
            *coverage = found.map_or(0.0, |certificate| certificate.coverage());
        }
        all.push(both);
    }
    Ok(all)
}

fn estimator_of(methods: &[Method], method: Method, outcomes: &[Outcome]) -> Estimator {
    let place = methods.iter().position(|own| *own == method);
    place.map_or(Estimator::MSP, |place| outcomes[place].estimator.clone())
}

/// Figures on the first split.
struct Figures<'a> {
    rows: &'a Rows<'a>,
    split: &'a Split,
    losses: abstain::Losses,
    methods: &'a [Method],
    outcomes: &'a [Outcome],
}

impl<'a> Figures<'a> {
    fn new(
        rows: &'a Rows<'a>,
        split: &'a Split,
        methods: &'a [Method],
        holdings: &'a Holdings,
    ) -> Self {
        let losses = rows.losses.select(&split.test);
        Figures { rows, split, losses, methods, outcomes: &holdings.splits[0].outcomes }
    }

    fn finally(&self, method: Method) -> Estimator {
        let place = self.methods.iter().position(|own| *own == method);
        place.map_or(Estimator::MSP, |place| self.outcomes[place].used())
    }

    fn confidences(&self, estimators: &[Estimator]) -> Result<Vec<Vec<f64>>, Error> {
        let columns = self.rows.profiles.confidences(estimators)?;
        let test = |column: Vec<f64>| self.split.test.iter().map(|&row| column[row]).collect();
        Ok(columns.into_iter().map(test).collect())
    }

    /// Numbers between 0 and 1: probabilities, or MaxLogit-pNorm, which lies there too.
    fn shares(&self, estimator: &Estimator) -> Result<Option<Vec<f64>>, Error> {
        let between = match estimator {
            Estimator::Scored { transform, .. } => {
                estimator.is_probability() || transform.norm.is_some_and(|norm| norm.p.get() >= 1.0)
            }
            other => other.is_probability(),
        };
        if !between {
            return Ok(None);
        }
        let confidences = self.confidences(std::slice::from_ref(estimator))?;
        let values = self.rows.values(estimator, &confidences[0]);
        Ok(Some(values.into_iter().map(|x| x.clamp(0.0, 1.0)).collect()))
    }

    fn reliability(&self) -> Result<Vec<ReliabilityLine>, Error> {
        let mut lines = Vec::new();
        for method in RELIABLE {
            let estimator = estimator_of(self.methods, method, self.outcomes);
            let Some(values) = self.shares(&estimator)? else { continue };
            let reliability = Reliability::new(&values, &self.losses, DEFAULT_BINS)?;
            let bins = reliability.bins().iter().filter_map(|bin| {
                Some(BinLine {
                    lower: bin.lower,
                    upper: bin.upper,
                    rows: bin.rows,
                    confidence: bin.confidence()?,
                    accuracy: bin.accuracy()?,
                })
            });
            let ece = estimator.is_probability().then(|| reliability.ece());
            lines.push(ReliabilityLine { method, ece, bins: bins.collect() });
        }
        Ok(lines)
    }

    fn counts(&self, estimator: &Estimator) -> Result<ConfidenceCounts, Error> {
        // Centred only, the largest logit may be any number: then the picture is MSP's.
        let (estimator, values) = match self.shares(estimator)? {
            Some(values) => (estimator.clone(), values),
            None => (Estimator::MSP, self.shares(&Estimator::MSP)?.unwrap_or_default()),
        };
        let (mut right, mut wrong) = (vec![0; HISTOGRAM_BINS], vec![0; HISTOGRAM_BINS]);
        for (value, &loss) in values.iter().zip(self.losses.values()) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin")]
            let bin = ((value * HISTOGRAM_BINS as f64) as usize).min(HISTOGRAM_BINS - 1);
            let counts = if loss == 0.0 { &mut right } else { &mut wrong };
            counts[bin] += 1;
        }
        Ok(ConfidenceCounts { estimator, right, wrong })
    }

    /// NAURC less that of MSP, and less that of MaxLogit-pNorm, as the methods are used in the end.
    fn comparisons(&self, protocol: &Protocol) -> Result<[Vec<Option<Comparison>>; 2], Error> {
        // Methods that were given up are all MSP, and resampled once.
        let finally = COMPARED.map(|method| self.finally(method));
        let (distinct, places) = distinct(&finally);
        let columns = self.confidences(&distinct)?;
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        let (replicates, seed) = (protocol.replicates, protocol.tuner.seed);
        let bootstrap = Bootstrap { replicates, level: 0.95, seed };
        let pairs = bootstrap.pairs(Metric::NAURC, &columns, &self.losses)?;
        Ok([Method::MSP, MAX_LOGIT_PNORM].map(|reference| {
            let reference = COMPARED.iter().zip(&places).find(|(own, _)| **own == reference);
            let comparison = |place: &usize| {
                let found = pairs[*place][*reference?.1].ok()?;
                let (difference, standard_error) = (found.estimate, found.standard_error);
                Some(Comparison { difference, standard_error })
            };
            places.iter().map(comparison).collect()
        }))
    }
}

/// The `p` of an estimator under a norm.
pub(crate) fn exponent_of(estimator: &Estimator) -> Option<f64> {
    match (estimator.method(), estimator) {
        (
            Method::Scored { transform: TransformKind::PNorm { .. }, .. },
            Estimator::Scored { transform, .. },
        ) => transform.norm.map(|norm| norm.p.get()),
        _ => None,
    }
}
