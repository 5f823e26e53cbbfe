//! The page of `abstain tune`.

use super::model::{BASELINE, Mark, SetHead, SetView, Terms, level, page, ranking};
use super::table::PageTable;
use super::{About, DEFAULT_DELTA, Detail, PageError, Tile, Verdict};
use crate::findings::{self, chosen, heading, value};
use crate::words::{self, percent, target, target_percent};
use abstain::{Artifact, Bootstrap, Estimator, Method, Tuning};
use abstain_lab::picture::{Answers, Number, Painter, Picture};
use abstain_lab::{Found, MethodLine, MetricValue, TuneReport};

/// The page of a tuned classifier: what it shows, and what only the caller knows.
///
/// ```no_run
/// # fn example(
/// #     found: &abstain_lab::Found,
/// #     artifact: &abstain::Artifact,
/// #     answers: &abstain_lab::picture::Answers,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use abstain_report::page::{Detail, TunePage};
///
/// let html = TunePage {
///     title: "logits.npy".into(),
///     measured_on: "logits.npy".into(),
///     provenance: vec![Detail::new("Command", "abstain tune logits.npy labels.npy")],
///     json: serde_json::json!({ "report": found.report, "artifact": artifact }),
///     ..TunePage::new(found, artifact, answers, 1000)
/// }
/// .html()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TunePage<'a> {
    /// The result, with the confidences that are drawn.
    pub found: &'a Found,
    /// The report that is shown: that of the result, unless its threshold was replaced since.
    pub report: &'a TuneReport,
    /// The artifact, for its provenance: loss, search space, fallback, fingerprints.
    pub artifact: &'a Artifact,
    /// Labels and predictions of the rows that the test rows belong to.
    pub answers: &'a Answers,
    /// How often the bounds may fail, if a certificate was requested; 5 % otherwise.
    pub delta: Option<f64>,
    /// Bootstrap replicates of the bands.
    pub replicates: usize,
    /// The title, mostly the name of a file.
    pub title: String,
    /// The name of the test rows.
    pub measured_on: String,
    /// The names of the classes, if they have any.
    pub class_names: Option<Vec<String>>,
    /// Details that only the caller knows, such as the program and its command.
    pub provenance: Vec<Detail>,
    /// What `--json` prints; the page contains it.
    pub json: serde_json::Value,
}

impl<'a> TunePage<'a> {
    /// A page without title, names and provenance.
    pub fn new(
        found: &'a Found,
        artifact: &'a Artifact,
        answers: &'a Answers,
        replicates: usize,
    ) -> Self {
        TunePage {
            found,
            report: &found.report,
            artifact,
            answers,
            delta: None,
            replicates,
            title: String::new(),
            measured_on: String::new(),
            class_names: None,
            provenance: Vec::new(),
            json: serde_json::Value::Null,
        }
    }

    /// The page as HTML.
    pub fn html(self) -> Result<String, PageError> {
        let report = self.report;
        let delta = self.delta.unwrap_or(DEFAULT_DELTA);
        let picture = self.picture(delta)?;
        let names: Vec<&str> = picture.methods.iter().map(|method| &method.name[..]).collect();
        let place = |method: Method| {
            let name = method.to_string();
            names.iter().position(|&drawn| drawn == name).unwrap_or(BASELINE)
        };
        let choice = place(chosen(report).method);
        let shown = findings::tuning(report);
        let head = SetHead {
            name: self.measured_on.clone(),
            verdict: Verdict::new(shown.findings),
            numbers: numbers(report),
            table: PageTable::new(&shown.sheet.unwrap_or_default()).selecting(&names),
        };
        let parameters = |name: &str| {
            let line = report.methods.iter().find(|line| line.method.to_string() == name);
            line.and_then(|line| line.estimator.as_ref()).map_or(String::new(), words::parameters)
        };
        let set = SetView::new(&head, picture, parameters, choice, marks(report, choice));
        let terms = Terms { kind: "tune", delta, target: report.target, zero_one: report.zero_one };
        page(&self.about(), &heading(report), terms, None, &[head], &[set])
    }

    fn picture(&self, delta: f64) -> Result<Picture, PageError> {
        let (replicates, seed) = (self.replicates, self.report.seed);
        let painter = Painter {
            delta: Some(delta),
            target: self.report.target,
            bootstrap: Bootstrap { replicates, seed, ..Bootstrap::default() },
            pictures: 1,
        };
        Ok(self.found.picture(&painter, self.answers)?.0)
    }

    /// The details of every page of `tune`, then those of the caller.
    fn about(self) -> About {
        let tuning = self.artifact.tuning.as_ref();
        let mut details = vec![Detail::new("Estimator", self.artifact.estimator.to_string())];
        details.extend(tuning.map(settings).into_iter().flatten());
        details.push(Detail::new("Bootstrap replicates", self.replicates.to_string()));
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
    details.extend(tuned_on.map(|hash| Detail::new("Rows and labels (SHA-256)", hash)));
    let apart = measured_on.filter(|_| measured_on != tuned_on);
    details.extend(apart.map(|hash| Detail::new("Test rows (SHA-256)", hash)));
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
    let coverage = value(&chosen.kept).map_or("—".into(), percent);
    let coverage = Tile::new(coverage, format!("of the inputs are answered at {goal}"))
        .noted(of_baseline(|line| &line.kept));
    let last = match (&report.certificate, &report.infeasible) {
        (Some(certificate), _) => Tile::new(
            percent(certificate.coverage()),
            format!(
                "are answered at the certified threshold: {goal} or better, with a confidence of {}",
                target_percent(1.0 - certificate.delta)
            ),
        ),
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
    vec![level(report.accuracy, report.zero_one), coverage, last]
}
