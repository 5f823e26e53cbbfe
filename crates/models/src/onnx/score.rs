//! The confidence of each score, as `docs/artifact.md` defines it.

use super::elementary::{exp_m1, ln_1p, sigmoid, softplus};
use super::graph::Real;
use super::row::{INDISTINCT, Transformed};
use abstain::Score;

/// The confidence of rows under a transform; nothing for a score that is not known here.
pub(crate) fn confidence<'g>(score: Score, u: &Transformed<'g>) -> Option<Real<'g>> {
    let alone = |confidence| u.row.unless_alone(confidence, f64::INFINITY);
    Some(match score {
        Score::Msp => u.log_odds(),
        Score::SoftmaxMargin => alone(softmax_margin(u)),
        Score::MaxLogit => max_logit(u),
        Score::LogitsMargin => alone(u.gap),
        Score::NegativeEntropy => 0.0 - log_entropy(u),
        Score::NegativeGini => alone(softplus(u.log_odds()) - impurity_over_rest(u).ln()),
        Score::Energy => u.top + softplus(0.0 - u.log_odds()),
        Score::Ldam => alone(ldam(u)),
        Score::Leon => alone(leon(u)),
        _ => return None,
    })
}

fn softmax_margin<'g>(u: &Transformed<'g>) -> Real<'g> {
    u.gap + (0.0 - exp_m1(0.0 - u.gap)).ln() - (1.0 + u.sum()).ln()
}

/// `u_1`; under a p-norm `ln((1 + u_1) / (1 − u_1))`.
fn max_logit<'g>(u: &Transformed<'g>) -> Real<'g> {
    let Some(norm) = &u.norm else { return u.top };
    let found = ln_1p(2.0 / exp_m1(norm.log_share(&u.row)));
    let found = norm.is_negative().choose(0.0 - found, found);
    match norm.far_ahead() {
        // −ln u_1 is then the quotient of the powers over p.
        Some((is_far, quotient)) => is_far.choose(quotient + (2.0 * norm.p()).ln(), found),
        None => found,
    }
}

/// `ln H` of the softmax probabilities; `-inf` if only one class is not masked.
pub(crate) fn log_entropy<'g>(u: &Transformed<'g>) -> Real<'g> {
    // The weight of a class so far below is 0, whatever its distance.
    const FAR: f64 = -1000.0;
    let log_odds = u.log_odds();
    let mean = (u.weights() * u.below.max(FAR)).row_sum() / u.sum();
    let distance = u.gap - mean;
    let found = (sigmoid(0.0 - log_odds) * distance + softplus(0.0 - log_odds)).ln();
    let saturated = ln_1p(distance) - log_odds;
    let limit = u.row.graph().precision().saturated();
    u.row.unless_alone(log_odds.greater(limit).choose(saturated, found), f64::NEG_INFINITY)
}

/// `(1 − Σ σ_k²) / (1 − σ_1)`.
fn impurity_over_rest<'g>(u: &Transformed<'g>) -> Real<'g> {
    let (weights, sum) = (u.weights(), u.sum());
    let agreement = (weights * weights).row_sum() / (sum * sum);
    2.0 - sigmoid(0.0 - u.log_odds()) * (1.0 + agreement)
}

/// `D` and `V`: the distance of the top probability from the mean of the others, and their
/// variance, in units of the top and of the second probability.
fn distance_and_variance<'g>(u: &Transformed<'g>) -> (Real<'g>, Real<'g>) {
    // w_j − 1 has all the digits of what lies between nearly equal weights; they are equal where
    // double precision does not tell them apart.
    let (others, top) = (u.row.classes() - 1.0, u.row.prediction());
    let differences = u.below.greater(-INDISTINCT).choose(0.0, exp_m1(u.below));
    let mean = differences.with(top, 0.0).row_sum() / others;
    let deviations = differences.with(top, mean) - mean;
    let variance = (deviations * deviations).row_sum() / others;
    let below_one = (0.0 - mean).max(0.0);
    let distance = (0.0 - exp_m1(0.0 - u.gap)) + below_one * (0.0 - u.gap).exp();
    (distance, variance)
}

fn ldam<'g>(u: &Transformed<'g>) -> Real<'g> {
    let (distance, variance) = distance_and_variance(u);
    let found = 2.0 * (u.gap + distance.ln()) - variance.ln();
    distance.equals(0.0).choose(f64::NEG_INFINITY, found)
}

fn leon<'g>(u: &Transformed<'g>) -> Real<'g> {
    let classes = u.row.classes();
    let (distance, variance) = distance_and_variance(u);
    let first = sigmoid(u.log_odds());
    let second = (0.0 - u.gap).exp() * first;
    let of_top = first * distance;
    let deviation = (variance * (second * second) + of_top * of_top / classes).sqrt();
    let spread = (classes - 1.0) * (1.0 / classes.sqrt() + deviation);
    softplus(u.log_odds()) - (2.0 - impurity_over_rest(u) / spread).ln()
}
