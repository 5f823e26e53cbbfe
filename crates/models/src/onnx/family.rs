//! The confidence of each family and of stacks, and the values of confidences, as
//! `docs/artifact.md` defines them.

use super::elementary::{exp_m1, ln_1p, log_add, sigmoid, softplus};
use super::graph::Real;
use super::row::{Row, Transformed};
use super::score::{self, log_entropy};
use abstain::family::stack::{Clip, Stack, Term};
use abstain::{
    Estimator, Score,
    family::{Family, FamilyEstimator},
};

/// The confidence of rows; nothing for an estimator that is not known here.
pub(crate) fn confidence<'g>(estimator: &Estimator, row: &Row<'g>) -> Option<Real<'g>> {
    match estimator {
        Estimator::Scored { score, transform, .. } => {
            score::confidence(*score, &row.transformed(transform))
        }
        Estimator::Family(family) => of_family(family, row),
        Estimator::Stack(stack) => of_stack(stack, row),
        // The number beside a row is none of the model's.
        _ => None,
    }
}

fn of_family<'g>(estimator: &FamilyEstimator, row: &Row<'g>) -> Option<Real<'g>> {
    let raw = row.scaled(1.0);
    Some(match (estimator.family(), estimator.values()) {
        (Family::Bk, &[a, b]) => row.unless_alone(bk(&raw, a, b), 0.0),
        (Family::Ets, &[t, w]) => row.unless_alone(ets(&raw, t, w), f64::INFINITY),
        (Family::Hts, &[b, w]) => hts(&raw, b, w),
        (Family::Cmd, &[t]) => row.unless_alone(cmd(&raw, t), 0.0),
        (Family::LogitGap, &[n]) => row.unless_alone(logit_gap(&raw, n), f64::INFINITY),
        (Family::Gen, &[gamma, m]) => {
            row.unless_alone(generalised_entropy(&raw, gamma, m), f64::INFINITY)
        }
        _ => return None,
    })
}

fn bk<'g>(raw: &Transformed<'g>, a: f64, b: f64) -> Real<'g> {
    // S − 1 is summed without the second class, so that nothing cancels.
    let after_second = raw.row.below_second().exp().row_sum();
    let second = (0.0 - raw.gap).exp() * sigmoid(raw.log_odds());
    0.0 - second * (a * after_second + (a + b))
}

fn ets<'g>(raw: &Transformed<'g>, t: f64, w: f64) -> Real<'g> {
    let scaled = raw.row.scaled(t);
    let [scaled, raw] = [&scaled, raw].map(|u| softplus(u.log_odds()));
    if w == 0.0 {
        return raw;
    }
    if w == 1.0 {
        return scaled;
    }
    0.0 - log_add(w.ln() - scaled, (1.0 - w).ln() - raw)
}

fn hts<'g>(raw: &Transformed<'g>, b: f64, w: f64) -> Real<'g> {
    let graph = raw.row.graph();
    // A weight of 0 switches the entropy off even where its logarithm is infinite.
    let exponent =
        if w == 0.0 { graph.real(b) } else { b + w * (log_entropy(raw) - raw.row.classes().ln()) };
    let (smallest, largest) = graph.precision().range();
    raw.row.scaled(softplus(exponent).max(smallest).min(largest)).log_odds()
}

fn cmd<'g>(raw: &Transformed<'g>, t: f64) -> Real<'g> {
    let is_other = raw.below.greater(f64::NEG_INFINITY);
    let count = is_other.choose(1.0, 0.0).row_sum();
    let logs = ln_1p((0.0 - raw.below) / (t * 0.5 + raw.gap));
    let mean = is_other.choose(logs, 0.0).row_sum() / count;
    let deviations = is_other.choose(logs - mean, 0.0);
    0.0 - ((deviations * deviations).row_sum() / count).sqrt()
}

fn logit_gap<'g>(raw: &Transformed<'g>, n: f64) -> Real<'g> {
    let nearest = raw.row.nearest(n);
    let is_other = nearest.greater(f64::NEG_INFINITY);
    let distances = is_other.choose(raw.gap - nearest, 0.0).row_sum();
    distances / is_other.choose(1.0, 0.0).row_sum()
}

fn generalised_entropy<'g>(raw: &Transformed<'g>, gamma: f64, m: f64) -> Real<'g> {
    let log_odds = raw.log_odds();
    let log_rest = 0.0 - softplus(log_odds);
    let of_top = (-gamma * softplus(0.0 - log_odds)).exp();
    let powers = if m > 1.0 {
        let log_shares = raw.row.nearest(m - 1.0) - raw.sum().ln();
        let p = (log_rest + log_shares).exp();
        let powers = (gamma * (log_shares + ln_1p(0.0 - p))).exp();
        of_top + powers.row_sum()
    } else {
        of_top
    };
    -gamma * log_rest - powers.ln()
}

/// A number of a sum, 0 where it is too small for single precision.
fn summand(number: f64) -> f64 {
    if number.abs() < 1e-37 { 0.0 } else { number }
}

fn of_stack<'g>(stack: &Stack, row: &Row<'g>) -> Option<Real<'g>> {
    let mut sum = row.graph().real(summand(stack.intercept()));
    if !stack.class_offsets().is_empty() {
        sum = sum + class_offset(stack.class_offsets(), row);
    }
    for term in stack.terms() {
        sum = sum + of_term(term, stack.clip(), row)?;
    }
    Some(sum)
}

/// The offset of the predicted class; 0 beyond their end.
fn class_offset<'g>(offsets: &[f64], row: &Row<'g>) -> Real<'g> {
    let graph = row.graph();
    let mut offsets: Vec<f64> = offsets.iter().copied().map(summand).collect();
    if row.known_classes() == Some(offsets.len()) {
        return graph.reals(&offsets).at(row.prediction());
    }
    let end = i64::try_from(offsets.len()).unwrap_or(i64::MAX);
    offsets.push(0.0);
    graph.reals(&offsets).at(row.prediction().min(graph.wholes(&[end])))
}

fn of_term<'g>(term: &Term, clip: Clip, row: &Row<'g>) -> Option<Real<'g>> {
    let confidence = confidence(&term.estimator, row)?;
    let number = match clip {
        Clip::Soft(_) if !term.estimator.is_probability() => {
            value(&term.estimator, confidence, row)?
        }
        _ => confidence,
    };
    Some(summand(term.weight) * clipped(clip, (number - summand(term.mean)) / term.deviation))
}

fn clipped(clip: Clip, t: Real<'_>) -> Real<'_> {
    /// What a soft clip does not tell from infinity.
    const LARGEST: f64 = 1e12;
    match clip {
        Clip::Hard(limit) => t.min(limit).max(-limit),
        Clip::Soft(knee) => {
            let size = t.abs().min(LARGEST);
            let beyond = knee + ln_1p(size - knee);
            let signed = t.less(0.0).choose(0.0 - beyond, beyond);
            size.at_most(knee).choose(t, signed)
        }
    }
}

/// The value of a confidence: the number of the definition of the estimator.
pub(crate) fn value<'g>(
    estimator: &Estimator,
    confidence: Real<'g>,
    row: &Row<'g>,
) -> Option<Real<'g>> {
    let negative_exponential = || 0.0 - (0.0 - confidence).exp();
    Some(match estimator {
        Estimator::Scored { score, transform, .. } => match score {
            Score::Msp | Score::SoftmaxMargin => sigmoid(confidence),
            Score::MaxLogit if transform.norm.is_some_and(|norm| norm.p.get() > 0.0) => {
                (0.5 * confidence).tanh()
            }
            Score::MaxLogit | Score::LogitsMargin | Score::Energy => confidence,
            Score::NegativeEntropy | Score::NegativeGini => negative_exponential(),
            Score::Ldam => confidence.exp(),
            Score::Leon => {
                let classes = row.classes();
                2.0 - 1.0 / classes - 1.0 / classes.sqrt() + negative_exponential()
            }
            _ => return None,
        },
        Estimator::Family(family) => match (family.family(), family.values()) {
            (Family::Bk, &[a, b]) => (a + b) + confidence,
            (Family::Ets, _) => 0.0 - exp_m1(0.0 - confidence),
            (Family::Hts, _) => sigmoid(confidence),
            (Family::Cmd | Family::LogitGap, _) => confidence,
            (Family::Gen, _) => negative_exponential(),
            _ => return None,
        },
        Estimator::Stack(stack) if stack.is_labelled() => sigmoid(confidence),
        Estimator::Stack(_) => confidence,
        _ => return None,
    })
}
