//! The risk-coverage curve of a tuned classifier as a figure.

use super::tuning::measured_on;
use crate::figure::{Axis, Dash, Figure, Layer, Mark, Panel, RuleAt, Style};
use crate::words::{percent, target};
use abstain::Estimator;
use abstain_lab::{Curve, TuneReport};

/// The curves of the baseline and the chosen estimator, the target, and the point where the chosen
/// estimator is certified or meets it.
pub fn tuning_figure(report: &TuneReport) -> Figure {
    let line = |label: String, curve: &Curve, style: Style| Layer::Line {
        label: Some(label),
        points: curve.coverage.iter().copied().zip(curve.selective_risk.iter().copied()).collect(),
        band: None,
        style: style.unmarked(),
    };
    let mut layers =
        vec![line("MSP".into(), &report.before, Style { dash: Dash::Dashed, ..Style::series(0) })];
    let choice = if report.choice.estimator == Estimator::MSP {
        "MSP".to_string()
    } else {
        let name = report.choice.method.to_string();
        layers.push(line(
            name.clone(),
            &report.after,
            Style { dash: Dash::Solid, ..Style::series(1) },
        ));
        name
    };
    layers.push(Layer::Rule {
        label: Some(target(report.target)),
        at: RuleAt::Y(report.target.risk()),
        style: Style::rule(Dash::Dotted),
    });
    let rows = report.test_rows as f64;
    let point = match (&report.certificate, &report.at_target) {
        (Some(certificate), _) => {
            let risk = certificate.errors as f64 / certificate.accepted as f64;
            Some(("certified", certificate.coverage(), risk))
        }
        (None, Some(point)) => {
            Some(("coverage", point.accepted as f64 / rows, point.selective_risk))
        }
        (None, None) => None,
    };
    if let Some((name, coverage, risk)) = point {
        layers.push(Layer::Points {
            label: Some(format!("{name}: {}", percent(coverage))),
            points: vec![Mark::new(coverage, risk)],
            style: Style { width: 2.0, ..Style::series(2) },
        });
    }
    let highest = [&report.before, &report.after]
        .iter()
        .flat_map(|curve| &curve.selective_risk)
        .fold(1e-3, |high: f64, &risk| high.max(risk));
    Figure {
        name: "risk-coverage".into(),
        caption: format!(
            "Selective risk against coverage of MSP and {choice} {}",
            measured_on(report)
        ),
        panels: vec![Panel {
            title: None,
            x: Axis { percent: true, range: Some((0.0, 1.0)), ..Axis::new("Coverage") },
            y: Axis {
                percent: report.zero_one,
                range: Some((0.0, 1.05 * highest)),
                ..Axis::new("Selective risk")
            },
            layers,
            ..Panel::default()
        }],
        columns: 1,
        ..Figure::default()
    }
}
