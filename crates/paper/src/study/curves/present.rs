//! Risk-coverage curves.

use super::{CurvesStudy, ModelCurves};
use crate::measure::CurveBand;
use crate::study::{About, Content, Present, band, columns, headings, look, percent};
use abstain::metric::Direction;
use abstain_lab::Spread;
use abstain_report::figure::{Axis, Figure, Layer, Legend, Panel};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Sheet, mark_best};

/// The coverages of the table.
const COVERAGES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

impl Present for CurvesStudy {
    const TITLE: &'static str = "Risk-coverage curves";
    const SUMMARY: &'static str = "risk-coverage curves of the models shown";
    const PAPER: Option<&'static str> = Some("Fig. 1, appendix");

    fn present(&self, about: &About) -> Content {
        let panel = |model: &ModelCurves| Panel {
            title: Some(model.title.clone()),
            x: Axis { percent: true, range: Some((0.0, 1.0)), ..Axis::new("Coverage") },
            y: Axis {
                percent: true,
                range: Some((0.0, highest(model))),
                ..Axis::new("Selective risk")
            },
            layers: model.curves.iter().map(|curve| line(self, curve)).collect(),
            ..Panel::default()
        };
        let group = |model: &ModelCurves| {
            let row = |curve: &CurveBand| {
                let at = |coverage: &f64| {
                    let place = self.coverage.iter().position(|other| other >= coverage)?;
                    curve.selective_risk.get(place).copied()
                };
                let cells = COVERAGES.iter().map(|coverage| percent(at(coverage), 2));
                std::iter::once(Cell::text(curve.method.to_string())).chain(cells).collect()
            };
            let mut rows: Vec<Vec<Cell>> = model.curves.iter().map(row).collect();
            // At full coverage all are the same.
            for column in 1..COVERAGES.len() {
                mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Lower);
            }
            Group { label: Some(model.title.clone()), rows }
        };
        let names = COVERAGES.iter().map(|coverage| format!("{:.0} %", 100.0 * coverage));
        let first = ["Classifier".to_string(), "Method".into()];
        Content {
            remarks: vec![],
            sheets: vec![Sheet {
                name: "selective-risk".into(),
                caption: format!(
                    "Selective risk in % at some coverages ({}; {})",
                    about.zoo,
                    about.protocol()
                ),
                header: vec![headings(first.into_iter().chain(names))],
                align: vec![Align::Left, Align::Left],
                groups: self.models.iter().map(group).collect(),
                notes: vec![],
            }],
            figures: vec![Figure {
                name: "curves".into(),
                caption: format!(
                    "Risk-coverage curves of some models and methods, as tuned, without the \
                     fallback to MSP ({}; {}; bands: ± one standard deviation)",
                    about.zoo,
                    about.protocol()
                ),
                panels: self.models.iter().map(panel).collect(),
                columns: columns(self.models.len()),
                legend: Legend::Shared,
            }],
        }
    }
}

/// A little above all means: bands may leave the picture, as they do where few rows are left.
fn highest(model: &ModelCurves) -> f64 {
    let risks = model.curves.iter().flat_map(|curve| &curve.selective_risk);
    1.08 * risks.map(|risk| risk.mean).fold(1e-3, f64::max)
}

fn line(study: &CurvesStudy, curve: &CurveBand) -> Layer {
    let values = curve.selective_risk.iter().copied().map(Some);
    let points: Vec<(f64, Option<Spread>)> = study.coverage.iter().copied().zip(values).collect();
    band(curve.method.to_string(), &points, look(curve.method).unmarked())
}
