//! What is stored between two calls.

use super::history::History;
use crate::error::LabError;
use abstain::Artifact;
use abstain::monitor::{Monitor, MonitorSettings};
use abstain_io::hash_of;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::fmt::Write;

/// A stream that is watched: its monitor, how it went, and what of its files was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchState {
    format: Tag,
    version: u32,
    /// The program and version that wrote it.
    pub written_by: String,
    /// The SHA-256 of the artifact.
    pub artifact: String,
    /// The file of records that was read last.
    pub file: Counted,
    /// Rows of files before that one.
    pub earlier: u64,
    /// The column of the groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The identifiers whose labels were counted.
    pub labelled: Labelled,
    /// The time of the last record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_time: Option<String>,
    /// The monitor.
    pub monitor: Monitor,
    /// How the stream went.
    pub history: History,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Tag {
    #[serde(rename = "abstain-watch")]
    Watch,
}

/// How much of a file was counted, and how to recognise it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Its rows.
    pub rows: u64,
    /// A hash of them.
    pub hash: Hash,
    /// A hash of the first of them.
    pub first: Hash,
}

impl Counted {
    /// Counts one more row.
    pub(super) fn add(&mut self, id: Option<&str>, confidence: f64) {
        self.hash.add(&confidence.to_bits().to_le_bytes());
        self.hash.add(id.unwrap_or_default().as_bytes());
        self.hash.add(&[0xff]);
        self.rows += 1;
        if self.rows == 1 {
            self.first = self.hash;
        }
    }
}

/// A hash of bytes that come one after the other (FNV-1a): its value is all that has to be stored to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut hash = Hash::default();
        hash.add(text.as_bytes());
        hash
    }
}

impl Hash {
    /// Its bits.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        format!("{:016x}", self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Hash).map_err(serde::de::Error::custom)
    }
}

/// The identifiers whose labels were counted, and what the labels were: hashes of both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labelled(HashMap<u64, u64>);

impl Labelled {
    /// The hash of the label of an identifier, if it was counted.
    pub(super) fn get(&self, id: &str) -> Option<Hash> {
        self.0.get(&Hash::of(id).0).copied().map(Hash)
    }

    pub(super) fn insert(&mut self, id: &str, label: Hash) {
        self.0.insert(Hash::of(id).0, label.0);
    }
}

impl Serialize for Labelled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pairs: Vec<_> = self.0.iter().collect();
        pairs.sort_unstable();
        let mut text = String::with_capacity(32 * pairs.len());
        for (id, label) in pairs {
            let _ = write!(text, "{id:016x}{label:016x}");
        }
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Labelled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !text.is_ascii() || text.len() % 32 != 0 {
            return Err(serde::de::Error::custom("labels whose number of digits is not whole"));
        }
        let number =
            |digits: &str| u64::from_str_radix(digits, 16).map_err(serde::de::Error::custom);
        let pairs = (0..text.len())
            .step_by(32)
            .map(|at| Ok((number(&text[at..at + 16])?, number(&text[at + 16..at + 32])?)));
        pairs.collect::<Result<_, _>>().map(Labelled)
    }
}

impl WatchState {
    /// The version of the state.
    pub const VERSION: u32 = 1;

    /// A stream of which nothing was seen yet.
    pub fn new(artifact: &Artifact, settings: &MonitorSettings) -> Result<Self, LabError> {
        Ok(WatchState {
            format: Tag::Watch,
            version: Self::VERSION,
            written_by: concat!("abstain ", env!("CARGO_PKG_VERSION")).to_string(),
            artifact: fingerprint(artifact),
            file: Counted::default(),
            earlier: 0,
            group: None,
            labelled: Labelled::default(),
            last_time: None,
            monitor: Monitor::new(artifact, settings)?,
            history: History::default(),
        })
    }

    /// Refuses a state of another artifact, other settings or another version.
    pub(super) fn check(
        &self,
        artifact: &Artifact,
        settings: &MonitorSettings,
        group: Option<&String>,
    ) -> Result<(), LabError> {
        if self.version != Self::VERSION {
            return Err(LabError::StateVersion { found: self.version });
        }
        if self.artifact != fingerprint(artifact) {
            return Err(LabError::OtherArtifactWatched);
        }
        let begun = self.file.rows > 0;
        if self.monitor.settings() != settings || (begun && self.group.as_ref() != group) {
            return Err(LabError::OtherSettingsWatched);
        }
        Ok(())
    }
}

/// The SHA-256 of what decides which rows are accepted and what is promised of them.
fn fingerprint(artifact: &Artifact) -> String {
    // The threshold alone, as in the first version of artifacts: monitors have no other rules.
    let decisive =
        (&artifact.estimator, artifact.threshold(), &artifact.input, &artifact.reference);
    hash_of(serde_json::to_string(&decisive).unwrap_or_default().as_bytes())
}
