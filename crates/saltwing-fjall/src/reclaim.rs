//! The space that deleted keys take in fjall, and its release.
//!
//! Large values are stored outside the trees, in value files; a tree has their offsets and is small. A compaction of
//! the tree that sees a deletion counts the value as dead in its file. A file of only dead values is deleted. The next
//! compaction reads a file with many dead values and writes the others into a new file.
//!
//! fjall does this itself once a tree has four tables of new keys. For a small space that is late: until then the disk
//! holds a memtable's worth of dead values for each of these tables. [`reclaim`] does it at once if there is much to
//! gain.

use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch};

use crate::commits::{Commits, Unwritten};
use crate::keyspaces::Keyspaces;

/// The keyspace that is no space.
const RECLAIMED: &str = "reclaimed";

/// Reclaim ignores less than this many bytes.
const GAIN_BYTES_MIN: u64 = 256 << 10;
/// One deleted key in this many justifies reading and writing a tree whose values are outside it.
const KEYS_PER_DELETED: u64 = 4;
/// The same for a tree that contains its values: they are rewritten too.
const VALUES_PER_DELETED: u64 = 2;
/// One dead byte in this many of the value files justifies a search for files to rewrite.
const BYTES_PER_DEAD: u64 = 3;
/// Maximum of compactions of one keyspace at once; each takes [`FILES_SHARE`] of the rest.
const PASSES_MAX: usize = 4;

/// Bytes of a keyspace in files and in memory, about, dead ones too.
pub(crate) fn bytes_held(keyspace: &Keyspace) -> u64 {
    keyspace.disk_space() + keyspace.tree.active_memtable().size()
}

/// Whether a keyspace may have enough to gain to justify a closer look.
pub(crate) fn is_large(keyspace: &Keyspace) -> bool {
    bytes_held(keyspace) >= GAIN_BYTES_MIN
}

/// Frees the space of deleted keys in a keyspace if that exceeds the cost of rewriting; returns whether it did. It sees
/// only deletions that have been flushed.
pub(crate) fn reclaim(keyspace: &Keyspace) -> fjall::Result<bool> {
    let mut is_compacted = is_worth_compacting(keyspace);
    if is_compacted {
        keyspace.major_compact()?;
    }
    for _ in 0..PASSES_MAX {
        let dead = keyspace.fragmented_blob_bytes();
        if dead < GAIN_BYTES_MIN || dead * BYTES_PER_DEAD < keyspace.disk_space() {
            break;
        }
        keyspace.major_compact()?;
        is_compacted = true;
        if keyspace.fragmented_blob_bytes() >= dead {
            break;
        }
    }
    Ok(is_compacted)
}

/// Has fjall remove the files that compactions have replaced. It looks for them when memory of any keyspace is written out: one
/// that is no space has something in memory for it.
pub(crate) fn let_files_go(database: &Database, keyspaces: &Keyspaces, commits: &Commits) -> fjall::Result<()> {
    let is_new = !database.keyspace_exists(RECLAIMED);
    let keyspace = database.keyspace(RECLAIMED, KeyspaceCreateOptions::default)?;
    if is_new {
        keyspaces.sync_new()?;
    }
    let fill = |batch: &mut OwnedWriteBatch| {
        batch.insert(&keyspace, "last", []);
        Ok(())
    };
    match commits.write(database, None, 1, fill) {
        Ok(()) => {}
        Err(Unwritten::Nothing(error) | Unwritten::Unknown(error)) => return Err(error),
    }
    keyspace.rotate_memtable().map(drop)
}

/// Whether enough of a tree's keys are deleted, and take enough bytes.
fn is_worth_compacting(keyspace: &Keyspace) -> bool {
    let deleted = keyspace.tree.tombstone_count();
    // Those that are deleted among them.
    let keys = (keyspace.tree.approximate_len() as u64).saturating_sub(deleted).max(1);
    let share = if keyspace.is_kv_separated() { KEYS_PER_DELETED } else { VALUES_PER_DELETED };
    let gain = u128::from(keyspace.disk_space()) * u128::from(deleted) / u128::from(keys);
    deleted * share >= keys && gain >= u128::from(GAIN_BYTES_MIN)
}
