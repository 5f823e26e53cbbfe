//! The number types of files.

/// A type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dtype {
    F16,
    BF16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    /// Text of so many characters, four bytes each; shorter ones end with zeros.
    Unicode(u32),
    /// Text of so many bytes.
    Bytes(u32),
}

impl Dtype {
    /// Bytes of a value.
    pub(crate) fn size(self) -> usize {
        match self {
            Dtype::I8 | Dtype::U8 | Dtype::Bool => 1,
            Dtype::F16 | Dtype::BF16 | Dtype::I16 | Dtype::U16 => 2,
            Dtype::F32 | Dtype::I32 | Dtype::U32 => 4,
            Dtype::F64 | Dtype::I64 | Dtype::U64 => 8,
            Dtype::Unicode(characters) => 4 * characters as usize,
            Dtype::Bytes(bytes) => bytes as usize,
        }
    }

    /// Bytes that the byte order is of.
    pub(crate) fn unit(self) -> usize {
        match self {
            Dtype::Unicode(_) => 4,
            Dtype::Bytes(_) => 1,
            number => number.size(),
        }
    }

    /// Whether it is text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Dtype::Unicode(_) | Dtype::Bytes(_))
    }
}
