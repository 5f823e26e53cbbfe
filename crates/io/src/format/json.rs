//! json: records on lines (jsonl), an array of records or of rows, or an object of arrays.
//!
//! Lines and the elements of an array are read one at a time, so that memory does not grow with the
//! file. An object of arrays, as pandas and evaluation scripts write it, is read as a whole.

use super::{Definition, Format, Reader};
use crate::column::{Column, GrowingColumn};
use crate::error::{ErrorKind, Result};
use crate::layout::{Field, FieldKind, Quantity};
use crate::matrix::Matrix;
use crate::source::{Opened, Stream};
use crate::table::{Selection, Table};
use abstain::logits::Values;
use std::io::{BufRead, BufReader};

#[cfg(test)]
mod tests;
mod value;

use value::Json;

pub(super) const FORMAT: Definition = Definition {
    name: "jsonl",
    extensions: &["jsonl", "ndjson", "json"],
    recognises: is_json,
    reader: Reader::Table(open),
    #[cfg(test)]
    samples: tests::samples,
};

/// Bytes of a record at most: what has no end is not a row.
const LONGEST_RECORD: u64 = 1 << 28;

/// Whether bytes begin like an object or an array of JSON.
fn is_json(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut rest = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    match (rest.next(), rest.next()) {
        (Some(b'{'), second) => matches!(second, None | Some(b'"' | b'}')),
        (Some(b'['), second) => {
            matches!(second, None | Some(b'{' | b'[' | b'-' | b']' | b'0'..=b'9'))
        }
        _ => false,
    }
}

fn malformed(problem: impl std::fmt::Display) -> ErrorKind {
    ErrorKind::malformed(Format::Json, problem)
}

fn open(opened: Opened) -> Result<Box<dyn Table>> {
    let mut records = Records::open(opened.into_stream())?;
    let Some(first) = records.next_record()? else { return Err(ErrorKind::NoRows) };
    if records.alone && columns_of_object(&first).is_some() && records.next_is_end()? {
        records = Records { kind: RecordKind::Columns(first), row: 0, ..records };
        let Some(first) = records.next_record()? else { return Err(ErrorKind::NoRows) };
        return Ok(Box::new(JsonTable::new(records, first)?));
    }
    Ok(Box::new(JsonTable::new(records, first)?))
}

/// The number of rows of an object of arrays, all of one length.
fn columns_of_object(value: &Json) -> Option<usize> {
    let object = value.object()?;
    let lists = || object.iter().map(|(_, value)| value).filter(|value| value.length().is_some());
    let first = lists().next()?.length()?;
    // One list of numbers is a row, not a column.
    let nested = lists().any(|list| match list {
        Json::List(list) => {
            matches!(list.first(), Some(Json::List(_) | Json::Numbers(_) | Json::Object(_)))
        }
        _ => false,
    });
    let alike = lists().all(|list| list.length() == Some(first));
    (alike && (nested || lists().count() > 1)).then_some(first)
}

/// How the records of a file follow each other.
enum RecordKind {
    /// One after the other, on lines or not.
    Lines,
    /// The elements of an array.
    Elements,
    /// Rows of an object of arrays.
    Columns(Json),
}

/// The records of a file, one at a time.
struct Records {
    stream: BufReader<Stream>,
    kind: RecordKind,
    row: u64,
    /// Whether the file begins with an object, which may be the only one.
    alone: bool,
    ended: bool,
}

impl Records {
    fn open(stream: Stream) -> Result<Self> {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        if stream.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            stream.consume(3);
        }
        let mut records =
            Records { stream, kind: RecordKind::Lines, row: 0, alone: false, ended: false };
        match records.peek()? {
            Some(b'[') => records.open_array(),
            Some(b'{') => records.alone = true,
            Some(_) => return Err(malformed("it begins neither with { nor with [")),
            None => return Err(ErrorKind::NoRows),
        }
        Ok(records)
    }

    /// An array of records or rows, or the first of several rows on lines.
    fn open_array(&mut self) {
        // A row of numbers, or of labels and scores, on a line by itself is a record.
        let line = self.stream.buffer();
        let inside = line.iter().skip_while(|byte| byte.is_ascii_whitespace()).skip(1);
        let second = inside.copied().find(|byte| !byte.is_ascii_whitespace());
        let rows_on_lines = match second {
            Some(b'-' | b'0'..=b'9') => true,
            Some(b'{') => first_value_is_scores(line),
            _ => false,
        };
        if !rows_on_lines {
            self.stream.consume(1);
            self.kind = RecordKind::Elements;
        }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let buffer = self.stream.fill_buf()?;
            let Some(&first) = buffer.first() else { return Ok(None) };
            if !first.is_ascii_whitespace() {
                return Ok(Some(first));
            }
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.stream.consume(blank);
        }
    }

    fn next_is_end(&mut self) -> Result<bool> {
        Ok(self.peek()?.is_none())
    }

    /// The next record; nothing at the end.
    fn next_record(&mut self) -> Result<Option<Json>> {
        let found = match &self.kind {
            RecordKind::Columns(object) => row_of_columns(object, self.row),
            RecordKind::Lines => match self.peek()? {
                None => None,
                Some(_) => Some(self.parse_lines()?),
            },
            RecordKind::Elements => self.next_element()?,
        };
        self.row += u64::from(found.is_some());
        Ok(found)
    }

    fn next_element(&mut self) -> Result<Option<Json>> {
        if self.ended {
            return Ok(None);
        }
        let mut next = self.peek()?;
        if self.row > 0 && next == Some(b',') {
            self.stream.consume(1);
            next = self.peek()?;
        } else if self.row > 0 && next != Some(b']') {
            return Err(malformed("the array is cut short"));
        }
        match next {
            None => Err(malformed("the array is cut short")),
            Some(b']') => {
                self.stream.consume(1);
                self.ended = true;
                if self.peek()?.is_some() {
                    return Err(malformed("there is something behind the array"));
                }
                Ok(None)
            }
            Some(_) => self.parse().map(Some),
        }
    }

    /// Reads one value from a line, or from as many lines as it takes.
    fn parse_lines(&mut self) -> Result<Json> {
        let mut text = Vec::new();
        loop {
            let before = text.len();
            let mut limited = std::io::Read::take(&mut self.stream, LONGEST_RECORD);
            limited.read_until(b'\n', &mut text)?;
            let ended = text.len() == before || text.len() as u64 >= LONGEST_RECORD;
            match serde_json::from_slice(&text) {
                Ok(value) => return self.of_row(value),
                Err(error) if error.is_eof() && !ended => {}
                Err(error) => return Err(malformed(format_args!("row {}: {error}", self.row))),
            }
        }
    }

    /// Reads one value, which ends with its bracket.
    fn parse(&mut self) -> Result<Json> {
        let mut limited = std::io::Read::take(&mut self.stream, LONGEST_RECORD);
        let mut reader = serde_json::Deserializer::from_reader(&mut limited);
        let value: Json = serde::Deserialize::deserialize(&mut reader).map_err(|error| {
            if error.is_io() {
                ErrorKind::Io(error.into())
            } else {
                malformed(format_args!("row {}: {error}", self.row))
            }
        })?;
        self.of_row(value)
    }

    fn of_row(&self, value: Json) -> Result<Json> {
        match value {
            Json::Object(_) | Json::List(_) | Json::Numbers(_) => Ok(value),
            _ => Err(malformed(format_args!("row {} is neither an object nor an array", self.row))),
        }
    }
}

/// Whether text begins with an array of labels and scores, which is one row.
fn first_value_is_scores(text: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    match values.next() {
        Some(Ok(value)) => scores_of(&value).is_some() && values.byte_offset() < text.len(),
        _ => false,
    }
}

/// One row of an object of arrays.
fn row_of_columns(object: &Json, row: u64) -> Option<Json> {
    let row = usize::try_from(row).ok()?;
    let mut record = Vec::new();
    for (name, column) in object.object()? {
        if column.length().is_some() {
            record.push((name.clone(), column.element(row)?));
        }
    }
    Some(Json::Object(record))
}

/// A list of objects with a label and a score each, as text classifiers answer.
fn scores_of(value: &Json) -> Option<Vec<(&str, f64)>> {
    let Json::List(list) = value else { return None };
    let pair = |entry| Some((Json::get(entry, "label")?.text()?, entry.get("score")?.number()?));
    let pairs: Option<Vec<(&str, f64)>> = list.iter().map(pair).collect();
    pairs.filter(|pairs| pairs.len() > 1)
}

/// A record with its names: objects in objects have dotted ones, and labels with scores are a number
/// for each label.
fn flat(record: &Json) -> Vec<(String, &Json)> {
    let mut fields = Vec::new();
    match record {
        Json::Object(object) => flatten("", object, &mut fields),
        other => fields.push((String::new(), other)),
    }
    fields
}

fn flatten<'a>(before: &str, object: &'a [(String, Json)], out: &mut Vec<(String, &'a Json)>) {
    for (name, value) in object {
        let name = format!("{before}{name}");
        match value {
            Json::Object(inner) => flatten(&format!("{name}."), inner, out),
            other => out.push((name, other)),
        }
    }
}

/// Where a column is found in each record.
#[derive(Clone)]
enum Place {
    /// The value of this name.
    Named(String),
    /// The score of a label, in the list of this name.
    Score(String, String),
}

struct JsonTable {
    records: Records,
    first: Json,
    fields: Vec<Field>,
    places: Vec<Place>,
    /// Columns in which values may be missing.
    gaps: Vec<usize>,
}

impl JsonTable {
    fn new(records: Records, first: Json) -> Result<Self> {
        let (mut fields, mut places) = (Vec::new(), Vec::new());
        for (name, value) in flat(&first) {
            if let Some(scores) = scores_of(value) {
                let mut labels: Vec<&str> = scores.iter().map(|(label, _)| *label).collect();
                // They come by falling score; sorted, the order does not depend on the first row.
                labels.sort_unstable();
                for label in labels {
                    fields.push(Field::scalar(label, FieldKind::Float));
                    places.push(Place::Score(name.clone(), label.to_string()));
                }
                continue;
            }
            let kind = match value {
                Json::Bool(_) => FieldKind::Bool,
                Json::Numbers(_) => FieldKind::Number,
                value if value.number().is_some() => FieldKind::Number,
                Json::Text(_) => FieldKind::Text,
                Json::List(list) if list.is_empty() => FieldKind::Number,
                _ => FieldKind::Other,
            };
            let depth = usize::from(value.length().is_some());
            fields.push(Field { name: name.clone(), kind, depth });
            places.push(Place::Named(name));
        }
        if fields.is_empty() {
            return Err(malformed("the first record is empty"));
        }
        Ok(JsonTable { records, first, fields, places, gaps: Vec::new() })
    }
}

/// A value of a record, by its place.
fn find<'a>(record: &'a Json, name: &str) -> Option<&'a Json> {
    if name.is_empty() && record.object().is_none() {
        return Some(record);
    }
    if let Some(value) = record.get(name) {
        return Some(value);
    }
    let mut dots = name.match_indices('.').map(|(at, _)| at);
    dots.find_map(|at| find(record.get(&name[..at])?, &name[at + 1..]))
}

/// A number of a record, by its place.
fn number_at(record: &Json, place: &Place, row: u64) -> Result<f64> {
    let (name, found) = match place {
        Place::Named(name) => (name, find(record, name)),
        Place::Score(list, label) => {
            let scores = find(record, list).and_then(scores_of);
            let score = scores.iter().flatten().find(|(other, _)| other == label);
            return score
                .map(|(_, score)| *score)
                .ok_or_else(|| ErrorKind::Null { row, column: label.clone() });
        }
    };
    match found {
        None | Some(Json::Null) => Err(ErrorKind::Null { row, column: name.clone() }),
        Some(value) => value.number().ok_or_else(|| not_a_number(name, value, row)),
    }
}

fn not_a_number(name: &str, value: &Json, row: u64) -> ErrorKind {
    let text = value.to_string().chars().take(40).collect();
    let (what, column) = (Quantity::Logits, format!("'{name}'"));
    ErrorKind::NotANumber { what, row, line: None, column, text }
}

impl Table for JsonTable {
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
        let JsonTable { records, first, fields, places, gaps: allowed } = *self;
        let columns: Vec<Place> = what.columns.iter().map(|&i| places[i].clone()).collect();
        let list = what.columns.first().is_some_and(|&column| fields[column].depth == 1);
        let classes = match columns.first() {
            Some(Place::Named(name)) if list => {
                find(&first, name).and_then(Json::length).unwrap_or(0)
            }
            _ => columns.len(),
        };
        let kept = what.kept.iter().map(|&i| (places[i].clone(), Vec::new())).collect();
        let (first, buffer) = (Some(first), Vec::new());
        let gaps = what.columns.iter().all(|column| allowed.contains(column));
        let row = 0;
        Ok(Box::new(JsonMatrix { records, first, row, columns, list, gaps, classes, kept, buffer }))
    }

    fn columns(mut self: Box<Self>, indices: &[usize]) -> Result<Vec<Result<Column>>> {
        let growing = |&index: &usize| match (self.fields[index].kind, &self.places[index]) {
            (FieldKind::Other, Place::Named(name))
                if find(&self.first, name).is_none_or(|value| *value != Json::Null)
                    || !self.gaps.contains(&index) =>
            {
                let problem = format!("'{name}' holds neither numbers nor text");
                let instead = "choose another name, or write one value in each row".into();
                Err(ErrorKind::Unsupported { problem, instead })
            }
            (kind, _) => Ok(GrowingColumn::new(kind)),
        };
        let mut columns: Vec<Result<GrowingColumn>> = indices.iter().map(growing).collect();
        let (mut next, mut row) = (Some(self.first), 0);
        while let Some(record) = next {
            for (column, &index) in columns.iter_mut().zip(indices) {
                let Ok(values) = column else { continue };
                match push_value(&record, &self.places[index], row, values) {
                    Err(ErrorKind::Null { .. }) if self.gaps.contains(&index) => values.push_gap(),
                    Err(error) => *column = Err(error),
                    Ok(()) => {}
                }
            }
            if columns.iter().all(Result::is_err) {
                break;
            }
            row += 1;
            next = self.records.next_record()?;
        }
        Ok(columns.into_iter().map(|column| column.and_then(GrowingColumn::finish)).collect())
    }
}

/// Adds a value of a record to its column.
fn push_value(record: &Json, place: &Place, row: u64, column: &mut GrowingColumn) -> Result<()> {
    let missing = |name: &String| ErrorKind::Null { row, column: name.clone() };
    if let Place::Named(name) = place
        && matches!(find(record, name), Some(Json::Text(_)))
    {
        column.reconsider();
    }
    match (column, place) {
        (GrowingColumn::Texts(texts), Place::Named(name)) => match find(record, name) {
            None | Some(Json::Null) => return Err(missing(name)),
            Some(other) => texts.push(other.to_string()),
        },
        (GrowingColumn::Bools(bools), Place::Named(name)) => match find(record, name) {
            None | Some(Json::Null) => return Err(missing(name)),
            Some(Json::Bool(value)) => bools.push(*value),
            Some(other) => return Err(not_a_number(name, other, row)),
        },
        (GrowingColumn::Numbers(numbers), place) => numbers.push(number_at(record, place, row)?),
        // Scores are numbers.
        (_, Place::Score(_, label)) => return Err(missing(label)),
    }
    Ok(())
}

struct JsonMatrix {
    records: Records,
    first: Option<Json>,
    row: u64,
    columns: Vec<Place>,
    /// Whether the only column holds all classes.
    list: bool,
    /// Whether numbers may be missing; so are those that are none.
    gaps: bool,
    classes: usize,
    kept: Vec<(Place, Vec<String>)>,
    buffer: Vec<f64>,
}

impl JsonMatrix {
    /// Adds a row; where numbers may be missing, one that cannot be read is missing.
    fn push(&mut self, record: &Json) -> Result<()> {
        let start = self.buffer.len();
        let pushed = self.push_numbers(record);
        if self.gaps && pushed.is_err() {
            self.buffer.resize(start, 0.0);
            self.buffer.resize(start + self.classes, f64::NAN);
            return Ok(());
        }
        pushed
    }

    fn push_numbers(&mut self, record: &Json) -> Result<()> {
        let row = self.row;
        if let (true, Some(Place::Named(name))) = (self.list, self.columns.first()) {
            let found = match find(record, name) {
                Some(Json::Numbers(numbers)) if numbers.len() == self.classes => {
                    self.buffer.extend_from_slice(numbers);
                    return Ok(());
                }
                None | Some(Json::Null) => {
                    return Err(ErrorKind::Null { row, column: name.clone() });
                }
                Some(Json::List(list)) if list.len() == self.classes => {
                    let wrong = list.iter().find(|element| element.number().is_none());
                    return Err(not_a_number(name, wrong.unwrap_or(&Json::Null), row));
                }
                Some(other) => other,
            };
            let Some(length) = found.length() else { return Err(not_a_number(name, found, row)) };
            let (found, expected) = (length as u64, self.classes as u64);
            return Err(ErrorKind::Ragged { row, line: None, found, expected });
        }
        for place in &self.columns {
            self.buffer.push(number_at(record, place, row)?);
        }
        Ok(())
    }
}

impl Matrix for JsonMatrix {
    fn classes(&self) -> usize {
        self.classes
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        self.buffer.clear();
        self.kept.iter_mut().for_each(|(_, values)| values.clear());
        for done in 0..rows {
            let next = match self.first.take() {
                Some(first) => Some(first),
                None => self.records.next_record()?,
            };
            let Some(record) = next else { return Ok(done) };
            self.push(&record)?;
            for (place, values) in &mut self.kept {
                let value = match place {
                    Place::Named(name) => find(&record, name),
                    Place::Score(..) => None,
                };
                values.push(match value {
                    None | Some(Json::Null) => String::new(),
                    Some(other) => other.to_string(),
                });
            }
            self.row += 1;
        }
        Ok(rows)
    }

    fn values(&mut self) -> Values<'_> {
        Values::from(&self.buffer)
    }

    fn kept(&mut self) -> Vec<Column> {
        self.kept.iter_mut().map(|(_, values)| Column::Texts(std::mem::take(values))).collect()
    }
}
