//! What the smallest gain that counts does.

use super::{About, Shown, band, headings, look, spread};
use crate::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use crate::sheet::{Cell, Group, Sheet, mark_best};
use crate::table::Align;
use crate::words;
use abstain::metric::Direction;
use abstain_lab::study::EpsilonStudy;

/// What the smallest gain that counts does.
pub fn epsilon(study: &EpsilonStudy, about: &About) -> Shown {
    let used = about.used();
    let mut layers: Vec<Layer> = study
        .lines
        .iter()
        .map(|line| {
            let points: Vec<_> =
                study.epsilons.iter().copied().zip(line.apg.iter().copied()).collect();
            band(line.method.to_string(), &points, look(line.method).unmarked())
        })
        .collect();
    layers.push(Layer::Rule {
        label: Some(format!("ε = {}, used elsewhere", words::short(study.used, 4))),
        at: RuleAt::X(study.used),
        style: Style::rule(Dash::Dotted),
    });
    let what = format!("Average positive gain in NAURC over MSP across the {}", about.models());
    // A table of some of the values: the figure has all of them.
    let shown = study.epsilons.iter().enumerate().step_by(10);
    let rows = study.lines.iter().map(|line| {
        let cells = shown.clone().map(|(index, _)| spread(line.apg[index], 5));
        std::iter::once(Cell::text(line.method.to_string())).chain(cells).collect()
    });
    let mut rows: Vec<Vec<Cell>> = rows.collect();
    for column in 1..=shown.clone().count() {
        mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
    }
    let names = shown.map(|(_, epsilon)| format!("ε = {}", words::short(*epsilon, 4)));
    Shown {
        name: "epsilon",
        title: "What the smallest gain that counts does",
        remarks: vec![],
        sheets: vec![Sheet {
            name: "epsilon".into(),
            caption: format!(
                "{what} against the smallest gain that counts ({}; {used})",
                about.spread()
            ),
            header: vec![headings(std::iter::once("Method".to_string()).chain(names))],
            align: vec![Align::Left],
            groups: vec![Group { label: None, rows }],
            notes: vec![],
        }],
        figures: vec![Figure {
            name: "epsilon".into(),
            caption: format!("{what} as a function of ε ({}; {used})", about.protocol()),
            panels: vec![Panel {
                x: Axis::new("ε"),
                y: Axis::new("Average positive gain in NAURC"),
                layers,
                ..Panel::default()
            }],
            columns: 1,
            legend: Legend::Shared,
        }],
    }
}
