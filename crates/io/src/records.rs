//! Records of a deployment: scored rows in time order, and labels that come later. What belongs together is
//! known by identifiers.

use crate::column::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::layout::{Field, Quantity, column, identifies, named, normalised};
use crate::reader::open_table;
use crate::source::Source;
use crate::table::{Selection, Table};
use std::fmt;

/// Rows that are read at a time.
const ROWS_A_CHUNK: usize = 8192;

/// What a column of records is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// What tells the rows apart.
    Id,
    /// When the row was scored.
    Time,
    /// The group of the row.
    Group,
    /// The predicted class.
    Prediction,
    /// Whether the answer was accepted.
    Accept,
    /// The label.
    Label,
    /// 1 where the prediction is right.
    Correct,
    /// What the prediction costs.
    Loss,
    /// The probability with which the row was chosen for a label.
    Propensity,
    /// The smallest probability with which any row was.
    MinPropensity,
}

impl Role {
    const ALL: [Role; 10] = [
        Role::Id,
        Role::Time,
        Role::Group,
        Role::Prediction,
        Role::Accept,
        Role::Label,
        Role::Correct,
        Role::Loss,
        Role::Propensity,
        Role::MinPropensity,
    ];

    /// Whether a column of this name has the role, if no column was named for it.
    fn has_name(self, name: &str) -> bool {
        let is_one_of = |names: &[&str]| names.contains(&normalised(name).as_str());
        match self {
            Role::Id => identifies(name) && !Quantity::Predictions.has_name(name),
            Role::Time => is_one_of(&[
                "time",
                "timestamp",
                "ts",
                "datetime",
                "date",
                "event_time",
                "created_at",
                "scored_at",
            ]),
            // Which of the columns groups the rows is for the user to say.
            Role::Group => false,
            Role::Prediction => Quantity::Predictions.has_name(name),
            Role::Accept => is_one_of(&["accept", "accepted"]),
            Role::Label => Quantity::Labels.has_name(name),
            Role::Correct => Quantity::Correct.has_name(name),
            Role::Loss => Quantity::Losses.has_name(name),
            Role::Propensity => is_one_of(&["propensity"]),
            Role::MinPropensity => is_one_of(&["min_propensity"]),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Id => "the id",
            Role::Time => "the time",
            Role::Group => "the group",
            Role::Prediction => "the prediction",
            Role::Accept => "the acceptance",
            Role::Label => "the label",
            Role::Correct => "the correct flag",
            Role::Loss => "the loss",
            Role::Propensity => "the propensity",
            Role::MinPropensity => "the smallest propensity",
        })
    }
}

/// The names of columns, where they are not the usual ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordNames {
    /// The confidences.
    pub confidence: Option<String>,
    /// Others, by their roles.
    pub others: Vec<(Role, String)>,
}

/// A file of records or of labels.
#[derive(Debug)]
pub struct RecordFile {
    /// Where they are.
    pub source: Source,
    /// The format, if the name does not determine it.
    pub format: Option<Format>,
    /// The names of columns.
    pub names: RecordNames,
    /// Whether rows have a confidence: records do, labels need none.
    pub confidences: bool,
    /// Whether each row is passed on as soon as it is there.
    pub row_by_row: bool,
}

/// One row; what is missing or empty is `None`.
#[derive(Debug, Clone, Copy)]
pub struct RecordRow<'a> {
    /// Its confidence; 0 in files that have none.
    pub confidence: f64,
    columns: &'a [(Role, Vec<String>)],
    row: usize,
}

impl<'a> RecordRow<'a> {
    /// What is in the column of a role.
    pub fn get(&self, role: Role) -> Option<&'a str> {
        let (_, values) = self.columns.iter().find(|(known, _)| *known == role)?;
        values.get(self.row).map(|text| text.trim()).filter(|text| !text.is_empty())
    }
}

/// Which fields are read.
struct Layout {
    confidence: Option<usize>,
    roles: Vec<(Role, usize)>,
}

impl RecordFile {
    /// Whether the last line has no end, so that it is left out until it has one.
    pub fn ends_within_a_line(&self) -> std::result::Result<bool, Error> {
        self.source.ends_within_a_line(self.format).map_err(|kind| kind.of(self.source.path()))
    }

    /// The columns that are there, by their roles, and the name of each.
    pub fn columns(&self) -> std::result::Result<Vec<(Role, String)>, Error> {
        let describe = || -> Result<Vec<(Role, String)>> {
            let parts = self.source.parts()?;
            let first = parts.as_ref().and_then(|parts| parts.first()).unwrap_or(&self.source);
            let table = open_table(first, self.format)?;
            let name = |&(role, index): &(Role, usize)| (role, table.fields()[index].name.clone());
            Ok(self.layout(&*table)?.roles.iter().map(name).collect())
        };
        describe().map_err(|kind| kind.of(self.source.path()))
    }

    /// Calls a function with each row and its number, in the order of the file, until it returns false.
    pub fn each<E: From<Error>>(
        &self,
        mut each: impl FnMut(u64, &RecordRow<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        let path = self.source.path();
        let of_file = |kind: ErrorKind| kind.of(path);
        let mut first = 0;
        let parts = self.source.parts().map_err(of_file)?;
        let sources = parts.as_ref().map_or(std::slice::from_ref(&self.source), |parts| &parts[..]);
        for source in sources {
            let mut chunks = self.open(source).map_err(|kind| kind.of(source.path()))?;
            loop {
                let next = chunks.next(first).map_err(|kind| kind.of(source.path()))?;
                let Some((confidences, columns)) = next else { break };
                let rows = confidences.len();
                for (row, &confidence) in confidences.iter().enumerate() {
                    let record = RecordRow { confidence, columns: &columns, row };
                    if !each(first + row as u64, &record)? {
                        return Ok(());
                    }
                }
                first += rows as u64;
            }
        }
        Ok(())
    }

    fn layout(&self, table: &dyn Table) -> Result<Layout> {
        let fields = table.fields();
        let name = self.names.confidence.as_deref();
        let confidence = if self.confidences {
            Some(column(fields, Quantity::Confidences, name, &[], table.are_arrays())?)
        } else {
            None
        };
        let mut roles = Vec::new();
        for role in Role::ALL {
            let given = self.names.others.iter().find(|(known, _)| *known == role);
            let index = match given {
                Some((_, name)) => Some(named(fields, Quantity::Column, name)?),
                None => usual(fields, role, confidence)?,
            };
            roles.extend(index.map(|index| (role, index)));
        }
        let used = confidence.into_iter().chain(roles.iter().map(|(_, index)| *index));
        if let Some(field) = used.map(|index| &fields[index]).find(|field| field.depth > 0) {
            let problem = format!("'{}' holds several numbers in each row", field.name);
            let instead = "choose or write a column of one value in each row".into();
            return Err(ErrorKind::Unsupported { problem, instead });
        }
        Ok(Layout { confidence, roles })
    }

    fn open(&self, source: &Source) -> Result<Chunks> {
        let rows = if self.row_by_row { 1 } else { ROWS_A_CHUNK };
        let table = open_table(source, self.format)?;
        let Layout { confidence, roles } = self.layout(&*table)?;
        let kept: Vec<usize> = roles.iter().map(|(_, index)| *index).collect();
        let roles: Vec<Role> = roles.into_iter().map(|(role, _)| role).collect();
        if confidence.is_none() && !table.is_text() {
            // Files of labels are small: their columns are read whole.
            let columns = table.columns(&kept)?.into_iter();
            let texts = |column: Result<Column>| column.map(Column::into_texts);
            let columns = columns.map(texts).collect::<Result<Vec<_>>>()?;
            return Ok(Chunks::Whole(Some(roles.into_iter().zip(columns).collect())));
        }
        let picked: Vec<usize> = confidence.into_iter().collect();
        let matrix =
            table.matrix(&Selection { columns: &picked, one_number: true, kept: &kept })?;
        Ok(Chunks::Streamed { matrix, roles, rows, numbers: !picked.is_empty() })
    }
}

/// The column of a role by its usual names; `None` if there is none.
fn usual(fields: &[Field], role: Role, confidence: Option<usize>) -> Result<Option<usize>> {
    let free = |&i: &usize| Some(i) != confidence && fields[i].depth == 0;
    let found: Vec<usize> =
        (0..fields.len()).filter(free).filter(|&i| role.has_name(&fields[i].name)).collect();
    match found[..] {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        // The shortest is the plain one: `id` beside `user_id`.
        _ => {
            let plain: Vec<usize> = found
                .iter()
                .copied()
                .filter(|&i| matches!(normalised(&fields[i].name).as_str(), "id" | "label"))
                .collect();
            if let [only] = plain[..] {
                return Ok(Some(only));
            }
            let names = found.iter().map(|&i| fields[i].name.clone()).collect();
            Err(ErrorKind::SeveralColumns { role, names })
        }
    }
}

/// Rows of one file.
enum Chunks {
    Streamed {
        matrix: Box<dyn crate::matrix::Matrix>,
        roles: Vec<Role>,
        rows: usize,
        numbers: bool,
    },
    Whole(Option<Vec<(Role, Vec<String>)>>),
}

/// The confidences of some rows, and their columns.
type Chunk = (Vec<f64>, Vec<(Role, Vec<String>)>);

impl Chunks {
    fn next(&mut self, first: u64) -> Result<Option<Chunk>> {
        match self {
            Chunks::Whole(columns) => {
                let Some(columns) = columns.take() else { return Ok(None) };
                let rows = columns.first().map_or(0, |(_, values)| values.len());
                Ok(Some((vec![0.0; rows], columns)))
            }
            Chunks::Streamed { matrix, roles, rows, numbers } => {
                let rows = matrix.fill(*rows)?;
                if rows == 0 {
                    return Ok(None);
                }
                let kept = matrix.kept();
                let mut confidences = vec![0.0; rows];
                if *numbers {
                    matrix.values().copy_to(&mut confidences);
                }
                if let Some(row) = confidences.iter().position(|number| number.is_nan()) {
                    let row = usize::try_from(first).unwrap_or(usize::MAX).saturating_add(row);
                    return Err(abstain::Error::InvalidConfidence { row }.into());
                }
                let columns = roles.iter().copied().zip(kept.into_iter().map(Column::into_texts));
                Ok(Some((confidences, columns.collect())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &'static str, confidences: bool) -> RecordFile {
        RecordFile {
            source: Source::bytes(name, text.as_bytes()),
            format: None,
            names: RecordNames::default(),
            confidences,
            row_by_row: false,
        }
    }

    fn all(file: &RecordFile, role: Role) -> Vec<(f64, Option<String>)> {
        let mut found = Vec::new();
        file.each(|_, row| {
            found.push((row.confidence, row.get(role).map(str::to_string)));
            Ok::<bool, Error>(true)
        })
        .expect("reads");
        found
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let records = file(
            "r.csv",
            "id,prediction,confidence,accept,label\na,3,0.5,true,\nb,1,0.25,false,1\n",
            true,
        );
        assert_eq!(all(&records, Role::Id)[1], (0.25, Some("b".into())));
        assert_eq!(all(&records, Role::Label), [(0.5, None), (0.25, Some("1".into()))]);
        let labels =
            file("l.jsonl", "{\"id\": \"a\", \"correct\": true}\n{\"id\": \"b\"}\n", false);
        let found: Vec<_> = all(&labels, Role::Correct).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, [Some("true".to_string()), None]);
    }

    #[test]
    fn two_columns_of_one_role_are_refused() {
        let records = file("r.csv", "user_id,photo_id,confidence\n1,2,0.5\n", true);
        let error = records.columns().expect_err("ambiguous");
        assert!(matches!(*error.kind, ErrorKind::SeveralColumns { role: Role::Id, .. }), "{error}");
        let named =
            RecordNames { others: vec![(Role::Id, "photo_id".into())], ..RecordNames::default() };
        let records = RecordFile { names: named, ..records };
        assert_eq!(all(&records, Role::Id), [(0.5, Some("2".into()))]);
    }

    #[test]
    fn a_line_that_is_still_being_written_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("r.csv");
        std::fs::write(&path, "id,confidence\na,0.5\nb,0.2").expect("written");
        let records =
            RecordFile { source: Source::new(&path).whole_lines(), ..file("r.csv", "", true) };
        assert_eq!(all(&records, Role::Id).len(), 1);
        std::fs::write(&path, "id,confidence\na,0.5\nb,0.25\n").expect("written");
        assert_eq!(all(&records, Role::Id).len(), 2);
    }
}
