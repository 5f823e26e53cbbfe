//! Search spaces: the values that a search tries.

use crate::error::Error;
use crate::method::nearest;
use crate::transform::{Centring, Exponent, Finite, Norm, Temperature};
use std::str::FromStr;

/// The values that a search tries for each parameter of a method.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Space {
    /// Temperatures, and the `τ` of p-norms relative to the mean norm of the tuning rows.
    pub temperatures: Vec<Temperature>,
    /// The `p` of p-norms.
    pub exponents: Vec<Exponent>,
    /// The `γ` of shifted p-norms.
    pub gammas: Vec<Finite>,
    /// How often the grid of a method's continuous parameters (all but `p`) is refined around its best
    /// point: each time ten times finer, or four times if there are several.
    pub refinements: usize,
    /// Families with long or many axes, such as BK and HTS, are tried at every so-many-th value of the
    /// paper's.
    pub family_step: usize,
    /// The refinements of such a family, at least.
    pub family_refinements: usize,
    /// Whether a long axis of temperatures is tried at a few of its values first, each half as large
    /// again as the one before, and then at a few between the neighbours of the best, and so on. Curves
    /// in `T` and `τ` are smooth, so that this finds the same value or one as good for a tenth of the
    /// work.
    pub coarse_first: bool,
}

/// `from / per_unit` to `to / per_unit` in steps of `1 / per_unit`, each computed afresh: 0.3 is 0.3.
pub(crate) fn steps(from: i32, to: i32, per_unit: f64) -> impl Iterator<Item = f64> {
    (from..=to).map(move |i| f64::from(i) / per_unit)
}

fn finite(values: impl Iterator<Item = f64>) -> Vec<Finite> {
    values.filter_map(|x| Finite::new(x).ok()).collect()
}

/// A space by name.
type Named = (&'static str, fn() -> Space);

impl Space {
    /// The grids in the text of the paper: T from 0.01 to 3 and HTS in steps of 0.01, whole p from
    /// 0 to 10, γ from −3 to 3 (in steps of 0.1), weights in steps of 0.01, and every direction of
    /// (a, b) to a quarter of a degree.
    pub fn paper() -> Self {
        Space {
            temperatures: steps(1, 300, 100.0).filter_map(|t| Temperature::new(t).ok()).collect(),
            exponents: steps(0, 10, 1.0).filter_map(|p| Exponent::new(p).ok()).collect(),
            gammas: finite(steps(-30, 30, 10.0)),
            refinements: 0,
            family_step: 1,
            family_refinements: 0,
            coarse_first: false,
        }
    }

    /// The grids of the published code and tables: T to 2, p to 9.
    pub fn published_code() -> Self {
        let mut space = Self::paper();
        space.temperatures.truncate(200);
        space.exponents.truncate(10);
        space
    }

    /// The paper's, but temperatures coarsely first, HTS in steps of ⅕ and BK in steps of 5°, both
    /// refined twice around their best point, and γ in steps of ¼: nearly the same at a fraction of the
    /// cost. The default.
    pub fn standard() -> Self {
        Space {
            gammas: finite(steps(-12, 12, 4.0)),
            family_step: 20,
            family_refinements: 2,
            coarse_first: true,
            ..Self::paper()
        }
    }

    /// p in steps of ¼ and infinity, everything else refined twice around its best point.
    pub fn fine() -> Self {
        let mut space = Self::standard();
        space.exponents = steps(0, 48, 4.0)
            .chain([f64::INFINITY])
            .filter_map(|p| Exponent::new(p).ok())
            .collect();
        space.refinements = 2;
        space
    }

    /// The same space with ten steps of `p` to either side of the best one, as far as its neighbours:
    /// real-valued exponents, which need another profile. Every call is finer by ten times.
    #[must_use]
    pub fn around_exponent(&self, best: Exponent) -> Self {
        let finite = self.exponents.iter().map(|p| p.get()).filter(|p| p.is_finite());
        let values = refined(&finite.collect::<Vec<f64>>(), best.get(), 10);
        // Between 0 and the smallest exponent there is nothing.
        let exponents = values.iter().filter_map(|&p| Exponent::new(p).ok()).collect();
        Space { exponents, ..self.clone() }
    }

    /// The spaces above by name.
    const NAMED: [Named; 4] = [
        ("standard", Self::standard),
        ("paper", Self::paper),
        ("published-code", Self::published_code),
        ("fine", Self::fine),
    ];

    /// The names of the spaces above.
    pub const NAMES: &'static [&'static str] =
        &[Self::NAMED[0].0, Self::NAMED[1].0, Self::NAMED[2].0, Self::NAMED[3].0];

    /// Its name, or "custom" if it is none of the spaces above.
    pub fn name(&self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, space)| space() == *self);
        named.map_or("custom", |(name, _)| name)
    }

    /// The values of a family's axis that are tried.
    pub(crate) fn every_family_step(
        &self,
        values: impl Iterator<Item = f64>,
    ) -> impl Iterator<Item = f64> {
        values.step_by(self.family_step.max(1))
    }

    /// The norms of this space that are centred by the mean and not shifted.
    pub(crate) fn centred_norms(&self) -> impl Iterator<Item = Norm> {
        let norm = |&p| Norm { centring: Centring::Mean, gamma: Finite::ZERO, p };
        self.exponents.iter().map(norm)
    }

    /// The norms of the paper's ablations: not centred, centred by the minimum, shifted.
    pub(crate) fn ablated_norms(&self) -> impl Iterator<Item = Norm> {
        let gammas = || std::iter::once(Finite::ZERO).chain(self.gammas.iter().copied());
        let shifted = Centring::ALL
            .into_iter()
            .flat_map(move |centring| gammas().map(move |gamma| (centring, gamma)));
        let norms = shifted.flat_map(|(centring, gamma)| {
            self.exponents.iter().map(move |&p| Norm { centring, gamma, p })
        });
        norms.filter(|norm| !norm.is_centred())
    }
}

/// The few values of a long axis that are tried first, as indices: each half as large again as the one
/// before, both ends, and 1: temperature scaling is never worse than none. Nothing for an axis that is short anyway or not in ascending order.
pub(crate) fn coarse(axis: &[f64]) -> Option<Vec<usize>> {
    if axis.len() < 40 || axis[0] <= 0.0 || !axis.is_sorted() {
        return None;
    }
    let mut chosen = vec![0];
    for (index, &value) in axis.iter().enumerate() {
        if value >= 1.5 * axis[chosen[chosen.len() - 1]] || value == 1.0 || index == axis.len() - 1
        {
            chosen.push(index);
        }
    }
    Some(chosen)
}

/// Some steps to either side of the best value, as far as its neighbours on the axis.
pub(crate) fn refined(axis: &[f64], best: f64, steps: i32) -> Vec<f64> {
    let Some(index) = axis.iter().position(|&x| x == best) else { return vec![best] };
    let below = axis[index.saturating_sub(1)];
    let above = axis[(index + 1).min(axis.len() - 1)];
    let step = |k: i32| {
        let to = if k < 0 { below } else { above };
        best + (to - best) * f64::from(k.abs()) / f64::from(steps)
    };
    let mut values: Vec<f64> = (-steps..=steps).map(step).collect();
    values.dedup();
    values
}

impl FromStr for Space {
    type Err = Error;

    /// A space by its name.
    fn from_str(name: &str) -> Result<Self, Error> {
        let wanted = name.trim();
        let named = Self::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(wanted));
        named.map(|(_, space)| space()).ok_or_else(|| {
            let suggestion = nearest(name, Self::NAMES.iter().map(ToString::to_string));
            Error::UnknownName { what: "search space", name: name.into(), suggestion }
        })
    }
}

impl Default for Space {
    fn default() -> Self {
        Self::standard()
    }
}
