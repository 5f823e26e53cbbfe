//! Further sets of rows.

use super::{Column, SetPoint, SetTitle, ShiftColumn, ShiftStudy, ShiftTable};
use crate::study::{About, Content, Present, correlation, headings, percent, spread};
use abstain::Method;
use abstain::metric::Direction;
use abstain_report::figure::{Axis, Dash, Figure, Layer, Legend, Mark, Panel, RuleAt, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, mark_best};
use abstain_report::words;

impl Present for ShiftStudy {
    const TITLE: &'static str = "Under distribution shift";
    const SUMMARY: &'static str = "the tuned methods on further sets of rows, such as corruptions";
    const PAPER: Option<&'static str> = Some("Table 3; Fig. 4");

    fn present(&self, about: &About) -> Content {
        let coverage = match self.delta {
            None => "Coverage [%] at the accuracy on the rows of the zoo".to_string(),
            Some(delta) => {
                let sure = words::target_percent(1.0 - delta);
                format!(
                    "Coverage [%] certified at the accuracy on the rows of the zoo with {sure} \
                     confidence"
                )
            }
        };
        Content {
            remarks: vec![format!(
                "Gains on a set and on the rows of the zoo: Pearson's {}. NAURC on a set and on \
                 the rows of the zoo: Pearson's {}. NAURC and accuracy over all sets: \
                 Spearman's {}.",
                correlation("r", self.gains_correlation),
                correlation("r", self.naurc_correlation),
                correlation("ρ", self.accuracy_correlation)
            )],
            sheets: vec![
                sheet(
                    self,
                    about,
                    "shift",
                    &coverage,
                    Direction::Higher,
                    |column: &ShiftColumn, method| percent(column.coverage_of(method), 2),
                ),
                sheet(self, about, "shift-naurc", "NAURC", Direction::Lower, |column, method| {
                    spread(column.naurc_of(method), 4)
                }),
            ],
            figures: vec![figure(self, about)],
        }
    }
}

/// All columns that any model has: levels of corruption first, sets in the order of the zoo.
fn columns(study: &ShiftStudy) -> Vec<&Column> {
    let mut columns: Vec<&Column> = Vec::new();
    for column in study.tables.iter().flat_map(|table| &table.columns) {
        if !columns.contains(&&column.column) {
            columns.push(&column.column);
        }
    }
    let level = |column: &&Column| match column {
        Column::Clean => 0,
        Column::Severity(severity) => *severity,
        Column::Set(_) => u32::MAX,
    };
    columns.sort_by_key(level);
    columns
}

fn sheet(
    study: &ShiftStudy,
    about: &About,
    name: &str,
    what: &str,
    better: Direction,
    cell: impl Fn(&ShiftColumn, Method) -> Cell,
) -> Sheet {
    let columns = columns(study);
    let group = |table: &ShiftTable| {
        let each = |value: &dyn Fn(&ShiftColumn) -> Cell| {
            let find = |wanted: &&Column| table.columns.iter().find(|c| c.column == **wanted);
            let cells = columns.iter().map(|column| find(column).map(value).unwrap_or_default());
            cells.collect::<Vec<Cell>>()
        };
        let mut accuracy = vec![Cell::text("Accuracy [%]")];
        accuracy.extend(each(&|column| percent(column.accuracy, 2)));
        let mut methods: Vec<Vec<Cell>> = Vec::new();
        for &method in &table.methods {
            let mut cells = vec![Cell::text(method.to_string())];
            cells.extend(each(&|column| cell(column, method)));
            methods.push(cells);
        }
        for (index, column) in columns.iter().enumerate() {
            // On the rows of the zoo every method accepts all rows at their accuracy.
            if **column != Column::Clean || better == Direction::Lower {
                mark_best(methods.iter_mut().map(|row| &mut row[index + 1]), better);
            }
        }
        let mut rows = vec![accuracy];
        rows.extend(methods);
        Group { label: Some(table.model.clone()), rows }
    };
    let levels = columns.iter().filter(|column| column.is_level()).count();
    let mut first = vec![Heading::over("", 2)];
    if levels > 0 {
        first.push(Heading::over("Corruption level", levels));
    }
    let second = ["Classifier".to_string(), "Method".into()];
    let names = columns.iter().map(ToString::to_string);
    Sheet {
        name: name.into(),
        caption: format!(
            "{what} under distribution shift. Each level is the mean over its corruptions; \
             methods are tuned on rows of the zoo ({}; {})",
            about.zoo,
            about.protocol()
        ),
        header: vec![first, headings(second.into_iter().chain(names))],
        align: vec![Align::Left, Align::Left],
        groups: study.tables.iter().map(group).collect(),
        notes: study
            .titles
            .iter()
            .filter(|set| set.name != set.title)
            .map(|SetTitle { name, title }| {
                format!("{name}: {}.", title.strip_prefix(&format!("{name}: ")).unwrap_or(title))
            })
            .chain(["—: the model has no logits for this set, or the number is undefined.".into()])
            .collect(),
    }
}

fn gain_by_accuracy(gain: &str, mut layers: Vec<Layer>) -> Panel {
    layers.push(Layer::Rule { label: None, at: RuleAt::Y(0.0), style: Style::rule(Dash::Dotted) });
    let (x, y) = (Axis { percent: true, ..Axis::new("Accuracy") }, Axis::new(gain));
    Panel { x, y, layers, ..Panel::default() }
}

fn figure(study: &ShiftStudy, about: &About) -> Figure {
    // One style per kind of corruption and per set without one.
    let kind = |point: &SetPoint| match (&point.group, &point.set) {
        (Some(group), _) => group.clone(),
        (None, Some(set)) => set.clone(),
        (None, None) => "rows of the zoo".into(),
    };
    let mut kinds: Vec<String> = Vec::new();
    for point in &study.points {
        if !kinds.contains(&kind(point)) {
            kinds.push(kind(point));
        }
    }
    let name = |point: &SetPoint| {
        let set = point.set.as_ref().map_or(String::new(), |set| format!(", {set}"));
        Some(format!("{}{set}", point.title))
    };
    let layers = |xy: &dyn Fn(&SetPoint) -> Option<(f64, f64)>| {
        kinds
            .iter()
            .enumerate()
            .map(|(place, name_of_kind)| Layer::Points {
                label: Some(name_of_kind.clone()),
                points: study
                    .points
                    .iter()
                    .filter(|point| kind(point) == *name_of_kind)
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
        Some((point.clean(&study.points)?.gain?, point.gain?))
    });
    gains.push(diagonal());
    let mut naurc = layers(&|point| {
        compared(point)?;
        Some((point.clean(&study.points)?.naurc?, point.naurc?))
    });
    naurc.push(diagonal());
    Figure {
        name: "shift".into(),
        caption: format!(
            "The {} on further sets of rows, with MaxLogit-pNorm, or MSP where it fell back: \
             gains in NAURC over MSP and NAURC on the sets against those on the rows of the zoo \
             (r: Pearson's correlation), NAURC against accuracy over all sets (ρ: Spearman's \
             correlation), gains against accuracy, those of the stack against accuracy, and both gains \
             against each other ({})",
            about.models(),
            about.protocol()
        ),
        panels: vec![
            Panel {
                x: Axis::new("Gain on the rows of the zoo"),
                y: Axis::new("Gain on the set"),
                layers: gains,
                note: Some(correlation("r", study.gains_correlation)),
                ..Panel::default()
            },
            Panel {
                x: Axis::new("NAURC on the rows of the zoo"),
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
            gain_by_accuracy("Gain in NAURC over MSP", layers(&|p| Some((p.accuracy, p.gain?)))),
            gain_by_accuracy("Gain of the stack", layers(&|p| Some((p.accuracy, p.stack_gain?)))),
            Panel {
                x: Axis::new("Gain of MaxLogit-pNorm"),
                y: Axis::new("Gain of the stack"),
                layers: {
                    let mut layers = layers(&|point| Some((point.gain?, point.stack_gain?)));
                    layers.push(diagonal());
                    layers
                },
                ..Panel::default()
            },
        ],
        columns: 2,
        legend: Legend::Shared,
    }
}
