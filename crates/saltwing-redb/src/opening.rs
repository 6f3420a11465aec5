//! Opening: redb's file, and what only the journal has.

use std::fs::File;
use std::io;
use std::sync::Arc;

use redb::{Database, ReadableDatabase, TableDefinition, TableError, WriteTransaction};
use saltwing_store::directory::{Directory, guard_opening, sync_names};
use saltwing_store::torn::{self, Cut, NEVER_ACKNOWLEDGED};
use saltwing_store::{Access, LeftOut, OpenOptions, StoreError, WriteBatch};

use crate::above::Above;
use crate::copies::Copies;
use crate::damages::Damages;
use crate::error::storage_error;
use crate::journal::{self, Journal, ROUND_BYTES_MAX, Torn};
use crate::page_file::PageFile;
use crate::read_pages::ReadPages;
use crate::space::{Clearing, LiveBytes, TableNames, apply};
use crate::writer::{Unapplied, Writer};

/// The file in the directory's `data`.
const PAGES: &str = "pages";

/// Where redb keeps the number of the first batch that only the journal has.
const JOURNAL: TableDefinition<&str, u64> = TableDefinition::new("journal");
const BASE: &str = "base";

/// An opening.
pub(crate) struct Opening<'a> {
    pub(crate) directory: &'a Directory,
    pub(crate) options: &'a OpenOptions,
    /// Batches up to this number must be present; a salvage omits the missing ones.
    pub(crate) acknowledged: u64,
}

/// The result of an opening.
pub(crate) struct Opened {
    /// The file of pages.
    pub(crate) pages: File,
    pub(crate) database: Database,
    pub(crate) damages: Arc<Damages>,
    /// The batches of the journal, if redb does not have them.
    pub(crate) above: Option<Arc<Above>>,
    pub(crate) writer: Writer,
    /// Of a torn end.
    pub(crate) notice: Option<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Where the batches of the journal go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Redb,
    /// For a reader of a database with damaged pages.
    Memory,
}

impl Opening<'_> {
    /// Opens redb's file, and replays the journal. For a reader, redb's writes stay in memory.
    pub(crate) fn run(&self, names: &TableNames) -> Result<Opened, StoreError> {
        let opened = self.with(names, Target::Redb);
        let is_damaged = match &opened {
            Ok(opened) => opened.damages.is_any(),
            Err(error) => matches!(error, StoreError::Corrupt { .. }),
        };
        // redb would keep the stand-ins that a replay got, and no walk continues after those.
        if is_damaged && self.is_readonly() { self.with(names, Target::Memory) } else { opened }
    }

    fn is_readonly(&self) -> bool {
        self.options.access.is_readonly()
    }

    fn with(&self, names: &TableNames, target: Target) -> Result<Opened, StoreError> {
        let damages = Arc::default();
        let (pages, database) = self.open_pages(&damages)?;
        let read = |is_salvage| self.guarded(&damages, || self.read_journal(names, &database, target, is_salvage));
        let read = match read(false) {
            Err(StoreError::Corrupt { .. }) if self.options.access == Access::Salvage => read(true)?,
            done => done?,
        };
        let Read { mut writer, transaction, above, torn, left_out } = read;
        // Before any other write: redb then has the batches that the journal will drop.
        let notice = torn.map(|torn| cut_torn(self.directory, self.is_readonly(), &torn)).transpose()?;
        if let Some(transaction) = transaction {
            self.guarded(&damages, || self.end_replay(transaction, &mut writer))?;
        }
        Ok(Opened { pages, database, damages, above: above.map(Arc::new), writer, notice, left_out })
    }

    fn open_pages(&self, damages: &Arc<Damages>) -> Result<(File, Database), StoreError> {
        self.guarded(damages, || {
            let file = pages_file(self.directory, self.is_readonly())?;
            let pages = file.try_clone()?;
            let mut builder = redb::Builder::new();
            builder.set_cache_size(usize::try_from(self.options.cache_bytes).unwrap_or(usize::MAX));
            let copies = Copies::open(&self.directory.data_path(), self.is_readonly(), !self.directory.is_ready());
            let file = PageFile::new(file, !self.is_readonly(), copies, damages.clone());
            builder.set_check_integrity_on_open(file.is_header_copied()?);
            let database = match self.is_readonly() {
                true => builder.create_with_backend(ReadPages::new(file)?)?,
                false => builder.create_with_backend(file)?,
            };
            Ok((pages, database))
        })
    }

    fn read_journal(
        &self,
        names: &TableNames,
        database: &Database,
        target: Target,
        is_salvage: bool,
    ) -> Result<Read, redb::Error> {
        let mut writer = writer_at_opening(self.directory, self.is_readonly(), database, target)?;
        let (mut above, transaction) = match target {
            Target::Redb => (None, Some(database.begin_write()?)),
            Target::Memory => (Some(Above::default()), None),
        };
        let Writer { journal, live, .. } = &mut writer;
        let take = |batch: WriteBatch| {
            if let Some(above) = &mut above {
                above.take(batch);
            } else if let Some(transaction) = &transaction {
                apply(names, transaction, &batch, live, Clearing::Freed)?;
            }
            Ok::<_, redb::Error>(())
        };
        let (torn, left_out) = match is_salvage {
            true => (None, journal.salvage(self.acknowledged, take)?),
            false => (journal.replay(self.acknowledged, take)?, Vec::new()),
        };
        Ok(Read { writer, transaction, above, torn, left_out })
    }

    fn end_replay(&self, mut transaction: WriteTransaction, writer: &mut Writer) -> Result<(), redb::Error> {
        if writer.journal.is_empty() {
            return Ok(transaction.abort()?);
        }
        if self.is_readonly() {
            transaction.set_durability(redb::Durability::None)?;
            return Ok(transaction.commit()?);
        }
        commit_durably(transaction, writer)?;
        Ok(writer.journal.begin_round(ROUND_BYTES_MAX)?)
    }

    /// Runs calls of redb's.
    fn guarded<T>(&self, damages: &Damages, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        let path = self.directory.path();
        let panicked = |error| match error {
            StoreError::Corrupt { path, why } => StoreError::Corrupt { path, why: damages.explain(&why) },
            other => other,
        };
        let opened = guard_opening(path, || Ok(call())).map_err(panicked)?;
        opened.map_err(|error| storage_error("open", path, error, damages))
    }
}

/// The batches of the journal as they were read.
struct Read {
    writer: Writer,
    /// Where redb has got them.
    transaction: Option<WriteTransaction>,
    above: Option<Above>,
    torn: Option<Torn>,
    left_out: Vec<LeftOut>,
}

/// The journal before it is replayed, and the bytes that live in redb, which a reader of damaged pages need not know.
fn writer_at_opening(
    directory: &Directory,
    readonly: bool,
    database: &Database,
    target: Target,
) -> Result<Writer, redb::Error> {
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
    let live = match target {
        Target::Redb => LiveBytes::load(&transaction)?,
        Target::Memory => LiveBytes::default(),
    };
    Ok(Writer { journal, unapplied: Unapplied::default(), live, compacted: u64::MAX })
}

/// Cuts a torn end off, or leaves it out for a reader; the notice.
fn cut_torn(directory: &Directory, readonly: bool, torn: &Torn) -> Result<String, StoreError> {
    let log = directory.data_path().join(journal::FILE);
    let why = torn::why(&log, torn.at, NEVER_ACKNOWLEDGED);
    if readonly {
        return Ok(torn::left_out(&why));
    }
    let cut = Cut { log, at: torn.at, end: torn.end };
    Ok(torn::notice(&why, cut.make(directory.path())?.as_deref()))
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
