//! Fixed `p` against a tuned one.

use super::{ExponentLine, ExponentStudy, ExponentTable};
use crate::protocol::{MAX_LOGIT_PNORM, MSP_PNORM};
use crate::study::{About, Content, Present, band, headings, look, spread};
use abstain::Method;
use abstain::metric::Direction;
use abstain_lab::Spread;
use abstain_report::figure::{Axis, Dash, Figure, Layer, Legend, Panel, RuleAt, Style};
use abstain_report::sheet::Align;
use abstain_report::sheet::{Cell, Group, Heading, Sheet, mark_best};
use abstain_report::words;

type Gain = fn(&ExponentLine) -> Option<Spread>;

const METHODS: [(Method, Gain); 2] =
    [(MAX_LOGIT_PNORM, |line| line.max_logit), (MSP_PNORM, |line| line.msp)];

impl Present for ExponentStudy {
    const TITLE: &'static str = "Fixed p against a tuned one";
    const SUMMARY: &'static str = "fixed p against a tuned one";
    const PAPER: Option<&'static str> = Some("appendix");

    fn present(&self, about: &About) -> Content {
        let what = format!("Average positive gain in NAURC over MSP across the {}", about.models());
        let sheet = |table: &ExponentTable| {
            let row = |line: &ExponentLine| {
                let p = line.p.map_or("Tunable".into(), |p| words::short(p, 2));
                vec![Cell::text(p), spread(line.max_logit, 5), spread(line.msp, 5)]
            };
            let mut rows: Vec<Vec<Cell>> = table.lines.iter().map(row).collect();
            mark_best(rows.iter_mut().flat_map(|row| &mut row[1..]), Direction::Higher);
            Sheet {
                name: format!("exponent-{}", table.tuning_rows),
                caption: format!(
                    "{what} at fixed p and with p tuned on {} rows ({})",
                    words::count(table.tuning_rows),
                    about.gains()
                ),
                header: vec![
                    vec![Heading::new(""), Heading::over("Confidence estimator", 2)],
                    headings(["p", "MaxLogit-pNorm", "MSP-pNorm"]),
                ],
                align: vec![Align::Left],
                groups: vec![Group { label: None, rows }],
                notes: vec![
                    "p = 0 is centred only; the τ of MSP-pNorm is tuned at every p.".into(),
                ],
            }
        };
        Content {
            remarks: vec![],
            sheets: self.tables.iter().map(sheet).collect(),
            figures: vec![Figure {
                name: "exponent".into(),
                caption: format!(
                    "{what} at fixed p; horizontal lines: p tuned ({})",
                    about.gains()
                ),
                panels: self.tables.iter().map(panel).collect(),
                columns: self.tables.len().min(2),
                legend: Legend::Shared,
            }],
        }
    }
}

fn panel(table: &ExponentTable) -> Panel {
    let mut layers = Vec::new();
    for (method, gain) in METHODS {
        let fixed = table.lines.iter().filter_map(|line| Some((line.p?, gain(line))));
        layers.push(band(method.to_string(), &fixed.collect::<Vec<_>>(), look(method)));
        let tuned = table.lines.iter().find(|line| line.p.is_none()).and_then(gain);
        if let Some(tuned) = tuned {
            let style = Style { dash: Dash::Dashed, width: 0.9, ..look(method).unmarked() };
            let label = Some(format!("{method}, p tuned"));
            layers.push(Layer::Rule { label, at: RuleAt::Y(tuned.mean), style });
        }
    }
    Panel {
        title: Some(format!("{} tuning rows", words::count(table.tuning_rows))),
        x: Axis::new("p"),
        y: Axis::new("Average positive gain in NAURC"),
        layers,
        ..Panel::default()
    }
}
