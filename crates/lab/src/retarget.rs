//! What an experiment found, asked for another target afterwards.

use crate::tune::{AtTarget, Experiment, Found, MetricValue};
use abstain::certify::Certificate;
use abstain::{Error, RcCurve};

impl Found {
    /// The same for the target of another experiment: what each method keeps there, and the threshold, with
    /// its certificate if one was found. What was tuned and chosen stays as it was.
    pub fn retargeted(
        &self,
        experiment: &Experiment,
        certificate: Option<Certificate>,
    ) -> Result<Found, Error> {
        let Found { mut report, run } = self.clone();
        report.target = experiment.target_of(&run.losses);
        let columns: Vec<&[f64]> = run.confidences.iter().map(|column| &column[..]).collect();
        let metrics = [report.target.metric()?];
        let compared =
            experiment.bootstrap().compare(&metrics, &columns, &run.losses, &mut |_| {})?;
        for (line, own) in report.methods.iter_mut().zip(compared) {
            line.kept = MetricValue { interval: own[0].value.ok(), spread: None };
        }
        let chosen = report.choice.place(&report.methods);
        let curve = RcCurve::new(&run.confidences[chosen], &run.losses)?;
        report.at_target = AtTarget::new(report.target, &curve);
        (report.certificate, report.infeasible) = (certificate, None);
        Ok(Found { report, run })
    }
}
