//! A cluster with Phoenix's catalog, and the store over it.

use std::sync::Arc;
use std::time::Duration;

use fake_hbase::Cluster;
use hbase_client::{CallContext, Client, Put, Registry};
use saltwing_access::{Budget, RowSource, ScanContext, Table, TableStore};
use saltwing_catalog::CatalogStore;
use saltwing_expr::value_at;
use saltwing_hbase::{Options, open};
use saltwing_phoenix::{RowCodec, TableDefinition};
use saltwing_types::Value;
use tokio::runtime::{Builder, Runtime};

use crate::golden::{GoldenRow, definitions, written};
use crate::phoenix_server::PhoenixServer;

/// A cluster with Phoenix's catalog, and the store over it.
pub struct World {
    pub cluster: Cluster,
    pub phoenix: PhoenixServer,
    pub store: Arc<dyn TableStore>,
    pub catalog: Arc<dyn CatalogStore>,
    client: Client,
    runtime: Runtime,
}

impl World {
    /// An empty catalog, whose definitions are checked at each look-up.
    pub fn new() -> Self {
        let mut options = Options::default();
        options.definitions_checked_every = Duration::ZERO;
        Self::with_options(options)
    }

    pub fn with_options(options: Options) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (cluster, phoenix) = {
            let _entered = runtime.enter();
            let cluster = Cluster::start(2).unwrap();
            let phoenix = PhoenixServer::start(&cluster);
            (cluster, phoenix)
        };
        let master = cluster.master();
        let (store, catalog) = open(&format!("{master}?registry=servers"), options).unwrap();
        let client = Client::new(Registry::servers([master.as_str()]).unwrap());
        Self { cluster, phoenix, store, catalog, client, runtime }
    }

    /// The golden tables CA39 and CA40 with their rows, and the views over them: CA40V has the rows with one value of the first key column, CA40W
    /// those with one of the second; CA39V has a condition beside the key.
    pub fn with_golden_views() -> Self {
        let (world, all) = (Self::new(), definitions());
        for written in written().into_iter().filter(|written| ["CA39", "CA40"].contains(&written.table.as_str())) {
            let table = world.define(&all[&written.table], &[]);
            world.write(&table.physical_name, &written.rows);
        }
        for view in ["CA39V", "CA40V", "CA40W"] {
            world.phoenix.define(&world.cluster, &all[view]);
        }
        world
    }

    /// Defines a table, and makes its HBase table with regions that begin at these keys.
    pub fn define(&self, message: &[u8], splits: &[&[u8]]) -> TableDefinition {
        let definition = self.phoenix.define(&self.cluster, message);
        let codec = RowCodec::new(definition.row_format().unwrap()).unwrap();
        let families = [codec.family_names(), vec!["L#0"]].concat();
        self.cluster.create_table(&definition.physical_name, &families, splits).unwrap();
        definition
    }

    /// Writes rows as they lie in HBase.
    pub fn write(&self, physical: &str, rows: &[GoldenRow]) {
        let table = self.client.table_named(physical).unwrap();
        let context = CallContext::within(Duration::from_secs(60));
        for (key, cells) in rows {
            let put = cells.iter().fold(Put::new(key.clone()).unwrap(), |put, (family, qualifier, value)| {
                put.column(family.as_bytes(), qualifier, value).unwrap()
            });
            self.runtime.block_on(table.mutate(&context, put)).into_result().unwrap();
        }
    }

    /// Waits for what the client of this world does.
    pub fn block_on<T>(&self, work: impl AsyncFnOnce(&Client, &CallContext) -> T) -> T {
        self.runtime.block_on(work(&self.client, &CallContext::within(Duration::from_secs(60))))
    }

    /// Enters the runtime of the cluster: servers that are started need it.
    pub fn enter(&self) -> tokio::runtime::EnterGuard<'_> {
        self.runtime.enter()
    }

    /// A table as statements find it.
    pub fn table(&self, schema: Option<&str>, name: &str) -> Arc<Table> {
        self.catalog.snapshot().unwrap().resolve(schema, name).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// The cells that an UPSERT of all columns writes.
pub fn cells_of(codec: &RowCodec, key: &[Value], values: &[Value]) -> GoldenRow {
    let values: Vec<Option<Value>> = values.iter().cloned().map(Some).collect();
    let written = codec.upsert(key, &values).unwrap();
    let cells = written.puts.into_iter();
    (written.key, cells.map(|cell| (cell.family.to_owned(), cell.qualifier.to_vec(), cell.value)).collect())
}

/// A context without limits.
pub fn context() -> ScanContext {
    ScanContext::new(Budget::default())
}

/// The rows of a scan of these columns.
pub fn rows_of(scan: &mut dyn RowSource, table: &Table, columns: &[usize]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    while let Some((arrays, count)) = scan.next_columns().unwrap() {
        assert!(count > 0, "a batch has rows");
        for row in 0..count {
            let value =
                |(place, column): (usize, &usize)| value_at(&arrays[place], row, table.column_type(*column)).unwrap();
            rows.push(columns.iter().enumerate().map(value).collect());
        }
    }
    rows
}
