//! Rows of a graph: from the numbers of a classifier to the statistics that scores are made of.

use super::elementary::ln_1p;
use super::graph::{Graph, Operand, Precision, Real, Truth, Whole};
use abstain::{
    Encoding,
    transform::{Centring, Norm, Transform},
};

/// Relative differences below this count as none, as in double precision.
pub(crate) const INDISTINCT: f64 = 5.5e-17;

/// The logits of rows.
#[derive(Clone, Copy)]
pub(crate) struct Row<'g> {
    /// For each class, `-inf` where masked.
    z: Real<'g>,
    /// The predicted class.
    prediction: Whole<'g>,
    /// Whether the row can be scored.
    valid: Truth<'g>,
    masked: bool,
    /// How many classes there are, if it is known.
    classes: Option<usize>,
}

impl<'g> Row<'g> {
    /// Rows of numbers in an encoding, whose tolerance is known if they are probabilities. Numbers
    /// that are none become 0, so that nothing else depends on how a runtime treats them.
    pub(crate) fn new(
        graph: &'g Graph,
        name: &str,
        encoding: Encoding,
        tolerance: f64,
        classes: Option<usize>,
    ) -> Option<Self> {
        let given = graph.input(name);
        let classes = if encoding.is_one_number() { Some(2) } else { classes };
        let (z, ranked, valid) = match encoding {
            Encoding::Logits => {
                let (z, valid) = checked(given, is_logit(given));
                (z, z, valid)
            }
            Encoding::Masked => {
                let possible = is_logit(given).or(given.equals(f64::NEG_INFINITY));
                let (z, valid) = checked(given, possible);
                (z, z, valid.and(z.row_max().greater(f64::NEG_INFINITY)))
            }
            Encoding::Probabilities { floor: Some(floor), .. } => {
                let (p, valid) = checked(given, is_probability(given, tolerance));
                // Sums of single precision are not exact.
                let valid = valid.and((p.row_sum() - 1.0).abs().at_most(tolerance + 1e-6));
                floored(p, valid, floor)
            }
            Encoding::BinaryProbability { floor: Some(floor), .. } => {
                let given = given.column();
                let (p, valid) = checked(given, is_probability(given, tolerance));
                floored((1.0 - p).beside(p), valid, floor)
            }
            Encoding::BinaryLogit => {
                let given = given.column();
                let (x, valid) = checked(given, is_logit(given));
                let half = x * 0.5;
                let z = (0.0 - half).beside(half);
                (z, z, valid)
            }
            // Without a floor, or without logits.
            _ => return None,
        };
        let masked = encoding == Encoding::Masked;
        Some(Row { z, prediction: ranked.row_arg_max(), valid, masked, classes })
    }

    pub(crate) fn graph(&self) -> &'g Graph {
        self.z.graph()
    }

    /// The predicted class.
    pub(crate) fn prediction(&self) -> Whole<'g> {
        self.prediction
    }

    /// A confidence, and NaN for rows that cannot be scored.
    pub(crate) fn where_valid(&self, confidence: Real<'g>) -> Real<'g> {
        self.valid.choose(confidence, f64::NAN)
    }

    /// `z_1`.
    pub(crate) fn top(&self) -> Real<'g> {
        self.z.row_max()
    }

    /// All classes but the top one, which is `-inf` as if it were masked.
    fn others(&self) -> Real<'g> {
        self.z.with(self.prediction, f64::NEG_INFINITY)
    }

    /// Whether only one class is not masked; nothing if none can be masked.
    fn alone(&self) -> Option<Truth<'g>> {
        self.masked.then(|| self.others().row_max().equals(f64::NEG_INFINITY))
    }

    /// A confidence, and another one for rows of which only one class is not masked.
    pub(crate) fn unless_alone(&self, confidence: Real<'g>, alone: f64) -> Real<'g> {
        match self.alone() {
            Some(is_alone) => is_alone.choose(alone, confidence),
            None => confidence,
        }
    }

    /// `z_2`, or `z_1` if there is no second: so that differences stay finite.
    fn second(&self) -> Real<'g> {
        let second = self.others().row_max();
        match self.alone() {
            Some(alone) => alone.choose(self.top(), second),
            None => second,
        }
    }

    /// `z_1 − z_2`, 0 if there is no second.
    pub(crate) fn gap(&self) -> Real<'g> {
        self.top() - self.second()
    }

    /// `z_j − z_2` of the other classes; `-inf` for the top one and for masked ones.
    pub(crate) fn below(&self) -> Real<'g> {
        self.others() - self.second()
    }

    /// `z_j − z_2` of the classes after the second; `-inf` for all others.
    pub(crate) fn below_second(&self) -> Real<'g> {
        let below = self.below();
        below.with(below.row_arg_max(), f64::NEG_INFINITY)
    }

    /// `z_j − z_2` of as many of the next classes as there are, at most.
    pub(crate) fn nearest(&self, count: f64) -> Real<'g> {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number up to 1e9")]
        let wanted = count as i64;
        match self.classes {
            Some(classes) if count >= classes as f64 - 1.0 => self.below(),
            Some(_) => self.below().row_largest(self.graph().wholes(&[wanted])),
            None => {
                let others = self.z.row_length().minus(self.graph().wholes(&[1]));
                self.below().row_largest(self.graph().wholes(&[wanted]).min(others))
            }
        }
    }

    /// The number of classes, masked ones included.
    pub(crate) fn classes(&self) -> Real<'g> {
        match self.classes {
            Some(classes) => self.graph().real(classes as f64),
            None => self.z.row_length().to_real(),
        }
    }

    /// The number of classes, if it is known.
    pub(crate) fn known_classes(&self) -> Option<usize> {
        self.classes
    }

    /// Numbers of classes that are not masked, and 0 for the others.
    fn unmasked(&self, numbers: Real<'g>) -> Real<'g> {
        if self.masked { self.z.greater(f64::NEG_INFINITY).choose(numbers, 0.0) } else { numbers }
    }

    /// The number of classes that are not masked.
    fn unmasked_classes(&self) -> Real<'g> {
        if self.masked {
            self.z.greater(f64::NEG_INFINITY).choose(1.0, 0.0).row_sum()
        } else {
            self.classes()
        }
    }

    /// The smallest logit of those that are not masked.
    fn smallest(&self) -> Real<'g> {
        let unmasked = if self.masked {
            self.z.greater(f64::NEG_INFINITY).choose(self.z, self.top())
        } else {
            self.z
        };
        unmasked.row_min()
    }

    /// `z − Γ(z) + γ` of the classes, 0 for masked ones, and that of the top class.
    fn deviations(&self, norm: &Norm) -> (Real<'g>, Real<'g>) {
        let top = self.top();
        let gamma = norm.gamma.get();
        // Differences from the largest come first: a constant that is added to a row changes
        // nothing.
        let (all, top) = match norm.centring {
            Centring::Mean => {
                let below = self.z - top;
                let mean = self.unmasked(below).row_sum() / self.unmasked_classes();
                (below - mean, 0.0 - mean)
            }
            Centring::Min => (self.z - self.smallest(), top - self.smallest()),
            Centring::None => (self.z, top),
        };
        (self.unmasked(all + gamma), top + gamma)
    }

    /// The row divided by a temperature.
    pub(crate) fn scaled(&self, temperature: impl Operand<'g>) -> Transformed<'g> {
        let temperature = temperature.on(self.graph());
        Transformed {
            row: *self,
            top: self.top() / temperature,
            gap: self.gap() / temperature,
            below: self.below() / temperature,
            norm: None,
        }
    }

    /// The row under a transform.
    pub(crate) fn transformed(&self, transform: &Transform) -> Transformed<'g> {
        let tau = transform.temperature.get();
        let Some(norm) = &transform.norm else { return self.scaled(tau) };
        let p = norm.p.get();
        let (all, top) = self.deviations(norm);
        if p == 0.0 {
            return Transformed { top: top / tau, ..self.scaled(tau) };
        }
        let (tiny, _) = self.graph().precision().range();
        let largest = all.abs().row_max();
        let is_zero = largest.at_most(self.graph().precision().no_deviation());
        let unit = is_zero.choose(1.0, largest);
        let others = (all.abs() / unit).with(self.prediction, 0.0);
        // Where the top class deviates most it counts 1, and the logarithm is close to 0.
        let leads = top.equals(largest).or(is_zero);
        let log_root = if p == f64::INFINITY {
            self.graph().real(0.0)
        } else {
            let rest = others.pow(p).row_sum();
            let power = (top.abs() / unit).pow(p);
            leads.choose(ln_1p(rest), (rest + power).ln()) / p
        };
        // Not 0, by which the `-inf` of masked classes would be multiplied. Dividing by the largest
        // deviation first makes mathematical ties exact.
        let ratio = (0.0 - log_root).exp().max(tiny) / tau;
        let scale = |x: Real<'g>| x / unit * ratio;
        Transformed {
            row: *self,
            top: scale(top),
            gap: scale(self.gap()),
            below: scale(self.below()),
            norm: Some(Normalised { norm: *norm, top, unit, others, leads, log_root }),
        }
    }
}

/// A row under a p-norm (`p > 0`).
#[derive(Clone, Copy)]
pub(crate) struct Normalised<'g> {
    norm: Norm,
    /// The deviation of the top class.
    top: Real<'g>,
    /// The largest deviation in magnitude, 1 for rows without any.
    unit: Real<'g>,
    /// Those of the other classes in these units, 0 for the top one.
    others: Real<'g>,
    /// Whether the top class deviates most.
    leads: Truth<'g>,
    /// The logarithm of the norm in these units.
    log_root: Real<'g>,
}

impl<'g> Normalised<'g> {
    /// `u_1` is negative.
    pub(crate) fn is_negative(&self) -> Truth<'g> {
        self.top.less(0.0)
    }

    /// `−ln |u_1|`, with `τ` left out.
    pub(crate) fn log_share(&self, row: &Row<'g>) -> Real<'g> {
        let size = self.top.abs();
        let mut excess = (self.unit - size) / size;
        if self.norm.centring == Centring::None || self.norm.gamma.get() < 0.0 {
            // If no deviation is positive the smallest is the largest in magnitude.
            let spread = (row.top() - row.smallest()) / size;
            let spread = spread.less(INDISTINCT).choose(0.0, spread);
            excess = self.is_negative().choose(spread, excess);
        }
        self.log_root + ln_1p(excess)
    }

    /// Whether the top class deviates so much more than all others that single precision loses the
    /// sum of their powers beside its power, and `−ln` of the quotient.
    pub(crate) fn far_ahead(&self) -> Option<(Truth<'g>, Real<'g>)> {
        const LOST: f64 = 60.0;
        let p = self.norm.p.get();
        if p == f64::INFINITY || self.top.graph().precision() == Precision::Double {
            return None;
        }
        let logs = p * self.others.ln();
        // Not `-inf`, from which the others would have no distance.
        let largest = logs.row_max().max(-1e30);
        let quotient = 0.0 - (largest + (logs - largest).exp().row_sum().ln());
        let leads = self.leads.and(self.top.greater(0.0));
        Some((leads.and(quotient.greater(LOST)), quotient))
    }

    /// `p`.
    pub(crate) fn p(&self) -> f64 {
        self.norm.p.get()
    }
}

/// A row under a transform `u`.
pub(crate) struct Transformed<'g> {
    pub(crate) row: Row<'g>,
    /// `u_1`.
    pub(crate) top: Real<'g>,
    /// `u_1 − u_2`, 0 if there is no second.
    pub(crate) gap: Real<'g>,
    /// `u_j − u_2` of the other classes; `-inf` for the top one and for masked ones.
    pub(crate) below: Real<'g>,
    /// What `u` is made of under a p-norm with `p > 0`.
    pub(crate) norm: Option<Normalised<'g>>,
}

impl<'g> Transformed<'g> {
    /// `w_j = e^(u_j − u_2)`.
    pub(crate) fn weights(&self) -> Real<'g> {
        self.below.exp()
    }

    /// `S`, at least 1; 0 if only one class is not masked.
    pub(crate) fn sum(&self) -> Real<'g> {
        self.weights().row_sum()
    }

    /// `L`, the log-odds of the largest softmax probability.
    pub(crate) fn log_odds(&self) -> Real<'g> {
        self.gap - self.sum().ln()
    }
}

/// Whether a number can be a logit.
fn is_logit(x: Real<'_>) -> Truth<'_> {
    x.abs().at_most(x.graph().precision().largest_logit())
}

fn is_probability(x: Real<'_>, tolerance: f64) -> Truth<'_> {
    x.at_least(-tolerance).and(x.at_most(1.0 + tolerance))
}

/// The numbers with 0 for impossible ones, and whether a row has none of these.
fn checked<'g>(numbers: Real<'g>, possible: Truth<'g>) -> (Real<'g>, Truth<'g>) {
    let worst = possible.choose(0.0, 1.0).row_max();
    (possible.choose(numbers, 0.0), worst.less(0.5))
}

/// The logits of probabilities, the numbers whose largest is predicted, and whether they can be
/// scored.
fn floored<'g>(p: Real<'g>, valid: Truth<'g>, floor: f64) -> (Real<'g>, Real<'g>, Truth<'g>) {
    // Of two probabilities that round to the same logarithm the larger one is predicted.
    let floored = p.max(floor);
    (floored.ln(), floored, valid.and(p.row_max().greater(floor)))
}
