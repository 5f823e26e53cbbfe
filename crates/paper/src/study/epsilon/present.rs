//! Average gains against ε.

use super::EpsilonStudy;
use crate::study::{About, Content, Present, band, headings, look, spread};
use abstain::metric::Direction;
use abstain_report::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Sheet, mark_best};
use abstain_report::words;

impl Present for EpsilonStudy {
    const TITLE: &'static str = "Average gains against ε";
    const SUMMARY: &'static str =
        "average positive gains against ε, up to which gains count as none";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let used = about.used();
        let mut layers: Vec<Layer> = self
            .lines
            .iter()
            .map(|line| {
                let points: Vec<_> =
                    self.epsilons.iter().copied().zip(line.apg.iter().copied()).collect();
                band(line.method.to_string(), &points, look(line.method).unmarked())
            })
            .collect();
        layers.push(Layer::Rule {
            label: Some(format!("ε = {}, used in the other studies", words::short(self.used, 4))),
            at: RuleAt::X(self.used),
            style: Style::rule(Dash::Dotted),
        });
        let what = format!("Average positive gain in NAURC over MSP across the {}", about.models());
        // A table of some of the values: the figure has all of them.
        let shown = self.epsilons.iter().enumerate().step_by(10);
        let rows = self.lines.iter().map(|line| {
            let cells = shown.clone().map(|(index, _)| spread(line.apg[index], 5));
            std::iter::once(Cell::text(line.method.to_string())).chain(cells).collect()
        });
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        for column in 1..=shown.clone().count() {
            mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
        }
        let names = shown.map(|(_, epsilon)| format!("ε = {}", words::short(*epsilon, 4)));
        Content {
            remarks: vec![],
            sheets: vec![Sheet {
                name: "epsilon".into(),
                caption: format!(
                    "{what} against ε, up to which gains count as none ({}; {used})",
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
}
