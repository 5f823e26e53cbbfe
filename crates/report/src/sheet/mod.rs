//! A table as papers print it, described once and written for the terminal, Markdown, CSV and LaTeX.
//!
//! ```
//! use abstain::metric::Direction;
//! use abstain_report::sheet::{Align, Cell, Group, Heading, Sheet, mark_best};
//!
//! let mut rows = vec![
//!     vec![Cell::text("MSP"), Cell::spread(0.2061, 0.0042, 4)],
//!     vec![Cell::text("MaxLogit-pNorm"), Cell::spread(0.1734, 0.0030, 4)],
//! ];
//! mark_best(rows.iter_mut().map(|row| &mut row[1]), Direction::Lower);
//! let sheet = Sheet {
//!     name: "naurc".into(),
//!     caption: "NAURC, mean ± std".into(),
//!     header: vec![vec![Heading::new("method"), Heading::new("NAURC")]],
//!     align: vec![Align::Left, Align::Right],
//!     groups: vec![Group { label: None, rows }],
//!     notes: vec![],
//! };
//! assert!(sheet.markdown().contains("| MaxLogit-pNorm | **0.1734** ±0.0030 |"));
//! assert!(sheet.csv().is_ok_and(|csv| csv.starts_with("method,NAURC,NAURC (std)\n")));
//! ```

mod cell;
mod csv;
mod latex;
mod markdown;
mod symbols;
mod terminal;

pub(crate) use markdown::escaped;

pub use cell::{Cell, Mark, Value, mark_best};

use abstain::metric::Direction;

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
    /// Marks and short words.
    Center,
}

/// The arrow for the better direction, after a blank.
fn arrow(better: Direction) -> &'static str {
    match better {
        Direction::Lower => " ↓",
        Direction::Higher => " ↑",
    }
}

/// A table, independent of how it is shown.
///
/// It has as many columns as `align`, the longest row or the most headings in a line need. Nothing
/// has to fit: short rows end in [`Value::Missing`], short lines of headings in empty ones, spans
/// that reach too far are cut, and columns without an alignment lean right, the first one left.
///
/// If any group has a label, the first column is the labels', and the cells of all rows begin in
/// the second; `header` and `align` count the column of labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet {
    /// The file's stem and the label in LaTeX.
    pub name: String,
    /// What it shows, as plain text: `τ`, `±` and `A_j` stand for themselves.
    pub caption: String,
    /// Lines of headings, mostly one or two.
    pub header: Vec<Vec<Heading>>,
    /// Which side each column leans to.
    pub align: Vec<Align>,
    /// The rows, with a rule between groups.
    pub groups: Vec<Group>,
    /// Sentences below the table.
    pub notes: Vec<String>,
}

/// The name of a column, or of several side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The name.
    pub text: String,
    /// How many columns it stands over; 0 counts as 1.
    pub span: usize,
    /// Which direction is better in these columns: an arrow, except in CSV.
    pub better: Option<Direction>,
}

impl Heading {
    /// The name of one column.
    pub fn new(text: impl Into<String>) -> Self {
        Heading::over(text, 1)
    }

    /// The name of so many columns.
    pub fn over(text: impl Into<String>, span: usize) -> Self {
        Heading { text: text.into(), span, better: None }
    }

    /// The same with the direction that is better.
    #[must_use]
    pub fn better(self, direction: Direction) -> Self {
        Heading { better: Some(direction), ..self }
    }
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// What they have in common, shown once.
    pub label: Option<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// Keeps some of the rows.
    pub(crate) fn keep(&mut self, mut keeps: impl FnMut(&[Cell]) -> bool) {
        for group in &mut self.groups {
            group.rows.retain(|row| keeps(row));
        }
    }

    /// For the terminal. The best is bold if `colour`, which means ANSI styles, and followed by `*`
    /// if not; the chosen row has a `▸`. Columns that lean left are wrapped if the table fits into
    /// `width` that way; numbers never are, and a table that cannot fit is as wide as it is.
    pub fn terminal(&self, width: Option<usize>, colour: bool) -> String {
        terminal::render(self, width, colour)
    }

    /// For the terminal, below a text that takes the place of the caption. Only notes are wrapped.
    pub(crate) fn terminal_below_title(&self, note_width: usize, colour: bool) -> String {
        terminal::body(self, None, colour) + &terminal::notes(self, Some(note_width), colour)
    }

    /// In GitHub's Markdown, with the lines of headings joined by ": ".
    pub fn markdown(&self) -> String {
        markdown::render(self)
    }

    /// As comma-separated values, with all digits: see [`Value`] for the columns of each.
    ///
    /// Lines of headings are joined by " / ", labels repeated on each row. Caption, notes, marks and
    /// what is best are left out. A text that a spreadsheet would run as a formula, since it begins with
    /// `=`, `+`, `-` or `@` and is no number, gets a `'` before it; other text is as it was.
    pub fn csv(&self) -> Result<String, ::csv::Error> {
        csv::render(self)
    }

    /// For LaTeX, in the style of `booktabs`; the first line names the packages.
    ///
    /// Tables of more than 8 columns or 72 characters are a `table*`, scaled down to the line where
    /// they have to be. Tables of more than 40 rows are a `longtable`, which can break over pages
    /// but does not work in two columns. Text is escaped so that pdflatex takes it with no package
    /// for fonts: known signs are spelt as commands, all others as `[U+4E2D]`.
    pub fn latex(&self) -> String {
        latex::render(self)
    }

    fn columns(&self) -> usize {
        let labels = usize::from(self.labelled());
        let rows = self.groups.iter().flat_map(|group| &group.rows).map(|row| row.len() + labels);
        let header = self.header.iter().map(Vec::len);
        rows.chain(header).fold(self.align.len().max(labels), usize::max)
    }

    fn labelled(&self) -> bool {
        self.groups.iter().any(|group| group.label.is_some())
    }

    pub(crate) fn align(&self, column: usize) -> Align {
        let default = if column == 0 { Align::Left } else { Align::Right };
        self.align.get(column).copied().unwrap_or(default)
    }

    /// The lines of headings, each of which covers all columns exactly.
    fn lines(&self) -> Vec<Vec<Placed>> {
        let columns = self.columns();
        let mut lines = Vec::new();
        for header in &self.header {
            let (mut line, mut start) = (Vec::new(), 0);
            let blank = Heading::new("");
            // More blanks than can be needed: what finds no column left is dropped.
            for heading in header.iter().chain(std::iter::repeat_n(&blank, columns)) {
                let span = heading.span.max(1).min(columns - start);
                if span > 0 {
                    let better = heading.better;
                    line.push(Placed { text: plain(&heading.text), start, span, better });
                }
                start += span;
            }
            lines.push(line);
        }
        lines
    }

    /// One name a column: what stands over it from top to bottom, each as `text` gives it.
    fn names(&self, between: &str, text: fn(&Placed) -> String) -> Vec<String> {
        let lines = self.lines();
        let over = |column: usize| {
            let texts: Vec<String> = lines
                .iter()
                .flatten()
                .filter(|heading| heading.is_over(column))
                .map(text)
                .filter(|text| !text.is_empty())
                .collect();
            texts.join(between)
        };
        (0..self.columns()).map(over).collect()
    }

    /// The columns by name, with their alignment and the direction that is better.
    pub(crate) fn described(&self) -> Vec<(String, Align, Option<Direction>)> {
        let lines = self.lines();
        let better = |column: usize| {
            let mut over = lines.iter().flatten().filter(|heading| heading.is_over(column));
            over.find_map(|heading| heading.better)
        };
        let names = self.names(": ", |heading| heading.text.clone()).into_iter().enumerate();
        names.map(|(column, name)| (name, self.align(column), better(column))).collect()
    }

    /// The groups that have rows, all of which have all cells.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        static NOTHING: Cell = Cell {
            value: Value::Missing,
            percent: false,
            signed: false,
            best: false,
            note: None,
            mark: None,
        };
        let cells = self.columns() - usize::from(self.labelled());
        self.groups
            .iter()
            .filter(|group| !group.rows.is_empty())
            .map(|group| Block {
                label: group.label.as_deref().unwrap_or_default(),
                rows: group
                    .rows
                    .iter()
                    .map(|row| row.iter().chain(std::iter::repeat(&NOTHING)).take(cells).collect())
                    .collect(),
            })
            .collect()
    }
}

/// A heading and the columns below it.
struct Placed {
    text: String,
    start: usize,
    span: usize,
    better: Option<Direction>,
}

impl Placed {
    fn is_over(&self, column: usize) -> bool {
        (self.start..self.start + self.span).contains(&column)
    }

    /// The text with its arrow.
    fn shown(&self) -> String {
        format!("{}{}", self.text, self.better.map_or("", arrow))
    }
}

/// A group ready to be written.
pub(crate) struct Block<'a> {
    label: &'a str,
    pub(crate) rows: Vec<Vec<&'a Cell>>,
}

/// The cells below each other at a place of the rows.
fn stacked<'a>(blocks: &'a [Block<'a>], place: usize) -> impl Iterator<Item = &'a Cell> {
    blocks.iter().flat_map(|block| &block.rows).map(move |row| row[place])
}

/// The text as one line of what can be seen: line breaks would break a table apart, control
/// characters drive a terminal, and directional marks show something else than is there.
fn plain(text: &str) -> String {
    let marks = ['\u{200b}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2060}'..='\u{206f}'];
    let hidden = |c: &char| *c == '\u{feff}' || marks.iter().any(|range| range.contains(c));
    let seen: String = text.chars().filter(|c| !hidden(c)).collect();
    let blank =
        |c: char| c.is_control() || (c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{202f}'));
    seen.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(header: Vec<Vec<Heading>>, rows: Vec<Vec<Cell>>) -> Sheet {
        Sheet { header, groups: vec![Group { label: None, rows }], ..Sheet::default() }
    }

    #[test]
    fn headings_cover_all_columns_exactly() {
        let row = vec![Cell::count(1); 4];
        let header = vec![
            vec![Heading::new("a"), Heading::over("b", 2)],
            vec![Heading::over("c", usize::MAX), Heading::new("lost")],
            vec![Heading::over("d", 0)],
            vec![],
        ];
        let sheet = sheet(header, vec![row]);
        let places: Vec<Vec<(String, usize, usize)>> = sheet
            .lines()
            .into_iter()
            .map(|line| {
                line.into_iter()
                    .map(|heading| (heading.text, heading.start, heading.span))
                    .collect()
            })
            .collect();
        let place = |text: &str, start, span| (text.to_string(), start, span);
        assert_eq!(places[0], [place("a", 0, 1), place("b", 1, 2), place("", 3, 1)]);
        assert_eq!(places[1], [place("c", 0, 4)]);
        assert_eq!(places[2].len(), 4);
        assert_eq!(places[3].len(), 4);
        assert_eq!(
            sheet.names(" / ", |heading| heading.text.clone()),
            ["a / c / d", "b / c", "b / c", "c"]
        );
    }

    #[test]
    fn short_rows_are_filled_and_nothing_of_long_ones_is_lost() {
        let sheet = sheet(
            vec![vec![Heading::new("a"), Heading::new("b")]],
            vec![vec![], vec![Cell::count(1), Cell::count(2), Cell::count(3)]],
        );
        assert_eq!(sheet.columns(), 3);
        let blocks = sheet.blocks();
        assert_eq!(blocks[0].rows[0], [&Cell::from(Value::Missing); 3]);
        assert_eq!(blocks[0].rows[1].len(), 3);
        assert_eq!([sheet.align(0), sheet.align(2)], [Align::Left, Align::Right]);
    }

    #[test]
    fn plain_text_is_one_line_of_what_can_be_seen() {
        assert_eq!(plain(" a\r\n\tb\u{1b}[31m \u{202e}c\u{0} "), "a b [31m c");
        assert_eq!(plain("95\u{a0}% of A_j ≤ τ"), "95\u{a0}% of A_j ≤ τ");
    }
}
