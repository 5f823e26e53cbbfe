//! Stopping a long computation from outside.
//!
//! A search, a bootstrap or a fit checks between two pieces of its work whether it is still wanted. Who
//! runs it says so for the thread it is called from, so that no signature between has to carry it.

use crate::error::Error;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static WANTED: RefCell<Vec<Rc<dyn Fn() -> bool>>> = const { RefCell::new(Vec::new()) };
}

/// Does some work on this thread for as long as it is wanted: once `wanted` says no, whatever of this
/// crate is under way ends soon with [`Error::Stopped`]. Nested work checks both.
///
/// ```
/// use abstain::{Bootstrap, Error, Losses, Metric, stop};
///
/// let (confidences, losses) = ([0.9, 0.8, 0.4], Losses::new(vec![0.0, 1.0, 0.0])?);
/// let intervals = || Bootstrap::default().intervals(&[Metric::AURC], &confidences, &losses);
/// assert_eq!(stop::while_wanted(|| false, intervals), Err(Error::Stopped));
/// assert!(stop::while_wanted(|| true, intervals).is_ok());
/// # Ok::<(), Error>(())
/// ```
pub fn while_wanted<T>(wanted: impl Fn() -> bool + 'static, work: impl FnOnce() -> T) -> T {
    /// Forgets the question also where the work panics.
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            WANTED.with_borrow_mut(Vec::pop);
        }
    }
    WANTED.with_borrow_mut(|all| all.push(Rc::new(wanted)));
    let _guard = Guard;
    work()
}

/// [`Error::Stopped`] if the work of this thread is no longer wanted.
pub fn check() -> Result<(), Error> {
    // Not borrowed while asking: the answer may itself begin and end some work.
    let all = WANTED.with_borrow(Clone::clone);
    if all.iter().all(|wanted| wanted()) { Ok(()) } else { Err(Error::Stopped) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_work_within_is_stopped() {
        assert_eq!(check(), Ok(()));
        while_wanted(|| true, || assert_eq!(check(), Ok(())));
        let inner = while_wanted(|| false, || while_wanted(|| true, check));
        assert_eq!(inner, Err(Error::Stopped));
        let panics = std::panic::catch_unwind(|| while_wanted(|| false, || panic!("on purpose")));
        assert!(panics.is_err());
        assert_eq!(check(), Ok(()));
    }
}
