//! Models: what is inspected or exported must not panic, and what is written must be read again.

#![no_main]

use abstain::Artifact;
use abstain_models::onnx::{ExportRequest, export, inspect};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let model = abstain_fuzz::put("model.onnx", data);
    if inspect(&model).is_ok() {
        let artifact = Artifact::new("MaxLogit-pNorm(p=4)".parse().expect("an estimator"));
        let output = abstain_fuzz::folder().join("selective.onnx");
        let request = ExportRequest {
            model: Some(model),
            output: output.clone(),
            ..ExportRequest::default()
        };
        if export(&artifact, &request).is_ok() {
            let written = inspect(&output).expect("a model that was written");
            assert_eq!(written.selective.expect("an artifact").artifact, artifact);
        }
    }
});
