//! The weight of the j-th logit.

use super::{InfluenceStudy, MethodInfluence, ModelInfluence};
use crate::study::{About, Content, Present, columns, headings, look, number};
use abstain_report::figure::{Axis, Figure, Layer, Legend, Panel, Scale};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Sheet};
use abstain_report::words;

/// From so many classes on the largest and the smallest logits are shown in separate panels.
const MANY_CLASSES: usize = 50;

impl Present for InfluenceStudy {
    const TITLE: &'static str = "The weight of the j-th logit";
    const SUMMARY: &'static str =
        "the weight of the j-th logit, A_j / A_2, as a geometric mean over rows";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let from = self.small_from;
        let row = |method: &MethodInfluence| {
            let ratio = |j: usize| number(method.ratios.get(j - 1).copied(), 4);
            let name = method.method.to_string();
            let parameter = words::short(method.parameter, 3);
            vec![
                Cell::text(name),
                Cell::text(parameter),
                ratio(1),
                ratio(3),
                Cell::number(method.small, 4),
            ]
        };
        let group = |model: &ModelInfluence| Group {
            label: Some(model.title.clone()),
            rows: model.methods.iter().map(row).collect(),
        };
        let header = ["Classifier", "Method", "T or p", "A_1 / A_2", "A_3 / A_2"].map(String::from);
        let last = format!("sum of A_j / A_2, j ≥ {from}");
        let panels: Vec<Panel> = self.models.iter().flat_map(panels).collect();
        let columns = columns(panels.len());
        let what = "A_j / A_2, where A_j is exp(z_j / T) for MSP and MSP-TS and |z_j − μ|^p for \
                MaxLogit-pNorm, with the logits in descending order";
        Content {
            remarks: vec![],
            sheets: vec![Sheet {
                name: "influence".into(),
                caption: format!(
                    "Geometric mean of {what}, over all rows of some models ({})",
                    about.zoo
                ),
                header: vec![headings(header.into_iter().chain([last]))],
                align: vec![Align::Left, Align::Left],
                groups: self.models.iter().map(group).collect(),
                notes: vec![
                    "T and p are tuned on the hold-out of the first split, without the fallback \
                     to MSP."
                        .into(),
                ],
            }],
            figures: vec![Figure {
                name: "influence".into(),
                caption: format!(
                    "The geometric mean over all rows of {what} ({}); ratios below a millionth \
                     are not shown",
                    about.zoo
                ),
                panels,
                columns,
                legend: Legend::Shared,
            }],
        }
    }
}

/// All logits in one panel, or the largest and the smallest apart.
fn panels(model: &ModelInfluence) -> Vec<Panel> {
    let classes = model.methods.first().map_or(0, |method| method.ratios.len());
    let part = |title: String, range: std::ops::Range<usize>, scale: Scale| Panel {
        title: Some(title),
        x: Axis::new("j, by descending logit"),
        y: Axis { scale, range: shown(model, &range, scale), ..Axis::new("Aⱼ / A₂") },
        layers: model.methods.iter().map(|method| line(method, range.clone())).collect(),
        ..Panel::default()
    };
    if classes < MANY_CLASSES {
        return vec![part(model.title.clone(), 1..classes, Scale::Log)];
    }
    let first = format!("{}: largest logits", model.title);
    let last = format!("{}: smallest logits", model.title);
    vec![part(first, 1..20, Scale::Linear), part(last, 20..classes, Scale::Log)]
}

/// The range of a logarithmic axis: nothing below a millionth of the largest.
fn shown(
    model: &ModelInfluence,
    range: &std::ops::Range<usize>,
    scale: Scale,
) -> Option<(f64, f64)> {
    let ratios =
        || model.methods.iter().filter_map(|method| method.ratios.get(range.clone())).flatten();
    let largest = ratios().copied().fold(f64::MIN_POSITIVE, f64::max);
    let smallest = ratios().copied().fold(f64::INFINITY, f64::min).max(1e-6 * largest);
    (scale == Scale::Log).then_some((smallest / 1.5, 1.5 * largest))
}

fn line(method: &MethodInfluence, range: std::ops::Range<usize>) -> Layer {
    let points: Vec<(f64, f64)> =
        range.filter_map(|index| Some(((index + 1) as f64, *method.ratios.get(index)?))).collect();
    let style =
        if points.len() > 30 { look(method.method).unmarked() } else { look(method.method) };
    Layer::Line { label: Some(method.method.to_string()), points, band: None, style }
}
