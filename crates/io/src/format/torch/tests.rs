use super::pickle::tests::{Random, program, storage, tensor, text};
use super::*;
use crate::format::npy::tests::f32_bytes;
use crate::format::tests::{LABELS, Sample, labels, rows};
use crate::{ErrorKind, ReadOptions};
use std::io::Write;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const DICT: &[u8] = include_bytes!("../../../fixtures/dict.pt");
const TENSOR: &[u8] = include_bytes!("../../../fixtures/tensor.pt");
const TRANSPOSED: &[u8] = include_bytes!("../../../fixtures/transposed.pt");
const CALLS: &[u8] = include_bytes!("../../../fixtures/calls-os-system.pt");

fn find(bytes: &[u8]) -> Result<Vec<Tensor>> {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("room");
    tensors(&file)
}

fn problem(bytes: &[u8]) -> String {
    find(bytes).expect_err("an error").to_string()
}

/// A zip file; names that end in `*` are compressed.
fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let plain = name.trim_end_matches('*');
        let packed = plain.len() < name.len();
        let method = if packed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(plain, options).expect("a name");
        zip.write_all(bytes).expect("room");
    }
    zip.finish().expect("a zip file").into_inner()
}

/// A dictionary of two tensors, as `torch.save` writes it.
pub(super) fn samples() -> Vec<Sample> {
    let logits = tensor(&storage("FloatStorage", "0"), 0, &[5, 4], &[4, 1]);
    let labels = tensor(&storage("LongStorage", "1"), 0, &[5], &[1]);
    let items = [text("logits"), logits, text("labels"), labels].concat();
    let classes: Vec<u8> = LABELS.iter().flat_map(|&x| i64::from(x).to_le_bytes()).collect();
    let file = zipped(&[
        ("archive/data.pkl", &program(&[b"}(", &items[..], b"u"].concat())),
        ("archive/data/0", &f32_bytes()),
        ("archive/data/1", &classes),
    ]);
    vec![Sample::both(file)]
}

/// A file of a pickle and a storage of 24 bytes.
fn saved(body: &[u8]) -> Vec<u8> {
    let numbers: Vec<u8> = (0..24).collect();
    zipped(&[("a/data.pkl", &program(body)), ("a/data/0", &numbers)])
}

fn floats(first: i32, size: &[i32], strides: &[i32]) -> Vec<u8> {
    tensor(&storage("FloatStorage", "0"), first, size, strides)
}

/// The numbers of a tensor of float32, in the order of the file.
fn numbers(file: &[u8], tensor: &Tensor) -> Vec<f32> {
    let start = usize::try_from(tensor.offset).expect("small");
    let count = tensor.shape.iter().product::<u64>();
    let (numbers, _) = file[start..].as_chunks::<4>();
    numbers
        .iter()
        .take(usize::try_from(count).expect("small"))
        .map(|&b| f32::from_le_bytes(b))
        .collect()
}

#[test]
fn tensors_of_pytorch_files_are_found() {
    let found = find(DICT).expect("a sound file");
    let names: Vec<&str> = found.iter().map(|tensor| &tensor.name[..]).collect();
    assert_eq!(names, ["logits", "labels"]);
    assert_eq!((found[0].dtype, &found[0].shape[..]), (Dtype::F32, &[3, 4][..]));
    let expected: Vec<f32> = (0..12u8).map(|i| f32::from(i) / 4.0 - 1.0).collect();
    assert_eq!(numbers(DICT, &found[0]), expected);
    assert_eq!((found[1].dtype, &found[1].shape[..]), (Dtype::I64, &[3][..]));
    let labels = [3i64, 0, 2].map(i64::to_le_bytes).concat();
    assert!(DICT[usize::try_from(found[1].offset).expect("small")..].starts_with(&labels));

    let found = find(TENSOR).expect("a sound file");
    let [Tensor { name, dtype: Dtype::F16, shape, fortran: false, offset, big_endian: false }] =
        &found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!((&name[..], &shape[..]), ("", &[2, 3][..]));
    let values = [0x3800u16, 0xbc00, 0x4000, 0x4200, 0x4440, 0xc600].map(u16::to_le_bytes).concat();
    assert!(TENSOR[usize::try_from(*offset).expect("small")..].starts_with(&values));

    let found = find(TRANSPOSED).expect("a sound file");
    assert_eq!((found[0].fortran, &found[0].shape[..]), (true, &[3, 2][..]));
    assert_eq!(numbers(TRANSPOSED, &found[0]), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
}

#[test]
fn a_pickle_that_calls_a_function_is_refused() {
    let error = find(CALLS).expect_err("an error");
    let expected = "the pickle calls os.system, which is not part of a tensor: nothing was run";
    assert_eq!(error.to_string(), expected);
    let instead = "save the tensor alone: torch.save(logits, path)";
    assert!(matches!(error, ErrorKind::Unsupported { instead: found, .. } if found == instead));
}

#[test]
fn names_offsets_types_and_byte_orders_are_found() {
    let (row, half) =
        (floats(3, &[1, 3], &[99, 1]), tensor(&storage("HalfStorage", "0"), 2, &[], &[]));
    let [row, half] = [&row[..], &half[..]];
    let body = [
        b"}(",
        &text("a")[..],
        b"}",
        &text("b"),
        row,
        b"sK\x07](",
        half,
        b"NK\x01",
        half,
        b"e",
        b"N",
        half,
        &text("none"),
        b"Nu",
    ]
    .concat();
    let names =
        |found: Vec<Tensor>| found.into_iter().map(|tensor| tensor.name).collect::<Vec<_>>();
    let found = find(&saved(&body)).expect("a sound file");
    assert_eq!(found[0].offset + 4, found[1].offset + 12);
    assert_eq!(found[1].shape, [0; 0]);
    assert_eq!(names(found), ["a.b", "7.0", "7.3", "2"]);
    assert!(find(&saved(b"(K\x01Nt")).expect("a sound file").is_empty());

    // The rebuilding of newer types, with the type apart from the storage.
    let newer = [
        b"ctorch._utils\n_rebuild_tensor_v3\n(",
        &storage("UntypedStorage", "0")[..],
        b"K\x01K\x03\x85K\x01\x85\x89}ctorch\nuint16\ntR",
    ]
    .concat();
    let found = find(&saved(&newer)).expect("a sound file");
    assert_eq!((found[0].dtype, &found[0].shape[..]), (Dtype::U16, &[3][..]));

    let whole = program(&floats(0, &[2], &[1]));
    let with = |order: &[u8]| {
        find(&zipped(&[("a/data.pkl*", &whole), ("a/data/0", &[0; 8]), ("a/byteorder", order)]))
    };
    assert!(with(b"big").expect("a sound file")[0].big_endian);
    assert!(!with(b"little").expect("a sound file")[0].big_endian);
    assert!(with(b"middle").is_err());
}

#[test]
fn only_adjoining_numbers_are_read() {
    assert_eq!(fortran(&[2, 3, 4], &[12, 4, 1]), Some(false));
    assert_eq!(fortran(&[2, 3], &[1, 2]), Some(true));
    assert_eq!(fortran(&[1, 3], &[7, 1]), Some(false));
    assert_eq!(fortran(&[3, 1], &[1, 3]), Some(false));
    assert_eq!(fortran(&[0, 3], &[5, 5]), Some(false));
    for (shape, strides) in
        [(&[2, 3][..], &[4, 1][..]), (&[2, 3], &[0, 1]), (&[2, 3, 4], &[1, 2, 6]), (&[2], &[1, 1])]
    {
        assert_eq!(fortran(shape, strides), None, "{shape:?} {strides:?}");
    }
    assert!(problem(&saved(&floats(0, &[2, 2], &[3, 1]))).contains("do not adjoin"));
}

#[test]
fn tensors_beyond_their_storage_are_refused() {
    assert!(find(&saved(&floats(0, &[2, 3], &[3, 1]))).is_ok());
    for (first, size) in [(1, [2, 3]), (0, [2, 4]), (6, [1, 1]), (i32::MAX, [1, 1])] {
        let error = find(&saved(&floats(first, &size, &[size[1], 1]))).expect_err("an error");
        assert!(matches!(error, ErrorKind::Truncated { found: Some(24), .. }), "{error:?}");
    }
    assert!(problem(&saved(&floats(-1, &[1], &[1]))).contains("absurd"));
    assert!(problem(&saved(&floats(0, &[-1], &[1]))).contains("whole numbers"));
    // 2⁹³ numbers.
    let strides = b"(\x8a\x08\0\0\0\0\0\0\x01\x3fJ\0\0\0\x7fK\x01t";
    let size = b"(J\0\0\0\x7fJ\0\0\0\x7fJ\0\0\0\x7ft";
    let body = [
        b"ctorch._utils\n_rebuild_tensor_v2\n(",
        &storage("ByteStorage", "0")[..],
        b"K\0",
        size,
        strides,
        b"\x89NtR",
    ]
    .concat();
    assert!(problem(&saved(&body)).contains("absurd"));
    let dimensions = [1; MAX_DIMENSIONS + 1];
    assert!(problem(&saved(&floats(0, &dimensions, &dimensions))).contains("dimensions"));
}

#[test]
fn files_that_are_not_read_are_refused_by_name() {
    let contains = |bytes: &[u8], part: &str| {
        let problem = problem(bytes);
        assert!(problem.contains(part), "{problem}");
    };
    contains(&[&[0x80, 0x02], OLD_MAGIC, b".\x80\x02M\xe9\x03."].concat(), "old PyTorch format");
    contains(b"\x80\x04\x95", "it is a Python pickle, which is never loaded");
    contains(b"\x93NUMPY", "not a zip file");
    contains(b"", "not a zip file");
    contains(b"PK\x03\x04", "is it all there?");
    contains(&zipped(&[("a.npy", b"")]), "no data.pkl");
    contains(&zipped(&[("a/data.pkl", b"N."), ("b/data.pkl", b"N.")]), "several");
    contains(&zipped(&[("a/data.pkl", b"N."), ("a/constants.pkl", b"")]), "TorchScript");
    let whole = program(&floats(0, &[2], &[1]));
    contains(&zipped(&[("a/data.pkl", &whole)]), "no data/0");
    contains(&zipped(&[("a/data.pkl", &whole), ("a/data/0*", &[0; 8])]), "compressed");
    let long = vec![0; usize::try_from(MAX_PICKLE).expect("small") + 1];
    contains(&zipped(&[("a/data.pkl*", &long)]), "more than");
    let complex = tensor(&storage("ComplexFloatStorage", "0"), 0, &[1], &[1]);
    contains(&saved(&complex), "the tensor '' is of torch.ComplexFloatStorage");
    let negated = [
        b"ctorch._utils\n_rebuild_tensor_v2\n(",
        &storage("FloatStorage", "0")[..],
        b"K\0K\x01\x85K\x01\x85\x89}}",
        &text("neg"),
        b"\x88stR",
    ]
    .concat();
    contains(&saved(&negated), "special view");
}

#[test]
fn hostile_files_are_refused_soon() {
    assert!(problem(&saved(b"]q\0h\0a")).contains("deep"));
    let nested = [b"]".repeat(1000), b"a".repeat(999)].concat();
    assert!(problem(&saved(&nested)).contains("deep"));
    // 10⁶⁰ tensors, and a long name that is used often.
    let mut laughs = floats(0, &[1], &[1]);
    for _ in 0..60 {
        laughs = [&laughs[..], b"q\0", b"](", &b"h\0".repeat(10), b"e"].concat();
    }
    assert!(problem(&saved(&laughs)).contains("too often"));
    let name = text(&"x".repeat(1 << 20));
    let body = [b"}", &name[..], b"](", &b"]".repeat(100), b"es"].concat();
    assert!(problem(&saved(&body)).contains("too often"));
}

#[test]
fn damaged_files_never_point_outside_themselves() {
    for length in 0..DICT.len() {
        assert!(find(&DICT[..length]).is_err(), "{length} bytes");
    }
    let mut random = Random(2);
    for _ in 0..10_000 {
        let mut bytes = [DICT, TRANSPOSED][random.below(2)].to_vec();
        for _ in 0..=random.below(6) {
            let at = random.below(bytes.len());
            bytes[at] = [0, 0xff, random.byte()][random.below(3)];
        }
        for tensor in find(&bytes).into_iter().flatten() {
            let size = tensor.shape.iter().product::<u64>() * tensor.dtype.size() as u64;
            assert!(tensor.offset + size <= bytes.len() as u64, "{tensor:?}");
        }
    }
}

#[test]
fn fixtures_of_pytorch_are_read() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let options = ReadOptions::default();
    let quarters: Vec<f64> = (0..12).map(|i| f64::from(i) / 4.0 - 1.0).collect();
    let quarters: Vec<&[f64]> = quarters.chunks(4).collect();
    assert_eq!(rows(&fixtures.join("dict.pt"), &options).expect("read"), quarters);
    assert_eq!(labels(&fixtures.join("dict.pt"), &options).expect("read"), [3, 0, 2]);
    let found = rows(&fixtures.join("tensor.pt"), &options).expect("read");
    assert_eq!(found, [[0.5, -1.0, 2.0], [3.0, 4.25, -6.0]]);
    let found = rows(&fixtures.join("transposed.pt"), &options).expect("read");
    assert_eq!(found, [[0.5, 3.5], [1.5, 4.5], [2.5, 5.5]]);
    let error = rows(&fixtures.join("calls-os-system.pt"), &options).unwrap_err();
    assert!(error.to_string().contains("nothing was run"), "{error}");
}
