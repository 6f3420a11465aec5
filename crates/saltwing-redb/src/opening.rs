//! Opening: redb's file, and what only the journal has.

use std::fs::File;
use std::io;

use redb::{Database, ReadableDatabase, TableDefinition, TableError, WriteTransaction};
use saltwing_store::directory::{Directory, guard_opening, sync_names};
use saltwing_store::torn::{self, Cut, NEVER_ACKNOWLEDGED};
use saltwing_store::{Access, LeftOut, StoreError};

use crate::error::storage_error;
use crate::journal::{self, Journal, ROUND_BYTES_MAX, Torn};
use crate::page_file::PageFile;
use crate::read_pages::ReadPages;
use crate::space::{LiveBytes, TableNames, apply};
use crate::writer::{Unapplied, Writer};

/// The file in the directory's `data`.
const PAGES: &str = "pages";

/// Where redb keeps the number of the first batch that only the journal has.
const JOURNAL: TableDefinition<&str, u64> = TableDefinition::new("journal");
const BASE: &str = "base";

/// Makes redb open its file. For a reader, redb's writes stay in memory.
pub(crate) fn open_pages(
    directory: &Directory,
    readonly: bool,
    cache_bytes: u64,
) -> Result<(File, Database), StoreError> {
    guarded(directory, || {
        let file = pages_file(directory, readonly)?;
        let pages = file.try_clone()?;
        let mut builder = redb::Builder::new();
        builder.set_cache_size(usize::try_from(cache_bytes).unwrap_or(usize::MAX));
        let file = PageFile::new(file);
        let database = match readonly {
            true => builder.create_with_backend(ReadPages::new(file)?)?,
            false => builder.create_with_backend(file)?,
        };
        Ok((pages, database))
    })
}

/// The result of a replay.
pub(crate) struct Replayed {
    pub(crate) writer: Writer,
    /// Of a torn end.
    pub(crate) notice: Option<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Applies the batches of the journal to redb. Batches up to the number `acknowledged` must be present; a salvage omits
/// the missing ones.
pub(crate) fn replay(
    directory: &Directory,
    access: Access,
    names: &TableNames,
    database: &Database,
    acknowledged: u64,
) -> Result<Replayed, StoreError> {
    let readonly = access.is_readonly();
    let read = |is_salvage: bool| {
        guarded(directory, || {
            let mut writer = writer_at_opening(directory, readonly, database)?;
            let transaction = database.begin_write()?;
            let Writer { journal, live, .. } = &mut writer;
            let take = |batch| apply(names, &transaction, batch, live);
            let (torn, left_out) = match is_salvage {
                true => (None, journal.salvage(acknowledged, take)?),
                false => (journal.replay(acknowledged, take)?, Vec::new()),
            };
            Ok((writer, transaction, torn, left_out))
        })
    };
    let (mut writer, mut transaction, torn, left_out) = match read(false) {
        Err(StoreError::Corrupt { .. }) if access == Access::Salvage => read(true)?,
        done => done?,
    };
    // Before any other write: redb then has the batches that the journal will drop.
    let notice = torn.map(|torn| cut_torn(directory, readonly, &torn)).transpose()?;
    guarded(directory, || {
        if writer.journal.is_empty() {
            return Ok(transaction.abort()?);
        }
        if readonly {
            transaction.set_durability(redb::Durability::None)?;
            return Ok(transaction.commit()?);
        }
        commit_durably(transaction, &writer)?;
        Ok(writer.journal.begin_round(ROUND_BYTES_MAX)?)
    })?;
    Ok(Replayed { writer, notice, left_out })
}

/// The journal before it is replayed, and the bytes that live in redb.
fn writer_at_opening(directory: &Directory, readonly: bool, database: &Database) -> Result<Writer, redb::Error> {
    let (folder, is_new) = (directory.data_path(), !directory.is_ready());
    let transaction = database.begin_read()?;
    let base = match transaction.open_table(JOURNAL) {
        Ok(table) => table.get(BASE)?.map(|base| base.value()),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let base = base.unwrap_or(FIRST_BATCH);
    let journal = match readonly {
        true => Journal::open_to_read(&folder, base)?,
        false => Journal::open(&folder, is_new, base)?,
    };
    if is_new {
        sync_names(&folder)?;
    }
    let (unapplied, live) = (Unapplied::default(), LiveBytes::load(&transaction)?);
    Ok(Writer { journal, unapplied, live, compacted: u64::MAX })
}

/// Cuts a torn end off, or leaves it out for a reader; the notice.
fn cut_torn(directory: &Directory, readonly: bool, torn: &Torn) -> Result<String, StoreError> {
    let log = directory.data_path().join(journal::FILE);
    let why = torn::why(&log, torn.at, NEVER_ACKNOWLEDGED);
    if readonly {
        return Ok(torn::left_out(&why));
    }
    let cut = Cut { log, at: torn.at, end: Some(torn.end), is_removed: false };
    Ok(torn::notice(&why, &[cut.make(directory.path())?]))
}

/// Runs calls of redb's while the store is being opened.
fn guarded<T>(directory: &Directory, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
    guard_opening(directory.path(), || call().map_err(|error| storage_error("open", directory.path(), error)))
}

/// The number of a new database's first batch.
const FIRST_BATCH: u64 = 1;

/// Commits a transaction, with all before it, by two phases: pages, then the header that names them. It records what
/// opening needs to know of free pages, and the number of the first batch that redb does not have.
pub(crate) fn commit_durably(mut transaction: WriteTransaction, writer: &Writer) -> Result<(), redb::Error> {
    transaction.open_table(JOURNAL)?.insert(BASE, writer.journal.newest() + 1)?;
    writer.live.save(&transaction)?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    Ok(transaction.commit()?)
}

/// The file of pages; made only if the database is: of an empty file redb would make an empty database.
fn pages_file(directory: &Directory, readonly: bool) -> io::Result<File> {
    let damaged = |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("the file data/{PAGES} {why}"));
    let is_new = !directory.is_ready();
    let mut options = File::options();
    options.read(true);
    if !readonly {
        options.write(true).create(is_new).truncate(false);
    }
    let file = options.open(directory.data_path().join(PAGES)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => damaged("is missing"),
        _ => error,
    })?;
    if !is_new && file.metadata()?.len() == 0 {
        return Err(damaged("is empty"));
    }
    Ok(file)
}
