//! The functions of `abstain.h`, whose callers uphold what it says. Pointers become references here,
//! or errors; everything else is safe code.

#![allow(unsafe_code, reason = "functions that C calls")]
#![warn(clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_safety_doc, reason = "abstain.h says what callers must uphold")]

use crate::estimator::{Estimator, Matrix, Output, Outputs};
use crate::failure::{Code, Failure, Place};
use abstain::half::{bf16, f16};
use abstain::logits::Values;
use std::any::Any;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;

/// `ABSTAIN_ABI_VERSION`, as a text.
const ABI_VERSION: &str = env!("ABSTAIN_ABI_VERSION");

/// `ABSTAIN_MESSAGE_SIZE`.
const MESSAGE_SIZE: usize = 992;

/// `abstain_error`.
#[derive(Debug)]
#[repr(C)]
pub struct AbstainError {
    code: i32,
    row: i64,
    column: i64,
    value: f64,
    message: [u8; MESSAGE_SIZE],
}

/// The arrays that scores are written to.
#[derive(Clone, Copy)]
struct Scores {
    predictions: *mut i64,
    confidences: *mut f64,
    values: *mut f64,
    accepts: *mut u8,
}

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn abstain_abi_version() -> u32 {
    ABI_VERSION.parse().unwrap_or(0)
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn abstain_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Reads an artifact from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_load(
    path: *const c_char,
    error: *mut AbstainError,
) -> *mut Estimator {
    let load = || {
        // SAFETY: the caller passes a text that ends with a zero byte, or NULL.
        let path = unsafe { text("path", path) }?;
        Estimator::read(&path_of(path)?)
    };
    // SAFETY: the caller passes a valid pointer, or NULL.
    unsafe { estimator_of(error, load) }
}

/// Reads an artifact from JSON in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_load_memory(
    json: *const c_char,
    size: usize,
    error: *mut AbstainError,
) -> *mut Estimator {
    // SAFETY: the caller passes that many bytes, or NULL.
    let load = || Estimator::parse(unsafe { array("json", json.cast(), size) }?);
    // SAFETY: the caller passes a valid pointer, or NULL.
    unsafe { estimator_of(error, load) }
}

/// Frees an estimator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_free(estimator: *mut Estimator) {
    if !estimator.is_null() {
        // SAFETY: the caller passes what abstain_load returned, once.
        drop(unsafe { Box::from_raw(estimator) });
    }
}

/// The number of classes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_classes(estimator: *const Estimator) -> usize {
    // SAFETY: the caller passes an estimator, or NULL.
    unsafe { estimator.as_ref() }.and_then(Estimator::classes).unwrap_or(0)
}

/// How many numbers a row must have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_columns(estimator: *const Estimator) -> usize {
    // SAFETY: the caller passes an estimator, or NULL.
    unsafe { estimator.as_ref() }.and_then(Estimator::columns).unwrap_or(0)
}

/// What the numbers of a row are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_input(estimator: *const Estimator) -> *const c_char {
    // SAFETY: the caller passes an estimator, or NULL.
    c_pointer(unsafe { estimator.as_ref() }.map(Estimator::input))
}

/// The estimator by name and parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_name(estimator: *const Estimator) -> *const c_char {
    // SAFETY: the caller passes an estimator, or NULL.
    c_pointer(unsafe { estimator.as_ref() }.map(Estimator::name))
}

/// The name of the classifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_model_name(estimator: *const Estimator) -> *const c_char {
    // SAFETY: the caller passes an estimator, or NULL.
    c_pointer(unsafe { estimator.as_ref() }.and_then(Estimator::model_name))
}

/// The version of the classifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_model_version(estimator: *const Estimator) -> *const c_char {
    // SAFETY: the caller passes an estimator, or NULL.
    c_pointer(unsafe { estimator.as_ref() }.and_then(Estimator::model_version))
}

/// The name of a class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_class_name(
    estimator: *const Estimator,
    index: usize,
) -> *const c_char {
    // SAFETY: the caller passes an estimator, or NULL.
    c_pointer(unsafe { estimator.as_ref() }.and_then(|estimator| estimator.class_name(index)))
}

/// Whether there is a threshold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_has_threshold(estimator: *const Estimator) -> c_int {
    // SAFETY: the caller passes an estimator, or NULL.
    unsafe { estimator.as_ref() }.and_then(Estimator::threshold).is_some().into()
}

/// The threshold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_threshold(estimator: *const Estimator) -> f64 {
    // SAFETY: the caller passes an estimator, or NULL.
    unsafe { estimator.as_ref() }.and_then(Estimator::threshold).unwrap_or(f64::NAN)
}

/// Whether each row needs a further number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_needs_extra(estimator: *const Estimator) -> c_int {
    // SAFETY: the caller passes an estimator, or NULL.
    unsafe { estimator.as_ref() }.is_some_and(Estimator::needs_extra).into()
}

/// Whether values are probabilities of being right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_values_are_probabilities(estimator: *const Estimator) -> c_int {
    // SAFETY: the caller passes an estimator, or NULL.
    unsafe { estimator.as_ref() }.is_some_and(Estimator::values_are_probabilities).into()
}

/// Checks that the artifact is for a classifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abstain_check_model(
    estimator: *const Estimator,
    model: *const c_char,
    error: *mut AbstainError,
) -> i32 {
    let check = || {
        // SAFETY: the caller passes an estimator, or NULL.
        let estimator = unsafe { estimator.as_ref() }.ok_or_else(|| null("estimator"))?;
        // SAFETY: the caller passes a text that ends with a zero byte, or NULL.
        let model = unsafe { text("model", model) }?;
        estimator.check_model(&model.to_string_lossy())
    };
    // SAFETY: the caller passes a valid pointer, or NULL.
    unsafe { guarded(error, check) }.err().unwrap_or(Code::Ok) as i32
}

/// A function that scores rows of one type of numbers, which C has as another type of the same size.
macro_rules! score {
    ($name:ident, $c:ty, $number:ty) => {
        /// Scores rows.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            estimator: *const Estimator,
            rows: *const $c,
            n_rows: usize,
            n_columns: usize,
            row_stride: usize,
            extra: *const f64,
            predictions: *mut i64,
            confidences: *mut f64,
            values: *mut f64,
            accepts: *mut u8,
            error: *mut AbstainError,
        ) -> i32 {
            let rows: *const $number = rows.cast();
            let shape = Shape { rows: n_rows, columns: n_columns, stride: row_stride };
            let scores = Scores { predictions, confidences, values, accepts };
            // SAFETY: the caller passes pointers as abstain.h says.
            let score = || unsafe { score(estimator, rows, shape, extra, scores) };
            // SAFETY: the caller passes a valid pointer, or NULL.
            unsafe { guarded(error, score) }.err().unwrap_or(Code::Ok) as i32
        }
    };
}
score!(abstain_score_f32, f32, f32);
score!(abstain_score_f64, f64, f64);
score!(abstain_score_f16, u16, f16);
score!(abstain_score_bf16, u16, bf16);

/// The sizes of a matrix as they are given.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    stride: usize,
}

impl Shape {
    /// The stride, and the numbers from the first of the first row to the last of the last.
    fn span(self) -> Result<(usize, usize), Failure> {
        let Shape { rows, columns, stride } = self;
        let stride = if stride == 0 { columns } else { stride };
        if stride < columns {
            let problem = format!("row_stride is {stride}, less than the {columns} columns");
            return Err(Failure::argument(problem));
        }
        let Some(others) = rows.checked_sub(1) else { return Ok((stride, 0)) };
        let span = others.checked_mul(stride).and_then(|numbers| numbers.checked_add(columns));
        let span = span.ok_or_else(|| {
            Failure::argument(format!("{rows} rows of stride {stride} exceed the address space"))
        })?;
        Ok((stride, span))
    }
}

/// Scores rows that are given by pointers.
///
/// # Safety
///
/// Each pointer is NULL or points to as much memory as `abstain.h` says, which no other thread changes
/// during the call.
unsafe fn score<T: Copy>(
    estimator: *const Estimator,
    rows: *const T,
    shape: Shape,
    extra: *const f64,
    scores: Scores,
) -> Result<(), Failure>
where
    for<'v> Values<'v>: From<&'v [T]>,
{
    // SAFETY: the caller passes an estimator, or NULL.
    let estimator = unsafe { estimator.as_ref() }.ok_or_else(|| null("estimator"))?;
    let (stride, span) = shape.span()?;
    let n = shape.rows;
    check_overlap(
        [Bytes::of_optional("rows", rows, span)?, Bytes::of_optional("extra", extra, n)?],
        [
            Bytes::of_optional("predictions", scores.predictions, n)?,
            Bytes::of_optional("confidences", scores.confidences, n)?,
            Bytes::of_optional("values", scores.values, n)?,
            Bytes::of_optional("accepts", scores.accepts, n)?,
        ],
    )?;
    // SAFETY: the caller passes so many numbers, or NULL; nothing that is written overlaps them.
    let values = unsafe { array("rows", rows, span) }?;
    let extra = if extra.is_null() {
        None
    } else {
        // SAFETY: as above.
        Some(unsafe { array("extra", extra, n) }?)
    };
    // SAFETY: the caller passes an array of that length, or NULL; none of them overlap.
    let mut outputs = unsafe {
        Outputs {
            predictions: output("predictions", scores.predictions, n)?,
            confidences: output("confidences", scores.confidences, n)?,
            values: output("values", scores.values, n)?,
            accepts: output("accepts", scores.accepts, n)?,
        }
    };
    let matrix = Matrix { values, rows: n, columns: shape.columns, stride };
    estimator.score(&matrix, extra, &mut outputs)
}

/// The bytes of an array, by their addresses.
#[derive(Clone, Copy)]
struct Bytes {
    /// What the array is called.
    name: &'static str,
    start: usize,
    end: usize,
}

impl Bytes {
    /// Refuses an array that is NULL, misaligned, or larger than any memory.
    fn of<T>(name: &'static str, pointer: *const T, length: usize) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Err(null(name));
        }
        if !pointer.is_aligned() {
            let bytes = align_of::<T>();
            let problem = format!("{name} is not aligned to {bytes} bytes: copy the array");
            return Err(Failure::argument(problem));
        }
        let start = pointer.addr();
        let bytes = length.checked_mul(size_of::<T>()).filter(|&n| isize::try_from(n).is_ok());
        let end = bytes.and_then(|bytes| start.checked_add(bytes)).ok_or_else(|| {
            Failure::argument(format!("{name} of {length} elements exceeds the address space"))
        })?;
        Ok(Bytes { name, start, end })
    }

    /// The same of an array that may be NULL.
    fn of_optional<T>(
        name: &'static str,
        pointer: *const T,
        length: usize,
    ) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Ok(Bytes { name, start: 0, end: 0 });
        }
        Self::of(name, pointer, length)
    }

    fn overlap(self, other: Bytes) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }
}

/// Refuses arrays to write that overlap each other or those to read, and none at all.
fn check_overlap(inputs: [Bytes; 2], outputs: [Bytes; 4]) -> Result<(), Failure> {
    if outputs.iter().all(|bytes| bytes.start == 0) {
        let problem = "predictions, confidences, values and accepts are all NULL: nothing to write";
        return Err(Failure::argument(problem));
    }
    for (k, bytes) in outputs.iter().enumerate() {
        let mut others = inputs.iter().chain(&outputs[..k]);
        if let Some(other) = others.find(|other| bytes.overlap(**other)) {
            let problem = format!("{} overlaps {} in memory", bytes.name, other.name);
            return Err(Failure::argument(problem));
        }
    }
    Ok(())
}

fn null(name: &str) -> Failure {
    Failure::argument(format!("{name} is NULL"))
}

/// An array to read; that of no elements may be NULL.
///
/// # Safety
///
/// The pointer is NULL, or its array has that length and does not change while the result is used.
unsafe fn array<'a, T>(
    name: &'static str,
    pointer: *const T,
    length: usize,
) -> Result<&'a [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    Bytes::of(name, pointer, length)?;
    // SAFETY: it is not NULL, aligned, and not too long; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// An array to write to, if there is one.
///
/// # Safety
///
/// The pointer is NULL, or its array has that length and nothing else uses it while the result is used.
unsafe fn output<'a, T>(
    name: &'static str,
    pointer: *mut T,
    length: usize,
) -> Result<Output<'a, T>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    Bytes::of(name, pointer, length)?;
    let pointer: *mut MaybeUninit<T> = pointer.cast();
    // SAFETY: it is not NULL, aligned, and not too long; the rest is the caller's promise.
    Ok(Some(unsafe { std::slice::from_raw_parts_mut(pointer, length) }))
}

/// A text.
///
/// # Safety
///
/// The pointer is NULL, or to a text that ends with a zero byte and does not change while the result is
/// used.
unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a CStr, Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: it is not NULL; the rest is the caller's promise.
    Ok(unsafe { CStr::from_ptr(pointer) })
}

fn c_pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(ptr::null(), CStr::as_ptr)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every text is a path")]
fn path_of(text: &CStr) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(text.to_bytes()).into())
}

#[cfg(not(unix))]
fn path_of(text: &CStr) -> Result<PathBuf, Failure> {
    text.to_str().map(PathBuf::from).map_err(|_| Failure::argument("path is not UTF-8"))
}

/// What loading returns: an estimator, or NULL.
///
/// # Safety
///
/// As [`guarded`].
unsafe fn estimator_of(
    error: *mut AbstainError,
    load: impl FnOnce() -> Result<Estimator, Failure>,
) -> *mut Estimator {
    // SAFETY: as promised by the caller.
    let loaded = unsafe { guarded(error, load) };
    loaded.map_or(ptr::null_mut(), |estimator| Box::into_raw(Box::new(estimator)))
}

/// Does the work of a call, and fills the error. A panic does not reach C: it is an error too.
///
/// # Safety
///
/// `error` is NULL or points to memory of its type, initialised or not.
unsafe fn guarded<T>(
    error: *mut AbstainError,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Code> {
    // Nothing that the work could leave half done is used again: an estimator does not change.
    let result = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Failure::Panic(message_of(&*panic))));
    // There is nowhere to report that this pointer itself is wrong.
    let error = if error.is_aligned() { error } else { ptr::null_mut() };
    match result {
        Ok(done) => {
            if !error.is_null() {
                // SAFETY: not NULL and aligned. The rest of the message stays as it is.
                unsafe {
                    (&raw mut (*error).code).write(Code::Ok as i32);
                    (&raw mut (*error).row).write(-1);
                    (&raw mut (*error).column).write(-1);
                    (&raw mut (*error).value).write(f64::NAN);
                    (&raw mut (*error).message).cast::<u8>().write(0);
                }
            }
            Ok(done)
        }
        Err(failure) => {
            if !error.is_null() {
                // SAFETY: not NULL and aligned.
                unsafe { error.write(AbstainError::of(&failure)) };
            }
            Err(failure.code())
        }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

impl AbstainError {
    fn of(failure: &Failure) -> Self {
        let index = |place: Option<usize>| place.and_then(|k| i64::try_from(k).ok()).unwrap_or(-1);
        let Place { row, column, value } = failure.place();
        // Paths and names may have line breaks and zero bytes.
        let text = failure.to_string().replace(|letter: char| letter.is_control(), " ");
        AbstainError {
            code: failure.code() as i32,
            row: index(row),
            column: index(column),
            value: value.unwrap_or(f64::NAN),
            message: shortened(&text),
        }
    }
}

/// A text with a zero byte at its end; the middle is left out if it is too long, because the file is
/// named at the beginning and the problem at the end.
fn shortened(text: &str) -> [u8; MESSAGE_SIZE] {
    const OMITTED: &str = " ... ";
    let most = MESSAGE_SIZE - 1;
    let mut message = [0; MESSAGE_SIZE];
    if text.len() <= most {
        message[..text.len()].copy_from_slice(text.as_bytes());
        return message;
    }
    let half = (most - OMITTED.len()) / 2;
    let head = &text[..text.floor_char_boundary(half)];
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    let short = [head, OMITTED, tail].concat();
    message[..short.len()].copy_from_slice(short.as_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(error: &AbstainError) -> &str {
        CStr::from_bytes_until_nul(&error.message).expect("ends").to_str().expect("UTF-8")
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let mut error = MaybeUninit::uninit();
        // SAFETY: the pointer is valid.
        let code = unsafe { guarded::<()>(error.as_mut_ptr(), || panic!("row {}", 7)) };
        assert_eq!(code, Err(Code::Internal));
        // SAFETY: it was filled.
        let error = unsafe { error.assume_init() };
        assert_eq!((error.code, error.row, error.column), (Code::Internal as i32, -1, -1));
        let text = "internal error: row 7; this is a bug in abstain: please report it";
        assert_eq!(message(&error), text);
    }

    #[test]
    fn long_messages_keep_both_ends() {
        let long = format!("{}: é{}", "/é".repeat(2000), "the problem");
        let short = shortened(&long);
        let text = CStr::from_bytes_until_nul(&short).expect("ends").to_str().expect("UTF-8");
        assert!(text.starts_with("/é/é") && text.ends_with("éthe problem"), "{text}");
        assert!(text.contains(" ... ") && text.len() > MESSAGE_SIZE - 10, "{}", text.len());
        let fits = "x".repeat(MESSAGE_SIZE - 1);
        let whole = shortened(&fits);
        assert_eq!(CStr::from_bytes_until_nul(&whole).expect("ends").to_bytes(), fits.as_bytes());
    }

    #[test]
    fn messages_are_one_line() {
        let error = AbstainError::of(&Failure::argument("a\nb\0c"));
        assert_eq!(message(&error), "a b c");
    }
}
