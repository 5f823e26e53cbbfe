//! What `abstain tune` found.

use crate::plot;
use crate::table::{Align, Table};
use crate::words::{
    BAD, GOOD, QUIET, STRONG, count, estimator, numbers, percent, signed, significant, styled,
    target, target_percent,
};
use abstain::{Estimator, Method};
use abstain_lab::{MethodLine, MetricValue, Reason, Target, TuneReport};
use std::fmt::Write;

const NONE: &str = "—";

/// The table of methods, the curves before and after, and what to make of them.
pub fn tuning(report: &TuneReport) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", heading(report));
    for line in table(report).lines() {
        let chosen = line.starts_with(" ▸");
        let _ = writeln!(text, "{}", if chosen { styled(STRONG, &line) } else { line });
    }
    text += &footnotes(report);
    let is_msp = report.choice.estimator == Estimator::MSP;
    let name = report.choice.method.to_string();
    let after = (!is_msp).then_some((&name[..], &report.after));
    let _ = write!(text, "\n{}\n", plot::risk_coverage(&report.before, after, report.zero_one));
    let _ = writeln!(text, "{}", styled(if is_msp { STRONG } else { GOOD }, &verdict(report)));
    let _ = writeln!(text, "{}", why(report));
    if let Some(certified) = certified(report) {
        let style = if report.certificate.is_some() { GOOD } else { BAD };
        let _ = writeln!(text, "{}", styled(style, &certified));
    }
    text
}

/// The rows and the classifier in one line.
pub(crate) fn heading(report: &TuneReport) -> String {
    let splits = match report.splits {
        1 => String::new(),
        splits => format!("; mean ± standard deviation over {splits} random splits"),
    };
    let level = if report.zero_one {
        format!("accuracy {:.3}", report.accuracy)
    } else {
        format!("mean loss {:.3}", 1.0 - report.accuracy)
    };
    format!(
        "{} rows tune, {} others measure; {} classes; {level}{splits}",
        count(report.tuning_rows),
        count(report.test_rows),
        count(report.classes),
    )
}

/// What the share that is kept is called.
pub(crate) fn kept_at(target: Target) -> String {
    match target {
        Target::Accuracy(accuracy) => format!("kept at {}", target_percent(accuracy)),
        Target::Risk(risk) => format!("kept at risk {}", significant(risk)),
    }
}

/// The lines of the table: MSP, to which all others are compared, then the best first. Also the place
/// of each in the report.
pub(crate) fn lines(report: &TuneReport) -> Vec<(usize, &MethodLine)> {
    let mut lines: Vec<_> =
        report.methods.iter().enumerate().filter(|(_, own)| own.stands_alone()).collect();
    let key = |line: &MethodLine| value(&line.naurc).unwrap_or(f64::INFINITY);
    lines.sort_by(|(_, a), (_, b)| {
        let is_msp = |line: &MethodLine| line.method != Method::MSP;
        (is_msp(a)).cmp(&is_msp(b)).then(key(a).total_cmp(&key(b)))
    });
    lines
}

fn table(report: &TuneReport) -> Table {
    let kept = format!("{} ↑", kept_at(report.target));
    let mut table = Table::new(&[
        ("  method", Align::Left),
        ("tuned to", Align::Left),
        ("NAURC ↓", Align::Right),
        (if report.splits > 1 { "gain over MSP" } else { "gain over MSP [95 %]" }, Align::Right),
        ("AURC ↓", Align::Right),
        ("AUROC ↑", Align::Right),
        (&kept, Align::Right),
    ]);
    let choice = report.chosen();
    for (place, line) in lines(report) {
        let mark = if place == choice { "▸" } else { " " };
        table.row([
            format!("{mark} {}", line.method),
            line.estimator.as_ref().map_or(String::new(), numbers),
            number(&line.naurc, 4),
            gain(line),
            number(&line.aurc, 4),
            number(&line.auroc, 4),
            share(&line.kept),
        ]);
    }
    table
}

/// The number that is shown: the mean over splits where there are several.
pub(crate) fn value(metric: &MetricValue) -> Option<f64> {
    metric.spread.map(|own| own.mean).or(metric.interval.map(|own| own.estimate))
}

/// What the table leaves out, and what its numbers are.
pub(crate) fn notes(report: &TuneReport) -> Vec<String> {
    let mut notes = Vec::new();
    let given_up: Vec<String> = report
        .methods
        .iter()
        .filter(|own| own.fell_back && own.problem.is_none())
        .map(|own| own.method.to_string())
        .collect();
    if !given_up.is_empty() {
        notes.push(format!("No better than MSP on the tuning rows: {}.", given_up.join(", ")));
    }
    for line in &report.methods {
        if let Some(problem) = &line.problem {
            notes.push(format!("{}: {problem}.", line.method));
        }
    }
    let surely = |own: &&MethodLine| own.gain.interval.is_some_and(|gain| gain.low > 0.0);
    let passed_over = report
        .methods
        .iter()
        .filter(|own| own.stands_alone() && own.method != report.choice.method)
        .filter(surely);
    if report.choice.estimator == Estimator::MSP && passed_over.count() > 0 {
        notes.push(format!(
            "Only {} was a candidate: the best of many would look better on these rows than it is. To have \
             another, ask for it by its name.",
            report.choice.method
        ));
    }
    notes.push(
        "NAURC is 0 for an ideal confidence and 1 for a random one; gain is what it falls by."
            .into(),
    );
    notes
}

fn footnotes(report: &TuneReport) -> String {
    let mut text = String::new();
    for line in notes(report).iter().flat_map(|note| wrapped(note, 98)) {
        let _ = writeln!(text, " {}", styled(QUIET, &line));
    }
    text
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() >= width {
            lines.push(word.to_string());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last] += word;
        }
    }
    lines
}

fn number(value: &MetricValue, decimals: usize) -> String {
    match (value.spread, value.interval) {
        (Some(own), _) => format!("{:.decimals$} ± {:.decimals$}", own.mean, own.std),
        (None, Some(own)) => format!("{:.decimals$}", own.estimate),
        (None, None) => NONE.into(),
    }
}

fn share(value: &MetricValue) -> String {
    match (value.spread, value.interval) {
        (Some(own), _) => format!("{:.1} ± {:.1} %", 100.0 * own.mean, 100.0 * own.std),
        (None, Some(own)) => percent(own.estimate),
        (None, None) => NONE.into(),
    }
}

fn gain(line: &MethodLine) -> String {
    if line.method == Method::MSP {
        return String::new();
    }
    match (line.gain.spread, line.gain.interval) {
        (Some(own), _) => format!("{} ± {:.3}", signed(own.mean, 3), own.std),
        (None, Some(own)) => {
            let [gain, low, high] = [own.estimate, own.low, own.high].map(|x| signed(x, 3));
            format!("{gain} [{low}, {high}]")
        }
        (None, None) => NONE.into(),
    }
}

/// One sentence: what to use, and what it buys.
pub fn verdict(report: &TuneReport) -> String {
    let line = |method: Method| report.methods.iter().find(|own| own.method == method);
    let kept = |method| line(method).and_then(|own| value(&own.kept));
    let before = kept(Method::MSP);
    let asked = target(report.target);
    if report.choice.estimator == Estimator::MSP {
        return match before {
            Some(0.0) => format!("Keep MSP: it reaches {asked} at no threshold."),
            Some(before) => {
                format!("Keep MSP: at {asked} it answers {} of the inputs.", percent(before))
            }
            None => "Keep MSP.".into(),
        };
    }
    let name = estimator(&report.choice.estimator);
    let naurc = |method| line(method).map_or_else(String::new, |own| number(&own.naurc, 3));
    match (before, kept(report.choice.method)) {
        (Some(before), Some(after)) if percent(after) != percent(before) && after > before => {
            format!(
                "Use {name}: at {asked} you keep {} of the inputs instead of {}.",
                percent(after),
                percent(before)
            )
        }
        (Some(before), Some(after)) => {
            let there = match after.max(before) {
                0.0 => format!("{asked} is out of reach"),
                _ => format!("at {asked} it keeps {}, MSP {}", percent(after), percent(before)),
            };
            let (after, before) = (naurc(report.choice.method), naurc(Method::MSP));
            let word = if report.choice.reason == Reason::AsRequested { "Taken" } else { "Use" };
            format!("{word} {name}: its NAURC is {after}, MSP's {before}; {there}.")
        }
        _ => format!("Use {name}."),
    }
}

/// Why that was chosen.
pub(crate) fn why(report: &TuneReport) -> String {
    if report.zero_one && (report.accuracy == 1.0 || report.accuracy == 0.0) {
        let all = if report.accuracy == 1.0 { "wrong" } else { "right" };
        return format!("No test row is {all}, so that there is nothing to compare.");
    }
    let (method, metric) = (report.choice.method, report.choice.decided_by);
    let gain = report.choice.gain;
    let interval = gain.map_or_else(String::new, |own| {
        let [gain, low, high] = [own.estimate, own.low, own.high].map(|x| signed(x, 3));
        format!(" ({gain}, 95 % interval {low} to {high})")
    });
    match report.choice.reason {
        Reason::Confirmed => {
            format!("Its gain in {metric}{interval} was measured on rows that tuning had not seen.")
        }
        Reason::NotConfirmed if gain.is_some_and(|own| own.high < 0.0) => format!(
            "{method} looked better on the tuning rows, but the others refute it{interval}."
        ),
        Reason::NotConfirmed => format!(
            "{method} looked better on the tuning rows, but the others do not confirm it{interval}."
        ),
        Reason::WorseAtTarget => {
            let at = report.choice.decided_at.map_or("the target".into(), target);
            format!(
                "{method} is better over all coverages by {metric}{interval}, but at {at} MSP keeps more."
            )
        }
        Reason::FellBack => format!("{method} was no better than MSP on the tuning rows."),
        Reason::AsRequested => format!("As tuned, without a fallback; its gain in {metric}{interval}."),
        _ => "There was nothing to compare it with.".into(),
    }
}

/// What is guaranteed, or why nothing is.
pub fn certified(report: &TuneReport) -> Option<String> {
    let asked = target(report.target);
    if let Some(own) = &report.certificate {
        return Some(format!(
            "Certified, with probability {}: {asked} or better on {} of the inputs \
             (errors: {} in {} answers).",
            target_percent(1.0 - own.delta),
            percent(own.coverage()),
            count(own.errors),
            count(own.accepted),
        ));
    }
    let why = report.infeasible.as_ref()?;
    Some(format!("No threshold for {asked} can be certified: {}.", why.0))
}
