//! Text: one row a line, commas, tabs, semicolons or spaces between the values, with or without a
//! line of names.

use crate::array::Numbers;
use crate::columns::{NOT_LOGITS, belong_together, is_one_of, matches};
use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::source::Stream;
use abstain::Values;
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

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
        let delimiter = delimiter_of(stream.fill_buf()?);
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

    /// Says which field of the current row is not a number.
    fn not_a_number(&self, what: &'static str, column: usize) -> ErrorKind {
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
pub(crate) struct Matrix {
    table: Table,
    columns: Vec<usize>,
    buffer: Vec<f64>,
}

impl Matrix {
    /// The columns that patterns ask for (`logit_*`, or several with commas), or all but those of
    /// labels and of results.
    pub(crate) fn open(stream: Stream, wanted: Option<&str>, labels: &[&str]) -> Result<Self> {
        let table = Table::open(stream)?;
        let columns = match (&table.names, wanted) {
            (None, None) => {
                // A delimiter after the last number is no further column.
                let last = table.waiting.front().and_then(|row| row.get(table.width - 1));
                (0..table.width - usize::from(last.is_some_and(<[u8]>::is_empty))).collect()
            }
            (Some(names), None) => {
                let other = |name: &str| {
                    // pandas writes its index first, without a name.
                    name.is_empty() || is_one_of(name, labels) || is_one_of(name, &NOT_LOGITS)
                };
                let columns: Vec<usize> = (0..names.len()).filter(|&i| !other(&names[i])).collect();
                let chosen: Vec<String> = columns.iter().map(|&i| names[i].clone()).collect();
                if !belong_together(&chosen) {
                    return Err(ErrorKind::Ambiguous { what: "logits", names: chosen });
                }
                columns
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
    // pandas writes its index first, without a name.
    let named: Vec<usize> = (0..names.len()).filter(|&i| !names[i].is_empty()).collect();
    let column = match wanted {
        Some(wanted) => {
            let missing =
                || ErrorKind::NoSuchName { name: wanted.to_string(), names: names.clone() };
            find(wanted).ok_or_else(missing)?
        }
        None => match usual.iter().find_map(|name| find(name)) {
            Some(found) => found,
            None if table.width == 1 => 0,
            None if named.len() == 1 => named[0],
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
    // Whole numbers that doubles do not hold exactly stay what they are.
    Ok(match Numbers::Floats(values.clone()).into_integers() {
        Ok(integers) if whole => Numbers::Integers(integers),
        _ => Numbers::Floats(values),
    })
}
