//! The client of a cluster.

use std::fmt;
use std::sync::Arc;

use crate::admin::Admin;
use crate::cluster::Cluster;
use crate::connection::Settings;
use crate::error::Error;
use crate::registry::Registry;
use crate::table::Table;
use crate::table_name::TableName;

/// The client of a cluster. A clone is cheap, and shares connections and the cache of regions.
#[derive(Clone)]
pub struct Client {
    cluster: Arc<Cluster>,
}

impl Client {
    /// A client of the cluster that a registry names. Nothing is connected before the first call.
    pub fn new(registry: Registry) -> Self {
        Self::with_settings(registry, Settings::default())
    }

    /// A client with settings of its own.
    pub fn with_settings(registry: Registry, settings: Settings) -> Self {
        Self { cluster: Arc::new(Cluster::new(registry, settings)) }
    }

    /// A table; it need not exist.
    pub fn table(&self, name: TableName) -> Table {
        Table::new(Arc::clone(&self.cluster), name)
    }

    /// A table by the text of its name.
    ///
    /// # Errors
    /// [`Error::TableName`].
    pub fn table_named(&self, name: &str) -> Result<Table, Error> {
        Ok(self.table(name.parse()?))
    }

    /// The calls of the master: tables, regions, procedures.
    pub fn admin(&self) -> Admin {
        Admin::new(Arc::clone(&self.cluster))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.cluster.locator.registry())
    }
}
