//! How the program ends after an error or a refusal.

use crate::hints;
use anstyle::{AnsiColor, Style};
use std::fmt;
use std::io;
use std::process::ExitCode;

const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// A valid request without a solution: neither the user's nor the program's error.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// An error and what may help against it.
#[derive(Debug)]
pub(crate) struct Hinted {
    pub(crate) problem: String,
    pub(crate) hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Hinted {}

/// An error and what may help against it.
pub(crate) fn hinted(problem: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Hinted { problem: problem.into(), hint: hint.into() }.into()
}

/// Prints an error and returns the code to exit with.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // The reader of a pipe has closed it, as `| head` does.
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if let Some(refused) = error.downcast_ref::<Refused>() {
        anstream::eprintln!("{RED}refused{RED:#}: {refused}");
        return ExitCode::from(1);
    }
    // The sources of a file's error say nothing more than it does.
    let mut text = error.to_string();
    let contexts = error.chain().skip(1).take_while(|cause| !cause.is::<io::Error>());
    for cause in contexts {
        text = format!("{text}: {cause}");
    }
    anstream::eprintln!("{RED}error{RED:#}: {text}");
    let hint = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<abstain_io::Error>())
        .and_then(abstain_io::Error::hint)
        .map(|hint| hints::words(&hint))
        .or_else(|| error.downcast_ref::<Hinted>().map(|hinted| hinted.hint.clone()));
    if let Some(hint) = hint {
        anstream::eprintln!("{CYAN}hint{CYAN:#}: {hint}");
    }
    ExitCode::from(2)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}
