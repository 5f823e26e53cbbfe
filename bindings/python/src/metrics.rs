//! Metrics of any confidence, losses, and calibration.

use crate::arrays::{
    GivenInput, GivenLoss, GivenTarget, Rows, Vector, encoding, given_losses, given_weights, labels,
};
use crate::errors::Failure;
use crate::work::work;
use abstain::calibration::{self, Reliability};
use abstain::compat::AurcConvention;
use abstain::{
    Error, Interval, Intervals, Metric, RcCurve, Undefined,
    curve::{Count, Point},
    transform::Transform,
};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Estimate, low, high, standard error, replicates (none for a closed form).
type Bounds = (f64, f64, f64, f64, Option<usize>);

type Column<'py> = Bound<'py, PyArray1<f64>>;

/// A metric of confidences, such as "SAC@0.98".
#[pyfunction]
pub(crate) fn metric(
    py: Python<'_>,
    name: &str,
    confidence: Vector<'_>,
    loss: Vector<'_>,
    weights: Option<Vector<'_>>,
) -> PyResult<f64> {
    let metric: Metric = name.parse().map_err(Failure::Core)?;
    let (confidence, losses) = (confidence.as_slice()?, given_losses(&loss)?);
    let weights = given_weights(weights.as_ref())?;
    work(py, None, |_| {
        let value = match &weights {
            None => metric.evaluate(&RcCurve::new(confidence, &losses)?),
            Some(weights) => metric.evaluate(&RcCurve::weighted(confidence, &losses, weights)?),
        };
        Ok(value.map_err(Error::from)?)
    })
}

fn bounds(interval: Result<Interval, Undefined>) -> Result<Bounds, Failure> {
    let Interval { estimate, low, high, standard_error, replicates } =
        interval.map_err(Error::from)?;
    Ok((estimate, low, high, standard_error, replicates))
}

/// A metric with its interval.
#[pyfunction]
pub(crate) fn interval(
    py: Python<'_>,
    name: &str,
    confidence: Vector<'_>,
    loss: Vector<'_>,
    how: (Option<usize>, f64, u64),
) -> PyResult<Bounds> {
    let metric: Metric = name.parse().map_err(Failure::Core)?;
    let (confidence, losses) = (confidence.as_slice()?, given_losses(&loss)?);
    let (replicates, level, seed) = how;
    let intervals = Intervals { level, replicates, seed };
    work(py, None, |_| bounds(intervals.intervals(&[metric], confidence, &losses)?[0]))
}

/// A metric of `a` less that of `b`, with its interval.
#[pyfunction]
pub(crate) fn difference(
    py: Python<'_>,
    name: &str,
    a: Vector<'_>,
    b: Vector<'_>,
    loss: Vector<'_>,
    how: (Option<usize>, f64, u64),
) -> PyResult<Bounds> {
    let metric: Metric = name.parse().map_err(Failure::Core)?;
    let (a, b, losses) = (a.as_slice()?, b.as_slice()?, given_losses(&loss)?);
    let (replicates, level, seed) = how;
    let intervals = Intervals { level, replicates, seed };
    work(py, None, |_| bounds(intervals.differences(&[metric], a, b, &losses)?[0]))
}

/// AURC by the convention of another project.
#[pyfunction]
pub(crate) fn aurc_of(
    py: Python<'_>,
    convention: &str,
    confidence: Vector<'_>,
    loss: Vector<'_>,
) -> PyResult<f64> {
    let Some(known) = AurcConvention::ALL.iter().find(|known| known.name() == convention) else {
        let names: Vec<_> = AurcConvention::ALL.iter().map(|known| known.name()).collect();
        let why = format!("no convention is called '{convention}'; there are {}", names.join(", "));
        return Err(Failure::Input(why).into());
    };
    let (confidence, losses) = (confidence.as_slice()?, given_losses(&loss)?);
    work(py, None, |_| Ok(known.aurc(confidence, &losses)?))
}

/// Coverage, selective risk and threshold, from the surest rows to all of them.
#[pyfunction]
pub(crate) fn curve<'py>(
    py: Python<'py>,
    confidence: Vector<'py>,
    loss: Vector<'py>,
    weights: Option<Vector<'py>>,
) -> PyResult<(Column<'py>, Column<'py>, Column<'py>)> {
    let (confidence, losses) = (confidence.as_slice()?, given_losses(&loss)?);
    let weights = given_weights(weights.as_ref())?;
    let [coverage, risk, threshold] = work(py, None, |_| {
        Ok(match &weights {
            None => points(&RcCurve::new(confidence, &losses)?),
            Some(weights) => points(&RcCurve::weighted(confidence, &losses, weights)?),
        })
    })?;
    Ok((coverage.into_pyarray(py), risk.into_pyarray(py), threshold.into_pyarray(py)))
}

/// Coverage, selective risk and threshold.
fn points<C: Count>(curve: &RcCurve<C>) -> [Vec<f64>; 3] {
    let points = curve.points();
    let column = |of: fn(&Point) -> f64| points.iter().map(of).collect();
    [column(|p| p.coverage), column(|p| p.selective_risk), column(|p| p.threshold)]
}

/// Lower and upper edge, rows (or their weight), mean confidence and accuracy of each bin (NaN where
/// there are none), and the expected calibration error.
type Bins<'py> = (Column<'py>, Column<'py>, Bound<'py, PyAny>, Column<'py>, Column<'py>, f64);

/// Confidence against accuracy in bins.
#[pyfunction]
pub(crate) fn reliability<'py>(
    py: Python<'py>,
    probability: Vector<'py>,
    loss: Vector<'py>,
    weights: Option<Vector<'py>>,
    bins: usize,
) -> PyResult<Bins<'py>> {
    let (probability, losses) = (probability.as_slice()?, given_losses(&loss)?);
    match given_weights(weights.as_ref())? {
        None => {
            let found = work(py, None, |_| Ok(Reliability::new(probability, &losses, bins)?))?;
            Ok(bins_of(py, &found))
        }
        Some(weights) => {
            let filled = || Reliability::weighted(probability, &losses, &weights, bins);
            let found = work(py, None, |_| Ok(filled()?))?;
            Ok(bins_of(py, &found))
        }
    }
}

fn bins_of<'py, C: Count + Element>(py: Python<'py>, found: &Reliability<C>) -> Bins<'py> {
    let bins = found.bins();
    let column = |of: fn(&calibration::Bin<C>) -> f64| -> Column<'py> {
        bins.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    (
        column(|bin| bin.lower),
        column(|bin| bin.upper),
        bins.iter().map(|bin| bin.rows).collect::<Vec<C>>().into_pyarray(py).into_any(),
        column(|bin| bin.confidence().unwrap_or(f64::NAN)),
        column(|bin| bin.accuracy().unwrap_or(f64::NAN)),
        found.ece(),
    )
}

/// The mean negative log-likelihood of the labels.
#[pyfunction]
pub(crate) fn nll(
    py: Python<'_>,
    rows: Rows<'_>,
    target: GivenTarget<'_>,
    temperature: f64,
    input: GivenInput,
) -> PyResult<f64> {
    let matrix = rows.matrix(encoding(&input)?)?;
    let transform = Transform::temperature(temperature).map_err(Failure::Core)?;
    let labels = labels(&target, matrix.classes)?;
    work(py, None, |_| {
        let logits = matrix.logits()?;
        Ok(calibration::nll(&logits, &labels.of(&logits)?, &transform)?)
    })
}

/// The loss of each prediction.
#[pyfunction]
pub(crate) fn losses<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    target: GivenTarget<'py>,
    loss: GivenLoss<'py>,
    input: GivenInput,
) -> PyResult<Column<'py>> {
    let matrix = rows.matrix(encoding(&input)?)?;
    let (labels, loss) = (labels(&target, matrix.classes)?, loss.loss()?);
    let found = work(py, None, |_| {
        let logits = matrix.logits()?;
        loss.check(logits.rows(), logits.classes())?;
        Ok(loss.of(&logits, &labels.of(&logits)?, 0)?)
    })?;
    Ok(found.values().to_vec().into_pyarray(py))
}

/// The predicted class of each row.
#[pyfunction]
pub(crate) fn predictions<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    input: GivenInput,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let matrix = rows.matrix(encoding(&input)?)?;
    let found = work(py, None, |_| {
        let mut all = Vec::new();
        matrix.chunks(|logits| {
            let classes = logits.predictions().into_iter();
            // As many classes as a label can count.
            all.extend(classes.map(|class| i64::try_from(class).unwrap_or(i64::MAX)));
            Ok(())
        })?;
        Ok(all)
    })?;
    Ok(found.into_pyarray(py))
}
