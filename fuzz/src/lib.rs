//! What the fuzz targets share: a file to read, and what a reader does with it.

use abstain_io::{LogitsReader, ReadOptions, Source, read_labels};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// A folder of this process, in memory where the system has one.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        tempfile::tempdir_in(parent).expect("a temporary folder")
    });
    FOLDER.path()
}

/// Writes a file into the folder.
pub fn put(name: &str, data: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, data).expect("a file in the temporary folder");
    path
}

/// Reads a file of these contents as logits and as labels. Any error will do; a panic will not.
pub fn read(name: &str, data: &[u8]) {
    // libFuzzer aborts at every panic, also at those of the Parquet library, which are caught.
    static QUIET: LazyLock<()> = LazyLock::new(abstain_io::quiet_guarded_panics);
    LazyLock::force(&QUIET);
    let source = Source::new(put(name, data));
    let options = ReadOptions::default();
    if let Ok(mut reader) = LogitsReader::open(&source, &options) {
        while let Ok(Some((_, logits))) = reader.next_chunk() {
            assert!(logits.rows() > 0 && logits.classes() > 1);
        }
    }
    let _ = read_labels(&source, &options, 10);
}
