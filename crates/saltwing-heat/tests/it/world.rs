//! What the tests share: a clock that is set, keys of numbers, and sums.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use saltwing_heat::{KeyPrefix, Recorder, Room, Slot, Span, Weights};

/// A recorder with a clock of its own.
pub struct World {
    pub recorder: Recorder,
    now_ms: Arc<AtomicI64>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        Self::within(seed, Arc::new(Room::new(usize::MAX)))
    }

    /// A recorder that shares a room.
    pub fn within(seed: u64, room: Arc<Room>) -> Self {
        let now_ms = Arc::new(AtomicI64::new(1_000_000_000));
        let clock = now_ms.clone();
        Self { recorder: Recorder::new(seed, Arc::new(move || clock.load(Relaxed)), room), now_ms }
    }

    pub fn now_s(&self) -> i64 {
        self.now_ms.load(Relaxed) / 1000
    }

    pub fn wait_ms(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Relaxed);
    }

    /// One read of the key of a number.
    pub fn read(&self, number: u64) {
        self.recorder.read(1, |_| Some(key(number)));
    }

    /// One write of the key of a number.
    pub fn write(&self, number: u64) {
        self.recorder.write(1, |_| Some(key(number)));
    }
}

pub fn key(number: u64) -> KeyPrefix {
    KeyPrefix::of(&number.to_be_bytes())
}

pub fn span(first: u64, last: u64, reads: u64, writes: u64) -> Span {
    Span { first: key(first), last: key(last), weights: Weights { reads, writes } }
}

pub fn sum<'s>(spans: impl IntoIterator<Item = &'s Span>) -> Weights {
    let mut all = Weights::default();
    spans.into_iter().for_each(|span| all += span.weights);
    all
}

pub fn sum_of(slots: &[Slot]) -> Weights {
    sum(slots.iter().flat_map(|slot| &slot.spans))
}
