//! Tunes an estimator on some rows, and certifies a threshold for it on others.
//!
//! ```sh
//! cargo run -p abstain --example tune_and_certify
//! ```

use abstain::certify::Certifier;
use abstain::{Losses, Metric, RcCurve};

mod simulated;

const ACCURACY: f64 = 0.95;
/// The probability that the accuracy is missed although it is certified.
const DELTA: f64 = 0.05;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (logits, labels) = simulated::rows(2_000, 0)?;
    let fit = abstain::tune(&logits, &labels)?;
    let gain = fit.gain?;
    println!("tuned: {}", fit.estimator.method());
    println!("gain over MSP in NAURC: {:.3} [{:.3}, {:.3}]", gain.estimate, gain.low, gain.high);

    // A certificate holds only on rows that tuning has not seen.
    let (logits, labels) = simulated::rows(2_000, 1)?;
    let losses = Losses::zero_one(&logits, &labels)?;
    let curve = RcCurve::new(&fit.estimator.confidences(&logits), &losses)?;
    println!("NAURC on fresh rows: {:.3}", Metric::NAURC.evaluate(&curve)?);
    match Certifier::accuracy(ACCURACY, DELTA).certify(&curve)? {
        Ok(certificate) => println!("certified threshold: {}", certificate.threshold),
        Err(refusal) => println!("{refusal}"),
    }
    Ok(())
}
