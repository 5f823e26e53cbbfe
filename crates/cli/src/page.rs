//! The page that commands write with `--page`.

use crate::failure::hinted;
use crate::input::not_over;
use abstain_io::AtomicFile;
use abstain_report::page::Detail;
use anyhow::Result;
use std::path::{Component, Path, PathBuf};

#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageArguments {
    /// Write an HTML page that shows the result; it is one file and works offline
    #[arg(long = "page", alias = "report", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl PageArguments {
    /// Where the page goes, if there is to be one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Refuses to write over what is read or written otherwise, before any work is done.
    pub(crate) fn check(&self, others: &[&Path]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        check_page(file, others)
    }
}

/// Refuses a page that could not be written, or not without loss.
pub(crate) fn check_page(file: &Path, others: &[&Path]) -> Result<()> {
    if file.as_os_str() == "-" {
        return Err(hinted("a page is written to a file", "give it a name, such as page.html"));
    }
    not_over(file, others)?;
    // Files that do not exist yet are the same if their folders and names are.
    let place = |path: &Path| {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    let page = place(file);
    if let Some(same) = others.iter().find(|other| page.is_some() && place(other) == page) {
        let problem = format!("the page and another file would both be {}", same.display());
        return Err(hinted(problem, "choose another name for the page"));
    }
    drop(AtomicFile::create(file)?);
    Ok(())
}

/// Writes a page, and says so.
pub(crate) fn write_page(file: &Path, html: &str, quiet: bool) -> Result<()> {
    AtomicFile::write_whole(file, html.as_bytes())?;
    if !quiet {
        eprintln!("written: {}", file.display());
    }
    Ok(())
}

/// The program and the command, as details of a page.
pub(crate) fn provenance() -> Vec<Detail> {
    vec![
        Detail::new("Program", concat!("abstain ", env!("CARGO_PKG_VERSION"))),
        Detail::new("Command", command()),
    ]
}

/// A file and the folder it is in: many files of logits have the same name.
pub(crate) fn short_name(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "standard input".into();
    }
    let parts: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts[parts.len().saturating_sub(2)..].join("/")
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
    let arguments = std::env::args_os().skip(1).map(|text| quoted(text.to_string_lossy().into()));
    std::iter::once("abstain".into()).chain(arguments).collect::<Vec<String>>().join(" ")
}
