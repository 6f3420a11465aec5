//! One step by several threads: each makes the blocks of some neighbouring entries.
//!
//! ```text
//!   entries with new rows    a b . c . . d e | f . g h i . | j k l     up to so many each
//!   threads                  this one        | another   | another
//!   step                     one batch of the store, one new directory, one place that the merge has come to
//! ```
//! # Laws
//! 1. The rows after a step do not depend on the number of threads.
//! 2. An entry belongs to one part: a block that is too small takes none in from the next part.

use std::ops::Range;
use std::thread::Builder;

use saltwing_access::TableError;

use crate::engine::compaction::plan::CompactionReason;
use crate::engine::compaction::state::{Compaction, STEP_ENTRIES};

impl<'a> Compaction<'a> {
    /// Ranges of entries from `first` on for the threads of one step; at most one where one thread is to do it.
    pub(super) fn parts(&self, first: usize, reason: CompactionReason) -> Vec<Range<usize>> {
        let options = &self.packed.options;
        // Whole tables are cut by one: small blocks at the ends of parts would stay.
        if options.merge_threads <= 1 || matches!(reason, CompactionReason::Undersized(_)) {
            return Vec::new();
        }
        // In a table with runs, a step rewrites few entries, and a run should have rows of many.
        let entries = options.step_blocks * if self.has_runs { STEP_ENTRIES / 2 } else { 1 };
        let (planner, mut parts) = (self.planner(reason), Vec::with_capacity(options.merge_threads));
        let mut next = Some(first);
        while let Some(start) = next
            && parts.len() < options.merge_threads
        {
            for _ in 0..entries {
                let Some(index) = next else { break };
                next = planner.next_work(index + 1);
            }
            // With those between, for small blocks to take in.
            parts.push(start..next.unwrap_or(self.rows.directory.len()));
        }
        parts
    }

    /// Rewrites the entries of some parts, each by a thread; returns the next entry after them that has work.
    pub(super) fn rewrite_parts(
        &mut self,
        parts: &[Range<usize>],
        reason: CompactionReason,
    ) -> Result<Option<usize>, TableError> {
        let Some((own, others)) = parts.split_first() else { return Ok(None) };
        std::thread::scope(|scope| {
            let start = |part: &Range<usize>| {
                let (mut rewrite, part) = (self.another(), part.clone());
                let work = move || rewrite.rewrite_range(part.start, Some(part.end), reason).map(|_| rewrite);
                Builder::new().name("saltwing-merge".into()).spawn_scoped(scope, work)
            };
            let started: Vec<_> = others.iter().map(start).collect();
            let mut next = self.rewrite_range(own.start, Some(own.end), reason)?;
            for (part, thread) in others.iter().zip(started) {
                match thread {
                    Ok(thread) => {
                        let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                        self.take_over(done);
                        next = self.planner(reason).next_work(part.end);
                    }
                    // There is no other thread to be had.
                    Err(_) => next = self.rewrite_range(part.start, Some(part.end), reason)?,
                }
            }
            Ok(next)
        })
    }

    /// The start state of another thread.
    fn another(&self) -> Self {
        Self::new(self.packed, self.numbers, self.table.clone(), self.rows.clone(), self.limit_ms)
    }

    /// Takes over the results of another thread, whose entries come after those made so far.
    fn take_over(&mut self, mut other: Self) {
        self.edits.append(&mut other.edits);
        other.batch.into_mutations().into_iter().for_each(|mutation| self.batch.push(mutation));
        other.overflow.into_mutations().into_iter().for_each(|put| self.overflow.push(put));
        self.replaced.append(&mut other.replaced);
        self.runs.append(&mut other.runs);
        for (id, (run, entries)) in other.left_runs {
            self.left_runs.entry(id).or_insert_with(|| (run, 0)).1 += entries;
        }
        self.uncommitted.ids.append(&mut other.uncommitted.ids);
        self.named.extend(other.named);
        self.blocks += other.blocks;
        self.appended += other.appended;
        self.folded += other.folded;
        self.run_rows += other.run_rows;
        self.made.0 += other.made.0;
        self.made.1 += other.made.1;
        self.expired += other.expired;
    }
}
