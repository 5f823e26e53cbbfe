//! Tunable methods of other papers, and the stack.

use super::{OthersLine, OthersStudy};
use crate::study::{About, Content, Present, headings, spread};
use abstain::metric::Direction;
use abstain_report::figure::{Axis, Figure, Layer, Legend, Mark, Panel, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, mark_best};
use abstain_report::words;

impl Present for OthersStudy {
    const TITLE: &'static str = "Tunable methods of other papers, and the stack";
    const SUMMARY: &'static str = "tunable methods of other papers (BK, ETS, HTS) and the stack";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let what = format!("Average positive gain in NAURC over MSP across the {}", about.models());
        let row = |line: &OthersLine| {
            let cells = line.apg.iter().map(|gain| spread(*gain, 5));
            std::iter::once(Cell::text(line.method.to_string())).chain(cells).collect()
        };
        let mut rows: Vec<Vec<Cell>> = self.methods.iter().map(row).collect();
        for column in 1..=self.tuning_rows.len() {
            mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
        }
        let names = self.tuning_rows.iter().map(|&rows| words::count(rows));
        let layer = |(size, &rows): (usize, &usize)| Layer::Points {
            label: Some(format!("{} tuning rows", words::count(rows))),
            points: self
                .methods
                .iter()
                .enumerate()
                .filter_map(|(place, line)| {
                    let gain = line.apg.get(size).copied().flatten()?;
                    // Side by side, so that no mark hides another.
                    let middle = (self.tuning_rows.len() as f64 - 1.0) / 2.0;
                    let x = place as f64 + 0.16 * (size as f64 - middle);
                    Some(Mark { x, y: gain.mean, error: Some(gain.std), ..Mark::default() })
                })
                .collect(),
            style: Style::series(size),
        };
        let categories = self.methods.iter().map(|line| line.method.to_string()).collect();
        Content {
            remarks: vec![],
            sheets: vec![Sheet {
                name: "others".into(),
                caption: format!("{what}, by the number of tuning rows ({})", about.gains()),
                header: vec![
                    vec![Heading::new(""), Heading::over("Tuning rows", self.tuning_rows.len())],
                    headings(std::iter::once("Method".to_string()).chain(names)),
                ],
                align: vec![Align::Left],
                groups: vec![Group { label: None, rows }],
                notes: vec![],
            }],
            figures: vec![Figure {
                name: "others".into(),
                caption: format!("{what} of other tunable methods ({})", about.gains()),
                panels: vec![Panel {
                    x: Axis { categories: Some(categories), ..Axis::new("") },
                    y: Axis::new("Average positive gain in NAURC"),
                    layers: self.tuning_rows.iter().enumerate().map(layer).collect(),
                    ..Panel::default()
                }],
                columns: 1,
                legend: Legend::Shared,
            }],
        }
    }
}
