//! csv: text with one row on each line, commas, tabs, semicolons or spaces between the values, with
//! or without a line of names.

use super::{Definition, Format, Reader};
use crate::column::{Column, GrowingColumn};
use crate::error::{ErrorKind, Result};
use crate::layout::{Field, FieldKind, Quantity};
use crate::matrix::Matrix;
use crate::source::{Opened, Stream};
use crate::table::{Selection, Table};
use abstain::logits::Values;
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, BufRead, BufReader, Read};

mod notation;
#[cfg(test)]
mod tests;
mod utf16;

use notation::Comma;

pub(super) const FORMAT: Definition = Definition {
    name: "csv",
    extensions: &["csv", "tsv", "txt"],
    recognises: is_text,
    reader: Reader::Table(open),
    #[cfg(test)]
    samples: tests::samples,
};

/// Whether bytes are text: UTF-8, cut anywhere, without control characters but blanks.
fn is_text(head: &[u8]) -> bool {
    let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    utf16::marked(head).is_some() || (utf8 && !head.iter().any(control))
}

fn open(opened: Opened) -> Result<Box<dyn Table>> {
    Ok(Box::new(Csv::open(opened.into_stream())?))
}

/// A table, its names read and its first row at hand.
struct Csv {
    reader: csv::Reader<BufReader<Stream>>,
    fields: Vec<Field>,
    named: bool,
    /// Rows that were read in search of names.
    waiting: VecDeque<ByteRecord>,
    width: usize,
    record: ByteRecord,
    row: u64,
    /// Lines before the first that the reader counts.
    skipped: u64,
    /// Columns in which values may be missing.
    gaps: Vec<usize>,
    /// How numbers are written.
    comma: Comma,
}

impl Csv {
    fn open(stream: Stream) -> Result<Self> {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        if let Some(big_endian) = utf16::marked(stream.fill_buf()?) {
            let decoded: Stream = Box::new(utf16::Utf16::new(stream, big_endian)?);
            stream = BufReader::with_capacity(1 << 16, decoded);
        }
        if stream.fill_buf()?.contains(&0) {
            return Err(ErrorKind::malformed(Format::Csv, "it has zero bytes: it is not text"));
        }
        let (comment, skipped) = skip_comments(&mut stream)?;
        let start = stream.fill_buf()?;
        let delimiter = delimiter_of(start);
        let stream: Stream = match delimiter {
            b' ' => Box::new(CollapsedBlanks::new(stream)),
            _ => Box::new(stream),
        };
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(delimiter)
            .from_reader(BufReader::new(stream));
        let mut first = ByteRecord::new();
        if !reader.read_byte_record(&mut first).map_err(damaged)? {
            return Err(ErrorKind::NoRows);
        }
        let json = |field: &[u8]| {
            field == b"[" || [&b"{"[..], b"[{", b"[["].iter().any(|start| field.starts_with(start))
        };
        if first.get(0).is_some_and(json) {
            return Err(ErrorKind::malformed(Format::Csv, "it looks like JSON"));
        }
        let width = first.len();
        let mut second = ByteRecord::new();
        let more = reader.read_byte_record(&mut second).map_err(damaged)?;
        let text = |field| String::from_utf8_lossy(field).into_owned();
        let header = are_names(&first, more.then_some(&second));
        let mut third = ByteRecord::new();
        if header && more && is_line_of_words(&second) {
            let more = reader.read_byte_record(&mut third).map_err(damaged)?;
            let over_number = |(word, below): (&[u8], &[u8])| {
                !word.is_empty() && truth(word).is_none() && Comma::None.number(below).is_some()
            };
            if more && second.iter().zip(&third).any(over_number) {
                return Err(ErrorKind::Unsupported {
                    problem: "its first two lines are names".into(),
                    instead: "remove the one that does not name the columns, as with `sed 1d` or `sed 2d`"
                        .into(),
                });
            }
        }
        let names = if header {
            Some(first.iter().map(text).collect())
        } else {
            names_in_comment(&comment, delimiter, width)
        };
        let mut waiting = VecDeque::new();
        if !header {
            waiting.push_back(first);
        }
        if more {
            waiting.push_back(second);
        }
        if !third.is_empty() {
            waiting.push_back(third);
        }
        let comma = Comma::of(waiting.iter().flatten())?;
        let named = names.is_some();
        let fields = fields_of(names, width, waiting.front(), comma);
        let record = ByteRecord::new();
        let gaps = Vec::new();
        Ok(Csv { reader, fields, named, waiting, width, record, row: 0, skipped, gaps, comma })
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
                line: self.line(),
                found: self.record.len() as u64,
                expected: self.width as u64,
            });
        }
        self.row += 1;
        Ok(Some(&self.record))
    }

    /// The line of the current row.
    fn line(&self) -> Option<u64> {
        self.record.position().map(|position| position.line() + self.skipped)
    }

    /// The name of a column in messages.
    fn column_name(&self, column: usize) -> String {
        if self.named { format!("'{}'", self.fields[column].name) } else { column.to_string() }
    }

    /// Adds a cell of the current row to its column.
    fn push_cell(&self, index: usize, column: &mut GrowingColumn) -> Result<()> {
        let cell = self.record.get(index).unwrap_or_default();
        if cell.is_empty() && self.gaps.contains(&index) {
            column.push_gap();
            return Ok(());
        }
        if cell.is_empty() {
            return Err(self.not_a_number(Quantity::Column, index));
        }
        if self.comma.number(cell).is_none() {
            column.reconsider();
        }
        match column {
            GrowingColumn::Texts(texts) => texts.push(String::from_utf8_lossy(cell).into_owned()),
            GrowingColumn::Bools(bools) => match truth(cell) {
                Some(value) => bools.push(value),
                None => return Err(self.not_a_number(Quantity::Column, index)),
            },
            GrowingColumn::Numbers(numbers) => match self.comma.number(cell) {
                Some(value) => numbers.push(value),
                None => return Err(self.not_a_number(Quantity::Labels, index)),
            },
        }
        Ok(())
    }

    /// The error of a field of the current row that is not a number.
    fn not_a_number(&self, what: Quantity, column: usize) -> ErrorKind {
        let text = String::from_utf8_lossy(self.record.get(column).unwrap_or_default());
        let name = self.column_name(column);
        if text.is_empty() {
            return ErrorKind::Null { row: self.row - 1, column: name };
        }
        let (row, line, text) = (self.row - 1, self.line(), text.into_owned());
        ErrorKind::NotANumber { what, row, line, column: name, text }
    }
}

/// Skips the comments at the begin, as numpy.savetxt writes them; returns the last, and how many lines
/// there were. Further down, a line that begins with # is a row like any other.
fn skip_comments(stream: &mut impl BufRead) -> Result<(Vec<u8>, u64)> {
    let (mut comment, mut lines) = (Vec::new(), 0);
    while stream.fill_buf()?.first() == Some(&b'#') {
        comment.clear();
        stream.read_until(b'\n', &mut comment)?;
        lines += 1;
    }
    Ok((comment, lines))
}

/// Names in a comment above the numbers: as many words as there are columns.
fn names_in_comment(comment: &[u8], delimiter: u8, width: usize) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(comment);
    let text = text.trim_start_matches('#').trim();
    let words: Vec<String> = match delimiter {
        b' ' => text.split_whitespace().map(str::to_string).collect(),
        other => text.split(char::from(other)).map(|word| word.trim().to_string()).collect(),
    };
    let named = words.len() == width
        && width > 1
        && words.iter().all(|word| !word.is_empty() && word.parse::<f64>().is_err());
    named.then_some(words)
}

/// The columns, and what the first row says of them.
fn fields_of(
    names: Option<Vec<String>>,
    width: usize,
    row: Option<&ByteRecord>,
    comma: Comma,
) -> Vec<Field> {
    let field = |i: usize| row.and_then(|row| row.get(i)).unwrap_or_default();
    // A delimiter after the last number does not begin another column.
    let width = width - usize::from(names.is_none() && width > 1 && field(width - 1).is_empty());
    let mut names = names.unwrap_or_default().into_iter();
    let described = |i: usize| {
        let name = names.next().unwrap_or_default();
        match field(i) {
            cell if list_in(cell).is_some() => Field::list(name, FieldKind::Number),
            cell if comma.number(cell).is_some() => Field::scalar(name, FieldKind::Number),
            cell if truth(cell).is_some() => Field::scalar(name, FieldKind::Bool),
            // A missing value does not say what the others are; its reader refuses it.
            b"" => Field::scalar(name, FieldKind::Number),
            _ => Field::scalar(name, FieldKind::Text),
        }
    };
    (0..width).map(described).collect()
}

/// What is between the brackets of a cell that holds a list, also as numpy and PyTorch print it:
/// `array([1., 2.])`, `tensor([[1., 2.]])`.
fn list_in(cell: &[u8]) -> Option<&[u8]> {
    let (start, end) =
        (cell.iter().position(|&c| c == b'[')?, cell.iter().rposition(|&c| c == b']')?);
    let known: [&[u8]; 4] = [b"array(", b"np.array(", b"numpy.array(", b"tensor("];
    let plain = start == 0 && end + 1 == cell.len();
    let printed = known.contains(&&cell[..start]) && cell.ends_with(b")");
    let inside = cell.get(start + 1..end).filter(|_| plain || printed)?;
    let inner = inside.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    Some(inner.filter(|inner| !inner.contains(&b'[')).unwrap_or(inside))
}

/// Whether a line has words and no numbers.
fn is_line_of_words(line: &ByteRecord) -> bool {
    let is_word = |cell: &[u8]| !cell.is_empty();
    line.iter().any(is_word) && !line.iter().any(|cell| Comma::None.number(cell).is_some())
}

/// Whether numpy left out the middle of a list when it wrote it as text.
fn is_shortened(inside: &[u8]) -> bool {
    inside.windows(3).any(|three| three == b"...")
}

/// The numbers of a list, separated by commas or blanks.
fn list_numbers(inside: &[u8], out: &mut Vec<f64>) -> Option<usize> {
    let mut count = 0;
    let separated = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
    for word in inside.split(separated).filter(|word| !word.is_empty()) {
        out.push(number(word)?);
        count += 1;
    }
    Some(count)
}

/// Truth as this program, pandas and spreadsheets write it.
fn truth(cell: &[u8]) -> Option<bool> {
    match cell {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

fn damaged(error: csv::Error) -> ErrorKind {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => ErrorKind::malformed(Format::Csv, format!("{other:?}")),
    }
}

/// Names of labels that are no labels themselves.
const NAMES_OF_LABELS: [&str; 8] =
    ["label", "labels", "target", "targets", "y_true", "true_label", "gt", "ground_truth"];

/// Whether a line holds names, not numbers: words, or the numbers of columns, as pandas names them. The
/// first may be missing, which is pandas' index. A line of numbers with a word among them is a row
/// with a mistake in it.
fn are_names(line: &ByteRecord, next: Option<&ByteRecord>) -> bool {
    let (mut numbers, mut words) = (Vec::new(), 0_usize);
    for (i, field) in line.iter().enumerate() {
        if number(field).is_some() {
            numbers.push((i, field));
        } else if field.is_empty() {
            if i > 0 && i + 1 < line.len() {
                return false;
            }
        } else {
            words += 1;
        }
    }
    // Whole numbers that differ are names of classes beside the name of the labels.
    let named = line.iter().any(|field| {
        NAMES_OF_LABELS.contains(&String::from_utf8_lossy(field).trim().to_lowercase().as_str())
    });
    let digits = |field: &[u8]| field.iter().all(u8::is_ascii_digit);
    let different: BTreeSet<&[u8]> = numbers.iter().map(|(_, field)| *field).collect();
    if named && different.len() == numbers.len() && different.iter().all(|field| digits(field)) {
        return true;
    }
    // A row of whole numbers that rise, above one of fractions alone, is more likely one of names: they are
    // refused if they do not count, and no row is made of them.
    let value = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    let rising = numbers.len() > 2
        && numbers.windows(2).all(|pair| value(pair[0].1) < value(pair[1].1))
        && numbers.iter().all(|(_, field)| value(field).is_some());
    let fraction = |field: &[u8]| number(field).is_some_and(|x| x.fract() != 0.0);
    let above =
        next.is_some_and(|next| numbers.iter().all(|&(i, _)| next.get(i).is_some_and(fraction)));
    if words == 0 && rising && above {
        return true;
    }
    // Bare numbers 0, 1, … are names beside pandas' index, or above numbers that are not whole; else
    // they may be votes or one-hot rows, and no row is dropped on a guess.
    let index = line.get(0).is_some_and(<[u8]>::is_empty);
    let whole = |field: &[u8]| field.iter().all(|c| c.is_ascii_digit() || *c == b'-');
    let fractions = next.is_some_and(|next| {
        numbers.iter().any(|(i, _)| next.get(*i).is_some_and(|field| !whole(field)))
    });
    if counts_from(0, &numbers) {
        return words > 0 || (!numbers.is_empty() && index) || (numbers.len() > 1 && fractions);
    }
    // From 1 on, or in another order: a row of such numbers is less rare the fewer there are.
    let enough = numbers.len() > 2 || (numbers.len() == 2 && words > 0);
    numbers.sort_by_key(|&(_, field)| (field.len(), field));
    enough && fractions && (counts_from(0, &numbers) || counts_from(1, &numbers))
}

/// Whether fields are this number, the next, and so on.
fn counts_from(first: usize, fields: &[(usize, &[u8])]) -> bool {
    (first..).zip(fields).all(|(n, (_, field))| *field == n.to_string().as_bytes())
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
    // A cell that holds a list has blanks inside.
    let list = second.starts_with(b"[") || second.starts_with(b"\"[");
    known.unwrap_or(if second.contains(&b' ') && !list { b' ' } else { b',' })
}

/// Text in which runs of blanks are one, and lines neither begin nor end with any, as where columns
/// are aligned.
struct CollapsedBlanks<R> {
    inner: R,
    /// Whether a blank is due before the next word of the line.
    due: bool,
    line_begins: bool,
}

impl<R> CollapsedBlanks<R> {
    fn new(inner: R) -> Self {
        CollapsedBlanks { inner, due: false, line_begins: true }
    }
}

impl<R: BufRead> Read for CollapsedBlanks<R> {
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

/// A number in the usual notation.
fn number(field: &[u8]) -> Option<f64> {
    Comma::None.number(field)
}

impl Table for Csv {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn is_text(&self) -> bool {
        true
    }

    fn allow_gaps(&mut self, index: usize) {
        self.gaps.push(index);
    }

    fn matrix(self: Box<Self>, what: &Selection<'_>) -> Result<Box<dyn Matrix>> {
        let columns = what.columns.to_vec();
        let mut matrix = CsvMatrix {
            list: columns.first().is_some_and(|&column| self.fields[column].depth == 1),
            gaps: columns.iter().all(|column| self.gaps.contains(column)),
            classes: columns.len(),
            kept: what.kept.iter().map(|&column| (column, Vec::new())).collect(),
            columns,
            table: *self,
            buffer: Vec::new(),
        };
        if matrix.list {
            let cell = matrix.table.waiting.front().and_then(|row| row.get(matrix.columns[0]));
            let inside = cell.and_then(list_in).unwrap_or_default();
            if is_shortened(inside) {
                return Err(ErrorKind::ShortenedList { row: 0 });
            }
            matrix.classes = list_numbers(inside, &mut Vec::new()).unwrap_or(0);
        }
        Ok(Box::new(matrix))
    }

    fn columns(mut self: Box<Self>, indices: &[usize]) -> Result<Vec<Result<Column>>> {
        let growing = |&column: &usize| Ok(GrowingColumn::new(self.fields[column].kind));
        let mut columns: Vec<Result<GrowingColumn>> = indices.iter().map(growing).collect();
        while columns.iter().any(Result::is_ok) && self.next_row()?.is_some() {
            for (column, &index) in columns.iter_mut().zip(indices) {
                if let Ok(values) = column
                    && let Err(error) = self.push_cell(index, values)
                {
                    *column = Err(error);
                }
            }
        }
        Ok(columns.into_iter().map(|column| column.and_then(GrowingColumn::finish)).collect())
    }
}

/// The logits of a table.
struct CsvMatrix {
    table: Csv,
    columns: Vec<usize>,
    /// Whether each cell of the only column holds all classes.
    list: bool,
    /// Whether numbers may be missing; so are those that are none.
    gaps: bool,
    classes: usize,
    kept: Vec<(usize, Vec<String>)>,
    buffer: Vec<f64>,
}

impl CsvMatrix {
    /// Adds the numbers of the current row.
    fn push_row(&mut self) -> Result<()> {
        let record = &self.table.record;
        if self.list {
            let column = self.columns[0];
            let cell = record.get(column).unwrap_or_default();
            let row = self.table.row - 1;
            let inside = list_in(cell);
            if inside.is_some_and(is_shortened) {
                return Err(ErrorKind::ShortenedList { row });
            }
            let start = self.buffer.len();
            let found = inside.and_then(|inside| list_numbers(inside, &mut self.buffer));
            if self.gaps && found != Some(self.classes) {
                self.buffer.resize(start, 0.0);
                self.buffer.resize(start + self.classes, f64::NAN);
                return Ok(());
            }
            return match found {
                None => Err(self.table.not_a_number(Quantity::Logits, column)),
                Some(found) if found != self.classes => {
                    let (line, found, expected) =
                        (self.table.line(), found as u64, self.classes as u64);
                    Err(ErrorKind::Ragged { row, line, found, expected })
                }
                Some(_) => Ok(()),
            };
        }
        for &column in &self.columns {
            match record.get(column).and_then(|cell| self.table.comma.number(cell)) {
                Some(value) => self.buffer.push(value),
                None if self.gaps => self.buffer.push(f64::NAN),
                None => return Err(self.table.not_a_number(Quantity::Logits, column)),
            }
        }
        Ok(())
    }
}

impl Matrix for CsvMatrix {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn values(&mut self) -> Values<'_> {
        Values::from(&self.buffer)
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        self.buffer.clear();
        self.kept.iter_mut().for_each(|(_, values)| values.clear());
        for done in 0..rows {
            if self.table.next_row()?.is_none() {
                return Ok(done);
            }
            self.push_row()?;
            for (column, values) in &mut self.kept {
                let cell = self.table.record.get(*column).unwrap_or_default();
                values.push(String::from_utf8_lossy(cell).into_owned());
            }
        }
        Ok(rows)
    }

    fn kept(&mut self) -> Vec<Column> {
        self.kept.iter_mut().map(|(_, values)| Column::Texts(std::mem::take(values))).collect()
    }
}
