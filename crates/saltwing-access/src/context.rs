//! The counters of a running statement, and its cancellation.

use std::fmt;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use saltwing_types::interrupt::{self, Entered, Interrupt, Interrupted, Wakers};

use crate::memory::StatementMemory;
use crate::{Memory, TableError};

/// Limits of one statement; `None` is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// Most rows scanned.
    pub rows_max: Option<u64>,
    /// Most stored bytes scanned.
    pub bytes_max: Option<u64>,
    /// Most time.
    pub time_max: Option<Duration>,
}

impl Budget {
    /// The less of each limit.
    #[must_use]
    pub fn or_less(self, other: Self) -> Self {
        fn less<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Self {
            rows_max: less(self.rows_max, other.rows_max),
            bytes_max: less(self.bytes_max, other.bytes_max),
            time_max: less(self.time_max, other.time_max),
        }
    }
}

/// How many threads may work for one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Most of them.
    pub count: usize,
    /// Rows of a scan from which on there is more than one.
    pub rows_min: u64,
}

impl Threads {
    /// The caller's alone.
    pub const ONE: Self = Self { count: 1, rows_min: u64::MAX };
}

/// The counters of a scan, as in EXPLAIN ANALYZE (`docs/contracts.md#explain-format-json`).
#[derive(Debug, Default)]
pub struct Counters {
    /// Visible, unexpired rows inside the ranges, up to where the scan stopped, but for those that a seek passed over.
    pub keys_read: AtomicU64,
    /// Positionings: one for each (bucket, range), skips included.
    pub seeks: AtomicU64,
    /// Rows that passed the filter.
    pub rows_out: AtomicU64,
    /// Stored bytes touched: keys and values.
    pub bytes_read: AtomicU64,
    /// Blocks of which a part was read, except those without a row in the ranges. The directory's knowledge of a block
    /// is not a read.
    pub blocks_read: AtomicU64,
    /// Blocks skipped because the directory shows that no row matches the filter.
    pub blocks_skipped: AtomicU64,
    /// Batches handed out.
    pub batches: AtomicU64,
    /// Time inside the scan.
    pub micros: AtomicU64,
    /// Buckets in which a range was read, a bit each.
    buckets: [AtomicU64; 4],
    /// The counters to which these are added at the end.
    whole: Option<Arc<Counters>>,
    /// The counters of the rows that are read by the entries of an index; not counted above.
    fetched: OnceLock<Arc<Counters>>,
    /// The counters of the reads that are united or intersected with this one; not counted above.
    branches: OnceLock<Box<[Arc<Counters>]>>,
}

impl Drop for Counters {
    fn drop(&mut self) {
        if let Some(whole) = &self.whole {
            whole.add(self);
        }
    }
}

impl Counters {
    fn add(&self, part: &Self) {
        let Self { keys_read, seeks, rows_out, bytes_read, blocks_read, blocks_skipped, batches, micros, .. } = self;
        let counters = [
            (keys_read, &part.keys_read),
            (seeks, &part.seeks),
            (rows_out, &part.rows_out),
            (bytes_read, &part.bytes_read),
            (blocks_read, &part.blocks_read),
            (blocks_skipped, &part.blocks_skipped),
            (batches, &part.batches),
            (micros, &part.micros),
        ];
        for (whole, part) in counters {
            whole.fetch_add(part.load(Relaxed), Relaxed);
        }
        for (whole, part) in self.buckets.iter().zip(&part.buckets) {
            whole.fetch_or(part.load(Relaxed), Relaxed);
        }
    }

    /// The counters of the rows that this scan of entries finds; `None` if it finds none.
    pub fn fetched(&self) -> Option<&Arc<Counters>> {
        self.fetched.get()
    }

    /// The counters of the reads that are united or intersected with this one, in their order; empty if there are none.
    pub fn branches(&self) -> &[Arc<Counters>] {
        self.branches.get().map(AsRef::as_ref).unwrap_or_default()
    }

    fn fetching(&self) -> Arc<Counters> {
        self.fetched.get_or_init(|| Self::part_of(self.whole.as_ref().map(|whole| whole.fetching()))).clone()
    }

    fn branching(&self, count: usize) -> &[Arc<Counters>] {
        self.branches.get_or_init(|| {
            let whole = |branch: usize| self.whole.as_ref()?.branching(count).get(branch).cloned();
            (0..count).map(|branch| Self::part_of(whole(branch))).collect()
        })
    }

    /// Counters that are added to the whole's on drop.
    fn part_of(whole: Option<Arc<Self>>) -> Arc<Self> {
        let mut counters = Self::default();
        counters.whole = whole;
        Arc::new(counters)
    }

    /// Notes that a range was read in a bucket.
    pub fn touch_bucket(&self, bucket: u8) {
        if let Some(word) = self.buckets.get(usize::from(bucket / 64)) {
            word.fetch_or(1 << (bucket % 64), Relaxed);
        }
    }

    /// Counts blocks that were read.
    pub fn count_blocks(&self, blocks: u64) {
        if blocks > 0 {
            self.blocks_read.fetch_add(blocks, Relaxed);
        }
    }

    /// Counts a positioning.
    pub fn count_seek(&self) {
        self.seeks.fetch_add(1, Relaxed);
    }

    /// Buckets in which a range was read.
    pub fn buckets_touched(&self) -> u32 {
        self.buckets.iter().map(|word| word.load(Relaxed).count_ones()).sum()
    }
}

/// Shared by all scans of one statement: budget and cancel; each scan has [`Counters`] of its own.
#[derive(Clone, Debug)]
pub struct ScanContext {
    shared: Arc<Shared>,
    /// The counters of this scan.
    pub counters: Arc<Counters>,
}

/// The statement of which a context's reads are a part, if they have no limits of their own.
struct Statement(Option<Arc<dyn Interrupt>>);

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Statement").field(&self.0.is_some()).finish()
    }
}

#[derive(Debug)]
struct Shared {
    statement: Statement,
    budget: Budget,
    threads: Threads,
    memory: StatementMemory,
    started: Instant,
    deadline: Option<Instant>,
    cancelled: AtomicBool,
    /// Those who wait for answers of servers.
    wakers: Wakers,
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl Interrupt for Shared {
    fn check(&self) -> Result<(), Interrupted> {
        if self.cancelled.load(Relaxed) {
            return Err(Interrupted::Cancelled);
        }
        if let Some(statement) = &self.statement.0 {
            return statement.check();
        }
        match (self.deadline, self.budget.time_max) {
            (Some(deadline), Some(limit)) if Instant::now() >= deadline => {
                Err(Interrupted::Timeout { limit_ms: limit.as_millis() as u64 })
            }
            _ => Ok(()),
        }
    }

    fn remaining(&self) -> Option<Duration> {
        if let Some(statement) = &self.statement.0 {
            return statement.remaining();
        }
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn wakers(&self) -> Option<&Wakers> {
        match &self.statement.0 {
            Some(statement) => statement.wakers(),
            None => Some(&self.wakers),
        }
    }
}

fn unlimited_memory() -> StatementMemory {
    StatementMemory::new(Arc::new(Memory::new(usize::MAX)), usize::MAX)
}

impl ScanContext {
    /// A context whose time starts now.
    pub fn new(budget: Budget) -> Self {
        Self::of_statement(budget, Threads::ONE, unlimited_memory())
    }

    /// A context without limits, for look-ups that are a part of a statement and do not count as its reads: it must stop when the statement of the
    /// thread must.
    pub fn of_look_up() -> Self {
        Self::within(Statement(interrupt::current()), Budget::default(), Threads::ONE, unlimited_memory())
    }

    /// As [`ScanContext::new`], for a statement for which several threads may work, and that shares its memory with others.
    pub fn of_statement(budget: Budget, threads: Threads, memory: StatementMemory) -> Self {
        Self::within(Statement(None), budget, threads, memory)
    }

    fn within(statement: Statement, budget: Budget, threads: Threads, memory: StatementMemory) -> Self {
        let started = Instant::now();
        let shared = Shared {
            statement,
            budget,
            threads,
            memory,
            started,
            deadline: budget.time_max.and_then(|limit| started.checked_add(limit)),
            cancelled: AtomicBool::new(false),
            wakers: Wakers::default(),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), counters: Arc::default() }
    }

    /// The same statement's context for another scan, with counters of its own.
    pub fn for_another_scan(&self) -> Self {
        Self { shared: self.shared.clone(), counters: Arc::default() }
    }

    /// The context for a part of the same scan. Its counts are added to the whole's on drop, because threads that share
    /// a counter wait for each other.
    pub fn for_part(&self) -> Self {
        Self { shared: self.shared.clone(), counters: Counters::part_of(Some(self.counters.clone())) }
    }

    /// The context in which the rows of entries are read, if this one is for the entries: it has counters of its own.
    pub fn for_rows_of_entries(&self) -> Self {
        Self { shared: self.shared.clone(), counters: self.counters.fetching() }
    }

    /// The contexts of `count` reads that are united or intersected with this one, which have counters of their own.
    pub(crate) fn for_branches(&self, count: usize) -> Vec<Self> {
        let of = |counters: &Arc<Counters>| Self { shared: self.shared.clone(), counters: counters.clone() };
        self.counters.branching(count).iter().map(of).collect()
    }

    /// The threads that may work for the statement.
    pub fn threads(&self) -> Threads {
        self.shared.threads
    }

    /// The memory that the statement's work counts in: its own, or that of all statements if it has no smaller limit.
    pub fn memory(&self) -> &Arc<Memory> {
        self.shared.memory.get()
    }

    /// Makes every scan of the statement stop within a batch, and every wait for a server at once.
    pub fn cancel(&self) {
        // Those who are woken must see it.
        self.shared.cancelled.store(true, Release);
        self.shared.wakers.wake();
    }

    /// Rows that the statement's budget still allows it to scan; `None` is no limit.
    pub fn rows_left(&self) -> Option<u64> {
        self.shared.budget.rows_max.map(|most| most.saturating_sub(self.rows_scanned()))
    }

    /// Rows scanned by the statement so far.
    pub fn rows_scanned(&self) -> u64 {
        self.shared.rows.load(Relaxed)
    }

    /// Stored bytes scanned by the statement so far.
    pub fn bytes_scanned(&self) -> u64 {
        self.shared.bytes.load(Relaxed)
    }

    /// How long ago the statement began.
    pub fn elapsed(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// Errors when the statement must stop.
    ///
    /// # Errors
    /// [`TableError::Cancelled`], [`TableError::Timeout`].
    pub fn check(&self) -> Result<(), TableError> {
        Ok(self.shared.check()?)
    }

    /// The statement, for waits: see [`interrupt::wait`].
    pub fn statement(&self) -> &dyn Interrupt {
        &*self.shared
    }

    /// Makes this the statement of the thread, for work that has no context: see [`interrupt`].
    pub fn enter(&self) -> Entered {
        interrupt::enter(self.shared.clone())
    }

    /// Adds the reads of a part of a scan, and checks the statement's budget.
    ///
    /// # Errors
    /// [`TableError::BudgetExceeded`], and as [`ScanContext::check`].
    pub fn charge(&self, rows: u64, bytes: u64) -> Result<(), TableError> {
        self.counters.keys_read.fetch_add(rows, Relaxed);
        self.counters.bytes_read.fetch_add(bytes, Relaxed);
        let rows = self.shared.rows.fetch_add(rows, Relaxed) + rows;
        let bytes = self.shared.bytes.fetch_add(bytes, Relaxed) + bytes;
        let over = |what, used, limit: Option<u64>| match limit {
            Some(limit) if used > limit => Err(TableError::BudgetExceeded { what, used, limit }),
            _ => Ok(()),
        };
        over("rows scanned", rows, self.shared.budget.rows_max)?;
        over("bytes scanned", bytes, self.shared.budget.bytes_max)?;
        self.check()
    }
}
