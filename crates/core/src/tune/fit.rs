//! Tuning as one call, for rows in memory.

use super::Tuner;
use crate::copies::Clusters;
use crate::curve::RcCurve;
use crate::error::{Error, Undefined};
use crate::estimator::Estimator;
use crate::folds::Folds;
use crate::interval::{Interval, Intervals};
use crate::labels::Labels;
use crate::logits::Logits;
use crate::method::Method;
use crate::metric::Metric;
use crate::profile::Profiles;

/// An estimator that was tuned on all rows, and its worth on rows that it has not seen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// The estimator to use; MSP if nothing better was found.
    pub estimator: Estimator,
    /// Whether the method fell back to MSP.
    pub fell_back: bool,
    /// NAURC, cross-fitted: each row is ranked by an estimator that was tuned without it.
    pub naurc: Result<Interval, Undefined>,
    /// MSP's NAURC less this one, on the same rows. A positive number is a gain. The interval is that of
    /// `estimator`, which is tuned on all rows.
    pub gain: Result<Interval, Undefined>,
}

/// Tunes the recommended method on labelled rows, and measures it by cross-fitting.
///
/// ```
/// use abstain::{Labels, Logits};
///
/// # let numbers: Vec<u32> = (0..600_u32).map(|i| i.wrapping_mul(2654435761) >> 20).collect();
/// # let values: Vec<f64> = numbers.iter().map(|&x| f64::from(x) / 500.0).collect();
/// # let answers: Vec<u32> = numbers.chunks(3).map(|x| x[0] % 3).collect();
/// let (logits, labels) = (Logits::new(values, 3)?, Labels::new(&answers, 3)?);
/// let fit = abstain::tune(&logits, &labels)?;
/// let confidences = fit.estimator.confidences(&logits);
/// if let Ok(gain) = fit.gain {
///     println!("{}: gain {:.3} [{:.3}, {:.3}]", fit.estimator, gain.estimate, gain.low, gain.high);
/// }
/// # assert_eq!(confidences.len(), 200);
/// # Ok::<(), abstain::Error>(())
/// ```
///
/// [`Tuner::fit`] takes another method, objective, search space or fallback. A threshold is certified on
/// other rows, by [`crate::certify::Certifier`].
pub fn tune(logits: &Logits<'_>, labels: &Labels) -> Result<Fit, Error> {
    Tuner::default().fit(Tuner::RECOMMENDED, logits, labels)
}

impl Tuner {
    /// Tunes a method on labelled rows, and measures it by cross-fitting.
    pub fn fit(&self, method: Method, logits: &Logits<'_>, labels: &Labels) -> Result<Fit, Error> {
        let mut profiles = Profiles::new(logits, labels, &self.plan(&[method]))?;
        let keys: Vec<u64> = logits.row_marks().iter().map(|mark| mark.key).collect();
        profiles.keep_together(Clusters::of_copies(&keys));
        let folds = self.folds(&profiles, Folds::DEFAULT)?;
        let fitted = self.cross_fit(method, &profiles, &folds)?;
        let (losses, msp) = (profiles.losses(), profiles.confidences(&[Estimator::MSP])?);
        let columns = [&fitted.out_of_fold[..], &msp[0][..]];
        let measured =
            Intervals::default().compare(&[Metric::NAURC], &columns, &losses, &mut |_| {})?;
        let naurc = |column: &[f64]| -> Result<Result<f64, Undefined>, Error> {
            Ok(Metric::NAURC.evaluate(&RcCurve::new(column, &losses)?))
        };
        let gain = match (naurc(&msp[0])?, naurc(&fitted.in_sample)?) {
            (Ok(of_msp), Ok(of_fit)) => {
                measured[1][0].difference.map(|gain| gain.of_fit_on_all_rows(of_msp - of_fit))
            }
            _ => measured[1][0].difference,
        };
        Ok(Fit {
            estimator: fitted.tuned.estimator,
            fell_back: fitted.tuned.fell_back,
            naurc: measured[0][0].value,
            gain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::Losses;

    fn rows(classes: u32) -> (Logits<'static>, Labels) {
        let numbers: Vec<u32> =
            (0..400 * classes).map(|i| i.wrapping_mul(2_654_435_761) >> 18).collect();
        let labels: Vec<u32> =
            numbers.chunks(classes as usize).map(|row| row[0] % classes).collect();
        let values: Vec<f64> = (numbers.iter().enumerate())
            .map(|(place, &x)| {
                let (row, class) = (place / classes as usize, place % classes as usize);
                // The scale differs from row to row, which misleads MSP.
                let scale = 1.0 + f64::from(numbers[row * classes as usize + 1] % 7);
                scale
                    * (f64::from(x % 1000) / 500.0
                        + f64::from(u8::from(labels[row] as usize == class)))
            })
            .collect();
        let logits = Logits::new(values, classes as usize).expect("logits");
        (logits, Labels::new(&labels, classes as usize).expect("labels"))
    }

    #[test]
    fn a_fit_is_what_cross_fitting_gives() {
        let (logits, labels) = rows(5);
        let fit = tune(&logits, &labels).expect("tuned");
        let tuner = Tuner::default();
        let profiles =
            Profiles::new(&logits, &labels, &tuner.plan(&[Tuner::RECOMMENDED])).expect("profiles");
        let folds = tuner.folds(&profiles, Folds::DEFAULT).expect("folds");
        let tuned = tuner.cross_fit(Tuner::RECOMMENDED, &profiles, &folds).expect("tuned").tuned;
        assert_eq!((&fit.estimator, fit.fell_back), (&tuned.estimator, tuned.fell_back));
        assert_ne!(fit.estimator, Estimator::MSP);
        // The gain is against MSP on the same rows.
        let losses = Losses::zero_one(&logits, &labels).expect("losses");
        let msp = RcCurve::new(&Estimator::MSP.confidences(&logits), &losses).expect("a curve");
        let naurc = fit.naurc.expect("defined").estimate;
        let gain = fit.gain.expect("defined").estimate;
        let of_msp = Metric::NAURC.evaluate(&msp).expect("defined");
        assert!((of_msp - naurc - gain).abs() < 1e-12, "{of_msp} {naurc} {gain}");
    }

    #[test]
    fn msp_gains_nothing_over_itself_and_few_rows_are_refused() {
        let (logits, labels) = rows(3);
        let fit = Tuner::default().fit(Method::MSP, &logits, &labels).expect("measured");
        assert_eq!(fit.estimator, Estimator::MSP);
        assert_eq!(fit.gain.map(|gain| (gain.low, gain.high)), Ok((0.0, 0.0)));
        let few = tune(&logits.select(&[0]), &labels.select(&[0]));
        assert!(few.is_err(), "{few:?}");
    }
}
