//! Names in text: what is read must be written so that it is read again.

#![no_main]

use abstain::{Encoding, Estimator, Fallback, Loss, Method, Metric, Objective};
use std::fmt::{Debug, Display};
use std::str::FromStr;

fn check<T: FromStr + Display + Debug + PartialEq>(text: &str) {
    if let Ok(parsed) = text.parse::<T>() {
        let written = parsed.to_string();
        assert_eq!(written.parse::<T>().ok(), Some(parsed), "{text:?} is written {written:?}");
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    check::<Encoding>(text);
    check::<Estimator>(text);
    check::<Loss>(text);
    check::<Method>(text);
    check::<Metric>(text);
    check::<Objective>(text);
    check::<Fallback>(text);
});
