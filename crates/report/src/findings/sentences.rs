//! Sentences for typed facts of the use cases.
//!
//! Layers below report facts as types; this is where each becomes a sentence, without a full stop
//! so that a face can continue it.

use abstain_lab::{EvaluateResult, Seen};

/// What a reader must know of the rows of an evaluation.
pub fn evaluation_notes(result: &EvaluateResult) -> Vec<String> {
    let seen = result.seen.map(|seen| match seen {
        Seen::Tuned => "the estimator was tuned on some of these rows".to_string(),
        _ => "the estimator was compared with MSP on these rows when it was tuned".to_string(),
    });
    let method = result.estimator.as_ref().map(|estimator| estimator.method().to_string());
    let problem =
        result.problem.as_ref().zip(method).map(|(problem, method)| format!("{method} {problem}"));
    seen.into_iter().chain(problem).collect()
}
