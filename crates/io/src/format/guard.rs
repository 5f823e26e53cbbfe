//! Calls of crates that panic on some broken files: the panic becomes an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use std::cell::Cell;

thread_local! {
    /// Whether this thread is inside a call whose panics become errors.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics that become errors from being printed as well; all others are printed as before. For
/// programs: the hook belongs to the process.
pub fn quiet_guarded_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !GUARDED.get() {
            print(panic);
        }
    }));
}

/// Calls another crate; if it panics, the error is what it says. Nothing but such calls is wrapped, and
/// what they were reading must not be used after an error.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    GUARDED.set(true);
    let called = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(false);
    called.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("broken").to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guarded(|| 3), Ok(3));
        let index = std::hint::black_box(7);
        assert_eq!(guarded(|| panic!("at {index}")), Err::<(), _>("at 7".to_string()));
        assert!(!GUARDED.get());
    }
}
