//! The use case *logits*: a classifier is run over images, and its logits become a model of a zoo.
//!
//! The folder gets `labels.npy`, `images.csv` (the image of each row), `skipped.csv` (images that
//! cannot be decoded), one array for each model, `sets/` for shifted and corrupted images, `runs/`
//! with a record of each run, and the manifest `zoo.toml`. An interrupted run continues with the batch
//! after the last record, and ends with the same bytes.

mod book;
mod record;

use crate::images::classifier::{Classifier, ClassifierError};
use crate::images::corrupt::{CorruptError, Corruption};
use crate::images::dataset::{ClassOrder, Dataset, DatasetError, LabelError, resolve};
use crate::images::pass::{Batch, Pass, PassError, Variant};
use abstain::{Encoding, Error as CoreError, Logits};
use abstain_io::GrowingArray;
use abstain_io::zoo::{self, NewModel, NewSet, ZooError};
use book::Book;
use record::{Record, Settings, fingerprint};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to run, over which images, and where the results go.
pub struct LogitsRequest<'a> {
    /// The classifier.
    pub classifier: &'a mut Classifier,
    /// Its name in the zoo.
    pub name: &'a str,
    /// Its file.
    pub model: &'a Path,
    /// What runs it, for the record.
    pub runtime: &'a str,
    /// What its outputs are; logits if nothing is said and they do not look like probabilities.
    pub encoding: Option<Encoding>,
    /// The images.
    pub dataset: &'a Dataset,
    /// The names of the classes in the order of their numbers.
    pub class_names: Option<&'a [String]>,
    /// How the names of folders become classes.
    pub class_order: Option<ClassOrder>,
    /// Shifted images.
    pub shifted: Vec<crate::images::Shifted>,
    /// Corruptions to apply, with their severities.
    pub corruptions: &'a [(Corruption, u8)],
    /// The seed of the corruptions.
    pub seed: u64,
    /// The folder of the zoo.
    pub folder: &'a Path,
    /// The title of a new zoo.
    pub title: &'a str,
    /// Images of a batch.
    pub batch: usize,
    /// How many threads prepare images.
    pub threads: usize,
    /// Whether the orientation of EXIF data is applied.
    pub orient: bool,
    /// Whether images that cannot be decoded are left out and listed; else they are an error.
    pub skip_broken: bool,
    /// How often progress is recorded; less often where recording is slow.
    pub record_every: Duration,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LogitsResult {
    /// The name of the model.
    pub model: String,
    /// The file of its logits.
    pub logits: PathBuf,
    /// Rows.
    pub rows: u64,
    /// Classes.
    pub classes: usize,
    /// The share of right predictions.
    pub accuracy: f64,
    /// Images that cannot be decoded.
    pub skipped: Vec<Skipped>,
    /// Images whose EXIF data state an orientation.
    pub oriented: u64,
    /// Rows that were computed in this run, of all sets.
    pub computed: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// The further sets.
    pub sets: Vec<SetResult>,
}

/// What was done with a further set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetResult {
    /// Its name.
    pub name: String,
    /// Whether its rows are those of the zoo, changed.
    pub aligned: bool,
    /// Rows.
    pub rows: u64,
    /// The share of right predictions.
    pub accuracy: f64,
    /// Images that cannot be decoded.
    pub skipped: Vec<Skipped>,
}

/// An image that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Skipped {
    /// Its name.
    pub image: String,
    /// Why.
    pub reason: String,
}

/// Why logits cannot be collected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogitsError {
    /// The images.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The labels.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// The model.
    #[error(transparent)]
    Classifier(#[from] ClassifierError),
    /// A corruption.
    #[error(transparent)]
    Corrupt(#[from] CorruptError),
    /// A file.
    #[error(transparent)]
    File(#[from] abstain_io::Error),
    /// The zoo.
    #[error(transparent)]
    Zoo(#[from] ZooError),
    /// The machine.
    #[error("{0}")]
    Threads(String),
    /// An image that cannot be decoded, where that is an error.
    #[error("{image}: {reason}")]
    Broken {
        /// The image.
        image: String,
        /// Why.
        reason: String,
    },
    /// An image of the zoo's rows that cannot be decoded now.
    #[error("{image}: {reason}; it is a row of {}", path.display())]
    BrokenRow {
        /// The image.
        image: String,
        /// Why.
        reason: String,
        /// The list of rows.
        path: PathBuf,
    },
    /// The folder holds the rows of other images.
    #[error("{}: its rows are those of other images or labels", path.display())]
    OtherRows {
        /// The list of rows.
        path: PathBuf,
    },
    /// Every image is broken.
    #[error("none of the {count} images can be decoded; the first: {}: {}", first.image, first.reason)]
    NoRows {
        /// How many there are.
        count: usize,
        /// One of them.
        first: Skipped,
    },
    /// The model gives something that is no row of logits.
    #[error("{model}: the output for {image} is invalid: {problem}")]
    Row {
        /// The model.
        model: String,
        /// The image.
        image: String,
        /// What is wrong.
        problem: Box<CoreError>,
    },
    /// A model with another number of classes than before.
    #[error("the model gives {found} numbers for each image, but it gave {expected} before")]
    Classes {
        /// The classes now.
        found: usize,
        /// The classes before.
        expected: usize,
    },
    /// Outputs that may be probabilities.
    #[error("{model}: its outputs look like probabilities: they lie between 0 and 1, and sum to 1")]
    LooksLikeProbabilities {
        /// The model.
        model: String,
    },
    /// A model without logits.
    #[error("the model gives decisions, but no logits")]
    NoLogits,
    /// A name that cannot be one of a model.
    #[error(
        "a model cannot be called '{name}': names are letters, digits and - _ . + @, and not 'labels'"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Two sets of one name.
    #[error("two sets are called '{name}'")]
    SameSet {
        /// The name.
        name: String,
    },
    /// There are logits of another run.
    #[error("{}: it is there already, from another {}", path.display(), differs_in.join(", "))]
    Taken {
        /// The file.
        path: PathBuf,
        /// What is another one.
        differs_in: Vec<String>,
    },
    /// A further set has some of the rows, and not others.
    #[error(
        "the set '{set}' has images of some of the rows, but none of {count} others, such as {example}"
    )]
    PartlyAligned {
        /// The set.
        set: String,
        /// How many rows it lacks.
        count: usize,
        /// One of them.
        example: String,
    },
}

impl From<PassError> for LogitsError {
    fn from(error: PassError) -> Self {
        match error {
            PassError::Dataset(error) => error.into(),
            PassError::Classifier(error) => error.into(),
            PassError::Corrupt(error) => error.into(),
            PassError::Threads(problem) => LogitsError::Threads(problem),
        }
    }
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectProgress {
    /// What is run: nothing is the images as they are.
    pub set: Option<String>,
    /// Images that are done.
    pub done: u64,
    /// Images in all.
    pub images: u64,
    /// Images a second in this run.
    pub speed: f64,
}

/// Runs a classifier over images, and adds its logits to a zoo.
pub fn collect_logits(
    mut request: LogitsRequest<'_>,
    on_progress: &mut dyn FnMut(&CollectProgress),
) -> Result<LogitsResult, LogitsError> {
    if !request.classifier.gives_logits() {
        return Err(LogitsError::NoLogits);
    }
    if let Some(classes) = request.classifier.classes() {
        // Before any work, where that is possible.
        resolve(request.dataset, classes, request.class_names, request.class_order)?;
    }
    let folder = request.folder;
    let book = Book::new(folder.to_path_buf());
    check_names(&request)?;
    zoo::can_extend(folder)?;
    book.check()?;
    create_folder(folder)?;
    let mut run = Run {
        model: fingerprint(&request)?,
        replaces: false,
        computed: 0,
        started: Instant::now(),
        on_progress,
        classes: None,
    };
    let corrupted = |(corruption, severity): &(Corruption, u8)| Target {
        set: Some(format!("{corruption}-{severity}")),
        variant: Some((*corruption, *severity)),
    };
    let mut targets = vec![Target { set: None, variant: None }];
    targets.extend(request.corruptions.iter().map(corrupted));
    let mut records =
        run.over(&mut request, &RowsOf { dataset: None, book: &book, aligned: None }, &targets)?;
    let clean = records.remove(0);
    let mut sets = Vec::new();
    let mut new_sets = Vec::new();
    for (target, record) in targets[1..].iter().zip(records) {
        let (name, (corruption, severity)) =
            (target.set.clone().unwrap_or_default(), target.variant.unzip());
        sets.push(SetResult::of(&name, true, &record));
        new_sets.push(NewSet {
            logits: format!("sets/{name}/{{model}}.npy"),
            name,
            corruption: corruption.map(|one| one.to_string()).zip(severity.map(u32::from)),
            labels: None,
        });
    }
    let logits = format!("{}.npy", request.name);
    let mut model = NewModel {
        name: request.name.to_string(),
        logits: logits.clone(),
        encoding: request.encoding.unwrap_or_default(),
        sets: new_sets,
        replaces: run.replaces,
    };
    let shifted = std::mem::take(&mut request.shifted);
    zoo::extend(folder, request.title, book::LABELS, model.clone())?;
    for shifted in shifted {
        let (set, new_set) = run.shifted(&mut request, shifted, &book)?;
        sets.push(set);
        // What is done is in the zoo, whatever becomes of the sets that follow.
        (model.replaces, model.sets) = (false, vec![new_set]);
        zoo::extend(folder, request.title, book::LABELS, model.clone())?;
    }
    Ok(LogitsResult {
        model: request.name.to_string(),
        logits: folder.join(logits),
        rows: clean.rows,
        classes: clean.classes,
        accuracy: clean.accuracy(),
        skipped: clean.skipped,
        oriented: clean.oriented,
        computed: run.computed,
        seconds: run.started.elapsed().as_secs_f64(),
        sets,
    })
}

/// Names become names of files, of which none may be that of another.
fn check_names(request: &LogitsRequest<'_>) -> Result<(), LogitsError> {
    let model = request.name;
    if !zoo::is_name(model) || model.eq_ignore_ascii_case("labels") {
        return Err(LogitsError::Name { name: model.to_string() });
    }
    let corrupted = request.corruptions.iter().map(|(one, severity)| format!("{one}-{severity}"));
    let shifted = request.shifted.iter().map(|set| set.name.clone());
    let mut seen = HashSet::new();
    match corrupted.chain(shifted).find(|name| !seen.insert(name.to_lowercase())) {
        Some(name) => Err(LogitsError::SameSet { name }),
        None => Ok(()),
    }
}

impl SetResult {
    fn of(name: &str, aligned: bool, record: &Record) -> Self {
        SetResult {
            name: name.to_string(),
            aligned,
            rows: record.rows,
            accuracy: record.accuracy(),
            skipped: record.skipped.clone(),
        }
    }
}

/// A file of logits to write.
#[derive(Debug, Clone, PartialEq)]
struct Target {
    set: Option<String>,
    variant: Variant,
}

/// Whose rows are written.
struct RowsOf<'a> {
    /// The images, if they are not those of the request.
    dataset: Option<&'a Dataset>,
    /// Where their names and labels are.
    book: &'a Book,
    /// The labels of rows that must all be there.
    aligned: Option<&'a [i64]>,
}

struct Run<'a> {
    /// What identifies the model.
    model: String,
    /// Whether its logits on the rows of the zoo were not there with these settings.
    replaces: bool,
    /// Rows that were computed.
    computed: u64,
    started: Instant,
    on_progress: &'a mut dyn FnMut(&CollectProgress),
    /// The classes of the model, as soon as they are known.
    classes: Option<usize>,
}

impl Run<'_> {
    /// Runs over images until all targets are there; returns their records.
    fn over(
        &mut self,
        request: &mut LogitsRequest<'_>,
        rows_of: &RowsOf<'_>,
        targets: &[Target],
    ) -> Result<Vec<Record>, LogitsError> {
        let dataset = rows_of.dataset.unwrap_or(request.dataset);
        let labels = rows_of.aligned;
        // The model says how many classes there are only when it runs, so labels come later.
        let known = rows_of.book.read(dataset)?;
        let settings = Settings::new(request, &self.model, dataset)?;
        let mut records: Vec<Record> = Vec::new();
        // Those that have come equally far run together.
        let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, target) in targets.iter().enumerate() {
            let path = array_path(request, target);
            let settings = settings.of(target.variant, request.seed);
            let before = Record::read(request, target);
            let differs_in = match &before {
                Some(record) => record.differs_in(&settings),
                None => vec!["run".to_string()],
            };
            // Hours of work are not replaced without a word.
            if path.exists() && !differs_in.is_empty() {
                return Err(LogitsError::Taken { path, differs_in });
            }
            let before = before.filter(|_| differs_in.is_empty());
            if target.set.is_none() {
                self.replaces = before.as_ref().is_none_or(|record| !record.finished);
            }
            let record = before.filter(|record| record.is_backed_by(&path));
            let record = record.unwrap_or_else(|| Record::new(settings));
            if record.finished {
                self.classes = Some(record.classes);
            } else {
                groups.entry(record.done).or_default().push(index);
            }
            records.push(record);
        }
        for (start, members) in groups {
            let mut group = Group {
                targets: members.iter().map(|&index| targets[index].clone()).collect(),
                records: members.iter().map(|&index| records[index].clone()).collect(),
                arrays: Vec::new(),
                labels: labels.map(<[i64]>::to_vec),
            };
            self.pass(request, dataset, rows_of, known.as_ref(), start, &mut group)?;
            for (index, record) in members.into_iter().zip(group.records) {
                records[index] = record;
            }
        }
        let classes = records.first().map_or(0, |record| record.classes);
        let skipped: HashSet<&str> =
            records.iter().flat_map(|record| &record.skipped).map(|one| &one.image[..]).collect();
        if rows_of.aligned.is_none() {
            let labels = resolve(dataset, classes, request.class_names, request.class_order)?;
            let reasons = records.first().map_or(&[][..], |record| &record.skipped);
            rows_of.book.write(dataset, &labels, &skipped, reasons)?;
        }
        Ok(records)
    }

    /// One pass over the images, from where a group of targets stopped.
    fn pass(
        &mut self,
        request: &mut LogitsRequest<'_>,
        dataset: &Dataset,
        rows_of: &RowsOf<'_>,
        known: Option<&HashSet<usize>>,
        start: u64,
        group: &mut Group,
    ) -> Result<(), LogitsError> {
        let mut without = known.cloned().unwrap_or_default();
        // Images that an interrupted run found to be broken lie before its end.
        let skipped: HashSet<&str> = group
            .records
            .iter()
            .flat_map(|record| &record.skipped)
            .map(|one| &one.image[..])
            .collect();
        if !skipped.is_empty() {
            let items = dataset.items.iter().enumerate();
            without
                .extend(items.filter(|(_, item)| skipped.contains(&item.name[..])).map(|(i, _)| i));
        }
        let variants: Vec<Variant> = group.targets.iter().map(|target| target.variant).collect();
        let pass = Pass {
            dataset,
            without: &without,
            start: usize::try_from(start).unwrap_or(usize::MAX),
            batch: request.classifier.batch().unwrap_or(request.batch),
            orient: request.orient,
            variants: &variants,
            seed: request.seed,
            threads: request.threads,
        };
        let all_rows = rows_of.aligned.is_some() || known.is_some();
        let context = Context {
            folder: request.folder.to_path_buf(),
            name: request.name.to_string(),
            encoding: request.encoding,
            class_names: request.class_names.map(<[String]>::to_vec),
            class_order: request.class_order,
            skip_broken: request.skip_broken,
            all_rows: all_rows.then(|| rows_of.book.images()),
        };
        let mut last_record = Instant::now();
        let (record_every, mut pause) = (request.record_every, request.record_every);
        let (began, first) = (Instant::now(), start);
        let images = dataset.items.len() as u64;
        let set = group.targets.first().and_then(|target| target.set.clone());
        pass.run(request.classifier, |batch: Batch| -> Result<(), LogitsError> {
            let done = batch.end as u64;
            self.computed += (batch.rows.len() * variants.len()) as u64;
            group.add(&context, dataset, &batch)?;
            let speed = (done - first) as f64 / began.elapsed().as_secs_f64();
            (self.on_progress)(&CollectProgress { set: set.clone(), done, images, speed });
            if last_record.elapsed() > pause && done < images {
                let writing = Instant::now();
                group.save(&context)?;
                pause = record_every.max(writing.elapsed() * 20).min(record_every * 100);
                last_record = Instant::now();
            }
            Ok(())
        })?;
        self.classes = group.records.first().map(|record| record.classes);
        group.finish(&context, dataset)
    }

    /// Runs over shifted images.
    fn shifted(
        &mut self,
        request: &mut LogitsRequest<'_>,
        shifted: crate::images::Shifted,
        rows: &Book,
    ) -> Result<(SetResult, NewSet), LogitsError> {
        let name = shifted.name.clone();
        let target = [Target { set: Some(name.clone()), variant: None }];
        let row_images = rows.rows()?;
        let corruption = shifted.corruption.clone();
        let aligned = shifted.dataset.aligned_to(&name, &row_images)?;
        let (set, labels) = if let Some(dataset) = aligned {
            let labels: Vec<i64> = row_images.into_iter().map(|(_, label)| label).collect();
            let rows_of = RowsOf { dataset: Some(&dataset), book: rows, aligned: Some(&labels) };
            let records = self.over(request, &rows_of, &target)?;
            (SetResult::of(&name, true, &records[0]), None)
        } else {
            let dataset = shifted.dataset;
            let book = Book::new(request.folder.join("sets").join(&name));
            let order = request.class_order;
            if let Some(classes) = self.classes
                && let Err(LabelError::NumberOrText { .. }) =
                    resolve(&dataset, classes, request.class_names, order)
            {
                // As of ImageNetV2, whose folders are called by the numbers of the classes.
                request.class_order = Some(ClassOrder::Number);
            }
            let rows_of = RowsOf { dataset: Some(&dataset), book: &book, aligned: None };
            let records = self.over(request, &rows_of, &target);
            request.class_order = order;
            let set = SetResult::of(&name, false, &records?[0]);
            (set, Some(format!("sets/{name}/{}", book::LABELS)))
        };
        let logits = format!("sets/{name}/{{model}}.npy");
        Ok((set, NewSet { name, corruption, labels, logits }))
    }
}

/// What adding a batch needs of the request while the model runs.
struct Context {
    folder: PathBuf,
    name: String,
    encoding: Option<Encoding>,
    class_names: Option<Vec<String>>,
    class_order: Option<ClassOrder>,
    skip_broken: bool,
    /// The list of the rows, if they are given: then no image may be broken.
    all_rows: Option<PathBuf>,
}

/// Targets that have come equally far.
struct Group {
    targets: Vec<Target>,
    records: Vec<Record>,
    arrays: Vec<GrowingArray>,
    labels: Option<Vec<i64>>,
}

impl Group {
    fn add(
        &mut self,
        context: &Context,
        dataset: &Dataset,
        batch: &Batch,
    ) -> Result<(), LogitsError> {
        let name = |item: usize| dataset.items[item].name.clone();
        for (item, reason) in &batch.broken {
            let (image, reason) = (name(*item), reason.clone());
            if let Some(path) = &context.all_rows {
                return Err(LogitsError::BrokenRow { image, reason, path: path.clone() });
            }
            if !context.skip_broken {
                return Err(LogitsError::Broken { image, reason });
            }
            for record in &mut self.records {
                record.skipped.push(Skipped { image: image.clone(), reason: reason.clone() });
            }
        }
        if let Some(outputs) = batch.outputs.first() {
            self.open(context, dataset, outputs.classes)?;
        }
        for (index, outputs) in batch.outputs.iter().enumerate() {
            let record = &mut self.records[index];
            if outputs.classes != record.classes {
                let (found, expected) = (outputs.classes, record.classes);
                return Err(LogitsError::Classes { found, expected });
            }
            // Probabilities are checked for their range; their floor is found later.
            let encoding = context.encoding.unwrap_or_default().with_floor(Some(1e-30));
            if context.encoding.is_none() && outputs.look_like_probabilities() {
                return Err(LogitsError::LooksLikeProbabilities { model: context.name.clone() });
            }
            let rows = encoding.logits(&outputs.logits[..], outputs.classes);
            let rows: Logits<'_> = rows.map_err(|problem| LogitsError::Row {
                model: context.name.clone(),
                image: problem
                    .row()
                    .and_then(|row| batch.rows.get(row))
                    .map_or_else(String::new, |&item| name(item)),
                problem: Box::new(problem),
            })?;
            let labels = self.labels.as_deref().unwrap_or_default();
            let right = |(&item, prediction): (&usize, &usize)| {
                labels.get(item).is_some_and(|&label| usize::try_from(label) == Ok(*prediction))
            };
            let predictions = rows.predictions();
            record.right +=
                batch.rows.iter().zip(&predictions).filter(|pair| right(*pair)).count() as u64;
            self.arrays[index].push(&outputs.logits)?;
            record.rows = self.arrays[index].rows();
        }
        for record in &mut self.records {
            record.done = batch.end as u64;
            record.oriented += batch.oriented as u64;
        }
        Ok(())
    }

    /// Opens the files, as soon as the number of classes is known; labels must fit it.
    fn open(
        &mut self,
        context: &Context,
        dataset: &Dataset,
        classes: usize,
    ) -> Result<(), LogitsError> {
        if !self.arrays.is_empty() {
            return Ok(());
        }
        if self.labels.is_none() {
            let names = context.class_names.as_deref();
            self.labels = Some(resolve(dataset, classes, names, context.class_order)?);
        }
        for (target, record) in self.targets.iter().zip(&mut self.records) {
            let path = context.array_path(target);
            if let Some(folder) = path.parent() {
                create_folder(folder)?;
            }
            record.classes = classes;
            if record.rows == 0 {
                // The file begins anew: no record of other rows may outlive them.
                record.write(context, target)?;
            }
            self.arrays.push(GrowingArray::continue_at(&path, classes, record.rows)?);
        }
        Ok(())
    }

    /// Records how far the files have come.
    fn save(&mut self, context: &Context) -> Result<(), LogitsError> {
        for array in &mut self.arrays {
            array.sync()?;
        }
        let mut each = self.targets.iter().zip(&self.records);
        each.try_for_each(|(target, record)| record.write(context, target))
    }

    fn finish(&mut self, context: &Context, dataset: &Dataset) -> Result<(), LogitsError> {
        if self.records.iter().any(|record| record.rows == 0) {
            let skipped = self.records.first().and_then(|record| record.skipped.first());
            let none = Skipped { image: String::new(), reason: "there are none".into() };
            let first = skipped.cloned().unwrap_or(none);
            return Err(LogitsError::NoRows { count: dataset.items.len(), first });
        }
        if self.arrays.is_empty() {
            // The last batch was recorded, but the files did not get their names.
            let classes = self.records.first().map_or(0, |record| record.classes);
            self.open(context, dataset, classes)?;
        }
        let arrays = self.arrays.drain(..);
        for ((array, target), record) in arrays.zip(&self.targets).zip(&mut self.records) {
            array.finish()?;
            record.finished = true;
            record.write(context, target)?;
        }
        Ok(())
    }
}

impl Context {
    fn array_path(&self, target: &Target) -> PathBuf {
        path_of(&self.folder, &self.name, target, "npy")
    }
}

fn array_path(request: &LogitsRequest<'_>, target: &Target) -> PathBuf {
    path_of(request.folder, request.name, target, "npy")
}

/// The file of a target: of its logits, or, in `runs/`, of its record.
fn path_of(folder: &Path, name: &str, target: &Target, extension: &str) -> PathBuf {
    let folder = if extension == "npy" { folder.to_path_buf() } else { folder.join("runs") };
    let file = format!("{name}.{extension}");
    match &target.set {
        None => folder.join(file),
        Some(set) => folder.join("sets").join(set).join(file),
    }
}

fn create_folder(folder: &Path) -> Result<(), LogitsError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| DatasetError::Io { path: folder.to_path_buf(), source }.into())
}
