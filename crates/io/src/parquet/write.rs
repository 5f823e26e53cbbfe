//! Writing results to Parquet: a prediction and a confidence a row, and what else was asked for.

use crate::error::{ErrorKind, Result};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group; every one but the last has as many, however the rows came in, so that the
/// same rows make the same file.
const ROWS: usize = 1 << 17;

/// Writes the columns `prediction`, `confidence` and, if wanted, `value` and `accept`.
pub(crate) struct Writer<W: Write + Send> {
    file: SerializedFileWriter<Out<W>>,
    /// Rows that do not fill a row group yet.
    prediction: Vec<i64>,
    confidence: Vec<f64>,
    value: Option<Vec<f64>>,
    accept: Option<Vec<bool>>,
}

impl<W: Write + Send> Writer<W> {
    pub(crate) fn new(out: W, with_value: bool, with_accept: bool) -> Result<Self> {
        // 64 bits with a sign, because that is what every reader takes for a class.
        let mut schema =
            "message abstain { required int64 prediction; required double confidence;".to_string();
        if with_value {
            schema += " required double value;";
        }
        if with_accept {
            schema += " required boolean accept;";
        }
        let schema = parse_message_type(&(schema + " }")).map_err(refusal)?;
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
        let value = with_value.then(Vec::new);
        let accept = with_accept.then(Vec::new);
        Ok(Writer { file, prediction: Vec::new(), confidence: Vec::new(), value, accept })
    }

    /// Adds rows. The columns must be those that the writer was made for, and equally long.
    pub(crate) fn write(
        &mut self,
        prediction: &[u32],
        confidence: &[f64],
        value: Option<&[f64]>,
        accept: Option<&[bool]>,
    ) -> Result<()> {
        let rows = prediction.len();
        assert_eq!(confidence.len(), rows, "as many confidences as predictions");
        assert_eq!(value.map(<[f64]>::len), self.value.as_ref().map(|_| rows), "values");
        assert_eq!(accept.map(<[bool]>::len), self.accept.as_ref().map(|_| rows), "decisions");
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + ROWS - self.prediction.len());
            self.prediction.extend(prediction[start..end].iter().map(|&class| i64::from(class)));
            self.confidence.extend_from_slice(&confidence[start..end]);
            if let (Some(all), Some(new)) = (&mut self.value, value) {
                all.extend_from_slice(&new[start..end]);
            }
            if let (Some(all), Some(new)) = (&mut self.accept, accept) {
                all.extend_from_slice(&new[start..end]);
            }
            if self.prediction.len() == ROWS {
                self.flush().map_err(refusal)?;
            }
            start = end;
        }
        Ok(())
    }

    /// Writes what is left and the footer, without which the file is none.
    pub(crate) fn finish(mut self) -> Result<W> {
        if !self.prediction.is_empty() {
            self.flush().map_err(refusal)?;
        }
        // The crate's into_inner would do the same, but it turns a full disk into mere text.
        self.file.finish().map_err(refusal)?;
        let out = self.file.inner_mut().0.take();
        out.ok_or_else(|| io::Error::other("the output was taken before its end").into())
    }

    /// Writes the rows that were gathered as a row group.
    fn flush(&mut self) -> parquet::errors::Result<()> {
        let mut group = self.file.next_row_group()?;
        put::<Int64Type, _>(&mut group, &mut self.prediction)?;
        put::<DoubleType, _>(&mut group, &mut self.confidence)?;
        if let Some(value) = &mut self.value {
            put::<DoubleType, _>(&mut group, value)?;
        }
        if let Some(accept) = &mut self.accept {
            put::<BoolType, _>(&mut group, accept)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Writes the next column of a row group, and empties it.
fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
) -> parquet::errors::Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    values.clear();
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
    use crate::parquet::{Column, column, names};
    use std::fs::File;

    fn integers(file: &File, name: &str) -> Vec<i64> {
        match column(file, Some(name), &[]).unwrap() {
            Some(Column::Integers(values)) => values,
            _ => panic!("{name} is not of integers"),
        }
    }

    fn floats(file: &File, name: &str) -> Vec<f64> {
        match column(file, Some(name), &[]).unwrap() {
            Some(Column::Floats(values)) => values,
            _ => panic!("{name} is not of floats"),
        }
    }

    /// A result of that many rows, written in pieces.
    fn result(rows: u32, piece: usize) -> File {
        let predictions: Vec<u32> = (0..rows).map(|i| i * 7 % 1000).collect();
        let confidences: Vec<f64> = (0..rows).map(|i| f64::from(i) / 3.0).collect();
        let accepts: Vec<bool> = (0..rows).map(|i| i % 5 < 2).collect();
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), true, true).unwrap();
        for (start, part) in predictions.chunks(piece).enumerate() {
            let at = start * piece..start * piece + part.len();
            let confidence = &confidences[at.clone()];
            writer.write(part, confidence, Some(confidence), Some(&accepts[at])).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), true, true).unwrap();
        let (confidence, value) = ([0.5, f64::NEG_INFINITY], [1e-300, f64::NAN]);
        writer.write(&[3, u32::MAX], &confidence, Some(&value), Some(&[true, false])).unwrap();
        writer.write(&[0], &[0.1], Some(&[-0.0]), Some(&[true])).unwrap();
        let file = writer.finish().unwrap();
        assert_eq!(names(&file).unwrap(), ["prediction", "confidence", "value", "accept"]);
        assert_eq!(integers(&file, "prediction"), [3, i64::from(u32::MAX), 0]);
        assert_eq!(floats(&file, "confidence"), [0.5, f64::NEG_INFINITY, 0.1]);
        let bits: Vec<u64> = floats(&file, "value").iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, [1e-300, f64::NAN, -0.0].map(f64::to_bits));
        assert_eq!(integers(&file, "accept"), [1, 0, 1]);

        let mut short = Writer::new(tempfile::tempfile().unwrap(), false, false).unwrap();
        short.write(&[1], &[2.0], None, None).unwrap();
        assert_eq!(names(&short.finish().unwrap()).unwrap(), ["prediction", "confidence"]);
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
        let whole = result(rows, rows as usize);
        let confidences = floats(&whole, "confidence");
        assert_eq!(confidences.len(), rows as usize);
        assert!(confidences.iter().zip(0..rows).all(|(&x, i)| x == f64::from(i) / 3.0));
        let whole = bytes(whole);
        for piece in [1000, ROWS, ROWS + 1] {
            assert!(bytes(result(rows, piece)) == whole, "{piece}");
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
        for space in [0, 10, 10_000] {
            let mut writer = Writer::new(Full(space), false, false).unwrap();
            let confidence: Vec<f64> = (0..ROWS).map(|i| (i as f64).sin()).collect();
            let error = writer
                .write(&vec![1; ROWS], &confidence, None, None)
                .and_then(|()| writer.finish().map(|_| ()))
                .unwrap_err();
            let full = matches!(&error, ErrorKind::Io(e) if e.kind() == io::ErrorKind::StorageFull);
            assert!(full, "{error}");
        }
    }
}
