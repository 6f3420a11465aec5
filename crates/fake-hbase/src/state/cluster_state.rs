//! All that the servers of a cluster know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hbase_client::cell::Cell;
use hbase_client::proto::{
    ColumnFamilySchema, CoprocessorServiceCall, RegionSpecifier, RegionSpecifierType, Scan, TableSchema,
};

use crate::call::Call;
use crate::exception::Exception;
use crate::name::{META, RegionId, table_name};
use crate::server_id::ServerId;
use crate::state::clock::Clock;
use crate::state::faults::Faults;
use crate::state::procedure::Procedure;
use crate::state::region::{Region, Status};
use crate::state::server::Server;
use crate::state::table::Table;

/// What a test gives in place of a coprocessor.
pub(crate) type Coprocessor = Arc<dyn Fn(&RegionId, &CoprocessorServiceCall) -> Result<Bytes, Exception> + Send + Sync>;

/// What a test gives in place of a coprocessor that makes rows of those of a scan.
pub(crate) type ScanCoprocessor =
    Arc<dyn Fn(&RegionId, &Scan, Vec<Vec<Cell>>) -> Result<Vec<Vec<Cell>>, Exception> + Send + Sync>;

/// What a test can choose.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// How long an idle scanner lives.
    pub(crate) lease: Duration,
    /// The most bytes of cells in an answer of Scan.
    pub(crate) scan_bytes_max: u64,
    /// How long each answer of a region server takes.
    pub(crate) latency: Duration,
    /// The most calls that a server has in hand.
    pub(crate) queue_max: usize,
    /// How often a procedure is asked for before it is finished.
    pub(crate) procedure_polls: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(60),
            scan_bytes_max: 100 << 20,
            latency: Duration::ZERO,
            queue_max: usize::MAX,
            procedure_polls: 1,
        }
    }
}

/// The state of a cluster.
pub(crate) struct State {
    pub(crate) tables: BTreeMap<String, Table>,
    /// By whole name; the catalog's own region is there, too.
    pub(crate) regions: BTreeMap<Bytes, Region>,
    pub(crate) servers: Vec<Server>,
    pub(crate) master: Server,
    pub(crate) clock: Clock,
    pub(crate) options: Options,
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: Faults,
    pub(crate) procedures: BTreeMap<u64, Procedure>,
    pub(crate) coprocessor: Option<Coprocessor>,
    pub(crate) scan_coprocessor: Option<ScanCoprocessor>,
    last_number: u64,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("regions", &self.regions).finish_non_exhaustive()
    }
}

impl State {
    /// The catalog alone, which is not open yet.
    pub(crate) fn new(master: Server) -> Self {
        let family = |name: &'static str| ColumnFamilySchema { name: name.into(), ..ColumnFamilySchema::default() };
        let schema = TableSchema {
            table_name: Some(table_name(META)),
            column_families: vec![family("info"), family("table")],
            ..TableSchema::default()
        };
        let id = RegionId::meta();
        Self {
            tables: BTreeMap::from([(META.to_owned(), Table::new(schema, true))]),
            regions: BTreeMap::from([(id.name(), Region::new(id))]),
            servers: Vec::new(),
            master,
            clock: Clock::new(),
            options: Options::default(),
            calls: Vec::new(),
            faults: Faults::default(),
            procedures: BTreeMap::new(),
            coprocessor: None,
            scan_coprocessor: None,
            last_number: 0,
        }
    }

    /// A number that was not given out before: of writes, scanners, procedures and start codes.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// A number for a new region, greater than those before.
    pub(crate) fn next_region_number(&mut self) -> u64 {
        1_700_000_000_000 + self.next_number()
    }

    /// The region that a request names, on whatever server.
    pub(crate) fn find_region(&self, specifier: &RegionSpecifier) -> Option<&Region> {
        if specifier.kind == RegionSpecifierType::RegionName as i32 {
            return self.regions.get(&specifier.value);
        }
        self.regions.values().find(|region| region.id.encoded_name().as_bytes() == specifier.value)
    }

    /// The region that a request names, if this server has it. Whatever the specifier says, its value is the whole name.
    pub(crate) fn region(&self, server: ServerId, specifier: &RegionSpecifier) -> Result<&Region, Exception> {
        let region = self.regions.get(&specifier.value);
        if let Some(region) = region.filter(|region| region.status == Status::Open(server)) {
            return Ok(region);
        }
        let name = specifier.value.escape_ascii().to_string();
        let Some(region) = region else { return Err(Exception::not_serving_region(&name)) };
        if region.status == Status::Opening(server) {
            return Err(Exception::region_opening(&name));
        }
        let moved = region.left.get(&server).and_then(|(to, seq)| Some((self.servers.get(to.0)?, *seq)));
        Err(match moved {
            Some((to, seq)) => Exception::region_moved(&to.name.host_name, to.port(), to.start_code(), seq),
            None => Exception::not_serving_region(&name),
        })
    }

    /// The table of a region that is open.
    pub(crate) fn table(&self, name: &str) -> Result<&Table, Exception> {
        self.tables.get(name).ok_or_else(|| Exception::table_not_found(name))
    }

    pub(crate) fn table_mut(&mut self, name: &str) -> Result<&mut Table, Exception> {
        self.tables.get_mut(name).ok_or_else(|| Exception::table_not_found(name))
    }

    /// The server with this id.
    pub(crate) fn server_mut(&mut self, server: ServerId) -> Result<&mut Server, Exception> {
        self.servers.get_mut(server.0).ok_or_else(Exception::server_stopped)
    }

    /// The regions of a table that can be read, in their order.
    pub(crate) fn live_regions(&self, table: &str) -> Vec<RegionId> {
        let is_live = |region: &&Region| region.id.table == table && region.status != Status::Closed;
        let mut ids: Vec<RegionId> = self.regions.values().filter(is_live).map(|region| region.id.clone()).collect();
        ids.sort_by(|one, other| one.start.cmp(&other.start));
        ids
    }

    /// Opens a region at a server. The catalog is told separately. The result is its number from now on.
    pub(crate) fn open_region(&mut self, name: &Bytes, server: ServerId) -> Option<u64> {
        let seq = self.next_number();
        let region = self.regions.get_mut(name)?;
        region.status = Status::Open(server);
        region.opened_at = seq;
        // A server forgets that a region left it when the region comes back.
        region.left.remove(&server);
        Some(seq)
    }
}
