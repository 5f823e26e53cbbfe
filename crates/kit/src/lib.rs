//! What the tests of several crates share: numbers that look random, a made-up classifier, and npy
//! files. It depends on nothing, so that every crate can use it, `core` included.

/// Numbers that look random and are always the same.
#[derive(Clone, Debug)]
pub struct Lcg(pub u64);

impl Lcg {
    /// A sequence that differs from the start for neighbouring seeds.
    pub fn new(seed: u64) -> Self {
        Lcg(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// Between 0 and 1.
    #[expect(clippy::should_implement_trait, reason = "numbers without an end, not an iterator")]
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Logits and labels of a classifier whose MSP is broken: the scale of a row says nothing of how
/// sure it is.
///
/// # Panics
///
/// If there are more than `u32::MAX` classes.
pub fn classifier(rows: usize, classes: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
    let mut random = Lcg::new(seed);
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let label = row * 7 % classes;
        let (signal, scale) = (4.0 * random.next(), 0.3 + 4.0 * random.next());
        for class in 0..classes {
            let signal_of_class = if class == label { signal } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "the type of the file")]
            logits.push((scale * (signal_of_class + 0.7 * random.normal())) as f32);
        }
        labels.push(u32::try_from(label).expect("small"));
    }
    (logits, labels)
}

/// The order in which an npy file holds a matrix.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Row after row.
    C,
    /// Column after column.
    Fortran,
}

/// An npy file. `descr` and `shape` are written as Python writes them: `'<f4'`, `(5, 4)`.
///
/// # Panics
///
/// If the header is longer than 65,535 bytes.
pub fn npy_in_order(descr: &str, shape: &str, order: Order, data: &[u8]) -> Vec<u8> {
    let fortran = if matches!(order, Order::Fortran) { "True" } else { "False" };
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (text.len() + 11) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), data].concat()
}

/// An npy file, row after row.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_in_order(descr, shape, Order::C, data)
}

/// A matrix in single precision.
pub fn npy_f32(values: &[f32], classes: usize) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy("'<f4'", &format!("({}, {classes})", values.len() / classes), &data)
}

/// An array in double precision.
pub fn npy_f64(values: &[f64], shape: &str) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy("'<f8'", shape, &data)
}

/// Labels, as numpy's int64.
pub fn npy_labels(labels: &[u32]) -> Vec<u8> {
    let data: Vec<u8> = labels.iter().flat_map(|&x| i64::from(x).to_le_bytes()).collect();
    npy("'<i8'", &format!("({},)", labels.len()), &data)
}
