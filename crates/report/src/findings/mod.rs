//! Results in words, tables and figures, before any output format.
//!
//! A result becomes [`Findings`] here and nowhere else; the terminal and the page show the same
//! sentences and the same [`Sheet`], each in its way. A finding carries its tone, and a row of a
//! sheet carries its mark, as data.

mod artifact;
mod audit;
mod breakdown;
mod curve;
mod evaluation;
mod label_free;
mod monitor;
pub mod sentences;
mod stream;
mod tuning;
mod warning;

pub use artifact::{artifact, counted_once, sampled, threshold};
pub use audit::audit;
pub use breakdown::breakdown;
pub use curve::tuning_figure;
pub(crate) use evaluation::{baseline, compared, level, over_sets};
pub use evaluation::{evaluation, summary};
pub use label_free::{label_free, label_free_verdict};
pub use monitor::{monitor, monitor_evidence};
pub use stream::monitor_figures;
pub use tuning::{certified, few_rows, tuning, tuning_in_short, verdict};
pub(crate) use tuning::{chosen, coverage_limits, heading, value};
pub(crate) use warning::of_classes;
pub use warning::{named_warning_text, warning_text};

use crate::figure::Figure;
use crate::sheet::Sheet;
use serde::Serialize;

/// How a finding is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Good news.
    Good,
    /// A conclusion that is neither good nor bad.
    Neutral,
    /// Bad news: a refusal, or a result that is worse than expected.
    Bad,
    /// An explanation.
    Plain,
}

/// One sentence of a report with its tone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How it is meant.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
}

impl Finding {
    /// A sentence with its tone.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Finding { tone, text: text.into() }
    }
}

/// What a result shows, in reading order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// What was measured.
    pub about: Vec<Finding>,
    /// The numbers.
    pub sheet: Option<Sheet>,
    /// The curves.
    pub figure: Option<Figure>,
    /// What follows from them, the most important first.
    pub findings: Vec<Finding>,
}

impl Findings {
    /// The same as text without any styles.
    pub fn text(&self) -> String {
        crate::terminal::text(self, false)
    }

    /// The same in Markdown.
    pub fn markdown(&self) -> String {
        let sentences = |findings: &[Finding]| -> Vec<String> {
            findings.iter().map(|finding| crate::sheet::escaped(&finding.text) + "\n").collect()
        };
        let mut parts = sentences(&self.about);
        parts.extend(self.sheet.as_ref().map(Sheet::markdown));
        parts.extend(sentences(&self.findings));
        parts.join("\n")
    }
}

/// The finding that a reader must not miss, then the others in order: good news does not outweigh
/// bad news.
pub(crate) fn headline_first(mut findings: Vec<Finding>) -> Vec<Finding> {
    if let Some(bad) = findings.iter().position(|finding| finding.tone == Tone::Bad) {
        let headline = findings.remove(bad);
        findings.insert(0, headline);
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_news_comes_first_and_the_rest_keeps_its_order() {
        let tones = [Tone::Good, Tone::Plain, Tone::Bad, Tone::Bad];
        let findings = tones.iter().enumerate().map(|(i, &tone)| Finding::new(tone, i.to_string()));
        let order: Vec<String> =
            headline_first(findings.collect()).into_iter().map(|finding| finding.text).collect();
        assert_eq!(order, ["2", "0", "1", "3"]);
        assert!(headline_first(Vec::new()).is_empty());
    }

    #[test]
    fn markdown_escapes_sentences() {
        let findings = Findings {
            about: vec![Finding::new(Tone::Neutral, "a_b: 3 rows")],
            findings: vec![Finding::new(Tone::Good, "Use <it>.")],
            ..Findings::default()
        };
        assert_eq!(findings.markdown(), "a\\_b: 3 rows\n\nUse &lt;it&gt;.\n");
    }
}
