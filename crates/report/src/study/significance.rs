//! Which method beats which.

use super::{About, Shown, headings, p_value};
use crate::figure::{Axis, Dash, Figure, Layer, Legend, Mark, Panel, RuleAt, Style};
use crate::sheet::{Cell, Group, Heading, Sheet, Value};
use crate::table::Align;
use crate::words;
use abstain::Method;
use abstain_lab::protocol::MAX_LOGIT_PNORM;
use abstain_lab::study::{Duel, ModelDuel, SignificanceStudy};

/// Which method beats which.
pub fn significance(study: &SignificanceStudy, about: &About) -> Shown {
    let references = [Method::MSP, MAX_LOGIT_PNORM];
    let of = |reference: Method| study.duels.iter().filter(move |own| own.reference == reference);
    let group = |reference: Method| Group {
        label: Some(format!("against {reference}")),
        rows: of(reference).map(duel).collect(),
    };
    let level = words::short(study.level, 3);
    let mut sheets = vec![Sheet {
        name: "significance".into(),
        caption: format!(
            "Which method beats which on the {}, as used in the end (MSP where the hold-out favours it). By \
             mean NAURC over the splits: wins, losses and ties over the models, the sign test's p and the same \
             after Holm's correction; on the test rows of the first split: models on which it is surely better \
             or worse (normal test by the standard error of a bootstrap with {} replicates, Holm's correction over the \
             models, p < {level})",
            about.models(),
            words::count(study.replicates)
        ),
        header: vec![
            vec![
                Heading::over("", 2),
                Heading::over("Over models", 5),
                Heading::over("Over rows", 2),
            ],
            headings([
                "Reference",
                "Method",
                "Wins",
                "Losses",
                "Ties",
                "p",
                "p, Holm",
                "Surely better",
                "Surely worse",
            ]),
        ],
        align: vec![Align::Left, Align::Left],
        groups: references.map(group).to_vec(),
        notes: vec![],
    }];
    let main = study.duels.iter().find(|own| own.method == MAX_LOGIT_PNORM);
    sheets.extend(main.map(|own| by_model(own, about, study)));
    let remarks = main.map(|own| {
        format!(
            "MaxLogit-pNorm beats MSP on {} models, loses on {} and ties on {} (sign test, Holm: p = {}); on \
             single test sets it is surely better on {} and surely worse on {}.",
            own.wins,
            own.losses,
            own.ties,
            words::significant(own.p_corrected),
            own.surely_better,
            own.surely_worse
        )
    });
    Shown {
        name: "significance",
        title: "Which method beats which",
        remarks: remarks.into_iter().collect(),
        sheets,
        figures: main.map(|own| figure(own, about)).into_iter().collect(),
    }
}

fn duel(own: &Duel) -> Vec<Cell> {
    vec![
        Cell::text(own.method.to_string()),
        Cell::count(own.wins),
        Cell::count(own.losses),
        Cell::count(own.ties),
        p_value(own.p),
        p_value(own.p_corrected),
        Cell::count(own.surely_better),
        Cell::count(own.surely_worse),
    ]
}

fn by_model(own: &Duel, about: &About, study: &SignificanceStudy) -> Sheet {
    let row = |model: &ModelDuel| {
        let difference = match (model.difference, model.interval) {
            (Some(value), Some([low, high])) => {
                Value::Interval { value, low, high, digits: 4 }.into()
            }
            _ => Cell::default(),
        };
        let p = |p: Option<f64>| p.map_or(Cell::default(), p_value);
        vec![Cell::text(&model.title), difference, p(model.p), p(model.p_corrected)]
    };
    Sheet {
        name: "significance-models".into(),
        caption: format!(
            "{} less {} in NAURC on the test rows of the first split, with 95 % intervals and p-values of a \
             normal test by the standard error of a bootstrap ({}; {} replicates; Holm's correction over the models)",
            own.method,
            own.reference,
            about.zoo,
            words::count(study.replicates)
        ),
        header: vec![headings(["Model", "Difference in NAURC", "p", "p, Holm"])],
        align: vec![Align::Left],
        groups: vec![Group { label: None, rows: own.models.iter().map(row).collect() }],
        notes: vec![],
    }
}

/// Differences with their intervals, as a forest plot turned on its side.
fn figure(own: &Duel, about: &About) -> Figure {
    let mark = |(x, model): (usize, &ModelDuel)| {
        let [low, high] = model.interval?;
        let error = Some((high - low) / 2.0);
        let name = Some(model.title.clone());
        Some(Mark { x: x as f64, y: model.difference?, error, name, value: None })
    };
    let categories = own.models.iter().map(|model| model.model.clone()).collect();
    Figure {
        name: "significance".into(),
        caption: format!(
            "{} less {} in NAURC on the test rows of the first split: 95 % intervals by the standard error of \
             the bootstrap ({}); below 0 it is better",
            own.method, own.reference, about.zoo
        ),
        panels: vec![Panel {
            x: Axis { categories: Some(categories), ..Axis::new("") },
            y: Axis::new("Difference in NAURC"),
            layers: vec![
                Layer::Points {
                    label: None,
                    points: own.models.iter().enumerate().filter_map(mark).collect(),
                    style: Style::series(0),
                },
                Layer::Rule { label: None, at: RuleAt::Y(0.0), style: Style::rule(Dash::Dashed) },
            ],
            ..Panel::default()
        }],
        columns: 1,
        legend: Legend::Shared,
    }
}
