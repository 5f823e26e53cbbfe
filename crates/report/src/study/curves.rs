//! Risk-coverage curves.

use super::{About, Shown, band, headings, look, percent};
use crate::figure::{Axis, Figure, Layer, Legend, Panel};
use crate::sheet::{Cell, Group, Sheet, mark_best};
use crate::table::Align;
use abstain::metric::Direction;
use abstain_lab::Spread;
use abstain_lab::study::{CurvesStudy, ModelCurves};

/// The coverages of the table.
const COVERAGES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// Risk-coverage curves.
pub fn curves(study: &CurvesStudy, about: &About) -> Shown {
    let panel = |own: &ModelCurves| Panel {
        title: Some(own.title.clone()),
        x: Axis { percent: true, range: Some((0.0, 1.0)), ..Axis::new("Coverage") },
        y: Axis { percent: true, range: Some((0.0, highest(own))), ..Axis::new("Selective risk") },
        layers: own.curves.iter().map(|curve| line(study, curve)).collect(),
        ..Panel::default()
    };
    let group = |own: &ModelCurves| {
        let row = |curve: &abstain_lab::measure::CurveBand| {
            let at = |coverage: &f64| {
                let place = study.coverage.iter().position(|own| own >= coverage)?;
                curve.selective_risk.get(place).copied()
            };
            let cells = COVERAGES.iter().map(|coverage| percent(at(coverage), 2));
            std::iter::once(Cell::text(curve.method.to_string())).chain(cells).collect()
        };
        let mut rows: Vec<Vec<Cell>> = own.curves.iter().map(row).collect();
        // At full coverage all are the same.
        for column in 1..COVERAGES.len() {
            mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Lower);
        }
        Group { label: Some(own.title.clone()), rows }
    };
    let names = COVERAGES.iter().map(|coverage| format!("{:.0} %", 100.0 * coverage));
    let first = ["Classifier".to_string(), "Method".into()];
    Shown {
        name: "curves",
        title: "Risk-coverage curves",
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
            groups: study.models.iter().map(group).collect(),
            notes: vec![],
        }],
        figures: vec![Figure {
            name: "curves".into(),
            caption: format!(
                "Risk-coverage curves of chosen models and methods, none given up for MSP ({}; {}; bands: \
                 ± one standard deviation)",
                about.zoo,
                about.protocol()
            ),
            panels: study.models.iter().map(panel).collect(),
            columns: super::columns(study.models.len()),
            legend: Legend::Shared,
        }],
    }
}

/// A little above all means: bands may leave the picture, as they do where few rows are left.
fn highest(own: &ModelCurves) -> f64 {
    let risks = own.curves.iter().flat_map(|curve| &curve.selective_risk);
    1.08 * risks.map(|risk| risk.mean).fold(1e-3, f64::max)
}

fn line(study: &CurvesStudy, curve: &abstain_lab::measure::CurveBand) -> Layer {
    let values = curve.selective_risk.iter().copied().map(Some);
    let points: Vec<(f64, Option<Spread>)> = study.coverage.iter().copied().zip(values).collect();
    band(curve.method.to_string(), &points, look(curve.method).unmarked())
}
