//! The opening of a cluster.

use std::sync::Arc;

use saltwing_access::{TableError, TableStore};
use saltwing_catalog::CatalogStore;

use crate::catalog::{PhoenixCatalog, find_catalog_table};
use crate::cluster::{Cluster, Place};
use crate::open_tables::OpenTables;
use crate::options::Options;
use crate::store::PhoenixStore;

/// The rows of a cluster's tables, and their catalog.
pub type Opened = (Arc<dyn TableStore>, Arc<dyn CatalogStore>);

/// Opens the tables that Phoenix has on a cluster: their rows, and their catalog. They belong together: the store knows the tables of this catalog
/// alone. Waits for the cluster, at most for [`Options::call_time`] or as long as the statement of the thread may go on.
///
/// An address is `HOST[:PORT],..[/NODE]`, servers of ZooKeeper with the node of the cluster (`/hbase` if there is none); or
/// `HOST:PORT,..?registry=servers`, masters or region servers of HBase 2.5 and newer.
///
/// # Errors
/// [`TableError::Storage`] with an [`HbaseError`](crate::HbaseError): the address names no cluster, the cluster does not answer, or it has no catalog of
/// Phoenix.
pub fn open(address: &str, options: Options) -> Result<Opened, TableError> {
    let cluster = Arc::new(Cluster::new(address, options)?);
    let system = cluster.client.table_named(saltwing_phoenix::CATALOG_TABLE).map_err(crate::HbaseError::from)?;
    let of_call = cluster.clone();
    let catalog =
        cluster.call(Place::Table(&system), |context| async move { find_catalog_table(&of_call, &context).await })?;
    let tables = Arc::new(OpenTables::default());
    let store = PhoenixStore::new(cluster.clone(), tables.clone());
    Ok((Arc::new(store), Arc::new(PhoenixCatalog::new(cluster, catalog, tables))))
}
