//! Confidence as a probability.

use super::{CalibrationStudy, EceLine, ModelCalibration};
use crate::measure::{ConfidenceCounts, ReliabilityLine};
use crate::study::{About, Content, Present, correlation, headings, look, spread};
use abstain::metric::Direction;
use abstain_report::figure::{
    Axis, Colour, Dash, Figure, Layer, Legend, Mark, Marker, Panel, RuleAt, Style,
};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Sheet, mark_best};

impl Present for CalibrationStudy {
    const TITLE: &'static str = "Confidence as a probability";
    const SUMMARY: &'static str = "calibration errors, reliability diagrams, histograms";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let mut figures = Vec::new();
        if !self.models.is_empty() {
            figures.push(reliability(self, about));
            figures.push(histograms(self, about));
        }
        figures.push(sure(self, about));
        let row = |line: &EceLine| {
            let best = Cell::count(line.best_on);
            vec![Cell::text(line.method.to_string()), spread(line.ece, 5), best]
        };
        let mut rows: Vec<Vec<Cell>> = self.ece.iter().map(row).collect();
        mark_best(rows.iter_mut().map(|row| &mut row[1]), Direction::Lower);
        Content {
            remarks: vec![],
            sheets: vec![Sheet {
                name: "ece".into(),
                caption: format!(
                    "Expected calibration error (15 bins), mean over the {}, as tuned, without \
                     the fallback to MSP ({})",
                    about.models(),
                    about.protocol()
                ),
                header: vec![headings(["Method", "ECE", "Best on"])],
                align: vec![Align::Left],
                groups: vec![Group { label: None, rows }],
                notes: vec![],
            }],
            figures,
        }
    }
}

/// A row of panels per model, a panel per method.
fn reliability(study: &CalibrationStudy, about: &About) -> Figure {
    let panel = |model: &ModelCalibration, line: &ReliabilityLine| Panel {
        title: Some(line.method.to_string()),
        x: Axis { range: Some((0.0, 1.0)), ..Axis::new("Confidence") },
        y: Axis { range: Some((0.0, 1.0)), ..Axis::new(format!("Accuracy of {}", model.model)) },
        layers: vec![bars(line), diagonal()],
        note: line.ece.map(|ece| format!("ECE {ece:.3}")),
        ..Panel::default()
    };
    let columns = study.models.iter().map(|model| model.reliability.len()).max().unwrap_or(1);
    let mut panels = Vec::new();
    for model in &study.models {
        panels.extend(model.reliability.iter().map(|line| panel(model, line)));
        // Empty panels keep each model in its row.
        panels.extend((model.reliability.len()..columns).map(|_| Panel {
            x: Axis::new("Confidence"),
            y: Axis::new("Accuracy"),
            ..Panel::default()
        }));
    }
    Figure {
        name: "reliability".into(),
        caption: format!(
            "Reliability of chosen models on the test rows of the first split ({}); dashed: \
             perfect calibration; the confidences of MaxLogit-pNorm are not probabilities, so \
             that it has no ECE",
            about.zoo
        ),
        panels,
        columns,
        legend: Legend::Shared,
    }
}

/// A bar per bin, as high as its accuracy.
fn bars(line: &ReliabilityLine) -> Layer {
    let bins = abstain::calibration::DEFAULT_BINS;
    let edges: Vec<f64> = (0..=bins).map(|i| i as f64 / bins as f64).collect();
    let mut heights = vec![0.0; bins];
    for bin in &line.bins {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin")]
        let place = (bin.lower * bins as f64).round() as usize;
        if let Some(height) = heights.get_mut(place) {
            *height = bin.accuracy;
        }
    }
    let style = Style { dash: Dash::Solid, ..look(line.method) };
    Layer::Bars {
        label: Some("accuracy".into()),
        edges,
        heights,
        style: Style { colour: Colour::Series(0), ..style },
    }
}

fn diagonal() -> Layer {
    Layer::Rule {
        label: Some("perfect calibration".into()),
        at: RuleAt::Diagonal,
        style: Style::rule(Dash::Dashed),
    }
}

/// Before and after tuning, a row of panels per model.
fn histograms(study: &CalibrationStudy, about: &About) -> Figure {
    let panel = |model: &ModelCalibration, counts: &ConfidenceCounts, when: &str| {
        let bins = counts.right.len();
        let edges: Vec<f64> = (0..=bins).map(|i| i as f64 / bins as f64).collect();
        let total = counts.right.iter().chain(&counts.wrong).sum::<usize>().max(1) as f64;
        let share = |counts: &[usize]| counts.iter().map(|&n| n as f64 / total).collect();
        let all: Vec<usize> =
            counts.right.iter().zip(&counts.wrong).map(|(right, wrong)| right + wrong).collect();
        let bars = |label: &str, heights: Vec<f64>, index: usize| Layer::Bars {
            label: Some(label.into()),
            edges: edges.clone(),
            heights,
            style: Style { dash: Dash::Solid, ..Style::series(index) },
        };
        Panel {
            title: Some(format!("{}: {when}", model.title)),
            x: Axis { range: Some((0.0, 1.0)), ..Axis::new("Confidence") },
            y: Axis { percent: true, ..Axis::new("Share of rows") },
            layers: vec![
                bars("all rows", share(&all), 0),
                bars("wrong rows", share(&counts.wrong), 1),
            ],
            ..Panel::default()
        }
    };
    let panels = study.models.iter().flat_map(|model| {
        let gain =
            model.gain.map_or(String::new(), |gain| format!(", gain {gain:.3}").replace('-', "−"));
        let after = format!("{}{gain}", model.after.estimator);
        [panel(model, &model.before, "MSP"), panel(model, &model.after, &after)]
    });
    Figure {
        name: "histograms".into(),
        caption: format!(
            "Confidences on the test rows of the first split before and after tuning with \
             MaxLogit-pNorm, or MSP where it fell back or p = 0 was best, which is not bounded \
             by 0 and 1 ({})",
            about.zoo
        ),
        panels: panels.collect(),
        columns: 2,
        legend: Legend::Shared,
    }
}

/// Gains against the share of rows with a high MSP.
fn sure(study: &CalibrationStudy, about: &About) -> Figure {
    let marks = study.sure.iter().filter_map(|model| {
        let gain = model.gain?;
        Some(Mark {
            x: model.very_sure,
            y: gain.mean,
            error: Some(gain.std),
            name: Some(model.title.clone()),
            value: None,
        })
    });
    Figure {
        name: "very-sure".into(),
        caption: format!(
            "Gain of MaxLogit-pNorm in NAURC over MSP against the share of rows with MSP > \
             0.999, for the {} ({}; ρ: Spearman's correlation)",
            about.models(),
            about.protocol()
        ),
        panels: vec![Panel {
            x: Axis { percent: true, ..Axis::new("Rows with MSP > 0.999") },
            y: Axis::new("Gain in NAURC over MSP"),
            layers: vec![Layer::Points {
                label: None,
                points: marks.collect(),
                style: Style { marker: Marker::Circle, ..Style::series(0) },
            }],
            note: Some(correlation("ρ", study.correlation)),
            ..Panel::default()
        }],
        columns: 1,
        legend: Legend::Shared,
    }
}
