//! A run of neighbouring entries of a directory. Entries read at opening stay encoded until the first access to one of
//! them.
//!
//! ```text
//!   opening ──> key, value   key, value   ..      what the store has read, checked
//!                    │            │               first look: all of a chunk at once
//!               entry, block  entry, block  ..
//! ```
//! # Laws
//! 1. Whoever looks finds the same entries, however many look first.
//! 2. Reading a property of a whole chunk makes no entry: its size, its oldest row, the sum of its zones. Neither does marking
//!    an entry.
//! 3. Making entries cannot fail: what the store has was checked when it was read.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use saltwing_store::Bytes;

use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::BlockContext;
use crate::engine::entry::{Entry, Owner, Size};
use crate::engine::fence_heads::{FenceHeads, FenceKey};
use crate::engine::run::{Run, RunPart};
use crate::engine::stored_chunk::StoredChunk;
use crate::engine::zone_sum::ZoneSums;

/// Entries of a chunk as it is made, and those that it is merged below and split above.
pub(crate) const CHUNK_ENTRIES: usize = 512;
pub(crate) const CHUNK_ENTRIES_MIN: usize = CHUNK_ENTRIES / 4;
pub(crate) const CHUNK_ENTRIES_MAX: usize = CHUNK_ENTRIES * 2;

/// Neighbouring entries with ascending fences.
pub(crate) struct Chunk {
    made: OnceLock<Decoded>,
    pub(crate) first_fence: Bytes,
    pub(crate) len: usize,
    pub(crate) facts: ChunkStats,
    /// The sums of the zones of its blocks and runs, computed on demand.
    zones: OnceLock<ZoneSums>,
    /// The encoded entries; `None` once they are decoded.
    kept: Mutex<Option<Encoded>>,
}

/// The entries of a chunk.
#[derive(Default)]
pub(crate) struct Decoded {
    pub(crate) entries: Vec<Arc<Entry>>,
    /// The blocks of the entries.
    blocks: Vec<Option<Arc<BlockRef>>>,
    heads: FenceHeads,
}

/// Statistics of a chunk as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkStats {
    pub(crate) size: Size,
    /// When its oldest row was written.
    pub(crate) oldest_ms: i64,
    /// Whether the runs of an entry justify rewriting its block while nothing else is written.
    pub(crate) has_many_in_runs: bool,
}

impl ChunkStats {
    /// The statistics of entries, by the sizes of some of them and their oldest rows.
    fn of(entries: impl Iterator<Item = (Size, i64)>) -> Self {
        let none = Self { size: Size::default(), oldest_ms: i64::MAX, has_many_in_runs: false };
        entries.fold(none, |all, (size, oldest_ms)| Self {
            size: all.size.add(size),
            oldest_ms: all.oldest_ms.min(oldest_ms),
            has_many_in_runs: all.has_many_in_runs || size.has_many_in_runs(),
        })
    }
}

/// Rows of runs, each with the index of the entry that names them; of one entry the newest first.
pub(crate) type NamedRuns = Vec<(u32, RunPart)>;

/// Entries as opening has found them.
struct Encoded {
    entries: StoredChunk,
    runs: NamedRuns,
    context: Arc<BlockContext>,
}

impl Chunk {
    pub(crate) fn new(entries: Vec<Arc<Entry>>) -> Self {
        let facts = ChunkStats::of(entries.iter().map(|entry| (entry.size(), entry.oldest_ms())));
        Self {
            first_fence: entries.first().map(|entry| entry.fence.clone()).unwrap_or_default(),
            len: entries.len(),
            facts,
            made: OnceLock::from(Decoded::new(entries)),
            zones: OnceLock::new(),
            kept: Mutex::new(None),
        }
    }

    /// A chunk of entries as they are stored.
    fn of_stored(entries: StoredChunk, runs: NamedRuns, context: Arc<BlockContext>) -> Self {
        let mut each: Vec<(Size, i64)> = entries.sizes().collect();
        for (index, part) in &runs {
            if let Some((size, oldest_ms)) = each.get_mut(*index as usize) {
                *size = size.with_run(part);
                *oldest_ms = (*oldest_ms).min(part.run.block.summary.times_ms.0);
            }
        }
        Self {
            first_fence: Bytes::from(entries.fence(0).unwrap_or_default()),
            len: entries.len(),
            facts: ChunkStats::of(each.into_iter()),
            made: OnceLock::new(),
            zones: OnceLock::new(),
            kept: Mutex::new(Some(Encoded { entries, runs, context })),
        }
    }

    /// Its entries.
    #[inline]
    pub(crate) fn made(&self) -> &Decoded {
        match self.made.get() {
            Some(made) => made,
            None => self.make(),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> &Decoded {
        self.made.get_or_init(|| self.kept.lock().take().map(Encoded::make).unwrap_or_default())
    }

    /// Its entries, if they are made.
    pub(crate) fn if_decoded(&self) -> Option<&Decoded> {
        self.made.get()
    }

    /// The result of `look` on the encoded entries, which cannot be decoded meanwhile; `None` if they are decoded.
    fn look<T>(&self, look: impl FnOnce(&mut Encoded) -> T) -> Option<T> {
        if self.if_decoded().is_some() {
            return None;
        }
        self.kept.lock().as_mut().map(look)
    }

    /// A delta may have rows of the entries that own some ascending keys of this chunk's.
    pub(crate) fn mark_owners<'k>(&self, mut keys: impl Iterator<Item = &'k [u8]>) {
        let mark = |kept: &mut Encoded| {
            let (entries, mut owner) = (&mut kept.entries, 0);
            for key in keys.by_ref() {
                // Mostly the next key is of the same entry, where keys are many.
                if entries.fence(owner + 1).is_some_and(|next| next <= key) {
                    owner += entries.count_to(owner, key).saturating_sub(1);
                }
                entries.mark_dirty(owner);
            }
        };
        if self.look(mark).is_none() {
            // Where somebody makes them just now, without the marks, this waits for it.
            let made = self.made();
            keys.filter_map(|key| made.owner(FenceKey::new(key))).for_each(|owner| owner.entry.mark_dirty());
        }
    }

    /// The sums of the zones of its blocks and runs.
    pub(crate) fn zones(&self) -> &ZoneSums {
        self.zones.get_or_init(|| {
            let mut zones = ZoneSums::default();
            let added = self.look(|kept| {
                kept.entries.stored().for_each(|entry| zones.add(entry.block.zones()));
                kept.runs.iter().for_each(|(_, part)| zones.add(part.run.block.summary.zones()));
            });
            if added.is_none() {
                self.made().entries.iter().for_each(|entry| zones.add_entry(entry));
            }
            zones
        })
    }

    /// Has `see` see the runs that its entries name, each as often as it is named.
    pub(crate) fn visit_runs(&self, mut see: impl FnMut(&Arc<Run>)) {
        if self.look(|kept| kept.runs.iter().for_each(|(_, part)| see(&part.run))).is_none() {
            self.made().entries.iter().flat_map(|entry| &*entry.runs).for_each(|part| see(&part.run));
        }
    }
}

impl Decoded {
    fn new(entries: Vec<Arc<Entry>>) -> Self {
        let heads = FenceHeads::new(entries.iter().map(|entry| &entry.fence));
        let blocks = entries.iter().map(|entry| entry.block.clone()).collect();
        Self { entries, blocks, heads }
    }

    /// The number of fences for which `is_before` holds, as [`FenceHeads::count_before`].
    #[inline]
    pub(crate) fn count_before(&self, key: FenceKey<'_>, is_before: impl Fn(&[u8]) -> bool) -> usize {
        self.heads.count_before(key, |at| self.entries.get(at).is_some_and(|entry| is_before(&entry.fence)))
    }

    /// The entry that owns a key of the chunk's.
    #[inline]
    pub(crate) fn owner(&self, key: FenceKey<'_>) -> Option<Owner<'_>> {
        let at = self.count_before(key, |fence| *fence <= *key.bytes).saturating_sub(1);
        Some(Owner { entry: self.entries.get(at)?, block: self.blocks.get(at)?.as_ref() })
    }
}

impl Encoded {
    fn make(self) -> Decoded {
        let Self { entries, mut runs, context } = self;
        // Stable: of one entry the newest stays in front.
        runs.sort_by_key(|(index, _)| *index);
        let mut runs = runs.into_iter().peekable();
        let mut of_entry =
            |index| std::iter::from_fn(|| runs.next_if(|(of, _)| *of == index).map(|(_, part)| part)).collect();
        Decoded::new(entries.make(&context, &mut of_entry))
    }
}

/// Neighbouring entries of a directory, which a thread puts together for itself.
pub(crate) struct DirectoryPart(pub(crate) Vec<Arc<Chunk>>);

impl DirectoryPart {
    /// Entries with ascending fences.
    pub(crate) fn new(entries: Vec<Arc<Entry>>) -> Self {
        let parts = if entries.len() <= CHUNK_ENTRIES_MAX { 1 } else { entries.len().div_ceil(CHUNK_ENTRIES) };
        let (size, mut entries) = (entries.len().div_ceil(parts), entries.into_iter());
        let next = || Some(entries.by_ref().take(size).collect()).filter(|chunk: &Vec<_>| !chunk.is_empty());
        Self(std::iter::from_fn(next).map(|entries| Arc::new(Chunk::new(entries))).collect())
    }

    /// Entries of some chunks as they are stored, each with the runs that they name.
    pub(crate) fn of_stored(
        chunks: impl IntoIterator<Item = (StoredChunk, NamedRuns)>,
        context: &Arc<BlockContext>,
    ) -> Self {
        let chunk = |(entries, runs)| Arc::new(Chunk::of_stored(entries, runs, context.clone()));
        Self(chunks.into_iter().map(chunk).collect())
    }
}
