//! Definitions: read when they are asked for, kept, and looked at again.

use std::sync::Arc;
use std::time::Instant;

use hbase_client::{CallContext, Table as CatalogTable};
use parking_lot::Mutex;
use saltwing_access::{Table, TableError};
use saltwing_catalog::CatalogError;
use saltwing_phoenix::{DefinitionError, TableReply};
use saltwing_types::TableName;

use super::calls::{LOG_TARGET, get_table, get_tables, list_tables};
use super::known_tables::{KnownTables, Readable};
use super::listing::Listing;
use crate::HbaseError;
use crate::cluster::{Cluster, Place};
use crate::open_tables::{OpenTables, Refresh};

/// The definitions of Phoenix's catalog, as they are read from it.
pub(super) struct Definitions {
    pub(super) cluster: Arc<Cluster>,
    pub(super) catalog: CatalogTable,
    pub(super) known: KnownTables,
    listing: Mutex<Option<(Instant, Arc<Listing>)>>,
    check: Mutex<Check>,
}

/// The checks whether definitions have changed, which go on beside statements.
struct Check {
    /// When the last one began.
    began: Instant,
    is_running: bool,
}

impl Definitions {
    pub(super) fn new(cluster: Arc<Cluster>, catalog: CatalogTable, open: Arc<OpenTables>) -> Self {
        let check = Mutex::new(Check { began: Instant::now(), is_running: false });
        Self { cluster, catalog, known: KnownTables::new(open), listing: Mutex::new(None), check }
    }

    /// The table of exactly this name; `None` if there is none. It is no older than the time after which definitions are checked.
    ///
    /// # Errors
    /// [`CatalogError::UnreadableDefinition`]; errors of calls.
    pub(super) fn table(&self, name: &TableName) -> Result<Option<Arc<Table>>, CatalogError> {
        match self.known.checked_within(name, self.cluster.options.definitions_checked_every) {
            Some(known) => readable(name, known).map(Some),
            None => self.newest(name)?.map(|table| readable(name, table)).transpose(),
        }
    }

    /// What the server says of a table now.
    pub(super) fn newest(&self, name: &TableName) -> Result<Option<Readable>, TableError> {
        let (catalog, known, of_call) = (self.catalog.clone(), self.known.time_of(name), name.clone());
        let row = [b"\0", name.schema.as_deref().unwrap_or_default().as_bytes(), b"\0", name.name.as_bytes()].concat();
        let reply = self.cluster.call(Place::Row(&self.catalog, &row), |context| async move {
            Ok(get_table(&catalog, &of_call, known, &context).await)
        })?;
        Ok(self.note(name, reply)?)
    }

    /// The tables of these names, those that can be read. The others are logged.
    ///
    /// # Errors
    /// Errors of calls.
    pub(super) fn tables(&self, names: &[TableName]) -> Result<Vec<Arc<Table>>, CatalogError> {
        let every = self.cluster.options.definitions_checked_every;
        let is_old = |name: &&TableName| self.known.checked_within(name, every).is_none();
        let old = names.iter().filter(is_old).map(|name| (name.clone(), self.known.time_of(name))).collect();
        let catalog = self.catalog.clone();
        let replies = self.cluster.call(Place::Table(&self.catalog), |context| get_tables(catalog, old, context))?;
        for (name, reply) in replies {
            self.note(&name, reply).map_err(TableError::from)?;
        }
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            match self.known.checked_within(name, std::time::Duration::MAX) {
                Some(Ok(table)) => tables.push(table),
                Some(Err(reason)) => {
                    tracing::warn!(target: LOG_TARGET, table = %name, %reason, "a table is left out of the list");
                }
                // It was dropped since it was listed.
                None => {}
            }
        }
        Ok(tables)
    }

    /// The names, no older than the time after which definitions are checked.
    ///
    /// # Errors
    /// Errors of calls.
    pub(super) fn listing(&self) -> Result<Arc<Listing>, CatalogError> {
        let every = self.cluster.options.definitions_checked_every;
        if let Some((read, listing)) = &*self.listing.lock()
            && read.elapsed() < every
        {
            return Ok(listing.clone());
        }
        let (began, catalog) = (Instant::now(), self.catalog.clone());
        let call = |context: CallContext| async move { list_tables(&catalog, &context).await };
        let listed = self.cluster.call(Place::Table(&self.catalog), call)?;
        let listing = Arc::new(Listing::new(listed));
        *self.listing.lock() = Some((began, listing.clone()));
        Ok(listing)
    }

    /// Reads the names anew when they are asked for next.
    pub(super) fn forget_listing(&self) {
        *self.listing.lock() = None;
    }

    /// Reads a definition again that has been changed from here. If that fails, the next look at it does.
    pub(super) fn forget(&self, name: &TableName) {
        self.forget_listing();
        self.known.change(name);
        if let Err(error) = self.newest(name) {
            tracing::warn!(target: LOG_TARGET, table = %name, %error, "a changed definition could not be read again");
        }
    }

    /// Starts to look whether known definitions have changed, if that is long ago. Does not wait.
    pub(super) fn check_soon(self: &Arc<Self>) {
        let mut check = self.check.lock();
        if check.is_running || check.began.elapsed() < self.cluster.options.definitions_checked_every {
            return;
        }
        *check = Check { began: Instant::now(), is_running: true };
        drop(check);
        let definitions = self.clone();
        self.cluster.spawn(async move {
            let (catalog, times) = (definitions.catalog.clone(), definitions.known.times());
            let context = definitions.cluster.call_context(None);
            let noted = get_tables(catalog, times, context).await.and_then(|replies| {
                replies.into_iter().try_for_each(|(name, reply)| definitions.note(&name, reply).map(drop))
            });
            if let Err(error) = noted {
                // The next statement that reads a definition fails with it, or not.
                tracing::warn!(target: LOG_TARGET, %error, "definitions could not be checked");
            }
            definitions.check.lock().is_running = false;
        });
    }

    /// Notes a reply; the table that it gives.
    fn note(&self, name: &TableName, reply: Result<TableReply, HbaseError>) -> Result<Option<Readable>, HbaseError> {
        match reply {
            Ok(reply) => Ok(self.known.note(name, reply)),
            Err(HbaseError::Definition(DefinitionError::WrongRegion { table })) => {
                Err(DefinitionError::WrongRegion { table }.into())
            }
            Err(HbaseError::Definition(error)) => Ok(Some(self.known.note_unreadable(name, &error.to_string()))),
            Err(error) => Err(error),
        }
    }
}

impl Refresh for Definitions {
    fn refresh(&self, table: &Table) -> Result<(), TableError> {
        self.newest(&table.def().name).map(drop)
    }
}

fn readable(name: &TableName, table: Readable) -> Result<Arc<Table>, CatalogError> {
    table.map_err(|why| CatalogError::UnreadableDefinition { table: name.to_string(), why: why.to_string() })
}
