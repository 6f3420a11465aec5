//! Failures of background tasks. No caller waits for these, so they are logged, and kept for SHOW STORAGE.

use std::error::Error;

use parking_lot::Mutex;
use saltwing_types::with_causes;

/// Work in the background that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundFailure {
    /// The task: `merge`, `sweep`.
    pub task: &'static str,
    /// When it failed last, in milliseconds since 1970.
    pub at_ms: i64,
    /// How often it failed so, without another failure between.
    pub times: u64,
    /// The error with its causes.
    pub error: String,
}

/// The last failure of a store.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Option<BackgroundFailure>>);

impl Failures {
    /// Logs a failure and keeps it.
    pub(crate) fn note(&self, task: &'static str, at_ms: i64, error: &dyn Error) {
        let error = with_causes(error);
        let mut last = self.0.lock();
        match &mut *last {
            // It may fail at each try for hours: one line tells that.
            Some(known) if known.task == task && known.error == error => {
                known.times += 1;
                known.at_ms = at_ms;
                tracing::debug!(task, error, times = known.times, "background work failed again");
            }
            _ => {
                tracing::error!(task, error, "background work failed");
                *last = Some(BackgroundFailure { task, at_ms, times: 1, error });
            }
        }
    }

    pub(crate) fn last(&self) -> Option<BackgroundFailure> {
        self.0.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltwing_access::TableError;

    #[test]
    fn a_failure_is_kept_and_counted_while_it_is_the_same() {
        let failures = Failures::default();
        assert_eq!(failures.last(), None);
        for at_ms in 1..4 {
            failures.note("merge", at_ms, &TableError::CorruptLayout("a directory"));
        }
        let error = "the stored tables are damaged: a directory cannot be read".to_owned();
        assert_eq!(
            failures.last(),
            Some(BackgroundFailure { task: "merge", at_ms: 3, times: 3, error: error.clone() })
        );
        failures.note("sweep", 4, &TableError::CorruptLayout("a directory"));
        assert_eq!(failures.last(), Some(BackgroundFailure { task: "sweep", at_ms: 4, times: 1, error }));
    }
}
