//! The pickle inside of a PyTorch file: the input, in an archive that is otherwise valid.

#![no_main]

use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

libfuzzer_sys::fuzz_target!(|pickle: &[u8]| {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let entries: [(&str, &[u8]); 4] = [
        ("archive/data.pkl", pickle),
        ("archive/data/0", &[0; 48]),
        ("archive/data/1", &[0; 24]),
        ("archive/version", b"3\n"),
    ];
    for (name, contents) in entries {
        archive.start_file(name, stored).expect("an entry");
        archive.write_all(contents).expect("an entry's contents");
    }
    let file = archive.finish().expect("an archive").into_inner();
    abstain_fuzz::read("file.pt", &file);
});
