//! The effect of centring.

use super::{CentredModel, CentringStudy};
use crate::study::{About, Content, Present, correlation, headings, spread};
use abstain::metric::Direction;
use abstain_report::figure::{
    Axis, Colour, ColourScale, Dash, Figure, Layer, Legend, Mark, Marker, Panel, RuleAt, Style,
    Values,
};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, mark_best};
use abstain_report::words;

impl Present for CentringStudy {
    const TITLE: &'static str = "The effect of centring";
    const SUMMARY: &'static str =
        "what is subtracted from the logits before the norm (Γ) and added (γ)";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let lines = self.tables.first().map_or(&[][..], |table| &table.lines);
        for (index, line) in lines.iter().enumerate() {
            let mut cells = vec![Cell::text(line.centring)];
            for table in &self.tables {
                let line = table.lines[index];
                cells.extend([spread(line.unshifted, 5), spread(line.shifted, 5)]);
            }
            rows.push(cells);
        }
        for column in 1..=2 * self.tables.len() {
            mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
        }
        let mut first = vec![Heading::new("")];
        let mut second = headings(["Γ(z)"]);
        for table in &self.tables {
            first
                .push(Heading::over(format!("{} tuning rows", words::count(table.tuning_rows)), 2));
            second.extend(headings(["γ = 0", "γ = γ*"]));
        }
        Content {
            remarks: vec![],
            sheets: vec![
                Sheet {
                    name: "centring".into(),
                    caption: format!(
                        "Average positive gain in NAURC over MSP of MaxLogit-pNorm-shift across \
                         the {}: what is subtracted from the logits (Γ) and added to them (γ) \
                         before the norm is taken ({}; γ* is tuned between −3 and 3)",
                        about.models(),
                        about.gains()
                    ),
                    header: vec![first, second],
                    align: vec![Align::Left],
                    groups: vec![Group { label: None, rows }],
                    notes: vec![],
                },
                Sheet {
                    name: "centring-models".into(),
                    caption: format!(
                        "What centring gains for MaxLogit-pNorm on every model ({}; {})",
                        about.zoo,
                        about.protocol()
                    ),
                    header: vec![headings([
                        "Model",
                        "Mean logit",
                        "NAURC gained by centring",
                        "NAURC gained over MSP",
                        "Most splits fell back",
                    ])],
                    align: vec![Align::Left],
                    groups: vec![Group {
                        label: None,
                        rows: self.models.iter().map(row).collect(),
                    }],
                    notes: vec![],
                },
            ],
            figures: vec![figure(self, about)],
        }
    }
}

fn row(model: &CentredModel) -> Vec<Cell> {
    vec![
        Cell::text(&model.title),
        Cell::number(model.mean_logit, 3),
        spread(model.centring_gain, 4),
        spread(model.gain, 4),
        Cell::text(if model.fell_back { "yes" } else { "no" }),
    ]
}

fn figure(study: &CentringStudy, about: &About) -> Figure {
    let marks = |fell_back: bool| {
        let models = study.models.iter().filter(move |model| model.fell_back == fell_back);
        let mark = |model: &CentredModel| {
            let gain = model.centring_gain?;
            Some(Mark {
                x: model.mean_logit,
                y: gain.mean,
                error: Some(gain.std),
                name: Some(model.title.clone()),
                value: model.gain.map(|spread| spread.mean),
            })
        };
        models.filter_map(mark).collect::<Vec<Mark>>()
    };
    let gains = || study.models.iter().filter_map(|model| model.gain.map(|gain| gain.mean));
    let (smallest, largest) = (gains().fold(0.0, f64::min), gains().fold(0.01, f64::max));
    let scaled = |marker| Style { colour: Colour::Scaled, marker, ..Style::series(0) };
    Figure {
        name: "centring".into(),
        caption: format!(
            "NAURC of MaxLogit-pNorm gained by centring, against the mean logit, for the {} \
             ({}; hollow: models of which most splits fell back to MSP; r: Pearson's \
             correlation with the distance of the mean from 0 over the {} others)",
            about.models(),
            about.protocol(),
            study.models.iter().filter(|model| !model.fell_back).count()
        ),
        panels: vec![Panel {
            x: Axis::new("Mean logit"),
            y: Axis::new("NAURC gained by centring"),
            layers: vec![
                Layer::Rule { label: None, at: RuleAt::Y(0.0), style: Style::rule(Dash::Dotted) },
                Layer::Points { label: None, points: marks(false), style: scaled(Marker::Circle) },
                Layer::Points {
                    label: None,
                    points: marks(true),
                    style: scaled(Marker::HollowCircle),
                },
            ],
            note: Some(correlation("r", study.correlation)),
            scale: Some(ColourScale {
                label: "Gain over MSP".into(),
                values: Values::Between(smallest, largest),
            }),
            ..Panel::default()
        }],
        columns: 1,
        legend: Legend::Shared,
    }
}
