//! All methods on all splits, with curves, histograms and comparisons of some of them.

use super::rows::{ProfiledRows, TunedHoldout, distinct};
use crate::protocol::{
    self, HoldoutResult, LOGITS_MARGIN, MAX_LOGIT_PNORM, MSP_PNORM, MSP_TS_AURC, MSP_TS_NLL,
    Measured, Outcome, Protocol, SplitResult,
};
use abstain::calibration::{DEFAULT_BINS, Reliability};
use abstain::{
    Bootstrap, Error, Estimator, Fallback, Method, Metric, RcCurve, Tuned, family::Family,
    internal::Profiles, method::TransformKind,
};
use abstain_lab::Split;
use abstain_lab::Spread;
use serde::{Deserialize, Serialize};

/// The methods whose risk-coverage curves are shown.
pub const CURVES: [Method; 7] = [
    Method::MSP,
    MSP_TS_NLL,
    MSP_TS_AURC,
    LOGITS_MARGIN,
    MSP_PNORM,
    MAX_LOGIT_PNORM,
    Method::Stack,
];

/// The methods with reliability diagrams.
pub const RELIABLE: [Method; 5] =
    [Method::MSP, MSP_TS_NLL, MSP_TS_AURC, MSP_PNORM, MAX_LOGIT_PNORM];

/// The methods that are compared with each of [`REFERENCES`].
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

/// The methods that others are compared with.
pub const REFERENCES: [Method; 2] = [Method::MSP, MAX_LOGIT_PNORM];

/// The fixed exponents of the ablation.
pub const EXPONENTS: [f64; 11] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// The MSP above which a row counts as very sure.
const VERY_SURE: f64 = 0.999;

/// Points of a curve: enough for any figure.
const POINTS: usize = 200;

/// Bins of a histogram.
const HISTOGRAM_BINS: usize = 25;

/// All methods on all splits of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodsResult {
    /// The number of rows.
    pub rows: usize,
    /// The accuracy on all rows.
    pub accuracy: f64,
    /// The mean of all logits.
    pub mean_logit: f64,
    /// The share of rows with an MSP above 0.999.
    pub very_sure: f64,
    /// [`protocol::methods`] with hold-outs of every size, the full one first.
    pub holdouts: Vec<HoldoutResult>,
    /// MaxLogit-pNorm and MSP-pNorm at each of [`EXPONENTS`], by size of the hold-out and by split.
    pub exponents: Vec<Vec<Vec<FixedExponent>>>,
    /// The risk-coverage curves of [`CURVES`] over the splits.
    pub curves: Vec<CurveBand>,
    /// The reliability of [`RELIABLE`] on the first split.
    pub reliability: Vec<ReliabilityLine>,
    /// The coverages that are certified at the target accuracy with the test rows of each split.
    pub certified: Vec<BeforeAfter<f64>>,
    /// The confidences of MSP, and of MaxLogit-pNorm or MSP where it fell back, on the first split.
    pub confidences: BeforeAfter<ConfidenceCounts>,
    /// The methods of [`COMPARED`] against each of [`REFERENCES`] on the first split.
    pub comparisons: Vec<Comparison>,
}

impl MethodsResult {
    /// Whether nothing is missing: a record may have been edited.
    pub(crate) fn is_whole(&self, splits: usize) -> bool {
        let methods = protocol::methods();
        let whole = |holdout: &HoldoutResult| {
            let has_all = |split: &SplitResult| methods.iter().all(|m| split.outcome(*m).is_some());
            holdout.splits.len() == splits && holdout.splits.iter().all(has_all)
        };
        !self.holdouts.is_empty()
            && self.holdouts.iter().all(whole)
            && self.exponents.len() == self.holdouts.len()
            && self.certified.len() == splits
    }
}

/// With MSP, and with MaxLogit-pNorm or MSP where it fell back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BeforeAfter<T> {
    /// With MSP.
    pub before: T,
    /// With MaxLogit-pNorm.
    pub after: T,
}

/// A p-norm method with a fixed `p`; its `τ`, if it has one, is tuned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FixedExponent {
    /// The exponent.
    pub p: f64,
    /// The method at this exponent.
    pub outcome: Outcome,
}

/// A risk-coverage curve over the splits, at the coverages of [`curve_coverages`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveBand {
    /// The method as tuned, even where it fell back.
    pub method: Method,
    /// The selective risk at each coverage.
    pub selective_risk: Vec<Spread>,
}

/// The coverages at which curves are recorded.
pub fn curve_coverages() -> Vec<f64> {
    (1..=POINTS).map(|i| i as f64 / POINTS as f64).collect()
}

/// The accuracy of a method at each confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityLine {
    /// The method.
    pub method: Method,
    /// Its calibration error, if its confidences are probabilities.
    pub ece: Option<f64>,
    /// The bins that hold rows.
    pub bins: Vec<BinLine>,
}

/// Rows of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BinLine {
    /// Confidences above this …
    pub lower: f64,
    /// … and up to this.
    pub upper: f64,
    /// The number of rows.
    pub rows: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// The share of them that are right.
    pub accuracy: f64,
}

/// A histogram of confidences between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCounts {
    /// The estimator that gave them.
    pub estimator: Estimator,
    /// The rows that are right, in bins of equal width.
    pub right: Vec<usize>,
    /// Those that are wrong.
    pub wrong: Vec<usize>,
}

/// The NAURC of a method less that of a reference on the same rows, by the bootstrap. Both may have
/// fallen back to MSP.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The method.
    pub method: Method,
    /// The method that it is compared with.
    pub reference: Method,
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
    let rows = ProfiledRows::new(profiles, protocol);
    let sizes = protocol.sizes(profiles.rows()).len();
    let fixed = |holdout: &TunedHoldout<'_>| {
        progress(holdout.split * sizes + holdout.size);
        let at = |method: Method, p: f64| FixedExponent {
            p,
            outcome: at_exponent(method, holdout.of(method), p, profiles, protocol),
        };
        let all = |method: Method| EXPONENTS.iter().map(move |&p| at(method, p));
        [MAX_LOGIT_PNORM, MSP_PNORM].into_iter().flat_map(all).collect()
    };
    let (holdouts, exponents) = rows.holdouts(protocol, splits, &protocol::methods(), fixed)?;
    let all = profiles.rows() as f64;
    let msp = profiles.confidences(&[Estimator::MSP])?;
    let sure = rows.values(&Estimator::MSP, &msp[0]).iter().filter(|&&x| x > VERY_SURE).count();
    let full = &holdouts[0].splits;
    let first = FirstSplit::new(&rows, &splits[0], &full[0]);
    Ok(MethodsResult {
        rows: profiles.rows(),
        accuracy: 1.0 - rows.losses.values().iter().sum::<f64>() / all,
        mean_logit: profiles.mean_logits().iter().sum::<f64>() / all,
        very_sure: sure as f64 / all,
        curves: curves(&rows, splits, full)?,
        reliability: first.reliability()?,
        certified: certified(&rows, splits, full, protocol.delta)?,
        confidences: BeforeAfter {
            before: first.counts(&Estimator::MSP)?,
            after: first.counts(&full[0].used(MAX_LOGIT_PNORM))?,
        },
        comparisons: first.comparisons(protocol)?,
        holdouts,
        exponents,
    })
}

/// The best of a search among the candidates with this exponent.
fn at_exponent(
    method: Method,
    search: Option<&Tuned>,
    p: f64,
    profiles: &Profiles,
    protocol: &Protocol,
) -> Outcome {
    let measured = Measured::default();
    let fallback = Outcome { method, estimator: Estimator::MSP, fell_back: true, measured };
    let Some(search) = search else { return fallback };
    let exponent = |estimator: &Estimator| match estimator {
        Estimator::Scored { transform, .. } => transform.norm.map(|norm| norm.p.get()),
        _ => None,
    };
    let candidates =
        search.surface.iter().filter(|candidate| exponent(&candidate.estimator) == Some(p));
    let valued = candidates.filter_map(|candidate| Some((candidate, candidate.value?)));
    // The searches of this protocol minimise the AURC.
    let best = valued.min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, value)) = best else { return fallback };
    let constant = best.estimator.is_constant(profiles.classes());
    // The rule of the paper, unless the protocol never falls back.
    let worse = search.baseline.is_none_or(|baseline| value > baseline);
    let fell_back = constant || (worse && protocol.tuner.fallback != Fallback::None);
    Outcome { estimator: best.estimator.clone(), fell_back, ..fallback }
}

fn curves(
    rows: &ProfiledRows<'_>,
    splits: &[Split],
    results: &[SplitResult],
) -> Result<Vec<CurveBand>, Error> {
    let coverages = curve_coverages();
    let mut risks = vec![vec![Vec::new(); coverages.len()]; CURVES.len()];
    for (split, result) in splits.iter().zip(results) {
        let estimators = CURVES.map(|method| tuned(result, method));
        let losses = rows.losses.select(&split.test);
        let columns = rows.profiles.confidences(&estimators)?;
        for (column, risks) in columns.iter().zip(&mut risks) {
            let curve = RcCurve::new(&select(column, &split.test), &losses)?;
            for (&coverage, risks) in coverages.iter().zip(risks) {
                risks.push(curve.narrowest_covering(coverage).selective_risk());
            }
        }
    }
    let band = |(method, risks): (&Method, Vec<Vec<f64>>)| CurveBand {
        method: *method,
        selective_risk: risks.iter().filter_map(|values| Spread::of(values)).collect(),
    };
    Ok(CURVES.iter().zip(risks).map(band).collect())
}

/// The certified coverages of MSP and MaxLogit-pNorm. The test rows have tuned nothing.
fn certified(
    rows: &ProfiledRows<'_>,
    splits: &[Split],
    results: &[SplitResult],
    delta: f64,
) -> Result<Vec<BeforeAfter<f64>>, Error> {
    let of_split = |(split, result): (&Split, &SplitResult)| {
        let losses = rows.losses.select(&split.test);
        let pair = [Estimator::MSP, result.used(MAX_LOGIT_PNORM)];
        let columns = rows.profiles.confidences(&pair)?;
        let coverage = |column: &[f64]| -> Result<f64, Error> {
            let curve = RcCurve::new(&select(column, &split.test), &losses)?;
            let certificate = rows.target.certifier(delta).certify(&curve)?;
            // Without a certificate no row may be accepted.
            Ok(certificate.map_or(0.0, |certificate| certificate.coverage()))
        };
        Ok(BeforeAfter { before: coverage(&columns[0])?, after: coverage(&columns[1])? })
    };
    splits.iter().zip(results).map(of_split).collect()
}

/// The estimator of a method as tuned, even where it fell back.
fn tuned(result: &SplitResult, method: Method) -> Estimator {
    result.outcome(method).map_or(Estimator::MSP, |outcome| outcome.estimator.clone())
}

fn select(column: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| column[row]).collect()
}

/// The test rows of the first split, and the estimators that were tuned on its hold-out.
struct FirstSplit<'a> {
    rows: &'a ProfiledRows<'a>,
    split: &'a Split,
    losses: abstain::Losses,
    result: &'a SplitResult,
}

impl<'a> FirstSplit<'a> {
    fn new(rows: &'a ProfiledRows<'a>, split: &'a Split, result: &'a SplitResult) -> Self {
        FirstSplit { rows, split, losses: rows.losses.select(&split.test), result }
    }

    fn confidences(&self, estimators: &[Estimator]) -> Result<Vec<Vec<f64>>, Error> {
        let columns = self.rows.profiles.confidences(estimators)?;
        Ok(columns.iter().map(|column| select(column, &self.split.test)).collect())
    }

    /// Values between 0 and 1: probabilities, or MaxLogit-pNorm, which lies there too.
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
            let estimator = tuned(self.result, method);
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
        // With p = 0 the confidence is not bounded; MSP is shown instead.
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

    /// The methods of [`COMPARED`] less each of [`REFERENCES`] by NAURC, MSP where one fell back.
    fn comparisons(&self, protocol: &Protocol) -> Result<Vec<Comparison>, Error> {
        // Methods that fell back are all MSP, which is resampled once.
        let used = COMPARED.map(|method| self.result.used(method));
        let (distinct, places) = distinct(&used);
        let columns = self.confidences(&distinct)?;
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        let (replicates, seed) = (protocol.replicates, protocol.tuner.seed);
        let bootstrap = Bootstrap { replicates, level: 0.95, seed };
        let pairs = bootstrap.pairs(Metric::NAURC, &columns, &self.losses)?;
        let place_of = |wanted: Method| {
            COMPARED
                .iter()
                .zip(&places)
                .find(|(method, _)| **method == wanted)
                .map(|found| *found.1)
        };
        let comparison = |method: Method, reference: Method| {
            let found = pairs[place_of(method)?][place_of(reference)?].ok()?;
            let (difference, standard_error) = (found.estimate, found.standard_error);
            Some(Comparison { method, reference, difference, standard_error })
        };
        let against = |reference: Method| {
            COMPARED.iter().filter_map(move |&method| comparison(method, reference))
        };
        Ok(REFERENCES.into_iter().flat_map(against).collect())
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
