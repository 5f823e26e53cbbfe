//! The manifest of a zoo: `zoo.toml`.

use abstain::Encoding;
use serde::{Deserialize, Serialize};

/// The name of a manifest in its folder.
pub(super) const NAME: &str = "zoo.toml";

/// A zoo as its file says it; paths are relative to the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) title: Option<String>,
    pub(super) labels: String,
    #[serde(default)]
    pub(super) kind: Kind,
    #[serde(default, rename = "model")]
    pub(super) models: Vec<ModelEntry>,
    #[serde(default, rename = "set")]
    pub(super) sets: Vec<SetEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) logits: String,
    pub(super) kind: Option<Kind>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetEntry {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) group: Option<String>,
    pub(super) severity: Option<u32>,
    pub(super) aligned: bool,
    pub(super) labels: Option<String>,
    /// With `{model}` in it.
    pub(super) logits: String,
    pub(super) models: Option<Vec<String>>,
}

/// What the numbers of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Logits.
    #[default]
    Logits,
    /// Logits in which `-inf` marks classes that were ruled out.
    Masked,
    /// Probabilities; zeros count as the smallest other one of the file.
    Probabilities,
}

impl Kind {
    pub(super) fn encoding(self) -> Encoding {
        match self {
            Kind::Logits => Encoding::Logits,
            Kind::Masked => Encoding::Masked,
            Kind::Probabilities => Encoding::Probabilities { floor: None, tolerance: None },
        }
    }
}
