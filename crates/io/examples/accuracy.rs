//! Reads logits and labels from a file, and prints the accuracy of the classifier.
//!
//! ```sh
//! cargo run -p abstain-io --example accuracy [FILE]
//! ```
//!
//! Without a file it reads a small one that `torch.save` wrote.

use abstain::Losses;
use abstain_io::{LogitsReader, ReadOptions, Source, read_labels};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/dict.pt");
    let path = std::env::args().nth(1).unwrap_or_else(|| fixture.into());
    let source = Source::new(path);
    let options = ReadOptions::default();

    let mut reader = LogitsReader::open(&source, &options)?;
    let labels = read_labels(&source, &options, reader.classes())?;
    // Chunks of a few megabytes: the file may be larger than the memory.
    let (mut rows, mut wrong) = (0, 0.0);
    while let Some((first, logits)) = reader.next_chunk()? {
        let labels = labels.part(first..first + logits.rows());
        wrong += Losses::zero_one(&logits, &labels)?.values().iter().sum::<f64>();
        rows += logits.rows();
    }
    let accuracy = 1.0 - wrong / rows as f64;
    println!("{rows} rows, {} classes, accuracy {accuracy:.3}", reader.classes());
    Ok(())
}
