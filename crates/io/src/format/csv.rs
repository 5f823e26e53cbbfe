//! csv: text with one row on each line, commas, tabs, semicolons or spaces between the values, with
//! or without a line of names.

use super::{Definition, Format, Reader};
use crate::array::Numbers;
use crate::error::{ErrorKind, ExpectedShape, Result};
use crate::matrix::Matrix;
use crate::selection::{Quantity, Selection, belong_together, is_one_of, matches};
use crate::source::{Opened, Stream};
use abstain::Values;
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

#[cfg(test)]
mod tests;

pub(super) const FORMAT: Definition = Definition {
    name: "csv",
    extensions: &["csv", "tsv", "txt"],
    recognises: is_text,
    reader: Reader::Table { logits, column },
    #[cfg(test)]
    samples: tests::samples,
};

/// Whether bytes are text: UTF-8, cut anywhere, without control characters but blanks.
fn is_text(head: &[u8]) -> bool {
    let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    utf8 && !head.iter().any(control)
}

/// A table, its names read and its first row at hand.
struct Table {
    reader: csv::Reader<BufReader<Stream>>,
    names: Option<Vec<String>>,
    /// Rows that were read in search of names.
    waiting: VecDeque<ByteRecord>,
    width: usize,
    record: ByteRecord,
    row: u64,
}

impl Table {
    fn open(stream: Stream) -> Result<Self> {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        let start = stream.fill_buf()?;
        if start.contains(&0) {
            return Err(ErrorKind::malformed(Format::Csv, "it has zero bytes: it is not text"));
        }
        let delimiter = delimiter_of(start);
        let stream: Stream = match delimiter {
            b' ' => Box::new(SingleBlanks::new(stream)),
            _ => Box::new(stream),
        };
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(delimiter)
            .comment(Some(b'#'))
            .from_reader(BufReader::new(stream));
        let mut first = ByteRecord::new();
        if !reader.read_byte_record(&mut first).map_err(damaged)? {
            return Err(ErrorKind::NoRows);
        }
        if first.get(0).is_some_and(|field| field.starts_with(b"{")) {
            return Err(ErrorKind::Unsupported {
                problem: "it looks like JSON, which is not read".into(),
                instead: "write numbers as csv, npy or parquet".into(),
            });
        }
        let width = first.len();
        let mut second = ByteRecord::new();
        let more = reader.read_byte_record(&mut second).map_err(damaged)?;
        let names = are_names(&first, more.then_some(&second)).then(|| {
            let text = |field| String::from_utf8_lossy(field).into_owned();
            first.iter().map(text).collect()
        });
        let mut waiting = VecDeque::new();
        if names.is_none() {
            waiting.push_back(first);
        }
        if more {
            waiting.push_back(second);
        }
        Ok(Table { reader, names, waiting, width, record: ByteRecord::new(), row: 0 })
    }

    /// The next row, which has as many fields as the first.
    fn next_row(&mut self) -> Result<Option<&ByteRecord>> {
        if let Some(row) = self.waiting.pop_front() {
            self.record = row;
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

    /// The error of a field of the current row that is not a number.
    fn not_a_number(&self, what: Quantity, column: usize) -> ErrorKind {
        let name = self.names.as_ref().map(|names| format!("'{}'", names[column]));
        let text = String::from_utf8_lossy(self.record.get(column).unwrap_or_default());
        if text.is_empty() {
            let column = name.unwrap_or_else(|| column.to_string());
            return ErrorKind::Null { row: self.row - 1, column };
        }
        ErrorKind::NotANumber {
            what,
            row: self.row - 1,
            line: self.record.position().map(csv::Position::line),
            column: name.unwrap_or_else(|| column.to_string()),
            text: text.into_owned(),
        }
    }
}

fn damaged(error: csv::Error) -> ErrorKind {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => ErrorKind::malformed(Format::Csv, format!("{other:?}")),
    }
}

/// Whether a line holds names, not numbers: words, or the numbers of columns from 0 on, as pandas
/// names them. The first may be missing, which is pandas' index. A line of numbers with a word
/// among them is a row with a mistake in it.
fn are_names(line: &ByteRecord, next: Option<&ByteRecord>) -> bool {
    let (mut columns, mut words) = (0_usize, 0_usize);
    for (i, field) in line.iter().enumerate() {
        if field == columns.to_string().as_bytes() {
            columns += 1;
        } else if number(field).is_some() {
            return false;
        } else if field.is_empty() {
            if i > 0 && i + 1 < line.len() {
                return false;
            }
        } else {
            words += 1;
        }
    }
    // Bare numbers 0, 1, … are names beside pandas' index, or above numbers that are not whole; else
    // they may be votes or one-hot rows, and no row is dropped on a guess.
    let index = line.get(0).is_some_and(<[u8]>::is_empty);
    let whole = |field: &[u8]| field.iter().all(|c| c.is_ascii_digit() || *c == b'-');
    let fractions = next.is_some_and(|next| next.iter().any(|field| !whole(field)));
    words > 0 || (columns > 0 && index) || (columns > 1 && fractions)
}

/// The first of the usual delimiters in the first line; blanks only if they separate something in
/// the second as well, so that a name may hold one.
fn delimiter_of(start: &[u8]) -> u8 {
    let mut lines = start
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let first = lines.next().unwrap_or_default();
    let second = lines.next().unwrap_or(first);
    let known = [b'\t', b';', b','].into_iter().find(|delimiter| first.contains(delimiter));
    known.unwrap_or(if second.contains(&b' ') { b' ' } else { b',' })
}

/// Text in which runs of blanks are one, and lines neither begin nor end with any, as where columns
/// are aligned.
struct SingleBlanks<R> {
    inner: R,
    /// Whether a blank is due before the next word of the line.
    due: bool,
    line_begins: bool,
}

impl<R> SingleBlanks<R> {
    fn new(inner: R) -> Self {
        SingleBlanks { inner, due: false, line_begins: true }
    }
}

impl<R: BufRead> Read for SingleBlanks<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // A word may bring its blank along, so that a byte in can be two out.
        let room = out.len() / 2;
        if room == 0 {
            return Ok(0);
        }
        loop {
            let bytes = self.inner.fill_buf()?;
            if bytes.is_empty() {
                return Ok(0);
            }
            let (mut taken, mut given) = (0, 0);
            for &byte in bytes.iter().take(room) {
                taken += 1;
                match byte {
                    b' ' | b'\t' => self.due = !self.line_begins,
                    b'\n' | b'\r' => {
                        (self.due, self.line_begins) = (false, true);
                        out[given] = byte;
                        given += 1;
                    }
                    _ => {
                        if std::mem::take(&mut self.due) {
                            out[given] = b' ';
                            given += 1;
                        }
                        self.line_begins = false;
                        out[given] = byte;
                        given += 1;
                    }
                }
            }
            self.inner.consume(taken);
            if given > 0 {
                return Ok(given);
            }
        }
    }
}

fn number(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// The logits of a table.
struct CsvMatrix {
    table: Table,
    columns: Vec<usize>,
    buffer: Vec<f64>,
}

fn logits(opened: Opened, selection: &Selection<'_>) -> Result<Box<dyn Matrix>> {
    let table = Table::open(opened.into_stream())?;
    let columns = logit_columns(&table, selection)?;
    Ok(Box::new(CsvMatrix { table, columns, buffer: Vec::new() }))
}

/// The columns that the requested patterns match, or all that may be logits.
fn logit_columns(table: &Table, selection: &Selection<'_>) -> Result<Vec<usize>> {
    let names = table.names.as_deref();
    if let Some(patterns) = selection.name {
        let names = names.unwrap_or_default();
        let chosen: Vec<usize> =
            (0..names.len()).filter(|&i| matches(patterns, &names[i])).collect();
        if chosen.is_empty() {
            return Err(selection.missing(patterns, names.to_vec()));
        }
        return Ok(chosen);
    }
    let Some(names) = names else {
        // A delimiter after the last number does not begin another column.
        let last = table.waiting.front().and_then(|row| row.get(table.width - 1));
        return Ok((0..table.width - usize::from(last.is_some_and(<[u8]>::is_empty))).collect());
    };
    // pandas writes its index first, without a name.
    let other = |name: &str| name.is_empty() || is_one_of(name, selection.except);
    let columns: Vec<usize> = (0..names.len()).filter(|&i| !other(&names[i])).collect();
    let chosen: Vec<String> = columns.iter().map(|&i| names[i].clone()).collect();
    if !belong_together(&chosen) {
        return Err(selection.ambiguous(chosen));
    }
    Ok(columns)
}

impl Matrix for CsvMatrix {
    fn classes(&self) -> usize {
        self.columns.len()
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn next_chunk(&mut self, rows: usize) -> Result<Option<Values<'_>>> {
        self.buffer.clear();
        for _ in 0..rows {
            let Some(record) = self.table.next_row()? else { break };
            for &column in &self.columns {
                match number(&record[column]) {
                    Some(value) => self.buffer.push(value),
                    None => return Err(self.table.not_a_number(Quantity::Logits, column)),
                }
            }
        }
        Ok(if self.buffer.is_empty() { None } else { Some(Values::from(&self.buffer)) })
    }
}

/// A column: the one of the requested name, the first of the usual names, or the only one.
fn column(opened: Opened, selection: &Selection<'_>) -> Result<Numbers> {
    let mut table = Table::open(opened.into_stream())?;
    let column = choose_column(&table, selection)?;
    let (mut values, mut whole) = (Vec::new(), true);
    while let Some(record) = table.next_row()? {
        let field = record.get(column).unwrap_or_default();
        let value = number(field).or(match field {
            // As this program and pandas write truth.
            b"true" | b"True" => Some(1.0),
            b"false" | b"False" => Some(0.0),
            _ => None,
        });
        let Some(value) = value else { return Err(table.not_a_number(selection.what, column)) };
        whole &= value.fract() == 0.0;
        values.push(value);
    }
    if values.is_empty() {
        return Err(ErrorKind::NoRows);
    }
    // Whole numbers that doubles do not hold exactly stay what they are.
    Ok(match Numbers::Floats(values.clone()).into_integers() {
        Ok(integers) if whole => Numbers::Integers(integers),
        _ => Numbers::Floats(values),
    })
}

fn choose_column(table: &Table, selection: &Selection<'_>) -> Result<usize> {
    let names = table.names.as_deref().unwrap_or_default();
    let find = |name: &str| names.iter().position(|other| other.eq_ignore_ascii_case(name));
    if let Some(name) = selection.name {
        return find(name).ok_or_else(|| selection.missing(name, names.to_vec()));
    }
    if let Some(found) = selection.usual.iter().find_map(|name| find(name)) {
        return Ok(found);
    }
    // pandas writes its index first, without a name.
    let named: Vec<usize> = (0..names.len()).filter(|&i| !names[i].is_empty()).collect();
    match named[..] {
        _ if table.width == 1 => Ok(0),
        [only] => Ok(only),
        _ if names.is_empty() => Err(ErrorKind::Shape {
            name: "each row ".into(),
            found: vec![table.width as u64],
            expected: ExpectedShape::OneNumberPerRow,
        }),
        _ => Err(selection.ambiguous(names.to_vec())),
    }
}
