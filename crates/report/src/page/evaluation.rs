//! The page of `abstain eval`: one set of rows, or several side by side.

use super::model::{Mark, SetHead, SetView, Terms, level, page, ranking};
use super::table::PageTable;
use super::{About, PageError, Tile, Tone, Verdict};
use abstain_lab::Known;
use crate::evaluation::{level as level_of, sentence, threshold};
use crate::sheet::{Cell, Group, Heading, Sheet, Value};
use crate::table::Align;
use crate::words::{count, percent, target};
use abstain::{Interval, MetricKind};
use abstain_lab::picture::{Number, Picture};
use abstain_lab::{MetricLine, SetReport};

/// A set of rows that was measured.
#[derive(Debug, Clone)]
pub struct EvaluatedSet {
    /// What was found.
    pub report: SetReport,
    /// What is drawn of it: the baseline first, then the others in the order of the report.
    pub picture: Picture,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// The page of estimators on some sets of rows, the first of which is the one to compare others to.
pub fn evaluation(
    sets: Vec<EvaluatedSet>,
    known: Known,
    delta: f64,
    about: &About,
) -> Result<String, PageError> {
    let Some(first) = sets.first().map(|own| &own.report) else { return Ok(String::new()) };
    let over_all = (sets.len() > 1).then(|| over_sets(&sets, known)).flatten();
    let subtitle = format!("{} rows, {}", count(first.rows), level_of(first));
    let terms = Terms { kind: "eval", delta, target: first.target, zero_one: first.zero_one };
    let (mut heads, mut views) = (Vec::new(), Vec::new());
    for EvaluatedSet { report, picture, notes } in sets {
        let mut verdict = verdict(&report, known);
        verdict.notes.extend(notes);
        let head = SetHead {
            name: report.name.clone(),
            verdict,
            numbers: numbers(&report),
            table: table(&report),
        };
        let choice = usize::from(report.contenders.len() > 1);
        let mut marks = Vec::new();
        if let Some(own) = report.threshold.as_ref().filter(|own| own.accepted > 0) {
            marks.push(Mark {
                name: "the estimator's threshold",
                // The baseline is last in a report and first in a picture.
                method: (own.whose + 1) % report.contenders.len(),
                accepted: own.accepted,
                threshold: Number(own.at),
                note: None,
            });
        }
        // The names of contenders have their numbers.
        views.push(SetView::new(&head, picture, &[], choice, marks));
        heads.push(head);
    }
    page(about, &subtitle, terms, over_all, &heads, &views)
}

/// The estimator on all sets in one sentence: whoever reads no further must not miss the bad one.
fn over_sets(sets: &[EvaluatedSet], known: Known) -> Option<(Tone, String)> {
    use abstain_lab::Verdict::{Better, Same, Unclear, Worse};
    let contenders = &sets.first()?.report.contenders;
    let (name, baseline) = (contenders.first()?, contenders.last()?);
    let on = |is: &dyn Fn(&SetReport) -> bool| -> Vec<&str> {
        let those = sets.iter().map(|own| &own.report).filter(|own| is(own));
        those.map(|own| &own.name[..]).collect()
    };
    let verdict = |wanted: &[abstain_lab::Verdict]| {
        on(&|own| own.verdicts.first().is_some_and(|verdict| wanted.contains(verdict)))
    };
    let (worse, better) = (verdict(&[Worse]), verdict(&[Better]));
    let broken = on(&|own| promise(own, known).is_some_and(|own| own.0 == Tone::Bad));
    let tone = match (worse.is_empty() && broken.is_empty(), better.is_empty()) {
        (false, _) => Tone::Bad,
        (true, false) => Tone::Good,
        (true, true) => Tone::Plain,
    };
    let groups = [
        ("WORSE on", worse),
        ("better on", better),
        ("not clearly different on", verdict(&[Unclear, Same])),
        ("its threshold fails on", broken),
    ];
    let parts: Vec<String> = groups
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| match names.len() {
            all if all == sets.len() => format!("{word} all {all} sets"),
            few if few <= 3 => format!("{word} {}", names.join(", ")),
            many => format!("{word} {many} of {} sets", sets.len()),
        })
        .collect();
    let who =
        if contenders.len() > 1 { format!("{name} against {baseline}") } else { name.clone() };
    (!parts.is_empty()).then(|| (tone, format!("{who}: {}.", parts.join("; "))))
}

fn verdict(report: &SetReport, known: Known) -> Verdict {
    let compared = report.verdicts.iter().enumerate().map(|(index, &own)| {
        let tone = match own {
            abstain_lab::Verdict::Better => Tone::Good,
            abstain_lab::Verdict::Worse => Tone::Bad,
            _ => Tone::Plain,
        };
        (tone, sentence(report, index, own, known.tuned == Some(index)))
    });
    let mut all: Vec<(Tone, String)> = compared.chain(promise(report, known)).collect();
    if all.is_empty() {
        let (name, rows) = (&report.contenders[0], count(report.rows));
        all.push((Tone::Plain, format!("{name} was measured on {rows} rows.")));
    }
    // Bad news is not outweighed by good.
    let bad = all.iter().any(|(tone, _)| *tone == Tone::Bad);
    let (first, sentence) = all.remove(0);
    let tone = if bad { Tone::Bad } else { first };
    Verdict { tone, sentence, notes: all.into_iter().map(|(_, sentence)| sentence).collect() }
}

/// How the threshold does, and whether that is what was promised.
fn promise(report: &SetReport, known: Known) -> Option<(Tone, String)> {
    let (style, sentence) = threshold(report, known.promised)?;
    let tone = match style {
        crate::words::GOOD => Tone::Good,
        crate::words::BAD => Tone::Bad,
        _ => Tone::Plain,
    };
    Some((tone, sentence))
}

fn numbers(report: &SetReport) -> Vec<Tile> {
    let of = |wanted: &[MetricKind]| {
        let line = report.metrics.iter().find(|own| wanted.contains(&own.metric.kind()))?;
        let estimate = |own: &Option<Interval>| own.map(|own| own.estimate);
        let baseline = line.values.last().and_then(estimate);
        Some((line.values.first().and_then(estimate)?, baseline.filter(|_| line.values.len() > 1)))
    };
    let mut tiles = vec![level(report.accuracy, report.zero_one)];
    if let Some(own) = &report.threshold
        && let Some(risk) = own.selective_risk
    {
        let how = if report.zero_one {
            format!("{} of them rightly", percent(1.0 - risk))
        } else {
            format!("with a mean loss of {risk:.4}")
        };
        let whose = &report.contenders[own.whose];
        let label = format!("of the inputs are answered at the threshold of {whose}, {how}");
        tiles.push(Tile::new(percent(own.coverage), label));
    }
    let baseline = &report.contenders[report.contenders.len() - 1];
    if let Some((kept, before)) = of(&[MetricKind::Sac, MetricKind::CoverageAtRisk]) {
        let (name, asked) = (&report.contenders[0], target(report.target));
        let label = format!("of the inputs could be answered at {asked} by {name}");
        let note = before.map(|own| format!("{baseline}: {}", percent(own)));
        tiles.push(Tile::new(percent(kept), label).noted(note));
    }
    if let Some((auroc, before)) = of(&[MetricKind::Auroc]) {
        tiles.push(ranking(auroc, before));
    }
    tiles.push(Tile::new(count(report.rows), "rows were measured"));
    tiles.truncate(3);
    tiles
}

fn table(report: &SetReport) -> PageTable {
    let others = report.contenders.len() - 1;
    let baseline = &report.contenders[others];
    let mut header = vec![Heading::new("metric"), Heading::new("better")];
    header.extend(report.contenders.iter().map(Heading::new));
    let differences = report.contenders[..others].iter();
    header.extend(differences.map(|own| Heading::new(format!("{own} − {baseline}"))));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for line in &report.metrics {
        let better = match line.metric.better() {
            abstain::metric::Direction::Lower => "lower",
            abstain::metric::Direction::Higher => "higher",
        };
        let mut cells = vec![Cell::text(line.metric.to_string()), Cell::text(better)];
        cells.extend(line.values.iter().map(|own| interval(own.as_ref())));
        // Accuracy is the same whatever the confidence.
        let moves = line.metric.kind() != MetricKind::Accuracy;
        cells.extend(
            line.differences[..others]
                .iter()
                .map(|own| if moves { interval(own.as_ref()) } else { Cell::text("") }),
        );
        rows.push(cells);
    }
    if report.ece.iter().any(Option::is_some) {
        let ece = |own: &Option<f64>| own.map_or(Value::Missing.into(), |own| Cell::number(own, 4));
        let mut cells = vec![Cell::text("ECE"), Cell::text("lower")];
        cells.extend(report.ece.iter().map(ece));
        cells.extend((0..others).map(|_| Cell::text("")));
        rows.push(cells);
    }
    let undefined =
        |line: &MetricLine| line.undefined.as_ref().map(|why| format!("{} is {why}.", line.metric));
    let sheet = Sheet {
        name: "metrics".into(),
        caption: format!("Metrics on {}, with 95 % intervals", report.name),
        header: vec![header],
        align: vec![Align::Left, Align::Left],
        groups: vec![Group { label: None, rows }],
        notes: report.metrics.iter().filter_map(undefined).collect(),
    };
    PageTable::new(&sheet, &[])
}

fn interval(own: Option<&Interval>) -> Cell {
    match own {
        None => Value::Missing.into(),
        Some(&Interval { estimate: value, low, high, .. }) => {
            Value::Interval { value, low, high, digits: 4 }.into()
        }
    }
}
