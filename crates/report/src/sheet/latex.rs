//! Sheets for LaTeX.

use super::symbols::tex;
use super::{Align, Block, Cell, Sheet, plain, stacked};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// More rows than this do not fit on a page.
const PAGE: usize = 40;
/// More columns than this do not fit into one column of a paper.
const COLUMNS: usize = 8;
/// More characters than this do not fit into a line.
const LINE: usize = 72;

pub(super) fn render(sheet: &Sheet) -> String {
    let blocks = sheet.blocks();
    let rows: usize = blocks.iter().map(|block| block.rows.len()).sum();
    if rows > PAGE { long(sheet, &blocks) } else { float(sheet, &blocks) }
}

/// A table that floats as one piece.
fn float(sheet: &Sheet, blocks: &[Block<'_>]) -> String {
    let wide = wide(sheet, blocks);
    let mut packages = vec!["booktabs"];
    if blocks.iter().any(|block| !block.label.is_empty() && block.rows.len() > 1) {
        packages.push("multirow");
    }
    let (environment, before, after) = if wide {
        packages.push("adjustbox");
        let before = "  \\begin{adjustbox}{max width=\\linewidth}\n";
        ("table*", before, "  \\end{adjustbox}\n")
    } else {
        ("table", "", "")
    };
    let mut text = needs(&packages, "");
    let _ = write!(
        text,
        "\\begin{{{environment}}}\n  \\centering\n  \\caption{{{}}}\n  \\label{{{}}}\n  \\smallskip\n",
        escaped(&sheet.caption),
        label(sheet),
    );
    if sheet.columns() > 0 {
        let _ = write!(
            text,
            "{before}  \\begin{{tabular}}{{{}}}\n{}{}    \\bottomrule\n  \\end{{tabular}}\n{after}",
            alignment(sheet),
            header(sheet),
            body(sheet, blocks, true),
        );
    }
    if let Some(notes) = notes(sheet) {
        let _ = write!(text, "  \\par\\smallskip\n  {{\\footnotesize\\raggedright\n{notes}  }}\n");
    }
    let _ = writeln!(text, "\\end{{{environment}}}");
    text
}

/// A table that breaks over pages.
fn long(sheet: &Sheet, blocks: &[Block<'_>]) -> String {
    let header = header(sheet);
    let mut text = needs(&["booktabs", "longtable"], " It works in documents of one column.");
    // It cannot be scaled, only set smaller.
    let wide = wide(sheet, blocks);
    if wide {
        text += "{\\footnotesize\\setlength{\\tabcolsep}{3pt}\n";
    }
    let _ = write!(
        text,
        "\\begin{{longtable}}{{{}}}\n    \\caption{{{}}}\\label{{{}}} \\\\\n\
         {header}    \\endfirsthead\n{header}    \\endhead\n    \\bottomrule\n    \\endfoot\n\
         {}\\end{{longtable}}\n",
        alignment(sheet),
        escaped(&sheet.caption),
        label(sheet),
        // A label in the middle of rows on two pages would be on neither.
        body(sheet, blocks, false),
    );
    if wide {
        text += "}\n";
    }
    if let Some(notes) = notes(sheet) {
        let _ = write!(text, "{{\\footnotesize\\raggedright\\parindent=0pt\n{notes}}}\n");
    }
    text
}

fn needs(packages: &[&str], remark: &str) -> String {
    let uses: Vec<String> =
        packages.iter().map(|package| format!("\\usepackage{{{package}}}")).collect();
    format!("% Needs {}.{remark}\n", uses.join(" "))
}

fn label(sheet: &Sheet) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("tab:{}", sheet.name.chars().map(safe).collect::<String>())
}

fn alignment(sheet: &Sheet) -> String {
    let letter = |column| match sheet.align(column) {
        Align::Left => 'l',
        Align::Right => 'r',
        Align::Center => 'c',
    };
    (0..sheet.columns()).map(letter).collect()
}

/// Whether the table needs more than one column of a paper, judged by the longest text of each of
/// its columns.
fn wide(sheet: &Sheet, blocks: &[Block<'_>]) -> bool {
    let labels = usize::from(sheet.labelled());
    let mut widths = vec![0; sheet.columns()];
    for heading in sheet.lines().iter().flatten().filter(|heading| heading.span == 1) {
        widths[heading.start] = widths[heading.start].max(heading.shown().width());
    }
    for block in blocks {
        if labels > 0 {
            widths[0] = widths[0].max(plain(block.label).width());
        }
        for row in &block.rows {
            for (width, cell) in widths[labels..].iter_mut().zip(row) {
                let texts = [cell.main(), cell.tail(), cell.shown_note()];
                let all: usize = texts.iter().flatten().map(|text| text.width() + 1).sum();
                *width = all.max(*width);
            }
        }
    }
    let between = 2 * widths.len();
    widths.len() > COLUMNS || widths.iter().sum::<usize>() + between > LINE
}

fn header(sheet: &Sheet) -> String {
    let mut text = "    \\toprule\n".to_string();
    let lines = sheet.lines();
    for (i, line) in lines.iter().enumerate() {
        text += &row(line.iter().map(|heading| {
            let name = escaped(&heading.shown());
            if heading.span == 1 {
                return name;
            }
            format!("\\multicolumn{{{}}}{{c}}{{{name}}}", heading.span)
        }));
        let spanning = line.iter().filter(|over| over.span > 1 && !over.text.is_empty());
        let rules: Vec<String> = spanning
            .map(|over| format!("\\cmidrule(r){{{}-{}}}", over.start + 1, over.start + over.span))
            .collect();
        if !rules.is_empty() && i + 1 < lines.len() {
            let _ = writeln!(text, "    {}", rules.join(" "));
        }
    }
    if !lines.is_empty() {
        text += "    \\midrule\n";
    }
    text
}

fn body(sheet: &Sheet, blocks: &[Block<'_>], multirow: bool) -> String {
    let rooms = rooms(sheet, blocks);
    let mut text = String::new();
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            text += "    \\midrule\n";
        }
        for (j, cells) in block.rows.iter().enumerate() {
            let label = match (j, escaped(block.label)) {
                (0, label) if multirow && !label.is_empty() && block.rows.len() > 1 => {
                    format!("\\multirow{{{}}}{{*}}{{{label}}}", block.rows.len())
                }
                (0, label) => label,
                _ => String::new(),
            };
            let label = sheet.labelled().then_some(label);
            let cells = cells.iter().zip(&rooms).map(|(place, room)| cell(place, room));
            text += &row(label.into_iter().chain(cells));
        }
    }
    text
}

/// The longest of what follows the numbers of a column that leans right. All its cells leave room
/// for it, so that the numbers stand below each other.
#[derive(Default)]
struct Room {
    tail: String,
    note: String,
}

fn rooms(sheet: &Sheet, blocks: &[Block<'_>]) -> Vec<Room> {
    let labels = usize::from(sheet.labelled());
    let room = |column| {
        let right = sheet.align(column) == Align::Right;
        let numbers =
            || stacked(blocks, column - labels).filter(|cell| right && !cell.value.is_text());
        let longest = |texts: &mut dyn Iterator<Item = String>| {
            texts.max_by_key(|text| text.width()).unwrap_or_default()
        };
        Room {
            tail: longest(&mut numbers().filter_map(Cell::tail)),
            note: longest(&mut numbers().filter_map(Cell::shown_note)),
        }
    };
    (labels..sheet.columns()).map(room).collect()
}

fn row(cells: impl Iterator<Item = String>) -> String {
    let line = cells.collect::<Vec<_>>().join(" & ");
    // After the end of a line or a rule these would be its arguments.
    let guard = if line.starts_with(['[', '*']) { "{}" } else { "" };
    format!("    {guard}{line} \\\\\n")
}

fn cell(cell: &Cell, room: &Room) -> String {
    let none = Room::default();
    let room = if cell.value.is_text() { &none } else { room };
    let main = match cell.main() {
        None => "-".into(),
        Some(text) if cell.value.is_text() => escaped(&text),
        Some(number) => numbers(&number),
    };
    let main = if cell.best || cell.is_chosen() { format!("\\textbf{{{main}}}") } else { main };
    let tail = cell.tail().unwrap_or_default();
    let note = cell.shown_note().unwrap_or_default();
    main + &small("footnotesize", &tail, &room.tail, numbers)
        + &small("scriptsize", &note, &room.note, escaped)
}

/// What follows a number, in the room of the longest of its column.
fn small(size: &str, text: &str, room: &str, written: fn(&str) -> String) -> String {
    match (written(text), written(room)) {
        (text, room) if text.is_empty() && room.is_empty() => String::new(),
        (text, room) if text.is_empty() => format!(" {{\\{size}\\phantom{{{room}}}}}"),
        (short, long) if text.width() < room.width() => {
            format!(" {{\\{size}\\rlap{{{short}}}\\phantom{{{long}}}}}")
        }
        (text, _) => format!(" {{\\{size} {text}}}"),
    }
}

/// The sentences, a paragraph each.
fn notes(sheet: &Sheet) -> Option<String> {
    let notes = sheet.notes.iter().map(|note| escaped(note)).filter(|note| !note.is_empty());
    let lines: Vec<String> = notes.map(|note| format!("    {note}\\par\n")).collect();
    (!lines.is_empty()).then(|| lines.concat())
}

/// Text with numbers as they are shown, in which "-" is a minus and "e6" a power of ten.
fn numbers(text: &str) -> String {
    let mut out = String::new();
    let mut power = false;
    for c in text.chars() {
        if power && !c.is_ascii_digit() {
            out += "}$";
            power = false;
        }
        match c {
            '-' => out += "$-$",
            'e' => {
                out += "$\\times10^{";
                power = true;
            }
            _ => tex(c, &mut out),
        }
    }
    if power {
        out += "}$";
    }
    out
}

/// Plain text, with nothing left in it that LaTeX would act upon.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        // Two hyphens would become a dash.
        if c == '-' && out.ends_with('-') {
            out += "{}";
        }
        tex(c, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Group, Heading, Value};

    #[test]
    fn cells_are_set_as_in_the_paper() {
        let cell = |cell: Cell| super::cell(&cell, &Room::default());
        let best = Cell { best: true, ..Cell::spread(0.1734, 0.003, 4) };
        assert_eq!(cell(best), "\\textbf{0.1734} {\\footnotesize $\\pm$0.0030}");
        let noted = Cell::number(-0.5, 1).noted("p* = 5");
        assert_eq!(cell(noted), "$-$0.5 {\\scriptsize p* = 5}");
        assert_eq!(cell(Cell::default()), "-");
        assert_eq!(cell(Cell::number(-1.5e12, 1)), "$-$1.5$\\times10^{12}$");
        assert_eq!(cell(Cell::count(50_000)), "50,000");
        assert_eq!(cell(Cell::number(0.5645, 1).percent()), "56.5 \\%");
        let interval = Value::Interval { value: 0.0, low: -0.2, high: 2e6, digits: 1 };
        let expected = "0.0 {\\footnotesize [$-$0.2, 2.0$\\times10^{6}$]}";
        assert_eq!(cell(interval.into()), expected);
    }

    #[test]
    fn numbers_stand_below_each_other() {
        let room = Room { tail: "±0.01".into(), note: "p* = 5".into() };
        let cell = |cell: Cell| super::cell(&cell, &room);
        let long = cell(Cell::spread(0.5, 0.02, 2).noted("p* = 2"));
        assert_eq!(long, "0.50 {\\footnotesize $\\pm$0.02} {\\scriptsize p* = 2}");
        let tail = " {\\footnotesize\\phantom{$\\pm$0.01}}";
        let short = cell(Cell::number(0.5, 2).noted("F"));
        assert_eq!(short, format!("0.50{tail} {{\\scriptsize\\rlap{{F}}\\phantom{{p* = 5}}}}"));
        let missing = cell(Cell::default());
        assert_eq!(missing, format!("-{tail} {{\\scriptsize\\phantom{{p* = 5}}}}"));
        assert_eq!(cell(Cell::text("x")), "x");
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a_b & 50% of {x}^2"), "a\\_b \\& 50\\% of \\{x\\}\\textasciicircum{}2");
        assert_eq!(
            escaped("\\input{x}~$#"),
            "\\textbackslash{}input\\{x\\}\\textasciitilde{}\\$\\#"
        );
        assert_eq!(escaped("τ ≤ √∞ — ±é"), "$\\tau$ $\\leq$ $\\surd$$\\infty$ --- $\\pm$é");
        assert_eq!(escaped("a---b\n\nc中"), "a-{}-{}-b c{\\scriptsize [U+4E2D]}");
    }

    #[test]
    fn a_table_by_hand() {
        let sheet = Sheet {
            name: "x y}".into(),
            caption: "NAURC, α = 5%".into(),
            header: vec![
                vec![Heading::new(""), Heading::new(""), Heading::over("NAURC", 2)],
                ["data", "method", "a", "b"].map(Heading::new).into(),
            ],
            align: vec![Align::Left, Align::Center, Align::Right],
            groups: vec![
                Group {
                    label: Some("CIFAR".into()),
                    rows: vec![vec![Cell::text("MSP"), Cell::number(0.5, 1)], vec![]],
                },
                Group { label: None, rows: vec![] },
                Group { label: None, rows: vec![vec![Cell::text("[1]")]] },
                Group { label: Some("[*]".into()), rows: vec![vec![Cell::text("x")]] },
            ],
            notes: vec!["F: fallback.".into(), " ".into()],
        };
        let expected = r"% Needs \usepackage{booktabs} \usepackage{multirow}.
\begin{table}
  \centering
  \caption{NAURC, $\alpha$ = 5\%}
  \label{tab:x-y-}
  \smallskip
  \begin{tabular}{lcrr}
    \toprule
     &  & \multicolumn{2}{c}{NAURC} \\
    \cmidrule(r){3-4}
    data & method & a & b \\
    \midrule
    \multirow{2}{*}{CIFAR} & MSP & 0.5 & - \\
     & - & - & - \\
    \midrule
     & [1] & - & - \\
    \midrule
    {}[*] & x & - & - \\
    \bottomrule
  \end{tabular}
  \par\smallskip
  {\footnotesize\raggedright
    F: fallback.\par
  }
\end{table}
";
        assert_eq!(sheet.latex(), expected);
    }

    #[test]
    fn size_decides_the_environment() {
        let sheet = |rows, columns| Sheet {
            groups: vec![Group { label: None, rows: vec![vec![Cell::count(1); columns]; rows] }],
            ..Sheet::default()
        };
        assert!(sheet(40, 8).latex().contains("\\begin{table}\n"));
        assert!(sheet(40, 9).latex().contains("\\begin{table*}\n"));
        assert!(sheet(41, 8).latex().contains("\\begin{longtable}{lrrrrrrr}\n"));
        assert!(!sheet(0, 0).latex().contains("tabular"));
        let text = "x".repeat(80);
        let rows = vec![vec![Cell::text(text)]];
        let long = Sheet { groups: vec![Group { label: None, rows }], ..Sheet::default() };
        assert!(long.latex().contains("\\begin{table*}\n"));
    }
}
