//! Watching a selective classifier after deployment.
//!
//! A certificate is a promise about the rows of the day it was made. A [`Monitor`] compares what comes
//! later with it, row by row, in constant memory and without a history. Each of its tests is an e-process:
//! evidence that, while its hypothesis is true, ever reaches 1/α with probability at most α, however often
//! one looks. An alarm is raised there, and never taken back.
//!
//! | test | hypothesis | needs |
//! |---|---|---|
//! | risk | the risk among accepted rows is at most the target | labels of some accepted rows |
//! | coverage | as large a share is accepted as of the certifying rows | nothing |
//! | confidences | confidences are distributed as those of the certifying rows | their [`Reference`] |
//! | predictions | so are predicted classes | their [`Reference`] |
//!
//! The risk has the level α, the tests without labels share α, and so do groups. Part of the wealth of a test is kept for later starts, so that a long good time does
//! not hide a change. Labels may come late, in any order and for some rows only, as long as which ones come
//! depends neither on whether answers are right nor on their confidence; or with the propensities by
//! which rows were sampled.
//!
//! [`Monitor::certified`] lists thresholds that the labels of the stream certify anew, at any time.
//! [`Estimates`] of the accuracy need no labels and guarantee nothing.
//!
//! States are merged by [`Monitor::merge`]. Where several parts of a stream are each looked at, state their
//! number ([`MonitorSettings::parts`]): their alarms, and those of mergers in one order, share α.
//!
//! ```
//! use abstain::monitor::{Feedback, Monitor, MonitorSettings, Record};
//! use abstain::{Artifact, Threshold};
//!
//! let mut artifact = Artifact::new("MSP".parse()?);
//! artifact.rule = Some(Threshold::given(2.0).into());
//! let settings = MonitorSettings { target_risk: Some(0.03), ..MonitorSettings::default() };
//! let mut monitor = Monitor::new(&artifact, &settings)?;
//! for row in 0..200 {
//!     monitor.record(&Record::new(3.0));
//!     // One answer in five is wrong.
//!     let loss = if row % 5 == 0 { 1.0 } else { 0.0 };
//!     monitor.label(&Feedback::new(row, 3.0, loss))?;
//! }
//! let report = monitor.report();
//! let risk = report.risk.expect("a target");
//! assert!(risk.test.alarm.is_some_and(|alarm| alarm.row < 100));
//! assert!(risk.interval.0 > 0.03);
//! # Ok::<(), abstain::Error>(())
//! ```

mod again;
mod audit;
mod filter;
mod mean;
mod reference;
mod report;
mod restarts;
mod selection;
mod shift;
mod sum;
#[cfg(test)]
mod tests;
mod thresholds;

use crate::artifact::{Artifact, extended};
use crate::error::Error;
use crate::threshold::{Basis, Threshold, reaches};
use again::Again;
use mean::Starts;
use selection::{Place, SelectionTest};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shift::Order;
use std::collections::BTreeMap;
use sum::Sum;

pub use audit::{AuditPlan, LabelsNeeded, Strata, Stratum};
pub use mean::{MeanTest, SinceChange, running_interval};
pub use reference::{Edge, Ranks, Reference};
pub use report::{
    CoverageReport, GroupReport, MonitorReport, NamedAlarm, RiskReport, ShiftReport, TestReport,
};
pub use selection::{Selected, SelectedBy, SelectionReport};
pub use shift::ShiftTest;
pub use thresholds::{AnytimeCertificate, ThresholdTests};

/// What a monitor promises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorSettings {
    /// The largest probability of a false alarm: of the risk, and of all tests without labels together.
    pub alpha: f64,
    /// The largest risk among accepted rows; by default that of the artifact's threshold.
    pub target_risk: Option<f64>,
    /// The probability with which thresholds that are certified anew may fail.
    pub delta: f64,
    /// The largest loss: losses and target are divided by it.
    pub max_loss: f64,
    /// The states that will be merged and are each looked at: they share α and δ.
    pub parts: u32,
    /// The groups that are tested, at most: they share α.
    pub groups: u32,
    /// Whether rows that were not accepted have labels as accepted ones do, so that thresholds below the one
    /// in use may be certified: with labels of accepted rows alone, they would be on sure rows only.
    pub abstained_labelled: bool,
    /// The seed that puts equal numbers in order.
    pub seed: u64,
}

impl Default for MonitorSettings {
    fn default() -> Self {
        let (alpha, delta, max_loss) = (0.05, 0.05, 1.0);
        MonitorSettings {
            alpha,
            target_risk: None,
            delta,
            max_loss,
            parts: 1,
            groups: 20,
            abstained_labelled: false,
            seed: 0,
        }
    }
}

/// A row of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
    /// Its confidence.
    pub confidence: f64,
    /// The predicted class.
    pub prediction: Option<u32>,
    /// The probability that the answer is right, if the estimator is one.
    pub probability: Option<f64>,
    /// The group that it belongs to.
    pub group: Option<&'a str>,
    /// The number of the row in the stream, from 0, where the monitor sees a part of it; by default the
    /// rows so far.
    pub row: Option<u64>,
}

impl Record<'_> {
    /// A row of which nothing else is known.
    pub fn new(confidence: f64) -> Self {
        Record { confidence, prediction: None, probability: None, group: None, row: None }
    }
}

/// A label of a row, or rather what the answer cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feedback<'a> {
    /// The number of the row in the stream, from 0.
    pub row: u64,
    /// Its confidence.
    pub confidence: f64,
    /// What the answer cost.
    pub loss: f64,
    /// The smallest propensity of the rows that were sampled over that of this one; 1 if all rows had the
    /// same.
    pub weight: f64,
    /// The group that it belongs to.
    pub group: Option<&'a str>,
    /// The predicted class.
    pub prediction: Option<u32>,
    /// Whether the row was chosen with a known propensity, which the weight stands for.
    pub sampled: bool,
}

impl Feedback<'_> {
    /// A label of full weight.
    pub fn new(row: u64, confidence: f64, loss: f64) -> Self {
        let (group, prediction, sampled) = (None, None, false);
        Feedback { row, confidence, loss, weight: 1.0, group, prediction, sampled }
    }
}

/// When the evidence reached 1/α.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// The number of the row of the stream.
    pub row: u64,
    /// The observations of the test until then.
    pub observations: u64,
    /// The natural logarithm of the evidence then.
    pub log_e_value: f64,
    /// The row since which a change is likeliest, if the test looks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<u64>,
}

impl Alarm {
    /// The row before which nothing is known of what comes after the alarm.
    fn since(&self) -> u64 {
        self.change.unwrap_or(self.row)
    }

    fn earlier(a: Option<Alarm>, b: Option<Alarm>) -> Option<Alarm> {
        [a, b].into_iter().flatten().min_by_key(|alarm| alarm.row)
    }
}

/// Sums for estimates of the accuracy of accepted rows, which need no labels and guarantee nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EstimateSums {
    /// Accepted rows, those of them that reach the confidence of [`Reference::right_from`], and those with a
    /// probability.
    accepted: u64,
    reached: u64,
    with_probability: u64,
    probability: Sum,
}

/// Estimates of the accuracy of accepted rows, which need no labels and guarantee nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Estimates {
    /// By average thresholded confidence: the share of accepted rows that are as sure as the right ones of
    /// the certifying rows were.
    pub thresholded_confidence: Option<f64>,
    /// The mean probability of being right that the estimator states.
    pub probability: Option<f64>,
}

/// One group of the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    records: u64,
    accepted: u64,
    risk: Option<MeanTest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Tag {
    #[serde(rename = "abstain-monitor")]
    Monitor,
}

/// The state of a stream that is watched. See the [module](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Monitor {
    format: Tag,
    version: u32,
    settings: MonitorSettings,
    /// The threshold in use.
    #[serde(with = "extended")]
    at: f64,
    /// The share that it accepted of the certifying rows.
    coverage: Option<f64>,
    /// The confidence of [`Reference::right_from`].
    #[serde(default, with = "reference::optional", skip_serializing_if = "Option::is_none")]
    right_from: Option<f64>,
    records: u64,
    /// The number after the last row of the stream that was recorded.
    next_row: u64,
    /// One more than the largest row that has a label.
    labelled_to: u64,
    accepted: u64,
    labels: u64,
    risk: Option<MeanTest>,
    /// Whether too many or too few rows are accepted.
    coverage_high: Option<MeanTest>,
    coverage_low: Option<MeanTest>,
    confidences: Option<ShiftTest>,
    predictions: Option<ShiftTest>,
    /// Whether the stream changes once more after an alarm of a shift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    again: Option<Again>,
    estimates: EstimateSums,
    thresholds: Option<ThresholdTests>,
    /// Whether labels are of a random part of the rows.
    #[serde(default)]
    selection: Option<SelectionTest>,
    groups: BTreeMap<String, Group>,
    /// Rows of groups beyond the largest number of them.
    ungrouped: u64,
}

/// Coverage, confidences and predictions share α: an alarm without a label is false with probability at
/// most α, whichever test raises it.
const UNLABELLED_TESTS: f64 = 3.0;

/// More rows than any stream has; what claims more would overflow.
const MOST_ROWS: u64 = 1 << 53;

/// More parts than any stream has.
const MOST_STREAMS: u32 = 1 << 20;

const BETWEEN_0_AND_1: &str = "a number between 0 and 1, both excluded";

impl Monitor {
    /// The version of the state.
    pub const VERSION: u32 = 1;

    /// Watches what an artifact accepts. Without a target, risk is not tested; without the coverage of the
    /// certifying rows or their [`Reference`], neither are these.
    pub fn new(artifact: &Artifact, settings: &MonitorSettings) -> Result<Self, Error> {
        let threshold = artifact.one_threshold()?.ok_or(Error::NoThreshold)?;
        let MonitorSettings { alpha, delta, max_loss, parts, groups, seed, .. } = *settings;
        let target = settings.target_risk.or_else(|| threshold.target_risk());
        for (name, value) in [("alpha", alpha), ("delta", delta)] {
            check_share(name, value)?;
        }
        if !(max_loss > 0.0 && max_loss.is_finite()) {
            let wanted = "a finite number above 0";
            return Err(Error::Parameter { name: "max_loss", value: max_loss, wanted });
        }
        for (name, value) in [("parts", parts), ("groups", groups)] {
            if value == 0 {
                return Err(Error::Parameter { name, value: 0.0, wanted: "at least 1" });
            }
        }
        if let Some(target) = target {
            check_share("target_risk", target / max_loss)?;
        }
        let looks = looks(parts);
        let (alpha, delta) = (alpha / looks, delta / looks);
        let target = target.map(|target| target / max_loss);
        let (at, reference) = (threshold.at, artifact.reference.as_ref());
        let coverage = threshold.coverage();
        let unlabelled = alpha / UNLABELLED_TESTS;
        let allowed = allowed_coverage(threshold, unlabelled);
        let side = |limit: f64| {
            (limit < 1.0).then(|| MeanTest::new(limit, unlabelled / 4.0, Starts::Always))
        };
        // The reference is that of the estimator that was chosen among those that were tried on the rows.
        let tried = threshold.tried() as f64;
        let shift = |ranks: Option<&Ranks>, order, seed| {
            ranks.map(|ranks| ShiftTest::new(ranks.clone(), order, unlabelled / tried, seed))
        };
        let ranks = reference.map(|reference| &reference.confidences);
        let classes = reference.and_then(|reference| reference.predictions.as_ref());
        let lowest = if settings.abstained_labelled { f64::NEG_INFINITY } else { at };
        Ok(Monitor {
            format: Tag::Monitor,
            version: Self::VERSION,
            settings: *settings,
            at,
            coverage,
            right_from: reference.and_then(|reference| reference.right_from),
            records: 0,
            next_row: 0,
            labelled_to: 0,
            accepted: 0,
            labels: 0,
            risk: target.map(|target| MeanTest::new(target, alpha, Starts::Always)),
            coverage_high: allowed.and_then(|(_, high)| side(high)),
            coverage_low: allowed.and_then(|(low, _)| side(1.0 - low)),
            confidences: shift(ranks, Order::Ordered, seed),
            predictions: shift(classes, Order::Nominal, seed ^ 1),
            again: None,
            estimates: EstimateSums::default(),
            thresholds: target.map(|target| ThresholdTests::new(target, delta, at, lowest, ranks)),
            selection: Some(SelectionTest::new(ranks, lowest, groups, looks)),
            groups: BTreeMap::new(),
            ungrouped: 0,
        })
    }

    /// What it promises.
    pub fn settings(&self) -> &MonitorSettings {
        &self.settings
    }

    /// The threshold in use.
    pub fn threshold(&self) -> f64 {
        self.at
    }

    /// The rows so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// One more than the largest number of a row so far: labels of rows below it may come.
    pub fn rows(&self) -> u64 {
        self.next_row.max(self.records)
    }

    /// The labels so far, those of rows that were not accepted included.
    pub fn labels(&self) -> u64 {
        self.labels
    }

    /// The labels of accepted rows so far.
    pub fn labels_of_accepted(&self) -> u64 {
        self.risk.as_ref().map_or(0, MeanTest::observations)
    }

    /// Whether an alarm stands.
    pub fn has_alarm(&self) -> bool {
        let tests = [&self.risk, &self.coverage_high, &self.coverage_low];
        let groups = self.groups.values().map(|group| &group.risk);
        tests.into_iter().chain(groups).flatten().any(|test| test.alarm().is_some())
            || self.shift().is_some()
    }

    /// The earliest alarm of a test without labels.
    fn shift(&self) -> Option<Alarm> {
        let coverage = [&self.coverage_high, &self.coverage_low].into_iter().flatten();
        let shifts = [&self.confidences, &self.predictions].into_iter().flatten();
        let alarms = coverage.map(MeanTest::alarm).chain(shifts.map(ShiftTest::alarm));
        alarms.fold(None, Alarm::earlier)
    }

    /// How many alarms were raised so far: the same number means that no further one was.
    pub fn alarms_raised(&self) -> u64 {
        let tests = [&self.risk, &self.coverage_high, &self.coverage_low];
        let groups = self.groups.values().map(|group| &group.risk);
        let tests = tests.into_iter().chain(groups).flatten().map(MeanTest::alarm);
        let shifts = [&self.confidences, &self.predictions].into_iter().flatten();
        let standing = tests.chain(shifts.map(ShiftTest::alarm)).flatten().count() as u64;
        standing + self.again.as_ref().map_or(0, Again::changes)
    }

    /// The rows before this one are of another distribution than those since, as far as alarms of tests
    /// without labels show it.
    pub fn changed_since(&self) -> Option<u64> {
        let again = self.again.as_ref().and_then(Again::alarm);
        again.or(self.shift()).map(|alarm| alarm.since())
    }

    /// Counts a row. Its confidence must not be NaN.
    pub fn record(&mut self, record: &Record<'_>) {
        let accept = reaches(record.confidence, self.at);
        let row = record.row.unwrap_or(self.records);
        self.records += 1;
        self.next_row = self.next_row.max(row.saturating_add(1));
        self.accepted += u64::from(accept);
        let accepts = if accept { 1.0 } else { 0.0 };
        let mut raised = [None; 5];
        if let Some(test) = &mut self.again {
            raised[0] = test.observe(row, record.confidence);
        }
        if let Some(test) = &mut self.coverage_high {
            raised[1] = test.observe(row, accepts, 1.0).then(|| test.alarm()).flatten();
        }
        if let Some(test) = &mut self.coverage_low {
            raised[2] = test.observe(row, 1.0 - accepts, 1.0).then(|| test.alarm()).flatten();
        }
        if let Some(test) = &mut self.confidences {
            raised[3] = test.observe(row, record.confidence).then(|| test.alarm()).flatten();
        }
        if let (Some(test), Some(class)) = (&mut self.predictions, record.prediction) {
            raised[4] = test.observe(row, f64::from(class)).then(|| test.alarm()).flatten();
        }
        for alarm in raised.into_iter().flatten() {
            self.changed(alarm);
        }
        if let Some(thresholds) = &mut self.thresholds {
            thresholds.record(record.confidence);
        }
        if let Some(test) = &mut self.selection
            && (accept || self.settings.abstained_labelled)
        {
            let Record { confidence, prediction: class, group, .. } = *record;
            test.record(&Place { row, confidence, class, group });
        }
        if accept {
            self.estimates.accepted += 1;
            let reached = self.right_from.is_some_and(|from| record.confidence >= from);
            self.estimates.reached += u64::from(reached);
            if let Some(probability) = record.probability {
                self.estimates.with_probability += 1;
                self.estimates.probability.add(Sum::nearest(probability));
            }
        }
        if let Some(group) = record.group {
            match self.group(group) {
                Some(group) => {
                    group.records += 1;
                    group.accepted += u64::from(accept);
                }
                None => self.ungrouped += 1,
            }
        }
    }

    /// After an alarm of a shift only rows since the likeliest change certify thresholds.
    fn changed(&mut self, alarm: Alarm) {
        if let Some(thresholds) = &mut self.thresholds {
            let before = thresholds.since();
            thresholds.restart_since(alarm.since());
            if let Some(test) = self.selection.as_mut().filter(|_| thresholds.since() > before) {
                test.restart(thresholds.since());
            }
        }
        if self.again.is_none() {
            self.again = Some(Again::new(self.unlabelled_level(), self.settings.seed ^ 2));
        }
    }

    /// The level of each test without labels.
    fn unlabelled_level(&self) -> f64 {
        self.settings.alpha / looks(self.settings.parts) / UNLABELLED_TESTS
    }

    /// A group, if it is known or there is room for it.
    fn group(&mut self, name: &str) -> Option<&mut Group> {
        if !self.groups.contains_key(name) {
            if self.groups.len() >= self.settings.groups as usize {
                return None;
            }
            let level = |test: &MeanTest| test.level() / f64::from(self.settings.groups);
            let risk = self.risk.as_ref();
            let risk = risk.map(|test| MeanTest::new(test.target(), level(test), Starts::Always));
            self.groups.insert(name.to_string(), Group { records: 0, accepted: 0, risk });
        }
        self.groups.get_mut(name)
    }

    /// Counts a label of a row that was recorded.
    pub fn label(&mut self, feedback: &Feedback<'_>) -> Result<(), Error> {
        let Feedback { row, confidence, loss, weight, .. } = *feedback;
        let value = loss / self.settings.max_loss;
        if !(0.0..=1.0).contains(&value) {
            let wanted = "from 0 to the largest loss";
            return Err(Error::Parameter { name: "loss", value: loss, wanted });
        }
        if !(weight > 0.0 && weight <= 1.0) {
            let wanted = "above 0 and at most 1";
            return Err(Error::Parameter { name: "weight", value: weight, wanted });
        }
        self.labels += 1;
        self.labelled_to = self.labelled_to.max(row.saturating_add(1));
        let mut raised = false;
        let accept = reaches(confidence, self.at);
        if let Some(test) = &mut self.selection
            && (accept || self.settings.abstained_labelled)
        {
            let Feedback { prediction: class, group, sampled, .. } = *feedback;
            test.label(&Place { row, confidence, class, group }, sampled || weight != 1.0);
        }
        if accept {
            if let Some(test) = &mut self.risk {
                raised = test.observe(row, value, weight);
            }
            if let Some(name) = feedback.group
                && let Some(Group { risk: Some(test), .. }) = self.group(name)
            {
                test.observe(row, value, weight);
            }
        }
        if let Some(thresholds) = &mut self.thresholds {
            thresholds.observe(row, confidence, value, weight);
            let since = thresholds.since();
            // From now on, only rows after those that raised it prove that a threshold is good; where an
            // alarm of a shift left out those before the rise already, those since then do.
            let rise = self.risk.as_ref().and_then(MeanTest::alarm).and_then(|alarm| alarm.change);
            let left_out = self.changed_since().is_some() && rise.is_some_and(|row| row <= since);
            if raised && !left_out {
                self.restart_from(self.labelled_to);
            }
        }
        Ok(())
    }

    /// Says how many rows were chosen to be labelled, with known propensities, and have no label yet: until
    /// they have, labels certify nothing.
    pub fn set_unfilled(&mut self, rows: u64) {
        if let Some(test) = &mut self.selection {
            test.set_unfilled(rows);
        }
    }

    /// Compares the rows with labels with all of them, if there are enough new ones. It is for the end of a
    /// list of labels, whose order may depend on anything.
    pub fn compare_labels(&mut self) {
        if let Some(test) = &mut self.selection {
            test.look();
        }
    }

    fn restart_from(&mut self, row: u64) {
        if let Some(thresholds) = &mut self.thresholds {
            thresholds.restart(row);
            if let Some(test) = &mut self.selection {
                test.restart(thresholds.since());
            }
        }
    }

    /// Discards the evidence for thresholds: only rows that are yet to come certify them, at half of what
    /// is left of δ.
    pub fn restart_certification(&mut self) {
        self.restart_from(self.next_row);
    }

    /// Whether rows that were not accepted are said to have labels, and none has one.
    pub fn lacks_abstained_labels(&self) -> bool {
        self.settings.abstained_labelled
            && self.labels > 0
            && self.records > self.accepted
            && self.labels == self.labels_of_accepted()
    }

    /// The thresholds that the labels of the stream certify, from the highest to the lowest; risks are on the
    /// scale of the losses. None where labels are not of a random part of the rows or of a part of those that
    /// were chosen, and none below the one
    /// in use where no row below it has a label.
    pub fn certified(&self) -> Vec<AnytimeCertificate> {
        let withheld = |test: &SelectionTest| test.is_against() || test.is_unfilled();
        if self.selection.as_ref().is_some_and(withheld) {
            return Vec::new();
        }
        let mut found = self.thresholds.as_ref().map_or(Vec::new(), ThresholdTests::certified);
        if self.lacks_abstained_labels() {
            found.retain(|certificate| certificate.threshold >= self.at);
        }
        for certificate in &mut found {
            certificate.risk *= self.settings.max_loss;
            certificate.selective_risk *= self.settings.max_loss;
        }
        found
    }

    fn risk_alarmed(&self) -> bool {
        self.risk.as_ref().is_some_and(|test| test.alarm().is_some())
    }

    /// Adds the rows of another part of the stream, watched with the same artifact and settings. An alarm
    /// of either stays.
    pub fn merge(&mut self, other: &Monitor) -> Result<(), Error> {
        let same = self.settings == other.settings
            && self.at.to_bits() == other.at.to_bits()
            && self.coverage == other.coverage;
        if !same {
            return Err(Error::StatesDiffer);
        }
        let mut merged = self.clone();
        merged.add(other).map_err(|_| Error::StatesDiffer)?;
        *self = merged;
        Ok(())
    }

    fn add(&mut self, other: &Monitor) -> Result<(), String> {
        fn both<T>(
            mine: &mut Option<T>,
            other: Option<&T>,
            merge: impl Fn(&mut T, &T) -> Result<(), String>,
        ) -> Result<(), String> {
            match (mine, other) {
                (Some(mine), Some(other)) => merge(mine, other),
                (None, None) => Ok(()),
                _ => Err("a test that only one of them has".into()),
            }
        }
        self.records += other.records;
        self.next_row = self.next_row.max(other.next_row);
        self.labelled_to = self.labelled_to.max(other.labelled_to);
        self.accepted += other.accepted;
        self.labels += other.labels;
        self.ungrouped += other.ungrouped;
        let alarmed = self.risk_alarmed() || other.risk_alarmed();
        both(&mut self.risk, other.risk.as_ref(), MeanTest::merge)?;
        let raised = !alarmed && self.risk_alarmed();
        let shifted = [self.changed_since(), other.changed_since()];
        both(&mut self.coverage_high, other.coverage_high.as_ref(), MeanTest::merge)?;
        both(&mut self.coverage_low, other.coverage_low.as_ref(), MeanTest::merge)?;
        both(&mut self.confidences, other.confidences.as_ref(), ShiftTest::merge)?;
        both(&mut self.predictions, other.predictions.as_ref(), ShiftTest::merge)?;
        both(&mut self.thresholds, other.thresholds.as_ref(), ThresholdTests::merge)?;
        if let (Some(mine), Some(others)) = (&mut self.selection, &other.selection) {
            mine.merge(others);
        }
        if raised {
            self.restart_from(self.labelled_to);
        }
        // The state with more rows goes on.
        if self.again.as_ref().map(Again::rows) < other.again.as_ref().map(Again::rows) {
            self.again.clone_from(&other.again);
        }
        let since = shifted.into_iter().chain([self.changed_since()]).flatten().max();
        if let (Some(thresholds), Some(since)) = (&mut self.thresholds, since)
            && since > thresholds.since()
        {
            thresholds.restart_since(since);
            if let Some(test) = &mut self.selection {
                test.restart(since);
            }
        }
        self.estimates.accepted += other.estimates.accepted;
        self.estimates.reached += other.estimates.reached;
        self.estimates.with_probability += other.estimates.with_probability;
        self.estimates.probability.add(other.estimates.probability);
        for (name, group) in &other.groups {
            match self.group(name) {
                Some(mine) => {
                    mine.records += group.records;
                    mine.accepted += group.accepted;
                    both(&mut mine.risk, group.risk.as_ref(), MeanTest::merge)?;
                }
                // An alarm stays, also of a group beyond the largest number of them.
                None if group.risk.as_ref().is_some_and(|test| test.alarm().is_some()) => {
                    self.groups.insert(name.clone(), group.clone());
                }
                None => self.ungrouped += group.records,
            }
        }
        Ok(())
    }

    /// Checks a state that was read, and makes what is not stored.
    fn restore(&mut self) -> Result<(), String> {
        if self.version != Self::VERSION {
            return Err(format!("version {} is not {}", self.version, Self::VERSION));
        }
        if self.at.is_nan() || self.accepted > self.records {
            return Err(format!("{} of {} rows accepted", self.accepted, self.records));
        }
        let groups = self.groups.values().flat_map(|group| [group.records, group.accepted]);
        let counts = [self.records, self.labels, self.ungrouped, self.next_row, self.labelled_to];
        let estimates = [self.estimates.accepted, self.estimates.with_probability];
        if counts.into_iter().chain(estimates).chain(groups).any(|count| count > MOST_ROWS) {
            return Err("a count is out of range".into());
        }
        if self.estimates.reached > self.estimates.accepted {
            return Err("more rows reach a confidence than are accepted".into());
        }
        let tests = [&self.risk, &self.coverage_high, &self.coverage_low].into_iter();
        let groups = self.groups.values().map(|group| &group.risk);
        tests.chain(groups).flatten().try_for_each(MeanTest::check)?;
        for test in [&mut self.confidences, &mut self.predictions].into_iter().flatten() {
            test.restore()?;
        }
        self.again.as_mut().map_or(Ok(()), Again::restore)?;
        if let Some(test) = &self.selection {
            test.check()?;
        } else {
            // Of a state of an earlier version, rows that are yet to come are compared.
            let MonitorSettings { abstained_labelled, groups, parts, .. } = self.settings;
            let lowest = if abstained_labelled { f64::NEG_INFINITY } else { self.at };
            let ranks = self.confidences.as_ref().map(ShiftTest::ranks);
            let mut test = SelectionTest::new(ranks, lowest, groups, looks(parts));
            test.restart(self.next_row);
            self.selection = Some(test);
        }
        self.thresholds.as_ref().map_or(Ok(()), ThresholdTests::check)?;
        // States of earlier versions did not restart at an alarm of a shift.
        if let (None, Some(alarm)) = (&self.again, self.shift()) {
            self.changed(alarm);
        }
        Ok(())
    }
}

impl Serialize for Monitor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // `remote` derives the function of this name, not the trait.
        Monitor::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Monitor {
    /// Reads a state and checks it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut monitor = Monitor::deserialize(deserializer)?;
        monitor.restore().map_err(serde::de::Error::custom)?;
        Ok(monitor)
    }
}

/// Between which limits the coverage of the population of the certifying rows lies, but for half of α.
/// Nothing is known of rows with weights: how far their share is off depends on the weights.
fn allowed_coverage(threshold: &Threshold, alpha: f64) -> Option<(f64, f64)> {
    match &threshold.basis {
        _ if threshold.weighted_coverage().is_some() => None,
        // The number of rows was not fixed: limits that hold at all times, for each threshold of the tests.
        Basis::Anytime { certificate, .. } => {
            let (rows, accepted) = (certificate.rows as f64, certificate.accepted as f64);
            Some(mean::running_interval(rows, accepted, alpha / 2.0 / thresholds::MOST as f64))
        }
        // The certifying rows are a sample, and the threshold was chosen on it: a bound that holds at all
        // thresholds at once (Massart, 1990), at a quarter of α for each side.
        _ => {
            let (share, rows) = threshold.coverage().zip(threshold.rows())?;
            let tried = threshold.tried() as f64;
            let margin = ((4.0 * tried / alpha).ln() / (2.0 * rows as f64)).sqrt();
            Some((share - margin, share + margin))
        }
    }
}

/// How many states are looked at: the parts, and what is merged after each of the mergers.
fn looks(parts: u32) -> f64 {
    2.0 * f64::from(parts) - 1.0
}

fn check_share(name: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, value, wanted: BETWEEN_0_AND_1 })
}

/// The latest row at which a bet began that has gained at least half as much as the one that has gained
/// most. A bet on a small change may begin long before one: to name its row too late costs labels, to name
/// it too early counts rows from before it.
fn latest_start(starts: impl Iterator<Item = (f64, u64)> + Clone) -> Option<u64> {
    let best = starts.clone().map(|(gain, _)| gain).fold(0.0, f64::max);
    starts.filter(|(gain, _)| *gain > 0.0 && *gain >= best / 2.0).map(|(_, row)| row).max()
}

/// The logarithm of the mean of exponentials.
fn log_of_mean(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let high = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    let (sum, count) =
        logs.fold((0.0, 0.0), |(sum, count), log| (sum + (log - high).exp(), count + 1.0));
    if high == f64::NEG_INFINITY { high } else { high + (sum / count).ln() }
}

/// The logarithm of the sum of two exponentials.
fn log_of_sum(a: f64, b: f64) -> f64 {
    let high = a.max(b);
    if high == f64::NEG_INFINITY { high } else { high + ((a - high).exp() + (b - high).exp()).ln() }
}
