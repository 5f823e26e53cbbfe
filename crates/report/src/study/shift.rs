//! Further sets of rows.

use super::{About, Shown, correlation, headings, percent, spread};
use crate::figure::{Axis, Dash, Figure, Layer, Legend, Mark, Panel, RuleAt, Style};
use crate::sheet::{Cell, Group, Heading, Sheet, mark_best};
use crate::table::Align;
use crate::words;
use abstain::metric::Direction;
use abstain_lab::study::{SetPoint, ShiftColumn, ShiftStudy, ShiftTable};

/// Further sets of rows.
pub fn shift(study: &ShiftStudy, about: &About) -> Shown {
    let coverage = match study.delta {
        None => "Coverage [%] at the accuracy on the own rows".to_string(),
        Some(delta) => {
            let sure = words::target_percent(1.0 - delta);
            format!("Coverage [%] certified at the accuracy on the own rows with {sure} confidence")
        }
    };
    Shown {
        name: "shift",
        title: "Under distribution shift",
        remarks: vec![format!(
            "Gains there and on the own rows: Pearson's {}; NAURC there and here: {}; NAURC and accuracy over \
             everything: Spearman's {}.",
            correlation("r", study.gains_correlation),
            correlation("r", study.naurc_correlation),
            correlation("ρ", study.accuracy_correlation)
        )],
        sheets: vec![
            sheet(study, about, "shift", &coverage, Direction::Higher, |cells: &ShiftColumn, k| {
                percent(cells.coverage[k], 2)
            }),
            sheet(study, about, "shift-naurc", "NAURC", Direction::Lower, |cells, k| {
                spread(cells.naurc[k], 4)
            }),
        ],
        figures: vec![figure(study, about)],
    }
}

/// All columns that any model has, severities first.
fn columns(study: &ShiftStudy) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in study.tables.iter().flat_map(|own| &own.columns) {
        if !names.contains(&column.name) {
            names.push(column.name.clone());
        }
    }
    // Models without corruptions come first or last: numbers before words all the same.
    names.sort_by_key(|name| name.parse::<u32>().unwrap_or(u32::MAX));
    names
}

fn sheet(
    study: &ShiftStudy,
    about: &About,
    name: &str,
    what: &str,
    better: Direction,
    cell: impl Fn(&ShiftColumn, usize) -> Cell,
) -> Sheet {
    let names = columns(study);
    let find = |own: &ShiftTable, name: &String| own.columns.iter().position(|c| c.name == *name);
    let group = |own: &ShiftTable| {
        let each = |value: &dyn Fn(&ShiftColumn) -> Cell| {
            let at = |name: &String| find(own, name).map(|place| value(&own.columns[place]));
            names.iter().map(|name| at(name).unwrap_or_default()).collect::<Vec<Cell>>()
        };
        let mut accuracy = vec![Cell::text("Accuracy [%]")];
        accuracy.extend(each(&|column| percent(column.accuracy, 2)));
        let mut methods: Vec<Vec<Cell>> = Vec::new();
        for (k, method) in own.methods.iter().enumerate() {
            let mut cells = vec![Cell::text(method.to_string())];
            cells.extend(each(&|column| cell(column, k)));
            methods.push(cells);
        }
        for (index, name) in names.iter().enumerate() {
            // At its own accuracy every method keeps everything.
            if name != "0" || better == Direction::Lower {
                mark_best(methods.iter_mut().map(|row| &mut row[index + 1]), better);
            }
        }
        let mut rows = vec![accuracy];
        rows.extend(methods);
        Group { label: Some(own.model.clone()), rows }
    };
    let levels = names.iter().filter(|name| name.parse::<u32>().is_ok()).count();
    let mut first = vec![Heading::over("", 2)];
    if levels > 0 {
        first.push(Heading::over("Corruption level", levels));
    }
    let second = ["Classifier".to_string(), "Method".into()];
    Sheet {
        name: name.into(),
        caption: format!(
            "{what} under distribution shift; each level is the mean over its corruptions; tuned on rows \
             without any ({}; {})",
            about.zoo,
            about.protocol()
        ),
        header: vec![first, headings(second.into_iter().chain(names.clone()))],
        align: vec![Align::Left, Align::Left],
        groups: study.tables.iter().map(group).collect(),
        notes: study
            .titles
            .iter()
            .filter(|(name, title)| name != title)
            .map(|(name, title)| {
                format!("{name}: {}.", title.strip_prefix(&format!("{name}: ")).unwrap_or(title))
            })
            .chain(["—: the model has no logits for such a set, or the number is undefined there."
                .into()])
            .collect(),
    }
}

fn figure(study: &ShiftStudy, about: &About) -> Figure {
    // A look for each group of sets and for each set of no group.
    let kind = |point: &SetPoint| match (&point.group, &point.set) {
        (Some(group), _) => group.clone(),
        (None, Some(set)) => set.clone(),
        (None, None) => "own rows".into(),
    };
    let mut kinds: Vec<String> = Vec::new();
    for point in &study.points {
        if !kinds.contains(&kind(point)) {
            kinds.push(kind(point));
        }
    }
    let own = |point: &SetPoint| {
        study.points.iter().find(|own| own.set.is_none() && own.model == point.model)
    };
    let name = |point: &SetPoint| {
        let set = point.set.as_ref().map_or(String::new(), |set| format!(", {set}"));
        Some(format!("{}{set}", point.title))
    };
    let layers = |xy: &dyn Fn(&SetPoint) -> Option<(f64, f64)>| {
        kinds
            .iter()
            .enumerate()
            .map(|(place, own)| Layer::Points {
                label: Some(own.clone()),
                points: study
                    .points
                    .iter()
                    .filter(|point| kind(point) == *own)
                    .filter_map(|point| {
                        let (x, y) = xy(point)?;
                        Some(Mark { x, y, name: name(point), ..Mark::default() })
                    })
                    .collect(),
                style: Style::series(place),
            })
            .collect::<Vec<Layer>>()
    };
    let diagonal = || Layer::Rule {
        label: Some("no change".into()),
        at: RuleAt::Diagonal,
        style: Style::rule(Dash::Dashed),
    };
    let compared = |point: &SetPoint| point.is_compared(&study.points).then_some(());
    let mut gains = layers(&|point| {
        compared(point)?;
        Some((own(point)?.gain?, point.gain?))
    });
    gains.push(diagonal());
    let mut naurc = layers(&|point| {
        compared(point)?;
        Some((own(point)?.naurc?, point.naurc?))
    });
    naurc.push(diagonal());
    Figure {
        name: "shift".into(),
        caption: format!(
            "The {} on further sets of rows, with MaxLogit-pNorm or what it fell back to: gains in NAURC \
             over MSP and NAURC there against those on the own rows (r: Pearson's correlation), NAURC against \
             accuracy over all sets (ρ: Spearman's), and gains against accuracy ({})",
            about.models(),
            about.protocol()
        ),
        panels: vec![
            Panel {
                x: Axis::new("Gain on the own rows"),
                y: Axis::new("Gain on the set"),
                layers: gains,
                note: Some(correlation("r", study.gains_correlation)),
                ..Panel::default()
            },
            Panel {
                x: Axis::new("NAURC on the own rows"),
                y: Axis::new("NAURC on the set"),
                layers: naurc,
                note: Some(correlation("r", study.naurc_correlation)),
                ..Panel::default()
            },
            Panel {
                x: Axis { percent: true, ..Axis::new("Accuracy") },
                y: Axis::new("NAURC"),
                layers: layers(&|point| Some((point.accuracy, point.naurc?))),
                note: Some(correlation("ρ", study.accuracy_correlation)),
                ..Panel::default()
            },
            Panel {
                x: Axis { percent: true, ..Axis::new("Accuracy") },
                y: Axis::new("Gain in NAURC over MSP"),
                layers: {
                    let mut layers = layers(&|point| Some((point.accuracy, point.gain?)));
                    let style = Style::rule(Dash::Dotted);
                    layers.push(Layer::Rule { label: None, at: RuleAt::Y(0.0), style });
                    layers
                },
                ..Panel::default()
            },
        ],
        columns: 2,
        legend: Legend::Shared,
    }
}
