//! `abstain list`: the registries of the library as tables.

use crate::list::Part::{Families, Metrics, Scores, Transforms};
use abstain::metric::Direction;
use abstain::stack::Stack;
use abstain::{Family, Method, MetricKind, Score, TransformKind};
use anyhow::Result;
use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use std::io::Write;

#[derive(clap::Args)]
#[command(after_help = "Example: abstain list metrics")]
pub(crate) struct Arguments {
    /// Only one of the lists
    part: Option<Part>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Scores,
    Transforms,
    Families,
    Metrics,
}

impl Part {
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
            Metrics => MetricKind::ALL.iter().map(|&kind| Item::metric(kind)).collect(),
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

    fn cells(&self) -> Vec<String> {
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
        vec![self.name.to_string(), self.summary.to_string(), notes.join("; ")]
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let parts: Vec<Part> = match arguments.part {
        Some(part) => vec![part],
        None => Part::value_variants().to_vec(),
    };
    if arguments.json {
        let lists: serde_json::Map<String, serde_json::Value> = parts
            .iter()
            .map(|&part| {
                let key = part.to_possible_value().map_or(String::new(), |v| v.get_name().into());
                Ok((key, serde_json::to_value(part.items())?))
            })
            .collect::<Result<_>>()?;
        writeln!(out, "{}", serde_json::to_string_pretty(&lists)?)?;
        return Ok(());
    }
    for (index, part) in parts.iter().enumerate() {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.add_rows(part.items().iter().map(Item::cells));
        let gap = if index == 0 { "" } else { "\n" };
        writeln!(out, "{gap}{}", part.title())?;
        for line in table.lines() {
            writeln!(out, " {}", line.trim_end())?;
        }
    }
    Ok(())
}
