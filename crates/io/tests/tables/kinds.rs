//! What the tables of the sweep differ in.

use super::write::Cells;

/// Names of the classes. Sorted, so that text labels of numbered columns follow scikit-learn's order.
const WORDS: [&str; 10] =
    ["bag", "boot", "coat", "dress", "pullover", "sandal", "shirt", "sneaker", "top", "trouser"];

/// How the columns of the classes are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// By words.
    Words,
    /// By words with something in common: before, behind.
    AffixedWords(&'static str, &'static str),
    /// By numbers: before, the first number, digits at least, behind.
    Numbers(&'static str, usize, usize, &'static str),
}

impl Names {
    pub(crate) const ALL: &[Names] = &[
        Names::Words,
        Names::AffixedWords("logit_", ""),
        Names::AffixedWords("", "_logit"),
        Names::AffixedWords("score.", ""),
        Names::Numbers("", 0, 1, ""),
        Names::Numbers("", 1, 1, ""),
        Names::Numbers("logit_", 0, 1, ""),
        Names::Numbers("logit_", 1, 1, ""),
        Names::Numbers("class_", 0, 2, ""),
        Names::Numbers("class_", 1, 3, ""),
        Names::Numbers("", 0, 1, "_logit"),
        Names::Numbers("logits[", 0, 1, "]"),
        Names::Numbers("out.", 1, 1, ""),
        Names::Numbers("z", 0, 1, ""),
        Names::Numbers("c_", 1, 1, ""),
    ];

    pub(crate) fn of(self, class: usize) -> String {
        match self {
            Names::Words => WORDS[class].to_string(),
            Names::AffixedWords(before, behind) => format!("{before}{}{behind}", WORDS[class]),
            Names::Numbers(before, first, digits, behind) => {
                format!("{before}{:0digits$}{behind}", class + first)
            }
        }
    }

    /// The number of the first class, if they are numbered.
    pub(crate) fn first(self) -> Option<usize> {
        match self {
            Names::Numbers(_, first, ..) => Some(first),
            _ => None,
        }
    }

    /// Whether the names say that the columns are classes.
    pub(crate) fn say_classes(self) -> bool {
        !matches!(self, Names::Words | Names::Numbers("z" | "c_", ..))
    }
}

/// The order of the columns.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    Classes,
    Shuffled,
    /// So that 10 comes before 2.
    ByName,
}

impl Order {
    pub(crate) const ALL: [Order; 3] = [Order::Classes, Order::Shuffled, Order::ByName];

    pub(crate) fn apply<T>(self, columns: &mut [(String, T)]) {
        match self {
            Order::Classes => {}
            Order::Shuffled => {
                let mut state = 5_usize;
                for last in (1..columns.len()).rev() {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                    columns.swap(last, (state >> 33) % (last + 1));
                }
            }
            Order::ByName => columns.sort_by(|a, b| a.0.cmp(&b.0)),
        }
    }
}

/// What the labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelKind {
    FromZero,
    FromOne,
    Words,
    /// `LABEL_3`.
    Numbered,
    Bools,
}

impl LabelKind {
    /// The labels of classes, and of their numbers in the file.
    pub(crate) fn cells(self, classes: &[usize], numbers: &[usize]) -> Cells {
        let counted =
            |first: usize| numbers.iter().map(move |&n| i64::try_from(n + first).expect("small"));
        match self {
            LabelKind::FromZero => Cells::Integers(counted(0).collect()),
            LabelKind::FromOne => Cells::Integers(counted(1).collect()),
            LabelKind::Words => {
                Cells::Texts(classes.iter().map(|&class| WORDS[class].to_string()).collect())
            }
            LabelKind::Numbered => {
                Cells::Texts(numbers.iter().map(|&number| format!("LABEL_{number}")).collect())
            }
            LabelKind::Bools => Cells::Bools(numbers.iter().map(|&number| number == 1).collect()),
        }
    }
}

/// What else is in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extra {
    None,
    /// A usual name of another thing.
    Known(&'static str),
    /// An index, without a name where the format allows it.
    Index,
    /// A word that may be a class.
    Unknown(&'static str),
    /// Six numbered columns.
    Features,
}

impl Extra {
    pub(crate) fn all() -> Vec<Extra> {
        let known = ["loss", "pred", "y_pred", "correct", "entropy", "sample_weight", "id"];
        let mut all: Vec<Extra> = known.map(Extra::Known).to_vec();
        all.extend([Extra::None, Extra::Index, Extra::Features]);
        all.extend(["spread", "temperature_c"].map(Extra::Unknown));
        all
    }

    /// Its columns, with the values that such columns have.
    pub(crate) fn columns(
        self,
        logits: &[Vec<f64>],
        labels: &[usize],
        format: &str,
    ) -> Vec<(String, Cells)> {
        let largest = |row: &Vec<f64>| {
            let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
            best.expect("classes")
        };
        let log_sum = |row: &Vec<f64>| row.iter().map(|x| x.exp()).sum::<f64>().ln();
        let rows = || logits.iter().zip(labels);
        let integers = |numbers: Vec<usize>| {
            Cells::Integers(numbers.into_iter().map(|n| i64::try_from(n).expect("small")).collect())
        };
        let count = || integers((0..labels.len()).collect());
        let wave = |scale: f64| {
            Cells::Floats((0..labels.len()).map(|i| 20.0 + scale * (i as f64).sin()).collect())
        };
        let one = |name: &str, cells: Cells| vec![(name.to_string(), cells)];
        match self {
            Extra::None => Vec::new(),
            Extra::Index => {
                let name = match format {
                    "csv" | "tsv" => "",
                    "parquet" | "arrow" => "__index_level_0__",
                    _ => "index",
                };
                one(name, count())
            }
            Extra::Known(name) => one(
                name,
                match name {
                    "loss" => {
                        Cells::Floats(rows().map(|(row, &y)| log_sum(row) - row[y]).collect())
                    }
                    "pred" | "y_pred" => integers(logits.iter().map(largest).collect()),
                    "correct" => {
                        integers(rows().map(|(row, &y)| usize::from(largest(row) == y)).collect())
                    }
                    "id" => count(),
                    _ => wave(0.5),
                },
            ),
            Extra::Unknown(name) => one(name, wave(3.0)),
            Extra::Features => {
                (0..6).map(|i| (format!("x_{i}"), wave(1.0 + f64::from(i)))).collect()
            }
        }
    }
}
