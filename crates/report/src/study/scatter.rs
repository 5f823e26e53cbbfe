//! Before and after, against accuracy.

use super::{About, Shown, correlation, headings, p_star, percent, spread};
use crate::figure::{
    Axis, Colour, ColourScale, Figure, Layer, Legend, Mark, Marker, Panel, Style, Values,
};
use crate::sheet::{Cell, Group, Heading, Sheet, Value};
use crate::table::Align;
use crate::words;
use abstain_lab::Spread;
use abstain_lab::study::{BeforeAfter, PStar, ScatterModel, ScatterStudy};

type Metric = fn(&ScatterModel) -> BeforeAfter<Option<Spread>>;

/// Before and after, against accuracy.
pub fn scatter(study: &ScatterStudy, about: &About) -> Shown {
    let coverage = coverage_name(study);
    let found = &study.correlations;
    let metrics: [(&str, Metric, BeforeAfter<Option<f64>>, bool); 4] = [
        ("NAURC", |own| own.naurc, found.naurc, false),
        ("AURC", |own| own.aurc, found.aurc, false),
        (&coverage, |own| own.coverage, found.coverage, true),
        ("AUROC", |own| own.auroc, found.auroc, false),
    ];
    let steps = steps(study);
    let mut panels = Vec::new();
    for (name, metric, correlations, percent) in &metrics {
        let all: Vec<f64> = study
            .models
            .iter()
            .flat_map(|own| [metric(own).before, metric(own).after])
            .flatten()
            .map(|own| own.mean)
            .collect();
        // The same axis before and after, or nothing could be compared.
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = 0.08 * (high - low).max(1e-9);
        let range = (low - margin, high + margin);
        let sides = [
            ("MSP", correlations.before, false),
            ("MaxLogit-pNorm, or MSP", correlations.after, true),
        ];
        for (side, value, after) in sides {
            let marks = study.models.iter().filter_map(|own| {
                let both = metric(own);
                let y = if after { both.after } else { both.before }?;
                Some(Mark {
                    x: own.accuracy?.mean,
                    y: y.mean,
                    error: Some(y.std),
                    name: Some(own.title.clone()),
                    value: step_of(&steps, own.p),
                })
            });
            panels.push(Panel {
                title: Some(format!("{name}: {side}")),
                x: Axis { percent: true, ..Axis::new("Accuracy") },
                y: Axis { percent: *percent, range: Some(range), ..Axis::new(*name) },
                layers: vec![Layer::Points {
                    label: None,
                    points: marks.collect(),
                    style: Style {
                        colour: Colour::Scaled,
                        marker: Marker::Circle,
                        ..Style::series(0)
                    },
                }],
                note: Some(correlation("ρ", value)),
                scale: Some(ColourScale {
                    label: "p*".into(),
                    values: Values::Steps(steps.clone()),
                }),
            });
        }
    }
    let caption = format!(
        "NAURC, AURC, {coverage} and AUROC of the {} against their accuracy, with MSP (left) and after \
         tuning with MaxLogit-pNorm (right); colours: the exponent that most splits chose, F where most \
         fell back to MSP; ρ: Spearman's correlation with the accuracy ({})",
        about.models(),
        about.protocol()
    );
    Shown {
        name: "scatter",
        title: "Before and after, against accuracy",
        remarks: vec![format!(
            "Spearman's correlation of AURC and accuracy goes from {} to {}, of NAURC and accuracy from \
             {} to {}.",
            words_of(found.aurc.before),
            words_of(found.aurc.after),
            words_of(found.naurc.before),
            words_of(found.naurc.after)
        )],
        sheets: vec![table(study, about, &coverage)],
        figures: vec![Figure {
            name: "scatter".into(),
            caption,
            panels,
            columns: 2,
            legend: Legend::Shared,
        }],
    }
}

fn words_of(value: Option<f64>) -> String {
    value.map_or("undefined".into(), |value| format!("{value:.3}"))
}

fn coverage_name(study: &ScatterStudy) -> String {
    let target = words::target_percent(study.target);
    match study.delta {
        None => format!("Coverage at {target} accuracy"),
        Some(delta) => {
            let sure = words::target_percent(1.0 - delta);
            format!("Coverage certified at {target} accuracy with {sure} confidence")
        }
    }
}

/// The exponents that were chosen, F first.
fn steps(study: &ScatterStudy) -> Vec<String> {
    let mut chosen: Vec<PStar> = study.models.iter().filter_map(|own| own.p).collect();
    let key = |p: &PStar| match p {
        PStar::Fallback | PStar::Tuned => -1.0,
        PStar::At(p) => *p,
    };
    chosen.sort_by(|a, b| key(a).total_cmp(&key(b)));
    chosen.dedup();
    chosen.into_iter().map(p_star).collect()
}

fn step_of(steps: &[String], p: Option<PStar>) -> Option<f64> {
    let name = p_star(p?);
    steps.iter().position(|own| *own == name).map(|place| place as f64)
}

fn table(study: &ScatterStudy, about: &About, coverage: &str) -> Sheet {
    let used = about.used();
    let row = |own: &ScatterModel| {
        let mut cells = vec![
            Cell::text(&own.title),
            percent(own.accuracy, 2),
            own.p.map_or(Value::Missing.into(), |p| Cell::text(p_star(p))),
        ];
        let pairs = [(own.naurc, 4), (own.aurc, 4), (own.auroc, 4)];
        for (both, digits) in pairs {
            cells.extend([spread(both.before, digits), spread(both.after, digits)]);
        }
        cells.extend([percent(own.coverage.before, 1), percent(own.coverage.after, 1)]);
        cells
    };
    let found = &study.correlations;
    let rho = |value: Option<f64>| super::number(value, 3);
    let mut last = vec![Cell::text("Spearman's ρ with accuracy"), Cell::text(""), Cell::text("")];
    for both in [found.naurc, found.aurc, found.auroc, found.coverage] {
        last.extend([rho(both.before), rho(both.after)]);
    }
    let mut first = vec![Heading::over("", 3)];
    first.extend(["NAURC", "AURC", "AUROC"].map(|name| Heading::over(name, 2)));
    first.push(Heading::over(format!("{coverage} [%]"), 2));
    let mut second = headings(["Model", "Accuracy [%]", "p*"]);
    for _ in 0..4 {
        second.extend(headings(["MSP", "after"]));
    }
    Sheet {
        name: "before-after".into(),
        caption: format!(
            "Every model with MSP and after tuning with MaxLogit-pNorm, or {used} ({}; {})",
            about.zoo,
            about.protocol()
        ),
        header: vec![first, second],
        align: vec![Align::Left],
        groups: vec![
            Group { label: None, rows: study.models.iter().map(row).collect() },
            Group { label: None, rows: vec![last] },
        ],
        notes: vec![],
    }
}
