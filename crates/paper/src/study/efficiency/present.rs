//! NAURC against the number of tuning rows.

use super::{EfficiencyStudy, ModelEfficiency};
use crate::study::{About, Content, Present, band, columns, headings, look, spread};
use abstain::metric::Direction;
use abstain_lab::Spread;
use abstain_report::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Scale, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Sheet, mark_best};
use abstain_report::words;

impl Present for EfficiencyStudy {
    const TITLE: &'static str = "NAURC against the number of tuning rows";
    const SUMMARY: &'static str =
        "NAURC against the number of tuning rows, and with methods tuned on the test rows";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let realisations = self.models.first().map_or(0, |model| model.closeup.realisations);
        let protocol = format!(
            "mean ± std over {realisations} realisations; {} test rows",
            words::count(about.test_rows)
        );
        Content {
            remarks: vec![],
            sheets: vec![Sheet {
                name: "efficiency".into(),
                caption: format!(
                    "NAURC against the number of tuning rows, without the fallback to MSP ({}; \
                 {protocol})",
                    about.zoo
                ),
                header: vec![header(self)],
                align: vec![Align::Left, Align::Right],
                groups: self.models.iter().map(group).collect(),
                notes: vec![
                    "Test rows: tuned on the test rows themselves. Hold-outs without errors are \
                 left out."
                        .into(),
                ],
            }],
            figures: vec![Figure {
                name: "efficiency".into(),
                caption: format!(
                    "Mean NAURC against the number of tuning rows ({}; {protocol}; bands: ± one \
                 standard deviation; thin dashed lines: tuned on the test rows themselves; \
                 dotted: MSP)",
                    about.zoo
                ),
                panels: self.models.iter().map(panel).collect(),
                columns: columns(self.models.len()),
                legend: Legend::Shared,
            }],
        }
    }
}

fn header(study: &EfficiencyStudy) -> Vec<abstain_report::sheet::Heading> {
    let methods = study.models.first().map(|model| &model.closeup.methods[..]).unwrap_or_default();
    let names = methods.iter().map(ToString::to_string).chain(["MSP".to_string()]);
    headings(["Classifier".to_string(), "Rows".into()].into_iter().chain(names))
}

fn group(model: &ModelEfficiency) -> Group {
    let closeup = &model.closeup;
    let row = |name: Cell, values: &[Option<Spread>]| {
        let mut cells = vec![name];
        cells.extend(values.iter().map(|value| spread(*value, 4)));
        cells.push(spread(closeup.msp, 4));
        mark_best(&mut cells[1..], Direction::Lower);
        cells
    };
    let sizes = closeup.sizes.iter().map(|size| row(Cell::count(size.tuning_rows), &size.naurc));
    let mut rows: Vec<Vec<Cell>> = sizes.collect();
    rows.push(row(Cell::text("Test rows"), &closeup.bound));
    Group { label: Some(model.title.clone()), rows }
}

fn panel(model: &ModelEfficiency) -> Panel {
    let closeup = &model.closeup;
    let mut layers = Vec::new();
    for (index, &method) in closeup.methods.iter().enumerate() {
        let points: Vec<(f64, Option<Spread>)> = closeup
            .sizes
            .iter()
            .map(|size| (size.tuning_rows as f64, size.naurc.get(index).copied().flatten()))
            .collect();
        layers.push(band(method.to_string(), &points, look(method)));
        if let Some(bound) = closeup.bound.get(index).copied().flatten() {
            let style = Style { dash: Dash::Dashed, width: 0.7, ..look(method).unmarked() };
            layers.push(Layer::Rule { label: None, at: RuleAt::Y(bound.mean), style });
        }
    }
    if let Some(msp) = closeup.msp {
        layers.push(Layer::Rule {
            label: Some("MSP".into()),
            at: RuleAt::Y(msp.mean),
            style: Style::rule(Dash::Dotted),
        });
    }
    Panel {
        title: Some(model.title.clone()),
        x: Axis { scale: Scale::Log, ..Axis::new("Tuning rows") },
        y: Axis { range: range(model), ..Axis::new("NAURC") },
        layers,
        ..Panel::default()
    }
}

/// All means with a margin; the bands of the smallest hold-outs may exceed it.
fn range(model: &ModelEfficiency) -> Option<(f64, f64)> {
    let sizes = model.closeup.sizes.iter().flat_map(|size| &size.naurc);
    let all = sizes.chain(&model.closeup.bound).chain([&model.closeup.msp]).flatten();
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), spread| {
        (low.min(spread.mean), high.max(spread.mean))
    });
    let margin = 0.35 * (high - low);
    (margin > 0.0).then_some((low - margin, high + margin))
}
