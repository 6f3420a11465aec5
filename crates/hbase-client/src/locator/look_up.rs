//! The cache of regions, and the look-ups that fill it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, timeout_at};

use super::cache::{Regions, Side};
use super::entries::{Choice, choose, current};
use super::meta::{Meta, not_in_service};
use crate::address::Address;
use crate::connection::Servers;
use crate::context::CallContext;
use crate::error::Error;
use crate::region::Region;
use crate::registry::Registry;
use crate::retries::Retries;
use crate::server_error::Reaction;
use crate::table_name::TableName;

/// A look-up takes no longer than this; then it is tried again, with another place of `hbase:meta` perhaps.
const LOOK_UP_MAX: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Table {
    regions: Mutex<Regions>,
    /// One look-up at a time: those that wait for it find its result in the cache.
    look_up: tokio::sync::Mutex<()>,
}

impl Table {
    fn regions(&self) -> MutexGuard<'_, Regions> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the regions of tables are.
pub(crate) struct Locator {
    meta: Meta,
    servers: Arc<Servers>,
    tables: Mutex<HashMap<TableName, Arc<Table>>>,
}

impl Locator {
    pub(crate) fn new(registry: Registry, servers: Arc<Servers>) -> Self {
        Self { meta: Meta::new(registry), servers, tables: Mutex::default() }
    }

    pub(crate) fn registry(&self) -> &Registry {
        self.meta.registry()
    }

    fn table(&self, name: &TableName) -> Arc<Table> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        match tables.get(name) {
            Some(table) => Arc::clone(table),
            None => Arc::clone(tables.entry(name.clone()).or_default()),
        }
    }

    /// The region of a row key if the cache has it.
    pub(crate) fn cached(&self, name: &TableName, row: &[u8], side: Side) -> Option<Region> {
        self.table(name).regions().find(row, side)
    }

    /// The region of a row key, from the cache or from `hbase:meta`. It tries again while no region is in service.
    ///
    /// # Errors
    /// [`Error::TableNotFound`], [`Error::TableNotEnabled`]; [`Error::Deadline`] and [`Error::RetriesUsedUp`] with the last failure.
    pub(crate) async fn locate(
        &self,
        context: &CallContext,
        name: &TableName,
        row: &[u8],
        side: Side,
    ) -> Result<Region, Error> {
        let table = self.table(name);
        if let Some(region) = table.regions().find(row, side) {
            return Ok(region);
        }
        let mut retries = Retries::new(context);
        loop {
            let failure = match self.look_up(context, name, &table, row, side).await {
                Ok(region) => return Ok(region),
                Err(error) if error.reaction() == Reaction::Final => return Err(error),
                Err(error) => error,
            };
            retries.wait(failure).await?;
            if retries.failures().is_multiple_of(4) {
                self.check_enabled(context, name).await?;
            }
        }
    }

    async fn look_up(
        &self,
        context: &CallContext,
        name: &TableName,
        table: &Table,
        row: &[u8],
        side: Side,
    ) -> Result<Region, Error> {
        let until = context.deadline().min(Instant::now() + LOOK_UP_MAX);
        let late = |_| not_in_service(name, row);
        let _one = timeout_at(until, table.look_up.lock()).await.map_err(late)?;
        if let Some(region) = table.regions().find(row, side) {
            return Ok(region);
        }
        let entries = self.meta.look_up(&self.servers, name, row, side, until).await?;
        let mut regions = table.regions();
        current(&entries).for_each(|region| regions.insert(region.clone()));
        match choose(&entries, row, side) {
            Choice::Region(region) => Ok(region),
            Choice::NotInService => Err(not_in_service(name, row)),
            Choice::NoTable => Err(Error::TableNotFound { table: name.to_string() }),
        }
    }

    /// All regions of a table in the order of their keys, each with the bounds that it had when it was found.
    ///
    /// # Errors
    /// Those of [`Self::locate`].
    pub(crate) async fn regions(&self, context: &CallContext, name: &TableName) -> Result<Vec<Region>, Error> {
        self.read_all(context, name).await?;
        let mut regions: Vec<Region> = Vec::new();
        let mut row = Bytes::new();
        loop {
            let region = self.locate(context, name, &row, Side::At).await?;
            row = region.end().clone();
            regions.push(region);
            if row.is_empty() {
                return Ok(regions);
            }
        }
    }

    /// Reads all regions of a table of which none is known, so that many rows need no look-up each. Big tables are left to look-ups
    /// after the first page.
    pub(crate) async fn warm(&self, context: &CallContext, name: &TableName) {
        let table = self.table(name);
        if !table.regions().is_empty() {
            return;
        }
        let until = context.deadline().min(Instant::now() + LOOK_UP_MAX);
        let Ok(_one) = timeout_at(until, table.look_up.lock()).await else { return };
        // A failure is left to the look-ups that follow.
        if table.regions().is_empty()
            && let Ok((entries, _)) = self.meta.page(&self.servers, name, None, until).await
        {
            let mut regions = table.regions();
            current(&entries).for_each(|region| regions.insert(region.clone()));
        }
    }

    /// Reads the rows of all regions into the cache, page by page. A failure is left to the look-ups that follow.
    async fn read_all(&self, context: &CallContext, name: &TableName) -> Result<(), Error> {
        let table = self.table(name);
        let mut after = None;
        loop {
            let until = context.deadline().min(Instant::now() + LOOK_UP_MAX);
            let Ok((entries, last)) = self.meta.page(&self.servers, name, after, until).await else { return Ok(()) };
            let mut regions = table.regions();
            current(&entries).for_each(|region| regions.insert(region.clone()));
            match last {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    }

    /// Fails if a table is disabled: its regions would be looked for until the deadline.
    ///
    /// # Errors
    /// [`Error::TableNotEnabled`]. A failure to ask is none: the caller's next try shows it.
    pub(crate) async fn check_enabled(&self, context: &CallContext, name: &TableName) -> Result<(), Error> {
        let until = context.deadline().min(Instant::now() + LOOK_UP_MAX);
        match self.meta.is_enabled(&self.servers, name, until).await {
            Ok(Some(false)) => Err(Error::TableNotEnabled { table: name.to_string() }),
            _ => Ok(()),
        }
    }

    /// Forgets a region that failed at its place, and nothing else.
    pub(crate) fn evict(&self, name: &TableName, failed: &Region) {
        self.table(name).regions().evict(failed);
    }

    /// Notes where a region has moved.
    pub(crate) fn moved(&self, name: &TableName, failed: &Region, server: Address) {
        self.table(name).regions().moved(failed, server);
    }
}
