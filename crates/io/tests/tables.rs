//! Tables as people have them, generated in thousands of kinds from real logits: each is read exactly as
//! it was meant, or refused with a hint. None is misread.

use abstain::{RowSource, rows::PassError};
use abstain_io::{
    ConfidenceFiles, ConfidenceNames, ErrorKind, ExtraColumn, FileRows, LogitsReader, LossArgument,
    ReadCounter, ReadOptions, RowFiles, Source, read_losses,
};
use std::collections::BTreeMap;
use std::path::Path;

mod tables {
    pub(crate) mod kinds;
    pub(crate) mod write;
}
use tables::kinds::{Extra, LabelKind, Names, Order};
use tables::write::{Cells, FORMATS, write};

/// Real logits, some rows of each class.
struct Truth {
    logits: Vec<Vec<f64>>,
    labels: Vec<usize>,
}

fn truth() -> Truth {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/demo/fashion-ce");
    let files = RowFiles {
        logits: Source::new(folder.join("logits.npy")),
        labels: Some(Source::new(folder.join("labels.npy"))),
        options: ReadOptions::default(),
        loss: LossArgument::default(),
        group: None,
        fold_group: None,
    };
    let (logits, labels) = read(files).expect("the demo's set");
    Truth { logits: logits[..60].to_vec(), labels: labels[..60].to_vec() }
}

impl Truth {
    fn classes(&self) -> usize {
        self.logits[0].len()
    }

    /// The rows of the first two classes, as those of a binary classifier.
    fn binary(&self) -> Truth {
        let of_two = |row: &usize| self.labels[*row] < 2;
        let rows: Vec<usize> = (0..self.labels.len()).filter(of_two).collect();
        assert!(rows.len() > 5);
        Truth {
            logits: rows.iter().map(|&row| self.logits[row][..2].to_vec()).collect(),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
        }
    }
}

/// Rows and labels through the public interface.
/// Whether names of columns or classes, or how labels are counted, decide what is uncertain.
fn can_be_decided(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Ambiguous { .. }
            | ErrorKind::SameName { .. }
            | ErrorKind::SameNumber { .. }
            | ErrorKind::MissingNumber { .. }
            | ErrorKind::CountsRows { .. }
            | ErrorKind::WholeAmongFractions { .. }
            | ErrorKind::NoClasses { .. }
            | ErrorKind::OneColumn { .. }
            | ErrorKind::NeverALabel { .. }
            | ErrorKind::Unconfirmed { .. }
            | ErrorKind::NoColumnOfLabel { .. }
            | ErrorKind::BoolLabels { .. }
            | ErrorKind::LabelCount { .. }
            | ErrorKind::UnknownLabel { .. }
            | ErrorKind::FirstLabel
            | ErrorKind::NoLabels
            | ErrorKind::Values(abstain::Error::LabelOutOfRange { .. })
    )
}

fn read(files: RowFiles) -> Result<(Vec<Vec<f64>>, Vec<usize>), abstain_io::Error> {
    let mut rows = FileRows::open(files)?;
    let (mut logits, mut row) = (Vec::new(), vec![0.0; rows.classes()]);
    rows.pass(&mut |chunk| {
        for index in 0..chunk.logits.rows() {
            chunk.logits.copy_row(index, &mut row);
            logits.push(row.clone());
        }
        Ok(())
    })
    .map_err(|error| match error {
        PassError::Source(error) => *error.downcast::<abstain_io::Error>().expect("of a file"),
        PassError::Rows(error) => panic!("{error}"),
    })?;
    let labels = rows.labels().expect("labels");
    Ok((logits, labels.values().iter().map(|&label| label as usize).collect()))
}

/// One kind of table.
#[derive(Debug, Clone, Copy)]
struct Kind {
    names: Names,
    order: Order,
    extra: Extra,
    labels: LabelKind,
    format: &'static str,
}

impl Kind {
    /// Whether it can be read without a word of the user.
    fn is_certain(&self) -> bool {
        let columns = match self.extra {
            // Names of other things are never classes.
            Extra::None | Extra::Known(_) | Extra::Index => true,
            // What may be a class is one unless the classes say what they are.
            Extra::Unknown(_) | Extra::Features => self.names.say_classes(),
        };
        let labels = match self.labels {
            LabelKind::FromOne => self.names.first() == Some(1),
            // Words are no numbers.
            LabelKind::Numbered => self.names.first().is_some(),
            _ => true,
        };
        columns && labels
    }

    /// The columns of the table in their order.
    fn table(&self, truth: &Truth) -> Vec<(String, Cells)> {
        let classes = truth.classes();
        let mut columns: Vec<(String, Cells)> = (0..classes)
            .map(|class| {
                let values = truth.logits.iter().map(|row| row[class]).collect();
                (self.names.of(class), Cells::Floats(values))
            })
            .collect();
        self.order.apply(&mut columns);
        // Words are classes in the order of the file: labels that are numbers follow it.
        let place = |class: usize| {
            let name = self.names.of(class);
            let place = columns.iter().position(|(other, _)| *other == name).expect("a class");
            if self.names.first().is_some() { class } else { place }
        };
        let numbers: Vec<usize> = truth.labels.iter().map(|&label| place(label)).collect();
        let labels = self.labels.cells(&truth.labels, &numbers);
        let extra = self.extra.columns(&truth.logits, &truth.labels, self.format);
        // Before, among and behind the classes.
        for (index, column) in extra.into_iter().enumerate() {
            let at = if matches!(self.extra, Extra::Index) { 0 } else { index * 3 % columns.len() };
            columns.insert(at, column);
        }
        let at =
            if matches!(self.order, Order::Shuffled) { columns.len() / 2 } else { columns.len() };
        columns.insert(at, ("label".to_string(), labels));
        columns
    }

    /// What the reader should find: classes by their numbers, else in the order of the file.
    fn expected(&self, truth: &Truth) -> (Vec<Vec<f64>>, Vec<usize>) {
        let mut classes: Vec<usize> = (0..truth.classes()).collect();
        if self.names.first().is_none() {
            let mut named: Vec<(String, usize)> =
                classes.iter().map(|&class| (self.names.of(class), class)).collect();
            self.order.apply(&mut named);
            classes = named.into_iter().map(|(_, class)| class).collect();
        }
        let place = |label: usize| classes.iter().position(|&class| class == label).expect("one");
        let row = |row: &Vec<f64>| classes.iter().map(|&class| row[class]).collect();
        (
            truth.logits.iter().map(row).collect(),
            truth.labels.iter().map(|&label| place(label)).collect(),
        )
    }

    /// Whether it is read, rightly; anything else than that or a refusal that an option decides is a
    /// failure.
    fn check(&self, truth: &Truth) -> Result<bool, String> {
        let bytes = write(self.format, &self.table(truth));
        let files = RowFiles {
            logits: Source::bytes(format!("table.{}", self.format), bytes),
            labels: None,
            options: ReadOptions::default(),
            loss: LossArgument::default(),
            group: None,
            fold_group: None,
        };
        match read(files) {
            Ok(found) if found == self.expected(truth) => Ok(true),
            Ok((logits, labels)) => {
                let classes = logits[0].len();
                Err(format!("{self:?} was misread: {classes} classes, labels {labels:?}"))
            }
            Err(error) if !can_be_decided(&error.kind) => Err(format!("{self:?}: {error}")),
            Err(error) if self.is_certain() => Err(format!("{self:?} was refused: {error}")),
            Err(_) => Ok(false),
        }
    }
}

/// Every kind of table, in two formats each, which change from kind to kind.
fn kinds(labels: &[LabelKind]) -> Vec<Kind> {
    let mut all = Vec::new();
    let mut state = 7_usize;
    for &names in Names::ALL {
        for order in Order::ALL {
            for extra in Extra::all() {
                for &labels in labels {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    for turn in [0, 1 + (state >> 50) % 5] {
                        let format = FORMATS[((state >> 40) + turn) % FORMATS.len()];
                        all.push(Kind { names, order, extra, labels, format });
                    }
                }
            }
        }
    }
    all
}

fn sweep(kinds: &[Kind], truth: &Truth) -> [usize; 2] {
    let (mut read, mut families, mut problems) = (0, BTreeMap::new(), Vec::new());
    for kind in kinds {
        let found = match kind.check(truth) {
            Ok(found) => found,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        if found && !kind.is_certain() {
            problems.push(format!("{kind:?} was read, rightly as it happens"));
        }
        read += usize::from(found);
        *families.entry((kind.format, found)).or_insert(0_usize) += 1;
    }
    let shown = problems.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} of {}:\n{shown}", problems.len(), kinds.len());
    for format in FORMATS {
        assert!(families.contains_key(&(*format, true)), "no {format} was read");
        assert!(families.contains_key(&(*format, false)), "no {format} was refused");
    }
    println!("{read} tables read, {} refused", kinds.len() - read);
    [read, kinds.len() - read]
}

#[test]
fn tables_of_many_classes_are_read_rightly_or_refused() {
    let labels = [LabelKind::FromZero, LabelKind::FromOne, LabelKind::Words, LabelKind::Numbered];
    let kinds = kinds(&labels);
    assert!(kinds.len() > 2000);
    let [read, refused] = sweep(&kinds, &truth());
    assert!(read > 1000 && refused > 300, "{read} read, {refused} refused");
}

#[test]
fn tables_of_two_classes_are_read_rightly_or_refused() {
    let labels = [LabelKind::FromZero, LabelKind::Words, LabelKind::Bools];
    let [read, refused] = sweep(&kinds(&labels), &truth().binary());
    assert!(read > 500 && refused > 100, "{read} read, {refused} refused");
}

/// What was refused is read once the classes are named.
#[test]
fn names_decide_where_columns_do_not() {
    let truth = truth();
    let extra = Extra::Unknown("spread");
    for format in FORMATS {
        let (names, order, labels) = (Names::Words, Order::Shuffled, LabelKind::Words);
        let kind = Kind { names, order, extra, labels, format };
        assert_eq!(kind.check(&truth), Ok(false));
        let source = Source::bytes(format!("x.{format}"), write(format, &kind.table(&truth)));
        let class_names: Vec<String> = (0..10).map(|class| Names::Words.of(class)).collect();
        let options = ReadOptions { class_names: Some(class_names), ..ReadOptions::default() };
        let reader = LogitsReader::open(&source, &options).expect("named");
        assert_eq!(reader.columns().names, (0..10).map(|i| names.of(i)).collect::<Vec<_>>());
        let files = RowFiles {
            logits: source,
            labels: None,
            options,
            loss: LossArgument::default(),
            group: None,
            fold_group: None,
        };
        assert_eq!(read(files).expect("named"), (truth.logits.clone(), truth.labels.clone()));
    }
}

/// A column of every kind that a command reads beside logits, in more rows than are looked at first.
fn wide_table(rows: usize) -> Vec<(String, Cells)> {
    let wave = |factor: f64| (0..rows).map(|row| (row as f64 * factor).sin()).collect();
    let floats = |name: &str, factor| (name.to_string(), Cells::Floats(wave(factor)));
    let sites = (0..rows).map(|row| format!("site {}", row % 7)).collect();
    let weights = (0..rows).map(|row| 1.0 + (row % 5) as f64).collect();
    let flags = |modulus| (0..rows).map(|row| i64::from(row % modulus == 0)).collect();
    vec![
        floats("logit_0", 0.5),
        floats("logit_1", 0.7),
        floats("extra", 0.9),
        floats("confidence", 1.1),
        ("label".to_string(), Cells::Integers(flags(2))),
        ("pred".to_string(), Cells::Integers(flags(3))),
        ("correct".to_string(), Cells::Integers(flags(4))),
        ("loss".to_string(), Cells::Integers(flags(5))),
        ("site".to_string(), Cells::Texts(sites)),
        ("weight".to_string(), Cells::Floats(weights)),
    ]
}

#[test]
fn a_table_is_parsed_once_for_all_columns_and_once_for_each_pass() {
    for format in FORMATS {
        let bytes = write(format, &wide_table(3000));
        let size = bytes.len() as u64;
        let name = format!("table.{format}");
        let counted = |times, counter: &ReadCounter| {
            assert_eq!(counter.opens(), times, "{format}");
            // Of JSON, what is behind the last bracket may be left.
            let read = counter.bytes();
            assert!(read <= times * size && read + 8 * times >= times * size, "{format}: {read}");
        };
        let extra = ExtraColumn { path: name.clone().into(), name: None };
        let logits = Source::bytes(&name, bytes.clone());
        let counter = logits.counter();
        let mut rows = FileRows::open(RowFiles {
            logits,
            labels: None,
            options: ReadOptions { extra: Some(extra), ..ReadOptions::default() },
            loss: LossArgument::default(),
            group: Some("site".into()),
            fold_group: None,
        })
        .expect("rows");
        rows.pass(&mut |_| Ok(())).expect("a pass");
        assert_eq!(rows.groups().map(<[String]>::len), Some(3000));
        counted(2, &counter);
        rows.pass(&mut |_| Ok(())).expect("a second pass");
        counted(3, &counter);

        let table = Source::bytes(&name, bytes.clone());
        let counter = table.counter();
        let names = ConfidenceNames {
            group: Some("site".into()),
            weight: Some("weight".into()),
            ..ConfidenceNames::default()
        };
        let files = ConfidenceFiles { names, ..ConfidenceFiles::new(table) };
        let rows = files.read().expect("confidences");
        assert!(rows.disagreement.is_some() && rows.groups.is_some() && rows.weights.is_some());
        counted(1, &counter);

        let losses = Source::bytes(&name, bytes);
        let counter = losses.counter();
        read_losses(&losses, None).expect("losses");
        counted(1, &counter);
    }
}

#[test]
fn logits_and_labels_in_two_files_are_opened_once_each() {
    let table = wide_table(3000);
    let ids = || ("id".to_string(), Cells::Integers((0..3000).collect()));
    let (logits, labels) = (table[..2].to_vec(), table[4..5].to_vec());
    for shared in [None, Some(ids())] {
        let with_id = |name: &str, columns: &[(String, Cells)]| {
            let columns = columns.iter().cloned().chain(shared.clone()).collect::<Vec<_>>();
            Source::bytes(name, write("csv", &columns))
        };
        let (logits, labels) = (with_id("logits.csv", &logits), with_id("labels.csv", &labels));
        let counters = (logits.counter(), labels.counter());
        let mut rows = FileRows::open(RowFiles {
            logits,
            labels: Some(labels),
            options: ReadOptions::default(),
            loss: LossArgument::default(),
            group: None,
            fold_group: None,
        })
        .expect("rows");
        rows.pass(&mut |_| Ok(())).expect("a pass");
        // Identifiers are compared before the logits are read.
        assert_eq!((counters.0.opens(), counters.1.opens()), (1 + u64::from(shared.is_some()), 1));
    }
}
