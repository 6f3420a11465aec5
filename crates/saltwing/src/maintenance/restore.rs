//! Making a database of a backup.

use std::path::Path;
use std::sync::Arc;

use saltwing_store::backup::BackupReader;
use saltwing_store::{Durability, MemoryStore, OrderedKv, WriteBatch};
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;

use super::new_place::NewPlace;
use crate::{Builder, Database, Error, StoreKind};

/// Bytes that are written to the new store at once.
const BATCH_BYTES: usize = 16 << 20;

impl Builder {
    /// Makes the database out of a backup, and opens it. The directory must not be there yet, or be empty; it is there when
    /// the backup was read to its end and found whole. The store need not be the one that the backup was made of.
    ///
    /// # Errors
    /// [`ErrorCode::BadArgument`] when something is in the directory; [`ErrorCode::Corrupt`] for a damaged backup,
    /// [`ErrorCode::Io`] for one that was not finished; [`ErrorCode::DiskFull`].
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
        // The frame that the value is a part of need not stay.
        batch.put(space, &key[..], &value[..]);
        if batch.bytes() >= BATCH_BYTES {
            store.write(std::mem::take(&mut batch), Durability::Buffered)?;
        }
    }
    store.write(batch, Durability::Buffered)?;
    Ok(store.sync()?)
}
