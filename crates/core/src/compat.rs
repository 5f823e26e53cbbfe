//! AURC as other projects compute it, to reproduce published numbers.
//!
//! They differ in how the curve is continued to coverage 0, in the rule of integration and in the
//! order of ties. Where a project breaks ties by the order of the rows, so do these functions: the
//! result then depends on that order, which is why [`crate::Metric::AURC`] does not do it.

use crate::curve::RcCurve;
use crate::error::{Error, Undefined};
use crate::losses::Losses;
use std::fmt;
use std::str::FromStr;

/// A convention for the area under the risk-coverage curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AurcConvention {
    /// Ours: the mean of the selective risks, in expectation over the order of ties.
    Abstain,
    /// The mean of the selective risks, ties in the order of the rows (Geifman et al., 2019).
    GeifmanElYaniv,
    /// The trapezoid through (0, 0) and every row, ties in the order of the rows: the code of
    /// Cattelan & Silva (2024). Lower than the mean by about risk / 2n.
    FixSelectiveClassification,
    /// The trapezoid from coverage 1/n on, divided by 1 − 1/n, ties in the order of the rows.
    TorchUncertainty,
    /// The trapezoid through the thresholds, ties collapsed, flat to coverage 0. The project prints
    /// it times 1000.
    FdShifts,
}

impl AurcConvention {
    /// Every convention.
    pub const ALL: &'static [AurcConvention] = &[
        AurcConvention::Abstain,
        AurcConvention::GeifmanElYaniv,
        AurcConvention::FixSelectiveClassification,
        AurcConvention::TorchUncertainty,
        AurcConvention::FdShifts,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            AurcConvention::Abstain => "abstain",
            AurcConvention::GeifmanElYaniv => "geifman-el-yaniv",
            AurcConvention::FixSelectiveClassification => "fix-selective-classification",
            AurcConvention::TorchUncertainty => "torch-uncertainty",
            AurcConvention::FdShifts => "fd-shifts",
        }
    }

    /// The AURC of confidences and losses in this convention.
    pub fn aurc(self, confidences: &[f64], losses: &Losses) -> Result<f64, Error> {
        // Built in any case: it checks the input.
        let curve = RcCurve::new(confidences, losses)?;
        let n = curve.rows() as f64;
        Ok(match self {
            AurcConvention::Abstain => curve.mean_of_risks(),
            AurcConvention::GeifmanElYaniv => {
                risks_in_row_order(confidences, losses).iter().sum::<f64>() / n
            }
            AurcConvention::FixSelectiveClassification => {
                let risks = risks_in_row_order(confidences, losses);
                (risks.iter().sum::<f64>() - 0.5 * risks[risks.len() - 1]) / n
            }
            AurcConvention::TorchUncertainty => {
                let risks = risks_in_row_order(confidences, losses);
                if risks.len() < 2 {
                    return Err(Undefined::TooFewPoints.into());
                }
                let ends = 0.5 * (risks[0] + risks[risks.len() - 1]);
                (risks.iter().sum::<f64>() - ends) / (n - 1.0)
            }
            AurcConvention::FdShifts => {
                let (mut area, mut before) = (0.0, None);
                for knot in curve.knots() {
                    let risk = knot.selective_risk();
                    let (rows, risk_before) = before.unwrap_or((0, risk));
                    area += (knot.accepted - rows) as f64 * 0.5 * (risk_before + risk);
                    before = Some((knot.accepted, risk));
                }
                area / n
            }
        })
    }
}

impl fmt::Display for AurcConvention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AurcConvention {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.iter().find(|known| known.name().eq_ignore_ascii_case(name));
        known.copied().ok_or_else(|| Error::UnknownName {
            what: "AURC convention",
            name: name.to_string(),
            suggestion: crate::method::nearest(name, Self::ALL.iter().map(ToString::to_string)),
        })
    }
}

/// The selective risk of the `k` surest rows for each `k`, equal confidences in row order.
fn risks_in_row_order(confidences: &[f64], losses: &Losses) -> Vec<f64> {
    let mut order: Vec<usize> = (0..confidences.len()).collect();
    order.sort_by(|&a, &b| (confidences[b] + 0.0).total_cmp(&(confidences[a] + 0.0)));
    let mut loss = 0.0;
    let risk = |(i, row): (usize, &usize)| {
        loss += losses.values()[*row];
        loss / (i + 1) as f64
    };
    order.iter().enumerate().map(risk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for &convention in AurcConvention::ALL {
            assert_eq!(convention.to_string().to_uppercase().parse(), Ok(convention));
        }
        let error = "fd-shift".parse::<AurcConvention>().unwrap_err();
        assert!(error.to_string().contains("did you mean 'fd-shifts'?"));
    }
}
