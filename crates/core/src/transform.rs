//! Transforms: positive affine maps `u = (z − shift) / scale` of a row.
//!
//! Such a map never moves the largest logit, so predictions and losses do not depend on it.
//! Temperature scaling is `(0, T)`; centred p-norm normalisation is `(mean, τ ‖z − mean‖_p)`.

use crate::elementary::ln;
use crate::error::Error;

/// A number that was checked when it was made.
macro_rules! checked_number {
    ($(#[$docs:meta])* $name:ident, $what:literal, $wanted:literal, |$x:ident| $valid:expr) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, serde::Serialize)]
        pub struct $name(f64);

        impl $name {
            /// Checks and wraps a number.
            pub fn new($x: f64) -> Result<Self, Error> {
                if $valid {
                    Ok($name($x + 0.0))
                } else {
                    Err(Error::Parameter { name: $what, value: $x, wanted: $wanted })
                }
            }

            /// The number.
            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

/// A temperature `T`, or the `τ` of the p-norm: positive, between 1e-100 and 1e100.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Temperature {
    value: f64,
    /// Taken once: a search needs it for every row.
    ln: f64,
}

checked_number! {
    /// The `p` of a p-norm: 0 ("centred only"), any real number from 0.01 to 1e6, or infinity.
    Exponent, "p", "0, a number from 0.01 to 1e6, or inf",
    |x| x == 0.0 || (0.01..=1e6).contains(&x) || x == f64::INFINITY
}

checked_number! {
    /// Any real number up to 1e100 in magnitude.
    Finite, "coefficient", "a number between -1e100 and 1e100",
    |x| x.abs() <= 1e100
}

checked_number! {
    /// A share between 0 and 1.
    Share, "weight", "a number between 0 and 1",
    |x| (0.0..=1.0).contains(&x)
}

impl Temperature {
    /// No scaling.
    pub const ONE: Temperature = Temperature { value: 1.0, ln: 0.0 };

    /// Checks and wraps a number.
    pub fn new(x: f64) -> Result<Self, Error> {
        if (1e-100..=1e100).contains(&x) {
            return Ok(Self::of(x));
        }
        let wanted = "a positive number between 1e-100 and 1e100";
        Err(Error::Parameter { name: "temperature", value: x, wanted })
    }

    fn of(value: f64) -> Self {
        Temperature { value, ln: ln(value) }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.value
    }

    /// Its logarithm.
    pub(crate) fn ln(self) -> f64 {
        self.ln
    }
}

impl serde::Serialize for Temperature {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value)
    }
}

impl Exponent {
    /// The sum of magnitudes.
    pub const ONE: Exponent = Exponent(1.0);
}

impl Finite {
    /// Zero.
    pub const ZERO: Finite = Finite(0.0);
}

/// What is subtracted from a row before its norm is taken: `Γ(z)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Centring {
    /// The mean of the row: the paper's choice.
    #[default]
    Mean,
    /// The smallest logit of the row, so that all are non-negative.
    Min,
    /// Nothing.
    None,
}

impl Centring {
    /// Every centring.
    pub const ALL: [Centring; 3] = [Centring::Mean, Centring::Min, Centring::None];
}

/// A p-norm normalisation: `(z − Γ(z) + γ) / ‖z − Γ(z) + γ‖_p`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Norm {
    /// `Γ`.
    pub centring: Centring,
    /// `γ`; 0 but in the paper's ablation.
    pub gamma: Finite,
    /// `p`.
    pub p: Exponent,
}

impl Norm {
    /// The paper's normalisation: centred by the mean, no shift.
    pub fn centred(p: f64) -> Result<Self, Error> {
        Ok(Norm { centring: Centring::Mean, gamma: Finite::ZERO, p: Exponent::new(p)? })
    }

    /// Whether it is centred by the mean and not shifted.
    pub(crate) fn is_centred(&self) -> bool {
        self.centring == Centring::Mean && self.gamma == Finite::ZERO
    }
}

/// A transform with its parameters: an optional normalisation, then a temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// The normalisation, if any.
    pub norm: Option<Norm>,
    /// `T` without a normalisation, `τ` with one.
    pub temperature: Temperature,
}

impl Transform {
    /// The logits as they are.
    pub const RAW: Transform = Transform { norm: None, temperature: Temperature::ONE };

    /// Temperature scaling, `z / T`.
    pub fn temperature(t: f64) -> Result<Self, Error> {
        Ok(Transform { norm: None, temperature: Temperature::new(t)? })
    }

    /// A temperature that is known to be in range.
    pub(crate) fn of_temperature(t: f64) -> Self {
        Transform { norm: None, temperature: Temperature::of(t) }
    }

    /// A parameter by the name that methods give it; NaN if it has none of that name.
    pub(crate) fn parameter(&self, name: &str) -> f64 {
        match (name, self.norm) {
            ("T" | "tau", _) => self.temperature.get(),
            ("p", Some(norm)) => norm.p.get(),
            ("gamma", Some(norm)) => norm.gamma.get(),
            _ => f64::NAN,
        }
    }

    /// Centred p-norm normalisation with `τ = 1`.
    pub fn pnorm(p: f64) -> Result<Self, Error> {
        Ok(Transform { norm: Some(Norm::centred(p)?), temperature: Temperature::ONE })
    }
}
