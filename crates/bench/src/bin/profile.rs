//! The profile pass over a large file, in chunks: its time and its memory.
//!
//! ```sh
//! cargo run --release -p abstain-bench --bin profile -- 50000 1000
//! ```

use abstain::{Labels, Logits, Losses, Method, Tuner, internal::Profiles};
use anyhow::{Context, Result};
use std::time::Instant;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let rows: usize = arguments.next().context("usage: profile ROWS CLASSES")?.parse()?;
    let classes: usize = arguments.next().context("CLASSES is missing")?.parse()?;
    let tuner = Tuner::default();
    let methods = ["MSP-pNorm".parse::<Method>()?];
    let mut profiles = Profiles::empty(classes, &tuner.plan(&methods));
    let mut state = 1_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    let mut seconds = 0.0;
    for start in (0..rows).step_by(1000) {
        let count = 1000.min(rows - start);
        let chunk: Vec<f32> = (0..count * classes)
            .map(|_| 3.4 * (uniform() + uniform() + uniform() + uniform() - 2.0))
            .collect();
        let labels: Vec<usize> = (start..start + count).map(|i| i % classes).collect();
        let clock = Instant::now();
        let logits = Logits::new(chunk, classes)?;
        let labels = Labels::new(&labels, classes)?;
        let losses = Losses::zero_one(&logits, &labels)?;
        profiles.push(&logits, &labels, &losses)?;
        seconds += clock.elapsed().as_secs_f64();
    }
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!(
        "{rows} × {classes}: {seconds:.2} s, {} bytes a row ({} of single-precision logits); {}",
        profiles.bytes() / rows,
        4 * classes,
        peak.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    Ok(())
}
