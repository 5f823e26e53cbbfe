//! parquet, compressed with zstd.

use super::{Definition, Encoder, ScoreColumn, ScoreKind};
use crate::column::Column;
use crate::error::{ErrorKind, Result};
use crate::scores::target::Target;
use parquet::basic::{Compression, LogicalType, Repetition, Type, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{PrimitiveTypeBuilder, Type as SchemaType};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group; every one but the last has as many, however the rows came in, so that the
/// same rows make the same file.
const ROWS: usize = 1 << 17;

pub(super) const FORMAT: Definition = Definition {
    name: "parquet",
    extensions: &["parquet", "pq"],
    seeks: false,
    create: |out, columns| Ok(Box::new(Writer::new(out, columns)?)),
};

impl Encoder for Writer<Target> {
    fn write(&mut self, columns: &[Column]) -> Result<()> {
        self.write(columns)
    }

    /// Rows wait for their row group.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Target> {
        (*self).finish()
    }
}

struct Writer<W: Write + Send> {
    file: SerializedFileWriter<Out<W>>,
    /// Rows that do not fill a row group yet, column by column.
    waiting: Vec<Column>,
}

impl<W: Write + Send> Writer<W> {
    fn new(out: W, columns: &[ScoreColumn]) -> Result<Self> {
        let field = |ScoreColumn { name, kind }: &ScoreColumn| {
            let kind = match kind {
                // 64 bits with a sign, because that is what every reader takes for a class.
                ScoreKind::Integer => PrimitiveTypeBuilder::new(name, Type::INT64),
                ScoreKind::Float => PrimitiveTypeBuilder::new(name, Type::DOUBLE),
                ScoreKind::Bool => PrimitiveTypeBuilder::new(name, Type::BOOLEAN),
                ScoreKind::Text(_) => PrimitiveTypeBuilder::new(name, Type::BYTE_ARRAY)
                    .with_logical_type(Some(LogicalType::String)),
            };
            kind.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<std::result::Result<Vec<_>, _>>();
        let schema = SchemaType::group_type_builder("abstain")
            .with_fields(fields.map_err(refusal)?)
            .build()
            .map_err(refusal)?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("abstain version ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // Confidences hardly repeat: a dictionary of them would only cost time.
            .set_column_dictionary_enabled("confidence".into(), false)
            .set_column_dictionary_enabled("value".into(), false)
            .build();
        let file =
            SerializedFileWriter::new(Out(Some(out)), Arc::new(schema), Arc::new(properties))
                .map_err(refusal)?;
        let empty = |column: &ScoreColumn| match column.kind {
            ScoreKind::Integer => Column::Integers(Vec::new()),
            ScoreKind::Float => Column::Floats(Vec::new()),
            ScoreKind::Bool => Column::Bools(Vec::new()),
            ScoreKind::Text(_) => Column::Texts(Vec::new()),
        };
        Ok(Writer { file, waiting: columns.iter().map(empty).collect() })
    }

    /// Adds rows.
    fn write(&mut self, columns: &[Column]) -> Result<()> {
        for (waiting, column) in self.waiting.iter_mut().zip(columns) {
            waiting.append(column.clone());
        }
        while self.waiting_rows() >= ROWS {
            self.flush(ROWS).map_err(refusal)?;
        }
        Ok(())
    }

    fn waiting_rows(&self) -> usize {
        self.waiting.first().map_or(0, Column::len)
    }

    /// Writes what is left and the footer, without which the file is none.
    fn finish(mut self) -> Result<W> {
        if self.waiting_rows() > 0 {
            self.flush(self.waiting_rows()).map_err(refusal)?;
        }
        // The crate's into_inner would do the same, but it turns a full disk into mere text.
        self.file.finish().map_err(refusal)?;
        let out = self.file.inner_mut().0.take();
        out.ok_or_else(|| io::Error::other("the output was taken before its end").into())
    }

    /// Writes the first rows that were gathered as a row group.
    fn flush(&mut self, rows: usize) -> parquet::errors::Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.waiting {
            match column {
                Column::Integers(values) => put::<Int64Type, _>(&mut group, values, rows)?,
                Column::Floats(values) => put::<DoubleType, _>(&mut group, values, rows)?,
                Column::Bools(values) => put::<BoolType, _>(&mut group, values, rows)?,
                Column::Texts(values) => {
                    let mut bytes = values.drain(..rows).map(|text| text.as_str().into()).collect();
                    put::<ByteArrayType, _>(&mut group, &mut bytes, rows)?;
                }
            }
        }
        group.close()?;
        Ok(())
    }
}

/// Writes the first values to the next column of a row group, and removes them.
fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    rows: usize,
) -> parquet::errors::Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values[..rows], None, None)?;
        column.close()?;
    }
    values.drain(..rows);
    Ok(())
}

/// An output that can be taken back from the crate's writer.
struct Out<W>(Option<W>);

impl<W: Write> Write for Out<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Only the output can refuse: the columns are made to fit the schema.
fn refusal(error: ParquetError) -> ErrorKind {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => ErrorKind::Io(*error),
            Err(error) => ErrorKind::Io(io::Error::other(error)),
        },
        error => ErrorKind::Io(io::Error::other(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::layout::{Quantity, named};
    use crate::scores::ScoreColumns;
    use crate::source::{Opened, ReadCounter};
    use abstain::Answer;
    use std::fs::File;

    fn all() -> ScoreColumns {
        ScoreColumns { value: true, accept: true, ..ScoreColumns::default() }
    }

    fn column(file: &File, name: &str) -> Result<Column> {
        let table =
            Format::Parquet.table(Opened::File(file.try_clone()?, ReadCounter::default()))?;
        let index = named(table.fields(), Quantity::Column, name)?;
        table.columns(&[index])?.remove(0)
    }

    fn names(file: &File) -> Vec<String> {
        match column(file, "no such column") {
            Err(ErrorKind::NoSuchName { names, .. }) => names,
            other => panic!("{other:?}"),
        }
    }

    fn answer(prediction: u32, confidence: f64, accept: bool) -> Answer {
        Answer { prediction, confidence, accept: Some(accept) }
    }

    fn rows(answers: &[Answer], values: &[f64]) -> Vec<Column> {
        all().values(answers, values, Vec::new()).expect("all columns")
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), &all().all()).unwrap();
        let answers = [answer(3, 0.5, true), answer(Answer::NO_CLASS, f64::NEG_INFINITY, false)];
        writer.write(&rows(&answers, &[1e-300, f64::NAN])).unwrap();
        writer.write(&rows(&[answer(0, 0.1, true)], &[-0.0])).unwrap();
        let file = writer.finish().unwrap();
        assert_eq!(names(&file), ["prediction", "confidence", "value", "accept"]);
        // A row that could not be scored has no class.
        let predictions = Column::Integers(vec![3, -1, 0]);
        assert_eq!(column(&file, "prediction").unwrap(), predictions);
        let confidences = Column::Floats(vec![0.5, f64::NEG_INFINITY, 0.1]);
        assert_eq!(column(&file, "confidence").unwrap(), confidences);
        let values = column(&file, "value").unwrap().into_floats().unwrap();
        let bits: Vec<u64> = values.iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, [1e-300, f64::NAN, -0.0].map(f64::to_bits));
        assert_eq!(column(&file, "accept").unwrap(), Column::Bools(vec![true, false, true]));

        let fewest = ScoreColumns::default();
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), &fewest.all()).unwrap();
        writer.write(&fewest.values(&answers, &[], Vec::new()).unwrap()).unwrap();
        assert_eq!(names(&writer.finish().unwrap()), ["prediction", "confidence"]);
    }

    /// A file of that many rows, written in pieces.
    fn written(rows_in_all: u32, piece: usize) -> File {
        let answers: Vec<Answer> =
            (0..rows_in_all).map(|i| answer(i * 7 % 1000, f64::from(i) / 3.0, i % 5 < 2)).collect();
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), &all().all()).unwrap();
        for part in answers.chunks(piece) {
            let values: Vec<f64> = part.iter().map(|answer| answer.confidence).collect();
            writer.write(&rows(part, &values)).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn row_groups_do_not_depend_on_the_pieces() {
        let rows = u32::try_from(2 * ROWS + 5).unwrap();
        let bytes = |mut file: File| {
            use std::io::{Read, Seek};
            let mut bytes = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        };
        let whole = written(rows, rows as usize);
        let confidences = column(&whole, "confidence").unwrap().into_floats().unwrap();
        assert_eq!(confidences.len(), rows as usize);
        assert!(confidences.iter().zip(0..rows).all(|(&x, i)| x == f64::from(i) / 3.0));
        let whole = bytes(whole);
        for piece in [1000, ROWS, ROWS + 1] {
            assert!(bytes(written(rows, piece)) == whole, "{piece}");
        }
    }

    #[test]
    fn a_full_disk_is_reported_as_such() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let answers: Vec<Answer> = (0..ROWS).map(|i| answer(1, (i as f64).sin(), true)).collect();
        let fewest = ScoreColumns::default();
        let rows = fewest.values(&answers, &[], Vec::new()).unwrap();
        for space in [0, 10, 10_000] {
            let mut writer = Writer::new(Full(space), &fewest.all()).unwrap();
            let error = writer.write(&rows).and_then(|()| writer.finish().map(|_| ())).unwrap_err();
            let full = matches!(&error, ErrorKind::Io(e) if e.kind() == io::ErrorKind::StorageFull);
            assert!(full, "{error}");
        }
    }
}
