//! Sheets for the terminal: the look of [`crate::table::Table`], with headings over several columns
//! and rules between groups, which it cannot draw.

use super::cell::MISSING;
use super::{Block, Cell, Placed, Sheet, plain, stacked};
use crate::table::Align;
use crate::words::{QUIET, STRONG, styled};
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between columns.
const GAP: usize = 2;
/// Columns of text are not made narrower than this.
const NARROWEST: usize = 8;

/// A text in a cell: what is bold if it is best, and what follows.
#[derive(Clone)]
struct Piece {
    main: String,
    rest: String,
    best: bool,
}

impl Piece {
    fn text(text: &str) -> Self {
        Piece { main: plain(text), rest: String::new(), best: false }
    }

    fn width(&self) -> usize {
        self.main.width() + self.rest.width()
    }
}

/// A piece with its place in a line.
struct Slot {
    piece: Piece,
    align: Align,
    width: usize,
}

pub(super) fn render(sheet: &Sheet, width: Option<usize>, colour: bool) -> String {
    let mut text = String::new();
    let room = width.unwrap_or(usize::MAX);
    for line in wrapped(&plain(&sheet.caption), room) {
        let _ = writeln!(text, "{}", if colour { styled(STRONG, &line) } else { line });
    }
    if sheet.columns() > 0 {
        text += &table(sheet, room, colour);
    }
    for note in &sheet.notes {
        for line in wrapped(&plain(note), room.saturating_sub(1)) {
            let _ = writeln!(text, " {}", if colour { styled(QUIET, &line) } else { line });
        }
    }
    text
}

fn table(sheet: &Sheet, room: usize, colour: bool) -> String {
    let header = sheet.lines();
    let groups = pieces(sheet, colour);
    let widths = widths(sheet, &header, &groups, room);
    let rule = |line: &str| line.repeat(total(&widths)) + "\n";
    let mut text = rule("─");
    for (i, line) in header.iter().enumerate() {
        let slots = line.iter().map(|heading| Slot {
            piece: Piece::text(&heading.text),
            align: if heading.span > 1 { Align::Center } else { sheet.align(heading.start) },
            width: span(&widths, heading),
        });
        text += &row(&slots.collect::<Vec<_>>(), colour);
        if i + 1 < header.len() && line.iter().any(rules) {
            let slots = line.iter().map(|heading| {
                let width = span(&widths, heading);
                let line = if rules(heading) { "─".repeat(width) } else { String::new() };
                Slot { piece: Piece::text(&line), align: Align::Left, width }
            });
            text += &row(&slots.collect::<Vec<_>>(), colour);
        }
    }
    if !header.is_empty() {
        text += &rule("═");
    }
    for (i, group) in groups.into_iter().enumerate() {
        if i > 0 {
            text += &rule("─");
        }
        for pieces in group {
            let slots = pieces.into_iter().zip(&widths).enumerate();
            let slots = slots.map(|(column, (piece, width))| Slot {
                piece,
                align: sheet.align(column),
                width: *width,
            });
            text += &row(&slots.collect::<Vec<_>>(), colour);
        }
    }
    text + &rule("─")
}

/// Whether a line is drawn between a heading and those of its columns.
fn rules(heading: &Placed) -> bool {
    heading.span > 1 && !heading.text.is_empty()
}

/// The rows of each group as pieces, one a column.
fn pieces(sheet: &Sheet, colour: bool) -> Vec<Vec<Vec<Piece>>> {
    let blocks = sheet.blocks();
    let labels = usize::from(sheet.labelled());
    let mut groups: Vec<Vec<Vec<Piece>>> = blocks
        .iter()
        .map(|block| {
            let label = |i| Piece::text(if i == 0 { block.label } else { "" });
            let rows = 0..block.rows.len();
            rows.map(|i| (0..labels).map(|_| label(i)).collect()).collect()
        })
        .collect();
    for column in labels..sheet.columns() {
        let cells = || stacked(&blocks, column - labels);
        let right = sheet.align(column) == Align::Right;
        let starred = !colour && right && cells().any(|cell| cell.best);
        let rests = cells().filter(|cell| !cell.value.is_text());
        let longest = rests.map(|cell| rest(cell, colour, starred).width()).max();
        // Numbers stand below each other whatever follows them.
        let length = if right { longest.unwrap_or(0) } else { 0 };
        for (Block { rows, .. }, group) in blocks.iter().zip(&mut groups) {
            for (cells, pieces) in rows.iter().zip(group) {
                pieces.push(piece(cells[column - labels], colour, starred, length));
            }
        }
    }
    groups
}

fn piece(cell: &Cell, colour: bool, starred: bool, length: usize) -> Piece {
    let main = cell.value.main().unwrap_or(MISSING.into());
    let mut rest = rest(cell, colour, starred && !cell.value.is_text());
    if !cell.value.is_text() {
        rest += &" ".repeat(length.saturating_sub(rest.width()));
    }
    Piece { main, rest, best: cell.best }
}

/// What follows a value: the star of the best, or its place; the spread; the note.
fn rest(cell: &Cell, colour: bool, starred: bool) -> String {
    let star = match (cell.best && !colour, starred) {
        (true, _) => "*",
        (false, true) => " ",
        (false, false) => "",
    };
    let tail = cell.value.tail().map_or(String::new(), |tail| format!(" {tail}"));
    let mark = cell.mark().map_or(String::new(), |mark| format!(" ({mark})"));
    format!("{star}{tail}{mark}")
}

/// How wide each column is: as wide as what is in it, if there is room.
fn widths(
    sheet: &Sheet,
    header: &[Vec<Placed>],
    groups: &[Vec<Vec<Piece>>],
    room: usize,
) -> Vec<usize> {
    let mut widths = vec![1; sheet.columns()];
    for row in groups.iter().flatten() {
        for (width, piece) in widths.iter_mut().zip(row) {
            *width = piece.width().max(*width);
        }
    }
    // Narrow headings first, so that wide ones only ask for what is still missing.
    let mut headings: Vec<&Placed> = header.iter().flatten().collect();
    headings.sort_by_key(|heading| heading.span);
    for heading in headings {
        let missing = heading.text.width().saturating_sub(span(&widths, heading));
        for i in 0..missing {
            widths[heading.start + i % heading.span] += 1;
        }
    }
    let mut narrow = widths.clone();
    while total(&narrow) > room {
        let texts = (0..narrow.len()).filter(|column| sheet.align(*column) == Align::Left);
        match texts.max_by_key(|column| narrow[*column]) {
            Some(widest) if narrow[widest] > NARROWEST => narrow[widest] -= 1,
            // Narrow texts would be no help.
            _ => return widths,
        }
    }
    narrow
}

/// The width of all columns, of the gaps between them and of the blank before them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * (widths.len() - 1) + 1
}

/// The width of a heading's columns and of the gaps between them.
fn span(widths: &[usize], heading: &Placed) -> usize {
    let own = &widths[heading.start..heading.start + heading.span];
    own.iter().sum::<usize>() + GAP * (heading.span - 1)
}

/// A row of a table, of several lines if a text is wrapped.
fn row(slots: &[Slot], colour: bool) -> String {
    let split = |slot: &Slot| {
        let piece = &slot.piece;
        if piece.width() <= slot.width {
            return vec![piece.clone()];
        }
        let lines = wrapped(&format!("{}{}", piece.main, piece.rest), slot.width).into_iter();
        lines.map(|main| Piece { main, rest: String::new(), best: piece.best }).collect()
    };
    let pieces: Vec<Vec<Piece>> = slots.iter().map(split).collect();
    let height = pieces.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for i in 0..height {
        let parts = slots.iter().zip(&pieces).map(|(slot, pieces)| {
            pieces.get(i).map_or(" ".repeat(slot.width), |piece| placed(piece, slot, colour))
        });
        let line = parts.collect::<Vec<_>>().join(&" ".repeat(GAP));
        let _ = writeln!(text, "{}", format!(" {line}").trim_end());
    }
    text
}

fn placed(piece: &Piece, slot: &Slot, colour: bool) -> String {
    let free = slot.width.saturating_sub(piece.width());
    let left = match slot.align {
        Align::Left => 0,
        Align::Right => free,
        Align::Center => free / 2,
    };
    let Piece { main, rest, best } = piece;
    let main = if *best && colour { &styled(STRONG, main) } else { main };
    format!("{}{main}{rest}{}", " ".repeat(left), " ".repeat(free - left))
}

/// Lines of at most so many columns, broken between words where that is possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if used > 0 && used + 1 + word.width() <= width {
            line.push(' ');
            used += 1;
        } else if used > 0 {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        for c in word.chars() {
            let own = c.width().unwrap_or(0);
            if used > 0 && used + own > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += own;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Group, Heading};

    fn sheet() -> Sheet {
        let best = |cell| Cell { best: true, ..cell };
        Sheet {
            caption: "NAURC, mean ± std".into(),
            header: vec![
                vec![Heading::new(""), Heading::new(""), Heading::over("NAURC ↓", 2)],
                ["data", "method", "a", "b"].map(Heading::new).into(),
            ],
            groups: vec![
                Group {
                    label: Some("CIFAR".into()),
                    rows: vec![
                        vec![
                            Cell::text("MSP"),
                            Cell::spread(0.2061, 0.0042, 4),
                            best(Cell::number(-0.5, 1)),
                        ],
                        vec![
                            Cell::text("MaxLogit-pNorm"),
                            best(Cell::spread(0.1734, 0.003, 4)).noted("F"),
                        ],
                    ],
                },
                Group { label: Some("空".into()), rows: vec![vec![]] },
            ],
            align: vec![Align::Left, Align::Left],
            notes: vec!["F: fell back.".into()],
            ..Sheet::default()
        }
    }

    #[test]
    fn a_table_by_hand() {
        let expected = "\
NAURC, mean ± std
──────────────────────────────────────────────────
                                 NAURC ↓
                        ──────────────────────────
 data   method                            a      b
══════════════════════════════════════════════════
 CIFAR  MSP             0.2061  ±0.0042      -0.5*
        MaxLogit-pNorm  0.1734* ±0.0030 (F)     —
──────────────────────────────────────────────────
 空     —                    —                  —
──────────────────────────────────────────────────
 F: fell back.
";
        assert_eq!(sheet().terminal(None, false), expected);
    }

    #[test]
    fn colour_changes_no_place() {
        let mut sheet = sheet();
        let coloured = sheet.terminal(None, true);
        assert!(coloured.contains("\u{1b}[1m0.1734\u{1b}[0m ±0.0030 (F)"));
        for row in sheet.groups.iter_mut().flat_map(|group| &mut group.rows) {
            for cell in row {
                cell.best = false;
            }
        }
        let mut stripped = coloured;
        for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"] {
            stripped = stripped.replace(code, "");
        }
        assert_eq!(stripped, sheet.terminal(None, false));
    }

    #[test]
    fn text_is_wrapped_to_the_width() {
        let mut sheet = sheet();
        sheet.groups[0].rows[0][0] = Cell::text("the largest of all probabilities");
        assert!(sheet.terminal(None, false).lines().any(|line| line.width() > 60));
        let narrow = sheet.terminal(Some(50), false);
        assert!(narrow.lines().all(|line| line.width() <= 50), "{narrow}");
        assert!(narrow.contains("\n        all\n        probabilities\n"), "{narrow}");
        // Too narrow for the numbers: the text stays whole too.
        assert!(sheet.terminal(Some(30), false).contains(" the largest of all probabilities "));
    }

    #[test]
    fn words_are_broken_only_where_they_must() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("abcdef g", 4), ["abcd", "ef g"]);
        assert_eq!(wrapped("空空空", 4), ["空空", "空"]);
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
        assert!(wrapped("", 9).is_empty());
    }

    #[test]
    fn an_empty_sheet_is_empty() {
        assert_eq!(Sheet::default().terminal(Some(80), false), "");
        let sheet = Sheet { caption: "x".into(), ..Sheet::default() };
        assert_eq!(sheet.terminal(None, true), "\u{1b}[1mx\u{1b}[0m\n");
    }
}
