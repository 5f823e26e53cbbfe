//! Exported graphs run in a second runtime, and decide as the library does.

#![cfg(feature = "images")]

use abstain::{Artifact, Encoding, Estimator, Logits, Method, Threshold};
use abstain_models::onnx::{ExportRequest, export};
use rten::Value;

/// Parameters by name, and the same for every method.
fn parameters(method: Method, p: f64) -> Vec<(&'static str, f64)> {
    let value = |name: &str| match name {
        "p" => p,
        "tau" => 0.3,
        "gamma" => 0.7,
        "N" | "M" => 3.0,
        "b" => 0.5,
        "w" | "a" => 0.4,
        _ => 1.5,
    };
    method.parameters().iter().map(|&name| (name, value(name))).collect()
}

/// Rows of different scales, with ties, a constant row and one that saturates.
fn rows(classes: usize) -> Vec<f32> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 1e7
    };
    let mut rows: Vec<f32> = (0..60 * classes).map(|_| next() * 8.0 - 6.0).collect();
    rows[..classes].fill(1.25);
    rows[classes] = 20.0;
    rows[classes + 2] = 20.0;
    rows[2 * classes + 1] = 200.0;
    rows
}

#[test]
fn every_method_agrees_with_the_library() {
    let classes = 6;
    let rows = rows(classes);
    let logits = Logits::new(&rows, classes).expect("valid");
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("graph.onnx");
    let mut largest: f64 = 0.0;
    let methods = Method::all().filter(|method| !method.is_stack());
    for (method, p) in methods.flat_map(|method| [1.0, 2.5, 4.0].map(|p| (method, p))) {
        let estimator = Estimator::new(method, &parameters(method, p)).expect("valid");
        let mut artifact = Artifact::new(estimator);
        artifact.rule = Some(Threshold::given(0.7).into());
        let request = ExportRequest { output: output.clone(), ..ExportRequest::default() };
        export(&artifact, &request).expect("exported");
        let model = rten::Model::load_file(&output).expect("a model of rten's operators");
        let input = Value::from_shape([60, classes], rows.clone()).expect("a matrix");
        let names = ["prediction", "confidence", "accept"];
        let outputs = names.map(|name| model.node_id(name).expect("an output"));
        let found = model.run_n(vec![(model.input_ids()[0], input.into())], outputs, None);
        let [prediction, confidence, accept] = found.expect("it runs");
        let ([60], prediction) = prediction.into_shape_vec::<i32, 1>().expect("classes") else {
            panic!("another number of rows")
        };
        let (_, confidence) = confidence.into_shape_vec::<f32, 1>().expect("numbers");
        let (_, accept) = accept.into_shape_vec::<i32, 1>().expect("truth values");
        for (row, answer) in artifact.answers(&logits).expect("valid").iter().enumerate() {
            let (found, wanted) = (f64::from(confidence[row]), answer.confidence);
            assert_eq!(prediction[row].cast_unsigned(), answer.prediction, "{method}, row {row}");
            let apart = (found - wanted).abs() / wanted.abs().max(1.0);
            assert!(found == wanted || apart < 1e-5, "{method}, {row}: {found} is not {wanted}");
            if found != wanted {
                largest = largest.max(apart);
            }
            if (wanted - 0.7).abs() > 1e-5 {
                assert_eq!(Some(accept[row] != 0), answer.accept, "{method}, row {row}");
            }
        }
    }
    println!("largest difference {largest:.1e}");
}

#[test]
fn every_encoding_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("graph.onnx");
    let (floor, tolerance) = (Some(1e-6), None);
    let encodings: [(Encoding, usize, Vec<f32>); 4] = [
        (
            Encoding::Masked,
            3,
            vec![1.0, f32::NEG_INFINITY, 3.0, f32::NEG_INFINITY, 2.0, f32::NEG_INFINITY],
        ),
        (Encoding::Probabilities { floor, tolerance }, 3, vec![0.2, 0.5, 0.3, 1.0, 0.0, 0.0]),
        (Encoding::BinaryProbability { floor, tolerance }, 1, vec![0.2, 0.5]),
        (Encoding::BinaryLogit, 1, vec![-3.0, 0.0]),
    ];
    for (encoding, numbers, rows) in encodings {
        for text in ["MSP", "MaxLogit-pNorm(p=3)", "LogitGap(N=2)", "CMD(T=1)"] {
            let mut artifact = Artifact::new(text.parse().expect("an estimator"));
            artifact.input = encoding;
            let request = ExportRequest { output: output.clone(), ..ExportRequest::default() };
            export(&artifact, &request).expect("exported");
            let model = rten::Model::load_file(&output).expect("a model");
            let input = Value::from_shape([2, numbers], rows.clone()).expect("a matrix");
            let outputs = [model.node_id("confidence").expect("an output")];
            let found = model.run_n(vec![(model.input_ids()[0], input.into())], outputs, None);
            let [confidence] = found.expect("it runs");
            let (_, confidence) = confidence.into_shape_vec::<f32, 1>().expect("numbers");
            let logits = encoding.logits(&rows, numbers).expect("valid");
            for (found, answer) in confidence.iter().zip(artifact.answers(&logits).expect("valid"))
            {
                let (found, wanted) = (f64::from(*found), answer.confidence);
                assert!(
                    found == wanted || (found - wanted).abs() < 1e-5,
                    "{encoding}, {text}: {found} is not {wanted}"
                );
            }
        }
    }
}
