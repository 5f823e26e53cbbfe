//! What is requested of tuning.

use crate::copies::{self, Repeats};
use crate::error::LabError;
use crate::rows::Collected;
use crate::split::Holdout;
use crate::target::{AT_LEAST_1, Target, check_delta};
use abstain::certify::Procedure;
use abstain::{
    Error, Fallback, Intervals, Losses, Method, Metric, Objective, RowSource, Tuner,
    family::stack::StackRecipe,
    internal::{Clusters, Folds, ProfilePlan, permutation},
    method::TransformKind,
    metric::MetricKind,
};

/// The rows that tune by default: a dozen parameters need no more, and neither memory nor time grow
/// with the file.
const MAX_ROWS: usize = 20_000;

/// The rows on which methods are compared at most, by default: differences of NAURC below a thousandth
/// concern nobody.
const MAX_COMPARED: usize = 100_000;

/// Which rows tune, and which measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Division {
    /// All rows do both, in turns.
    CrossFit,
    /// A random part tunes, and the others measure and certify.
    Split(Holdout),
    /// The rows decide nothing about this method: all of them measure and certify.
    Fixed(Method),
}

/// How methods are tuned, measured and certified.
#[derive(Debug, Clone)]
pub struct TuneRequest {
    /// The methods; MSP, the baseline, is always measured beside them.
    pub methods: Vec<Method>,
    /// How to tune.
    pub tuner: Tuner,
    /// What the accepted rows must meet; a usual target of the classifier's accuracy by default.
    pub target: Option<Target>,
    /// The probability with which a certificate may fail; without it nothing is certified.
    pub delta: Option<f64>,
    /// How a threshold is certified.
    pub procedure: Procedure,
    /// How many folds the rows are cross-fitted in.
    pub folds: usize,
    /// How many rows tune, where the others are to measure; none for a cross-fit.
    pub holdout: Option<Holdout>,
    /// How many random splits the table is averaged over, if more than one; choice and certificate
    /// are the first's.
    pub splits: usize,
    /// How many rows tune at most: beyond, they are drawn at random.
    pub max_rows: usize,
    /// What equal rows count as.
    pub repeats: Repeats,
    /// On how many test rows the methods are compared at most: beyond, they are drawn at random. A
    /// threshold or a certificate is that of all test rows.
    pub max_compared: usize,
    /// The replicates of bootstrap intervals, whose seed is the tuner's; closed forms without.
    pub replicates: Option<usize>,
}

impl Default for TuneRequest {
    fn default() -> Self {
        TuneRequest {
            methods: Tuner::methods_of_the_paper(),
            tuner: Tuner::default(),
            target: None,
            delta: None,
            procedure: Procedure::default(),
            folds: Folds::DEFAULT,
            holdout: None,
            splits: 1,
            max_rows: MAX_ROWS,
            repeats: Repeats::default(),
            max_compared: MAX_COMPARED,
            replicates: None,
        }
    }
}

impl TuneRequest {
    /// Methods by name, each once; `all` stands for those of the paper and the stack.
    pub fn methods_by_name<T: AsRef<str>>(names: &[T]) -> Result<Vec<Method>, Error> {
        let mut methods: Vec<Method> = Vec::new();
        for name in names {
            let named = match name.as_ref() {
                all if all.eq_ignore_ascii_case("all") => Tuner::methods_of_the_paper(),
                name => vec![name.parse()?],
            };
            for method in named {
                if !methods.contains(&method) {
                    methods.push(method);
                }
            }
        }
        Ok(methods)
    }

    /// Checks everything that does not depend on rows.
    pub fn check(&self) -> Result<(), LabError> {
        if let Objective::Metric(metric) = self.tuner.objective
            && metric.kind() == MetricKind::Accuracy
        {
            return Err(LabError::ConstantObjective);
        }
        if self.splits == 0 {
            return Err(Error::Parameter { name: "splits", value: 0.0, wanted: AT_LEAST_1 }.into());
        }
        Folds::check(self.folds)?;
        if self.max_rows == 0 {
            let (name, wanted) = ("max_rows", AT_LEAST_1);
            return Err(Error::Parameter { name, value: 0.0, wanted }.into());
        }
        if let Some(target) = self.target {
            target.check()?;
        }
        if let Some(delta) = self.delta {
            check_delta(delta)?;
            // A target that the test rows suggest cannot be certified on them.
            if self.target.is_none() {
                return Err(LabError::DeltaWithoutTarget);
            }
        }
        Ok(())
    }

    /// The request for the rows of a source: an extra column is one more term of the stack.
    pub(super) fn for_rows(&self, source: &dyn RowSource) -> Result<TuneRequest, LabError> {
        let mut request = self.clone();
        if source.has_extra()
            && let StackRecipe::Anchored { deployment, extra } = &mut request.tuner.stack
        {
            if deployment.is_some() {
                return Err(LabError::ExtraOfOneSet);
            }
            *extra = true;
        }
        Ok(request)
    }

    /// Refuses to certify on the unlabelled rows that give the stack its scale: given their logits, the
    /// losses are no longer binomial.
    pub(super) fn check_certifying(&self, rows: &Collected) -> Result<(), LabError> {
        let scaled_on = self.tuner.stack.deployment_fingerprint();
        let same = scaled_on.is_some() && scaled_on == rows.fingerprints.alone.as_deref();
        if self.delta.is_some() && same { Err(LabError::CertifyingRowsScaled) } else { Ok(()) }
    }

    /// What the rows of one source are used for.
    pub(super) fn division(&self) -> Division {
        match self.holdout {
            Some(holdout) => Division::Split(holdout),
            None if self.splits > 1 => Division::Split(Holdout::Usual),
            None if self.delta.is_some() && self.fixed_method().is_some() => {
                Division::Fixed(self.fixed_method().unwrap_or(Method::MSP))
            }
            // A certificate needs rows that had no part in the choice of the estimator.
            None if self.delta.is_some() => Division::Split(Holdout::BeforeCertifying),
            None => Division::CrossFit,
        }
    }

    /// The method, if it has no parameters and no rule may put another one in its place: MSP alone, or
    /// one raw score (or the extra column) without a fallback.
    fn fixed_method(&self) -> Option<Method> {
        let others: Vec<Method> =
            self.methods.iter().copied().filter(|method| *method != Method::MSP).collect();
        match others[..] {
            [] => Some(Method::MSP),
            // Requested beside it, MSP is no candidate: it is the baseline in any case.
            [method] if self.tuner.fallback == Fallback::None => {
                let raw = matches!(method, Method::Scored { transform: TransformKind::Raw, .. });
                (raw || method == Method::Extra).then_some(method)
            }
            _ => None,
        }
    }

    /// The rows that tune, of so many, if they are not all of them.
    pub(super) fn sample(&self, rows: usize) -> Option<Vec<usize>> {
        self.drawn(rows, self.max_rows)
    }

    /// The test rows on which methods are compared, of so many, if they are not all of them.
    pub(super) fn compared(&self, rows: usize) -> Option<Vec<usize>> {
        self.drawn(rows, self.max_compared)
    }

    /// So many rows at random, if there are more; in ascending order.
    fn drawn(&self, rows: usize, most: usize) -> Option<Vec<usize>> {
        (rows > most).then(|| {
            let mut sample = permutation(rows, self.tuner.seed);
            sample.truncate(most);
            sample.sort_unstable();
            sample.shrink_to_fit();
            sample
        })
    }

    /// Which rows of a source belong together, by their keys as far as they are known; nothing if all are
    /// alone.
    pub(super) fn clusters(&self, source: &dyn RowSource, keys: &[u64]) -> Option<Clusters> {
        copies::clusters(keys, source.fold_groups(), self.repeats)
    }

    /// What the profiles of tuning rows must hold.
    pub(super) fn plan(&self) -> ProfilePlan {
        self.tuner.plan(&self.methods)
    }

    /// What the accepted rows must meet.
    pub(super) fn target_of(&self, losses: &Losses) -> Target {
        match self.target {
            None => Target::usual_for(losses),
            // There is an accuracy only where errors are counted.
            Some(target) if !losses.is_zero_one() => Target::Risk(target.risk()),
            Some(target) => target,
        }
    }

    pub(crate) fn intervals(&self) -> Intervals {
        Intervals { level: 0.95, replicates: self.replicates, seed: self.tuner.seed }
    }

    /// What decides whether a method is better: the objective, if it is a metric of rankings.
    pub(super) fn deciding_metric(&self) -> Metric {
        match self.tuner.objective {
            // For one classifier, NAURC is AURC on a readable scale.
            Objective::Metric(metric) if metric != Metric::AURC => metric,
            _ => Metric::NAURC,
        }
    }

    /// The request of one split: as if it were run alone with that seed.
    pub(super) fn of_split(&self, index: usize) -> TuneRequest {
        let seed = self.tuner.seed.wrapping_add(index as u64);
        TuneRequest { tuner: Tuner { seed, ..self.tuner.clone() }, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_once() {
        let methods = TuneRequest::methods_by_name(&["stack", "All", "MSP"]).expect("names");
        let mut expected = vec![Method::Stack];
        let paper = Tuner::methods_of_the_paper().into_iter();
        expected.extend(paper.filter(|method| *method != Method::Stack));
        assert_eq!(methods, expected);
        assert!(TuneRequest::methods_by_name(&["Stack", "conformal"]).is_err());
    }

    #[test]
    fn requests_without_sense_are_refused() {
        let with = |change: &dyn Fn(&mut TuneRequest)| {
            let mut request = TuneRequest::default();
            change(&mut request);
            request.check()
        };
        assert!(with(&|_| {}).is_ok());
        assert!(with(&|request| request.splits = 0).is_err());
        assert!(with(&|request| request.folds = 1).is_err());
        assert!(with(&|request| request.max_rows = 0).is_err());
        let accuracy = |request: &mut TuneRequest| {
            request.tuner.objective = "accuracy".parse().expect("a metric");
        };
        assert!(matches!(with(&accuracy), Err(LabError::ConstantObjective)));
        let no_target = with(&|request| request.delta = Some(0.05));
        assert!(matches!(no_target, Err(LabError::DeltaWithoutTarget)));
        for delta in [0.0, 1.0, f64::NAN] {
            let refused = with(&|request| {
                (request.delta, request.target) = (Some(delta), Some(Target::Accuracy(0.9)));
            });
            assert!(refused.is_err(), "{delta}");
        }
        for target in [Target::Accuracy(1.0), Target::Accuracy(0.0), Target::Risk(0.0)] {
            assert!(with(&|request| request.target = Some(target)).is_err(), "{target:?}");
        }
        assert!(with(&|request| request.target = Some(Target::Risk(2.5))).is_ok());
    }
}
