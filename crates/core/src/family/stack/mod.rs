//! Stacks: linear combinations of several scores of a row.
//!
//! - **Definition**: `b + o_ŷ + Σ_k w_k q((g_k − m_k) / s_k)`, where `g_k` are scores of the row, `m_k` and
//!   `s_k` their mean and standard deviation on the rows it was fitted on, and `q` is the identity up to 2
//!   and grows as a logarithm beyond: one wild score cannot decide. A probability counts as its log-odds.
//!   `o_ŷ` is the offset of the predicted class, if there are any. One of the `g_k` may be a number that is
//!   given beside the row ([`Estimator::Extra`]).
//! - **Range and direction**: of the *Stack*, the log-odds of being right, so that its value is a
//!   probability; of *LabelFree*, which is fitted without labels, any real number. Higher is surer.
//! - **Invariances**: those that all of its scores share.
//! - **Undefined when**: never. Infinite scores are treated as very large ones.
//! - **Rank scale**: the sum itself.
//! - **Fit**: [`anchored`].
//! - **Cost**: that of its scores.
//!
//! Stacks of the first edition, without the field `soft_clip` in JSON, take the scores on their rank
//! scale and clip at ±5; [`ridge`] fits them.

pub mod anchored;
mod logistic;
pub mod ridge;

use crate::error::Error;
use crate::estimator::Estimator;
use crate::profile::{Column, Profiles};
use crate::row::{RowView, Statistics};
use crate::transform::Transform;
pub use anchored::Anchored;
pub use ridge::Ridge;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How standardised scores are kept from deciding alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clip {
    /// The identity up to this; `knee + ln(1 + |t| − knee)` beyond, with the sign of `t`.
    Soft(f64),
    /// Nothing beyond this.
    Hard(f64),
}

impl Clip {
    /// That of fitted stacks.
    pub const SOFT: Clip = Clip::Soft(2.0);

    /// That of the first edition.
    pub const HARD: Clip = Clip::Hard(5.0);

    /// The largest number that a soft clip tells from infinity.
    const LARGEST: f64 = 1e12;

    pub(crate) fn apply(self, t: f64) -> f64 {
        match self {
            Clip::Hard(limit) => t.clamp(-limit, limit),
            Clip::Soft(knee) if t.abs() <= knee => t,
            Clip::Soft(knee) => (knee + (t.abs().min(Self::LARGEST) - knee).ln_1p()).copysign(t),
        }
    }
}

/// How a stack is fitted.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub enum StackRecipe {
    /// The anchored stack. Its means, deviations and skewness are those of the deployment, if rows of
    /// it are given, or else of the tuning rows.
    Anchored {
        /// Rows of the deployment, of which no labels are needed.
        #[serde(skip)]
        deployment: Option<Deployment>,
        /// Whether the number that is given beside each row is one more term.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        extra: bool,
    },
    /// The first edition: some scores and one ridge penalty.
    Ridge(Ridge),
}

/// Rows of the deployment. Two of them are equal if they share memory.
#[derive(Debug, Clone)]
pub struct Deployment {
    profiles: Arc<Profiles>,
    fingerprint: Option<String>,
}

impl Deployment {
    /// The rows of a profile whose plan has all that [`Anchored::scores`] need, and the SHA-256 by
    /// which they are recognised later.
    pub fn new(profiles: Profiles, fingerprint: Option<String>) -> Self {
        Deployment { profiles: Arc::new(profiles), fingerprint }
    }
}

impl PartialEq for Deployment {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.profiles, &other.profiles)
    }
}

impl Default for StackRecipe {
    /// What measurement favours (docs/decisions/method-and-fallback.md).
    fn default() -> Self {
        StackRecipe::Anchored { deployment: None, extra: false }
    }
}

impl StackRecipe {
    /// The scores that it is made of.
    pub fn scores(&self) -> Vec<Estimator> {
        match self {
            StackRecipe::Anchored { extra, .. } => {
                let mut scores = Anchored::scores();
                scores.extend(extra.then_some(Estimator::Extra));
                scores
            }
            StackRecipe::Ridge(ridge) => ridge.scores.clone(),
        }
    }

    /// Fits it on the rows of a profile, whose losses count as right where they are 0.
    pub fn fit(&self, profiles: &Profiles) -> Result<Estimator, Error> {
        match self {
            StackRecipe::Anchored { .. } => Anchored::fit_for(profiles, self.deployment()),
            StackRecipe::Ridge(ridge) => ridge.fit(profiles).map(Estimator::Stack),
        }
    }

    /// The label-free rule of the rows of a profile, or of the deployment.
    pub fn label_free(&self, profiles: &Profiles) -> Result<Estimator, Error> {
        Anchored::label_free(self.deployment().unwrap_or(profiles))
    }

    fn deployment(&self) -> Option<&Profiles> {
        match self {
            StackRecipe::Anchored { deployment, .. } => {
                deployment.as_ref().map(|rows| &*rows.profiles)
            }
            StackRecipe::Ridge(_) => None,
        }
    }

    /// The SHA-256 of the rows of the deployment.
    pub fn deployment_fingerprint(&self) -> Option<&str> {
        match self {
            StackRecipe::Anchored { deployment: Some(rows), .. } => rows.fingerprint.as_deref(),
            _ => None,
        }
    }
}

/// One score of a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The score.
    pub estimator: Estimator,
    /// Its mean on the rows that the stack was fitted on.
    pub mean: f64,
    /// Its standard deviation there; positive.
    pub deviation: f64,
    /// Its weight.
    pub weight: f64,
}

impl Term {
    /// The number that is standardised, from the confidence on the rank scale.
    pub(crate) fn number(&self, confidence: f64, classes: usize, clip: Clip) -> f64 {
        match clip {
            Clip::Soft(_) if !self.estimator.is_probability() => {
                self.estimator.value(confidence, classes)
            }
            _ => confidence,
        }
    }

    /// A number, standardised and clipped.
    pub(crate) fn standardised(&self, number: f64, clip: Clip) -> f64 {
        clip.apply((number - self.mean) / self.deviation)
    }
}

/// A stack.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    pub(crate) labelled: bool,
    pub(crate) clip: Clip,
    pub(crate) intercept: f64,
    pub(crate) terms: Vec<Term>,
    /// What is added for each predicted class; nothing if empty.
    pub(crate) class_offsets: Vec<f64>,
}

impl From<Stack> for Estimator {
    fn from(stack: Stack) -> Self {
        Estimator::Stack(stack)
    }
}

impl Stack {
    /// The name of a stack that was fitted to labels.
    pub const NAME: &'static str = "Stack";

    /// The name of one that was not.
    pub const LABEL_FREE: &'static str = "LabelFree";

    /// One sentence on the stack that was fitted to labels.
    pub const SUMMARY: &'static str =
        "logistic regression of being right on several scores of the row";

    /// One sentence on the one that was not.
    pub const LABEL_FREE_SUMMARY: &'static str =
        "several scores weighted by the skewness of MSP, without labels";

    /// What it computes, in words.
    pub fn formula(&self) -> &'static str {
        if self.labelled {
            "the chance of being right, by a logistic regression on scores of the row"
        } else {
            "a weighted sum of scores of the row, fitted without labels"
        }
    }

    /// A stack of terms; none of them may be a stack itself. `labelled` says whether it was fitted to
    /// labels, so that its values are probabilities of being right.
    pub fn new(
        labelled: bool,
        clip: Clip,
        intercept: f64,
        terms: Vec<Term>,
    ) -> Result<Self, Error> {
        if terms.is_empty() {
            return Err(Error::Parameter { name: "terms", value: 0.0, wanted: "at least 1" });
        }
        let valid = |x: f64| x.abs() <= 1e100;
        let numbers = |t: &Term| [t.mean, t.weight, t.deviation];
        let mut all = terms.iter().flat_map(numbers).chain([intercept]);
        if let Some(value) = all.find(|&x| !valid(x)) {
            let wanted = "a number between -1e100 and 1e100";
            return Err(Error::Parameter { name: "a number of the stack", value, wanted });
        }
        if let Some(term) = terms.iter().find(|t| t.deviation < 1e-100) {
            let (value, wanted) = (term.deviation, "at least 1e-100");
            return Err(Error::Parameter { name: "a deviation of the stack", value, wanted });
        }
        if terms.iter().any(|term| matches!(term.estimator, Estimator::Stack(_))) {
            let problem = "a term of a stack is a stack itself".to_string();
            return Err(Error::Syntax { text: Self::NAME.into(), problem });
        }
        match clip {
            Clip::Soft(limit) | Clip::Hard(limit) if (1e-3..=1e6).contains(&limit) => {}
            Clip::Soft(value) | Clip::Hard(value) => {
                let wanted = "a number from 0.001 to 1e6";
                return Err(Error::Parameter { name: "soft_clip", value, wanted });
            }
        }
        Ok(Stack { labelled, clip, intercept, terms, class_offsets: Vec::new() })
    }

    /// The same stack with a number that is added for each predicted class; none for no such numbers.
    pub fn with_class_offsets(mut self, offsets: Vec<f64>) -> Result<Self, Error> {
        if let Some(&value) = offsets.iter().find(|x| x.is_nan() || x.abs() > 1e100) {
            let wanted = "a number between -1e100 and 1e100";
            return Err(Error::Parameter { name: "a class offset of the stack", value, wanted });
        }
        self.class_offsets = offsets;
        Ok(self)
    }

    /// The stack whose confidence is `intercept` plus `slope`, a positive number, times this one's.
    pub(crate) fn rescaled(&self, intercept: f64, slope: f64) -> Self {
        let mut stack = self.clone();
        stack.intercept = intercept + slope * stack.intercept;
        for term in &mut stack.terms {
            term.weight *= slope;
        }
        for offset in &mut stack.class_offsets {
            *offset *= slope;
        }
        stack
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        if self.labelled { Self::NAME } else { Self::LABEL_FREE }
    }

    /// Whether it was fitted to labels: its values are probabilities of being right.
    pub fn is_labelled(&self) -> bool {
        self.labelled
    }

    /// How its standardised scores are clipped.
    pub fn clip(&self) -> Clip {
        self.clip
    }

    /// The intercept.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What is added for each predicted class; empty if nothing is.
    pub fn class_offsets(&self) -> &[f64] {
        &self.class_offsets
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = Column> {
        self.terms.iter().filter_map(|term| term.estimator.column())
    }

    pub(crate) fn confidence<R: RowView>(&self, row: &R, mut columns: &[usize]) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let classes = row.transformed(&Transform::RAW, 0).classes() as usize;
        let mut sum = self.intercept;
        if !self.class_offsets.is_empty() {
            sum += self.class_offsets.get(row.prediction()).copied().unwrap_or(0.0);
        }
        for term in &self.terms {
            let confidence = term.estimator.confidence(row, columns);
            let number = term.number(confidence, classes, self.clip);
            sum += term.weight * term.standardised(number, self.clip);
            if term.estimator.column().is_some() {
                columns = columns.get(1..).unwrap_or(&[]);
            }
        }
        sum
    }
}

/// The scores as terms without a weight, and their standardised columns on the rows of a profile. A
/// constant score, as a p-norm of two classes, is left out: it does not tell rows apart.
fn standardised_terms(
    scores: &[Estimator],
    profiles: &Profiles,
    clip: Clip,
) -> Result<(Vec<Term>, Vec<Vec<f64>>), Error> {
    let (mut terms, mut columns) = (Vec::new(), Vec::new());
    for (estimator, mut column) in scores.iter().zip(profiles.confidences(scores)?) {
        let mut term =
            Term { estimator: estimator.clone(), mean: 0.0, deviation: 1.0, weight: 0.0 };
        for x in &mut column {
            *x = term.number(*x, profiles.classes(), clip);
        }
        (term.mean, term.deviation) = mean_and_deviation(&column);
        if term.deviation > 1e-9 * (1.0 + term.mean.abs()) {
            for x in &mut column {
                *x = term.standardised(*x, clip);
            }
            terms.push(term);
            columns.push(column);
        }
    }
    Ok((terms, columns))
}

/// Of the finite values: infinite ones are clipped when they are standardised.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().filter(|x| x.is_finite());
    let n = finite().count().max(1) as f64;
    let mean = finite().sum::<f64>() / n;
    let variance = finite().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logits::Logits;

    fn term(text: &str, mean: f64, deviation: f64, weight: f64) -> Term {
        Term { estimator: text.parse().expect("valid"), mean, deviation, weight }
    }

    /// By hand: margins of 2, 0 and 100, of which the last is clipped; MaxLogit of 3, 1 and 100.
    #[test]
    fn the_sum_of_standardised_and_clipped_scores() {
        let logits = Logits::new(&[3.0, 1.0, 1.0, 1.0, 100.0, 0.0], 2).expect("valid");
        let terms = vec![term("LogitsMargin", 1.0, 2.0, 3.0), term("MaxLogit", 1.0, 4.0, -1.0)];
        let stack = Estimator::from(Stack::new(true, Clip::HARD, 0.25, terms).expect("valid"));
        let wanted = [0.25 + 1.5 - 0.5, 0.25 - 1.5, 0.25 + 3.0 * 5.0 - 5.0];
        assert_eq!(stack.confidences(&logits), wanted);
        let value = stack.values(&logits)[0];
        assert!((value - 1.0 / (1.0 + (-1.25_f64).exp())).abs() < 1e-15);
    }

    #[test]
    fn bad_stacks_are_refused() {
        let refuse = |b, terms| Stack::new(true, Clip::SOFT, b, terms).unwrap_err();
        let number = |error| matches!(error, Error::Parameter { .. });
        assert!(number(refuse(0.0, vec![])));
        assert!(number(refuse(f64::NAN, vec![term("MSP", 0.0, 1.0, 1.0)])));
        assert!(number(refuse(0.0, vec![term("MSP", f64::INFINITY, 1.0, 1.0)])));
        assert!(number(refuse(0.0, vec![term("MSP", 0.0, 0.0, 1.0)])));
        let inner = Estimator::from(
            Stack::new(true, Clip::SOFT, 0.0, vec![term("MSP", 0.0, 1.0, 1.0)]).expect("valid"),
        );
        let nested = Term { estimator: inner, ..term("MSP", 0.0, 1.0, 1.0) };
        assert!(matches!(refuse(0.0, vec![nested]), Error::Syntax { .. }));
        assert!("Stack".parse::<Estimator>().is_err());
    }
}
