//! Scoring allocates memory for pieces of the rows, not for each row.

#![allow(unsafe_code, reason = "the functions of C, and an allocator that counts")]

use abstain::half::f16;
use abstain::{Artifact, Encoding};
use abstain_c::ffi::{abstain_free, abstain_load_memory, abstain_score_f16, abstain_score_f32};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{null, null_mut};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations of one call for rows of logits, in single or in half precision.
fn allocations(
    artifact: &Artifact,
    rows: usize,
    classes: usize,
    stride: usize,
    half: bool,
) -> usize {
    let json = serde_json::to_vec(artifact).expect("serialises");
    let single: Vec<f32> = (0..rows * stride).map(|k| (k * 37 % 101) as f32).collect();
    let bits: Vec<u16> = single.iter().map(|&x| f16::from_f32(x).to_bits()).collect();
    let mut confidences = vec![0.0; rows];
    // SAFETY: all arrays are as long as the sizes say.
    unsafe {
        let estimator = abstain_load_memory(json.as_ptr().cast(), json.len(), null_mut());
        assert!(!estimator.is_null());
        let before = COUNT.get();
        macro_rules! score {
            ($score:ident, $numbers:expr) => {
                $score(
                    estimator,
                    $numbers.as_ptr(),
                    rows,
                    classes,
                    stride,
                    null(),
                    null_mut(),
                    confidences.as_mut_ptr(),
                    null_mut(),
                    null_mut(),
                    null_mut(),
                )
            };
        }
        let code =
            if half { score!(abstain_score_f16, bits) } else { score!(abstain_score_f32, single) };
        let count = COUNT.get() - before;
        assert_eq!(code, 0);
        abstain_free(estimator);
        count
    }
}

#[test]
fn no_row_costs_an_allocation() {
    let estimators =
        ["MSP", "MaxLogit-pNorm(p=5)", "Energy-pNorm(p=2.5)", "NegativeGini", "HTS(b=1, w=0.5)"];
    let (few, many) = (64, 640);
    for (text, half) in estimators.into_iter().flat_map(|text| [(text, false), (text, true)]) {
        for input in [Encoding::Logits, Encoding::Masked] {
            let mut artifact = Artifact::new(text.parse().expect("an estimator"));
            artifact.input = input;
            for (classes, stride) in [(10, 10), (10, 12), (1000, 1000)] {
                let count = |rows| allocations(&artifact, rows, classes, stride, half);
                let per_row = (count(many) - count(few)) as f64 / (many - few) as f64;
                assert!(per_row < 0.25, "{text}, {input}, {classes} classes: {per_row}");
            }
        }
    }
}
