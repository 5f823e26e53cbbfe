//! Findings for the terminal: tones become ANSI styles, figures are drawn in characters.

pub(crate) mod ansi;
mod plot;

use crate::findings::{self, Finding, Findings, Tone};
use abstain::Artifact;
use abstain_lab::{
    AuditResult, Breakdown, Known, LabelFreeResult, SetReport, TuneReport, WatchResult,
};
use ansi::{BAD, GOOD, STRONG, styled};
use std::fmt::Write;

/// Where notes below a table are wrapped.
const NOTE_WIDTH: usize = 99;

/// The methods, the risk-coverage curves of baseline and choice, and what to use.
pub fn tuning(report: &TuneReport) -> String {
    text(&findings::tuning(report), true)
}

/// The same with a table of the baseline, the chosen method and the best of the others.
pub fn tuning_in_short(report: &TuneReport) -> String {
    text(&findings::tuning_in_short(report), true)
}

/// The label-free rule, what it is worth elsewhere, and what it cannot know.
pub fn label_free(result: &LabelFreeResult) -> String {
    text(&findings::label_free(result), true)
}

/// The metrics of a set of rows, and what they say about the estimators.
pub fn evaluation(report: &SetReport, known: Known) -> String {
    text(&findings::evaluation(report, known), true)
}

/// Several sets of rows compared, one row a set.
pub fn summary(reports: &[SetReport], known: Known) -> String {
    text(&findings::summary(reports, known), true)
}

/// What a threshold accepts in each predicted class and group.
pub fn breakdown(breakdown: &Breakdown) -> String {
    let tables = findings::breakdown(breakdown);
    tables.iter().flat_map(|findings| ["\n".to_string(), text(findings, true)]).collect()
}

/// An artifact in words: the estimator, its threshold, and how it was tuned.
pub fn artifact(artifact: &Artifact) -> String {
    text(&findings::artifact(artifact), true)
}

/// The tests of a stream, its alarms, and what to do.
pub fn monitor(result: &WatchResult) -> String {
    text(&findings::monitor(result), true)
}

/// The rows to have labelled, and what labels can show.
pub fn audit(result: &AuditResult) -> String {
    text(&findings::audit(result), true)
}

/// Findings as text, with ANSI styles if `colour`.
pub(crate) fn text(findings: &Findings, colour: bool) -> String {
    let mut text = lines(&findings.about, colour);
    if let Some(sheet) = &findings.sheet {
        text += &sheet.terminal_below_title(NOTE_WIDTH, colour);
    }
    if let Some(figure) = &findings.figure {
        let _ = write!(text, "\n{}\n", plot::lines(figure, colour));
    }
    text + &lines(&findings.findings, colour)
}

fn lines(findings: &[Finding], colour: bool) -> String {
    findings.iter().map(|finding| line(finding, colour) + "\n").collect()
}

fn line(Finding { tone, text }: &Finding, colour: bool) -> String {
    match tone {
        Tone::Good if colour => styled(GOOD, text),
        Tone::Bad if colour => styled(BAD, text),
        Tone::Neutral if colour => styled(STRONG, text),
        _ => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tones_become_styles_and_the_words_stay() {
        let finding = |tone, text: &str| Finding::new(tone, text);
        let findings = Findings {
            about: vec![finding(Tone::Plain, "10 rows")],
            findings: vec![finding(Tone::Good, "Use it."), finding(Tone::Bad, "Refused.")],
            ..Findings::default()
        };
        let expected = "10 rows\n\u{1b}[1m\u{1b}[32mUse it.\u{1b}[0m\n\
                        \u{1b}[1m\u{1b}[31mRefused.\u{1b}[0m\n";
        assert_eq!(text(&findings, true), expected);
        assert_eq!(text(&findings, false), "10 rows\nUse it.\nRefused.\n");
    }
}
