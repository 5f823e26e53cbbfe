//! How much the j-th logit weighs.

use super::{About, Shown, headings, look};
use crate::figure::{Axis, Figure, Layer, Legend, Panel, Scale};
use crate::sheet::{Cell, Group, Sheet};
use crate::table::Align;
use crate::words;
use abstain_lab::study::{InfluenceStudy, ModelInfluence, WeighedMethod};

/// From so many classes on the largest and the smallest logits have panels of their own.
const MANY_CLASSES: usize = 50;

/// How much the j-th logit weighs.
pub fn influence(study: &InfluenceStudy, about: &About) -> Shown {
    let from = study.small_from;
    let row = |own: &WeighedMethod| {
        let ratio = |j: usize| super::number(own.ratios.get(j - 1).copied(), 4);
        let method = own.method.to_string();
        let number = words::short(own.parameter, 3);
        vec![Cell::text(method), Cell::text(number), ratio(1), ratio(3), Cell::number(own.small, 4)]
    };
    let group = |own: &ModelInfluence| Group {
        label: Some(own.title.clone()),
        rows: own.methods.iter().map(row).collect(),
    };
    let header = ["Classifier", "Method", "T or p", "A_1 / A_2", "A_3 / A_2"].map(String::from);
    let last = format!("sum of A_j / A_2, j ≥ {from}");
    let panels: Vec<Panel> = study.models.iter().flat_map(panels).collect();
    let columns = super::columns(panels.len());
    let what = "A_j / A_2, where A_j is exp(z_j / T) for MSP and MSP-TS and |z_j − μ|^p for \
                MaxLogit-pNorm, with the logits in descending order";
    Shown {
        name: "influence",
        title: "How much the j-th logit weighs",
        remarks: vec![],
        sheets: vec![Sheet {
            name: "influence".into(),
            caption: format!(
                "Geometric mean of {what}, over all rows of chosen models ({})",
                about.zoo
            ),
            header: vec![headings(header.into_iter().chain([last]))],
            align: vec![Align::Left, Align::Left],
            groups: study.models.iter().map(group).collect(),
            notes: vec![
                "T and p are those of the first split's hold-out, given up for MSP or not.".into(),
            ],
        }],
        figures: vec![Figure {
            name: "influence".into(),
            caption: format!(
                "The geometric mean over all rows of {what} ({}); what is below a millionth is not shown",
                about.zoo
            ),
            panels,
            columns,
            legend: Legend::Shared,
        }],
    }
}

/// All logits in one panel, or the largest and the smallest apart.
fn panels(own: &ModelInfluence) -> Vec<Panel> {
    let classes = own.methods.first().map_or(0, |method| method.ratios.len());
    let part = |title: String, range: std::ops::Range<usize>, scale: Scale| Panel {
        title: Some(title),
        x: Axis::new("j, by descending logit"),
        y: Axis { scale, range: shown(own, &range, scale), ..Axis::new("Aⱼ / A₂") },
        layers: own.methods.iter().map(|method| line(method, range.clone())).collect(),
        ..Panel::default()
    };
    if classes < MANY_CLASSES {
        return vec![part(own.title.clone(), 1..classes, Scale::Log)];
    }
    let first = format!("{}: largest logits", own.title);
    let last = format!("{}: smallest logits", own.title);
    vec![part(first, 1..20, Scale::Linear), part(last, 20..classes, Scale::Log)]
}

/// On a logarithmic axis nothing below a millionth of the largest: that is as good as nothing.
fn shown(own: &ModelInfluence, range: &std::ops::Range<usize>, scale: Scale) -> Option<(f64, f64)> {
    let ratios = || own.methods.iter().filter_map(|own| own.ratios.get(range.clone())).flatten();
    let largest = ratios().copied().fold(f64::MIN_POSITIVE, f64::max);
    let smallest = ratios().copied().fold(f64::INFINITY, f64::min).max(1e-6 * largest);
    (scale == Scale::Log).then_some((smallest / 1.5, 1.5 * largest))
}

fn line(own: &WeighedMethod, range: std::ops::Range<usize>) -> Layer {
    let points: Vec<(f64, f64)> =
        range.filter_map(|index| Some(((index + 1) as f64, *own.ratios.get(index)?))).collect();
    let style = if points.len() > 30 { look(own.method).unmarked() } else { look(own.method) };
    Layer::Line { label: Some(own.method.to_string()), points, band: None, style }
}
