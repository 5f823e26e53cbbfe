//! States of monitors: what is read goes on without a panic, and is read again after it was written.

#![no_main]

use abstain::Artifact;
use abstain_lab::{
    ClassValue, Label, LabelRecord, Outcome, RowKey, ScoredRecord, state_from_json, state_to_json,
};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(mut state) = state_from_json(text) {
        let written = state_to_json(&state).expect("a state as JSON");
        let again = state_from_json(&written).expect("a state that was written");
        assert_eq!(again, state, "{written}");
        let artifact = Artifact::new(abstain::Estimator::MSP);
        let stream = &mut state.stream;
        for row in 0..50_u32 {
            let time = row.to_string();
            let label = Label { outcome: Outcome::Loss(0.5), propensity: None };
            let record = ScoredRecord {
                prediction: Some(ClassValue::Number(i64::from(row % 12))),
                time: Some(&time),
                label: Some(label.clone()).filter(|_| row % 2 == 0),
                ..ScoredRecord::new(f64::from(row) / 10.0)
            };
            let _ = stream.record(&artifact, &record);
            let label = LabelRecord { key: RowKey::Id(time.as_str().into()), label };
            let _ = stream.label(&artifact, &label, |_| abstain_lab::Lookup::Unknown);
        }
        let _ = stream.merge(&again.stream);
        let _ = stream.report();
    }
});
