//! Labels, validated at the door.

use crate::error::Error;
use crate::logits::Logits;

/// True classes, each the index of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    values: Vec<u32>,
    classes: usize,
}

/// The integer types that labels come in.
pub trait Integer: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn widen(self) -> i128;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl sealed::Sealed for $integer {}
        impl Integer for $integer {
            #[allow(clippy::cast_lossless)]
            fn widen(self) -> i128 {
                self as i128
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl Labels {
    /// Labels of any integer type, counted from 0.
    pub fn new<T: Integer>(values: &[T], classes: usize) -> Result<Self, Error> {
        if classes < 2 {
            return Err(Error::TooFewClasses { classes });
        }
        if values.is_empty() {
            return Err(Error::NoRows);
        }
        let check = |(row, &value): (usize, &T)| {
            let label = value.widen();
            match u32::try_from(label) {
                Ok(small) if (small as usize) < classes => Ok(small),
                _ => Err(Error::LabelOutOfRange { row, label, classes }),
            }
        };
        let values = values.iter().enumerate().map(check).collect::<Result<_, _>>()?;
        Ok(Labels { values, classes })
    }

    /// How many labels there are.
    #[expect(clippy::len_without_is_empty, reason = "there is always at least one label")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The labels of some rows, such as those of a chunk.
    ///
    /// # Panics
    ///
    /// If the range is empty or does not end within the labels.
    #[must_use]
    pub fn part(&self, rows: std::ops::Range<usize>) -> Self {
        assert!(!rows.is_empty(), "labels of no rows");
        Labels { values: self.values[rows].to_vec(), classes: self.classes }
    }

    /// The labels of some rows, in the order given.
    ///
    /// # Panics
    ///
    /// If `rows` is empty or out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "labels of no rows");
        Labels { values: rows.iter().map(|&i| self.values[i]).collect(), classes: self.classes }
    }

    /// The labels as numbers.
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The label of a row.
    pub(crate) fn at(&self, row: usize) -> usize {
        self.values[row] as usize
    }

    /// Checks that the labels belong to these logits.
    pub(crate) fn check_against(&self, logits: &Logits<'_>) -> Result<(), Error> {
        if self.len() != logits.rows() {
            let (found, expected) = (self.len(), logits.rows());
            return Err(Error::Length { what: "labels", found, expected });
        }
        if self.classes > logits.classes() {
            // They were checked against more classes than there are: check again.
            Labels::new(&self.values, logits.classes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_any_integer_type_are_checked() {
        assert_eq!(Labels::new(&[0_u8, 2], 3).expect("u8").len(), 2);
        assert_eq!(Labels::new(&[0_i64, 2], 3).expect("i64").at(1), 2);
        let error = Labels::new(&[0_i64, -1], 3).unwrap_err();
        assert_eq!(error, Error::LabelOutOfRange { row: 1, label: -1, classes: 3 });
        let error = Labels::new(&[u64::MAX], 3).unwrap_err();
        assert_eq!(error.to_string(), "row 0: label 18446744073709551615 is not between 0 and 2");
        assert_eq!(Labels::new::<i32>(&[], 3).unwrap_err(), Error::NoRows);
        assert_eq!(Labels::new(&[0_usize], 0).unwrap_err(), Error::TooFewClasses { classes: 0 });
    }
}
