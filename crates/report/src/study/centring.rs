//! What centring does.

use super::{About, Shown, correlation, headings, spread};
use crate::figure::{
    Axis, Colour, ColourScale, Dash, Figure, Layer, Legend, Mark, Marker, Panel, RuleAt, Style,
    Values,
};
use crate::sheet::{Cell, Group, Heading, Sheet, mark_best};
use crate::table::Align;
use crate::words;
use abstain::metric::Direction;
use abstain_lab::study::{CentredModel, CentringStudy};

/// What centring does.
pub fn centring(study: &CentringStudy, about: &About) -> Shown {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (index, (name, ..)) in
        study.tables.first().map_or(&[][..], |own| &own.lines).iter().enumerate()
    {
        let mut cells = vec![Cell::text(*name)];
        for table in &study.tables {
            let (_, plain, shifted) = table.lines[index];
            cells.extend([spread(plain, 5), spread(shifted, 5)]);
        }
        rows.push(cells);
    }
    for column in 1..=2 * study.tables.len() {
        mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
    }
    let mut first = vec![Heading::new("")];
    let mut second = headings(["Γ(z)"]);
    for table in &study.tables {
        first.push(Heading::over(format!("{} tuning rows", words::count(table.tuning_rows)), 2));
        second.extend(headings(["γ = 0", "γ = γ*"]));
    }
    Shown {
        name: "centring",
        title: "What centring does",
        remarks: vec![],
        sheets: vec![
            Sheet {
                name: "centring".into(),
                caption: format!(
                    "Average positive gain in NAURC over MSP of MaxLogit-pNorm-shift across the {}: what is \
                     subtracted from the logits (Γ) and added to them (γ) before the norm is taken ({}; γ* is \
                     tuned between −3 and 3)",
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
                groups: vec![Group { label: None, rows: study.models.iter().map(model).collect() }],
                notes: vec![],
            },
        ],
        figures: vec![figure(study, about)],
    }
}

fn model(own: &CentredModel) -> Vec<Cell> {
    vec![
        Cell::text(&own.title),
        Cell::number(own.mean_logit, 3),
        spread(own.centring_gain, 4),
        spread(own.gain, 4),
        Cell::text(if own.fell_back { "yes" } else { "no" }),
    ]
}

fn figure(study: &CentringStudy, about: &About) -> Figure {
    let marks = |fell_back: bool| {
        let own = study.models.iter().filter(move |own| own.fell_back == fell_back);
        let mark = |own: &CentredModel| {
            let gain = own.centring_gain?;
            Some(Mark {
                x: own.mean_logit,
                y: gain.mean,
                error: Some(gain.std),
                name: Some(own.title.clone()),
                value: own.gain.map(|own| own.mean),
            })
        };
        own.filter_map(mark).collect::<Vec<Mark>>()
    };
    let gains = || study.models.iter().filter_map(|own| own.gain.map(|gain| gain.mean));
    let (smallest, largest) = (gains().fold(0.0, f64::min), gains().fold(0.01, f64::max));
    let scaled = |marker| Style { colour: Colour::Scaled, marker, ..Style::series(0) };
    Figure {
        name: "centring".into(),
        caption: format!(
            "NAURC of MaxLogit-pNorm gained by centring, against the mean logit, for the {} ({}; hollow: \
             models of which most splits fell back to MSP; r: Pearson's correlation with the distance of the mean \
             from 0 over the {} others)",
            about.models(),
            about.protocol(),
            study.models.iter().filter(|own| !own.fell_back).count()
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
