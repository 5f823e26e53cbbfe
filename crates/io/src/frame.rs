//! Tables in memory, such as data frames of Python: all numbers and labels at once, by the rules of files.

use crate::error::{Error, ErrorKind};
use crate::labels::{Classes, RawLabels, ResolvedLabels};
use crate::layout::Quantity;
use crate::reader::{ColumnRequest, Known, MatrixOf, OpenTable, ReadOptions, open_matrix};
use crate::source::Source;
use abstain::half::f16;
use abstain::logits::Values;

/// Where the labels of a table are.
#[derive(Debug)]
pub enum FrameLabels {
    /// In a column of it.
    Inside,
    /// In a column of it, if there is one.
    IfInside,
    /// Nowhere: rows are to be scored.
    Unused,
    /// Beside it.
    Given(RawLabels),
}

/// The numbers of all rows, in the type that the table has them in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FrameNumbers {
    /// Half precision.
    F16(Vec<f16>),
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision, and all other numbers.
    F64(Vec<f64>),
}

/// The rows of a table.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Frame {
    /// Row after row.
    pub numbers: FrameNumbers,
    /// How many numbers a row has.
    pub width: usize,
    /// The labels, where there are any.
    pub labels: Option<ResolvedLabels>,
    /// The names of the classes, where labels or columns have them.
    pub class_names: Option<Vec<String>>,
}

impl Frame {
    /// Reads a table. What its numbers are worth is not looked at.
    pub fn read(
        source: &Source,
        options: &ReadOptions,
        labels: FrameLabels,
    ) -> Result<Self, Error> {
        let inside = || -> Result<RawLabels, Error> {
            let name = options.labels_name.as_deref();
            OpenTable::open(source, None)?.labels(source, name, &[])?.0
        };
        let raw = match labels {
            FrameLabels::Given(raw) => Some(raw),
            FrameLabels::Unused => None,
            FrameLabels::Inside => Some(inside()?),
            FrameLabels::IfInside => {
                let name = options.labels_name.as_deref();
                let request = ColumnRequest { what: Quantity::Labels, name };
                let is_there = OpenTable::open(source, None)?.place(request).is_ok();
                match inside() {
                    // A table without rows may be scored.
                    Err(Error { kind, .. }) if matches!(*kind, ErrorKind::NoRows) => None,
                    Err(error) if is_there => return Err(error),
                    found => found.ok(),
                }
            }
        };
        let seen = raw.as_ref().and_then(RawLabels::texts);
        let known = Known { seen, ..Known::default() };
        let MatrixOf { columns, mut matrix, .. } = open_matrix(source, options, &known, None)?;
        let width = matrix.classes();
        let of_source = |kind: ErrorKind| kind.of(source.path());
        let labels = match raw {
            Some(raw) => {
                let classes = Classes {
                    count: options.encoding.classes(width),
                    columns: &columns,
                    names: options.class_names.as_deref(),
                    positive: options.positive.as_deref(),
                    first_label: options.first_label,
                };
                Some(classes.resolve(raw).map_err(of_source)?)
            }
            None => None,
        };
        let rows = matrix.rows().and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX);
        matrix.fill(rows).map_err(of_source)?;
        let numbers = match matrix.values() {
            Values::F16(values) => FrameNumbers::F16(values.to_vec()),
            Values::F32(values) => FrameNumbers::F32(values.to_vec()),
            values => {
                let mut numbers = vec![0.0; values.len()];
                values.copy_to(&mut numbers);
                FrameNumbers::F64(numbers)
            }
        };
        let of_labels = labels.as_ref().and_then(|labels| labels.class_names.clone());
        let class_names = of_labels.or(columns.class_names);
        Ok(Frame { numbers, width, labels, class_names })
    }
}

#[cfg(all(test, feature = "arrow"))]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
    use arrow_schema::{Field, Schema};
    use std::collections::HashMap;
    use std::sync::Arc;

    /// Columns called cat and dog, and numbers of labels that name them in another order.
    fn dataset(features: Option<&str>) -> Source {
        let columns: [(&str, ArrayRef); 3] = [
            ("dog", Arc::new(Float64Array::from(vec![2.5, 0.5, 1.5]))),
            ("cat", Arc::new(Float64Array::from(vec![1.5, 2.5, 0.5]))),
            ("label", Arc::new(Int64Array::from(vec![1, 0, 1]))),
        ];
        let field =
            |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), false);
        let described = features.map(|text| ("huggingface".to_string(), text.to_string()));
        let metadata: HashMap<String, String> = described.into_iter().collect();
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let schema = schema.with_metadata(metadata);
        let schema = Arc::new(schema);
        let arrays = columns.map(|(_, array)| array).to_vec();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("a batch");
        Source::batches("table", schema, vec![batch])
    }

    #[test]
    fn numbers_of_labels_are_the_names_that_a_dataset_states() {
        let features = r#"{"info": {"features": {"label":
            {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}"#;
        let options = ReadOptions::default();
        let labels = |features, options: &ReadOptions| {
            let frame = Frame::read(&dataset(features), options, FrameLabels::Inside);
            let frame = frame.expect("read");
            (frame.labels.expect("labels").labels.values().to_vec(), frame.class_names)
        };
        let names = |names: [&str; 2]| Some(names.map(String::from).to_vec());
        // By position they would be wrong in every row.
        assert_eq!(labels(None, &options).0, [1, 0, 1]);
        assert_eq!(labels(Some("{}"), &options).0, [1, 0, 1]);
        assert_eq!(labels(Some(features), &options), (vec![0, 1, 0], names(["dog", "cat"])));
        // Names that the user gives are in the order that counts.
        let class_names = names(["cat", "dog"]);
        let given = ReadOptions { class_names, ..ReadOptions::default() };
        assert_eq!(labels(Some(features), &given), (vec![1, 0, 1], names(["cat", "dog"])));
    }
}
