//! Before and after tuning, against accuracy.

use super::{ScatterModel, ScatterStudy};
use crate::measure::BeforeAfter;
use crate::study::methods::PStar;
use crate::study::{
    About, Content, Present, correlation, headings, number, p_star, percent, spread,
};
use abstain_lab::Spread;
use abstain_report::figure::{
    Axis, Colour, ColourScale, Figure, Layer, Legend, Mark, Marker, Panel, Style, Values,
};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, Value};
use abstain_report::words;

/// A metric of the models.
struct Metric<'a> {
    name: &'a str,
    value: fn(&ScatterModel) -> BeforeAfter<Option<Spread>>,
    correlation: BeforeAfter<Option<f64>>,
    percent: bool,
}

/// Before or after.
type Side = fn(BeforeAfter<Option<Spread>>) -> Option<Spread>;

impl Present for ScatterStudy {
    const TITLE: &'static str = "Before and after tuning, against accuracy";
    const SUMMARY: &'static str =
        "NAURC, AURC, AUROC and coverage against accuracy, before and after tuning";
    const PAPER: Option<&'static str> = Some("Fig. 3");

    fn present(&self, about: &About) -> Content {
        let coverage = coverage_name(self);
        let found = &self.correlations;
        let metric =
            |name, value, correlation, percent| Metric { name, value, correlation, percent };
        let metrics = [
            metric("NAURC", |model| model.naurc, found.naurc, false),
            metric("AURC", |model| model.aurc, found.aurc, false),
            metric(&coverage, |model| model.coverage, found.coverage, true),
            metric("AUROC", |model| model.auroc, found.auroc, false),
        ];
        let panels = metrics.iter().flat_map(|metric| panels(self, metric)).collect();
        let caption = format!(
            "NAURC, AURC, {coverage} and AUROC of the {} against their accuracy, with MSP \
             (left) and after tuning with MaxLogit-pNorm (right); colours: the exponent that \
             most splits chose, F where most fell back to MSP; ρ: Spearman's correlation with \
             the accuracy ({})",
            about.models(),
            about.protocol()
        );
        Content {
            remarks: vec![format!(
                "Spearman's correlation of AURC and accuracy goes from {} to {}, of NAURC and \
                 accuracy from {} to {}.",
                words_of(found.aurc.before),
                words_of(found.aurc.after),
                words_of(found.naurc.before),
                words_of(found.naurc.after)
            )],
            sheets: vec![table(self, about, &coverage)],
            figures: vec![Figure {
                name: "scatter".into(),
                caption,
                panels,
                columns: 2,
                legend: Legend::Shared,
            }],
        }
    }
}

/// A metric before and after, on the same axis.
fn panels(study: &ScatterStudy, metric: &Metric<'_>) -> [Panel; 2] {
    let both = study.models.iter().map(metric.value);
    let means: Vec<f64> = both
        .flat_map(|both| [both.before, both.after])
        .flatten()
        .map(|spread| spread.mean)
        .collect();
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = 0.08 * (high - low).max(1e-9);
    let steps = steps(study);
    let panel = |title: &str, side: Side, correlated: Option<f64>| {
        let marks = study.models.iter().filter_map(|model| {
            let y = side((metric.value)(model))?;
            Some(Mark {
                x: model.accuracy?.mean,
                y: y.mean,
                error: Some(y.std),
                name: Some(model.title.clone()),
                value: step_of(&steps, model.p),
            })
        });
        let range = Some((low - margin, high + margin));
        Panel {
            title: Some(format!("{}: {title}", metric.name)),
            x: Axis { percent: true, ..Axis::new("Accuracy") },
            y: Axis { percent: metric.percent, range, ..Axis::new(metric.name) },
            layers: vec![Layer::Points {
                label: None,
                points: marks.collect(),
                style: Style { colour: Colour::Scaled, marker: Marker::Circle, ..Style::series(0) },
            }],
            note: Some(correlation("ρ", correlated)),
            scale: Some(ColourScale { label: "p*".into(), values: Values::Steps(steps.clone()) }),
        }
    };
    [
        panel("MSP", |both| both.before, metric.correlation.before),
        panel("MaxLogit-pNorm, or MSP", |both| both.after, metric.correlation.after),
    ]
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
    let mut chosen: Vec<PStar> = study.models.iter().filter_map(|model| model.p).collect();
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
    steps.iter().position(|step| *step == name).map(|place| place as f64)
}

fn table(study: &ScatterStudy, about: &About, coverage: &str) -> Sheet {
    let used = about.used();
    let row = |model: &ScatterModel| {
        let mut cells = vec![
            Cell::text(&model.title),
            percent(model.accuracy, 2),
            model.p.map_or(Value::Missing.into(), |p| Cell::text(p_star(p))),
        ];
        let pairs = [(model.naurc, 4), (model.aurc, 4), (model.auroc, 4)];
        for (both, digits) in pairs {
            cells.extend([spread(both.before, digits), spread(both.after, digits)]);
        }
        cells.extend([percent(model.coverage.before, 1), percent(model.coverage.after, 1)]);
        cells
    };
    let found = &study.correlations;
    let rho = |value: Option<f64>| number(value, 3);
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
