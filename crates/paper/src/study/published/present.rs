//! The figures of the paper's tables beside those of the zoo.

use super::{FigureMetric, PublishedComparison, PublishedStudy};
use crate::study::{About, Content, Present, headings, number, spread};
use abstain_lab::Spread;
use abstain_report::sheet::{Align, Cell, Group, Sheet};
use abstain_report::words;

impl Present for PublishedStudy {
    const TITLE: &'static str = "The paper's figures and those here";
    const SUMMARY: &'static str =
        "the figures of the paper's tables beside those here, of models that it names";
    const PAPER: Option<&'static str> = Some("Tables 1, 2, 3");

    fn present(&self, about: &About) -> Content {
        let mut tables: Vec<u8> = self.comparisons.iter().map(|one| one.published.table).collect();
        tables.dedup();
        let tables: Vec<(u8, Vec<&PublishedComparison>)> = tables
            .into_iter()
            .map(|table| {
                let of_table = |one: &&PublishedComparison| one.published.table == table;
                (table, self.comparisons.iter().filter(of_table).collect())
            })
            .collect();
        Content {
            remarks: tables.iter().flat_map(|(_, all)| remarks(all)).collect(),
            sheets: tables.iter().map(|(table, all)| sheet(*table, all, about)).collect(),
            figures: vec![],
        }
    }
}

/// The comparisons of each model, in their order.
fn by_model<'a>(all: &[&'a PublishedComparison]) -> Vec<Vec<&'a PublishedComparison>> {
    all.chunk_by(|a, b| a.model == b.model).map(<[_]>::to_vec).collect()
}

/// "vgg16: of the 20 figures of Table 1, MaxLogit-pNorm differs most, by −0.0012."
fn remarks(all: &[&PublishedComparison]) -> Vec<String> {
    let remark = |all: Vec<&PublishedComparison>| {
        let size = |one: &PublishedComparison| one.difference.map_or(-1.0, f64::abs);
        let largest = all.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let (percent, digits) = unit(largest);
        let by = words::signed(largest.difference? * percent.map_or(1.0, |_| 100.0), digits);
        let model = largest.model.as_deref().unwrap_or("all models");
        let (count, table) = (all.len(), largest.published.table);
        let of = match count {
            1 => format!("one figure of Table {table} of the paper"),
            _ => format!("{count} figures of Table {table} of the paper"),
        };
        let what = name(largest);
        let unit = percent.unwrap_or_default();
        Some(format!("{model} against {of}: the largest difference is {by}{unit} ({what})."))
    };
    by_model(all).into_iter().filter_map(remark).collect()
}

/// Whether a figure is shown in per cent, and its decimals: those of the paper.
fn unit(one: &PublishedComparison) -> (Option<&'static str>, usize) {
    match one.published.metric {
        FigureMetric::Naurc => (None, 4),
        FigureMetric::Apg => (None, 5),
        FigureMetric::Accuracy | FigureMetric::Coverage => (Some(" percentage points"), 2),
    }
}

/// "MSP", or "coverage of MSP, V2".
fn name(one: &PublishedComparison) -> String {
    let method = one.published.method.map(|method| method.to_string());
    match (&one.published.rows, method) {
        (None, method) => method.unwrap_or_default(),
        (Some(rows), None) => format!("accuracy, {}", rows_name(rows)),
        (Some(rows), Some(method)) => format!("coverage of {method}, {}", rows_name(rows)),
    }
}

/// "level 3", or the name of the set.
fn rows_name(rows: &str) -> String {
    if rows.parse::<u32>().is_ok() { format!("level {rows}") } else { rows.into() }
}

fn sheet(table: u8, all: &[&PublishedComparison], about: &About) -> Sheet {
    let shifted = all.iter().any(|one| one.published.rows.is_some());
    let row = |one: &&PublishedComparison| {
        let (percent, digits) = unit(one);
        let factor = if percent.is_some() { 100.0 } else { 1.0 };
        let published = match one.published.std {
            Some(std) => Cell::spread(factor * one.published.mean, factor * std, digits),
            None => Cell::number(factor * one.published.mean, digits),
        };
        let here = |here: Spread| Spread { mean: factor * here.mean, std: factor * here.std };
        let difference = number(one.difference.map(|by| factor * by), digits);
        let mut cells = Vec::new();
        if shifted {
            cells.push(Cell::text(one.published.rows.as_deref().unwrap_or_default()));
        }
        cells.push(Cell::text(match one.published.method {
            Some(method) => method.to_string(),
            None => "Accuracy".into(),
        }));
        cells.extend([published, spread(one.here.map(here), digits)]);
        cells.push(Cell { signed: true, ..difference });
        cells
    };
    let group = |all: Vec<&PublishedComparison>| Group {
        label: all.first().and_then(|one| one.title.clone()),
        rows: all.iter().map(row).collect(),
    };
    let groups: Vec<Group> = by_model(all).into_iter().map(group).collect();
    let labelled = groups.iter().any(|group| group.label.is_some());
    let text = [(labelled, "Classifier"), (shifted, "Level"), (true, "Method")];
    let text: Vec<&str> = text.iter().filter(|(shown, _)| *shown).map(|(_, name)| *name).collect();
    let mut notes = vec![
        "Published: ten random splits of ImageNet's validation set into 5,000 tuning rows and \
         45,000 test rows. Difference: here − published. Other splits, versions of the weights, \
         preprocessing and search spaces lead to differences."
            .to_string(),
    ];
    if let Some(most) = all.iter().filter_map(|one| one.corruptions).max() {
        notes.push(format!(
            "Levels 1 to 5 are means over corruptions: 15 in the paper, at most {most} here. \
             Coverages are those at the accuracy of level 0."
        ));
    }
    Sheet {
        name: format!("published-{table}"),
        caption: format!(
            "Table {table} of the paper and the same figures here: {} ({}; {})",
            match table {
                1 => "NAURC",
                2 => "average positive gain in NAURC over MSP",
                _ => "accuracy [%] and coverage [%] under distribution shift",
            },
            about.zoo,
            about.protocol()
        ),
        header: vec![headings(text.iter().copied().chain(["Published", "Here", "Difference"]))],
        align: vec![Align::Left; text.len()],
        groups,
        notes,
    }
}
