//! A sheet that can be sorted.

use crate::sheet::{Cell, Sheet};
use crate::table::Align;
use abstain::metric::Direction;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct PageTable {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Column {
    title: String,
    kind: &'static str,
    better: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    cells: Vec<PageCell>,
    pub(super) chosen: bool,
    /// Where it is among the methods that are drawn.
    pub(super) method: Option<usize>,
    /// The model it is about.
    pub(super) model: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct PageCell {
    text: String,
    key: Key,
}

/// What a cell is sorted by.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Key {
    Number(f64),
    Text(String),
    Missing,
}

impl PageTable {
    /// A sheet, and for each column which way is better.
    pub(super) fn new(sheet: &Sheet, better: &[Option<Direction>]) -> Self {
        let column = |(index, title): (usize, String)| Column {
            title,
            kind: if sheet.align(index) == Align::Left { "text" } else { "number" },
            better: better.get(index).copied().flatten().map(|direction| match direction {
                Direction::Lower => "lower",
                Direction::Higher => "higher",
            }),
        };
        let row = |cells: Vec<&Cell>| Row {
            cells: cells.into_iter().map(cell).collect(),
            chosen: false,
            method: None,
            model: None,
        };
        PageTable {
            caption: sheet.caption.clone(),
            columns: sheet.names(": ").into_iter().enumerate().map(column).collect(),
            rows: sheet.blocks().into_iter().flat_map(|block| block.rows).map(row).collect(),
            notes: sheet.notes.clone(),
        }
    }
}

fn cell(cell: &Cell) -> PageCell {
    let key = match (cell.value.exact(), &cell.value) {
        (Some(number), _) => Key::Number(number),
        (None, value) => match value.main() {
            Some(text) => Key::Text(text),
            None => Key::Missing,
        },
    };
    PageCell { text: cell.shown(), key }
}
