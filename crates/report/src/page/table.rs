//! A sheet as the page's template reads it: sortable, with the marks of its rows.

use crate::sheet::{Align, Cell, Mark, Sheet};
use abstain::metric::Direction;
use serde::Serialize;

/// A table of a page.
#[derive(Debug, Clone, Serialize)]
pub struct PageTable {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Row>,
    notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Column {
    title: String,
    kind: &'static str,
    better: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
struct Row {
    cells: Vec<PageCell>,
    chosen: bool,
    /// Where it is among the methods that are drawn.
    method: Option<usize>,
    /// The model it is about.
    model: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct PageCell {
    text: String,
    key: Key,
    /// Which direction is better in its row.
    better: Option<&'static str>,
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
    /// A sheet.
    pub fn new(sheet: &Sheet) -> Self {
        let columns = sheet.described().into_iter().map(|(title, align, better)| Column {
            title,
            kind: if align == Align::Left { "text" } else { "number" },
            better: better.map(word),
        });
        let row = |cells: Vec<&Cell>| Row {
            chosen: cells.first().is_some_and(|cell| cell.mark == Some(Mark::Chosen)),
            cells: cells.into_iter().map(cell).collect(),
            method: None,
            model: None,
        };
        PageTable {
            caption: sheet.caption.clone(),
            columns: columns.collect(),
            rows: sheet.blocks().into_iter().flat_map(|block| block.rows).map(row).collect(),
            notes: sheet.notes.clone(),
        }
    }

    /// The same with the direction that is better in each column.
    #[must_use]
    pub fn better(mut self, directions: &[Option<Direction>]) -> Self {
        for (column, direction) in self.columns.iter_mut().zip(directions) {
            column.better = direction.map(word);
        }
        self
    }

    /// The same with rows that select the method of that name among those that are drawn.
    pub(super) fn selecting(mut self, methods: &[&str]) -> Self {
        for row in &mut self.rows {
            let name = row.cells.first().map(|cell| &cell.text[..]);
            row.method = methods.iter().position(|&method| Some(method) == name);
        }
        self
    }

    /// The same with rows that are about these models, one each.
    #[must_use]
    pub fn about_models(mut self, models: impl Iterator<Item = String>) -> Self {
        for (row, model) in self.rows.iter_mut().zip(models) {
            row.model = Some(model);
        }
        self
    }
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
    }
}

fn cell(cell: &Cell) -> PageCell {
    // The template has words for the mark.
    let unmarked = Cell { mark: None, ..cell.clone() };
    let key = match (cell.value.exact(), unmarked.main()) {
        (Some(number), _) => Key::Number(number),
        (None, Some(text)) => Key::Text(text),
        (None, None) => Key::Missing,
    };
    let better = match cell.mark {
        Some(Mark::Better(direction)) => Some(word(direction)),
        _ => None,
    };
    PageCell { text: unmarked.shown(), key, better }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Group, Heading};

    #[test]
    fn marks_are_data_not_text() {
        let rows = vec![
            vec![Cell::text("MSP"), Cell::number(0.25, 1)],
            vec![Cell::text("Stack").marked(Some(Mark::Chosen)), Cell::number(0.125, 1)],
            vec![Cell::text("NAURC").marked(Some(Mark::Better(Direction::Lower)))],
        ];
        let sheet = Sheet {
            header: vec![vec![
                Heading::new("method"),
                Heading::new("NAURC").better(Direction::Lower),
            ]],
            groups: vec![Group { label: None, rows }],
            ..Sheet::default()
        };
        let table = PageTable::new(&sheet).selecting(&["Stack", "MSP"]);
        let columns: Vec<_> =
            table.columns.iter().map(|column| (&column.title[..], column.better)).collect();
        assert_eq!(columns, [("method", None), ("NAURC", Some("lower"))]);
        let rows: Vec<_> = table.rows.iter().map(|row| (row.chosen, row.method)).collect();
        assert_eq!(rows, [(false, Some(1)), (true, Some(0)), (false, None)]);
        let first = &table.rows[2].cells[0];
        assert_eq!((&first.text[..], first.better), ("NAURC", Some("lower")));
    }
}
