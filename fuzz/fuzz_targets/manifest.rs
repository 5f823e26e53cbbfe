//! Manifests of a zoo, beside files that they may name.

#![no_main]

use abstain_fuzz::{folder, put};
use abstain_io::zoo::Zoo;
use std::sync::LazyLock;

/// Two models of two rows and three classes, and their labels.
static FILES: LazyLock<()> = LazyLock::new(|| {
    for name in ["a.csv", "b.csv"] {
        put(name, b"1.5,0.25,-1\n0,2,1\n");
    }
    put("labels.csv", b"0\n1\n");
});

libfuzzer_sys::fuzz_target!(|manifest: &[u8]| {
    LazyLock::force(&FILES);
    put("zoo.toml", manifest);
    if let Ok(zoo) = Zoo::open(folder()) {
        assert_eq!(zoo.rows(), 2);
    }
});
