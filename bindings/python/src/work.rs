//! Work that lets other threads of Python run, and that Ctrl-C ends.

use crate::errors::Failure;
use abstain::{Error, stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often Python is asked whether a signal has come, and told of progress.
const PAUSE: Duration = Duration::from_millis(50);

/// A function of Python's that is told how far the work has come.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    last: Cell<Option<Instant>>,
    /// What it raised, or the signal that came.
    raised: Rc<RefCell<Option<PyErr>>>,
}

impl Progress {
    /// Says how much is done, not too often.
    pub(crate) fn at(&self, done: usize, all: usize, what: &str) {
        let Some(callback) = &self.callback else { return };
        if done < all && self.last.get().is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.last.set(Some(Instant::now()));
        let called = Python::attach(|py| callback.call1(py, (done, all, what)).map(drop));
        if let Err(error) = called {
            self.raised.borrow_mut().get_or_insert(error);
        }
    }
}

/// Does some work without holding the interpreter. A signal whose handler raises, as that of Ctrl-C
/// does, stops it; so does a `callback` that raises.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&Progress) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    py.detach(|| {
        on_threads_of_this_process(move || {
            let raised = Rc::new(RefCell::new(None));
            let progress = Progress { callback, last: Cell::new(None), raised: Rc::clone(&raised) };
            let (asked, own) = (Cell::new(Instant::now()), Rc::clone(&raised));
            let wanted = move || {
                if asked.get().elapsed() >= PAUSE {
                    asked.set(Instant::now());
                    #[expect(
                        clippy::redundant_closure_for_method_calls,
                        reason = "of any lifetime"
                    )]
                    let come = Python::attach(|py| py.check_signals());
                    if let Err(error) = come {
                        own.borrow_mut().get_or_insert(error);
                    }
                }
                own.borrow().is_none()
            };
            let result = stop::while_wanted(wanted, || work(&progress));
            match (raised.take(), result) {
                (Some(error), _) => Err(error),
                (None, result) => Ok(result?),
            }
        })
    })
}

/// The process that loaded the extension.
static HOME: OnceLock<u32> = OnceLock::new();

/// Remembers this process; called once, when the extension is loaded.
pub(crate) fn remember_process() {
    HOME.get_or_init(std::process::id);
}

/// The pool of a process that was forked off, and its number.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does some work where its parallel parts find threads. Those of the usual pool do not survive a fork,
/// as multiprocessing makes one on Linux, and would be waited for for ever: the child has a pool of its
/// own. (There, signals are seen to when the work is done.)
fn on_threads_of_this_process<T: Send>(work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    let process = std::process::id();
    if HOME.get() == Some(&process) {
        return work();
    }
    let pool = {
        let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*forked {
            Some((own, pool)) if *own == process => Arc::clone(pool),
            _ => {
                let built = ThreadPoolBuilder::new().build();
                let pool =
                    Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
                // A parent's pool is left alone: there is nobody to end it.
                std::mem::forget(forked.replace((process, Arc::clone(&pool))));
                pool
            }
        }
    };
    pool.install(work)
}

/// Goes over rows in pieces of some megabytes, for as long as the work is wanted.
pub(crate) fn pieces(
    rows: usize,
    classes: usize,
    mut each: impl FnMut(std::ops::Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    let at_once = ((1 << 20) / classes).max(64);
    for first in (0..rows).step_by(at_once) {
        stop::check()?;
        each(first..(first + at_once).min(rows))?;
    }
    Ok(())
}

/// Does some work on a thread of its own beside other work, and gives it up if that fails.
pub(crate) fn beside<T: Send, U>(
    side: impl FnOnce() -> Result<T, Error> + Send,
    main: impl FnOnce() -> Result<U, Failure>,
) -> Result<(T, U), Failure> {
    let wanted = Arc::new(AtomicBool::new(true));
    let still = Arc::clone(&wanted);
    std::thread::scope(|scope| {
        let side =
            scope.spawn(move || stop::while_wanted(move || still.load(Ordering::Relaxed), side));
        let main = main();
        wanted.store(main.is_ok(), Ordering::Relaxed);
        match side.join() {
            Ok(side) => {
                let main = main?;
                Ok((side?, main))
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
