//! The page of `abstain tune`.

use super::model::{AcceptedBy, BASELINE, Mark, SetHead, SetView, Terms, level, page, ranking};
use super::table::PageTable;
use super::{About, Detail, PageError, Tile, Verdict};
use crate::findings::{self, chosen, heading, value};
use crate::words::{self, percent, target, target_percent};
use abstain::{Estimator, Method, artifact::Tuning};
use abstain_lab::picture::Number;
use abstain_lab::{MethodLine, MetricValue, TuneReport, TuneResult};

/// The page of a tuned classifier: its result, and what only the caller knows.
///
/// ```no_run
/// # fn example(result: &abstain_lab::TuneResult) -> Result<(), Box<dyn std::error::Error>> {
/// use abstain_report::page::{Detail, TunePage};
///
/// let html = TunePage {
///     title: "logits.npy".into(),
///     provenance: vec![Detail::new("Command", "abstain tune logits.npy labels.npy")],
///     ..TunePage::new(result)
/// }
/// .html()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TunePage<'a> {
    /// The result.
    pub result: &'a TuneResult,
    /// The title, mostly the name of a file.
    pub title: String,
    /// The name of the test rows; the title if there is none.
    pub measured_on: Option<String>,
    /// The names of the classes, if they have any.
    pub class_names: Option<Vec<String>>,
    /// Details that only the caller knows, such as the program and its command.
    pub provenance: Vec<Detail>,
    /// What `--json` prints; the page contains it.
    pub json: serde_json::Value,
}

impl<'a> TunePage<'a> {
    /// A page without title, names and provenance.
    pub fn new(result: &'a TuneResult) -> Self {
        TunePage {
            result,
            title: String::new(),
            measured_on: None,
            class_names: None,
            provenance: Vec::new(),
            json: serde_json::json!({ "report": result.report, "artifact": result.artifact }),
        }
    }

    /// The page as HTML.
    pub fn html(self) -> Result<String, PageError> {
        let report = &self.result.report;
        let delta = self.result.delta();
        let (picture, _) = self.result.picture()?;
        let names: Vec<&str> = picture.methods.iter().map(|method| &method.name[..]).collect();
        let place = |method: Method| {
            let name = method.to_string();
            names.iter().position(|&drawn| drawn == name).unwrap_or(BASELINE)
        };
        let choice = place(chosen(report).method);
        let mut shown = findings::tuning(report);
        let names_of_classes = self.class_names.as_deref();
        shown.findings.splice(0..0, findings::of_classes(&report.warnings, names_of_classes));
        let head = SetHead {
            name: self.measured_on.clone().unwrap_or_else(|| self.title.clone()),
            verdict: Verdict::new(shown.findings),
            numbers: numbers(report),
            table: PageTable::new(&shown.sheet.unwrap_or_default()).selecting(&names),
            accepted: AcceptedBy::all(report.breakdown.as_ref()),
        };
        let parameters = |name: &str| {
            let line = report.methods.iter().find(|line| line.method.to_string() == name);
            line.and_then(|line| line.estimator.as_ref()).map_or(String::new(), words::parameters)
        };
        let set = SetView::new(&head, picture, parameters, choice, marks(report, choice));
        let terms = Terms { kind: "tune", delta, target: report.target, zero_one: report.zero_one };
        page(&self.about(), &heading(report), terms, None, &[head], &[set])
    }

    /// The details of every page of `tune`, then those of the caller.
    fn about(self) -> About {
        let TuneResult { request, artifact, .. } = self.result;
        let tuning = artifact.tuning.as_ref();
        let mut details = vec![Detail::new("Estimator", artifact.estimator.to_string())];
        details.extend(tuning.map(settings).into_iter().flatten());
        if let Some(replicates) = request.replicates {
            details.push(Detail::new("Bootstrap replicates", replicates.to_string()));
        }
        details.extend(self.provenance);
        About {
            title: self.title,
            loss: About::unusual_loss(tuning.map_or("", |tuning| &tuning.loss)),
            class_names: self.class_names,
            details,
            report: self.json,
        }
    }
}

/// How the estimator was tuned, and on which rows.
fn settings(tuning: &Tuning) -> Vec<Detail> {
    let tuned_on = tuning.data.as_deref();
    let measured_on = tuning.measured.as_ref().and_then(|measured| measured.data.as_deref());
    let mut details = Vec::new();
    details.extend(tuned_on.map(|hash| Detail::new("Rows and labels", hash)));
    let apart = measured_on.filter(|_| measured_on != tuned_on);
    details.extend(apart.map(|hash| Detail::new("Test rows", hash)));
    details.extend([
        Detail::new("Tuned for", tuning.objective.to_string()),
        Detail::new("Loss", tuning.loss.clone()),
        Detail::new("Search space", tuning.space.clone()),
        Detail::new("Fallback", tuning.fallback.to_string()),
        Detail::new("Seed", tuning.seed.to_string()),
    ]);
    details
}

/// The certified threshold as an operating point.
fn marks(report: &TuneReport, choice: usize) -> Vec<Mark> {
    let mark = |certificate: &abstain::certify::Certificate| Mark {
        name: "certified",
        method: choice,
        accepted: certificate.accepted,
        threshold: Number(certificate.threshold),
        note: Some(format!(
            "Certified: {} or better with a confidence of {}. This target was fixed beforehand.",
            target(report.target),
            target_percent(1.0 - certificate.delta)
        )),
    };
    report.certificate.iter().map(mark).collect()
}

/// The quality of the classifier, the coverage at the target, and what is certain about it.
fn numbers(report: &TuneReport) -> Vec<Tile> {
    let chosen = chosen(report);
    let baseline = report.methods.iter().find(|line| line.method == Method::MSP);
    // Nothing is compared with itself.
    let baseline = baseline.filter(|_| report.choice.estimator != Estimator::MSP);
    let of_baseline = |metric: fn(&MethodLine) -> &MetricValue| {
        let before = baseline.and_then(|line| value(metric(line)));
        before.map(|before| format!("MSP: {}", percent(before)))
    };
    let goal = target(report.target);
    let coverage = value(&chosen.coverage).map_or("—".into(), percent);
    let coverage = Tile::new(coverage, format!("of the inputs are answered at {goal}"))
        .noted(of_baseline(|line| &line.coverage));
    let last = match (&report.certificate, &report.infeasible) {
        (Some(certificate), _) => Tile::new(
            percent(certificate.coverage()),
            format!(
                "are answered at the certified threshold: {goal} or better, with a confidence of {}",
                target_percent(1.0 - certificate.delta)
            ),
        )
        .noted(Some(findings::coverage_limits(certificate))),
        (None, Some(refusal)) => {
            Tile::new("none", format!("of the thresholds can be certified for {goal}"))
                .noted(Some(refusal.0.to_string()))
        }
        (None, None) => {
            // Of the first split, as the accuracy beside it.
            let auroc = |line: &MethodLine| line.auroc.interval.map(|auroc| auroc.estimate);
            match auroc(chosen) {
                Some(found) => ranking(found, baseline.and_then(auroc)),
                None => Tile::new(words::count(report.test_rows), "rows were measured"),
            }
        }
    };
    let level = level(report.accuracy, report.zero_one);
    // What is certified comes first.
    if report.certificate.is_some() {
        vec![last, level, coverage]
    } else {
        vec![level, coverage, last]
    }
}
