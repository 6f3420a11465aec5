//! Opens the database that the arguments name.

use saltwing::{Database, Error, FileAccess};

use crate::args::{Layout, Run};

const MB: usize = 1 << 20;

/// Opens it.
///
/// # Errors
/// The library's: locked, no such directory, no database, another store.
pub(crate) fn open(run: &Run) -> Result<Database, Error> {
    let mut builder = match &run.database {
        Some(path) => Database::builder(path),
        None => Database::memory_builder(),
    };
    if let Some(store) = run.store {
        builder = builder.store(store.kind());
    }
    if let Some(policy) = run.full_scan {
        builder = builder.full_scan(policy.as_str())?;
    }
    let Layout { cache_mb, delta_mb, memory_limit, merge_threads } = run.layout;
    if let Some(bytes) = memory_limit {
        builder = builder.memory_limit(bytes);
    }
    if let Some(mb) = cache_mb {
        builder = builder.block_cache_bytes((mb as usize).saturating_mul(MB));
    }
    if let Some(mb) = delta_mb {
        builder = builder.delta_bytes(u64::from(mb).saturating_mul(MB as u64));
    }
    if let Some(threads) = merge_threads {
        builder = builder.merge_threads(threads.into());
    }
    if run.no_file_access {
        builder = builder.file_access(FileAccess::None);
    }
    builder.readonly(run.readonly).open()
}
