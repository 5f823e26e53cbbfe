//! Scores as files: one row a row of logits, in columns `prediction`, `confidence` and, where they
//! were asked for, `value` and `accept`.

use crate::error::{Error, ErrorKind};
use crate::output::AtomicFile;
use abstain::Answer;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::str::FromStr;

/// A format of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScoreFormat {
    /// A structured numpy array: `numpy.load(path)["confidence"]`.
    Npy,
    /// Text with commas and a line of names.
    Csv,
    /// Text with tabs and a line of names.
    Tsv,
    /// Parquet.
    Parquet,
    /// One JSON object a line.
    JsonLines,
}

const FORMATS: [(ScoreFormat, &str, &[&str]); 5] = [
    (ScoreFormat::Npy, "npy", &["npy"]),
    (ScoreFormat::Csv, "csv", &["csv", "txt"]),
    (ScoreFormat::Tsv, "tsv", &["tsv"]),
    (ScoreFormat::Parquet, "parquet", &["parquet", "pq"]),
    (ScoreFormat::JsonLines, "jsonl", &["jsonl", "ndjson"]),
];

impl ScoreFormat {
    /// The format that a name asks for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().find(|own| own.2.contains(&&extension[..])).map(|own| own.0)
    }

    /// The names of all formats, for messages.
    pub fn names() -> String {
        FORMATS.map(|own| own.1).join(", ")
    }
}

impl fmt::Display for ScoreFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FORMATS.iter().find(|own| own.0 == *self).map_or("", |own| own.1))
    }
}

impl FromStr for ScoreFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let known = FORMATS.iter().find(|own| own.1 == text || own.2.contains(&&text[..]));
        known.map(|own| own.0).ok_or_else(|| format!("one of {}", ScoreFormat::names()))
    }
}

/// Where scores go.
enum Target {
    File(AtomicFile),
    /// Standard output, for formats that are written from front to back.
    Stdout(BufWriter<io::Stdout>),
    /// A temporary file on its way to standard output or a pipe, for formats that are not.
    Spooled {
        file: BufWriter<File>,
        to: Option<AtomicFile>,
    },
}

impl Target {
    fn open(path: &Path, seeks: bool) -> Result<Self, Error> {
        let stdout = path.as_os_str() == "-";
        let pipe = !stdout && std::fs::metadata(path).is_ok_and(|own| !own.is_file());
        if (stdout || pipe) && seeks {
            let file = tempfile::tempfile().map_err(|error| ErrorKind::from(error).of(path))?;
            let to = if stdout { None } else { Some(AtomicFile::create(path)?) };
            return Ok(Target::Spooled { file: BufWriter::new(file), to });
        }
        Ok(if stdout {
            Target::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))
        } else {
            Target::File(AtomicFile::create(path)?)
        })
    }

    fn finish(self) -> Result<(), Error> {
        let fail = |error: io::Error| ErrorKind::from(error).of(Path::new("standard output"));
        match self {
            Target::File(file) => file.finish(),
            Target::Stdout(mut out) => out.flush().map_err(fail),
            Target::Spooled { file, mut to } => {
                let copy = || {
                    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                    file.rewind()?;
                    match &mut to {
                        Some(to) => io::copy(&mut file, to),
                        None => io::copy(&mut file, &mut io::stdout().lock()),
                    }
                };
                copy().map_err(fail)?;
                to.map_or(Ok(()), AtomicFile::finish)
            }
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(out) => out.write(bytes),
            Target::Stdout(out) => out.write(bytes),
            Target::Spooled { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(out) => out.flush(),
            Target::Stdout(out) => out.flush(),
            Target::Spooled { file, .. } => file.flush(),
        }
    }
}

impl Seek for Target {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match self {
            Target::File(out) => out.seek(to),
            Target::Stdout(_) => Err(io::ErrorKind::NotSeekable.into()),
            Target::Spooled { file, .. } => file.seek(to),
        }
    }
}

/// Writes scores as they come.
pub struct ScoreWriter {
    path: std::path::PathBuf,
    format: Kind,
    columns: Columns,
}

/// Which of the columns that may be there are.
#[derive(Debug, Clone, Copy)]
struct Columns {
    value: bool,
    accept: bool,
}

enum Kind {
    Npy {
        out: Target,
        rows: u64,
    },
    Text {
        out: Target,
        delimiter: char,
    },
    JsonLines {
        out: Target,
    },
    #[cfg(feature = "parquet")]
    Parquet {
        writer: Box<crate::parquet::Writer<Target>>,
    },
}

impl ScoreWriter {
    /// Begins to write; `-` is standard output.
    pub fn create(
        path: &Path,
        format: ScoreFormat,
        value: bool,
        accept: bool,
    ) -> Result<Self, Error> {
        let columns = Columns { value, accept };
        let out = Target::open(path, format == ScoreFormat::Npy)?;
        let text = |out, delimiter| Kind::Text { out, delimiter };
        let mut kind = match format {
            ScoreFormat::Npy => Kind::Npy { out, rows: 0 },
            ScoreFormat::Csv => text(out, ','),
            ScoreFormat::Tsv => text(out, '\t'),
            ScoreFormat::JsonLines => Kind::JsonLines { out },
            #[cfg(feature = "parquet")]
            ScoreFormat::Parquet => Kind::Parquet {
                writer: Box::new(
                    crate::parquet::Writer::new(out, value, accept)
                        .map_err(|kind| kind.of(path))?,
                ),
            },
            #[cfg(not(feature = "parquet"))]
            ScoreFormat::Parquet => {
                let error = io::Error::other("this program was built without Parquet");
                return Err(ErrorKind::from(error).of(path));
            }
        };
        kind.start(columns).map_err(|error| ErrorKind::from(error).of(path))?;
        let name = if path.as_os_str() == "-" { Path::new("standard output") } else { path };
        Ok(ScoreWriter { path: name.to_path_buf(), format: kind, columns })
    }

    /// Writes some rows. `values` are written if they were asked for in the beginning.
    pub fn write(&mut self, answers: &[Answer], values: &[f64]) -> Result<(), Error> {
        let decided = answers.iter().filter(|own| own.accept.is_some()).count();
        if (self.columns.accept && decided != answers.len())
            || (self.columns.value && values.len() != answers.len())
        {
            let error = io::Error::other("a column was promised that some rows do not have");
            return Err(ErrorKind::from(error).of(&self.path));
        }
        let written = match &mut self.format {
            #[cfg(feature = "parquet")]
            Kind::Parquet { writer } => {
                let accept: Vec<bool> = answers.iter().filter_map(|a| a.accept).collect();
                writer
                    .write(
                        &answers.iter().map(|a| a.prediction).collect::<Vec<_>>(),
                        &answers.iter().map(|a| a.confidence).collect::<Vec<_>>(),
                        self.columns.value.then_some(values),
                        self.columns.accept.then_some(&accept[..]),
                    )
                    .map_err(|kind| kind.of(&self.path))?;
                Ok(())
            }
            other => other.write(answers, values, self.columns),
        };
        written.map_err(|error| ErrorKind::from(error).of(&self.path))
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), Error> {
        let fail = |error: io::Error| ErrorKind::from(error).of(&self.path);
        match self.format {
            Kind::Npy { mut out, rows } => {
                out.seek(io::SeekFrom::Start(0)).map_err(fail)?;
                out.write_all(&npy_header(rows, self.columns)).map_err(fail)?;
                out.finish()
            }
            Kind::Text { out, .. } | Kind::JsonLines { out } => out.finish(),
            #[cfg(feature = "parquet")]
            Kind::Parquet { writer } => {
                writer.finish().map_err(|kind| kind.of(&self.path))?.finish()
            }
        }
    }
}

impl Kind {
    fn start(&mut self, columns: Columns) -> io::Result<()> {
        match self {
            // The number of rows is known at the end; until then a header of the same length.
            Kind::Npy { out, .. } => out.write_all(&npy_header(0, columns)),
            Kind::Text { out, delimiter } => {
                let mut names = vec!["prediction", "confidence"];
                names.extend(columns.value.then_some("value"));
                names.extend(columns.accept.then_some("accept"));
                writeln!(out, "{}", names.join(&delimiter.to_string()))
            }
            Kind::JsonLines { .. } => Ok(()),
            #[cfg(feature = "parquet")]
            Kind::Parquet { .. } => Ok(()),
        }
    }

    fn write(&mut self, answers: &[Answer], values: &[f64], columns: Columns) -> io::Result<()> {
        let value = |row: usize| values[row];
        match self {
            Kind::Npy { out, rows } => {
                let mut bytes = Vec::with_capacity(answers.len() * 21);
                for (row, answer) in answers.iter().enumerate() {
                    bytes.extend_from_slice(&answer.prediction.to_le_bytes());
                    bytes.extend_from_slice(&answer.confidence.to_le_bytes());
                    if columns.value {
                        bytes.extend_from_slice(&value(row).to_le_bytes());
                    }
                    if columns.accept {
                        bytes.push(u8::from(answer.accept == Some(true)));
                    }
                }
                *rows += answers.len() as u64;
                out.write_all(&bytes)
            }
            Kind::Text { out, delimiter } => {
                for (row, answer) in answers.iter().enumerate() {
                    write!(out, "{}{delimiter}{:?}", answer.prediction, answer.confidence)?;
                    if columns.value {
                        write!(out, "{delimiter}{:?}", value(row))?;
                    }
                    if columns.accept {
                        write!(out, "{delimiter}{}", answer.accept == Some(true))?;
                    }
                    writeln!(out)?;
                }
                Ok(())
            }
            Kind::JsonLines { out } => {
                for (row, answer) in answers.iter().enumerate() {
                    let confidence = json_number(answer.confidence);
                    write!(
                        out,
                        "{{\"prediction\":{},\"confidence\":{confidence}",
                        answer.prediction
                    )?;
                    if columns.value {
                        write!(out, ",\"value\":{}", json_number(value(row)))?;
                    }
                    if columns.accept {
                        write!(out, ",\"accept\":{}", answer.accept == Some(true))?;
                    }
                    writeln!(out, "}}")?;
                }
                Ok(())
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet { .. } => Ok(()),
        }
    }
}

/// JSON has no infinity; it is the text "inf", as in artifacts.
fn json_number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("\"{value}\"") }
}

/// The header of a structured array, always of the same length.
fn npy_header(rows: u64, columns: Columns) -> Vec<u8> {
    const LENGTH: usize = 256;
    let mut fields = String::from("('prediction', '<u4'), ('confidence', '<f8'), ");
    if columns.value {
        fields += "('value', '<f8'), ";
    }
    if columns.accept {
        fields += "('accept', '|b1'), ";
    }
    let mut text = format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': ({rows},), }}");
    let before = 10;
    text += &" ".repeat(LENGTH - before - 1 - text.len());
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    let length = u16::try_from(LENGTH - before).unwrap_or(u16::MAX);
    header.extend_from_slice(&length.to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}
