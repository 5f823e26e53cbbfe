//! A zoo at a glance.

use super::{About, Shown, headings, p_star, p_value, percent, spread};
use crate::sheet::{Cell, Group, Heading, Sheet, Value, mark_best};
use crate::table::Align;
use crate::words;
use abstain::metric::Direction;
use abstain_lab::study::{Summary, SummaryLine};

/// A zoo at a glance.
pub fn summary(study: &Summary, about: &About) -> Shown {
    let used = about.used();
    let row = |own: &SummaryLine| {
        let mut cells = vec![Cell::text(&own.title), percent(own.accuracy, 2)];
        let mut naurc = [own.msp, own.max_logit_pnorm, own.stack].map(|value| spread(value, 4));
        if let Some(p) = own.p {
            let note = p_star(p);
            naurc[1].note = Some(if note == "F" { note } else { format!("p* = {note}") });
        }
        mark_best(&mut naurc, Direction::Lower);
        cells.extend(naurc);
        cells.push(own.p_corrected.map_or(Value::Missing.into(), p_value));
        cells.extend([percent(own.coverage.before, 1), percent(own.coverage.after, 1)]);
        cells
    };
    let target = words::target_percent(study.target);
    let kept = match study.delta {
        None => format!("Kept at {target} accuracy [%]"),
        Some(_) => format!("Certified at {target} accuracy [%]"),
    };
    Shown {
        name: "summary",
        title: "The zoo at a glance",
        remarks: vec![study_remark(study)],
        sheets: vec![
            Sheet {
                name: "models".into(),
                caption: format!(
                    "The {} ({}), methods as used in the end, {used}; p: of the \
                     difference between MaxLogit-pNorm and MSP on the test rows of the first split, after Holm's \
                     correction; kept: with MSP and after tuning with MaxLogit-pNorm",
                    about.models(),
                    about.protocol()
                ),
                header: vec![
                    vec![
                        Heading::over("", 2),
                        Heading::over("NAURC", 3),
                        Heading::new(""),
                        Heading::over(kept, 2),
                    ],
                    headings([
                        "Model",
                        "Accuracy [%]",
                        "MSP",
                        "MaxLogit-pNorm",
                        "Stack",
                        "p, Holm",
                        "MSP",
                        "after",
                    ]),
                ],
                align: vec![Align::Left],
                groups: vec![Group { label: None, rows: study.models.iter().map(row).collect() }],
                notes: vec![
                    "p*: the exponent that most splits chose; F: most splits fell back to MSP. p-values see the rows of \
                     one split, ± those of all."
                        .into(),
                ],
            },
            gains(study, about),
        ],
        figures: vec![],
    }
}

fn gains(study: &Summary, about: &About) -> Sheet {
    let row = |(method, gain): &(abstain::Method, Option<abstain_lab::Spread>)| {
        vec![Cell::text(method.to_string()), spread(*gain, 5)]
    };
    let mut rows: Vec<Vec<Cell>> = study.apg.iter().map(row).collect();
    mark_best(rows.iter_mut().map(|row| &mut row[1]), Direction::Higher);
    Sheet {
        name: "gains".into(),
        caption: format!(
            "Average positive gain in NAURC over MSP across the {}, best first ({})",
            about.models(),
            about.gains()
        ),
        header: vec![headings(["Method", "APG-NAURC"])],
        align: vec![Align::Left],
        groups: vec![Group { label: None, rows }],
        notes: vec![],
    }
}

fn study_remark(study: &Summary) -> String {
    format!(
        "MaxLogit-pNorm lowers NAURC by more than {} on {} of {} models; on the test rows of the first split it \
         is surely better than MSP on {} (p < 0.05 after Holm's correction).",
        words::short(study.epsilon, 4),
        study.improved,
        study.models.len(),
        study.surely_better
    )
}
