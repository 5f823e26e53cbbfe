//! A Parquet file as batches of Arrow.

use crate::error::{ErrorKind, Result};
use crate::format::Format;
use crate::format::arrow::{ArrowTable, Batches, Origin};
use crate::format::guard::guarded;
use crate::source::Opened;
use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetStatisticsPolicy};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Values of all columns that are decoded at a time.
const BATCH: u64 = 1 << 18;
/// The most rows of a batch.
const ROWS: u64 = 1 << 14;

fn malformed(problem: impl std::fmt::Display) -> ErrorKind {
    ErrorKind::malformed(Format::Parquet, problem)
}

/// Calls the `parquet` crate, which panics on some broken files: where a page needs a dictionary
/// that is not there, for instance, or levels are longer than their page.
fn sound<T, E: Into<ParquetError>>(call: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    match guarded(call).map_err(malformed)?.map_err(Into::into) {
        Ok(value) => Ok(value),
        Err(ParquetError::External(error)) => Err(match error.downcast::<io::Error>() {
            // Decompressors report broken data as an io::Error, too, but without a number.
            Ok(error) if error.raw_os_error().is_some() => ErrorKind::Io(*error),
            Ok(error) => malformed(error),
            Err(error) => malformed(error),
        }),
        Err(
            ParquetError::General(problem)
            | ParquetError::EOF(problem)
            | ParquetError::ArrowError(problem),
        ) => Err(malformed(problem)),
        Err(ParquetError::NYI(problem)) => {
            let instead = "write it with another encoding or compression".into();
            Err(ErrorKind::Unsupported { problem, instead })
        }
        Err(error) => Err(malformed(error)),
    }
}

/// An error of a batch is that of the file.
fn of_batch(error: ArrowError) -> ParquetError {
    match error {
        ArrowError::ExternalError(error) => match error.downcast::<ParquetError>() {
            Ok(error) => *error,
            Err(error) => ParquetError::External(error),
        },
        ArrowError::ParquetError(problem) => ParquetError::General(problem),
        error => ParquetError::ArrowError(error.to_string()),
    }
}

/// An open file, and how many rows it has.
pub(super) struct ParquetFile {
    builder: ParquetRecordBatchReaderBuilder<File>,
    rows: u64,
}

pub(super) fn open_table(opened: Opened) -> Result<Box<dyn Table>> {
    Ok(Box::new(table_of(opened.into_file()?)?))
}

pub(super) fn table_of(file: File) -> Result<ArrowTable> {
    Ok(ArrowTable::new(Box::new(ParquetFile::open(file)?)))
}

impl ParquetFile {
    fn open(file: File) -> Result<Self> {
        check_ends(&file)?;
        // Types are those that the format has; what Arrow notes beside them is not needed.
        let options = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
        let builder =
            sound(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))?;
        let rows = rows_of(builder.metadata())?;
        Ok(ParquetFile { builder, rows })
    }

    /// Refuses columns that are packed or placed in ways that cannot be read.
    fn check(&self, mask: &ProjectionMask) -> Result<()> {
        let columns = self.builder.parquet_schema().num_columns();
        for (number, group) in self.builder.metadata().row_groups().iter().enumerate() {
            if group.num_columns() != columns {
                return Err(malformed(format!("row group {number} lacks columns")));
            }
            let chosen = group.columns().iter().enumerate();
            for (_, chunk) in chosen.filter(|(leaf, _)| mask.leaf_included(*leaf)) {
                let name = chunk.column_path().string();
                let places = [chunk.data_page_offset(), chunk.compressed_size()];
                if places.into_iter().chain(chunk.dictionary_page_offset()).any(|place| place < 0) {
                    return Err(malformed(format!("column '{name}' is before the file's begin")));
                }
                let problem = match chunk.compression() {
                    Compression::BROTLI(_) => "is compressed with Brotli",
                    Compression::LZO => "is compressed with LZO",
                    _ if chunk.file_path().is_some() => "is in another file",
                    _ => continue,
                };
                let problem = format!("column '{name}' {problem}");
                let instead = "write it as one file with zstd or snappy".into();
                return Err(ErrorKind::Unsupported { problem, instead });
            }
        }
        Ok(())
    }

    /// How many rows are decoded at a time: lists may be long, and columns many.
    fn batch_size(&self, mask: &ProjectionMask) -> usize {
        let groups = self.builder.metadata().row_groups().iter();
        let values = groups.flat_map(|group| {
            let chosen = group.columns().iter().enumerate();
            chosen
                .filter(|(leaf, _)| mask.leaf_included(*leaf))
                .map(|(_, chunk)| chunk.num_values())
        });
        let values = values.fold(0_u64, |sum, more| sum.saturating_add(more.unsigned_abs()));
        let rows = BATCH / (values / self.rows).max(1);
        usize::try_from(rows.clamp(1, ROWS)).unwrap_or(1)
    }
}

/// Refuses what is no Parquet file, or not a whole one.
fn check_ends(mut file: &File) -> Result<()> {
    let (mut head, mut tail) = ([0; 4], [0; 4]);
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    if length >= 4 {
        file.read_exact(&mut head)?;
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut tail)?;
    }
    match (&head, &tail) {
        (b"PAR1", b"PAR1") => Ok(()),
        // What is where is written at the end.
        (b"PAR1", _) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        (b"PARE", _) => {
            let (problem, instead) = ("the file is encrypted".into(), "decrypt it first".into());
            Err(ErrorKind::Unsupported { problem, instead })
        }
        _ => Err(malformed("it does not begin with PAR1")),
    }
}

fn rows_of(metadata: &ParquetMetaData) -> Result<u64> {
    let mut rows = 0_u64;
    for group in metadata.row_groups() {
        let more = u64::try_from(group.num_rows()).ok();
        let sum = more.and_then(|more| rows.checked_add(more));
        rows = sum.ok_or_else(|| malformed("the sizes of its row groups make no sense"))?;
    }
    let promised = metadata.file_metadata().num_rows();
    if u64::try_from(promised) != Ok(rows) {
        let problem = format!("{promised} rows are promised, but its row groups have {rows}");
        return Err(malformed(problem));
    }
    if rows == 0 { Err(ErrorKind::NoRows) } else { Ok(rows) }
}

impl Origin for ParquetFile {
    fn schema(&self) -> &SchemaRef {
        self.builder.schema()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn batches(self: Box<Self>, columns: Vec<usize>) -> Result<Box<dyn Batches>> {
        let mask = ProjectionMask::roots(self.builder.parquet_schema(), columns);
        self.check(&mask)?;
        let (rows, size) = (self.rows, self.batch_size(&mask));
        let reader = sound(|| self.builder.with_projection(mask).with_batch_size(size).build())?;
        Ok(Box::new(ParquetBatches { reader, left: rows }))
    }
}

struct ParquetBatches {
    reader: ParquetRecordBatchReader,
    /// Rows that are promised and did not come yet.
    left: u64,
}

impl Batches for ParquetBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let batch = sound(|| self.reader.next().transpose().map_err(of_batch))?;
        let rows = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        let left = self.left.checked_sub(rows);
        self.left = left.ok_or_else(|| malformed("it has more rows than promised"))?;
        if rows == 0 && self.left > 0 {
            return Err(malformed("it has fewer rows than promised"));
        }
        Ok(batch.filter(|_| rows > 0))
    }
}
