//! Profiles: what one pass over the logits records of each row, so that every temperature and every
//! norm can be evaluated afterwards at a cost that does not grow with the number of classes.
//!
//! Of each row a profile keeps its two largest logits, the distance to the label's logit, the p-norms
//! of its plan, the confidences of the estimators that need to see every class, and the logarithm of its tail sum, `L(β) = ln Σ_{j≠1} exp(β (z_j − z_2))`, as a smooth
//! function of `s = ln β`: its value and three derivatives at nodes, five to the octave of `β`. Between
//! nodes it is the polynomial of degree seven that agrees with all of them on both sides.
//!
//! The nodes cost little more than the exponentials of a single octave: doubling `β` squares every
//! term of the sum. With few classes the row itself is smaller than its table and is kept instead.

use crate::error::Error;
use crate::estimator::Estimator;
use crate::family::FamilyEstimator;
use crate::folds::Folds;
use crate::logits::{Labels, Logits};
use crate::losses::Losses;
use crate::row::{Others, Row, RowView, Slice, Statistics, Stretch, Survey, TailTable};
use crate::transform::{Centring, Exponent, Finite, Norm, Temperature, Transform};
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::OnceLock;

/// Up to this many classes the logits themselves are kept: they are exact, and faster to read.
const FEW_CLASSES: usize = 24;

/// Rows that are evaluated together: what is read of their tables fits into the fastest cache.
const ROWS_PER_BLOCK: usize = 32;

/// Estimators that a thread evaluates together: few enough that the confidences of some thousand rows
/// stay in its cache until they are sorted.
const ESTIMATORS_AT_ONCE: usize = 16;

/// What a profile records on request, beside what it records of every row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Column {
    /// A p-norm of the row.
    Norm(Norm),
    /// The confidence that an estimator of a recorded family gives to the row.
    Confidence(FamilyEstimator),
    /// The number that was given beside the row.
    Extra,
}

/// What a profile records: some norms, the confidences of some estimators, and the sums of
/// exponentials unless no estimator needs them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfilePlan {
    norms: Vec<Norm>,
    confidences: Vec<FamilyEstimator>,
    extra: bool,
    no_exponentials: bool,
}

impl ProfilePlan {
    /// What some estimators need; each norm and each confidence is recorded once.
    pub fn of<'a>(estimators: impl IntoIterator<Item = &'a Estimator>) -> Self {
        let mut plan = ProfilePlan::default();
        for column in estimators.into_iter().flat_map(Estimator::columns) {
            plan.add(column);
        }
        plan
    }

    /// The norms with these exponents, under each centring and shift.
    pub fn of_norms(centrings: &[Centring], gammas: &[Finite], exponents: &[Exponent]) -> Self {
        let mut norms = Vec::with_capacity(centrings.len() * gammas.len() * exponents.len());
        for &centring in centrings {
            for &gamma in gammas {
                norms.extend(exponents.iter().map(|&p| Norm { centring, gamma, p }));
            }
        }
        let mut plan = ProfilePlan::default();
        for norm in norms {
            plan.add(Column::Norm(norm));
        }
        plan
    }

    /// The same norms without the sums of exponentials, which take most of the time of a profile.
    /// MSP and scores of the logits themselves, such as MaxLogit-pNorm, do not need them; an estimator
    /// that does is refused by such a profile.
    #[must_use]
    pub fn without_exponentials(mut self) -> Self {
        self.no_exponentials = true;
        self
    }

    /// Adds what another plan records.
    #[must_use]
    pub fn and(mut self, other: &ProfilePlan) -> Self {
        self.no_exponentials &= other.no_exponentials;
        other.norms.iter().for_each(|&norm| self.add(Column::Norm(norm)));
        other.confidences.iter().for_each(|&estimator| self.add(Column::Confidence(estimator)));
        self.extra |= other.extra;
        self
    }

    fn add(&mut self, column: Column) {
        match column {
            Column::Norm(norm) => push_new(&mut self.norms, norm),
            Column::Confidence(estimator) => push_new(&mut self.confidences, estimator),
            Column::Extra => self.extra = true,
        }
    }

    /// The same plan for rows of so many classes, on which some estimators are equal.
    fn for_classes(mut self, classes: usize) -> Self {
        for estimator in std::mem::take(&mut self.confidences) {
            push_new(&mut self.confidences, estimator.for_classes(classes));
        }
        self
    }

    /// What it records that another plan needs as well.
    fn within(&self, other: &ProfilePlan) -> Self {
        let norms = self.norms.iter().filter(|norm| other.norms.contains(norm));
        let confidences = self.confidences.iter().filter(|known| other.confidences.contains(known));
        ProfilePlan {
            norms: norms.copied().collect(),
            confidences: confidences.copied().collect(),
            extra: self.extra,
            no_exponentials: self.no_exponentials || other.no_exponentials,
        }
    }

    /// The confidences that it records of a row, whose classes are sorted once for all of them.
    fn recorded_confidences(&self, row: &Row<'_>) -> Vec<f64> {
        if self.confidences.is_empty() {
            return Vec::new();
        }
        let others = Others::new(row);
        self.confidences.iter().map(|estimator| estimator.confidence(&others, 0)).collect()
    }

    /// Where a profile of this plan for so many classes has recorded something.
    fn position(&self, column: Column, classes: usize) -> Option<usize> {
        match column {
            Column::Norm(norm) => self.norms.iter().position(|known| *known == norm),
            Column::Confidence(estimator) => {
                let estimator = estimator.for_classes(classes);
                self.confidences.iter().position(|known| *known == estimator)
            }
            Column::Extra => self.extra.then_some(0),
        }
    }
}

fn push_new<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.contains(&item) {
        items.push(item);
    }
}

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
    /// Each norm of the plan and what `u_1` misses to 1 under it, by rows.
    norms: Vec<Vec<(f64, f64)>>,
    /// The confidence of each recorded estimator of the plan, by rows.
    confidences: Vec<Vec<f64>>,
    tails: Tails,
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
struct Recorded {
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
            likeliest: OnceLock::new(),
            likeliest_outside: OnceLock::new(),
        }
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
        let recorded = logits.map_rows(|i, row| Recorded {
            top: row.top(),
            second: row.second(),
            label_distance: row.distance_to(labels.at(i)),
            // At most as many classes as a label can count.
            prediction: u32::try_from(row.prediction()).unwrap_or(u32::MAX),
            extra: RowView::extra(row),
            log_tail: row.transformed(&Transform::RAW).log_tail(1.0),
            log_entropy: exponentials.then(|| row.log_entropy()),
            deviations: row.top_deviations(),
            norms: row.norms(&self.plan.norms),
            confidences: self.plan.recorded_confidences(row),
            table: tables.then(|| TailTable::new(row)),
        });
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
        self.for_each_row(estimators, |estimator, columns, rows, out| {
            estimator.add_confidences(rows, columns, out);
        })
    }

    /// What `f` makes of the confidences of each estimator, which are not kept. `f` also gets memory of
    /// its thread.
    pub(crate) fn map_confidences<M: Default, T: Send>(
        &self,
        estimators: &[Estimator],
        f: impl Fn(&mut M, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        if estimators.len() < ESTIMATORS_AT_ONCE * rayon::current_num_threads() {
            // The threads share the rows.
            let confidences = self.confidences(estimators)?;
            return Ok(confidences.par_iter().map_init(M::default, |m, c| f(m, c)).collect());
        }
        let columns = self.columns_of_each(estimators)?;
        let estimators = estimators.par_chunks(ESTIMATORS_AT_ONCE);
        let memory = || (M::default(), vec![Vec::new(); ESTIMATORS_AT_ONCE]);
        let of_group = |(memory, out): &mut (M, Vec<Vec<f64>>), (estimators, columns)| {
            let estimators: &[Estimator] = estimators;
            let columns: &[Vec<usize>] = columns;
            out.iter_mut().for_each(Vec::clear);
            for first in (0..self.rows()).step_by(ROWS_PER_BLOCK) {
                let rows = self.rows_of_block(first);
                for ((out, estimator), columns) in out.iter_mut().zip(estimators).zip(columns) {
                    estimator.add_confidences(&rows, columns, out);
                }
            }
            out.iter().take(estimators.len()).map(|c| f(memory, c)).collect::<Vec<T>>()
        };
        let groups = estimators.zip(columns.par_chunks(ESTIMATORS_AT_ONCE));
        let found: Vec<Vec<T>> = groups.map_init(memory, of_group).collect();
        Ok(found.into_iter().flatten().collect())
    }

    /// The negative log-likelihood of each row's label under each estimator; NaN for one that
    /// gives no probability to the classes.
    pub(crate) fn log_losses(&self, estimators: &[Estimator]) -> Result<Vec<Vec<f64>>, Error> {
        if let (Tails::None, Some(estimator)) = (&self.tails, estimators.first()) {
            return Err(Error::NotProfiled { estimator: estimator.to_string() });
        }
        self.for_each_row(estimators, |estimator, columns, rows, out| {
            let log_loss = |row| estimator.log_loss(row, columns).unwrap_or(f64::NAN);
            out.extend(rows.iter().map(log_loss));
        })
    }

    /// A number for each estimator and row; tables are read while they are in the cache.
    fn for_each_row(
        &self,
        estimators: &[Estimator],
        f: impl Fn(&Estimator, &[usize], &[ProfileRow<'_>], &mut Vec<f64>) + Sync,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let columns = self.columns_of_each(estimators)?;
        let blocks: Vec<Vec<f64>> = (0..self.rows().div_ceil(ROWS_PER_BLOCK))
            .into_par_iter()
            .map(|block| {
                let rows = self.rows_of_block(block * ROWS_PER_BLOCK);
                let mut out = Vec::with_capacity(estimators.len() * rows.len());
                for (estimator, columns) in estimators.iter().zip(&columns) {
                    f(estimator, columns, &rows, &mut out);
                }
                out
            })
            .collect();
        Ok((0..estimators.len())
            .into_par_iter()
            .map(|k| {
                let mut out = Vec::with_capacity(self.rows());
                for block in &blocks {
                    let width = block.len() / estimators.len();
                    out.extend_from_slice(&block[k * width..(k + 1) * width]);
                }
                out
            })
            .collect())
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
        let find = |column: Column| {
            let found = self.plan.position(column, self.classes);
            found.ok_or_else(|| Error::NotProfiled { estimator: estimator.to_string() })
        };
        estimator.columns().into_iter().map(find).collect()
    }

    /// The mean over the rows of a norm of the plan.
    pub(crate) fn mean_norm(&self, norm: &Norm) -> Option<f64> {
        let column = self.plan.position(Column::Norm(*norm), self.classes)?;
        let sum: f64 = self.norms[column].iter().map(|(norm, _)| norm).sum();
        Some(sum / self.rows() as f64)
    }

    pub(crate) fn row(&self, index: usize) -> ProfileRow<'_> {
        ProfileRow {
            profiles: self,
            index,
            direct: match &self.tails {
                Tails::Rows(values) => {
                    let row = &values[index * self.classes..(index + 1) * self.classes];
                    let (top, second) = (self.top[index], self.second[index]);
                    // Norms are recorded, so that nothing reads the smallest.
                    let survey = Survey { top, second, smallest: f64::NAN, magnitude: f64::NAN };
                    Some(Row::surveyed(Slice::Double(row), &survey))
                }
                Tails::Tables(_) | Tails::None => None,
            },
            stretches: Default::default(),
            log_norm: Cell::new((usize::MAX, 0.0)),
        }
    }
}

/// A row as its profile knows it.
pub(crate) struct ProfileRow<'a> {
    profiles: &'a Profiles,
    index: usize,
    direct: Option<Row<'a>>,
    /// What was read last of its table, for orders 1 and 2.
    stretches: [Stretch; 2],
    /// The column of norms that was read last, and the logarithm of the norm.
    log_norm: Cell<(usize, f64)>,
}

impl RowView for ProfileRow<'_> {
    type Transformed<'b>
        = ProfileTransformed<'b>
    where
        Self: 'b;

    #[inline]
    fn transformed(&self, transform: &Transform, column: usize) -> ProfileTransformed<'_> {
        let profiles = self.profiles;
        let tau = transform.temperature.get();
        let top = profiles.top[self.index];
        let gap = top - profiles.second[self.index];
        let (top, scale, log_norm, missing) = match &transform.norm {
            None => (top, tau, 0.0, None),
            Some(norm) => {
                let deviation = profiles.deviations[self.index][norm.centring as usize];
                let (size, missing) = profiles.norms[column][self.index];
                let missing = (norm.p.get() > 0.0).then_some(missing);
                (deviation + norm.gamma.get(), size * tau, self.log_norm(column, size), missing)
            }
        };
        let beta = 1.0 / scale;
        let (top, gap) = (top * beta, gap * beta);
        let log_beta = -(log_norm + transform.temperature.ln());
        ProfileTransformed { row: self, top, gap, beta, log_beta, missing }
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

impl ProfileRow<'_> {
    /// `z_1 − z_label`; infinite if the label is masked.
    pub(crate) fn label_distance(&self) -> f64 {
        self.profiles.label_distance[self.index]
    }

    /// The logarithm of a norm, which many temperatures in a row share.
    #[inline]
    fn log_norm(&self, column: usize, size: f64) -> f64 {
        let (known, log) = self.log_norm.get();
        if known == column {
            return log;
        }
        let log = size.ln();
        self.log_norm.set((column, log));
        log
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
    missing: Option<f64>,
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

    fn missing_to_one(&self) -> Option<f64> {
        self.missing
    }

    #[inline]
    fn log_tail(&self, order: f64) -> f64 {
        if order * self.beta == 1.0 {
            return self.row.profiles.log_tail[self.row.index];
        }
        match (&self.row.direct, &self.row.profiles.tails) {
            (Some(row), _) => row.scaled(self.beta).log_tail(order),
            (None, Tails::Tables(tables)) => {
                let table = &tables[self.row.index];
                if order == 1.0 {
                    table.value(self.log_beta, &self.row.stretches[0])
                } else {
                    table.value(self.log_beta + order.ln(), &self.row.stretches[1])
                }
            }
            (None, Tails::Rows(_) | Tails::None) => f64::NEG_INFINITY,
        }
    }

    #[inline]
    fn tail_mean(&self) -> f64 {
        match (&self.row.direct, &self.row.profiles.tails) {
            (Some(row), _) => row.scaled(self.beta).tail_mean(),
            (None, Tails::Tables(tables)) => {
                tables[self.row.index].slope(self.log_beta, &self.row.stretches[0])
            }
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
        if let Some(row) = &self.row.direct {
            return row.scaled(self.beta).tail_moments();
        }
        // E[w²] / E[w]² − 1 by expm1, which keeps what little there is between nearly equal weights.
        let count = self.classes() - 1.0;
        let log_tail = self.log_tail(1.0);
        let mean = log_tail.exp() / count;
        let excess = (self.log_tail(2.0) - 2.0 * log_tail + count.ln()).exp_m1();
        (mean, (mean * mean * excess).max(0.0))
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
