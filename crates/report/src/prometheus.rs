//! The numbers of a monitor in the text format that Prometheus collects.

use abstain::monitor::{MonitorReport, TestReport};
use std::fmt::Write;

/// The numbers of a monitor in the text format of Prometheus.
pub fn prometheus(report: &MonitorReport) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        if values.is_empty() {
            return;
        }
        let _ = writeln!(text, "# HELP abstain_{name} {help}\n# TYPE abstain_{name} {kind}");
        for (labels, value) in values {
            let value = match *value {
                value if value == f64::INFINITY => "+Inf".to_string(),
                value if value == f64::NEG_INFINITY => "-Inf".to_string(),
                value => value.to_string(),
            };
            let _ = writeln!(text, "abstain_{name}{labels} {value}");
        }
    };
    let plain = |value: f64| vec![(String::new(), value)];
    metric("records_total", "counter", "Rows that were watched.", &plain(report.records as f64));
    metric("accepted_total", "counter", "Rows that were accepted.", &plain(report.accepted as f64));
    metric("labels_total", "counter", "Labels that were counted.", &plain(report.labels as f64));
    metric(
        "threshold",
        "gauge",
        "The confidence from which on rows are accepted.",
        &plain(report.threshold),
    );
    let group = |name: &str| format!("{{group=\"{}\"}}", escaped(name));
    let limits = |(low, high): (f64, f64)| {
        vec![("{limit=\"low\"}".to_string(), low), ("{limit=\"high\"}".to_string(), high)]
    };
    if let Some(share) = report.coverage.share {
        metric("coverage", "gauge", "The share of rows that was accepted.", &plain(share));
        let help = "Limits of the running coverage that hold at all times at once.";
        metric("coverage_limit", "gauge", help, &limits(report.coverage.interval));
    }
    if let Some(risk) = &report.risk {
        metric("risk_target", "gauge", "The largest risk that was promised.", &plain(risk.target));
        let help = "Limits of the running risk of accepted rows that hold at all times at once.";
        metric("risk_limit", "gauge", help, &limits(risk.interval));
        let whole = risk.mean.map(|mean| ("{group=\"\"}".to_string(), mean));
        let groups = report
            .groups
            .iter()
            .filter_map(|known| Some((group(&known.group), known.risk.as_ref()?.mean?)));
        let help =
            "The mean loss of accepted rows with a label; of all groups where the group is empty.";
        metric("risk", "gauge", help, &whole.into_iter().chain(groups).collect::<Vec<_>>());
    }
    let coverage = &report.coverage;
    let tests = [
        ("risk", report.risk.as_ref().map(|risk| risk.test)),
        ("coverage-high", coverage.high),
        ("coverage-low", coverage.low),
        ("confidences", report.confidences.map(|shift| shift.test)),
        ("predictions", report.predictions.map(|shift| shift.test)),
    ];
    let known: Vec<(&str, TestReport)> =
        tests.into_iter().filter_map(|(name, test)| Some((name, test?))).collect();
    let of = |name: &str| format!("{{test=\"{name}\",group=\"\"}}");
    let of_group = |name: &str| format!("{{test=\"risk\",group=\"{}\"}}", escaped(name));
    let evidence = known.iter().map(|(name, test)| (of(name), test.log_e_value));
    metric(
        "log_e_value",
        "gauge",
        "The natural logarithm of the evidence of a test.",
        &evidence.collect::<Vec<_>>(),
    );
    let flag = |raised: bool| if raised { 1.0 } else { 0.0 };
    let alarms = known.iter().map(|(name, test)| (of(name), flag(test.alarm.is_some())));
    let groups = report.groups.iter().filter_map(|group| {
        let test = group.risk.as_ref()?.test;
        Some((of_group(&group.group), flag(test.alarm.is_some())))
    });
    let again = report.alarms.iter().any(|alarm| alarm.test == "changed-again");
    let again = again.then(|| (of("changed-again"), 1.0));
    let help = "1 where an alarm was raised, which is never taken back.";
    metric("alarm", "gauge", help, &alarms.chain(again).chain(groups).collect::<Vec<_>>());
    if let Some(selection) = &report.selection {
        let against = flag(selection.against().next().is_some() || selection.found_before);
        let help = "1 where labels are not of a random part of the rows.";
        metric("labels_not_random", "gauge", help, &plain(against));
    }
    text
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
