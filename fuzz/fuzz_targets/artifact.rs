//! Artifacts: what is read must be written so that it is read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(artifact) = abstain_io::parse_artifact(text) {
        let written = serde_json::to_string(&artifact).expect("an artifact as JSON");
        let again = abstain_io::parse_artifact(&written).expect("an artifact that was written");
        assert_eq!(again, artifact, "{written}");
    }
});
