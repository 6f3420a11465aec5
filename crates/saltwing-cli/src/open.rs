//! Opens the database that the arguments name.

use saltwing::{Database, Error, StoreKind};

use crate::args::{Run, Store};

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
        builder = builder.store(match store {
            Store::Fjall => StoreKind::Fjall,
            Store::Sled => StoreKind::Sled,
            Store::Memory => StoreKind::Memory,
        });
    }
    if let Some(policy) = run.full_scan {
        builder = builder.full_scan(policy.as_str())?;
    }
    builder.readonly(run.readonly).open()
}
