//! Counts the accesses of one relation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::gaps::Gaps;
use crate::key_prefix::KeyPrefix;
use crate::layers::{Layers, SLOTS_MAX};
use crate::room::{Room, RoomPart};
use crate::slot::{SPANS_MAX, Slot, Span, Weights};

/// Samples that wait to be added to a slot together.
const PENDING_MAX: usize = 64;

/// Most bytes of one relation's counts, about: those of a relation that was busy for a day.
pub const BYTES_MAX: usize =
    SLOTS_MAX * (SPANS_MAX * size_of::<Span>() + size_of::<Slot>()) + PENDING_MAX * size_of::<Span>();

/// Tells the time, in milliseconds since 1970.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Counts the reads and writes of one relation's keys, by samples. Threads share it.
///
/// An access that is not sampled costs one atomic subtraction, without a lock and without an allocation. A sample stands for all accesses since
/// the one before.
///
/// # Laws
/// 1. The weights recorded are the accesses counted, except those since the last sample: of reads and of writes, 127 at most.
/// 2. The counts take at most [`BYTES_MAX`] bytes, about, and if the room is full new counts take an eighth of that.
/// 3. Whatever the period in which a load goes through keys, its keys have weights as they have accesses, about.
pub struct Recorder {
    /// Accesses until the next sample.
    reads_left: AtomicI64,
    writes_left: AtomicI64,
    now: Now,
    state: Mutex<State>,
}

struct State {
    reads: Gaps,
    writes: Gaps,
    pending: Vec<Span>,
    /// The second of the pending samples.
    pending_s: i64,
    layers: Layers,
    room: RoomPart,
}

/// What an access does.
#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}

impl Recorder {
    /// A recorder that has counted nothing, and shares the room with others. Recorders with other seeds sample other accesses.
    pub fn new(seed: u64, now: Now, room: Arc<Room>) -> Self {
        let seed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let state = State {
            reads: Gaps::new(seed),
            writes: Gaps::new(!seed),
            pending: Vec::new(),
            pending_s: i64::MIN,
            layers: Layers::default(),
            room: RoomPart::new(room),
        };
        Self {
            reads_left: AtomicI64::new(Gaps::FIRST),
            writes_left: AtomicI64::new(Gaps::FIRST),
            now,
            state: Mutex::new(state),
        }
    }

    /// Counts `count` accesses that read, in order. If some are sampled, `key` is asked for their keys by index, ascending; accesses of unknown
    /// keys, `None`, are not recorded.
    #[inline]
    pub fn read(&self, count: usize, key: impl FnMut(usize) -> Option<KeyPrefix>) {
        if is_due(&self.reads_left, count) {
            self.sample(Kind::Read, count, key);
        }
    }

    /// As [`Recorder::read`], for rows that are written.
    #[inline]
    pub fn write(&self, count: usize, key: impl FnMut(usize) -> Option<KeyPrefix>) {
        if is_due(&self.writes_left, count) {
            self.sample(Kind::Write, count, key);
        }
    }

    /// Records the accesses of the last `count` that are due.
    #[cold]
    fn sample(&self, kind: Kind, count: usize, mut key: impl FnMut(usize) -> Option<KeyPrefix>) {
        let now_s = (self.now)().div_euclid(1000);
        let mut state = self.state.lock();
        let left_shared = match kind {
            Kind::Read => &self.reads_left,
            Kind::Write => &self.writes_left,
        };
        let (mut left, mut added) = (left_shared.load(Relaxed), 0);
        // Above 0, another thread has recorded these.
        while left <= 0 {
            let gaps = match kind {
                Kind::Read => &mut state.reads,
                Kind::Write => &mut state.writes,
            };
            let (ended, next) = gaps.next(now_s);
            // The gap ended with this access of ours, or with one of another thread.
            let at = (count as i64).saturating_add(left).clamp(1, (count as i64).max(1)) - 1;
            (left, added) = (left + next, added + next);
            let Some(key) = key(usize::try_from(at).unwrap_or_default()) else { continue };
            let weight = u64::try_from(ended).unwrap_or_default();
            state.note(now_s, key, kind, weight);
        }
        left_shared.fetch_add(added, Relaxed);
    }

    /// The counts until now, the oldest first, of the last [day](crate::DAY_S).
    pub fn slots(&self) -> Vec<Slot> {
        let now_s = (self.now)().div_euclid(1000);
        let mut state = self.state.lock();
        state.add_pending();
        state.age(now_s);
        state.layers.slots().cloned().collect()
    }
}

/// Counts accesses; whether one of them is to be sampled.
#[inline]
fn is_due(left: &AtomicI64, count: usize) -> bool {
    let count = count as i64;
    left.fetch_sub(count, Relaxed) <= count && count > 0
}

impl State {
    fn note(&mut self, now_s: i64, key: KeyPrefix, kind: Kind, weight: u64) {
        if now_s != self.pending_s || self.pending.len() >= PENDING_MAX {
            self.add_pending();
            self.pending_s = now_s;
        }
        let weights = match kind {
            Kind::Read => Weights { reads: weight, writes: 0 },
            Kind::Write => Weights { reads: 0, writes: weight },
        };
        self.pending.push(Span { first: key, last: key, weights });
    }

    fn add_pending(&mut self) {
        self.layers.add(self.pending_s, &self.pending, self.room.spans_max());
        self.pending.clear();
        self.take_room();
    }

    fn age(&mut self, now_s: i64) {
        self.layers.age(now_s, self.room.spans_max());
        self.take_room();
    }

    fn take_room(&mut self) {
        self.room.set(self.layers.slots().map(|slot| slot.spans.len()).sum());
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
