//! Tables as files.

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::fmt::Write;
use std::sync::Arc;

/// The values of a column.
#[derive(Debug, Clone)]
pub(crate) enum Cells {
    Floats(Vec<f64>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
    Bools(Vec<bool>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Floats(values) => values.len(),
            Cells::Integers(values) => values.len(),
            Cells::Texts(values) => values.len(),
            Cells::Bools(values) => values.len(),
        }
    }

    /// A value as pandas writes it.
    fn text(&self, row: usize) -> String {
        match self {
            Cells::Floats(values) => format!("{:?}", values[row]),
            Cells::Integers(values) => values[row].to_string(),
            Cells::Texts(values) => values[row].clone(),
            Cells::Bools(values) => if values[row] { "True" } else { "False" }.to_string(),
        }
    }

    fn json(&self, row: usize) -> String {
        match self {
            Cells::Texts(values) => format!("{:?}", values[row]),
            Cells::Bools(values) => values[row].to_string(),
            _ => self.text(row),
        }
    }
}

type Table = [(String, Cells)];

pub(crate) const FORMATS: &[&str] = &["csv", "tsv", "jsonl", "json", "parquet", "arrow"];

pub(crate) fn write(format: &str, table: &Table) -> Vec<u8> {
    match format {
        "csv" => text(table, ","),
        "tsv" => text(table, "\t"),
        "jsonl" => records(table).join("\n").into_bytes(),
        "json" => format!("[{}]", records(table).join(",\n")).into_bytes(),
        "parquet" => parquet_file(table),
        "arrow" => arrow_file(table),
        other => panic!("no writer of {other}"),
    }
}

fn text(table: &Table, delimiter: &str) -> Vec<u8> {
    let names: Vec<&str> = table.iter().map(|(name, _)| name.as_str()).collect();
    let mut out = format!("{}\n", names.join(delimiter));
    for row in 0..table[0].1.len() {
        let cells: Vec<String> = table.iter().map(|(_, cells)| cells.text(row)).collect();
        writeln!(out, "{}", cells.join(delimiter)).expect("a string");
    }
    out.into_bytes()
}

fn records(table: &Table) -> Vec<String> {
    let record = |row: usize| {
        let fields = table.iter().map(|(name, cells)| format!("{name:?}: {}", cells.json(row)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    };
    (0..table[0].1.len()).map(record).collect()
}

fn parquet_file(table: &Table) -> Vec<u8> {
    use parquet::basic::{ConvertedType, Repetition, Type as Physical};
    use parquet::schema::types::Type;
    let field = |(name, cells): &(String, Cells)| {
        let (physical, converted) = match cells {
            Cells::Floats(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Cells::Integers(_) => (Physical::INT64, ConvertedType::NONE),
            Cells::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Cells::Bools(_) => (Physical::BOOLEAN, ConvertedType::NONE),
        };
        let builder = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(converted);
        Arc::new(builder.build().expect("a type"))
    };
    let fields = table.iter().map(field).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields).build().expect("a schema");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties).expect("a file");
    let mut group = file.next_row_group().expect("a row group");
    for (_, cells) in table {
        let mut column = group.next_column().expect("a column").expect("a column");
        let written = match cells {
            Cells::Floats(values) => column.typed::<DoubleType>().write_batch(values, None, None),
            Cells::Integers(values) => column.typed::<Int64Type>().write_batch(values, None, None),
            Cells::Bools(values) => column.typed::<BoolType>().write_batch(values, None, None),
            Cells::Texts(values) => {
                let values: Vec<ByteArray> =
                    values.iter().map(|text| text.as_str().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, None, None)
            }
        };
        written.expect("written");
        column.close().expect("written");
    }
    group.close().expect("written");
    file.into_inner().expect("written")
}

fn arrow_file(table: &Table) -> Vec<u8> {
    let column = |(name, cells): &(String, Cells)| {
        let array: ArrayRef = match cells {
            Cells::Floats(values) => Arc::new(Float64Array::from(values.clone())),
            Cells::Integers(values) => Arc::new(Int64Array::from(values.clone())),
            Cells::Texts(values) => Arc::new(StringArray::from(values.clone())),
            Cells::Bools(values) => Arc::new(BooleanArray::from(values.clone())),
        };
        (name.clone(), array)
    };
    let batch = RecordBatch::try_from_iter(table.iter().map(column)).expect("a batch");
    let mut bytes = Vec::new();
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).expect("a file");
    writer.write(&batch).expect("written");
    writer.finish().expect("written");
    drop(writer);
    bytes
}
