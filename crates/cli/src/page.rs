//! The page that commands write with `--report`.

use crate::data::not_over;
use crate::failure::hinted;
use abstain_io::{AtomicFile, ErrorKind};
use abstain_lab::picture::Painter;
use abstain_report::page::{About, Detail};
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How often the bounds on a page may fail, if nothing else is asked for.
pub(crate) const DELTA: f64 = 0.05;

#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageArguments {
    /// Write a page to look at: one HTML file that opens anywhere, also offline
    #[arg(long = "report", value_name = "FILE")]
    file: Option<PathBuf>,
    /// For --report: the names of the classes, one a line
    #[arg(long, value_name = "FILE", requires = "file")]
    class_names: Option<PathBuf>,
}

impl PageArguments {
    /// Where the page goes, if there is to be one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Refuses to write over what is read or written otherwise, before any work is done.
    pub(crate) fn check(&self, others: &[&Path]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut others = others.to_vec();
        others.extend(self.class_names.as_deref());
        check_page(file, &others)
    }

    /// The names of the classes, as many as there are.
    pub(crate) fn class_names(&self, classes: Option<usize>) -> Result<Option<Vec<String>>> {
        let Some(path) = &self.class_names else { return Ok(None) };
        let text =
            std::fs::read_to_string(path).map_err(|error| ErrorKind::from(error).of(path))?;
        let names: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
        match classes {
            Some(classes) if classes != names.len() => {
                let problem =
                    format!("{}: {} names for {classes} classes", path.display(), names.len());
                Err(hinted(problem, "one name a line, in the order of the classes"))
            }
            _ => Ok(Some(names)),
        }
    }
}

/// Refuses a page that could not be written, or not without loss.
pub(crate) fn check_page(file: &Path, others: &[&Path]) -> Result<()> {
    if file.as_os_str() == "-" {
        return Err(hinted("a page is written to a file", "give it a name, such as report.html"));
    }
    not_over(file, others)?;
    if let Some(same) = others.iter().find(|other| **other == file) {
        let problem = format!("the page and something else would both be {}", same.display());
        return Err(hinted(problem, "choose another name for the page"));
    }
    drop(AtomicFile::create(file)?);
    Ok(())
}

/// Writes a page, and says so.
pub(crate) fn write_page(file: &Path, html: &str, quiet: bool) -> Result<()> {
    let mut out = AtomicFile::create(file)?;
    out.write_all(html.as_bytes()).map_err(|error| out.error(error))?;
    out.finish()?;
    if !quiet {
        eprintln!("written: {}", file.display());
    }
    Ok(())
}

/// What a page says of itself: the facts, then the program and the command.
pub(crate) fn about(title: String, facts: Vec<Detail>, report: serde_json::Value) -> About {
    let mut details = facts;
    details.push(Detail::new("Program", concat!("abstain ", env!("CARGO_PKG_VERSION"))));
    details.push(Detail::new("Command", command()));
    About { title, class_names: None, details, report }
}

/// How bounds and bands are made.
pub(crate) fn painter(
    delta: Option<f64>,
    seed: u64,
    replicates: usize,
    pictures: usize,
) -> Painter {
    let bootstrap = abstain::Bootstrap { replicates, seed, ..abstain::Bootstrap::default() };
    Painter { delta: delta.unwrap_or(DELTA), bootstrap, pictures }
}

/// The command as it could be typed again.
fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,@%+:".contains(c);
    let quoted = |text: String| {
        if !text.is_empty() && text.chars().all(plain) {
            return text;
        }
        format!("'{}'", text.replace('\'', "'\\''"))
    };
    let arguments = std::env::args_os().skip(1).map(|own| quoted(own.to_string_lossy().into()));
    std::iter::once("abstain".into()).chain(arguments).collect::<Vec<String>>().join(" ")
}
