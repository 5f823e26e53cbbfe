use crate::ReadOptions;
use crate::format::npy::tests::{bytes, f32_bytes};
use crate::format::tests::{LABELS, ROWS, Sample, put, rows};
use half::bf16;

pub(super) fn samples() -> Vec<Sample> {
    let labels = LABELS.iter().flat_map(|&label| i32::from(label).to_le_bytes()).collect();
    let logits = ("logits", "F32", "[5,4]", f32_bytes());
    vec![Sample::both(safetensors(&[("labels", "I32", "[5]", labels), logits]))]
}

/// A safetensors file of named tensors: type, shape and bytes.
fn safetensors(tensors: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let mut header = format!("{{{}}}", entries.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

#[test]
fn bfloat16_is_read_and_found_by_its_usual_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = safetensors(&[
        ("embedding", "F32", "[5,4]", bytes(|_| [0; 4])),
        ("logits", "BF16", "[5,4]", bytes(|x| bf16::from_f64(x).to_le_bytes())),
    ]);
    let path = put(folder.path(), "bf16.safetensors", &file);
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
}

/// A file may hold more tensors than a process may open files.
#[test]
fn a_file_of_many_tensors_is_opened_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..3000).map(|i| format!("w{i}")).collect();
    let tensors: Vec<(&str, &str, &str, Vec<u8>)> =
        names.iter().map(|name| (&name[..], "F32", "[1]", vec![0; 4])).collect();
    let logits = ("logits", "F32", "[5,4]", f32_bytes());
    let all = [tensors, vec![logits]].concat();
    let path = put(folder.path(), "many.safetensors", &safetensors(&all));
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
}
