//! The page of `abstain tune`.

use super::model::{Mark, SetHead, SetView, Terms, level, page, ranking};
use super::table::PageTable;
use super::{About, PageError, Tile, Tone, Verdict};
use crate::sheet::{Cell, Group, Heading, Sheet, Value};
use crate::table::Align;
use crate::tuning::{certified, heading, kept_at, lines, notes, value, verdict, why};
use crate::words::{self, percent, target, target_percent};
use abstain::Estimator;
use abstain::metric::Direction::{Higher, Lower};
use abstain_lab::picture::{Number, Picture};
use abstain_lab::{MethodLine, MetricValue, Reason, TuneReport};

/// What the page is made of.
#[derive(Debug, Clone)]
pub struct TuningPage<'a> {
    /// What was found.
    pub report: &'a TuneReport,
    /// What is drawn: of some of the methods, MSP first.
    pub picture: Picture,
    /// Which lines of the report the methods in the picture are.
    pub places: &'a [usize],
    /// What the rows that were measured on are called.
    pub measured_on: &'a str,
    /// How often the bounds may fail.
    pub delta: f64,
}

/// The page of a tuned classifier.
pub fn tuning(found: TuningPage<'_>, about: &About) -> Result<String, PageError> {
    let TuningPage { report, picture, places, measured_on, delta } = found;
    let drawn = |line: usize| places.iter().position(|&place| place == line);
    let choice = drawn(report.chosen()).unwrap_or(0);
    let head = SetHead {
        name: measured_on.into(),
        verdict: verdict_of(report),
        numbers: numbers(report),
        table: table(report, &drawn),
    };
    let mut marks = Vec::new();
    if let Some(own) = &report.certificate {
        let note = format!(
            "Certified: {} or better with a confidence of {}, since this target was fixed beforehand.",
            target(report.target),
            target_percent(1.0 - own.delta)
        );
        marks.push(Mark {
            name: "certified",
            method: choice,
            accepted: own.accepted,
            threshold: Number(own.threshold),
            note: Some(note),
        });
    }
    let estimators: Vec<Option<&Estimator>> =
        places.iter().map(|&place| report.methods[place].estimator.as_ref()).collect();
    let set = SetView::new(&head, picture, &estimators, choice, marks);
    let terms = Terms { kind: "tune", delta, target: report.target, zero_one: report.zero_one };
    page(about, &heading(report), terms, None, &[head], &[set])
}

fn verdict_of(report: &TuneReport) -> Verdict {
    let mut notes = vec![why(report)];
    // That nothing can be certified comes before what would otherwise be good news.
    let sentence = match (certified(report), report.infeasible.is_some()) {
        (Some(refusal), true) => {
            notes.insert(0, verdict(report));
            refusal
        }
        (certificate, _) => {
            notes.extend(certificate);
            verdict(report)
        }
    };
    if report.splits > 1 {
        notes.push(format!(
            "The share that is kept at the target, in the verdict and in the numbers, and the table are means over \
             {} random splits; everything else is of the first of them.",
            report.splits
        ));
    }
    let tone = match report.choice.reason {
        _ if report.infeasible.is_some() => Tone::Bad,
        Reason::Confirmed => Tone::Good,
        _ => Tone::Plain,
    };
    Verdict { tone, sentence, notes }
}

/// How good the classifier is, how much is kept at the target, and what is certain of that.
fn numbers(report: &TuneReport) -> Vec<Tile> {
    let chosen = &report.methods[report.chosen()];
    let msp = &report.methods[0];
    let is_msp = report.choice.estimator == Estimator::MSP;
    let with_msp = |own: fn(&MethodLine) -> &MetricValue| {
        value(own(msp)).filter(|_| !is_msp).map(|before| format!("MSP: {}", percent(before)))
    };
    let asked = target(report.target);
    let kept = value(&chosen.kept).map_or("—".into(), percent);
    let kept = Tile::new(kept, format!("of the inputs are answered at {asked}"))
        .noted(with_msp(|own| &own.kept));
    let last = match (&report.certificate, &report.infeasible) {
        (Some(own), _) => Tile::new(
            percent(own.coverage()),
            format!(
                "are answered by the certified threshold: {asked} or better, with a confidence of {}",
                target_percent(1.0 - own.delta)
            ),
        ),
        (None, Some(why)) => {
            Tile::new("none", format!("of the thresholds can be certified for {asked}"))
                .noted(Some(why.0.to_string()))
        }
        (None, None) => match value(&chosen.auroc) {
            Some(_) => {
                // Of the first split, as the accuracy beside it.
                let first = |own: &MethodLine| own.auroc.interval.map_or(0.0, |own| own.estimate);
                ranking(first(chosen), Some(first(msp)).filter(|_| !is_msp))
            }
            None => Tile::new(words::count(report.test_rows), "rows were measured"),
        },
    };
    vec![level(report.accuracy, report.zero_one), kept, last]
}

fn table(report: &TuneReport, drawn: &dyn Fn(usize) -> Option<usize>) -> PageTable {
    let lines = lines(report);
    let row = |line: &MethodLine| {
        vec![
            Cell::text(line.method.to_string()),
            Cell::text(line.estimator.as_ref().map_or(String::new(), words::numbers)),
            number(&line.naurc, 4),
            if line.method == abstain::Method::MSP { Cell::text("") } else { interval(&line.gain) },
            number(&line.aurc, 4),
            number(&line.auroc, 4),
            share(&line.kept),
        ]
    };
    let sheet = Sheet {
        name: "methods".into(),
        caption: match report.splits {
            1 => "Methods on the test rows; the gain with its 95 % interval".into(),
            splits => format!("Methods on the test rows of {splits} random splits, mean ± std"),
        },
        header: vec![
            ["method", "tuned to", "NAURC", "gain over MSP", "AURC", "AUROC"]
                .map(Heading::new)
                .into_iter()
                .chain([Heading::new(kept_at(report.target))])
                .collect(),
        ],
        align: vec![Align::Left, Align::Left],
        groups: vec![Group { label: None, rows: lines.iter().map(|own| row(own.1)).collect() }],
        notes: notes(report),
    };
    let better = [None, None, Some(Lower), Some(Higher), Some(Lower), Some(Higher), Some(Higher)];
    let mut table = PageTable::new(&sheet, &better);
    let choice = report.chosen();
    for (row, (place, _)) in table.rows.iter_mut().zip(&lines) {
        row.chosen = *place == choice;
        row.method = drawn(*place);
    }
    table
}

fn number(metric: &MetricValue, digits: usize) -> Cell {
    match (metric.spread, metric.interval) {
        (Some(own), _) => Cell::spread(own.mean, own.std, digits),
        (None, Some(own)) => Cell::number(own.estimate, digits),
        (None, None) => Value::Missing.into(),
    }
}

fn interval(metric: &MetricValue) -> Cell {
    match (metric.spread, metric.interval) {
        (None, Some(own)) => {
            Value::Interval { value: own.estimate, low: own.low, high: own.high, digits: 3 }.into()
        }
        _ => number(metric, 3),
    }
}

fn share(metric: &MetricValue) -> Cell {
    value(metric).map_or(Value::Missing.into(), |value| Value::Share { value, digits: 1 }.into())
}
