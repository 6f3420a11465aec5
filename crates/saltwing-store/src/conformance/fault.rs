//! A store that fails on demand.
//!
//! A test sets a [`Fault`] in [`Faults`] at any time: a crash, or a call of any kind that fails, once or permanently,
//! with or without its effect. Run once with [`Fault::None`] to count the calls, then once per number with a fault
//! there, or draw numbers at random. Then open the store below again and check: acknowledged batches are present, no
//! batch is present in part, a retry succeeds.
//!
//! ```
//! # use saltwing_store::{Durability, MemoryStore, OrderedKv, Space, WriteBatch};
//! use saltwing_store::conformance::fault::{Call, Failure, Fault, Faults};
//!
//! let faults = Faults::new(Fault::None);
//! let store = faults.store(MemoryStore::new());
//! faults.set(Fault::Fail(Failure::once(Call::Get, 1)));
//! assert!(store.get(Space::new(1), b"key").is_ok());
//! assert!(store.get(Space::new(1), b"key").is_err());
//! assert!(store.get(Space::new(1), b"key").is_ok());
//! assert_eq!((faults.counts().of(Call::Get), faults.failed()), (3, 1));
//! ```

mod faulty;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::trace::Event;
use crate::{Space, StoreError, Trace};

pub use faulty::FaultStore;

/// A call of the store contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`crate::OrderedKv::get`], and that of a snapshot.
    Get,
    /// [`crate::OrderedKv::cursor`], and that of a snapshot.
    Cursor,
    /// [`Cursor::next`](crate::Cursor::next), at the end too.
    Next,
    /// [`Cursor::seek`](crate::Cursor::seek).
    Seek,
    /// [`crate::OrderedKv::snapshot`].
    Snapshot,
    /// [`crate::OrderedKv::write`].
    Write,
    /// [`crate::OrderedKv::clear`].
    Clear,
    /// [`crate::OrderedKv::reclaim`].
    Reclaim,
    /// [`crate::OrderedKv::sync`], which an announced write waits for too.
    Sync,
    /// [`crate::OrderedKv::close`].
    Close,
}

impl Call {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Get,
        Self::Cursor,
        Self::Next,
        Self::Seek,
        Self::Snapshot,
        Self::Write,
        Self::Clear,
        Self::Reclaim,
        Self::Sync,
        Self::Close,
    ];

    fn verb(self) -> &'static str {
        match self {
            Self::Get | Self::Cursor | Self::Next | Self::Seek | Self::Snapshot => "read",
            Self::Write => "write",
            Self::Clear => "clear",
            Self::Reclaim => "reclaim",
            Self::Sync => "sync",
            Self::Close => "close",
        }
    }
}

/// The effect of a call that fails, and the error for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing, but for a clear, which has taken every other key: [`StoreError::Io`].
    Refused,
    /// All or nothing. A write or a clear is answered with [`StoreError::CommitUnknown`], other calls with [`StoreError::Io`].
    /// After one of those, or a sync, the store takes no more of them until it is opened again.
    Unknown {
        /// Whether it took effect; without meaning for reads.
        done: bool,
    },
}

/// For how many calls a failure lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// For one.
    Once,
    /// This call and all later ones of its kind, until another fault is set.
    UntilSet,
}

/// A call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of which kind.
    pub call: Call,
    /// The number of calls of its kind that succeed first, counted from when it is set.
    pub number: u64,
    /// How long.
    pub lasting: Lasting,
    /// How.
    pub outcome: Outcome,
}

impl Failure {
    /// One call fails, and does nothing.
    pub fn once(call: Call, number: u64) -> Self {
        Self { call, number, lasting: Lasting::Once, outcome: Outcome::Refused }
    }
}

/// A failure and its time. All numbers count from 0, from when it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: for counting and tracing.
    None,
    /// A crash: the batch with this mutation and all later ones are acknowledged
    /// and can be read, but the store below never gets them.
    LoseMutation(u64),
    /// A call fails.
    Fail(Failure),
}

/// How much has passed through stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    calls: [u64; Call::ALL.len()],
    /// Mutations of writes; a clear is one.
    pub mutations: u64,
}

impl Counts {
    /// Calls of a kind, failed ones included.
    pub fn of(&self, call: Call) -> u64 {
        self.calls.get(call as usize).copied().unwrap_or(0)
    }

    /// Writes and clears.
    pub fn commits(&self) -> u64 {
        self.of(Call::Write) + self.of(Call::Clear)
    }

    fn add(&mut self, call: Call) {
        self.calls.iter_mut().skip(call as usize).take(1).for_each(|count| *count += 1);
    }
}

/// The reads of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Keys read one by one.
    pub gets: u64,
    /// Cursors opened.
    pub cursors: u64,
    /// Entries that they yielded.
    pub entries: u64,
    /// Bytes of the results, with the keys of entries.
    pub bytes: u64,
}

/// The faults of stores, and their call counts. Clones share them.
#[derive(Clone)]
pub struct Faults(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    trace: Option<Trace>,
}

struct State {
    fault: Fault,
    counts: Counts,
    /// When the fault was set.
    counts_then: Counts,
    reads: BTreeMap<Space, Reads>,
    failed: u64,
    is_suspended: bool,
    room: Option<u64>,
}

/// The outcome of a call.
enum Ruling {
    Do,
    Fail(Outcome),
    /// A crash comes before it.
    Crash,
}

impl Faults {
    /// Faults for a store that is still to come.
    pub fn new(fault: Fault) -> Self {
        Self::with(fault, None)
    }

    fn with(fault: Fault, trace: Option<Trace>) -> Self {
        let state = State {
            fault,
            counts: Counts::default(),
            counts_then: Counts::default(),
            reads: BTreeMap::new(),
            failed: 0,
            is_suspended: false,
            room: None,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), trace }))
    }

    /// Puts a fault in the place of the one before.
    pub fn set(&self, fault: Fault) {
        let mut state = self.0.state.lock();
        (state.fault, state.counts_then) = (fault, state.counts);
    }

    /// Makes stores report this much room on their device, or the real value.
    pub fn set_room(&self, room: Option<u64>) {
        self.0.state.lock().room = room;
    }

    fn room(&self) -> Option<u64> {
        self.0.state.lock().room
    }

    /// Does something during which nothing fails and nothing counts.
    pub fn suspended<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.state.lock().is_suspended = true;
        let done = act();
        self.0.state.lock().is_suspended = false;
        done
    }

    /// The calls so far.
    pub fn counts(&self) -> Counts {
        self.0.state.lock().counts
    }

    /// The reads so far.
    pub fn reads(&self) -> BTreeMap<Space, Reads> {
        self.0.state.lock().reads.clone()
    }

    /// How many calls failed so far because a fault was set.
    pub fn failed(&self) -> u64 {
        self.0.state.lock().failed
    }

    /// Counts a call and its bytes.
    fn rule(&self, call: Call, mutations: u64) -> Ruling {
        self.rule_numbered(call, mutations).0
    }

    /// As [`Faults::rule`], with how many commits there were before.
    fn rule_numbered(&self, call: Call, mutations: u64) -> (Ruling, u64) {
        let mut state = self.0.state.lock();
        let commits = state.counts.commits();
        (state.rule(call, mutations), commits)
    }

    /// Counts a call that does nothing where it fails.
    fn rule_read(&self, call: Call) -> Result<(), StoreError> {
        match self.rule(call, 0) {
            Ruling::Fail(_) => Err(injected(call)),
            Ruling::Do | Ruling::Crash => Ok(()),
        }
    }

    /// Does a call that leaves nothing to read; `doubt` is called where its outcome is unknown.
    fn rule_work(
        &self,
        call: Call,
        act: impl FnOnce() -> Result<(), StoreError>,
        doubt: impl FnOnce(),
    ) -> Result<(), StoreError> {
        match self.rule(call, 0) {
            Ruling::Fail(outcome) => {
                if outcome != Outcome::Refused {
                    doubt();
                }
                if outcome == (Outcome::Unknown { done: true }) {
                    act()?;
                }
                Err(injected(call))
            }
            Ruling::Do | Ruling::Crash => act(),
        }
    }

    fn count_read(&self, space: Space, count: impl FnOnce(&mut Reads)) {
        let mut state = self.0.state.lock();
        if !state.is_suspended {
            count(state.reads.entry(space).or_default());
        }
    }

    fn record(&self, event: Event) {
        if let Some(trace) = &self.0.trace {
            trace.record(event);
        }
    }
}

impl State {
    fn rule(&mut self, call: Call, mutations: u64) -> Ruling {
        if self.is_suspended {
            return Ruling::Do;
        }
        let number = self.counts.of(call) - self.counts_then.of(call);
        let mutation = self.counts.mutations - self.counts_then.mutations;
        self.counts.add(call);
        self.counts.mutations += mutations;
        match self.fault {
            Fault::LoseMutation(n) if (mutation..mutation + mutations).contains(&n) => Ruling::Crash,
            Fault::Fail(failure) if failure.call == call && failure.comes_at(number) => {
                self.failed += 1;
                Ruling::Fail(failure.outcome)
            }
            _ => Ruling::Do,
        }
    }
}

impl Failure {
    fn comes_at(&self, number: u64) -> bool {
        match self.lasting {
            Lasting::Once => number == self.number,
            Lasting::UntilSet => number >= self.number,
        }
    }
}

fn injected(call: Call) -> StoreError {
    StoreError::io(call.verb(), Path::new("(fault)"), injected_cause())
}

fn injected_cause() -> io::Error {
    io::Error::other("injected by a test")
}
