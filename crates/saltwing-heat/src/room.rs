//! The memory that recorders share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::slot::{SPANS_MAX, Span};

/// Most spans of a slot that gets counts when the room is full.
pub const SPANS_MIN: usize = 4;

/// The spans of several recorders: beyond its limit, slots that get counts have at most [`SPANS_MIN`] spans.
#[derive(Debug)]
pub struct Room {
    spans: AtomicUsize,
    spans_max: usize,
}

impl Room {
    /// Room for spans of this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { spans: AtomicUsize::new(0), spans_max: bytes / size_of::<Span>() }
    }

    /// The bytes of all spans.
    pub fn bytes(&self) -> usize {
        self.spans.load(Relaxed) * size_of::<Span>()
    }
}

/// The part of a room that one recorder takes; it is given back when the part is dropped.
#[derive(Debug)]
pub(crate) struct RoomPart {
    room: Arc<Room>,
    spans: usize,
}

impl RoomPart {
    pub(crate) fn new(room: Arc<Room>) -> Self {
        Self { room, spans: 0 }
    }

    /// The most spans of a slot that gets counts now.
    pub(crate) fn spans_max(&self) -> usize {
        if self.room.spans.load(Relaxed) < self.room.spans_max { SPANS_MAX } else { SPANS_MIN }
    }

    /// Takes room for that many spans, in place of what it took before.
    pub(crate) fn set(&mut self, spans: usize) {
        self.room.spans.fetch_add(spans, Relaxed);
        self.room.spans.fetch_sub(self.spans, Relaxed);
        self.spans = spans;
    }
}

impl Drop for RoomPart {
    fn drop(&mut self) {
        self.set(0);
    }
}
