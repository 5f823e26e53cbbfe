//! What a monitor has found, as plain data.

use super::again::Again;
use super::selection::{SelectionReport, SelectionTest};
use super::{Alarm, AnytimeCertificate, Estimates, MeanTest, Monitor, ShiftTest, SinceChange};
use serde::Serialize;

/// What a monitor has found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MonitorReport {
    /// The rows so far.
    pub records: u64,
    /// Those that reach the threshold.
    pub accepted: u64,
    /// The labels so far, those of rows that were not accepted included.
    pub labels: u64,
    /// The threshold.
    #[serde(with = "crate::artifact::extended")]
    pub threshold: f64,
    /// The largest probability of a false alarm: of the risk, and of all tests without labels together.
    pub alpha: f64,
    /// The largest loss.
    pub max_loss: f64,
    /// Every alarm that stands, the earliest first.
    pub alarms: Vec<NamedAlarm>,
    /// The risk among accepted rows, if there is a target.
    pub risk: Option<RiskReport>,
    /// The share that is accepted.
    pub coverage: CoverageReport,
    /// Whether confidences are those of the certifying rows.
    pub confidences: Option<ShiftReport>,
    /// Whether predicted classes are.
    pub predictions: Option<ShiftReport>,
    /// Estimates of the accuracy of accepted rows, without a guarantee.
    pub estimates: Estimates,
    /// Thresholds that the labels of the stream certify, from the highest to the lowest.
    pub certified: Vec<AnytimeCertificate>,
    /// The row from which on labels count for these.
    pub certified_since: Option<u64>,
    /// The labels that count for these.
    pub certifying_labels: u64,
    /// The row since which the stream is likely another one, if an alarm without labels stands.
    pub changed_since: Option<u64>,
    /// Whether labels are of a random part of the rows.
    pub selection: Option<SelectionReport>,
    /// Whether rows that were not accepted are said to have labels, and none has one.
    pub lacks_abstained_labels: bool,
    /// Each group.
    pub groups: Vec<GroupReport>,
    /// Rows of groups that are not tested because there are too many.
    pub ungrouped: u64,
}

/// An alarm and the test that raised it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedAlarm {
    /// The test: `risk`, `coverage-high`, `coverage-low`, `confidences`, `predictions`, and
    /// `changed-again` for the last change after one of a shift.
    pub test: &'static str,
    /// The group, if it is the risk of one.
    pub group: Option<String>,
    /// When.
    #[serde(flatten)]
    pub alarm: Alarm,
}

/// The evidence of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TestReport {
    /// Its observations.
    pub observations: u64,
    /// The natural logarithm of its evidence.
    pub log_e_value: f64,
    /// The level of this test: it raises the alarm where its evidence reaches the inverse.
    pub level: f64,
    /// The alarm, if it was raised.
    pub alarm: Option<Alarm>,
}

/// The risk among accepted rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RiskReport {
    /// The target.
    pub target: f64,
    /// The mean loss of accepted rows with a label, by their weights.
    pub mean: Option<f64>,
    /// The sum of the weights of these labels: their number, if all rows had the same propensity.
    pub weight: f64,
    /// Limits of the running risk, which hold at all times at once with probability 1 − α.
    pub interval: (f64, f64),
    /// The test of the target.
    pub test: TestReport,
    /// The labels since the likeliest time of a rise above the target, if anything speaks for one.
    pub since_change: Option<SinceChange>,
}

/// The share of rows that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoverageReport {
    /// The share.
    pub share: Option<f64>,
    /// Limits of the running coverage, which hold at all times at once with probability 1 − α.
    pub interval: (f64, f64),
    /// The share of the certifying rows.
    pub certified: Option<f64>,
    /// Between these the share of the population of the certifying rows lies.
    pub allowed: Option<(f64, f64)>,
    /// The test of "no more is accepted".
    pub high: Option<TestReport>,
    /// The test of "no less is accepted".
    pub low: Option<TestReport>,
}

/// Whether numbers are distributed as those of the certifying rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShiftReport {
    /// The certifying rows.
    pub reference_rows: usize,
    /// The mean rank of the numbers among those of the certifying rows: ½ without a change.
    pub mean_rank: Option<f64>,
    /// The test.
    pub test: TestReport,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupReport {
    /// Its name.
    pub group: String,
    /// Its rows.
    pub records: u64,
    /// Those that are accepted.
    pub accepted: u64,
    /// The risk among them. Groups share α.
    pub risk: Option<RiskReport>,
}

impl From<&MeanTest> for TestReport {
    fn from(test: &MeanTest) -> Self {
        TestReport {
            observations: test.observations(),
            log_e_value: test.log_e_value(),
            level: test.level(),
            alarm: test.alarm(),
        }
    }
}

impl From<&ShiftTest> for ShiftReport {
    fn from(test: &ShiftTest) -> Self {
        ShiftReport {
            reference_rows: test.ranks().rows,
            mean_rank: test.mean_rank(),
            test: TestReport {
                observations: test.observations(),
                log_e_value: test.log_e_value(),
                level: test.level(),
                alarm: test.alarm(),
            },
        }
    }
}

impl Monitor {
    /// The risk that a test watches, on the scale of the losses.
    fn risk_report(&self, test: &MeanTest) -> RiskReport {
        let scale = self.settings.max_loss;
        let (low, high) = test.interval(self.settings.alpha);
        RiskReport {
            target: test.target() * scale,
            mean: test.mean().map(|mean| mean * scale),
            weight: test.weight(),
            interval: (low * scale, high * scale),
            test: test.into(),
            since_change: test
                .since_change()
                .map(|since| SinceChange { mean: since.mean * scale, ..since }),
        }
    }

    /// Everything that is known now.
    pub fn report(&self) -> MonitorReport {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let (high, low) = (&self.coverage_high, &self.coverage_low);
        let limit = |test: &Option<MeanTest>| test.as_ref().map_or(1.0, MeanTest::target);
        let groups = self.groups.iter().map(|(name, group)| GroupReport {
            group: name.clone(),
            records: group.records,
            accepted: group.accepted,
            risk: group.risk.as_ref().map(|test| self.risk_report(test)),
        });
        let sums = &self.estimates;
        MonitorReport {
            records: self.records,
            accepted: self.accepted,
            labels: self.labels,
            threshold: self.at,
            alpha: self.settings.alpha,
            max_loss: self.settings.max_loss,
            alarms: self.alarms(),
            risk: self.risk.as_ref().map(|test| self.risk_report(test)),
            coverage: CoverageReport {
                share: share(self.accepted, self.records),
                interval: super::mean::running_interval(
                    self.records as f64,
                    self.accepted as f64,
                    self.settings.alpha,
                ),
                certified: self.coverage,
                allowed: self.coverage.map(|_| (1.0 - limit(low), limit(high))),
                high: high.as_ref().map(TestReport::from),
                low: low.as_ref().map(TestReport::from),
            },
            confidences: self.confidences.as_ref().map(ShiftReport::from),
            predictions: self.predictions.as_ref().map(ShiftReport::from),
            estimates: Estimates {
                thresholded_confidence: self
                    .right_from
                    .and_then(|_| share(sums.reached, sums.accepted)),
                probability: (sums.with_probability > 0)
                    .then(|| sums.probability.value() / sums.with_probability as f64),
            },
            certified: self.certified(),
            certified_since: self.thresholds.as_ref().map(super::ThresholdTests::since),
            certifying_labels: self.thresholds.as_ref().map_or(0, super::ThresholdTests::labels),
            changed_since: self.changed_since(),
            selection: self.selection.as_ref().map(SelectionTest::report),
            lacks_abstained_labels: self.lacks_abstained_labels(),
            groups: groups.collect(),
            ungrouped: self.ungrouped,
        }
    }

    /// Every alarm that stands, the earliest first.
    pub fn alarms(&self) -> Vec<NamedAlarm> {
        let tests = [
            ("risk", &self.risk),
            ("coverage-high", &self.coverage_high),
            ("coverage-low", &self.coverage_low),
        ];
        let shifts = [("confidences", &self.confidences), ("predictions", &self.predictions)];
        let alarm_of = |test: &Option<MeanTest>| test.as_ref().and_then(MeanTest::alarm);
        let tests = tests.into_iter().map(|(test, state)| (test, None, alarm_of(state)));
        let shifts = shifts
            .into_iter()
            .map(|(test, state)| (test, None, state.as_ref().and_then(ShiftTest::alarm)));
        let again = self.again.as_ref().and_then(Again::alarm);
        let shifts = shifts.chain([("changed-again", None, again)]);
        let groups =
            self.groups.iter().map(|(name, group)| ("risk", Some(name), alarm_of(&group.risk)));
        let mut alarms: Vec<NamedAlarm> = tests
            .chain(shifts)
            .chain(groups)
            .filter_map(|(test, group, alarm)| {
                let group = group.cloned();
                alarm.map(|alarm| NamedAlarm { test, group, alarm })
            })
            .collect();
        alarms.sort_by_key(|alarm| alarm.alarm.row);
        alarms
    }
}
