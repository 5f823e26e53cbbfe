//! How many rows tuning takes.

use super::{About, Shown, band, headings, look, spread};
use crate::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Scale, Style};
use crate::sheet::{Cell, Group, Sheet, mark_best};
use crate::table::Align;
use crate::words;
use abstain::metric::Direction;
use abstain_lab::Spread;
use abstain_lab::study::{EfficiencyStudy, ModelEfficiency};

/// How many rows tuning takes.
pub fn efficiency(study: &EfficiencyStudy, about: &About) -> Shown {
    let realisations = study.models.first().map_or(0, |own| own.seen.realisations);
    let protocol = format!(
        "mean ± std over {realisations} realisations; {} rows measure",
        words::count(about.test_rows)
    );
    Shown {
        name: "efficiency",
        title: "How many rows tuning takes",
        remarks: vec![],
        sheets: vec![Sheet {
            name: "efficiency".into(),
            caption: format!(
                "NAURC against the number of rows that tune, none given up for MSP ({}; {protocol})",
                about.zoo
            ),
            header: vec![header(study)],
            align: vec![Align::Left, Align::Right],
            groups: study.models.iter().map(group).collect(),
            notes: vec![
                "Test set: tuned on the rows that measure. Hold-outs without a single error are left out."
                    .into(),
            ],
        }],
        figures: vec![Figure {
            name: "efficiency".into(),
            caption: format!(
                "Mean NAURC against the number of rows that tune ({}; {protocol}; bands: ± one standard \
                 deviation; thin dashed lines: tuned on the test rows themselves; dotted: MSP)",
                about.zoo
            ),
            panels: study.models.iter().map(panel).collect(),
            columns: super::columns(study.models.len()),
            legend: Legend::Shared,
        }],
    }
}

fn header(study: &EfficiencyStudy) -> Vec<crate::sheet::Heading> {
    let methods = study.models.first().map(|own| &own.seen.methods[..]).unwrap_or_default();
    let names = methods.iter().map(ToString::to_string).chain(["MSP".to_string()]);
    headings(["Classifier".to_string(), "Rows".into()].into_iter().chain(names))
}

fn group(own: &ModelEfficiency) -> Group {
    let seen = &own.seen;
    let row = |name: Cell, values: &[Option<Spread>]| {
        let mut cells = vec![name];
        cells.extend(values.iter().map(|value| spread(*value, 4)));
        cells.push(spread(seen.msp, 4));
        mark_best(&mut cells[1..], Direction::Lower);
        cells
    };
    let sizes = seen.sizes.iter().map(|size| row(Cell::count(size.tuning_rows), &size.naurc));
    let mut rows: Vec<Vec<Cell>> = sizes.collect();
    rows.push(row(Cell::text("Test set"), &seen.bound));
    Group { label: Some(own.title.clone()), rows }
}

fn panel(own: &ModelEfficiency) -> Panel {
    let seen = &own.seen;
    let mut layers = Vec::new();
    for (index, &method) in seen.methods.iter().enumerate() {
        let points: Vec<(f64, Option<Spread>)> = seen
            .sizes
            .iter()
            .map(|size| (size.tuning_rows as f64, size.naurc.get(index).copied().flatten()))
            .collect();
        layers.push(band(method.to_string(), &points, look(method)));
        if let Some(bound) = seen.bound.get(index).copied().flatten() {
            let style = Style { dash: Dash::Dashed, width: 0.7, ..look(method).unmarked() };
            layers.push(Layer::Rule { label: None, at: RuleAt::Y(bound.mean), style });
        }
    }
    if let Some(msp) = seen.msp {
        layers.push(Layer::Rule {
            label: Some("MSP".into()),
            at: RuleAt::Y(msp.mean),
            style: Style::rule(Dash::Dotted),
        });
    }
    Panel {
        title: Some(own.title.clone()),
        x: Axis { scale: Scale::Log, ..Axis::new("Rows that tune") },
        y: Axis { range: range(own), ..Axis::new("NAURC") },
        layers,
        ..Panel::default()
    }
}

/// All means and something around them; the bands of the smallest hold-outs may leave the picture.
fn range(own: &ModelEfficiency) -> Option<(f64, f64)> {
    let sizes = own.seen.sizes.iter().flat_map(|size| &size.naurc);
    let all = sizes.chain(&own.seen.bound).chain([&own.seen.msp]).flatten();
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| {
        (low.min(own.mean), high.max(own.mean))
    });
    let margin = 0.35 * (high - low);
    (margin > 0.0).then_some((low - margin, high + margin))
}
