//! The styles of a terminal.

use anstyle::{AnsiColor, Style};

pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();
pub(crate) const BASELINE: Style = AnsiColor::Yellow.on_default();

/// A text in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
