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

/// Reads a file of these contents as logits and as labels, from the disk and from memory. Any error
/// will do; a panic will not, nor will different rows.
pub fn read(name: &str, data: &[u8]) {
    // libFuzzer aborts at every panic, also at those of the Parquet library, which are caught.
    static QUIET: LazyLock<()> = LazyLock::new(abstain_io::quiet_guarded_panics);
    LazyLock::force(&QUIET);
    let file = Source::new(put(name, data));
    let memory = Source::bytes(name, data.to_vec());
    if let (Some(first), Some(second)) = (rows(&file), rows(&memory)) {
        assert_eq!(first, second, "the file and its bytes differ");
    }
    let _ = read_labels(&file, &ReadOptions::default(), 10);
}

/// The numbers of a source as bits, if it can be read.
fn rows(source: &Source) -> Option<Vec<u64>> {
    let mut reader = LogitsReader::open(source, &ReadOptions::default()).ok()?;
    let mut row = vec![0.0; reader.classes()];
    let mut numbers = Vec::new();
    while let Some((_, logits)) = reader.next_chunk().ok()? {
        for index in 0..logits.rows() {
            logits.copy_row(index, &mut row);
            numbers.extend(row.iter().map(|x| x.to_bits()));
        }
    }
    Some(numbers)
}
