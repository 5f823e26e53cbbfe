//! Tunable methods of other papers.

use super::{About, Shown, headings, spread};
use crate::figure::{Axis, Figure, Layer, Legend, Mark, Panel, Style};
use crate::sheet::{Cell, Group, Heading, Sheet, mark_best};
use crate::table::Align;
use crate::words;
use abstain::metric::Direction;
use abstain_lab::study::OthersStudy;

/// Tunable methods of other papers.
pub fn others(study: &OthersStudy, about: &About) -> Shown {
    let what = format!("Average positive gain in NAURC over MSP across the {}", about.models());
    let row = |(method, gains): &(abstain::Method, Vec<Option<abstain_lab::Spread>>)| {
        let cells = gains.iter().map(|gain| spread(*gain, 5));
        std::iter::once(Cell::text(method.to_string())).chain(cells).collect()
    };
    let mut rows: Vec<Vec<Cell>> = study.methods.iter().map(row).collect();
    for column in 1..=study.tuning_rows.len() {
        mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
    }
    let names = study.tuning_rows.iter().map(|&rows| words::count(rows));
    let layer = |(size, &rows): (usize, &usize)| Layer::Points {
        label: Some(format!("{} rows tune", words::count(rows))),
        points: study
            .methods
            .iter()
            .enumerate()
            .filter_map(|(place, (_, gains))| {
                let gain = gains.get(size).copied().flatten()?;
                // Side by side, so that none hides another.
                let middle = (study.tuning_rows.len() as f64 - 1.0) / 2.0;
                let x = place as f64 + 0.16 * (size as f64 - middle);
                Some(Mark { x, y: gain.mean, error: Some(gain.std), ..Mark::default() })
            })
            .collect(),
        style: Style::series(size),
    };
    let categories = study.methods.iter().map(|(method, _)| method.to_string()).collect();
    Shown {
        name: "others",
        title: "Tunable methods of other papers, and the stack",
        remarks: vec![],
        sheets: vec![Sheet {
            name: "others".into(),
            caption: format!("{what}, by the number of rows that tune ({})", about.gains()),
            header: vec![
                vec![Heading::new(""), Heading::over("Rows that tune", study.tuning_rows.len())],
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
                layers: study.tuning_rows.iter().enumerate().map(layer).collect(),
                ..Panel::default()
            }],
            columns: 1,
            legend: Legend::Shared,
        }],
    }
}
