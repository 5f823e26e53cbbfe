//! An overview of a zoo.

use super::{Summary, SummaryLine};
use crate::study::MethodGain;
use crate::study::{About, Content, Present, headings, p_star_note, p_value, percent, spread};
use abstain::metric::Direction;
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, Value, mark_best};
use abstain_report::words;

impl Present for Summary {
    const TITLE: &'static str = "Overview of the zoo";
    const SUMMARY: &'static str =
        "every model in a line, and the average positive gain of every method";
    const PAPER: Option<&'static str> = None;

    fn present(&self, about: &About) -> Content {
        let used = about.used();
        let row = |line: &SummaryLine| {
            let mut cells = vec![Cell::text(&line.title), percent(line.accuracy, 2)];
            let mut naurc =
                [line.msp, line.max_logit_pnorm, line.stack].map(|value| spread(value, 4));
            mark_best(&mut naurc, Direction::Lower);
            let [msp, mut max_logit_pnorm, stack] = naurc;
            max_logit_pnorm.note = line.p.map(p_star_note);
            cells.extend([msp, max_logit_pnorm, stack]);
            cells.push(line.p_corrected.map_or(Value::Missing.into(), p_value));
            cells.extend([percent(line.coverage.before, 1), percent(line.coverage.after, 1)]);
            cells
        };
        let target = words::target_percent(self.target);
        let coverage = match self.delta {
            None => format!("Coverage at {target} accuracy [%]"),
            Some(_) => format!("Certified coverage at {target} accuracy [%]"),
        };
        Content {
            remarks: remarks(self),
            sheets: vec![
                Sheet {
                    name: "models".into(),
                    caption: format!(
                        "The {} ({}; {used}). p: of the difference between MaxLogit-pNorm and \
                         MSP on the test rows of the first split, after Holm's correction. \
                         Coverage: with MSP and after tuning with MaxLogit-pNorm",
                        about.models(),
                        about.protocol()
                    ),
                    header: vec![
                        vec![
                            Heading::over("", 2),
                            Heading::over("NAURC", 3),
                            Heading::new(""),
                            Heading::over(coverage, 2),
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
                    groups: vec![Group {
                        label: None,
                        rows: self.models.iter().map(row).collect(),
                    }],
                    notes: vec![
                    "p*: the exponent that most splits chose; F: most splits fell back to MSP. A \
                         p-value is from one split, ± is over all splits."
                        .into(),
                ],
                },
                gains(self, about),
            ],
            figures: vec![],
        }
    }
}

fn gains(study: &Summary, about: &About) -> Sheet {
    let row = |gain: &MethodGain| vec![Cell::text(gain.method.to_string()), spread(gain.apg, 5)];
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

fn remarks(study: &Summary) -> Vec<String> {
    let remark = |method: &str, improved: usize, surely_better: usize| {
        format!(
            "{method} lowers NAURC by more than {} on {improved} of {} models. On the test rows of \
             the first split it is significantly better than MSP on {surely_better} (p < 0.05 after \
             Holm's correction).",
            words::short(study.epsilon, 4),
            study.models.len(),
        )
    };
    vec![
        remark("MaxLogit-pNorm", study.improved, study.surely_better),
        remark("The stack", study.stack.improved, study.stack.surely_better),
    ]
}
