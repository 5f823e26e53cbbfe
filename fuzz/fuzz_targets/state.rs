//! States of monitors: what is read goes on without a panic, and is read again after it was written.

#![no_main]

use abstain::monitor::{Feedback, Record};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(mut state) = abstain_lab::state_from_json(text) {
        let written = abstain_lab::state_to_json(&state).expect("a state as JSON");
        let again = abstain_lab::state_from_json(&written).expect("a state that was written");
        assert_eq!(again, state, "{written}");
        for row in 0..50_u32 {
            let confidence = f64::from(row) / 10.0;
            let record = Record { prediction: Some(row % 12), ..Record::new(confidence) };
            state.monitor.record(&record);
            let _ = state.monitor.label(&Feedback::new(row.into(), confidence, 0.5));
        }
        let _ = state.monitor.merge(&again.monitor);
        let _ = state.monitor.report();
    }
});
