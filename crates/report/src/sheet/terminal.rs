//! Sheets for the terminal.

use super::cell::MISSING;
use super::{Align, Block, Cell, Placed, Sheet, plain, stacked};
use crate::terminal::ansi::{QUIET, STRONG, styled};
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between columns.
const GAP: usize = 2;
/// What stands before the name of the chosen row, and before the others.
const MARKED: &str = "▸ ";
const UNMARKED: &str = "  ";
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

/// A row of pieces, and whether it is the chosen one.
struct Line {
    pieces: Vec<Piece>,
    chosen: bool,
}

/// A piece with its place in a line.
struct Slot {
    piece: Piece,
    align: Align,
    width: usize,
}

pub(super) fn render(sheet: &Sheet, width: Option<usize>, colour: bool) -> String {
    let room = width.unwrap_or(usize::MAX);
    let caption = wrapped(&plain(&sheet.caption), room).into_iter();
    let caption = caption.map(|line| (if colour { styled(STRONG, &line) } else { line }) + "\n");
    caption.collect::<String>() + &body(sheet, width, colour) + &notes(sheet, width, colour)
}

/// The table without its caption and notes.
pub(super) fn body(sheet: &Sheet, width: Option<usize>, colour: bool) -> String {
    if sheet.columns() == 0 {
        return String::new();
    }
    table(sheet, width.unwrap_or(usize::MAX), colour)
}

/// The sentences below the table.
pub(super) fn notes(sheet: &Sheet, width: Option<usize>, colour: bool) -> String {
    let room = width.unwrap_or(usize::MAX).saturating_sub(1);
    let mut text = String::new();
    for line in sheet.notes.iter().flat_map(|note| wrapped(&plain(note), room)) {
        let _ = writeln!(text, " {}", if colour { styled(QUIET, &line) } else { line });
    }
    text
}

fn table(sheet: &Sheet, room: usize, colour: bool) -> String {
    let groups = lines(sheet, colour);
    let mut header = sheet.lines();
    for heading in header.iter_mut().flatten() {
        heading.text = heading.shown();
        // Above names that leave room for a mark.
        if heading.start == usize::from(sheet.labelled()) && has_choice(sheet) {
            heading.text.insert_str(0, UNMARKED);
        }
    }
    let widths = widths(sheet, &header, &groups, room);
    let rule = |line: &str| line.repeat(total(&widths)) + "\n";
    let mut text = rule("─");
    for (i, line) in header.iter().enumerate() {
        let slots = line.iter().map(|heading| Slot {
            piece: Piece { main: heading.text.clone(), rest: String::new(), best: false },
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
        for Line { pieces, chosen } in group {
            let slots = pieces.into_iter().zip(&widths).enumerate();
            let slots = slots.map(|(column, (piece, width))| Slot {
                piece,
                align: sheet.align(column),
                width: *width,
            });
            let slots: Vec<Slot> = slots.collect();
            // The chosen row is bold as a whole.
            let strong = colour && chosen;
            for line in row(&slots, colour && !chosen).lines() {
                text += &if strong { styled(STRONG, line) } else { line.to_string() };
                text.push('\n');
            }
        }
    }
    text + &rule("─")
}

fn has_choice(sheet: &Sheet) -> bool {
    let rows = sheet.groups.iter().flat_map(|group| &group.rows);
    rows.filter_map(|row| row.first()).any(Cell::is_chosen)
}

/// Whether a line is drawn between a heading and those of its columns.
fn rules(heading: &Placed) -> bool {
    heading.span > 1 && !heading.text.is_empty()
}

/// The rows of each group as pieces, one a column.
fn lines(sheet: &Sheet, colour: bool) -> Vec<Vec<Line>> {
    let blocks = sheet.blocks();
    let labels = usize::from(sheet.labelled());
    let mut groups: Vec<Vec<Line>> = blocks
        .iter()
        .map(|block| {
            let label = |i| Piece::text(if i == 0 { block.label } else { "" });
            let rows = block.rows.iter().enumerate();
            rows.map(|(i, row)| Line {
                pieces: (0..labels).map(|_| label(i)).collect(),
                chosen: row.first().is_some_and(|cell| cell.is_chosen()),
            })
            .collect()
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
            for (cells, line) in rows.iter().zip(group) {
                line.pieces.push(piece(cells[column - labels], colour, starred, length));
            }
        }
    }
    if has_choice(sheet) {
        for line in groups.iter_mut().flatten() {
            let mark = if line.chosen { MARKED } else { UNMARKED };
            line.pieces[labels].main.insert_str(0, mark);
        }
    }
    groups
}

fn piece(cell: &Cell, colour: bool, starred: bool, length: usize) -> Piece {
    let main = cell.main().unwrap_or(MISSING.into());
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
    let tail = cell.tail().map_or(String::new(), |tail| format!(" {tail}"));
    let note = cell.shown_note().map_or(String::new(), |note| format!(" ({note})"));
    format!("{star}{tail}{note}")
}

/// How wide each column is: as wide as what is in it, if there is room.
fn widths(sheet: &Sheet, header: &[Vec<Placed>], groups: &[Vec<Line>], room: usize) -> Vec<usize> {
    let mut widths = vec![1; sheet.columns()];
    for row in groups.iter().flatten() {
        for (width, piece) in widths.iter_mut().zip(&row.pieces) {
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
    let below = &widths[heading.start..heading.start + heading.span];
    below.iter().sum::<usize>() + GAP * (heading.span - 1)
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
            let wide = c.width().unwrap_or(0);
            if used > 0 && used + wide > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += wide;
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
    use crate::sheet::{Group, Heading, Mark};
    use abstain::metric::Direction;

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
    fn chosen_row_is_marked_and_bold_and_arrows_show_what_is_better() {
        let name = |text, mark| Cell::text(text).marked(mark);
        let rows = vec![
            vec![name("MSP", None), Cell::number(0.5, 1)],
            vec![name("Stack", Some(Mark::Chosen)), Cell::number(0.25, 2)],
        ];
        let sheet = Sheet {
            header: vec![vec![
                Heading::new("method"),
                Heading::new("NAURC").better(Direction::Lower),
            ]],
            groups: vec![Group { label: None, rows }],
            ..Sheet::default()
        };
        let expected = "\
──────────────────
   method  NAURC ↓
══════════════════
   MSP         0.5
 ▸ Stack      0.25
──────────────────
";
        assert_eq!(sheet.terminal(None, false), expected);
        assert!(sheet.terminal(None, true).contains("\u{1b}[1m ▸ Stack      0.25\u{1b}[0m\n"));
        assert!(sheet.markdown().contains("| method | NAURC ↓ |"));
        assert!(sheet.markdown().contains("| **Stack** | 0.25 |"));
        assert!(sheet.latex().contains("\\textbf{Stack} & 0.25"));
        assert_eq!(sheet.csv().expect("valid"), "method,NAURC\nMSP,0.5\nStack,0.25\n");
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
