//! Every model of a zoo through the protocol. Finished work is stored in records.
//!
//! A pass over the rows of a model yields their fingerprint together with everything else that is
//! needed of them. So a file is read once in a fresh run, and once more if a closer look at its model
//! is taken. Where a record with the same settings exists, the fingerprint must be known before the
//! record can be trusted: that takes one pass, and another only if the rows have changed.

use super::records::{Record, Records};
use super::{Closeup, MeasuredPart, MethodsResult, ShiftResult, Shifted};
use crate::PaperError;
use crate::protocol::{self, HoldoutResult, MAX_LOGIT_PNORM, Protocol};
use abstain::{
    Method, RowSource,
    internal::{Profiles, Weighing},
    stop,
};
use abstain_io::zoo::{FurtherSet, Member, Model, Zoo};
use abstain_io::{FileRows, hash_of};
use abstain_lab::{Collected, Select, Split, Spread, Wanted, collect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;

/// The format of records: raising it invalidates all records. It is raised where the layout changes, or
/// what a method of the same name computes.
const FORMAT: u32 = 7;

/// A zoo, and how to measure it.
#[derive(Debug, Clone)]
pub struct Runner<'a> {
    zoo: &'a Zoo,
    protocol: &'a Protocol,
    splits: Vec<Split>,
    records: Records,
}

/// What was measured on a zoo.
#[derive(Debug, Clone)]
pub struct ZooResults {
    /// Every model.
    pub models: Vec<ModelResults>,
    /// The names of the models that are shown individually.
    pub chosen: Vec<String>,
}

/// A model and what was measured on it.
#[derive(Debug, Clone)]
pub struct ModelResults {
    /// The model.
    pub model: Model,
    /// The SHA-256 of its rows and labels.
    pub fingerprint: String,
    /// All methods on all splits.
    pub methods: MethodsResult,
    /// The methods of [`protocol::centring_methods`], if they were requested.
    pub centring: Option<Vec<HoldoutResult>>,
    /// Further sets, if they were requested.
    pub shift: Option<ShiftResult>,
    /// A closer look, if it was requested and the model was chosen.
    pub closeup: Option<Closeup>,
}

/// The progress of the measurements.
#[derive(Debug, Clone, Copy)]
pub struct ModelStep<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its index, from 0.
    pub index: usize,
    /// The number of models to go through.
    pub models: usize,
    /// What is being done with it.
    pub activity: Activity<'a>,
    /// The share of that which is done, from 0 to 1.
    pub share: f64,
}

/// What is being done with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity<'a> {
    /// A pass over the rows of this file begins.
    Reading(&'a Path),
    /// A part is being measured.
    Measuring(MeasuredPart),
}

/// Steps of the progress that a model takes.
const STEPS_A_MODEL: usize = 1000;

impl ModelStep<'_> {
    /// How many steps are done, of how many.
    pub fn done(&self) -> (usize, usize) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a step")]
        let done = (self.share.clamp(0.0, 1.0) * STEPS_A_MODEL as f64) as usize;
        (self.index * STEPS_A_MODEL + done, self.models * STEPS_A_MODEL)
    }
}

impl fmt::Display for ModelStep<'_> {
    /// "model 3 of 14, resnet50: tuning".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.activity {
            Activity::Reading(_) => "reading",
            Activity::Measuring(MeasuredPart::Methods) => "tuning",
            Activity::Measuring(MeasuredPart::Centring) => "centring",
            Activity::Measuring(MeasuredPart::Shift) => "on further sets",
            Activity::Measuring(MeasuredPart::Closeup) => "a closer look",
        };
        write!(f, "model {} of {}, {}: {what}", self.index + 1, self.models, self.model.name)
    }
}

/// What records hold of a model, and the fingerprint of its rows if it was needed to tell.
#[derive(Default)]
struct Stored {
    methods: Option<MethodsResult>,
    centring: Option<Vec<HoldoutResult>>,
    fingerprint: Option<String>,
}

/// Where the work on a model reports its progress.
type OnProgress<'a> = &'a mut dyn FnMut(Activity<'_>, f64);

impl ModelResults {
    /// The results with the full hold-outs.
    pub fn full(&self) -> &HoldoutResult {
        &self.methods.holdouts[0]
    }

    /// The gain of MaxLogit-pNorm in NAURC over MSP, over the splits.
    pub fn gain(&self) -> Option<Spread> {
        Spread::of_all(self.full().splits.iter().map(|split| split.gain(MAX_LOGIT_PNORM)))
    }
}

impl<'a> Runner<'a> {
    /// A runner that stores records in a folder, if there is one.
    pub fn new(
        zoo: &'a Zoo,
        protocol: &'a Protocol,
        folder: Option<&Path>,
    ) -> Result<Self, PaperError> {
        let splits = protocol.splits(zoo.rows()).ok_or(PaperError::TooFewRows)?;
        Ok(Runner { zoo, protocol, splits, records: Records::new(folder) })
    }

    /// Measures all models: all methods, and the requested parts. A closer look is taken at the
    /// models to show; by default those with the largest, the median and the smallest gain.
    pub fn run(
        &self,
        parts: &[MeasuredPart],
        show: &[String],
        on_progress: &mut dyn FnMut(ModelStep<'_>),
    ) -> Result<ZooResults, PaperError> {
        let count = self.zoo.models.len();
        let mut models = Vec::with_capacity(count);
        for (index, model) in self.zoo.models.iter().enumerate() {
            let mut on_progress = |activity: Activity<'_>, share: f64| {
                on_progress(ModelStep { model, index, models: count, activity, share });
            };
            models.push(self.model(model, parts, &mut on_progress)?);
        }
        let chosen = if show.is_empty() { representative(&models) } else { distinct(show) };
        if parts.contains(&MeasuredPart::Closeup) {
            let all = models.iter_mut().filter(|results| chosen.contains(&results.model.name));
            for (index, results) in all.enumerate() {
                let (model, models) = (&results.model, chosen.len());
                let mut on_progress = |activity: Activity<'_>, share: f64| {
                    on_progress(ModelStep { model, index, models, activity, share });
                };
                results.closeup = Some(self.closeup(results, &mut on_progress)?);
            }
        }
        Ok(ZooResults { models, chosen })
    }

    fn model(
        &self,
        model: &Model,
        parts: &[MeasuredPart],
        on_progress: OnProgress<'_>,
    ) -> Result<ModelResults, PaperError> {
        let mut source = open(&self.zoo.member(model), 0.0, on_progress)?;
        let wants_centring = parts.contains(&MeasuredPart::Centring);
        let stored = self.stored(model, &mut source, wants_centring, on_progress)?;
        let missing_centring = wants_centring && stored.centring.is_none();
        let mut missing = Vec::new();
        if stored.methods.is_none() {
            missing.extend(protocol::methods());
        }
        if missing_centring {
            missing.extend(protocol::centring_methods());
        }
        let (profiles, fingerprint) =
            self.profiles(&mut source, &missing, stored.fingerprint, on_progress)?;
        let rows = [fingerprint.clone()];
        let methods = if let Some(methods) = stored.methods {
            methods
        } else {
            let methods = self.methods(&profiles, on_progress)?;
            self.store(model, MeasuredPart::Methods, &rows, methods)?
        };
        let centring = if missing_centring {
            on_progress(Activity::Measuring(MeasuredPart::Centring), 0.0);
            let centring = super::centring(&profiles, self.protocol, &self.splits)?;
            Some(self.store(model, MeasuredPart::Centring, &rows, centring)?)
        } else {
            stored.centring
        };
        drop(profiles);
        let shift = parts
            .contains(&MeasuredPart::Shift)
            .then(|| self.shift(model, &fingerprint, &methods, on_progress))
            .transpose()?;
        // With the floor that was found: a closer look need not search for it.
        let model = Model { encoding: source.encoding(), ..model.clone() };
        Ok(ModelResults { model, fingerprint, methods, centring, shift, closeup: None })
    }

    /// The records of a model that were made from its rows.
    fn stored(
        &self,
        model: &Model,
        source: &mut FileRows<'_>,
        wants_centring: bool,
        on_progress: OnProgress<'_>,
    ) -> Result<Stored, PaperError> {
        let methods: Option<Record<MethodsResult>> = self.load(model, MeasuredPart::Methods);
        let centring: Option<Record<Vec<HoldoutResult>>> =
            wants_centring.then(|| self.load(model, MeasuredPart::Centring)).flatten();
        if methods.is_none() && centring.is_none() {
            return Ok(Stored::default());
        }
        let (fingerprint, _) = pass(source, 0.0, on_progress, &Wanted::default())?;
        let (rows, splits) = ([fingerprint.clone()], self.splits.len());
        Ok(Stored {
            methods: methods
                .and_then(|record| record.made_from(&rows))
                .filter(|methods| methods.is_whole(splits)),
            centring: centring
                .and_then(|record| record.made_from(&rows))
                .filter(|sizes| sizes.iter().all(|holdout| holdout.splits.len() == splits)),
            fingerprint: Some(fingerprint),
        })
    }

    /// The profiles for some methods, and the fingerprint of the rows. Without methods, no row is
    /// read if the fingerprint is known.
    fn profiles(
        &self,
        source: &mut FileRows<'_>,
        methods: &[Method],
        known: Option<String>,
        on_progress: OnProgress<'_>,
    ) -> Result<(Profiles, String), PaperError> {
        let plan = self.protocol.tuner.plan(methods);
        match known {
            Some(known) if methods.is_empty() => {
                Ok((Profiles::empty(self.zoo.classes, &plan), known))
            }
            known => {
                let profiles = Some((&plan, Select::All));
                let wanted = Wanted { profiles, ..Wanted::default() };
                let (found, collected) = pass(source, 0.0, on_progress, &wanted)?;
                check_unchanged(source, known.as_ref(), &found)?;
                Ok((collected.profiles.ok_or(abstain::Error::NoRows)?, found))
            }
        }
    }

    fn methods(
        &self,
        profiles: &Profiles,
        on_progress: OnProgress<'_>,
    ) -> Result<MethodsResult, PaperError> {
        let all = (self.splits.len() * self.protocol.sizes(profiles.rows()).len()) as f64;
        let mut on_step = |done: usize| {
            on_progress(Activity::Measuring(MeasuredPart::Methods), done as f64 / all);
        };
        Ok(super::methods(profiles, self.protocol, &self.splits, &mut on_step)?)
    }

    /// Measures a model on the further sets that it has.
    fn shift(
        &self,
        model: &Model,
        fingerprint: &str,
        methods: &MethodsResult,
        on_progress: OnProgress<'_>,
    ) -> Result<ShiftResult, PaperError> {
        let sets = self.zoo.sets.iter().filter_map(|set| Some((set, set.member(model)?)));
        let sets: Vec<(&FurtherSet, Member<'_>)> = sets.collect();
        let share = |done: usize| done as f64 / sets.len().max(1) as f64;
        if let Some(record) = self.load::<ShiftResult>(model, MeasuredPart::Shift) {
            let mut rows = vec![fingerprint.to_string()];
            for (done, (_, member)) in sets.iter().enumerate() {
                let mut source = open(member, share(done), on_progress)?;
                rows.push(pass(&mut source, share(done), on_progress, &Wanted::default())?.0);
            }
            if let Some(result) = record.made_from(&rows) {
                return Ok(result);
            }
        }
        let shifted = Shifted::new(self.protocol, &self.splits, methods);
        let confidences = Some((&shifted.estimators[..], Select::All));
        let wanted = Wanted { confidences, ..Wanted::default() };
        let mut rows = vec![fingerprint.to_string()];
        let mut results = Vec::new();
        for (done, (set, member)) in sets.iter().enumerate() {
            let mut source = open(member, share(done), on_progress)?;
            let (found, collected) = pass(&mut source, share(done), on_progress, &wanted)?;
            rows.push(found);
            on_progress(Activity::Measuring(MeasuredPart::Shift), share(done));
            let (columns, losses) = collected.into_confidences()?;
            results.push(shifted.measure(set, &columns, &losses)?);
        }
        self.store(model, MeasuredPart::Shift, &rows, ShiftResult { sets: results })
    }

    /// Takes a closer look at a model, in one more pass over its rows.
    fn closeup(
        &self,
        results: &ModelResults,
        on_progress: OnProgress<'_>,
    ) -> Result<Closeup, PaperError> {
        let (model, protocol) = (&results.model, self.protocol);
        let rows = [results.fingerprint.clone()];
        let stored =
            self.load(model, MeasuredPart::Closeup).and_then(|record| record.made_from(&rows));
        if let Some(closeup) = stored {
            return Ok(closeup);
        }
        let weighed = super::weighed_methods(&results.methods)?;
        let weighings: Vec<Weighing> = weighed.iter().map(|method| method.weighing).collect();
        let plan = protocol.tuner.plan(&protocol::methods());
        let mut source = open(&self.zoo.member(model), 0.0, on_progress)?;
        let wanted = Wanted {
            profiles: Some((&plan, Select::All)),
            influences: &weighings,
            ..Wanted::default()
        };
        let (found, collected) = pass(&mut source, 0.0, on_progress, &wanted)?;
        check_unchanged(&source, rows.first(), &found)?;
        let profiles = collected.profiles.ok_or(abstain::Error::NoRows)?;
        let influences = weighed
            .into_iter()
            .zip(collected.influences)
            .map(|(method, ratios)| method.with_ratios(ratios))
            .collect();
        let all = protocol.realisations.max(1) as f64;
        let mut on_step = |done: usize| {
            on_progress(Activity::Measuring(MeasuredPart::Closeup), done as f64 / all);
        };
        let closeup = super::closeup(&profiles, protocol, influences, &mut on_step)?;
        self.store(model, MeasuredPart::Closeup, &rows, closeup)
    }

    fn load<T: DeserializeOwned>(&self, model: &Model, part: MeasuredPart) -> Option<Record<T>> {
        self.records.load(&model.name, part, &self.settings(model, part))
    }

    /// Stores a result, and returns it.
    fn store<T: Serialize>(
        &self,
        model: &Model,
        part: MeasuredPart,
        rows: &[String],
        result: T,
    ) -> Result<T, PaperError> {
        // What was interrupted is not finished.
        stop::check()?;
        let record = Record { settings: self.settings(model, part), rows: rows.to_vec(), result };
        self.records.store(&model.name, part, &record)?;
        Ok(record.result)
    }

    /// The hash of everything that a part of the work on a model depends on but the rows.
    fn settings(&self, model: &Model, part: MeasuredPart) -> String {
        let sets = self.zoo.sets.iter().filter(|set| part == MeasuredPart::Shift && set.has(model));
        let settings = json!({
            "format": FORMAT,
            "version": env!("CARGO_PKG_VERSION"),
            "part": part,
            "protocol": relevant(self.protocol, part),
            "encoding": model.encoding.to_string(),
            "sets": sets.map(|set| (&set.name, set.aligned)).collect::<Vec<_>>(),
        });
        hash_of(settings.to_string().as_bytes())
    }
}

/// The protocol with the defaults in place of what a part does not depend on.
fn relevant(protocol: &Protocol, part: MeasuredPart) -> Protocol {
    let mut protocol = protocol.clone();
    let unused = Protocol::default();
    if part != MeasuredPart::Closeup {
        protocol.realisations = unused.realisations;
    }
    if matches!(part, MeasuredPart::Centring | MeasuredPart::Closeup) {
        (protocol.delta, protocol.replicates) = (unused.delta, unused.replicates);
    }
    if part == MeasuredPart::Closeup {
        (protocol.splits, protocol.smaller) = (unused.splits, unused.smaller);
        (protocol.accuracy, protocol.tuner.fallback) = (unused.accuracy, unused.tuner.fallback);
    }
    protocol
}

/// Opens the rows of a member. Every reading goes through here or [`pass`], so that
/// [`Activity::Reading`] counts them.
fn open(
    member: &Member<'_>,
    share: f64,
    on_progress: OnProgress<'_>,
) -> Result<FileRows<'static>, PaperError> {
    if member.encoding.needs_floor() {
        on_progress(Activity::Reading(member.path), share);
    }
    Ok(member.open()?)
}

/// Reads all rows once: their fingerprint, and what is wanted of them.
fn pass(
    source: &mut FileRows<'_>,
    share: f64,
    on_progress: OnProgress<'_>,
    wanted: &Wanted<'_>,
) -> Result<(String, Collected), PaperError> {
    on_progress(Activity::Reading(source.path()), share);
    let mut collected = collect(source, &Wanted { fingerprint: true, ..*wanted })?;
    let fingerprint = collected.fingerprints.labelled.take().unwrap_or_default();
    Ok((fingerprint, collected))
}

/// The fingerprint of a second pass must be that of the first.
fn check_unchanged(
    source: &FileRows<'_>,
    known: Option<&String>,
    found: &String,
) -> Result<(), PaperError> {
    match known {
        Some(known) if known != found => {
            Err(PaperError::Changed { path: source.path().to_path_buf() })
        }
        _ => Ok(()),
    }
}

/// The models with the largest, the median and the smallest gain.
fn representative(results: &[ModelResults]) -> Vec<String> {
    let mut order: Vec<(&str, f64)> = results
        .iter()
        .filter_map(|results| Some((&results.model.name[..], results.gain()?.mean)))
        .collect();
    // The sort is stable: models with equal gains stay in the order of the zoo.
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut places = vec![0, order.len() / 2, order.len().saturating_sub(1)];
    places.dedup();
    places.iter().filter_map(|&place| order.get(place)).map(|model| model.0.to_string()).collect()
}

/// Each name once, in the order of the list.
fn distinct(names: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    names.iter().filter(|name| seen.insert(*name)).cloned().collect()
}
