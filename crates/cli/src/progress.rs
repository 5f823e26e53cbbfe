//! Progress on standard error, for work that takes longer than people like to wait.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// What is over before this needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that appears once work turns out to be long; never where standard error is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    quiet: bool,
}

impl Progress {
    /// Work of which only the share that is done is known.
    pub(crate) fn of_shares(what: &str, quiet: bool) -> Self {
        let progress = Progress::new(what, Some(1), quiet);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {percent:>3} %, {eta} left  {msg}")
        {
            progress.bar.set_style(style);
        }
        progress
    }

    /// So many steps, if that is known.
    pub(crate) fn new(what: &str, steps: Option<u64>, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::hidden());
        let template = if steps.is_some() {
            "{msg} {bar:32} {percent:>3} %  {human_pos} of {human_len}, {eta} left"
        } else {
            "{msg} {spinner} {human_pos}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_string());
        Progress { bar, started: Instant::now(), quiet }
    }

    /// Says how far the work has come.
    pub(crate) fn at(&self, step: u64) {
        // indicatif stays silent by itself if standard error is no terminal.
        if !self.quiet && self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(step);
    }

    /// The same, where the number of steps was not known before.
    pub(crate) fn of(&self, step: u64, steps: u64) {
        self.bar.set_length(steps);
        self.at(step);
    }

    /// Says what is done now.
    pub(crate) fn now(&self, what: String) {
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
