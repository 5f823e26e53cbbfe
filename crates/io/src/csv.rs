//! Text: one row a line, commas, tabs, semicolons or spaces between the values, with or without a
//! line of names.

use crate::array::Numbers;
use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::source::Stream;
use abstain::Values;
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::io::{BufRead, BufReader};

/// Columns that are surely no logits, whatever else is in a table.
pub(crate) const NOT_LOGITS: [&str; 4] = ["prediction", "confidence", "value", "accept"];

/// A table, its names read and its first row at hand.
struct Table {
    reader: csv::Reader<BufReader<Stream>>,
    names: Option<Vec<String>>,
    /// The first row, if it was read in search of names.
    first: Option<ByteRecord>,
    width: usize,
    record: ByteRecord,
    row: u64,
}

impl Table {
    fn open(stream: Stream) -> Result<Self> {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        let delimiter = delimiter_of(stream.fill_buf()?);
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(delimiter)
            .comment(Some(b'#'))
            .from_reader(stream);
        let mut first = ByteRecord::new();
        if !reader.read_byte_record(&mut first).map_err(damaged)? {
            return Err(ErrorKind::NoRows);
        }
        let width = first.len();
        let is_header = first.iter().any(|field| number(field).is_none());
        let (names, first) = if is_header {
            let text = |field| String::from_utf8_lossy(field).into_owned();
            (Some(first.iter().map(text).collect()), None)
        } else {
            (None, Some(first))
        };
        Ok(Table { reader, names, first, width, record: ByteRecord::new(), row: 0 })
    }

    /// The next row, which has as many fields as the first.
    fn next_row(&mut self) -> Result<Option<&ByteRecord>> {
        if let Some(first) = self.first.take() {
            self.record = first;
        } else if !self.reader.read_byte_record(&mut self.record).map_err(damaged)? {
            return Ok(None);
        }
        if self.record.len() != self.width {
            return Err(ErrorKind::Ragged {
                row: self.row,
                line: self.record.position().map(csv::Position::line),
                found: self.record.len() as u64,
                expected: self.width as u64,
            });
        }
        self.row += 1;
        Ok(Some(&self.record))
    }

    /// Says which field of the current row is not a number.
    fn not_a_number(&self, what: &'static str, column: usize) -> ErrorKind {
        let name = self.names.as_ref().map(|names| format!("'{}'", names[column]));
        ErrorKind::NotANumber {
            what,
            row: self.row - 1,
            line: self.record.position().map(csv::Position::line),
            column: name.unwrap_or_else(|| column.to_string()),
            text: String::from_utf8_lossy(self.record.get(column).unwrap_or_default()).into_owned(),
        }
    }
}

fn damaged(error: csv::Error) -> ErrorKind {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => ErrorKind::malformed(Format::Csv, format!("{other:?}")),
    }
}

/// The first of the usual delimiters in the first line that has any; a comma if there is none.
fn delimiter_of(start: &[u8]) -> u8 {
    let line = start
        .split(|&byte| byte == b'\n')
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .unwrap_or_default();
    let text = line.trim_ascii();
    [b'\t', b';', b',', b' '].into_iter().find(|delimiter| text.contains(delimiter)).unwrap_or(b',')
}

fn number(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// The logits of a table.
pub(crate) struct Matrix {
    table: Table,
    columns: Vec<usize>,
    buffer: Vec<f64>,
}

impl Matrix {
    /// The columns that a pattern asks for (`logit_*`), or all but those of labels and of results.
    pub(crate) fn open(stream: Stream, wanted: Option<&str>, labels: &[&str]) -> Result<Self> {
        let table = Table::open(stream)?;
        let columns = match (&table.names, wanted) {
            (None, None) => (0..table.width).collect(),
            (Some(names), None) => {
                let other = |name: &&str| {
                    // pandas writes its index first, without a name.
                    name.is_empty() || is_one_of(name, labels) || is_one_of(name, &NOT_LOGITS)
                };
                (0..names.len()).filter(|&i| !other(&&names[i][..])).collect()
            }
            (names, Some(wanted)) => {
                let names = names.clone().unwrap_or_default();
                let chosen: Vec<usize> =
                    (0..names.len()).filter(|&i| matches(wanted, &names[i])).collect();
                if chosen.is_empty() {
                    return Err(ErrorKind::NoSuchName { name: wanted.to_string(), names });
                }
                chosen
            }
        };
        Ok(Matrix { table, columns, buffer: Vec::new() })
    }

    pub(crate) fn classes(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn next_chunk(&mut self, rows: usize) -> Result<Option<Values<'_>>> {
        self.buffer.clear();
        for _ in 0..rows {
            let Some(record) = self.table.next_row()? else { break };
            for &column in &self.columns {
                match number(&record[column]) {
                    Some(value) => self.buffer.push(value),
                    None => return Err(self.table.not_a_number("logits", column)),
                }
            }
        }
        Ok(if self.buffer.is_empty() { None } else { Some(Values::from(&self.buffer)) })
    }
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether a name is what was asked for; a star at the end stands for anything.
pub(crate) fn matches(wanted: &str, name: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == wanted,
    }
}

/// A column: the one asked for, the first of the usual names, or the only one.
pub(crate) fn column(
    stream: Stream,
    what: &'static str,
    wanted: Option<&str>,
    usual: &[&str],
) -> Result<Numbers> {
    let mut table = Table::open(stream)?;
    let names = table.names.clone().unwrap_or_default();
    let find = |name: &str| names.iter().position(|own| own.eq_ignore_ascii_case(name));
    let column = match wanted {
        Some(wanted) => {
            let missing =
                || ErrorKind::NoSuchName { name: wanted.to_string(), names: names.clone() };
            find(wanted).ok_or_else(missing)?
        }
        None => match usual.iter().find_map(|name| find(name)) {
            Some(found) => found,
            None if table.width == 1 => 0,
            None if names.is_empty() => {
                let found = vec![table.width as u64];
                let name = "each row ".into();
                return Err(ErrorKind::Shape { name, found, wanted: "one number a row" });
            }
            None => return Err(ErrorKind::Ambiguous { what, names }),
        },
    };
    let (mut values, mut whole) = (Vec::new(), true);
    while let Some(record) = table.next_row()? {
        let field = record.get(column).unwrap_or_default();
        let value = number(field).or(match field {
            // As this program and pandas write truth.
            b"true" | b"True" => Some(1.0),
            b"false" | b"False" => Some(0.0),
            _ => None,
        });
        let Some(value) = value else { return Err(table.not_a_number(what, column)) };
        whole &= value.fract() == 0.0;
        values.push(value);
    }
    if values.is_empty() {
        return Err(ErrorKind::NoRows);
    }
    let numbers = Numbers::Floats(values);
    if whole { Ok(Numbers::Integers(numbers.into_integers()?)) } else { Ok(numbers) }
}
