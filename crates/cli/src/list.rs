//! `abstain list`: the registries of the library as tables.

use crate::list::List::{Families, Metrics, Scores, Transforms};
use abstain::family::stack::Stack;
use abstain::metric::Direction;
use abstain::{Method, Score, family::Family, method::TransformKind, metric::MetricKind};
use abstain_lab::Measure;
use abstain_report::sheet::{Align, Cell, Group, Heading, Sheet};
use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use std::io::Write;

#[derive(clap::Args)]
#[command(after_help = "Example: abstain list metrics")]
pub(crate) struct Arguments {
    /// Only one of the lists
    list: Option<List>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum List {
    Scores,
    Transforms,
    Families,
    Metrics,
}

impl List {
    fn title(self) -> &'static str {
        match self {
            Scores => "Scores: a closed formula of the logits; higher is surer",
            Transforms => "Transforms: a suffix to a score, as in MaxLogit-pNorm",
            Families => "Families: methods of other papers, with parameters",
            Metrics => "Metrics: how well a confidence ranks right above wrong",
        }
    }

    fn items(self) -> Vec<Item> {
        match self {
            Scores => Score::ALL.iter().map(|&score| Item::score(score)).collect(),
            Transforms => TransformKind::ALL
                .iter()
                .filter(|entry| !entry.1.is_empty())
                .map(|&(kind, suffix, summary)| {
                    // MSP takes every parameter that a transform has.
                    let parameters = Method::new(Score::Msp, kind).map(Method::parameters);
                    Item::new(suffix, summary).with_parameters(parameters.unwrap_or_default())
                })
                .collect(),
            Families => Family::ALL
                .iter()
                .map(|&family| Item::family(family))
                .chain([
                    Item::new(Stack::NAME, Stack::SUMMARY),
                    Item::new(Stack::LABEL_FREE, Stack::LABEL_FREE_SUMMARY),
                ])
                .collect(),
            Metrics => {
                let of_curves = MetricKind::ALL.iter().map(|&kind| Item::metric(kind));
                of_curves.chain(Measure::OTHERS.map(Item::other_metric)).collect()
            }
        }
    }
}

/// A line of a list.
#[derive(Serialize)]
struct Item {
    name: &'static str,
    summary: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    better: Option<&'static str>,
}

impl Item {
    fn new(name: &'static str, summary: &'static str) -> Self {
        Item { name, summary, parameters: Vec::new(), aliases: Vec::new(), better: None }
    }

    fn with_parameters(mut self, parameters: &[&'static str]) -> Self {
        self.parameters = parameters.to_vec();
        self
    }

    fn score(score: Score) -> Self {
        let aliases = score.info().aliases.to_vec();
        Item { aliases, ..Item::new(score.name(), score.summary()) }
    }

    fn family(family: Family) -> Self {
        Item::new(family.name(), family.summary()).with_parameters(family.parameters())
    }

    fn metric(kind: MetricKind) -> Self {
        let info = kind.info();
        let better = match info.better {
            Direction::Lower => "lower",
            Direction::Higher => "higher",
        };
        let parameters = info.parameters.iter().map(|parameter| parameter.name).collect();
        Item { parameters, better: Some(better), ..Item::new(info.name, kind.summary()) }
    }

    fn other_metric((name, summary, _): (&'static str, &'static str, Measure)) -> Self {
        Item { better: Some("lower"), ..Item::new(name, summary) }
    }

    fn cells(&self) -> Vec<Cell> {
        let mut notes = Vec::new();
        if !self.parameters.is_empty() {
            notes.push(format!("takes {}", self.parameters.join(", ")));
        }
        if let Some(better) = self.better {
            notes.push(format!("{better} is better"));
        }
        if !self.aliases.is_empty() {
            notes.push(format!("also {}", self.aliases.join(", ")));
        }
        vec![Cell::text(self.name), Cell::text(self.summary), Cell::text(notes.join("; "))]
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let lists: Vec<List> = match arguments.list {
        Some(list) => vec![list],
        None => List::value_variants().to_vec(),
    };
    if arguments.json {
        let lists: serde_json::Map<String, serde_json::Value> = lists
            .iter()
            .map(|&list| {
                let key = list.to_possible_value().map_or(String::new(), |v| v.get_name().into());
                Ok((key, serde_json::to_value(list.items())?))
            })
            .collect::<Result<_>>()?;
        writeln!(out, "{}", serde_json::to_string_pretty(&lists)?)?;
        return Ok(());
    }
    for (index, list) in lists.iter().enumerate() {
        let sheet = Sheet {
            caption: list.title().into(),
            header: vec![["name", "meaning", "notes"].map(Heading::new).to_vec()],
            align: vec![Align::Left; 3],
            groups: vec![Group {
                label: None,
                rows: list.items().iter().map(Item::cells).collect(),
            }],
            ..Sheet::default()
        };
        let gap = if index == 0 { "" } else { "\n" };
        write!(out, "{gap}{}", sheet.terminal(None, true))?;
    }
    Ok(())
}
