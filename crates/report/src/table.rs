//! Tables for the terminal.

use comfy_table::{CellAlignment, ContentArrangement, TableComponent, presets};
use std::fmt;

/// Which side the cells of a column lean to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
    /// Marks and short words.
    Center,
}

/// A table with a line under its names and around it.
pub struct Table {
    inner: comfy_table::Table,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner.load_preset(presets::UTF8_HORIZONTAL_ONLY);
        for between_rows in [
            TableComponent::HorizontalLines,
            TableComponent::MiddleIntersections,
            TableComponent::LeftBorderIntersections,
            TableComponent::RightBorderIntersections,
        ] {
            inner.remove_style(between_rows);
        }
        inner.set_content_arrangement(ContentArrangement::Disabled);
        inner.set_header(columns.iter().map(|(name, _)| *name));
        for (column, (_, align)) in inner.column_iter_mut().zip(columns) {
            // With the blank that stands for a vertical line: two between columns.
            column.set_padding((1, 0));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
                Align::Center => CellAlignment::Center,
            });
        }
        Table { inner }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.inner.add_row(cells.into_iter().collect::<Vec<_>>());
    }

    /// Its lines, without blanks at their ends.
    pub fn lines(&self) -> Vec<String> {
        self.inner.lines().map(|line| line.trim_end().to_string()).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
