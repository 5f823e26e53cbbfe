//! The anchored stack: a logistic regression that starts from a few rankings known to be good and
//! leaves them only as far as the rows insist.
//!
//! Five scores of a row, standardised and softly clipped, are `x_1 … x_5`: the log-odds of MSP, the
//! margin of the logits, the margin over the 2-norm of the centred logits, and MaxLogit-pNorm at `p = 2`
//! and `p = 4`. An *anchor* is a combination of scores, standardised:
//!
//! 1. `x_1`, that is MSP;
//! 2. the label-free rule `x_1 + (½ + ¾φ)⁺ x_2 + (0.2 + 0.3φ)⁺ x_3 + (1.3φ)⁺ x_4`, with `φ = −g` within
//!    ±2 and `g` the skewness of `x_1`: nets trained with label smoothing or mixup pile up at the top,
//!    a left skew, and there MSP is worth less;
//! 3. `½x_2 + x_3 + ½x_4`;
//! 4. and MaxLogit-pNorm at `p` = 3, 4, 5, 6, 8 and 10, each alone.
//!
//! For each anchor `A` the log-odds of being right are `a + b·A + Σ_k w_k x_k`. The ridge of the `w_k` is
//! 15 over the square of the anchor's slope (that of the fit on the anchor alone, 1 at most): with few rows
//! the ranking stays the anchor's. An anchor whose slope is below 0.1 is left out. The fits are averaged
//! with weights proportional to a prior times their Laplace evidence, and folded into one stack. A number
//! that is given beside each row is one more `x_k`.
//!
//! Then each predicted class `c` is given an offset. With `r_c` the sum of `right − P(right)` over the rows
//! of the class and `v_c` that of `P(right) (1 − P(right))`, one Newton step under a ridge `κ` is
//! `r_c / (κ + v_c)`. The ridges 3, 10, 30 and 100, over the mean square of the anchors' slopes, and no
//! offsets at all, are averaged by prior times evidence,
//! `Σ_c ½ r_c² / (κ + v_c) − ½ ln(1 + v_c / κ)`: without evidence that classes differ, there are none.
//!
//! The constants were found by measurement (docs/decisions/method-and-fallback.md).

use super::logistic;
use super::{Clip, Stack, Term, standardised_terms};
use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::profile::Profiles;

/// The scores: `x_1 … x_5`, then those that are anchors alone.
const SCORES: [&str; 10] = [
    "MSP",
    "LogitsMargin",
    "LogitsMargin-pNorm(p=2)",
    "MaxLogit-pNorm(p=2)",
    "MaxLogit-pNorm(p=4)",
    "MaxLogit-pNorm(p=3)",
    "MaxLogit-pNorm(p=5)",
    "MaxLogit-pNorm(p=6)",
    "MaxLogit-pNorm(p=8)",
    "MaxLogit-pNorm(p=10)",
];

/// How many of [`SCORES`] have a weight beside each anchor.
const FREE: usize = 5;

/// Those of [`SCORES`] that are anchors alone: MaxLogit-pNorm from `p = 3` on.
const EXPONENTS: std::ops::Range<usize> = 4..10;

/// The ridges of the intercept and of the slope of an anchor: nearly free.
const INTERCEPT_RIDGE: f64 = 1e-6;
const SLOPE_RIDGE: f64 = 1e-2;

/// An anchor whose slope is smaller is left out. With a single error, which happens to be a confident
/// one, the slope would be negative and the ranking turned round.
const LEAST_SLOPE: f64 = 0.1;

/// The ridge of the weights beside an anchor whose slope is 1.
const WEIGHT_RIDGE: f64 = 15.0;

/// The ridges of the offsets of classes, for anchors whose slope is 1.
const CLASS_RIDGES: [f64; 4] = [100.0, 30.0, 10.0, 3.0];

/// The belief in each of these ridges, before the rows are seen; the rest is that in no offsets.
const CLASS_PRIOR: f64 = 0.05;

/// Offsets that are all smaller are left out: they would hardly move a row.
const LEAST_OFFSET: f64 = 0.01;

/// The anchored stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Anchored;

impl Anchored {
    /// The scores that it is made of.
    pub fn scores() -> Vec<Estimator> {
        SCORES.iter().filter_map(|text| text.parse().ok()).collect()
    }

    /// Fits it on the rows of a profile, whose losses count as right where they are 0.
    ///
    /// Where all rows are right, or all wrong, or where no anchor ranks right rows above wrong ones, it is
    /// the label-free rule; where there are two classes, MSP, as which all of its scores rank.
    pub fn fit(profiles: &Profiles) -> Result<Estimator, Error> {
        Self::fit_for(profiles, None)
    }

    /// The same, with the means, deviations and skewness of other rows: those that it will score.
    pub fn fit_for(profiles: &Profiles, deployment: Option<&Profiles>) -> Result<Estimator, Error> {
        if profiles.classes() <= 2 && !profiles.has_extra() {
            return Ok(Estimator::MSP);
        }
        let right = profiles.right();
        if right.iter().all(|&r| r) || !right.contains(&true) {
            return Self::label_free(deployment.unwrap_or(profiles));
        }
        let scaled = Scaled::new(profiles)?;
        let fits = scaled.fit_anchors(&right)?;
        let folded_with = deployment.map(Scaled::new).transpose()?;
        let folded_with = folded_with.as_ref().unwrap_or(&scaled);
        if fits.is_empty() {
            return folded_with.label_free();
        }
        let offsets = scaled.class_offsets(&fits, &right, profiles.predictions());
        let stack = folded_with.fold(&fits)?.with_class_offsets(offsets)?;
        Ok(Estimator::Stack(stack))
    }

    /// The label-free rule: the second anchor alone, of which no labels are needed.
    pub fn label_free(profiles: &Profiles) -> Result<Estimator, Error> {
        if profiles.classes() <= 2 {
            return Ok(Estimator::MSP);
        }
        Scaled::new(profiles)?.label_free()
    }
}

/// The scores of some rows, standardised and clipped, and the anchors made of them.
struct Scaled {
    terms: Vec<Term>,
    columns: Vec<Vec<f64>>,
    /// The place of each of [`SCORES`] among the terms; a score that is constant has none.
    places: [Option<usize>; SCORES.len()],
    /// The place of the number that was given beside each row.
    extra: Option<usize>,
    classes: usize,
}

/// A combination of the terms that has mean 0 and deviation 1 on the rows.
struct Anchor {
    /// Its share of belief before the rows are seen.
    prior: f64,
    offset: f64,
    weights: Vec<f64>,
    column: Vec<f64>,
}

/// The fit that starts from an anchor.
struct AnchorFit {
    /// Which anchor.
    anchor: usize,
    intercept: f64,
    slope: f64,
    /// Its slope in the fit on the anchor alone.
    slope_alone: f64,
    /// The weights of the scores beside it.
    weights: [f64; FREE],
    /// The weight of the number that was given beside each row.
    extra: f64,
    /// Its share of the average.
    share: f64,
}

impl Scaled {
    fn new(profiles: &Profiles) -> Result<Self, Error> {
        let mut scores = Anchored::scores();
        scores.extend(profiles.has_extra().then_some(Estimator::Extra));
        let (terms, columns) = standardised_terms(&scores, profiles, Clip::SOFT)?;
        let place = |k: usize| terms.iter().position(|term| term.estimator == scores[k]);
        let places = std::array::from_fn(place);
        let extra = terms.iter().position(|term| term.estimator == Estimator::Extra);
        // Everything else is defined beside MSP.
        if places[0].is_none() {
            return Err(Undefined::Constant.into());
        }
        Ok(Scaled { terms, columns, places, extra, classes: profiles.classes() })
    }

    /// `None` if the combination is constant on the rows.
    fn anchor(&self, prior: f64, parts: &[(usize, f64)]) -> Option<Anchor> {
        let mut weights = vec![0.0; self.terms.len()];
        let mut column = vec![0.0; self.columns[0].len()];
        for &(score, weight) in parts {
            let Some(place) = self.places[score] else { continue };
            weights[place] += weight;
            column.iter_mut().zip(&self.columns[place]).for_each(|(sum, x)| *sum += weight * x);
        }
        let n = column.len() as f64;
        let mean = column.iter().sum::<f64>() / n;
        let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        if deviation < 1e-9 {
            return None;
        }
        for weight in &mut weights {
            *weight /= deviation;
        }
        for x in &mut column {
            *x = (*x - mean) / deviation;
        }
        Some(Anchor { prior, offset: -mean / deviation, weights, column })
    }

    /// Minus the skewness of `x_1`, within ±2.
    fn phi(&self) -> f64 {
        let x = &self.columns[self.places[0].unwrap_or(0)];
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let moment = |power| x.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
        let deviation = moment(2).sqrt();
        if deviation < 1e-9 { 0.0 } else { (-moment(3) / deviation.powi(3)).clamp(-2.0, 2.0) }
    }

    /// The parts of the label-free rule.
    fn label_free_parts(&self) -> [(usize, f64); 4] {
        let phi = self.phi();
        [
            (0, 1.0),
            (1, (0.5 + 0.75 * phi).max(0.0)),
            (2, (0.2 + 0.3 * phi).max(0.0)),
            (3, (1.3 * phi).max(0.0)),
        ]
    }

    /// Every anchor, by its place in the list of the module; `None` if it is constant.
    fn anchors(&self) -> Vec<Option<Anchor>> {
        // The more classes, the more MaxLogit-pNorm is trusted.
        let many = ((self.classes as f64 / 10.0).ln() / 100_f64.ln()).clamp(0.0, 1.0);
        let exponents = 0.05 + 0.45 * many;
        let rest = 1.0 - exponents;
        let mut anchors = vec![
            self.anchor(0.25 * rest, &[(0, 1.0)]),
            self.anchor(0.70 * rest, &self.label_free_parts()),
            self.anchor(0.05 * rest, &[(1, 0.5), (2, 1.0), (3, 0.5)]),
        ];
        let prior = exponents / EXPONENTS.len() as f64;
        anchors.extend(EXPONENTS.map(|score| self.anchor(prior, &[(score, 1.0)])));
        anchors
    }

    fn label_free(&self) -> Result<Estimator, Error> {
        match self.anchor(1.0, &self.label_free_parts()) {
            Some(anchor) => self.stack(false, anchor.offset, &anchor.weights).map(Estimator::Stack),
            None => Err(Undefined::Constant.into()),
        }
    }

    /// The fit from each anchor, weighted by prior and evidence.
    fn fit_anchors(&self, right: &[bool]) -> Result<Vec<AnchorFit>, Error> {
        let free: Vec<usize> = (0..FREE).filter(|&score| self.places[score].is_some()).collect();
        let mut fits = Vec::new();
        let mut evidence = Vec::new();
        for (index, anchor) in self.anchors().into_iter().enumerate() {
            let Some(anchor) = anchor else { continue };
            let ridge = [INTERCEPT_RIDGE, SLOPE_RIDGE];
            let alone = logistic::fit(&[&anchor.column], right, &ridge, vec![0.0; 2])?;
            let slope = alone.coefficients[1];
            if slope < LEAST_SLOPE {
                continue;
            }
            let lambda = WEIGHT_RIDGE / slope.min(1.0).powi(2);
            let mut columns = vec![&anchor.column[..]];
            let terms = self.places[..FREE].iter().chain([&self.extra]).flatten();
            columns.extend(terms.map(|&k| &self.columns[k][..]));
            let mut ridge = ridge.to_vec();
            ridge.resize(1 + columns.len(), lambda);
            let mut start = alone.coefficients;
            start.resize(ridge.len(), 0.0);
            let fit = logistic::fit(&columns, right, &ridge, start)?;
            let penalty = 0.5 * (ridge.len() - 2) as f64 * lambda.ln();
            evidence.push(anchor.prior.ln() - fit.objective + penalty - 0.5 * fit.log_determinant);
            let mut weights = [0.0; FREE];
            for (&score, weight) in free.iter().zip(&fit.coefficients[2..]) {
                weights[score] = *weight;
            }
            fits.push(AnchorFit {
                anchor: index,
                intercept: fit.coefficients[0],
                slope: fit.coefficients[1],
                slope_alone: slope,
                weights,
                extra: self.extra.map_or(0.0, |_| fit.coefficients[2 + free.len()]),
                share: 0.0,
            });
        }
        let best = evidence.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = evidence.iter().map(|e| (e - best).exp()).sum();
        for (fit, evidence) in fits.iter_mut().zip(evidence) {
            fit.share = (evidence - best).exp() / total;
        }
        Ok(fits)
    }

    /// The average of some fits as one stack over the scores of these rows.
    fn fold(&self, fits: &[AnchorFit]) -> Result<Stack, Error> {
        let (intercept, weights) = self.average(fits);
        self.stack(true, intercept, &weights)
    }

    /// The intercept and the weight of each term, averaged over some fits.
    fn average(&self, fits: &[AnchorFit]) -> (f64, Vec<f64>) {
        let anchors = self.anchors();
        let (mut intercept, mut weights) = (0.0, vec![0.0; self.terms.len()]);
        for fit in fits {
            intercept += fit.share * fit.intercept;
            if let Some(anchor) = &anchors[fit.anchor] {
                let slope = fit.share * fit.slope;
                intercept += slope * anchor.offset;
                weights.iter_mut().zip(&anchor.weights).for_each(|(sum, w)| *sum += slope * w);
            }
            for (place, weight) in self.places.iter().zip(fit.weights) {
                if let Some(place) = *place {
                    weights[place] += fit.share * weight;
                }
            }
            if let Some(place) = self.extra {
                weights[place] += fit.share * fit.extra;
            }
        }
        (intercept, weights)
    }

    /// What is added for each predicted class to the average of some fits on these rows; nothing if the
    /// rows do not show that classes differ.
    fn class_offsets(&self, fits: &[AnchorFit], right: &[bool], predictions: &[u32]) -> Vec<f64> {
        let (intercept, weights) = self.average(fits);
        let (mut residual, mut variance) = (vec![0.0; self.classes], vec![0.0; self.classes]);
        for (row, (&right, &class)) in right.iter().zip(predictions).enumerate() {
            let terms = self.columns.iter().zip(&weights);
            let log_odds = intercept + terms.map(|(column, w)| w * column[row]).sum::<f64>();
            let p = 1.0 / (1.0 + (-log_odds).exp());
            residual[class as usize] += f64::from(u8::from(right)) - p;
            variance[class as usize] += p * (1.0 - p);
        }
        // The flatter the ranking, the smaller the offsets that matter.
        let scale: f64 = fits
            .iter()
            .map(|fit| fit.share / fit.slope_alone.clamp(LEAST_SLOPE, 1.0).powi(2))
            .sum();
        let classes = || residual.iter().zip(&variance);
        let evidence = CLASS_RIDGES.map(|ridge| {
            let ridge = ridge * scale;
            let of = |(r, v): (&f64, &f64)| 0.5 * r * r / (ridge + v) - 0.5 * (v / ridge).ln_1p();
            classes().map(of).sum::<f64>()
        });
        let most = evidence.into_iter().fold(0.0, f64::max);
        let weigh = |prior: f64, evidence: f64| prior * (evidence - most).exp();
        let none = weigh(1.0 - CLASS_PRIOR * CLASS_RIDGES.len() as f64, 0.0);
        let believed = evidence.map(|evidence| weigh(CLASS_PRIOR, evidence));
        let total = none + believed.iter().sum::<f64>();
        let offset = |(r, v): (&f64, &f64)| {
            let steps = CLASS_RIDGES.iter().zip(believed);
            let sum: f64 = steps.map(|(ridge, share)| share * r / (ridge * scale + v)).sum();
            // A millionth is far below what the rows can tell, and the artifact stays readable.
            (sum / total * 1e6).round() / 1e6
        };
        let offsets: Vec<f64> = classes().map(offset).collect();
        if offsets.iter().all(|offset| offset.abs() < LEAST_OFFSET) {
            return Vec::new();
        }
        offsets
    }

    fn stack(&self, labelled: bool, intercept: f64, weights: &[f64]) -> Result<Stack, Error> {
        let weighted = self.terms.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        let terms = weighted.map(|(term, &weight)| Term { weight, ..term.clone() }).collect();
        Stack::new(labelled, Clip::SOFT, intercept, terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;
    use crate::logits::Logits;
    use crate::profile::ProfilePlan;

    fn profiles(wrong: &[usize]) -> Profiles {
        let values: Vec<f64> = (0..240_u32)
            .map(|i| {
                f64::from(i.wrapping_mul(2654435761) % 997) / 100.0 * f64::from(i / 4 + 5) / 20.0
            })
            .collect();
        let logits = Logits::new(values, 4).expect("valid");
        let mut labels = logits.predictions();
        for &row in wrong {
            labels[row] = (labels[row] + 1) % 4;
        }
        let labels = Labels::new(&labels, 4).expect("valid");
        let plan = ProfilePlan::of(&Anchored::scores()).without_exponentials();
        Profiles::new(&logits, &labels, &plan).expect("valid")
    }

    /// The row of the largest confidence.
    fn surest(profiles: &Profiles) -> usize {
        let confidences = &profiles.confidences(&[Estimator::MSP]).expect("recorded")[0];
        (0..confidences.len())
            .max_by(|&a, &b| confidences[a].total_cmp(&confidences[b]))
            .expect("rows")
    }

    #[test]
    fn one_confident_error_does_not_turn_the_ranking_round() {
        let surest = surest(&profiles(&[]));
        let found = Anchored::fit(&profiles(&[surest])).expect("a fit");
        assert_eq!(found, Anchored::label_free(&profiles(&[])).expect("a fit"));
    }

    #[test]
    fn rows_of_one_kind_have_the_label_free_rule() {
        let rule = Anchored::label_free(&profiles(&[])).expect("a fit");
        assert_eq!(rule.method(), crate::method::Method::LabelFree);
        assert!(!rule.is_probability());
        assert_eq!(Anchored::fit(&profiles(&[])).expect("a fit"), rule);
        assert_eq!(Anchored::fit(&profiles(&(0..60).collect::<Vec<_>>())).expect("a fit"), rule);
    }

    #[test]
    fn the_rows_of_a_deployment_set_the_scale() {
        let (tuning, other) = (profiles(&[3, 9, 14, 20, 33]), profiles(&[]));
        let shifted = other.select(&(0..30).collect::<Vec<_>>());
        let (here, there) = (Anchored::fit(&tuning), Anchored::fit_for(&tuning, Some(&shifted)));
        let means = |estimator: Result<Estimator, Error>| match estimator {
            Ok(Estimator::Stack(stack)) => stack.terms()[0].mean,
            other => panic!("{other:?}"),
        };
        let msp = |rows: &Profiles| {
            let confidences = &rows.confidences(&[Estimator::MSP]).expect("recorded")[0];
            confidences.iter().sum::<f64>() / confidences.len() as f64
        };
        assert!((means(here) - msp(&tuning)).abs() < 1e-9);
        assert!((means(there) - msp(&shifted)).abs() < 1e-9);
    }
}
