//! The log-odds of being right, recalibrated on rows that did not tune them.
//!
//! A stack is fitted in steps, and the last of them, the offsets of predicted classes, moves the
//! probabilities that the earlier ones fitted. The log-odds `f` of rows out of fold show by how much:
//! `α + β f` maximises their likelihood under a ridge that draws `α` to 0 and `β` to 1, and is used if it
//! has more likelihood than `f` by cross-validation. The order of rows stays as it is.

use crate::folds::Folds;

/// The ridge of `α` and of `β − 1`: as much as some hundred rows of middling confidence say.
const RIDGE: f64 = 10.0;

/// A smaller slope would make different confidences equal.
const LEAST_SLOPE: f64 = 0.1;

/// A map of log-odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Recalibration {
    pub(crate) intercept: f64,
    pub(crate) slope: f64,
}

impl Recalibration {
    /// The one of most likelihood on rows out of fold; none if it is not better by cross-validation.
    pub(crate) fn of(log_odds: &[f64], right: &[bool], folds: &Folds) -> Option<Self> {
        let rows: Vec<(f64, f64)> = log_odds
            .iter()
            .zip(right)
            .map(|(&log_odds, &right)| (log_odds, f64::from(u8::from(right))))
            .collect();
        let mut gained = 0.0;
        for fold in 0..folds.count() {
            let outside: Vec<(f64, f64)> =
                folds.outside(fold).iter().map(|&row| rows[row]).collect();
            let found = Self::fit(&outside)?;
            let inside = rows.iter().zip(folds.assignment()).filter(|(_, of_row)| **of_row == fold);
            gained += inside
                .map(|(&(log_odds, right), _)| {
                    log_loss(log_odds, right) - log_loss(found.apply(log_odds), right)
                })
                .sum::<f64>();
        }
        if gained > 0.0 { Self::fit(&rows) } else { None }
    }

    /// The log-odds that it makes of some.
    pub(crate) fn apply(&self, log_odds: f64) -> f64 {
        self.intercept + self.slope * log_odds
    }

    /// By Newton's method; none where the rows would turn the order round.
    fn fit(rows: &[(f64, f64)]) -> Option<Self> {
        let mut found = Recalibration { intercept: 0.0, slope: 1.0 };
        for _ in 0..50 {
            let (mut g0, mut g1) = (RIDGE * found.intercept, RIDGE * (found.slope - 1.0));
            let (mut h00, mut h01, mut h11) = (RIDGE, 0.0, RIDGE);
            for &(log_odds, right) in rows {
                let p = 1.0 / (1.0 + (-found.apply(log_odds)).exp());
                let v = p * (1.0 - p);
                g0 += p - right;
                g1 += (p - right) * log_odds;
                h00 += v;
                h01 += v * log_odds;
                h11 += v * log_odds * log_odds;
            }
            let determinant = h00 * h11 - h01 * h01;
            let steps = [(h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant];
            // At most 1 at a time: the likelihood is far from quadratic where all rows are sure.
            let largest = steps[0].abs().max(steps[1].abs()).max(1.0);
            found.intercept -= steps[0] / largest;
            found.slope -= steps[1] / largest;
            if steps[0].abs().max(steps[1].abs()) < 1e-10 {
                break;
            }
        }
        let valid = found.intercept.is_finite() && found.slope >= LEAST_SLOPE;
        valid.then_some(found)
    }
}

/// `−ln P` of being right or wrong.
fn log_loss(log_odds: f64, right: f64) -> f64 {
    let towards = if right > 0.5 { -log_odds } else { log_odds };
    towards.max(0.0) + (-towards.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Rows whose log-odds are too large by a factor and shifted.
    fn rows(n: usize, slope: f64, shift: f64) -> (Vec<f64>, Vec<bool>) {
        let mut random = Random::new(4);
        let mut uniform = || random.below(1 << 40) as f64 / 2_f64.powi(40);
        let draw = |_: usize| {
            let truth = 6.0 * uniform() - 2.0;
            (slope * truth + shift, uniform() < 1.0 / (1.0 + (-truth).exp()))
        };
        (0..n).map(draw).unzip()
    }

    #[test]
    fn rows_out_of_fold_mend_scale_and_shift_and_few_of_them_little() {
        let found = |n: usize, slope: f64, shift: f64| {
            let (log_odds, right) = rows(n, slope, shift);
            let folds = Folds::new(&right, None, 5, 0).expect("folds");
            Recalibration::of(&log_odds, &right, &folds)
        };
        let mended = found(20_000, 2.0, -1.0).expect("far from calibrated");
        assert!((mended.slope - 0.5).abs() < 0.03, "{mended:?}");
        assert!((mended.intercept - 0.5).abs() < 0.05, "{mended:?}");
        let few = found(60, 2.0, -1.0).expect("far from calibrated");
        assert!((mended.slope..1.0).contains(&few.slope), "{few:?}");
    }

    #[test]
    fn calibrated_rows_stay_nearly_as_they_are() {
        let (log_odds, right) = rows(2000, 1.0, 0.0);
        let folds = Folds::new(&right, None, 5, 0).expect("folds");
        if let Some(found) = Recalibration::of(&log_odds, &right, &folds) {
            assert!((found.slope - 1.0).abs() < 0.1 && found.intercept.abs() < 0.1, "{found:?}");
        }
    }
}
