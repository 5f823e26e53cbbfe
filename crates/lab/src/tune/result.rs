//! What tuning returns: the report, the artifact, and the rows behind both.

use super::report::{AtTarget, MetricValue, TuneReport};
use super::request::TuneRequest;
use super::run::Run;
use crate::certify::CertifyRequest;
use crate::error::{LabError, Refusal};
use crate::rows::Collected;
use crate::threshold::{Chosen, Costs, Judged};
use abstain::certify::{Certificate, Pilot};
use abstain::{
    Artifact, Encoding, Estimator, Method, RcCurve, RowSource, Rule, Threshold,
    artifact::{Measured, Tuning},
    internal::{RowSketch, RowSketches},
};
use abstain_io::Reading;
use serde::Serialize;

/// Where the rows of a result came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// What the numbers of the rows are.
    pub encoding: Encoding,
    /// The text of the loss.
    pub loss: String,
    /// The name of the search space.
    pub space: &'static str,
    /// The set that was tuned on.
    pub tuned_on: TunedOn,
    /// The names of the classes.
    pub class_names: Option<Vec<String>>,
    /// That of the set that was measured on.
    pub measured_on: Option<String>,
    /// A sample of the rows that were measured on, unless all of them tuned.
    pub measured_rows: Option<RowSketch>,
}

impl Provenance {
    pub(super) fn new(
        request: &TuneRequest,
        source: &dyn RowSource,
        tuned_on: TunedOn,
        (measured_on, measured_rows): (Option<String>, Option<RowSketch>),
    ) -> Self {
        let (encoding, loss) = (source.encoding(), source.loss().to_string());
        let class_names = source.class_names().map(<[String]>::to_vec);
        let space = request.tuner.space.name();
        Provenance { encoding, loss, space, tuned_on, class_names, measured_on, measured_rows }
    }
}

/// By what the rows that tuned are recognised.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TunedOn {
    /// The SHA-256 of the set.
    pub fingerprint: Option<String>,
    /// A sample of the rows that tuned.
    pub sketch: RowSketches,
    /// The typical size of the numbers of all rows.
    pub scale: Option<f64>,
}

impl TunedOn {
    pub(super) fn take(collected: &mut Collected) -> Self {
        TunedOn {
            fingerprint: collected.fingerprints.labelled.take(),
            sketch: std::mem::take(&mut collected.sketch_of_profiles),
            scale: collected.facts.scale(),
        }
    }
}

/// What tuning found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TuneResult {
    /// What was requested.
    pub request: TuneRequest,
    /// What was found.
    pub report: TuneReport,
    /// The chosen estimator, with its threshold if one was requested and exists.
    pub artifact: Artifact,
    /// Why a requested threshold does not exist.
    pub refusal: Option<Refusal>,
    /// The first split.
    pub run: Run,
    /// Where the rows came from.
    pub provenance: Provenance,
}

/// What tuning answers, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct TuneAnswer<'a> {
    /// The chosen estimator, with its threshold.
    pub artifact: &'a Artifact,
    /// How the rows were read, if they are from files.
    pub input: Option<&'a Reading>,
    /// What was found.
    pub report: &'a TuneReport,
}

impl TuneResult {
    /// The answer, with how the rows were read.
    pub fn answer<'a>(&'a self, input: Option<&'a Reading>) -> TuneAnswer<'a> {
        TuneAnswer { artifact: &self.artifact, input, report: &self.report }
    }

    pub(super) fn new(
        request: TuneRequest,
        report: TuneReport,
        run: Run,
        provenance: Provenance,
    ) -> Self {
        let mut artifact = artifact(&request, &report, &provenance, run.pilot.clone());
        artifact.rule = threshold(&request, &report, &provenance, &run).map(Rule::from);
        artifact.reference = run.reference(&artifact);
        let refusal = refusal(&request, &report);
        TuneResult { request, report, artifact, refusal, run, provenance }
    }

    /// The same choice with another threshold, found on the test rows: what each method accepts at
    /// its target, and its certificate if one is requested.
    pub fn with_threshold(&self, wanted: &CertifyRequest) -> Result<TuneResult, LabError> {
        wanted.check()?;
        let (report, run) = (&self.report, &self.run);
        if report.folds.is_some() && wanted.delta.is_some() {
            return Err(LabError::NoCertifyingRows);
        }
        let curve = run.curve_of_choice()?;
        let request = TuneRequest {
            target: Some(wanted.target),
            delta: wanted.delta,
            procedure: wanted.procedure,
            ..self.request.clone()
        };
        let Provenance { loss, measured_on, .. } = &self.provenance;
        let pilot = run.pilot.as_ref();
        let (confidences, losses) = run.to_certify();
        let judged = match wanted.delta {
            Some(_) => Judged { confidences: &confidences, losses: &losses, weights: None, loss },
            None => run.judged(loss),
        };
        let found = wanted.threshold(judged, 1, measured_on.clone(), pilot)?;
        let certificate = found.certificate().copied();
        let report = retargeted(report, run, &request, &curve, certificate)?;
        let mut result = TuneResult::new(request, report, run.clone(), self.provenance.clone());
        (result.artifact.rule, result.refusal) = (Some(found.into()), None);
        result.artifact.reference = run.reference(&result.artifact);
        // What the caller wrote into the artifact: tuning does not know it.
        let Artifact { model, date, .. } = self.artifact.clone();
        (result.artifact.model, result.artifact.date) = (model, date);
        Ok(result)
    }

    /// The same choice with the threshold that accepts a share of the rows that were measured.
    pub fn with_coverage(&self, coverage: f64) -> Result<TuneResult, LabError> {
        self.with_uncertified(Chosen::Coverage(coverage))
    }

    /// The same choice with the threshold at which errors and abstentions cost least on these rows.
    pub fn with_costs(&self, costs: &Costs) -> Result<TuneResult, LabError> {
        self.with_uncertified(Chosen::Costs(*costs))
    }

    fn with_uncertified(&self, chosen: Chosen) -> Result<TuneResult, LabError> {
        let threshold = chosen.on(self.run.judged(&self.provenance.loss))?;
        let mut result = self.clone();
        result.report.breakdown = self.run.breakdown(threshold.at);
        (result.artifact.rule, result.refusal) = (Some(threshold.into()), None);
        result.artifact.reference = None;
        // They belonged to the threshold that was replaced.
        (result.report.certificate, result.report.infeasible) = (None, None);
        result.request.delta = None;
        Ok(result)
    }
}

/// The report for another target; tuning and choice stay as they were.
fn retargeted(
    report: &TuneReport,
    run: &Run,
    request: &TuneRequest,
    chosen: &RcCurve,
    certificate: Option<Certificate>,
) -> Result<TuneReport, LabError> {
    let target = request.target_of(run.test_losses());
    let metrics = [target.metric()?];
    let compared =
        request.intervals().compare(&metrics, &run.columns(), &run.losses, &mut |_| {})?;
    let mut report = report.clone();
    report.target = target;
    // Only the first split is measured anew, so that means over splits are left out.
    report.splits = 1;
    for (line, compared) in report.methods.iter_mut().zip(compared) {
        for value in [&mut line.naurc, &mut line.aurc, &mut line.auroc, &mut line.gain] {
            value.spread = None;
        }
        line.coverage =
            compared.first().map_or_else(MetricValue::default, |coverage| coverage.value.into());
    }
    report.at_target = AtTarget::new(target, chosen);
    report.counted = request.delta.and_then(|_| run.counted(request.tuner.seed));
    (report.certificate, report.infeasible) = (certificate, None);
    report.breakdown = run.breakdown_at(certificate.as_ref(), report.at_target);
    Ok(report)
}

/// The chosen estimator with where it came from, and no threshold.
fn artifact(
    request: &TuneRequest,
    report: &TuneReport,
    provenance: &Provenance,
    pilot: Option<Pilot>,
) -> Artifact {
    let naurc =
        |method: Method| report.line(method)?.naurc.interval.map(|interval| interval.estimate);
    let choice = &report.choice;
    let is_msp = choice.estimator == Estimator::MSP;
    let mut artifact = Artifact::new(choice.estimator.clone());
    artifact.classes = Some(report.classes);
    artifact.class_names.clone_from(&provenance.class_names);
    artifact.input = provenance.encoding;
    artifact.tuning = Some(Tuning {
        method: choice.method,
        fell_back: is_msp && choice.method != Method::MSP,
        objective: report.objective,
        value: choice.tuned_value,
        baseline: choice.tuned_baseline,
        loss: provenance.loss.clone(),
        space: provenance.space.to_string(),
        fallback: request.tuner.fallback,
        seed: report.seed,
        rows: report.tuning_rows,
        data: provenance.tuned_on.fingerprint.clone(),
        unlabelled: request.tuner.stack.deployment_fingerprint().map(str::to_string),
        sketch: Some(provenance.tuned_on.sketch.exact.clone()),
        rounded: Some(provenance.tuned_on.sketch.rounded.clone().finished()),
        scale: provenance.tuned_on.scale,
        measured: Some(Measured {
            rows: report.compared_rows,
            naurc: naurc(if is_msp { Method::MSP } else { choice.method }),
            baseline: naurc(Method::MSP),
            data: provenance.measured_on.clone(),
            rounded: provenance.measured_rows.clone(),
        }),
        pilot,
    });
    artifact
}

/// The certified threshold, or the one that met a requested target on the test rows.
fn threshold(
    request: &TuneRequest,
    report: &TuneReport,
    provenance: &Provenance,
    run: &Run,
) -> Option<Threshold> {
    let loss = provenance.loss.clone();
    if let Some(certificate) = report.certificate {
        return Some(Threshold::certified(certificate, loss, provenance.measured_on.clone()));
    }
    if request.delta.is_some() {
        // A threshold without a guarantee does not replace a requested certificate.
        return None;
    }
    request.target?;
    Chosen::Target(report.target).on(run.judged(&loss)).ok()
}

fn refusal(request: &TuneRequest, report: &TuneReport) -> Option<Refusal> {
    if let Some(why) = report.infeasible {
        return Some(Refusal::NotCertified(why.0));
    }
    let missed = request.target.is_some() && request.delta.is_none() && report.at_target.is_none();
    missed.then_some(Refusal::TargetNotReached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::certify;
    use crate::split::Holdout;
    use crate::target::Target;
    use crate::threshold::accepted_by;
    use crate::tune::tune;
    use abstain::threshold::Basis;
    use abstain::{Fallback, Labels, Logits, MemoryRows, Tuner};

    fn rows() -> MemoryRows<'static> {
        let rows: Vec<f64> =
            (0..1200_u32).map(|i| f64::from(i.wrapping_mul(2654435761) % 997) / 100.0).collect();
        let labels: Vec<u32> = (0..400_u32).map(|i| i.wrapping_mul(40503) % 7 % 3).collect();
        let labels = Labels::new(&labels, 3).expect("labels");
        MemoryRows::zero_one(Logits::new(rows, 3).expect("logits"), labels).expect("rows")
    }

    #[test]
    fn pages_bound_only_rows_that_did_not_tune() {
        let with = |holdout| TuneRequest {
            methods: vec!["MaxLogit-pNorm".parse().expect("a method")],
            holdout,
            ..TuneRequest::default()
        };
        let bounded = |request: &TuneRequest| {
            let result = tune(request, &mut rows(), &mut |_| {}).expect("tuned");
            let (picture, _) = result.picture().expect("a picture");
            picture.methods.iter().any(|method| method.positions.bound.is_some())
        };
        assert!(!bounded(&with(None)), "every row tuned");
        assert!(bounded(&with(Some(Holdout::Usual))));
    }

    #[test]
    fn a_method_that_rows_decide_nothing_about_certifies_on_all_of_them() {
        let certified = |methods: &[&str], fallback: Fallback| {
            let request = TuneRequest {
                methods: TuneRequest::methods_by_name(methods).expect("methods"),
                tuner: Tuner { fallback, ..Tuner::default() },
                target: Some(Target::Accuracy(0.2)),
                delta: Some(0.1),
                ..TuneRequest::default()
            };
            tune(&request, &mut rows(), &mut |_| {}).expect("tuned")
        };
        let veto = Tuner::default().fallback;
        let alone = certified(&["MSP"], veto);
        assert_eq!((alone.report.tuning_rows, alone.report.test_rows), (0, 400));
        // Nothing is known of the rows but that they measured, so that they count as compared.
        let tuning = alone.artifact.tuning.clone().expect("how it was measured");
        assert_eq!((tuning.data, tuning.pilot), (None, None));
        let wanted = CertifyRequest {
            delta: Some(0.1),
            ..CertifyRequest::uncertified(Target::Accuracy(0.2))
        };
        let bare =
            certify(&Artifact::new(Estimator::MSP), &wanted, &mut rows()).expect("certified");
        assert_eq!(alone.artifact.rule, bare.artifact.rule);
        let margin = certified(&["LogitsMargin", "MSP"], Fallback::None);
        assert_eq!(margin.report.tuning_rows, 0);
        assert_eq!(margin.artifact.estimator.to_string(), "LogitsMargin");
        // MSP may take its place, a parameter is tuned, or there is a choice.
        let chosen: [(&[&str], Fallback); 3] = [
            (&["LogitsMargin"], veto),
            (&["MSP-TS"], Fallback::None),
            (&["LogitsMargin", "MaxLogit"], Fallback::None),
        ];
        for (methods, fallback) in chosen {
            assert_eq!(certified(methods, fallback).report.tuning_rows, 50, "{methods:?}");
        }
    }

    #[test]
    fn methods_are_compared_on_a_sample_and_certified_on_all_test_rows() {
        let request = |max_compared| TuneRequest {
            methods: TuneRequest::methods_by_name(&["LogitsMargin"]).expect("methods"),
            target: Some(Target::Accuracy(0.2)),
            delta: Some(0.1),
            max_compared,
            ..TuneRequest::default()
        };
        let run =
            |max_compared| tune(&request(max_compared), &mut rows(), &mut |_| {}).expect("tuned");
        let (all, sample) = (run(1000), run(100));
        assert_eq!((all.report.test_rows, all.report.compared_rows), (350, 350));
        assert_eq!((sample.report.test_rows, sample.report.compared_rows), (350, 100));
        assert_eq!(sample.report.choice.estimator, all.report.choice.estimator);
        assert_eq!(sample.artifact.rule, all.artifact.rule);
        assert_eq!(sample.artifact.reference, all.artifact.reference);
        assert_eq!(sample.report.accuracy, all.report.accuracy);
        assert_eq!(sample.report.breakdown, all.report.breakdown);
        // The sample is one of the test rows, with their confidences.
        let places = sample.run.rows.as_ref().expect("places");
        let test = all.run.rows.as_ref().expect("places");
        for (index, place) in places.iter().enumerate() {
            let same = test.binary_search(place).expect("a test row");
            for (sample, all) in sample.run.confidences.iter().zip(&all.run.confidences) {
                assert_eq!(sample[index], all[same]);
            }
            assert_eq!(sample.run.losses.values()[index], all.run.losses.values()[same]);
        }
        // Another threshold on the same rows is that of all of them, too.
        let wanted = CertifyRequest {
            delta: Some(0.1),
            ..CertifyRequest::uncertified(Target::Accuracy(0.15))
        };
        let found =
            [&all, &sample].map(|result| result.with_threshold(&wanted).expect("certified"));
        assert_eq!(found[0].artifact.rule, found[1].artifact.rule);
        assert_eq!(
            sample.with_coverage(0.3).expect("a coverage").artifact.rule,
            all.with_coverage(0.3).expect("a coverage").artifact.rule
        );
    }

    #[test]
    fn thresholds_by_coverage_and_costs_replace_a_certificate_and_keep_names() {
        let request = TuneRequest {
            methods: vec![Method::MSP],
            target: Some(Target::Accuracy(0.2)),
            delta: Some(0.1),
            ..TuneRequest::default()
        };
        let names: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let mut named = rows().with_class_names(Some(names.clone()));
        let result = tune(&request, &mut named, &mut |_| {}).expect("tuned");
        assert!(result.report.certificate.is_some());
        let covering = result.with_coverage(0.25).expect("a coverage");
        let cheapest = result.with_costs(&Costs { error: 1.0, abstention: 0.7 }).expect("costs");
        let other = CertifyRequest::uncertified(Target::Accuracy(0.3));
        let other = result.with_threshold(&other).expect("a target");
        for found in [&covering, &cheapest, &other] {
            assert!(found.report.certificate.is_none());
            assert_eq!(found.artifact.class_names.as_ref(), Some(&names));
            let at = found.artifact.threshold().expect("a threshold").at;
            let accepted = accepted_by(at, &result.run.confidences[TuneReport::BASELINE]);
            let parts = &found.report.breakdown.as_ref().expect("counts").by_class;
            assert_eq!(parts.iter().map(|part| part.accepted).sum::<usize>(), accepted);
            assert!(parts.iter().all(|part| names.contains(&part.name)));
        }
        let Some(&Threshold { at, basis: Basis::Coverage { accepted, rows, .. } }) =
            covering.artifact.threshold()
        else {
            panic!("{:?}", covering.artifact.rule)
        };
        assert_eq!(accepted_by(at, &result.run.confidences[TuneReport::BASELINE]), accepted);
        // A little more than a quarter: some of these confidences tie.
        assert!((100..200).contains(&accepted) && rows == 400, "{accepted}");
        let basis = &cheapest.artifact.threshold().expect("a threshold").basis;
        assert!(matches!(basis, Basis::Cost { .. }));
    }

    #[test]
    fn another_threshold_equals_tuning_with_its_target() {
        let request = |accuracy| TuneRequest {
            methods: vec!["MaxLogit-pNorm".parse().expect("a method")],
            target: Some(Target::Accuracy(accuracy)),
            ..TuneRequest::default()
        };
        let run = |request: &TuneRequest| tune(request, &mut rows(), &mut |_| {}).expect("tuned");
        let json = |result: &TuneResult| {
            let mut json = serde_json::to_value(&result.report).expect("serialises");
            // The choice depends on the first target.
            json["choice"] = serde_json::Value::Null;
            json
        };
        let (before, after) = (request(0.3), request(0.4));
        let wanted = CertifyRequest::uncertified(Target::Accuracy(0.4));
        let found = run(&before).with_threshold(&wanted).expect("measured again");
        assert_eq!(json(&found), json(&run(&after)));
        assert_eq!(found.artifact.rule, run(&after).artifact.rule);
        assert_ne!(json(&found), json(&run(&before)));
        let several = run(&TuneRequest { splits: 3, ..before.clone() });
        assert!(several.report.methods[1].naurc.spread.is_some());
        let found = several.with_threshold(&wanted).expect("measured again");
        let split = TuneRequest { holdout: Some(Holdout::Usual), ..after };
        assert_eq!(json(&found), json(&run(&split)));
        let certified = CertifyRequest { delta: Some(0.1), ..wanted };
        let refused = run(&before).with_threshold(&certified);
        assert!(matches!(refused, Err(LabError::NoCertifyingRows)));
    }
}
