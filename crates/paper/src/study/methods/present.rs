//! Every score under every transform.

use super::{FullLine, FullModel, GainLine, MethodsStudy, ModelTable};
use crate::protocol::{MAX_LOGIT_PNORM, TRANSFORMS};
use crate::study::{
    About, Content, Present, band, headings, look, p_star_note, percent, scaled, spread,
};
use abstain::metric::Direction;
use abstain::{Method, Score, method::TransformKind};
use abstain_lab::Spread;
use abstain_report::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, mark_best};
use abstain_report::words;

/// The names of the transforms, as in the paper's tables.
fn transforms() -> impl Iterator<Item = String> {
    TRANSFORMS.iter().map(|transform| {
        let entry = TransformKind::ALL.iter().find(|entry| entry.0 == *transform);
        match entry.map_or("", |entry| entry.1).trim_start_matches('-') {
            "" => "Raw".into(),
            suffix => suffix.to_string(),
        }
    })
}

fn estimator_headings(first: &[&str]) -> Vec<Heading> {
    headings(first.iter().map(ToString::to_string).chain(transforms()))
}

impl Present for MethodsStudy {
    const TITLE: &'static str = "Every score under every transform";
    const SUMMARY: &'static str = "every score under every transform: NAURC, AUROC, AURC and gains";
    const PAPER: Option<&'static str> = Some("Tables 1, 2; Fig. 2; appendix tables");

    fn present(&self, about: &About) -> Content {
        let mut sheets = vec![
            models(self, about, "naurc", "NAURC", Direction::Lower, |model| &model.naurc),
            models(self, about, "auroc", "AUROC", Direction::Higher, |model| &model.auroc),
        ];
        for table in &self.apg {
            let rows = words::count(table.tuning_rows);
            let mut lines = grid(&table.apg, 5);
            mark_best(lines.iter_mut().flat_map(|row| &mut row[1..]), Direction::Higher);
            sheets.push(Sheet {
            name: format!("apg-{}", table.tuning_rows),
            caption: format!(
                "Average positive gain in NAURC over MSP across the {}, tuned on {rows} rows ({})",
                about.models(),
                about.gains()
            ),
            header: vec![
                vec![Heading::new(""), Heading::over("Logit transformation", 4)],
                estimator_headings(&["Conf. estimator"]),
            ],
            align: vec![Align::Left],
            groups: vec![Group { label: None, rows: lines }],
            notes: vec![],
        });
        }
        let (lower, higher) = (Direction::Lower, Direction::Higher);
        sheets.push(full(self, about, ("full-naurc", "NAURC", 4), lower, |line| line.naurc));
        sheets.push(full(self, about, ("full-aurc", "AURC × 1000", 2), lower, |line| {
            line.aurc.map(|aurc| scaled(aurc, 1000.0))
        }));
        sheets.push(full(self, about, ("full-auroc", "AUROC", 4), higher, |line| line.auroc));
        Content { remarks: remarks(self), sheets, figures: vec![gains(self, about)] }
    }
}

fn remarks(study: &MethodsStudy) -> Vec<String> {
    [MAX_LOGIT_PNORM, Method::Stack].map(|method| remark(study, method)).into()
}

fn remark(study: &MethodsStudy, method: Method) -> String {
    let gains = study.gains.iter().find(|line| line.method == method);
    let means: Vec<f64> =
        gains.iter().flat_map(|line| &line.gains).flatten().map(|spread| spread.mean).collect();
    let improved = means.iter().filter(|gain| **gain > study.epsilon).count();
    let largest = means.iter().copied().fold(0.0, f64::max);
    // The models are ordered by the gain of MaxLogit-pNorm.
    let first = study.order.first().filter(|_| improved > 0 && method == MAX_LOGIT_PNORM);
    let where_most = first.map_or(String::new(), |model| format!(", on {model}"));
    let most = if improved > 0 {
        format!("; the largest gain is {largest:.3}{where_most}")
    } else {
        String::new()
    };
    format!(
        "{method} gains more than ε = {} in NAURC on {improved} of {} models{most}.",
        words::short(study.epsilon, 4),
        means.len()
    )
}

/// A row per score, a column per transform.
fn grid(values: &[Vec<Option<Spread>>], digits: usize) -> Vec<Vec<Cell>> {
    let row = |(score, values): (&Score, &Vec<Option<Spread>>)| {
        let cells = values.iter().map(|value| spread(*value, digits));
        std::iter::once(Cell::text(score.name())).chain(cells).collect()
    };
    Score::OF_THE_PAPER.iter().zip(values).map(row).collect()
}

fn models(
    study: &MethodsStudy,
    about: &About,
    name: &str,
    metric: &str,
    better: Direction,
    values: fn(&ModelTable) -> &Vec<Vec<Option<Spread>>>,
) -> Sheet {
    let group = |model: &ModelTable| {
        let mut rows = grid(values(model), 4);
        mark_best(rows.iter_mut().flat_map(|row| &mut row[1..]), better);
        Group { label: Some(model.model.clone()), rows }
    };
    // The models that are shown individually come first, as the paper shows two of its 84.
    let chosen = study.models.iter().filter(|model| model.chosen);
    let others = study.models.iter().filter(|model| !model.chosen);
    Sheet {
        name: name.into(),
        caption: format!(
            "{metric} of every score under every transform, as tuned, without the fallback to \
             MSP; the models that are shown individually come first ({}; {})",
            about.zoo,
            about.protocol()
        ),
        header: vec![
            vec![Heading::new(""), Heading::new(""), Heading::over("Logit transformation", 4)],
            estimator_headings(&["Classifier", "Conf. estimator"]),
        ],
        align: vec![Align::Left, Align::Left],
        groups: chosen.chain(others).map(group).collect(),
        notes: vec![
            "A temperature does not change the ranking of MaxLogit and LogitsMargin.".into(),
        ],
    }
}

fn full(
    study: &MethodsStudy,
    about: &About,
    (name, metric, digits): (&str, &str, usize),
    better: Direction,
    value: fn(&FullLine) -> Option<Spread>,
) -> Sheet {
    let used = about.used();
    let row = |model: &FullModel| {
        let mut cells = vec![Cell::text(&model.title), percent(model.accuracy, 2)];
        cells.extend(model.methods.iter().map(|line| {
            let cell = spread(value(line), digits);
            match line.p {
                Some(p) => cell.noted(p_star_note(p)),
                None => cell,
            }
        }));
        mark_best(&mut cells[2..], better);
        cells
    };
    let methods = study.full.first().map(|model| &model.methods[..]).unwrap_or_default();
    let names = methods.iter().map(|line| line.method.to_string());
    Sheet {
        name: name.into(),
        caption: format!(
            "{metric} of every model, {used} ({}; {}); p*: the exponent that most splits chose; \
             F: most splits fell back to MSP",
            about.zoo,
            about.protocol()
        ),
        header: vec![headings(
            ["Model".to_string(), "Accuracy [%]".into()].into_iter().chain(names),
        )],
        align: vec![Align::Left],
        groups: vec![Group { label: None, rows: study.full.iter().map(row).collect() }],
        notes: vec!["p* = 0: centred, but not normalised.".into()],
    }
}

fn gains(study: &MethodsStudy, about: &About) -> Figure {
    let used = about.used();
    let line = |line: &GainLine| {
        let points: Vec<(f64, Option<Spread>)> =
            line.gains.iter().enumerate().map(|(x, gain)| (x as f64, *gain)).collect();
        band(line.method.to_string(), &points, look(line.method))
    };
    let mut layers: Vec<Layer> = study.gains.iter().map(line).collect();
    layers.push(Layer::Rule {
        label: Some(format!("ε = {}", words::short(study.epsilon, 4))),
        at: RuleAt::Y(study.epsilon),
        style: Style::rule(Dash::Dashed),
    });
    let many = study.order.len() > 40;
    Figure {
        name: "gains".into(),
        caption: format!(
            "Gains in NAURC over MSP of the {}, ordered by those of MaxLogit-pNorm ({}; {used}; \
             bands: ± one standard deviation)",
            about.models(),
            about.protocol()
        ),
        panels: vec![Panel {
            x: Axis {
                // Too many names would overlap.
                categories: (!many).then(|| study.order.clone()),
                ..Axis::new(if many { "Model, by gain" } else { "" })
            },
            y: Axis::new("Gain in NAURC over MSP"),
            layers,
            ..Panel::default()
        }],
        columns: 1,
        legend: Legend::Shared,
    }
}
