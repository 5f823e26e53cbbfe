//! The folder of results: tables, figures, the numbers, and a page with all of them.

use crate::PaperError;
use crate::study::{About, Presentation, index};
use abstain_io::{AtomicFile, ErrorKind};
use std::path::{Path, PathBuf};

/// The first line of a page, by which it is recognised before it is replaced.
const MARK: &str = "<!-- Written by abstain. -->";

/// What was written into a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The page with all results, in Markdown.
    pub page: PathBuf,
    /// The number of files.
    pub files: usize,
}

/// Checks that a folder can be written to and that its page replaces no foreign file, before any
/// work is done.
pub(crate) fn check(folder: &Path, page: &str) -> Result<(), PaperError> {
    create(folder)?;
    let page = folder.join(page);
    if let Ok(text) = std::fs::read(&page)
        && !text.starts_with(MARK.as_bytes())
    {
        return Err(PaperError::ForeignPage { page });
    }
    let probe = folder.join(".abstain-probe");
    AtomicFile::create(&probe)?;
    Ok(())
}

/// Writes studies into a folder.
pub(crate) fn write(
    folder: &Path,
    page: &str,
    studies: &[Presentation],
    about: &About,
) -> Result<Written, PaperError> {
    let mut files = 0;
    let mut file = |name: String, bytes: &[u8]| -> Result<(), PaperError> {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            create(parent)?;
        }
        AtomicFile::write_whole(&path, bytes)?;
        files += 1;
        Ok(())
    };
    for study in studies {
        for sheet in &study.content.sheets {
            let name = &sheet.name;
            file(format!("tables/{name}.md"), sheet.markdown().as_bytes())?;
            let csv = sheet.csv().map_err(PaperError::of_output)?;
            file(format!("tables/{name}.csv"), csv.as_bytes())?;
            file(format!("tables/{name}.tex"), sheet.latex().as_bytes())?;
        }
        for figure in &study.content.figures {
            let svg = figure.svg().map_err(PaperError::of_output)?;
            file(format!("figures/{}.svg", figure.name), svg.as_bytes())?;
            let png = figure.png(2.0).map_err(PaperError::of_output)?;
            file(format!("figures/{}.png", figure.name), &png)?;
        }
        let mut text = serde_json::to_string_pretty(&study.json).map_err(PaperError::of_output)?;
        text.push('\n');
        file(format!("json/{}.json", study.name), text.as_bytes())?;
    }
    file(page.into(), format!("{MARK}\n\n{}", index(studies, about)).as_bytes())?;
    Ok(Written { page: folder.join(page), files })
}

/// Creates a folder unless it exists.
fn create(folder: &Path) -> Result<(), PaperError> {
    Ok(std::fs::create_dir_all(folder).map_err(|error| ErrorKind::from(error).of(folder))?)
}
