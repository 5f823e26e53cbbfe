//! Whole sheets in all formats: snapshots, and laws that hold for any sheet.
#![allow(clippy::unwrap_used)]

mod samples;

use abstain::metric::Direction;
use abstain_report::sheet::{Align, Cell, Group, Heading, Mark, Sheet, Value};
use proptest::prelude::*;
use std::fmt::Write;
use std::process::Command;

/// All formats of a sheet, one below the other.
fn all(sheet: &Sheet) -> String {
    let [terminal, narrow] = [None, Some(86)].map(|width| sheet.terminal(width, false));
    let (csv, markdown, latex) = (sheet.csv().unwrap(), sheet.markdown(), sheet.latex());
    format!("{terminal}\n\n{narrow}\n\n{markdown}\n\n{csv}\n\n{latex}")
}

#[test]
fn sheets_match_their_snapshots() {
    insta::assert_snapshot!("classifiers", all(&samples::classifiers()));
    insta::assert_snapshot!("gains", all(&samples::gains()));
    insta::assert_snapshot!("models", all(&samples::models(44)));
    insta::assert_snapshot!("wide", all(&samples::wide()));
}

/// Text with everything in it that formats act upon.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(samples::HOSTILE.to_vec()).prop_map(String::from),
        prop::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
        "[ -~]{0,8}",
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let number = || prop_oneof![any::<f64>(), -1.0..1.0_f64];
    let digits = || prop_oneof![9 => 0..6_usize, 1 => any::<usize>()];
    prop_oneof![
        Just(Value::Missing),
        text().prop_map(Value::Text),
        any::<usize>().prop_map(Value::Count),
        (number(), digits()).prop_map(|(value, digits)| Value::Number { value, digits }),
        (number(), number(), digits()).prop_map(|(mean, std, digits)| Value::Spread {
            mean,
            std,
            digits
        }),
        (number(), number(), number(), digits())
            .prop_map(|(value, low, high, digits)| Value::Interval { value, low, high, digits }),
    ]
}

fn sheet() -> impl Strategy<Value = Sheet> {
    let better = || prop::sample::select(vec![Direction::Lower, Direction::Higher]);
    let mark = prop_oneof![Just(Mark::Chosen), better().prop_map(Mark::Better)];
    let look = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(mark));
    let cell = (value(), look, prop::option::of(text())).prop_map(
        |(value, (best, percent, signed, mark), note)| Cell {
            value,
            percent,
            signed,
            best,
            note,
            mark,
        },
    );
    let rows = prop::collection::vec(prop::collection::vec(cell, 0..5), 0..4);
    let group = (prop::option::of(text()), rows).prop_map(|(label, rows)| Group { label, rows });
    let span = prop_oneof![9 => 0..4_usize, 1 => any::<usize>()];
    let heading = (text(), span, prop::option::of(better()))
        .prop_map(|(text, span, better)| Heading { text, span, better });
    let header = prop::collection::vec(prop::collection::vec(heading, 0..4), 0..3);
    let align = prop::sample::select(vec![Align::Left, Align::Right, Align::Center]);
    (
        (text(), text(), header),
        prop::collection::vec(align, 0..5),
        prop::collection::vec(group, 0..3),
        prop::collection::vec(text(), 0..2),
    )
        .prop_map(|((name, caption, header), align, groups, notes)| Sheet {
            name,
            caption,
            header,
            align,
            groups,
            notes,
        })
}

/// How often a sign stands in a text without a backslash before it.
fn bare(text: &str, sign: char) -> usize {
    let mut escaped = false;
    let mut count = 0;
    for c in text.chars() {
        count += usize::from(c == sign && !escaped);
        escaped = c == '\\' && !escaped;
    }
    count
}

/// The numbers of a value, in the order of their columns.
fn numbers(value: &Value) -> Vec<f64> {
    let all = match *value {
        Value::Missing | Value::Text(_) | Value::Count(_) => vec![],
        Value::Number { value, .. } => vec![value],
        Value::Spread { mean, std, .. } => vec![mean, std],
        Value::Interval { value, low, high, .. } => vec![value, low, high],
    };
    all.into_iter().filter(|number| number.is_finite()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn csv_gives_the_same_numbers_back(
        values in prop::collection::vec(prop::collection::vec(value(), 3), 1..6),
    ) {
        let numbers_only = |value: &Value| !matches!(value, Value::Text(_) | Value::Count(_));
        let values: Vec<Vec<Value>> = values
            .into_iter()
            .map(|row| row.into_iter().filter(numbers_only).collect())
            .collect();
        let rows = values.iter().map(|row| row.iter().cloned().map(Cell::from).collect());
        let sheet = Sheet {
            header: vec![["a", "b", "c"].map(Heading::new).into()],
            groups: vec![Group { label: Some("-x".into()), rows: rows.collect() }],
            ..Sheet::default()
        };
        let text = sheet.csv().unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(records.len(), values.len());
        for (record, row) in records.iter().zip(&values) {
            prop_assert_eq!(&record[0], "'-x");
            let read = record.iter().skip(1).filter(|field| !field.is_empty());
            let read: Vec<u64> = read.map(|field| field.parse::<f64>().unwrap().to_bits()).collect();
            let written: Vec<u64> = row.iter().flat_map(numbers).map(f64::to_bits).collect();
            prop_assert_eq!(read, written);
        }
    }

    #[test]
    fn csv_gives_the_same_text_back(text in text()) {
        let rows = vec![vec![Cell::text(text.clone()), Cell::count(usize::MAX)]];
        let groups = vec![Group { label: None, rows }];
        let csv = Sheet { groups, ..Sheet::default() }.csv().unwrap();
        let record = csv::Reader::from_reader(csv.as_bytes()).records().next().unwrap().unwrap();
        let guarded = record[0] == format!("'{text}");
        prop_assert!(record[0] == text || guarded);
        let formula = |c| matches!(c, '=' | '+' | '-' | '@');
        prop_assert!(!record[0].starts_with(formula) || record[0].parse::<f64>().is_ok());
        prop_assert_eq!(&record[1], usize::MAX.to_string());
    }

    #[test]
    fn no_text_breaks_out(sheet in sheet(), width in prop::option::of(0..200_usize)) {
        let markdown = sheet.markdown();
        let table: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
        let rows: usize = sheet.groups.iter().map(|group| group.rows.len()).sum();
        prop_assert!(table.is_empty() || table.len() == rows + 2);
        for line in &table {
            prop_assert_eq!(bare(line, '|'), bare(table[1], '|'));
        }
        let tags = ["<sub>", "</sub>", "<sup>", "</sup>"];
        let stripped = tags.iter().fold(markdown.clone(), |text, tag| text.replace(tag, ""));
        prop_assert!(!stripped.contains(['<', '>']));

        let latex = sheet.latex();
        prop_assert_eq!(bare(&latex, '{'), bare(&latex, '}'));
        prop_assert_eq!(bare(&latex, '$') % 2, 0);
        prop_assert_eq!(bare(&latex, '%'), 1);
        prop_assert_eq!(bare(&latex, '#'), 0);
        let known = |c: char| c == '\n' || (c.is_ascii() && !c.is_control()) || ('À'..='ž').contains(&c);
        prop_assert!(latex.chars().all(known));
        let starts = latex.lines().filter(|line| line.trim_start().starts_with(['[', '*']));
        prop_assert_eq!(starts.filter(|line| line.ends_with("\\\\")).count(), 0);

        for colour in [false, true] {
            let terminal = sheet.terminal(width, colour);
            let ours = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"];
            let terminal = ours.iter().fold(terminal, |text, code| text.replace(code, ""));
            prop_assert!(terminal.chars().all(|c| c == '\n' || !c.is_control()));
        }
        csv::Reader::from_reader(sheet.csv().unwrap().as_bytes()).records().for_each(|record| {
            record.unwrap();
        });
    }
}

/// With `--ignored`, where there is a pdflatex: the document stays beside the test's other files.
#[test]
#[ignore = "needs pdflatex"]
fn latex_compiles() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let characters = |row: u32| {
        let all = (8 * row..8 * row + 8).filter_map(char::from_u32).map(|c| format!("{c}x"));
        vec![Cell::text(format!("{:04X}", 8 * row)), Cell::text(all.collect::<String>())]
    };
    let rows = (0..0x600).map(characters).collect();
    let characters = Sheet {
        name: "characters".into(),
        align: vec![Align::Left, Align::Left],
        groups: vec![Group { label: None, rows }],
        ..Sheet::default()
    };
    let blank = |name: &str| Sheet { name: name.into(), ..Sheet::default() };
    let bare = Sheet { header: vec![], notes: vec![], ..samples::gains() };
    let sheets = [
        samples::classifiers(),
        samples::gains(),
        samples::wide(),
        samples::models(12),
        samples::models(84),
        samples::hostile(),
        blank("nothing"),
        bare,
        characters,
    ];
    let packages = ["booktabs", "multirow", "adjustbox", "longtable"];
    let mut document = "\\documentclass{article}\n".to_string();
    for package in packages {
        let _ = writeln!(document, "\\usepackage{{{package}}}");
    }
    document += "\\begin{document}\n";
    for (i, sheet) in sheets.iter().enumerate() {
        std::fs::write(format!("{folder}/sheet{i}.tex"), sheet.latex()).unwrap();
        let _ = writeln!(document, "\\input{{sheet{i}}}\n\\clearpage");
    }
    document += "\\end{document}\n";
    std::fs::write(format!("{folder}/sheets.tex"), document).unwrap();
    let latex = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "sheets.tex"])
        .current_dir(folder)
        .output()
        .expect("pdflatex runs");
    assert!(latex.status.success(), "{}", String::from_utf8_lossy(&latex.stdout));
}
