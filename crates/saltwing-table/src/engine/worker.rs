//! The thread that merges.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use saltwing_access::{StorageError, TableError};
use saltwing_store::{StoreError, WriteStall};

use crate::engine::merge::stalled;
use crate::engine::signal::{WAIT, Wake};
use crate::engine::storage_engine::StorageEngine;

/// The thread; it ends when this is dropped.
pub(crate) struct Worker {
    packed: Arc<StorageEngine>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start(packed: Arc<StorageEngine>) -> Result<Self, TableError> {
        packed.signal.start();
        let of_thread = packed.clone();
        let merge = move || {
            if catch_unwind(AssertUnwindSafe(|| of_thread.merge_for_ever())).is_err() {
                of_thread.stall_after_panic();
            }
        };
        let spawned = std::thread::Builder::new().name("saltwing-merge".into()).spawn(merge);
        let thread = spawned.map_err(|source| {
            packed.signal.stop();
            StorageError::from(StoreError::io("start the merging thread in", Path::new("this process"), source))
        })?;
        Ok(Self { packed, thread: Some(thread) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.packed.signal.stop();
        // The thread catches its own panics, so there is no error to report.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl StorageEngine {
    fn merge_for_ever(&self) {
        // First, the unfinished merge of the last process.
        let mut failed = self.has_failed("merge", self.run_pending(false));
        let mut rested_at = None;
        loop {
            let wake = self.signal.wait(self.options.idle);
            // After a failure the delta being full is no news: wait before the next try.
            if failed && matches!(wake, Wake::Full) && !self.signal.is_stopped() {
                std::thread::sleep(WAIT);
            }
            let rotate = match &wake {
                Wake::Stop => return,
                Wake::Full | Wake::Idle => true,
                Wake::Look => false,
            };
            // A failed merge is tried again later; reads and writes continue.
            failed = self.has_failed("merge", self.run_pending(rotate));
            if matches!(wake, Wake::Idle) && !failed {
                failed = self.has_failed("compaction", self.compact_idle(&mut rested_at));
            }
            if failed {
                self.signal.failed();
            }
            self.signal.merged();
        }
    }

    /// The thread has panicked, which only a fault in the program can cause. Its merge has finished whole steps. There are
    /// no merges until the store is opened again, and no writer waits for one.
    fn stall_after_panic(&self) {
        let cause = self.stalled.get_or_init(|| "the merging thread panicked".to_owned()).clone();
        self.note_failure("merge", &stalled(cause));
        self.signal.stop();
    }

    /// Whether work failed, which is noted: it is tried again, and nobody waits for its result.
    fn has_failed(&self, task: &'static str, done: Result<(), TableError>) -> bool {
        done.inspect_err(|error| self.note_failure(task, error)).is_err()
    }

    /// Folds runs, as long as no commit comes, once after each of them.
    fn compact_idle(&self, rested_at: &mut Option<u64>) -> Result<(), TableError> {
        let commits = self.signal.commits();
        if *rested_at == Some(commits) {
            return Ok(());
        }
        // The space of folded blocks is freed afterwards.
        self.refuse_when_nearly_full()?;
        let is_over = || self.signal.is_stopped() || self.signal.commits() != commits;
        self.fold_runs(is_over)?;
        self.kv.reclaim(self.stall_since(commits)).map_err(StorageError::from)?;
        *rested_at = (!is_over()).then_some(commits);
        Ok(())
    }

    /// Whether the store may make writers wait. It may not if rows were committed since there were `commits` commits: others
    /// probably follow.
    pub(super) fn stall_since(&self, commits: u64) -> WriteStall {
        if self.signal.commits() == commits { WriteStall::Allowed } else { WriteStall::Avoided }
    }

    /// Merges the frozen delta step by step, after freezing the active one on request.
    fn run_pending(&self, rotate: bool) -> Result<(), TableError> {
        let (mut rotate, mut has_merged, commits) = (rotate, false, self.signal.commits());
        while !self.signal.is_stopped() {
            let mut merge = self.merging.lock();
            if !merge.meta.frozen && std::mem::take(&mut rotate) {
                self.rotate(&mut merge)?;
                self.signal.merged();
            }
            if !merge.meta.frozen {
                let is_any_deleted = self.delete_obsolete(&mut merge)?;
                drop(merge);
                // Commits and other merges continue meanwhile.
                return if has_merged || is_any_deleted {
                    Ok(self.kv.reclaim(self.stall_since(commits)).map_err(StorageError::from)?)
                } else {
                    Ok(())
                };
            }
            // New blocks take space before the old ones are freed: the rest of the device is reserved for statements
            // that free space.
            self.refuse_when_nearly_full()?;
            self.step_or_finish(&mut merge)?;
            has_merged = true;
        }
        Ok(())
    }
}
