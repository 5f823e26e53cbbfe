//! Sheets in GitHub's Markdown.

use super::cell::MISSING;
use super::{Align, Cell, Placed, Sheet, plain};
use std::fmt::Write;

pub(super) fn render(sheet: &Sheet) -> String {
    let mut parts = Vec::new();
    let caption = escaped(&plain(&sheet.caption));
    if !caption.is_empty() {
        parts.push(format!("**{caption}**\n"));
    }
    if sheet.columns() > 0 {
        parts.push(table(sheet));
    }
    // In a tag, a note that begins with "#" or "1." is no heading and no list.
    let notes = sheet.notes.iter().map(|note| escaped(&plain(note)));
    parts.extend(notes.filter(|note| !note.is_empty()).map(|note| format!("<sub>{note}</sub>\n")));
    parts.join("\n")
}

fn table(sheet: &Sheet) -> String {
    let mut text = line(sheet.names(": ", Placed::shown).iter().map(|name| escaped(name)));
    text += &line((0..sheet.columns()).map(|column| {
        let rule = match sheet.align(column) {
            Align::Left => ":--",
            Align::Right => "--:",
            Align::Center => ":-:",
        };
        rule.to_string()
    }));
    for block in sheet.blocks() {
        for (i, row) in block.rows.iter().enumerate() {
            let label = if i == 0 { escaped(&plain(block.label)) } else { String::new() };
            let label = sheet.labelled().then_some(label);
            text += &line(label.into_iter().chain(row.iter().map(|place| cell(place))));
        }
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn cell(cell: &Cell) -> String {
    let main = escaped(&cell.main().unwrap_or(MISSING.into()));
    let bold = (cell.best || cell.is_chosen()) && !main.is_empty();
    let mut text = if bold { format!("**{main}**") } else { main };
    if let Some(tail) = cell.tail() {
        let _ = write!(text, " {}", escaped(&tail));
    }
    if let Some(note) = cell.shown_note() {
        let _ = write!(text, " <sup>{}</sup>", escaped(&note));
    }
    text
}

/// The text so that Markdown shows it and does nothing else with it: no tags, no links, no
/// emphasis, no formulas, no new cells.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Group, Heading, Value};

    #[test]
    fn cells_say_what_is_best() {
        let best = |plain: Cell| cell(&Cell { best: true, ..plain });
        assert_eq!(best(Cell::spread(0.1734, 0.003, 4)), "**0.1734** ±0.0030");
        assert_eq!(best(Cell::number(-0.5, 1).noted("p* = 5")), "**-0.5** <sup>p\\* = 5</sup>");
        assert_eq!(best(Cell::text("")), "");
        assert_eq!(cell(&Cell::default()), "—");
        let interval = Value::Interval { value: 0.5, low: 0.4, high: 0.6, digits: 1 };
        assert_eq!(cell(&interval.into()), "0.5 \\[0.4, 0.6\\]");
        assert_eq!(cell(&Cell::number(0.56452, 1).percent()), "56.5 %");
        assert_eq!(cell(&Cell::count(50_000)), "50,000");
    }

    #[test]
    fn hostile_text_does_nothing() {
        let hostile = "a|b <script>&amp; [x](y) **z** `c` $d$\n# e\\";
        let inert =
            "a\\|b &lt;script&gt;&amp;amp; \\[x\\](y) \\*\\*z\\*\\* \\`c\\` \\$d\\$ # e\\\\";
        let sheet = Sheet {
            name: hostile.into(),
            caption: hostile.into(),
            header: vec![vec![Heading::over(hostile, 2)], vec![Heading::new(hostile)]],
            groups: vec![Group {
                label: Some(hostile.into()),
                rows: vec![vec![Cell::text(hostile).noted(hostile)]],
            }],
            notes: vec![hostile.into()],
            ..Sheet::default()
        };
        let expected = format!(
            "**{inert}**\n\n\
             | {inert}: {inert} | {inert} |\n\
             | :-- | --: |\n\
             | {inert} | {inert} <sup>{inert}</sup> |\n\n\
             <sub>{inert}</sub>\n"
        );
        assert_eq!(sheet.markdown(), expected);
    }

    #[test]
    fn an_empty_sheet_is_empty() {
        assert_eq!(Sheet::default().markdown(), "");
    }
}
