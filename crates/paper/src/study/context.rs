//! What studies are made from: everything that was measured on a zoo, and sums over models and splits.

use crate::Protocol;
use crate::measure::{ModelResults, ZooResults};
use crate::protocol::{HoldoutResult, SplitResult};
use abstain::Method;
use abstain::statistics::average_positive_gain;
use abstain_io::zoo::Zoo;
use abstain_lab::Spread;

/// What studies are made from.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The zoo.
    pub zoo: &'a Zoo,
    /// How it was measured.
    pub protocol: &'a Protocol,
    /// What was measured.
    pub results: &'a ZooResults,
    /// Gains up to this count as none.
    pub epsilon: f64,
    /// Whether coverages are certified ones.
    pub certified: bool,
}

/// A method and its average positive gain. In JSON, an array of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodGain {
    /// The method.
    pub method: Method,
    /// Its gain.
    pub apg: Option<Spread>,
}

/// Writes a struct as the array of its fields.
macro_rules! json_as_array {
    ($type:ty: $($field:ident),+) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                ($(&self.$field),+).serialize(serializer)
            }
        }
    };
}
pub(crate) use json_as_array;

json_as_array!(MethodGain: method, apg);

impl<'a> Context<'a> {
    /// Every model.
    pub(crate) fn models(&self) -> &'a [ModelResults] {
        &self.results.models
    }

    /// The chosen models, in the order of the choice.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &'a ModelResults> {
        let results = self.results;
        let find = |name: &String| results.models.iter().find(|model| model.model.name == *name);
        results.chosen.iter().filter_map(find)
    }

    /// The average positive gain over the models, on each split, over the splits. `naurc` is that of
    /// the method on a model and a split. A model without errors on some split, or with nothing but
    /// errors, has no NAURC there and is left out.
    pub(crate) fn apg(
        &self,
        epsilon: f64,
        naurc: impl Fn(&ModelResults, usize) -> Option<f64>,
    ) -> Option<Spread> {
        let defined = |model: &&ModelResults| {
            model.full().splits.iter().all(|split| split.baseline.naurc.is_some())
        };
        Spread::of_all((0..self.protocol.splits.max(1)).map(|split| {
            let models = || self.models().iter().filter(defined);
            let before = models().map(|model| model.full().splits.get(split)?.baseline.naurc);
            let after = models().map(|model| naurc(model, split));
            let (before, after): (Option<Vec<f64>>, Option<Vec<f64>>) =
                (before.collect(), after.collect());
            average_positive_gain(&before?, &after?, epsilon).ok()
        }))
    }

    /// The average positive gain of a method with the hold-out of a size, given by its index.
    pub(crate) fn apg_of(&self, method: Method, size: usize) -> Option<Spread> {
        self.apg(self.epsilon, |model, split| {
            let split = model.methods.holdouts.get(size)?.splits.get(split)?;
            split.used_measured(method)?.naurc
        })
    }

    /// The sizes of the hold-outs, the full one first.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.protocol.sizes(self.zoo.rows())
    }
}

/// A number of each split, over the splits.
pub(crate) fn over_splits(
    holdout: &HoldoutResult,
    value: impl Fn(&SplitResult) -> Option<f64>,
) -> Option<Spread> {
    Spread::of_all(holdout.splits.iter().map(value))
}
