//! What a statement sees.

use std::sync::Arc;

use parking_lot::{ArcRwLockReadGuard, RawRwLock};
use saltwing_store::{Bytes, Cursor, Direction, KeyBounds, OrderedKv, Snapshot, StoreError};

use crate::ReadToken;
use crate::layout::ROWS;

/// One moment of all tables.
///
/// Where the store has snapshots this is one. Elsewhere it holds off commits
/// while it lives: read to the end and drop it before the statement returns.
pub struct ReadView {
    source: Source,
    now_ms: i64,
    token: Arc<ReadToken>,
}

enum Source {
    Snapshot(Box<dyn Snapshot>),
    Locked { kv: Arc<dyn OrderedKv>, _commits_wait: ArcRwLockReadGuard<RawRwLock, ()> },
}

impl ReadView {
    pub(crate) fn of_snapshot(snapshot: Box<dyn Snapshot>, now_ms: i64, token: ReadToken) -> Self {
        Self { source: Source::Snapshot(snapshot), now_ms, token: Arc::new(token) }
    }

    pub(crate) fn locked(
        kv: Arc<dyn OrderedKv>,
        commits_wait: ArcRwLockReadGuard<RawRwLock, ()>,
        now_ms: i64,
        token: ReadToken,
    ) -> Self {
        Self { source: Source::Locked { kv, _commits_wait: commits_wait }, now_ms, token: Arc::new(token) }
    }

    /// The time by which rows expire, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// What a commit on this view is checked against; it outlives the view.
    pub fn token(&self) -> Arc<ReadToken> {
        self.token.clone()
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match &self.source {
            Source::Snapshot(snapshot) => snapshot.get(ROWS, key),
            Source::Locked { kv, .. } => kv.get(ROWS, key),
        }
    }

    pub(crate) fn cursor(&self, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        match &self.source {
            Source::Snapshot(snapshot) => snapshot.cursor(ROWS, bounds, direction),
            Source::Locked { kv, .. } => kv.cursor(ROWS, bounds, direction),
        }
    }
}
