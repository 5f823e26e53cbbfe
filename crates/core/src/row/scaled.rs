//! One row of a profile at several scales.

use super::{Statistics, TailTable, simd, tail_moments_of};
use crate::score::Score;

/// How many scales are worked on at once: two of the widest registers.
pub(crate) const BATCH: usize = 16;

/// The statistics of a row at several scales, side by side, so that the formula of a score is evaluated
/// for all of them at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scaled {
    classes: f64,
    pub(crate) top: [f64; BATCH],
    pub(crate) gap: [f64; BATCH],
    pub(crate) beta: [f64; BATCH],
    log_tail: [f64; BATCH],
    tail_mean: [f64; BATCH],
    log_tail_of_squares: [f64; BATCH],
}

impl Scaled {
    pub(crate) fn new(classes: f64) -> Self {
        Scaled { classes, ..Scaled::default() }
    }

    /// Reads the sums of exponentials at scales with these logarithms; their means and those of the squares
    /// unless the score is known not to need them. `raw` is that of the row as it is.
    pub(crate) fn read(
        &mut self,
        table: &TailTable,
        log_betas: &[f64; BATCH],
        score: Score,
        raw: f64,
    ) {
        let of_logits = [Score::Msp, Score::SoftmaxMargin, Score::Energy].contains(&score);
        let slopes = (!of_logits).then_some(&mut self.tail_mean);
        table.at_each(log_betas, &mut self.log_tail, slopes);
        if !(of_logits || score == Score::NegativeEntropy) {
            let doubled = log_betas.map(|log_beta| log_beta + std::f64::consts::LN_2);
            table.at_each(&doubled, &mut self.log_tail_of_squares, None);
        }
        // Where it is known without the table.
        for k in 0..BATCH {
            if self.beta[k] == 1.0 {
                self.log_tail[k] = raw;
            }
            if self.beta[k] == 0.5 {
                self.log_tail_of_squares[k] = raw;
            }
        }
    }

    /// The confidence of the row at each scale.
    pub(crate) fn confidences(&self, score: Score) -> [f64; BATCH] {
        simd::confidences_at_scales(score, self)
    }

    /// The row at one of the scales.
    #[inline(always)]
    pub(super) fn at(&self, scale: usize) -> AtScale<'_> {
        AtScale { row: self, scale }
    }
}

/// A row at one of several scales.
#[derive(Clone, Copy)]
pub(super) struct AtScale<'a> {
    row: &'a Scaled,
    scale: usize,
}

impl Statistics for AtScale<'_> {
    #[inline(always)]
    fn classes(&self) -> f64 {
        self.row.classes
    }

    #[inline(always)]
    fn top(&self) -> f64 {
        self.row.top[self.scale]
    }

    #[inline(always)]
    fn gap(&self) -> f64 {
        self.row.gap[self.scale]
    }

    #[inline(always)]
    fn beta(&self) -> f64 {
        self.row.beta[self.scale]
    }

    /// Only scores that do not change with the scale ask for it.
    #[inline(always)]
    fn log_share(&self) -> Option<f64> {
        None
    }

    #[inline(always)]
    fn log_tail(&self, order: f64) -> f64 {
        let of = if order == 1.0 { &self.row.log_tail } else { &self.row.log_tail_of_squares };
        of[self.scale]
    }

    #[inline(always)]
    fn tail_mean(&self) -> f64 {
        self.row.tail_mean[self.scale]
    }

    #[inline(always)]
    fn tail_moments(&self) -> (f64, f64) {
        tail_moments_of(self.classes(), self.log_tails())
    }
}
