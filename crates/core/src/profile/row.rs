//! A row of a profile, and the row under transforms.

use super::{Profiles, Tails};
use crate::elementary::ln;
use crate::row::{
    BATCH, Others, Row, RowView, Scaled, Slice, Statistics, Survey, TailTable, ln_each,
    tail_moments_of,
};
use crate::score::{Score, max_logit};
use crate::transform::{Norm, Transform};

/// A row as its profile knows it.
pub(crate) struct ProfileRow<'a> {
    pub(super) profiles: &'a Profiles,
    index: usize,
    direct: Option<Row<'a>>,
}

impl RowView for ProfileRow<'_> {
    type Transformed<'b>
        = ProfileTransformed<'b>
    where
        Self: 'b;

    #[inline]
    fn transformed(&self, transform: &Transform, column: usize) -> ProfileTransformed<'_> {
        let (top, scale, log_scale, log_share) = self.scaled(transform, column);
        let beta = 1.0 / scale;
        let (top, gap) = (top * beta, self.gap() * beta);
        ProfileTransformed { row: self, top, gap, beta, log_beta: -log_scale, log_share }
    }

    fn max_logit(&self, norm: &Norm, column: usize) -> f64 {
        if norm.p.get() == 0.0 {
            return self.deviation(norm);
        }
        if norm.is_centred() {
            let (_, log_share) = self.profiles.norms[column][self.index];
            return max_logit::normalised(self.deviation(norm), log_share);
        }
        self.profiles.confidences[column][self.index]
    }

    fn recorded(&self, column: usize, _confidence: impl Fn(&Others<'_>) -> f64) -> f64 {
        self.profiles.confidences[column][self.index]
    }

    fn prediction(&self) -> usize {
        self.profiles.predictions[self.index] as usize
    }

    fn extra(&self) -> f64 {
        self.profiles.extra.get(self.index).copied().unwrap_or(f64::NAN)
    }

    fn log_entropy(&self) -> f64 {
        self.profiles.log_entropy.get(self.index).copied().unwrap_or(f64::NEG_INFINITY)
    }
}

impl<'a> ProfileRow<'a> {
    pub(super) fn new(profiles: &'a Profiles, index: usize) -> Self {
        let direct = match &profiles.tails {
            Tails::Rows(values) => {
                let row = &values[index * profiles.classes..(index + 1) * profiles.classes];
                let (top, second) = (profiles.top[index], profiles.second[index]);
                // Norms are recorded, so that nothing reads the smallest.
                let survey = Survey { top, second, smallest: f64::NAN, magnitude: f64::NAN };
                Some(Row::surveyed(Slice::Double(row), &survey))
            }
            Tails::Tables(_) | Tails::None => None,
        };
        ProfileRow { profiles, index, direct }
    }

    /// `z_1 − z_label`; infinite if the label is masked.
    pub(crate) fn label_distance(&self) -> f64 {
        self.profiles.label_distance[self.index]
    }

    /// Its table, if it has one.
    pub(super) fn table(&self) -> Option<&'a TailTable> {
        self.profiles.table(self.index)
    }

    /// `z_1 − z_2`.
    pub(crate) fn gap(&self) -> f64 {
        self.profiles.top[self.index] - self.profiles.second[self.index]
    }

    /// The deviation of the top class.
    fn deviation(&self, norm: &Norm) -> f64 {
        self.profiles.deviations[self.index][norm.centring as usize] + norm.gamma.get()
    }

    /// The top class before it is divided by the scale, the scale, its logarithm, and `−ln |u_1|` under a
    /// norm.
    #[inline]
    fn scaled(&self, transform: &Transform, column: usize) -> (f64, f64, f64, Option<f64>) {
        let (tau, log_tau) = (transform.temperature.get(), transform.temperature.ln());
        match &transform.norm {
            None => (self.profiles.top[self.index], tau, log_tau, None),
            Some(norm) => {
                let (size, log_share) = self.profiles.norms[column][self.index];
                let log_share = (norm.p.get() > 0.0).then_some(log_share);
                (self.deviation(norm), size * tau, ln(size) + log_tau, log_share)
            }
        }
    }

    /// The confidences of a score under several transforms, each with the column of its norm.
    pub(super) fn confidences(
        &self,
        score: Score,
        table: &TailTable,
        transforms: &[(Transform, usize)],
    ) -> [f64; BATCH] {
        let raw = (self.profiles.top[self.index], 1.0, 0.0);
        let mut scales = [raw; BATCH];
        let mut log_temperatures = [0.0; BATCH];
        // Many temperatures in a row share a norm, and its logarithm.
        let mut last = (usize::MAX, raw);
        for (k, (transform, column)) in transforms.iter().enumerate().take(BATCH) {
            if let Some(norm) = &transform.norm {
                if last.0 != *column {
                    let size = self.profiles.norms[*column][self.index].0;
                    last = (*column, (self.deviation(norm), size, ln(size)));
                }
                scales[k] = last.1;
            }
            scales[k].1 *= transform.temperature.get();
            log_temperatures[k] = transform.temperature.ln();
        }
        self.at_scales(score, table, &scales, &log_temperatures)
    }

    /// MSP at several temperatures.
    pub(super) fn msp_at(&self, table: &TailTable, temperatures: &[f64; BATCH]) -> [f64; BATCH] {
        let top = self.profiles.top[self.index];
        let mut log_temperatures = *temperatures;
        ln_each(&mut log_temperatures);
        let scales = temperatures.map(|t| (top, t, 0.0));
        self.at_scales(Score::Msp, table, &scales, &log_temperatures)
    }

    /// The confidences of a score at several scales. Of each there are the top class before it is divided
    /// by the scale, the scale, and two parts of its logarithm.
    fn at_scales(
        &self,
        score: Score,
        table: &TailTable,
        scales: &[(f64, f64, f64); BATCH],
        log_temperatures: &[f64; BATCH],
    ) -> [f64; BATCH] {
        let gap = self.gap();
        let mut scaled = Scaled::new(self.profiles.classes as f64);
        let mut log_betas = [0.0; BATCH];
        for (k, (top, scale, log_norm)) in scales.iter().enumerate() {
            let beta = 1.0 / scale;
            log_betas[k] = -(log_norm + log_temperatures[k]);
            (scaled.beta[k], scaled.top[k], scaled.gap[k]) = (beta, top * beta, gap * beta);
        }
        scaled.read(table, &log_betas, score, self.profiles.log_tail[self.index]);
        scaled.confidences(score)
    }
}

/// A row of a profile under a positive affine map.
pub(crate) struct ProfileTransformed<'a> {
    row: &'a ProfileRow<'a>,
    top: f64,
    gap: f64,
    beta: f64,
    /// From those of norm and temperature: a logarithm for each temperature and row would take longer
    /// than the rest.
    log_beta: f64,
    log_share: Option<f64>,
}

impl Statistics for ProfileTransformed<'_> {
    fn classes(&self) -> f64 {
        self.row.profiles.classes as f64
    }

    fn top(&self) -> f64 {
        self.top
    }

    fn gap(&self) -> f64 {
        self.gap
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn log_share(&self) -> Option<f64> {
        self.log_share
    }

    #[inline]
    fn log_tail(&self, order: f64) -> f64 {
        if order * self.beta == 1.0 {
            return self.row.profiles.log_tail[self.row.index];
        }
        match (&self.row.direct, &self.row.profiles.tails) {
            (Some(row), _) => row.scaled(self.beta).log_tail(order),
            (None, Tails::Tables(tables)) => {
                let log_order = if order == 1.0 { 0.0 } else { ln(order) };
                tables[self.row.index].at(self.log_beta + log_order).0
            }
            (None, Tails::Rows(_) | Tails::None) => f64::NEG_INFINITY,
        }
    }

    #[inline]
    fn tail_mean(&self) -> f64 {
        match (&self.row.direct, &self.row.profiles.tails) {
            (Some(row), _) => row.scaled(self.beta).tail_mean(),
            (None, Tails::Tables(tables)) => tables[self.row.index].at(self.log_beta).1,
            (None, Tails::Rows(_) | Tails::None) => 0.0,
        }
    }

    fn tail(&self) -> (f64, f64) {
        match &self.row.direct {
            Some(row) => row.scaled(self.beta).tail(),
            None => (self.log_tail(1.0), self.tail_mean()),
        }
    }

    fn log_tails(&self) -> (f64, f64) {
        match &self.row.direct {
            Some(row) => row.scaled(self.beta).log_tails(),
            None => (self.log_tail(1.0), self.log_tail(2.0)),
        }
    }

    fn tail_moments(&self) -> (f64, f64) {
        match &self.row.direct {
            Some(row) => row.scaled(self.beta).tail_moments(),
            None => tail_moments_of(self.classes(), self.log_tails()),
        }
    }
}
