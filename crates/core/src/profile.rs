//! Profiles: what one pass over the logits records of each row, so that every temperature and every
//! norm can be evaluated afterwards at a cost that does not grow with the number of classes.
//!
//! Of each row a profile keeps its two largest logits, the distance to the label's logit, the p-norms
//! of its plan, the confidences of the estimators that need to see every class, and the logarithm of its
//! tail sum, `L(β) = ln Σ_{j≠1} exp(β (z_j − z_2))`, as a smooth function of `s = ln β`: its value and three derivatives at nodes, five to the octave of `β`. Between
//! nodes it is the polynomial of degree seven that agrees with all of them on both sides.
//!
//! The nodes cost little more than the exponentials of a single octave: doubling `β` squares every
//! term of the sum. With few classes the row itself is smaller than its table and is kept instead.

mod plan;
mod row;
mod state;

pub use plan::ProfilePlan;
pub(crate) use plan::{Column, Recorded};
pub(crate) use row::ProfileRow;
pub use state::ProfileState;

use crate::copies::Clusters;
use crate::elementary::ln;
use crate::error::Error;
use crate::estimator::{Estimator, resolved};
use crate::folds::Folds;
use crate::labels::Labels;
use crate::logits::Logits;
use crate::losses::Losses;
use crate::row::{BATCH, ManyNorms, Row, RowView, Slice, Statistics, TailTable};
use crate::transform::{Centring, Norm, Temperature, Transform};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Up to this many classes the logits themselves are kept: they are exact, and faster to read.
const FEW_CLASSES: usize = 24;

/// Rows that are evaluated together: what is read of their tables fits into the fastest cache.
const ROWS_PER_BLOCK: usize = 16;

/// Estimators that a thread evaluates before it goes on to the next rows: the more they are, the less
/// often all tables come from memory, which takes longer than the arithmetic.
const GROUP: usize = 2 * BATCH;

/// Fewer estimators of one formula are evaluated one by one, which is faster than all lanes for a few.
const FEW_AT_ONCE: usize = 3;

/// The profiles of some rows.
#[derive(Debug, Clone)]
pub struct Profiles {
    classes: usize,
    top: Vec<f64>,
    second: Vec<f64>,
    /// `z_1 − z_label`; infinite where the label is masked.
    label_distance: Vec<f64>,
    losses: Vec<f64>,
    /// The predicted class.
    predictions: Vec<u32>,
    /// The number that was given beside each row, if the plan has it.
    extra: Vec<f64>,
    /// `L(1)`: MSP, the baseline of everything, is always at hand.
    log_tail: Vec<f64>,
    /// `ln H` of the raw row, on which the temperature of HTS depends; if there are exponentials.
    log_entropy: Vec<f64>,
    plan: ProfilePlan,
    /// The deviation of the top class under each centring, in the order of [`Centring::ALL`].
    deviations: Vec<[f64; 3]>,
    /// Each norm of the plan and `−ln |u_1|` under it, by rows.
    norms: Vec<Vec<(f64, f64)>>,
    /// The confidence of each recorded estimator of the plan, by rows.
    confidences: Vec<Vec<f64>>,
    tails: Tails,
    /// Rows that stay on one side of every split and fold.
    clusters: Option<Clusters>,
    /// The temperature of most likelihood, once a method has needed it: all of them share it.
    pub(crate) likeliest: OnceLock<Temperature>,
    /// The same of the rows outside of each of some folds.
    pub(crate) likeliest_outside: OnceLock<(Folds, Vec<Temperature>)>,
}

#[derive(Debug, Clone)]
enum Tails {
    /// No estimator needs them.
    None,
    /// Few classes: the rows, in row-major order.
    Rows(Vec<f64>),
    Tables(Vec<TailTable>),
}

/// What one row contributes.
struct Contribution {
    top: f64,
    second: f64,
    label_distance: f64,
    prediction: u32,
    extra: f64,
    log_tail: f64,
    log_entropy: Option<f64>,
    deviations: [f64; 3],
    norms: Vec<(f64, f64)>,
    confidences: Vec<f64>,
    table: Option<TailTable>,
}

impl Profiles {
    /// Profiles of logits held in memory, under the 0/1 loss.
    pub fn new(logits: &Logits<'_>, labels: &Labels, plan: &ProfilePlan) -> Result<Self, Error> {
        let losses = Losses::zero_one(logits, labels)?;
        let mut profiles = Profiles::empty(logits.classes(), plan);
        profiles.push(logits, labels, &losses)?;
        Ok(profiles)
    }

    /// Profiles of no rows yet.
    pub fn empty(classes: usize, plan: &ProfilePlan) -> Self {
        let plan = plan.clone().for_classes(classes);
        Profiles {
            classes,
            top: Vec::new(),
            second: Vec::new(),
            label_distance: Vec::new(),
            losses: Vec::new(),
            predictions: Vec::new(),
            extra: Vec::new(),
            log_tail: Vec::new(),
            log_entropy: Vec::new(),
            deviations: Vec::new(),
            norms: vec![Vec::new(); plan.norms.len()],
            confidences: vec![Vec::new(); plan.confidences.len()],
            tails: if plan.no_exponentials {
                Tails::None
            } else if classes <= FEW_CLASSES {
                Tails::Rows(Vec::new())
            } else {
                Tails::Tables(Vec::new())
            },
            plan,
            clusters: None,
            likeliest: OnceLock::new(),
            likeliest_outside: OnceLock::new(),
        }
    }

    /// Keeps the rows of each cluster on one side of every split and fold.
    ///
    /// # Panics
    ///
    /// If the clusters are of another number of rows.
    pub fn keep_together(&mut self, clusters: Clusters) {
        assert_eq!(clusters.assignment().len(), self.rows(), "clusters of these rows");
        self.clusters = Some(clusters).filter(|clusters| !clusters.are_single());
    }

    /// Rows that stay on one side of every split and fold.
    pub(crate) fn clusters(&self) -> Option<&Clusters> {
        self.clusters.as_ref()
    }

    /// Adds a chunk of rows, which need not be kept.
    pub fn push(
        &mut self,
        logits: &Logits<'_>,
        labels: &Labels,
        losses: &Losses,
    ) -> Result<(), Error> {
        labels.check_against(logits)?;
        if logits.classes() != self.classes {
            let (found, expected) = (logits.classes(), self.classes);
            return Err(Error::Classes { found, expected });
        }
        if losses.values().len() != logits.rows() {
            let (found, expected) = (losses.values().len(), logits.rows());
            return Err(Error::Length { what: "losses", found, expected });
        }
        if self.plan.extra && !logits.has_extra() {
            return Err(Error::ExtraMissing);
        }
        if let (Tails::Rows(_), true) = (&self.tails, logits.has_masks()) {
            self.rows_to_tables();
        }
        let tables = matches!(self.tails, Tails::Tables(_));
        let exponentials = !self.plan.no_exponentials;
        let record = |i: usize, row: &Row<'_>| {
            let mut norms = ManyNorms::new(row);
            Contribution {
                top: row.top(),
                second: row.second(),
                label_distance: row.distance_to(labels.at(i)),
                // At most as many classes as a label can count.
                prediction: u32::try_from(row.prediction()).unwrap_or(u32::MAX),
                extra: RowView::extra(row),
                log_tail: row.transformed(&Transform::RAW).log_tail(1.0),
                log_entropy: exponentials.then(|| row.log_entropy()),
                deviations: norms.top_deviations(),
                norms: norms.norms(&self.plan.norms),
                confidences: self.plan.recorded_confidences(row, &mut norms),
                table: tables.then(|| TailTable::new(row)),
            }
        };
        let recorded = logits.map_rows(record);
        if let Tails::Rows(rows) = &mut self.tails {
            rows.extend(logits.map_rows(|_, row| row.all().to_vec()).into_iter().flatten());
        }
        for row in recorded {
            self.top.push(row.top);
            self.second.push(row.second);
            self.label_distance.push(row.label_distance);
            self.predictions.push(row.prediction);
            if self.plan.extra {
                self.extra.push(row.extra);
            }
            self.log_tail.push(row.log_tail);
            self.log_entropy.extend(row.log_entropy);
            self.deviations.push(row.deviations);
            for (column, norm) in self.norms.iter_mut().zip(row.norms) {
                column.push(norm);
            }
            for (column, confidence) in self.confidences.iter_mut().zip(row.confidences) {
                column.push(confidence);
            }
            if let (Tails::Tables(tables), Some(table)) = (&mut self.tails, row.table) {
                tables.push(table);
            }
        }
        self.losses.extend(losses.values());
        self.clusters = None;
        self.likeliest = OnceLock::new();
        self.likeliest_outside = OnceLock::new();
        Ok(())
    }

    /// Adds a chunk of rows without labels, which count as right.
    pub fn push_unlabelled(&mut self, logits: &Logits<'_>) -> Result<(), Error> {
        let labels = Labels::new(&logits.predictions(), logits.classes())?;
        let losses = Losses::of_valid(vec![0.0; logits.rows()]);
        self.push(logits, &labels, &losses)
    }

    /// Adds the rows of other profiles of the same plan after these.
    pub fn merge(&mut self, mut other: Profiles) -> Result<(), Error> {
        if (other.classes, &other.plan) != (self.classes, &self.plan) {
            return Err(Error::StatesDiffer);
        }
        match (&self.tails, &other.tails) {
            (Tails::Rows(_), Tails::Tables(_)) => self.rows_to_tables(),
            (Tails::Tables(_), Tails::Rows(_)) => other.rows_to_tables(),
            _ => {}
        }
        for (here, there) in self.columns_mut().zip(other.columns_mut()) {
            here.append(there);
        }
        self.predictions.append(&mut other.predictions);
        self.deviations.append(&mut other.deviations);
        for (here, there) in self.norms.iter_mut().zip(&mut other.norms) {
            here.append(there);
        }
        match (&mut self.tails, other.tails) {
            (Tails::Tables(here), Tails::Tables(mut there)) => here.append(&mut there),
            (Tails::Rows(here), Tails::Rows(mut there)) => here.append(&mut there),
            _ => {}
        }
        self.clusters = None;
        self.likeliest = OnceLock::new();
        self.likeliest_outside = OnceLock::new();
        Ok(())
    }

    /// The columns of one number a row, whether they are used or not.
    fn columns_mut(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        let numbers = [
            &mut self.top,
            &mut self.second,
            &mut self.label_distance,
            &mut self.losses,
            &mut self.extra,
            &mut self.log_tail,
            &mut self.log_entropy,
        ];
        numbers.into_iter().chain(&mut self.confidences)
    }

    /// Makes room for so many more rows: where they are known beforehand, nothing is moved as they come.
    pub fn reserve(&mut self, rows: usize) {
        let numbers = [
            &mut self.top,
            &mut self.second,
            &mut self.label_distance,
            &mut self.log_tail,
            &mut self.losses,
        ];
        for column in numbers.into_iter().chain(&mut self.confidences) {
            column.reserve(rows);
        }
        self.deviations.reserve(rows);
        self.predictions.reserve(rows);
        for column in &mut self.norms {
            column.reserve(rows);
        }
        match &mut self.tails {
            Tails::None => {}
            Tails::Rows(values) => values.reserve(rows * self.classes),
            Tails::Tables(tables) => tables.reserve(rows),
        }
        if !self.plan.no_exponentials {
            self.log_entropy.reserve(rows);
        }
    }

    /// Masked classes need tables: a kept row would carry its `-inf`.
    fn rows_to_tables(&mut self) {
        if let Tails::Rows(rows) = &self.tails {
            let tables = rows
                .par_chunks(self.classes)
                .map(|row| TailTable::new(&Row::new(Slice::Double(row))));
            self.tails = Tails::Tables(tables.collect());
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.top.len()
    }

    /// How many classes the rows have.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The losses of the rows.
    pub fn losses(&self) -> Losses {
        Losses::of_valid(self.losses.clone())
    }

    /// The predicted class of each row.
    pub(crate) fn predictions(&self) -> &[u32] {
        &self.predictions
    }

    /// Whether a further number of each row is recorded.
    pub(crate) fn has_extra(&self) -> bool {
        self.plan.extra
    }

    /// Whether each row is right: its loss is 0.
    pub(crate) fn right(&self) -> Vec<bool> {
        self.losses.iter().map(|&loss| loss == 0.0).collect()
    }

    /// Some of the rows, in the order given.
    ///
    /// # Panics
    ///
    /// If an index is not less than [`Profiles::rows`].
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        self.select_planned(rows, &self.plan)
    }

    /// The same with no more than a plan needs, as far as it was recorded.
    pub(crate) fn select_planned(&self, rows: &[usize], plan: &ProfilePlan) -> Self {
        let plan = self.plan.within(&plan.clone().for_classes(self.classes));
        let kept_norms = plan.norms.iter().filter_map(|norm| {
            let column = self.plan.position(Column::Norm(*norm), self.classes)?;
            Some(rows.iter().map(|&i| self.norms[column][i]).collect())
        });
        let pick = |column: &[f64]| rows.iter().map(|&i| column[i]).collect::<Vec<f64>>();
        Profiles {
            classes: self.classes,
            top: pick(&self.top),
            second: pick(&self.second),
            label_distance: pick(&self.label_distance),
            losses: pick(&self.losses),
            predictions: rows.iter().map(|&i| self.predictions[i]).collect(),
            extra: if plan.extra { pick(&self.extra) } else { Vec::new() },
            log_tail: pick(&self.log_tail),
            log_entropy: if plan.no_exponentials { Vec::new() } else { pick(&self.log_entropy) },
            deviations: rows.iter().map(|&i| self.deviations[i]).collect(),
            norms: kept_norms.collect(),
            confidences: self
                .confidences
                .iter()
                .zip(&self.plan.confidences)
                .filter(|(_, estimator)| plan.confidences.contains(estimator))
                .map(|(column, _)| pick(column))
                .collect(),
            tails: match &self.tails {
                _ if plan.no_exponentials => Tails::None,
                Tails::None => Tails::None,
                Tails::Rows(values) => {
                    let row = |&i: &usize| &values[i * self.classes..(i + 1) * self.classes];
                    Tails::Rows(rows.iter().flat_map(row).copied().collect())
                }
                Tails::Tables(tables) => {
                    Tails::Tables(rows.iter().map(|&i| tables[i].clone()).collect())
                }
            },
            plan,
            clusters: self.clusters.as_ref().map(|clusters| clusters.select(rows)),
            likeliest: OnceLock::new(),
            likeliest_outside: OnceLock::new(),
        }
    }

    /// The mean logit of each row; of masked rows, that of the classes that are left.
    pub fn mean_logits(&self) -> Vec<f64> {
        let deviations = self.deviations.iter().map(|row| row[Centring::Mean as usize]);
        self.top.iter().zip(deviations).map(|(top, deviation)| top - deviation).collect()
    }

    /// The bytes kept for all rows.
    pub fn bytes(&self) -> usize {
        let numbers = 10 + 2 * self.plan.norms.len() + self.plan.confidences.len();
        let tails = match &self.tails {
            Tails::None => 0,
            Tails::Rows(values) => size_of_val(&values[..]),
            Tails::Tables(tables) => {
                tables.iter().map(TailTable::bytes).sum::<usize>() + size_of_val(&tables[..])
            }
        };
        self.rows() * numbers * size_of::<f64>() + tails
    }

    /// The confidences of each estimator, row by row. The plan must have all that they need.
    pub fn confidences(&self, estimators: &[Estimator]) -> Result<Vec<Vec<f64>>, Error> {
        // Those that share a formula side by side, so that they are evaluated together.
        let mut order: Vec<usize> = (0..estimators.len()).collect();
        order.sort_by_key(|&k| estimators[k].formula());
        let sorted: Vec<Estimator> = order.iter().map(|&k| estimators[k].clone()).collect();
        let columns = self.columns_of_each(&sorted)?;
        let found = self.for_each_block(sorted.len(), |rows| {
            let mut out = vec![0.0; sorted.len() * rows.len()];
            confidences_of_block(&sorted, &columns, rows, &mut out);
            out
        });
        let mut out = vec![Vec::new(); estimators.len()];
        order.into_iter().zip(found).for_each(|(k, found)| out[k] = found);
        Ok(out)
    }

    /// What `f` makes of the confidences of each estimator, which are not kept. `f` also gets memory of
    /// its thread.
    pub(crate) fn map_confidences<M: Default, T: Send>(
        &self,
        estimators: &[Estimator],
        f: impl Fn(&mut M, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        if estimators.len() < GROUP * rayon::current_num_threads() {
            // The threads share the rows.
            let confidences = self.confidences(estimators)?;
            return Ok(confidences.par_iter().map_init(M::default, |m, c| f(m, c)).collect());
        }
        let columns = self.columns_of_each(estimators)?;
        let memory = || (M::default(), Vec::new(), vec![Vec::new(); GROUP]);
        let of_group = |(memory, block, out): &mut (M, Vec<f64>, Vec<Vec<f64>>),
                        (some, columns)| {
            let (some, columns): (&[Estimator], &[Vec<usize>]) = (some, columns);
            out.iter_mut().for_each(Vec::clear);
            for first in (0..self.rows()).step_by(ROWS_PER_BLOCK) {
                let rows = self.rows_of_block(first);
                block.resize(some.len() * rows.len(), 0.0);
                confidences_of_block(some, columns, &rows, block);
                for (out, block) in out.iter_mut().zip(block.chunks_exact(rows.len())) {
                    out.extend_from_slice(block);
                }
            }
            out.iter().take(some.len()).map(|c| f(memory, c)).collect::<Vec<T>>()
        };
        let groups = estimators.par_chunks(GROUP).zip(columns.par_chunks(GROUP));
        let found: Vec<Vec<T>> = groups.map_init(memory, of_group).collect();
        Ok(found.into_iter().flatten().collect())
    }

    /// The negative log-likelihood of each row's label under each estimator; NaN for one that
    /// gives no probability to the classes.
    pub(crate) fn log_losses(&self, estimators: &[Estimator]) -> Result<Vec<Vec<f64>>, Error> {
        if let (Tails::None, Some(estimator)) = (&self.tails, estimators.first()) {
            return Err(Error::NotProfiled { estimator: estimator.to_string() });
        }
        let columns =
            |estimator: &Estimator| self.places(estimator, estimator.column_of_log_loss());
        let columns = estimators.iter().map(columns).collect::<Result<Vec<_>, Error>>()?;
        Ok(self.for_each_block(estimators.len(), |rows| {
            let each = |(estimator, columns): (&Estimator, &Vec<usize>)| {
                let log_loss = |row| estimator.log_loss(row, columns).unwrap_or(f64::NAN);
                rows.iter().map(log_loss).collect::<Vec<f64>>()
            };
            estimators.iter().zip(&columns).flat_map(each).collect()
        }))
    }

    /// A number for each of so many estimators and each row, of which `f` gives those of a block, one
    /// estimator after the other: tables are read while they are in the cache.
    fn for_each_block(
        &self,
        estimators: usize,
        f: impl Fn(&[ProfileRow<'_>]) -> Vec<f64> + Sync,
    ) -> Vec<Vec<f64>> {
        let blocks: Vec<Vec<f64>> = (0..self.rows().div_ceil(ROWS_PER_BLOCK))
            .into_par_iter()
            .map(|block| f(&self.rows_of_block(block * ROWS_PER_BLOCK)))
            .collect();
        (0..estimators)
            .into_par_iter()
            .map(|k| {
                let mut out = Vec::with_capacity(self.rows());
                for block in &blocks {
                    let width = block.len() / estimators;
                    out.extend_from_slice(&block[k * width..(k + 1) * width]);
                }
                out
            })
            .collect()
    }

    fn columns_of_each(&self, estimators: &[Estimator]) -> Result<Vec<Vec<usize>>, Error> {
        estimators.iter().map(|estimator| self.columns_of(estimator)).collect()
    }

    fn rows_of_block(&self, first: usize) -> Vec<ProfileRow<'_>> {
        (first..(first + ROWS_PER_BLOCK).min(self.rows())).map(|i| self.row(i)).collect()
    }

    fn columns_of(&self, estimator: &Estimator) -> Result<Vec<usize>, Error> {
        if matches!(self.tails, Tails::None) && estimator.needs_exponentials() {
            return Err(Error::NotProfiled { estimator: estimator.to_string() });
        }
        self.places(estimator, estimator.columns())
    }

    /// Where it has recorded something for an estimator.
    fn places(
        &self,
        estimator: &Estimator,
        columns: impl IntoIterator<Item = Column>,
    ) -> Result<Vec<usize>, Error> {
        let find = |column: Column| {
            let found = self.plan.position(column, self.classes);
            found.ok_or_else(|| Error::NotProfiled { estimator: estimator.to_string() })
        };
        columns.into_iter().map(find).collect()
    }

    /// The mean over the rows of a norm of the plan.
    pub(crate) fn mean_norm(&self, norm: &Norm) -> Option<f64> {
        let column = self.plan.position(Column::Norm(*norm), self.classes)?;
        let sum: f64 = self.norms[column].iter().map(|(norm, _)| norm).sum();
        Some(sum / self.rows() as f64)
    }

    pub(crate) fn row(&self, index: usize) -> ProfileRow<'_> {
        ProfileRow::new(self, index)
    }

    /// `ln Σ_{j≠1} exp(β (z_j − z_2))` of several rows and the mean of `β (z_j − z_2)` under the terms, as
    /// [`Statistics::tail`] has them; those after the last row are not numbers of any.
    pub(crate) fn tails_of(&self, rows: &[usize], beta: f64) -> ([f64; BATCH], [f64; BATCH]) {
        let (mut logs, mut means) = ([0.0; BATCH], [0.0; BATCH]);
        match &self.tails {
            Tails::Tables(tables) if !rows.is_empty() => {
                let of = |k: usize| &tables[rows[k.min(rows.len() - 1)]];
                TailTable::of_each(&std::array::from_fn(of), ln(beta), &mut logs, &mut means);
                if beta == 1.0 {
                    logs.iter_mut().zip(rows).for_each(|(log, &i)| *log = self.log_tail[i]);
                }
            }
            _ => {
                let transform = Transform::of_temperature(1.0 / beta);
                for ((log, mean), &i) in logs.iter_mut().zip(&mut means).zip(rows) {
                    (*log, *mean) = self.row(i).transformed(&transform, 0).tail();
                }
            }
        }
        (logs, means)
    }

    /// The table of a row, if it has one.
    fn table(&self, index: usize) -> Option<&TailTable> {
        match &self.tails {
            Tails::Tables(tables) => tables.get(index),
            Tails::Rows(_) | Tails::None => None,
        }
    }
}

/// The confidences of some estimators on some rows, one estimator after the other. Neighbours that share
/// a formula are evaluated together, row by row.
fn confidences_of_block(
    estimators: &[Estimator],
    columns: &[Vec<usize>],
    rows: &[ProfileRow<'_>],
    out: &mut [f64],
) {
    let width = rows.len();
    let put = |out: &mut [f64], i: usize, found: &[f64]| {
        found.iter().enumerate().for_each(|(k, &c)| out[k * width + i] = c);
    };
    let column = |columns: &Vec<usize>| columns.first().copied().unwrap_or(0);
    let mut first = 0;
    while first < estimators.len() {
        let formula = estimators[first].formula();
        let together = |other: &&Estimator| other.formula() == formula;
        let run = estimators[first + 1..].iter().take(BATCH - 1).take_while(together);
        let end = first + 1 + run.count();
        let (some, columns) = (&estimators[first..end], &columns[first..end]);
        let out = &mut out[first * width..end * width];
        match &some[0] {
            Estimator::Scored { score, .. }
                if score.info().temperature_matters
                    && some.len() >= FEW_AT_ONCE
                    && rows.iter().all(|row| row.table().is_some()) =>
            {
                let transforms = some.iter().zip(columns).filter_map(|(estimator, columns)| {
                    let Estimator::Scored { transform, .. } = estimator else { return None };
                    Some((*transform, column(columns)))
                });
                let transforms: Vec<(Transform, usize)> = transforms.collect();
                for (i, row) in rows.iter().enumerate() {
                    if let Some(table) = row.table() {
                        let found = row.confidences(*score, table, &transforms);
                        put(out, i, &found[..some.len()]);
                    }
                }
            }
            Estimator::Family(of) => {
                let values = some.iter().zip(columns).filter_map(|(estimator, columns)| {
                    let Estimator::Family(family) = estimator else { return None };
                    Some((family.all_values(), column(columns)))
                });
                let (values, mut found) = (values.collect::<Vec<_>>(), vec![0.0; some.len()]);
                for (i, row) in rows.iter().enumerate() {
                    let table = row.table();
                    let temperatures = table.and_then(|_| of.family().temperatures(row, &values));
                    if let (Some(table), Some(temperatures)) = (table, temperatures) {
                        put(out, i, &row.msp_at(table, &temperatures)[..some.len()]);
                        continue;
                    }
                    of.family().confidences(row, &values, &mut found);
                    for c in &mut found {
                        *c = resolved(*c);
                    }
                    put(out, i, &found);
                }
            }
            _ => {
                // Column by column, as they are recorded.
                let each = some.iter().zip(columns).zip(out.chunks_exact_mut(width));
                for ((estimator, columns), out) in each {
                    for (out, row) in out.iter_mut().zip(rows) {
                        *out = estimator.confidence(row, columns);
                    }
                }
            }
        }
        first = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Family;
    use crate::score::Score;

    /// Rows of many shapes: bulk and outliers, ties at the top, one class far ahead, all equal.
    fn hostile_rows(classes: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut uniform = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut rows = Vec::new();
        for row in 0..60 {
            let scale = [0.01, 0.3, 1.0, 3.0, 12.0][row % 5];
            for class in 0..classes {
                let bulk = scale * (uniform() + uniform() + uniform() - 1.5) * 2.0;
                rows.push(match row % 6 {
                    2 if class == 3 => 20.0 * scale,
                    3 if class < 4 => 5.0 * scale,
                    // A finite mask, and the top three close together.
                    1 if class >= classes - 2 => [-1e4, -1e9][row % 2],
                    1 if class < 3 => 6.0 * scale + 0.01 * class as f64,
                    // Everything but the top in one place: the sharpest turn that `L` can take.
                    4 => [9.0 * scale, 7.0 * scale, 0.0][class.min(2)],
                    5 => 1.25,
                    _ => bulk,
                });
            }
        }
        rows
    }

    /// The bound that docs/decisions/profiles.md derives, and far below what could move a metric.
    #[test]
    fn tables_agree_with_the_direct_evaluation() {
        for classes in [3, FEW_CLASSES, FEW_CLASSES + 1, 100, 1000] {
            let rows = hostile_rows(classes);
            let logits = Logits::new(&rows[..], classes).expect("valid");
            let labels = Labels::new(&vec![1_u8; logits.rows()], classes).expect("valid");
            let mut estimators: Vec<Estimator> = Vec::new();
            // LDAM divides by a variance of which a table holds fewer digits.
            let scores = Score::ALL.iter().filter(|&&score| score != Score::Ldam);
            for score in scores.filter(|score| score.info().temperature_matters) {
                let score = score.name();
                for t in [0.01, 0.05, 0.2, 0.5, 1.0, 1.7, 3.0] {
                    estimators.push(format!("{score}-TS(T={t})").parse().expect("valid"));
                }
                for p in ["0", "1", "2.5", "4", "10", "12", "inf"] {
                    estimators
                        .push(format!("{score}-pNorm(p={p}, tau=0.1)").parse().expect("valid"));
                }
            }
            for text in [
                "MaxLogit-pNorm(p=3)",
                "LogitsMargin-pNorm-min(p=5)",
                "MaxLogit-pNorm-shift(p=4, gamma=1)",
                "MSP",
            ] {
                estimators.push(text.parse().expect("valid"));
            }
            let families = Family::ALL.iter().flat_map(|family| family.examples());
            estimators.extend(families.map(Estimator::Family));
            let profiles =
                Profiles::new(&logits, &labels, &ProfilePlan::of(&estimators)).expect("valid");
            let fast = profiles.confidences(&estimators).expect("all in the plan");
            // Rows of kind 4 turn as sharply as a row can; the others are what networks give.
            let mut worst = [(0.0_f64, String::new()), (0.0_f64, String::new())];
            for (estimator, fast) in estimators.iter().zip(&fast) {
                for (row, (direct, fast)) in
                    estimator.confidences(&logits).iter().zip(fast).enumerate()
                {
                    let error = if direct == fast {
                        0.0
                    } else {
                        (direct - fast).abs() / (1.0 + direct.abs())
                    };
                    let worst = &mut worst[usize::from(row % 6 == 4)];
                    if error > worst.0 || error.is_nan() {
                        *worst =
                            (error, format!("{classes}: {estimator}, row {row}: {direct} {fast}"));
                    }
                }
            }
            let bounds = if classes <= FEW_CLASSES { [1e-11, 1e-11] } else { [1e-7, 2e-6] };
            for (worst, bound) in worst.iter().zip(bounds) {
                println!("{classes} classes: {:e} {}", worst.0, worst.1);
                assert!(
                    worst.0 < bound,
                    "{:e}, above {bound:e} (docs/decisions/profiles.md): {}",
                    worst.0,
                    worst.1
                );
            }
        }
    }
}
