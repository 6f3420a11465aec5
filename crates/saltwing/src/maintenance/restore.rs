//! Restores a database from a backup.

use std::path::Path;
use std::sync::Arc;

use saltwing_store::backup::BackupReader;
use saltwing_store::{Durability, MemoryStore, OrderedKv, WriteBatch};
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;

use super::new_place::NewPlace;
use crate::{Builder, Database, Error, StoreKind};

/// Bytes of one batch for the new store.
const BATCH_BYTES: usize = 16 << 20;

impl Builder {
    /// Creates the database from a backup, and opens it. The directory must not exist or must be empty; it appears after
    /// the whole backup is read and verified. The kind of store may differ from that of the backup's database.
    ///
    /// # Errors
    /// [`ErrorCode::BadArgument`] if the directory is not empty; [`ErrorCode::Corrupt`] for a damaged backup,
    /// [`ErrorCode::Io`] for an unfinished one; [`ErrorCode::DiskFull`].
    pub fn restore(self, backup: impl AsRef<Path>) -> Result<Database, Error> {
        let reader = BackupReader::open(backup.as_ref())?;
        if self.readonly {
            return Err(Error::new(ErrorCode::ReadOnly, "a backup cannot be restored for reading only"));
        }
        let Some(path) = self.path.clone() else {
            let store = Arc::new(MemoryStore::new());
            fill(&*store, reader)?;
            return Database::start(store, self);
        };
        let kind = self.store.unwrap_or(StoreKind::DEFAULT);
        let place = NewPlace::begin(&path)?;
        let store = Self { path: Some(place.unfinished().to_path_buf()), ..self.clone() }.store(kind).open_store()?;
        fill(&*store, reader)?;
        // The structure of the tables must be readable before the directory becomes a database.
        drop(EmbeddedTables::open(store.clone(), self.clock.clone())?);
        store.close()?;
        drop(store);
        place.finish()?;
        self.open()
    }
}

fn fill(store: &dyn OrderedKv, mut reader: BackupReader) -> Result<(), Error> {
    let mut batch = WriteBatch::new();
    while let Some((space, key, value)) = reader.next_entry()? {
        // The value is copied, so that its frame can be freed.
        batch.put(space, &key[..], &value[..]);
        if batch.bytes() >= BATCH_BYTES {
            store.write(std::mem::take(&mut batch), Durability::Buffered)?;
        }
    }
    store.write(batch, Durability::Buffered)?;
    Ok(store.sync()?)
}
