//! Which image each row is of: `images.csv`, `skipped.csv` and `labels.npy` of a folder.

use super::{LogitsError, Skipped, create_folder};
use crate::images::dataset::{Dataset, DatasetError};
use abstain_io::{AtomicFile, write_integers};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The name of the file of labels.
pub(super) const LABELS: &str = "labels.npy";

pub(super) struct Book {
    folder: PathBuf,
}

impl Book {
    pub(super) fn new(folder: PathBuf) -> Self {
        Book { folder }
    }

    /// The list of the rows.
    pub(super) fn images(&self) -> PathBuf {
        self.folder.join("images.csv")
    }

    fn skipped(&self) -> PathBuf {
        self.folder.join("skipped.csv")
    }

    /// Refuses a folder with labels that are not of these lists: they would be replaced.
    pub(super) fn check(&self) -> Result<(), LogitsError> {
        let path = self.folder.join(LABELS);
        if path.exists() && !self.images().is_file() {
            return Err(LogitsError::OtherRows { path });
        }
        Ok(())
    }

    /// The items that an earlier model left out, if there was one on the same images.
    pub(super) fn read(&self, dataset: &Dataset) -> Result<Option<HashSet<usize>>, LogitsError> {
        if !self.images().is_file() {
            return Ok(None);
        }
        let skipped: HashSet<String> =
            table(&self.skipped())?.into_iter().map(|row| row[0].clone()).collect();
        let rows = self.rows()?;
        let items = dataset.items.iter().enumerate();
        let (out, kept): (Vec<_>, Vec<_>) =
            items.partition(|(_, item)| skipped.contains(&item.name));
        let same = kept.len() == rows.len()
            && kept.iter().zip(&rows).all(|((_, item), (name, _))| item.name == *name);
        if !same {
            return Err(LogitsError::OtherRows { path: self.images() });
        }
        Ok(Some(out.into_iter().map(|(index, _)| index).collect()))
    }

    /// The image and the label of each row.
    pub(super) fn rows(&self) -> Result<Vec<(String, i64)>, LogitsError> {
        let path = self.images();
        let row = |row: Vec<String>| -> Result<(String, i64), LogitsError> {
            let label = row.get(1).and_then(|label| label.parse().ok());
            let label = label.ok_or_else(|| malformed(&path))?;
            Ok((row[0].clone(), label))
        };
        table(&path)?.into_iter().map(row).collect()
    }

    /// Writes the list, or compares it with the one that is there.
    pub(super) fn write(
        &self,
        dataset: &Dataset,
        labels: &[i64],
        skipped: &HashSet<&str>,
        reasons: &[Skipped],
    ) -> Result<(), LogitsError> {
        create_folder(&self.folder)?;
        let rows = dataset.items.iter().zip(labels);
        let known = self.images().is_file();
        let skipped: HashSet<String> = if known {
            table(&self.skipped())?.into_iter().map(|row| row[0].clone()).collect()
        } else {
            skipped.iter().map(ToString::to_string).collect()
        };
        let rows: Vec<(&str, i64)> = rows
            .filter(|(item, _)| !skipped.contains(&item.name))
            .map(|(item, label)| (&item.name[..], *label))
            .collect();
        if known {
            let before = self.rows()?;
            let same = before.len() == rows.len()
                && before.iter().zip(&rows).all(|((name, label), row)| (&name[..], *label) == *row);
            return if same { Ok(()) } else { Err(LogitsError::OtherRows { path: self.images() }) };
        }
        let labels: Vec<i64> = rows.iter().map(|(_, label)| *label).collect();
        write_integers(&self.folder.join(LABELS), &labels)?;
        let reasons = reasons.iter().map(|one| [one.image.clone(), one.reason.clone()]);
        write_csv(&self.skipped(), ["image", "reason"], reasons)?;
        // Last, because the list is what later runs look for.
        let rows = rows.iter().map(|(name, label)| [(*name).to_string(), label.to_string()]);
        write_csv(&self.images(), ["image", "label"], rows)
    }
}

impl Dataset {
    /// The images of some rows in their order, by their names, or by their names without the ending;
    /// nothing if there are none of them. Some of them and not others is an error.
    pub(super) fn aligned_to(
        &self,
        set: &str,
        rows: &[(String, i64)],
    ) -> Result<Option<Dataset>, LogitsError> {
        if !self.can_be_reordered() {
            return Ok(None);
        }
        let keys: [fn(&str) -> &str; 2] = [|name| name, stem];
        for key in keys {
            let places: HashMap<&str, usize> =
                self.items.iter().enumerate().map(|(at, item)| (key(&item.name), at)).collect();
            let wanted: HashSet<&str> = rows.iter().map(|(name, _)| key(name)).collect();
            if places.len() < self.items.len() || wanted.len() < rows.len() {
                continue;
            }
            let found = |row: &(String, i64)| places.get(key(&row.0)).copied();
            let order: Vec<usize> = rows.iter().filter_map(found).collect();
            if order.len() == rows.len() {
                return Ok(Some(self.reordered(&order)));
            }
            if let Some((missing, _)) = rows.iter().find(|row| found(row).is_none())
                && !order.is_empty()
            {
                let (count, example) = (rows.len() - order.len(), missing.clone());
                return Err(LogitsError::PartlyAligned { set: set.into(), count, example });
            }
        }
        Ok(None)
    }
}

/// A name without its extension, which differs where a corruption was stored as another format.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn malformed(path: &Path) -> LogitsError {
    let problem = "not a list that `abstain logits` wrote".into();
    DatasetError::Malformed { path: path.to_path_buf(), problem }.into()
}

fn table(path: &Path) -> Result<Vec<Vec<String>>, LogitsError> {
    let mut reader = csv::Reader::from_path(path).map_err(|_| malformed(path))?;
    let record = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|_| malformed(path))?;
        Ok(record.iter().map(str::to_string).collect())
    };
    reader.records().map(record).collect()
}

fn write_csv(
    path: &Path,
    names: [&str; 2],
    rows: impl Iterator<Item = [String; 2]>,
) -> Result<(), LogitsError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(names).is_ok() && {
        let mut rows = rows;
        rows.all(|row| writer.write_record(row).is_ok())
    };
    let bytes = writer.into_inner().ok().filter(|_| written).ok_or_else(|| malformed(path))?;
    Ok(AtomicFile::write_whole(path, &bytes)?)
}
