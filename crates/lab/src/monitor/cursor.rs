//! How much of the files of a stream was counted, and the file that holds it beside the stream's state.

use super::history::History;
use super::state::{Hash, Labelled, StreamState};
use crate::error::{LabError, SettingDiffers};
use abstain::Artifact;
use abstain::monitor::{Monitor, MonitorSettings};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How much of the files of a stream was counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileCursor {
    /// The file of records that was read last.
    pub file: Counted,
    /// Rows of files before that one.
    pub earlier: u64,
    /// The column of the groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Where the file that was read last is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Files before that one, in which the rows of late labels are looked up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<EarlierFile>,
}

/// The most files before the one that was read last that are remembered.
const EARLIER_FILES: usize = 400;

/// A file that was counted before the one that was read last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EarlierFile {
    /// Where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// How to recognise it.
    pub counted: Counted,
    /// The number of its first row in the stream.
    pub from: u64,
}

impl FileCursor {
    /// Another file follows.
    fn next(&mut self) {
        if self.before.len() >= EARLIER_FILES {
            self.before.remove(0);
        }
        let (path, counted, from) = (self.path.take(), self.file, self.earlier);
        self.before.push(EarlierFile { path, counted, from });
        self.earlier += self.file.rows;
    }
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

/// A file that is read from its beginning, up to what is new.
pub(super) struct Reading {
    /// What was counted before.
    pub before: Counted,
    /// What was read so far.
    pub read: Counted,
    /// Whether rows are those that were counted before.
    known: bool,
    next_file: bool,
}

/// A file that does not begin with what was counted.
pub(super) struct Replaced;

impl Reading {
    /// `next_file`: whether the file may follow the one that was counted, instead of beginning with it.
    pub(super) fn new(cursor: &FileCursor, next_file: bool) -> Self {
        let (before, read) = (cursor.file, Counted::default());
        Reading { before, read, known: before.rows > 0, next_file }
    }

    /// Reads one more row, and says whether it is new.
    pub(super) fn advance(
        &mut self,
        cursor: &mut FileCursor,
        id: Option<&str>,
        confidence: f64,
    ) -> Result<bool, Replaced> {
        self.read.add(id, confidence);
        if self.read.rows == 1 && self.known && self.read.first != self.before.first {
            if !self.next_file {
                return Err(Replaced);
            }
            self.known = false;
            cursor.next();
        }
        if !self.known || self.read.rows > self.before.rows {
            return Ok(true);
        }
        if self.read.rows == self.before.rows && self.read != self.before {
            return Err(Replaced);
        }
        Ok(false)
    }

    /// Refuses a file that ended before all that was counted.
    pub(super) fn finish(&self) -> Result<(), Replaced> {
        if self.known && self.read.rows < self.before.rows { Err(Replaced) } else { Ok(()) }
    }
}

/// What is stored between two calls that read files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchState {
    format: Tag,
    version: u32,
    /// The program and version that began it.
    pub written_by: String,
    /// How much of the files was counted.
    pub cursor: FileCursor,
    /// What is known of the stream.
    pub stream: StreamState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Tag {
    #[serde(rename = "abstain-watch")]
    Watch,
}

/// Version 1, in which the cursor and the stream were one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version1 {
    format: Tag,
    #[serde(rename = "version")]
    _version: u32,
    written_by: String,
    artifact: String,
    file: Counted,
    earlier: u64,
    #[serde(default)]
    group: Option<String>,
    labelled: Labelled,
    #[serde(default)]
    last_time: Option<String>,
    monitor: Monitor,
    history: History,
}

impl From<Version1> for WatchState {
    fn from(stored: Version1) -> Self {
        let Version1 { format, written_by, artifact, file, earlier, group, .. } = stored;
        let Version1 { labelled, last_time, monitor, history, .. } = stored;
        WatchState {
            format,
            version: WatchState::VERSION,
            written_by,
            cursor: FileCursor { file, earlier, group, ..FileCursor::default() },
            stream: StreamState::of_parts(artifact, labelled, last_time, monitor, history),
        }
    }
}

impl WatchState {
    /// The version of the state.
    pub const VERSION: u32 = 2;

    /// A stream of which nothing was seen yet.
    pub fn new(artifact: &Artifact, settings: &MonitorSettings) -> Result<Self, LabError> {
        Ok(WatchState {
            format: Tag::Watch,
            version: Self::VERSION,
            written_by: concat!("abstain ", env!("CARGO_PKG_VERSION")).to_string(),
            cursor: FileCursor::default(),
            stream: StreamState::new(artifact, settings)?.with_history(),
        })
    }

    /// Refuses a state of another artifact or other settings.
    pub(super) fn check(
        &self,
        artifact: &Artifact,
        settings: &MonitorSettings,
        group: Option<&String>,
    ) -> Result<(), LabError> {
        self.stream.check_artifact(artifact)?;
        let begun = self.cursor.file.rows > 0;
        let stored = self.stream.monitor().settings();
        let differs = |name, stored: Option<String>, now: Option<String>| {
            (stored != now).then_some(SettingDiffers { name, stored, now })
        };
        let number = |name, stored: f64, now: f64| {
            differs(name, Some(stored.to_string()), Some(now.to_string()))
        };
        let text = |value: Option<f64>| value.map(|value| value.to_string());
        let flag = |value: bool| Some(value.to_string());
        let group = differs("group", self.cursor.group.clone(), group.cloned());
        let mut found: Vec<SettingDiffers> = [
            differs("target_risk", text(stored.target_risk), text(settings.target_risk)),
            number("alpha", stored.alpha, settings.alpha),
            number("delta", stored.delta, settings.delta),
            number("max_loss", stored.max_loss, settings.max_loss),
            differs(
                "abstained_labelled",
                flag(stored.abstained_labelled),
                flag(settings.abstained_labelled),
            ),
            group.filter(|_| begun),
        ]
        .into_iter()
        .flatten()
        .collect();
        if found.is_empty() && stored != settings {
            let others = |settings: &MonitorSettings| {
                Some(format!("{}, {}, {}", settings.parts, settings.groups, settings.seed))
            };
            found.extend(differs("parts, groups or seed", others(stored), others(settings)));
        }
        if found.is_empty() { Ok(()) } else { Err(LabError::OtherSettingsWatched(found)) }
    }
}

/// Where a state is stored, as text.
pub fn state_to_json(state: &WatchState) -> Result<String, LabError> {
    serde_json::to_string(state).map_err(|error| LabError::State { problem: error.to_string() })
}

/// Reads a state, of this version or of one before.
pub fn state_from_json(text: &str) -> Result<WatchState, LabError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "format")]
        _format: Tag,
        version: u32,
    }
    let read = || -> Result<Result<WatchState, u32>, serde_json::Error> {
        Ok(match serde_json::from_str::<Head>(text)?.version {
            1 => Ok(serde_json::from_str::<Version1>(text)?.into()),
            WatchState::VERSION => Ok(serde_json::from_str(text)?),
            found => Err(found),
        })
    };
    let read = read().map_err(|error| LabError::State { problem: error.to_string() })?;
    read.map_err(|found| LabError::StateVersion { found })
}
