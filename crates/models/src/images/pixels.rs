//! An image in memory.

/// An image of 8-bit red, green and blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of each pixel, row by row from the top: `3 × width × height` bytes.
    pub rgb: Vec<u8>,
}
