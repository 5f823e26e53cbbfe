//! Every score under every transform.

use super::{About, Shown, band, headings, look, p_star, percent, spread};
use crate::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use crate::sheet::{Cell, Group, Heading, Sheet, mark_best};
use crate::table::Align;
use crate::words;
use abstain::Score;
use abstain::metric::Direction;
use abstain_lab::Spread;
use abstain_lab::protocol::MAX_LOGIT_PNORM;
use abstain_lab::study::{FullLine, MethodsStudy, ModelTable};

/// The transforms as the paper's tables head them.
const TRANSFORMS: [&str; 4] = ["Raw", "TS-NLL", "TS-AURC", "pNorm"];

/// Every score under every transform.
pub fn methods(study: &MethodsStudy, about: &About) -> Shown {
    let mut sheets = vec![
        models(study, about, "naurc", "NAURC", Direction::Lower, |own| &own.naurc),
        models(study, about, "auroc", "AUROC", Direction::Higher, |own| &own.auroc),
    ];
    for table in &study.apg {
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
                headings(["Conf. estimator"].into_iter().chain(TRANSFORMS)),
            ],
            align: vec![Align::Left],
            groups: vec![Group { label: None, rows: lines }],
            notes: vec![],
        });
    }
    let (lower, higher) = (Direction::Lower, Direction::Higher);
    sheets.push(full(study, about, ("full-naurc", "NAURC", 4), lower, |own| own.naurc));
    sheets.push(full(study, about, ("full-aurc", "AURC × 1000", 2), lower, |own| {
        own.aurc.map(|own| Spread { mean: 1000.0 * own.mean, std: 1000.0 * own.std })
    }));
    sheets.push(full(study, about, ("full-auroc", "AUROC", 4), higher, |own| own.auroc));
    Shown {
        name: "methods",
        title: "Every score under every transform",
        remarks: remarks(study),
        sheets,
        figures: vec![gains(study, about)],
    }
}

fn remarks(study: &MethodsStudy) -> Vec<String> {
    let gains = study.gains.iter().find(|own| own.method == MAX_LOGIT_PNORM);
    let means: Vec<f64> =
        gains.iter().flat_map(|own| &own.gains).flatten().map(|own| own.mean).collect();
    let improved = means.iter().filter(|gain| **gain > study.epsilon).count();
    let largest = means.iter().copied().fold(0.0, f64::max);
    let first = study.order.first().filter(|_| improved > 0);
    let most = first.map_or(String::new(), |own| format!("; the most, {largest:.3}, on {own}"));
    vec![format!(
        "MaxLogit-pNorm gains more than ε = {} in NAURC on {improved} of {} models{most}.",
        words::short(study.epsilon, 4),
        means.len()
    )]
}

/// Scores down, transforms across.
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
    let group = |own: &ModelTable| {
        let mut rows = grid(values(own), 4);
        mark_best(rows.iter_mut().flat_map(|row| &mut row[1..]), better);
        Group { label: Some(own.model.clone()), rows }
    };
    // Those that are shown on their own first, as the paper shows two of its 84.
    let chosen = study.models.iter().filter(|own| own.chosen);
    let others = study.models.iter().filter(|own| !own.chosen);
    Sheet {
        name: name.into(),
        caption: format!(
            "{metric} of every score under every transform, none given up for MSP, those models first that \
             are shown on their own ({}; {})",
            about.zoo,
            about.protocol()
        ),
        header: vec![
            vec![Heading::new(""), Heading::new(""), Heading::over("Logit transformation", 4)],
            headings(["Classifier", "Conf. estimator"].into_iter().chain(TRANSFORMS)),
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
    let row = |own: &abstain_lab::study::FullModel| {
        let mut cells = vec![Cell::text(&own.title), percent(own.accuracy, 2)];
        cells.extend(own.methods.iter().map(|line| {
            let cell = spread(value(line), digits);
            match line.p {
                Some(p) => cell.noted(match p_star(p).as_str() {
                    "F" => "F".to_string(),
                    p => format!("p* = {p}"),
                }),
                None => cell,
            }
        }));
        mark_best(&mut cells[2..], better);
        cells
    };
    let methods = study.full.first().map(|own| &own.methods[..]).unwrap_or_default();
    let names = methods.iter().map(|line| line.method.to_string());
    Sheet {
        name: name.into(),
        caption: format!(
            "{metric} of every model with methods as used in the end, {used} ({}; {}); p* is the exponent that most splits chose, F that most fell back",
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
    let line = |own: &abstain_lab::study::GainLine| {
        let points: Vec<(f64, Option<Spread>)> =
            own.gains.iter().enumerate().map(|(x, gain)| (x as f64, *gain)).collect();
        band(own.method.to_string(), &points, look(own.method))
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
            "Gains in NAURC over MSP of the {}, ordered by those of MaxLogit-pNorm ({}; {used}; bands: ± one standard deviation)",
            about.models(),
            about.protocol()
        ),
        panels: vec![Panel {
            x: Axis {
                // Too many names would be a grey bar.
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
