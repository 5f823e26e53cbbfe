//! Which method beats which.

use super::{Duel, ModelDuel, SignificanceStudy};
use crate::measure::REFERENCES;
use crate::protocol::MAX_LOGIT_PNORM;
use crate::study::{About, Content, Present, headings, p_value};
use abstain::Method;
use abstain_report::figure::{Axis, Dash, Figure, Layer, Legend, Mark, Panel, RuleAt, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, Value};
use abstain_report::words;

impl Present for SignificanceStudy {
    const TITLE: &'static str = "Which method beats which";
    const SUMMARY: &'static str =
        "which method beats which: bootstrap, sign test, Holm's correction";
    const PAPER: Option<&'static str> = None;

    fn present(&self, about: &About) -> Content {
        let of =
            |reference: Method| self.duels.iter().filter(move |duel| duel.reference == reference);
        let group = |reference: Method| Group {
            label: Some(format!("against {reference}")),
            rows: of(reference).map(duel_row).collect(),
        };
        let level = words::short(self.level, 3);
        let mut sheets = vec![Sheet {
            name: "significance".into(),
            caption: format!(
                "Which method beats which on the {}, with MSP where a method fell back. Over \
                 models: wins, losses and ties by mean NAURC over the splits, and the p-value \
                 of the sign test before and after Holm's correction. Over rows: models on \
                 which the method is significantly better or worse on the test rows of the \
                 first split (normal test with the standard error of a bootstrap of {} \
                 replicates, Holm's correction over the models, p < {level})",
                about.models(),
                words::count(self.replicates)
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
                    "Significantly better",
                    "Significantly worse",
                ]),
            ],
            align: vec![Align::Left, Align::Left],
            groups: REFERENCES.map(group).to_vec(),
            notes: vec![],
        }];
        let main = self.duel(MAX_LOGIT_PNORM, Method::MSP);
        sheets.extend(main.map(|duel| by_model(duel, about, self)));
        let remarks = [MAX_LOGIT_PNORM, Method::Stack].into_iter().filter_map(|method| {
            let duel = self.duel(method, Method::MSP)?;
            Some(format!(
                "{method} beats MSP on {} models, loses on {} and ties on {} (sign test, \
             Holm: p = {}). On the test rows of the first split it is significantly better on \
             {} and significantly worse on {}.",
                duel.wins,
                duel.losses,
                duel.ties,
                words::significant(duel.p_corrected),
                duel.surely_better,
                duel.surely_worse
            ))
        });
        Content {
            remarks: remarks.collect(),
            sheets,
            figures: main.map(|duel| figure(duel, about)).into_iter().collect(),
        }
    }
}

fn duel_row(duel: &Duel) -> Vec<Cell> {
    vec![
        Cell::text(duel.method.to_string()),
        Cell::count(duel.wins),
        Cell::count(duel.losses),
        Cell::count(duel.ties),
        p_value(duel.p),
        p_value(duel.p_corrected),
        Cell::count(duel.surely_better),
        Cell::count(duel.surely_worse),
    ]
}

fn by_model(duel: &Duel, about: &About, study: &SignificanceStudy) -> Sheet {
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
            "NAURC of {} less that of {} on the test rows of the first split, with 95 % \
             intervals and p-values of a normal test with the standard error of a bootstrap \
             ({}; {} replicates; Holm's correction over the models)",
            duel.method,
            duel.reference,
            about.zoo,
            words::count(study.replicates)
        ),
        header: vec![headings(["Model", "Difference in NAURC", "p", "p, Holm"])],
        align: vec![Align::Left],
        groups: vec![Group { label: None, rows: duel.models.iter().map(row).collect() }],
        notes: vec![],
    }
}

/// Differences with their intervals.
fn figure(duel: &Duel, about: &About) -> Figure {
    let mark = |(x, model): (usize, &ModelDuel)| {
        let [low, high] = model.interval?;
        let error = Some((high - low) / 2.0);
        let name = Some(model.title.clone());
        Some(Mark { x: x as f64, y: model.difference?, error, name, value: None })
    };
    let categories = duel.models.iter().map(|model| model.model.clone()).collect();
    Figure {
        name: "significance".into(),
        caption: format!(
            "NAURC of {} less that of {} on the test rows of the first split, with 95 % \
             intervals by the standard error of a bootstrap ({}); below 0 is better",
            duel.method, duel.reference, about.zoo
        ),
        panels: vec![Panel {
            x: Axis { categories: Some(categories), ..Axis::new("") },
            y: Axis::new("Difference in NAURC"),
            layers: vec![
                Layer::Points {
                    label: None,
                    points: duel.models.iter().enumerate().filter_map(mark).collect(),
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
