//! From logits to confidences, and from confidences to NAURC.
//!
//! ```sh
//! cargo run -p abstain --example score
//! ```

use abstain::{Estimator, Losses, Metric, RcCurve};

mod simulated;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (logits, labels) = simulated::rows(5_000, 0)?;
    // The loss of a row depends on the predicted class alone, so that all estimators share it.
    let losses = Losses::zero_one(&logits, &labels)?;

    for name in ["MSP", "LogitsMargin", "MaxLogit-pNorm(p=5)"] {
        let estimator: Estimator = name.parse()?;
        let confidences = estimator.confidences(&logits);
        let curve = RcCurve::new(&confidences, &losses)?;
        println!("{name:<20} NAURC {:.3}", Metric::NAURC.evaluate(&curve)?);
    }
    Ok(())
}
