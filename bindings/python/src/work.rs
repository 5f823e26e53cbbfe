//! Work that lets other threads of Python run, and that Ctrl-C ends.

use crate::errors::Failure;
use abstain::stop;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often signals are checked and progress is reported.
const PAUSE: Duration = Duration::from_millis(50);

/// A Python function that is called with the progress of the work.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    last: Cell<Option<Instant>>,
    /// What it raised, or what a signal handler raised.
    raised: Rc<RefCell<Option<PyErr>>>,
}

impl Progress {
    /// Reports how much is done, not too often.
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
            let (checked, first) = (Cell::new(Instant::now()), Rc::clone(&raised));
            let wanted = move || {
                if checked.get().elapsed() >= PAUSE {
                    checked.set(Instant::now());
                    #[expect(
                        clippy::redundant_closure_for_method_calls,
                        reason = "of any lifetime"
                    )]
                    let come = Python::attach(|py| py.check_signals());
                    if let Err(error) = come {
                        first.borrow_mut().get_or_insert(error);
                    }
                }
                first.borrow().is_none()
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

/// Does some work where its parallel parts find threads. Those of the global pool do not survive a
/// fork, as multiprocessing makes one on Linux, and waiting for them would never end: a child process
/// has a separate pool. (There, signals are handled when the work is done.)
fn on_threads_of_this_process<T: Send>(work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    let process = std::process::id();
    if HOME.get() == Some(&process) {
        return work();
    }
    let pool = {
        let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*forked {
            Some((owner, pool)) if *owner == process => Arc::clone(pool),
            _ => {
                let built = ThreadPoolBuilder::new().build();
                let pool =
                    Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
                // A parent's pool is never dropped here: its threads do not exist in this process.
                std::mem::forget(forked.replace((process, Arc::clone(&pool))));
                pool
            }
        }
    };
    pool.install(work)
}
