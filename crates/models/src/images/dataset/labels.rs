//! From what a dataset says of labels to the numbers of a model's classes.

use super::{Dataset, Label};
use abstain_io::ClassNames;
use std::collections::BTreeSet;

/// Which number a folder's class has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassOrder {
    /// Its place among the folders, sorted by name: torchvision's `ImageFolder`.
    Sorted,
    /// The number that its name is.
    Number,
}

impl std::str::FromStr for ClassOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sorted" => Ok(ClassOrder::Sorted),
            "number" => Ok(ClassOrder::Number),
            _ => {
                Err("sorted (the place among the sorted names) or number (the name itself)".into())
            }
        }
    }
}

/// Why labels cannot be given numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// An image has no label.
    #[error("{count} images have no label, such as {example}")]
    Missing {
        /// How many.
        count: usize,
        /// One of them.
        example: String,
    },
    /// Some folders are missing, so that the place of the others is not their class.
    #[error(
        "there are {names} classes in the images, but the model has {classes}: their order is not the model's"
    )]
    Order {
        /// The classes of the images.
        names: usize,
        /// The classes of the model.
        classes: usize,
        /// Whether all names are numbers of classes.
        numbers: bool,
    },
    /// A folder without images, which may be that of a class.
    #[error("there is no image in the folder '{folder}', and it may be that of a class")]
    EmptyFolder {
        /// Its name.
        folder: String,
    },
    /// A name where numbers are expected.
    #[error("the label of {example} is '{label}', which is not a number")]
    NotNumber {
        /// The label.
        label: String,
        /// An image that has it.
        example: String,
    },
    /// Names are numbers, but sorted as text they are in another order.
    #[error(
        "the names of the classes are numbers ('{first}', '{second}', …), whose order as text is another one"
    )]
    NumberOrText {
        /// The first name in the order of text.
        first: String,
        /// The second one.
        second: String,
    },
    /// A label that is the number of one class and the name of another.
    #[error(
        "the label of {example} is {label}, which is the number of a class, and the name of class {place}"
    )]
    NumberOrName {
        /// The label.
        label: String,
        /// The class of that name.
        place: i64,
        /// An image that has it.
        example: String,
    },
    /// A name that is none of the classes.
    #[error("'{label}', the label of {example}, is none of the {classes} class names")]
    UnknownName {
        /// The label.
        label: String,
        /// An image that has it.
        example: String,
        /// How many names there are.
        classes: usize,
    },
    /// Names without a list of classes.
    #[error("the label of {example} is '{label}', and the order of the classes is not known")]
    NoNames {
        /// The label.
        label: String,
        /// An image that has it.
        example: String,
    },
    /// A number that is none of the classes.
    #[error("the label of {example} is {label}, but the model has the classes 0 to {}", classes - 1)]
    OutOfRange {
        /// The label.
        label: String,
        /// An image that has it.
        example: String,
        /// How many classes there are.
        classes: usize,
    },
    /// Another number of names than classes.
    #[error("there are {names} class names, but the model has {classes} classes")]
    Names {
        /// The names.
        names: usize,
        /// The classes of the model.
        classes: usize,
    },
}

/// The class of each item, among those of a model.
pub fn resolve(
    dataset: &Dataset,
    classes: usize,
    class_names: Option<&[String]>,
    order: Option<ClassOrder>,
) -> Result<Vec<i64>, LabelError> {
    let mut unlabelled = dataset.items.iter().filter(|item| item.label.is_none());
    if let Some(first) = unlabelled.next() {
        let (count, example) = (1 + unlabelled.count(), first.name.clone());
        return Err(LabelError::Missing { count, example });
    }
    let names = class_names.or(dataset.class_names.as_deref());
    if let Some(names) = names
        && names.len() != classes
    {
        return Err(LabelError::Names { names: names.len(), classes });
    }
    let numbering = Numbering::new(dataset, classes, class_names, order)?;
    // The numbers of a dataset that names its classes are places among its names.
    let stated = dataset.class_names.as_deref().filter(|_| class_names.is_some());
    let number = |item: &super::Item| match (&item.label, stated) {
        (Some(Label::Number(number)), Some(names)) => {
            let name = usize::try_from(*number).ok().and_then(|number| names.get(number));
            let name = name.ok_or_else(|| LabelError::OutOfRange {
                label: number.to_string(),
                example: item.name.clone(),
                classes: names.len(),
            })?;
            numbering.number(&Label::Name(name.clone()), &item.name)
        }
        (Some(label), _) => numbering.number(label, &item.name),
        (None, _) => Ok(0),
    };
    dataset.items.iter().map(number).collect()
}

impl super::DatasetLayout {
    fn has_folders(self) -> bool {
        matches!(self, super::DatasetLayout::ClassFolders | super::DatasetLayout::Tar)
    }
}

/// What a label is looked up in.
enum Numbering<'a> {
    Names { known: ClassNames<'a>, classes: usize },
    Numbers { classes: usize },
}

impl<'a> Numbering<'a> {
    fn new(
        dataset: &'a Dataset,
        classes: usize,
        names: Option<&'a [String]>,
        order: Option<ClassOrder>,
    ) -> Result<Self, LabelError> {
        let by_place = |names: &mut dyn Iterator<Item = &'a str>| {
            let names: Vec<&str> = names.collect();
            Numbering::Names { classes: names.len(), known: ClassNames::new(names) }
        };
        let found: BTreeSet<&str> = dataset
            .items
            .iter()
            .filter_map(|item| match &item.label {
                Some(Label::Name(name)) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        if order == Some(ClassOrder::Number) {
            return Ok(Numbering::Numbers { classes });
        }
        if let Some(names) = names {
            return Ok(by_place(&mut names.iter().map(String::as_str)));
        }
        if found.is_empty() {
            return Ok(Numbering::Numbers { classes });
        }
        if !dataset.layout.has_folders() {
            let item = dataset.items.iter().find(|item| matches!(item.label, Some(Label::Name(_))));
            let example = item.map(|item| item.name.clone()).unwrap_or_default();
            let label = found.first().map(ToString::to_string).unwrap_or_default();
            return Err(LabelError::NoNames { label, example });
        }
        if let Some(folder) = dataset.empty_folders.first() {
            return Err(LabelError::EmptyFolder { folder: folder.clone() });
        }
        let numbers: Option<Vec<usize>> = found.iter().map(|name| name.parse().ok()).collect();
        if found.len() != classes {
            let numbers = numbers.is_some_and(|all| all.iter().all(|&number| number < classes));
            return Err(LabelError::Order { names: found.len(), classes, numbers });
        }
        let differs = numbers.is_some_and(|numbers| !numbers.is_sorted());
        if differs && order.is_none() {
            let mut two = found.iter().map(ToString::to_string);
            let (first, second) = (two.next().unwrap_or_default(), two.next().unwrap_or_default());
            return Err(LabelError::NumberOrText { first, second });
        }
        Ok(by_place(&mut found.into_iter()))
    }

    fn number(&self, label: &Label, example: &str) -> Result<i64, LabelError> {
        let example = || example.to_string();
        let place = |known: &ClassNames<'_>, name: &str| {
            known.place(name).and_then(|place| i64::try_from(place).ok())
        };
        match (self, label) {
            (Numbering::Names { known, classes }, Label::Name(name)) => place(known, name)
                .ok_or_else(|| LabelError::UnknownName {
                    label: name.clone(),
                    example: example(),
                    classes: *classes,
                }),
            (Numbering::Names { known, classes }, &Label::Number(number)) => {
                let label = number.to_string();
                match place(known, &label) {
                    Some(place) if place != number => {
                        Err(LabelError::NumberOrName { label, place, example: example() })
                    }
                    _ => in_range(number, &label, *classes, example),
                }
            }
            (&Numbering::Numbers { classes }, Label::Number(number)) => {
                in_range(*number, &number.to_string(), classes, example)
            }
            (&Numbering::Numbers { classes }, Label::Name(name)) => {
                let number = name.parse().map_err(|_| LabelError::NotNumber {
                    label: name.clone(),
                    example: example(),
                })?;
                in_range(number, name, classes, example)
            }
        }
    }
}

fn in_range(
    number: i64,
    label: &str,
    classes: usize,
    example: impl Fn() -> String,
) -> Result<i64, LabelError> {
    if usize::try_from(number).is_ok_and(|number| number < classes) {
        return Ok(number);
    }
    Err(LabelError::OutOfRange { label: label.to_string(), example: example(), classes })
}
