//! Every model of a zoo through the protocol: each is read once, and what is finished is kept.

use crate::LabError;
use crate::keep::Keep;
use crate::measure::{self, Closeup, MethodsResult, Part, ShiftResult};
use crate::protocol::{self, Holdings, MAX_LOGIT_PNORM, Protocol};
use crate::split::Split;
use crate::statistics::Spread;
use crate::zoo::{Model, Zoo};
use abstain::{ProfilePlan, Profiles};
use abstain_io::hash_of;
use serde_json::json;
use std::path::Path;

/// Of what kept work is made: a change here makes all of it anew.
const FORMAT: u32 = 5;

/// A zoo, and how to measure it.
#[derive(Debug, Clone)]
pub struct Bench<'a> {
    zoo: &'a Zoo,
    protocol: &'a Protocol,
    splits: Vec<Split>,
    keep: Keep,
}

/// A model and what was measured on it.
#[derive(Debug, Clone)]
pub struct ModelResults {
    /// The model.
    pub model: Model,
    /// The SHA-256 of the file of labels, and of that of the logits.
    pub hashes: Vec<String>,
    /// All methods on all splits.
    pub methods: MethodsResult,
    /// The methods of [`protocol::centring_methods`], if they were asked for.
    pub centring: Option<Vec<Holdings>>,
    /// Further sets, if they were asked for.
    pub shift: Option<ShiftResult>,
    /// A closer look, if the model was chosen for one.
    pub closeup: Option<Closeup>,
}

/// How far a bench has come.
#[derive(Debug, Clone, Copy)]
pub struct BenchStep<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its number, from 0.
    pub index: usize,
    /// How many models there are for this.
    pub models: usize,
    /// What is done with it; nothing while it is read.
    pub part: Option<Part>,
    /// How much of that is done, from 0 to 1.
    pub share: f64,
}

impl ModelResults {
    /// The full hold-outs.
    pub fn full(&self) -> &Holdings {
        &self.methods.holdings[0]
    }

    /// By how much MaxLogit-pNorm is better than MSP by NAURC, over the splits.
    pub fn gain(&self) -> Option<Spread> {
        let place = protocol::methods().iter().position(|own| *own == MAX_LOGIT_PNORM)?;
        Spread::of_all(self.full().splits.iter().map(|split| split.gain(place)))
    }
}

impl<'a> Bench<'a> {
    /// A bench that keeps what is finished in a folder, if there is one.
    pub fn new(
        zoo: &'a Zoo,
        protocol: &'a Protocol,
        folder: Option<&Path>,
    ) -> Result<Self, LabError> {
        let splits = protocol.splits(zoo.rows()).ok_or(LabError::TooFewRows)?;
        Ok(Bench { zoo, protocol, splits, keep: Keep::new(folder) })
    }

    /// Measures all models; centrings and further sets only if they are asked for.
    pub fn run(
        &self,
        parts: &[Part],
        progress: &mut dyn FnMut(BenchStep<'_>),
    ) -> Result<Vec<ModelResults>, LabError> {
        let models = self.zoo.models.len();
        let each = |(index, model): (usize, &Model)| {
            let mut at = |part: Option<Part>, share: f64| {
                progress(BenchStep { model, index, models, part, share });
            };
            self.model(model, parts, &mut at)
        };
        self.zoo.models.iter().enumerate().map(each).collect()
    }

    fn model(
        &self,
        model: &Model,
        parts: &[Part],
        at: &mut dyn FnMut(Option<Part>, f64),
    ) -> Result<ModelResults, LabError> {
        let (name, protocol) = (&model.name[..], self.protocol);
        let wants = |part: Part| parts.contains(&part);
        at(None, 0.0);
        let hashes = self.zoo.hashes(model, false)?;
        let key = |part: Part| self.key(model, part, &hashes);
        let kept: Option<MethodsResult> = self.keep.load(name, Part::Methods, &key(Part::Methods));
        let kept = kept.filter(|own| own.is_whole(self.splits.len()));
        let kept_centring: Option<Vec<Holdings>> = wants(Part::Centring)
            .then(|| self.keep.load(name, Part::Centring, &key(Part::Centring)))
            .flatten()
            .filter(|own: &Vec<Holdings>| {
                own.iter().all(|one| one.splits.len() == self.splits.len())
            });
        let missing_centring = wants(Part::Centring) && kept_centring.is_none();
        let mut plan: Option<ProfilePlan> = None;
        let mut add = |methods: &[abstain::Method]| {
            let own = measure::plan(protocol, methods);
            plan = Some(plan.take().map_or(own.clone(), |plan| plan.and(&own)));
        };
        if kept.is_none() {
            add(&protocol::methods());
        }
        if missing_centring {
            add(&protocol::centring_methods());
        }
        let profiles = plan.map(|plan| self.zoo.profiles(model, &plan)).transpose()?;
        let methods = match (kept, &profiles) {
            (Some(kept), _) => kept,
            (None, Some(profiles)) => self.methods(model, profiles, &key(Part::Methods), at)?,
            // Profiles are read whenever anything is missing.
            (None, None) => return Err(abstain::Error::NoRows.into()),
        };
        let centring = match (kept_centring, &profiles) {
            (None, Some(profiles)) if missing_centring => {
                at(Some(Part::Centring), 0.0);
                let result = measure::centring(profiles, protocol, &self.splits)?;
                self.keep.store(name, Part::Centring, &key(Part::Centring), &result)?;
                Some(result)
            }
            (kept, _) => kept,
        };
        drop(profiles);
        let shift = wants(Part::Shift).then(|| self.shift(model, &methods, at)).transpose()?;
        Ok(ModelResults { model: model.clone(), hashes, methods, centring, shift, closeup: None })
    }

    fn methods(
        &self,
        model: &Model,
        profiles: &Profiles,
        key: &str,
        at: &mut dyn FnMut(Option<Part>, f64),
    ) -> Result<MethodsResult, LabError> {
        let all = self.splits.len() * self.protocol.sizes(profiles.rows()).len();
        let mut done = |done: usize| at(Some(Part::Methods), done as f64 / all as f64);
        let result = measure::methods(profiles, self.protocol, &self.splits, &mut done)?;
        self.keep.store(&model.name, Part::Methods, key, &result)?;
        Ok(result)
    }

    fn shift(
        &self,
        model: &Model,
        methods: &MethodsResult,
        at: &mut dyn FnMut(Option<Part>, f64),
    ) -> Result<ShiftResult, LabError> {
        let key = self.key(model, Part::Shift, &self.zoo.hashes(model, true)?);
        if let Some(kept) = self.keep.load(&model.name, Part::Shift, &key) {
            return Ok(kept);
        }
        let all = self.zoo.sets.iter().filter(|set| set.has(model)).count().max(1);
        let mut done = |done: usize| at(Some(Part::Shift), done as f64 / all as f64);
        let (zoo, protocol) = (self.zoo, self.protocol);
        let result = measure::shift(zoo, model, protocol, &self.splits, methods, &mut done)?;
        self.keep.store(&model.name, Part::Shift, &key, &result)?;
        Ok(result)
    }

    /// Looks closer at some of the models, which are read once more for it.
    pub fn look_closer(
        &self,
        results: &mut [ModelResults],
        chosen: &[String],
        progress: &mut dyn FnMut(BenchStep<'_>),
    ) -> Result<(), LabError> {
        let models = chosen.len();
        let own = results.iter_mut().filter(|own| chosen.contains(&own.model.name));
        for (index, result) in own.enumerate() {
            let model = &result.model;
            let mut at = |part: Option<Part>, share: f64| {
                progress(BenchStep { model, index, models, part, share });
            };
            at(None, 0.0);
            let key = self.key(model, Part::Closeup, &self.zoo.hashes(model, false)?);
            if let Some(kept) = self.keep.load(&model.name, Part::Closeup, &key) {
                result.closeup = Some(kept);
                continue;
            }
            let plan = measure::plan(self.protocol, &protocol::methods());
            let profiles = self.zoo.profiles(model, &plan)?;
            let all = self.protocol.realisations.max(1) as f64;
            let mut done = |done: usize| at(Some(Part::Closeup), done as f64 / all);
            let (zoo, protocol) = (self.zoo, self.protocol);
            let found = measure::closeup(zoo, model, &profiles, protocol, &mut done)?;
            self.keep.store(&model.name, Part::Closeup, &key, &found)?;
            result.closeup = Some(found);
        }
        Ok(())
    }

    /// What work on a model is done from: the bytes of its files and as much of the protocol as it
    /// depends on.
    fn key(&self, model: &Model, part: Part, hashes: &[String]) -> String {
        let mut protocol = self.protocol.clone();
        let unused = Protocol::default();
        if part != Part::Closeup {
            protocol.realisations = unused.realisations;
        }
        if matches!(part, Part::Centring | Part::Closeup) {
            (protocol.delta, protocol.replicates) = (unused.delta, unused.replicates);
        }
        if part == Part::Closeup {
            (protocol.splits, protocol.smaller) = (unused.splits, unused.smaller);
            (protocol.accuracy, protocol.tuner.fallback) = (unused.accuracy, unused.tuner.fallback);
        }
        let own = self.zoo.sets.iter().filter(|set| part == Part::Shift && set.has(model));
        let sets = own.map(|set| (&set.name, set.aligned)).collect::<Vec<_>>();
        let from = json!({
            "format": FORMAT,
            "version": env!("CARGO_PKG_VERSION"),
            "part": part,
            "protocol": format!("{protocol:?}"),
            "kind": model.kind,
            "sets": sets,
            "files": hashes,
        });
        hash_of(from.to_string().as_bytes())
    }
}

/// Those of some models that show best what there is to see: the largest gain, the median one, and
/// the smallest.
pub fn representative(results: &[ModelResults]) -> Vec<String> {
    let mut order: Vec<(&str, f64)> =
        results.iter().filter_map(|own| Some((&own.model.name[..], own.gain()?.mean))).collect();
    // Equal gains, as of models that all fell back, in the order of the zoo.
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut places = vec![0, order.len() / 2, order.len().saturating_sub(1)];
    places.dedup();
    places.iter().filter_map(|&place| order.get(place)).map(|own| own.0.to_string()).collect()
}
