//! Logits of a simulated classifier, so that the examples need no files.

use abstain::{Labels, Logits};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const CLASSES: usize = 10;

/// Labelled rows whose logits differ in scale from row to row, which is what misleads MSP.
pub(crate) fn rows(count: usize, seed: u64) -> Result<(Logits<'static>, Labels), abstain::Error> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut uniform = move || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut values = Vec::with_capacity(count * CLASSES);
    let mut labels = Vec::with_capacity(count);
    for row in 0..count {
        let label = row % CLASSES;
        let scale = 0.2 + 5.0 * uniform();
        for class in 0..CLASSES {
            // The sum of twelve uniform numbers is nearly normal, with variance one.
            let noise = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let signal = if class == label { 2.5 } else { 0.0 };
            values.push(scale * (signal + noise));
        }
        labels.push(i64::try_from(label).expect("there are ten classes"));
    }
    Ok((Logits::new(values, CLASSES)?, Labels::new(&labels, CLASSES)?))
}
