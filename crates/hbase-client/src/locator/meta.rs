//! Reading `hbase:meta`, a table of one region.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use prost::Message;
use tokio::time::Instant;

use super::cache::Side;
use super::entries::Entry;
use crate::address::Address;
use crate::cell::ROW_BYTES_MAX;
use crate::connection::{Answer, Server, Servers, Service};
use crate::error::Error;
use crate::frame::CellBlock;
use crate::proto::{
    Column, Get, GetRequest, GetResponse, RegionSpecifier, RegionSpecifierType, Scan, ScanRequest, ScanResponse,
    TableState, TableStateKind,
};
use crate::registry::Registry;
use crate::row::{pieces_of, row_of};
use crate::table_name::TableName;

const META_REGION: &[u8] = b"hbase:meta,,1";
/// The rows of a look-up: the region that is wanted, with parents of splits, and neighbours that may be wanted next.
const LOOK_UP_ROWS: u32 = 10;
/// The rows of a page of all regions of a table.
const PAGE_ROWS: u32 = 1_000;

/// Where `hbase:meta` is.
pub(super) struct Meta {
    registry: Registry,
    server: Mutex<Option<Address>>,
}

impl Meta {
    pub(super) fn new(registry: Registry) -> Self {
        Self { registry, server: Mutex::default() }
    }

    /// The rows of the region of a row key, and of some before it.
    pub(super) async fn look_up(
        &self,
        servers: &Servers,
        table: &TableName,
        row: &[u8],
        side: Side,
        until: Instant,
    ) -> Result<Vec<Entry>, Error> {
        let name = table.as_str().as_bytes();
        // With the name around it a long row key is longer than a row key may be. Its beginning leads to the same region, if no
        // region begins inside of what is cut off; and no region is taken that has not the row.
        let row = &row[..row.len().min(ROW_BYTES_MAX.saturating_sub(name.len() + 3))];
        let start = match side {
            // A colon is after the digits of ids: the newest region that begins with the row comes first.
            Side::At => [name, b",", row, b",:"].concat(),
            // The name with a space is after all rows of the table, and before those of other tables.
            Side::Before if row.is_empty() => [name, b" ,,"].concat(),
            Side::Before => [name, b",", row, b","].concat(),
        };
        let scan = Scan {
            start_row: Some(start.into()),
            stop_row: Some([name, b",,"].concat().into()),
            include_stop_row: Some(true),
            reversed: Some(true),
            ..Scan::default()
        };
        let (rows, _) = self.scan(servers, table, scan, LOOK_UP_ROWS, until).await?;
        Ok(rows.into_iter().map(|(_, entry)| entry).collect())
    }

    /// A page of the rows of a table after a row of `hbase:meta`, and the last row if more may follow.
    pub(super) async fn page(
        &self,
        servers: &Servers,
        table: &TableName,
        after: Option<Bytes>,
        until: Instant,
    ) -> Result<(Vec<Entry>, Option<Bytes>), Error> {
        let name = table.as_str().as_bytes();
        let scan = Scan {
            include_start_row: Some(after.is_none()),
            start_row: Some(after.unwrap_or_else(|| [name, b",,"].concat().into())),
            stop_row: Some([name, b" ,,"].concat().into()),
            ..Scan::default()
        };
        let (rows, is_all) = self.scan(servers, table, scan, PAGE_ROWS, until).await?;
        let last = rows.last().map(|(name, _)| name.clone()).filter(|_| !is_all);
        Ok((rows.into_iter().map(|(_, entry)| entry).collect(), last))
    }

    /// Whether a table is enabled; `None` if `hbase:meta` does not say.
    pub(super) async fn is_enabled(
        &self,
        servers: &Servers,
        table: &TableName,
        until: Instant,
    ) -> Result<Option<bool>, Error> {
        let get = Get {
            row: Bytes::copy_from_slice(table.as_str().as_bytes()),
            column: vec![Column {
                family: Bytes::from_static(b"table"),
                qualifier: vec![Bytes::from_static(b"state")],
            }],
            ..Get::default()
        };
        let server = self.server(servers, until).await?;
        let request = GetRequest { region: region(), get };
        let answer = server.call::<GetResponse>("Get", &request, Bytes::new(), until).await;
        let answer = self.checked(&server, answer)?;
        let Some(result) = answer.message.result else { return Ok(None) };
        let row = row_of(&result, &mut CellBlock::new(answer.cells)).map_err(|error| server.damaged("Get", error))?;
        let state = row.value(b"table", b"state").and_then(|value| TableState::decode(value).ok());
        Ok(state.map(|state| state.state == TableStateKind::Enabled as i32))
    }

    /// The rows of a scan with their names, and whether it came to its end.
    async fn scan(
        &self,
        servers: &Servers,
        table: &TableName,
        scan: Scan,
        rows_max: u32,
        until: Instant,
    ) -> Result<(Vec<(Bytes, Entry)>, bool), Error> {
        let column = vec![Column { family: Bytes::from_static(b"info"), qualifier: Vec::new() }];
        let request = ScanRequest {
            region: Some(region()),
            scan: Some(Scan { column, max_versions: Some(1), caching: Some(rows_max), ..scan }),
            number_of_rows: Some(rows_max),
            limit_of_rows: Some(rows_max),
            close_scanner: Some(true),
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            ..ScanRequest::default()
        };
        let server = self.server(servers, until).await?;
        let answer = server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await;
        let Answer { message, cells } = self.checked(&server, answer)?;
        let pieces = pieces_of(&message, cells).map_err(|error| server.damaged("Scan", error))?;
        let is_all = message.more_results_in_region == Some(false);
        let has_ended = is_all || message.more_results == Some(false);
        // The cells of a row that was cut come with another look-up.
        let whole = || pieces.iter().filter(|piece| !piece.is_partial);
        // An answer without a whole row says that there is none only if nothing was cut off.
        if whole().next().is_none() && !(has_ended && pieces.is_empty()) {
            return Err(not_in_service(table, b""));
        }
        let rows =
            whole().filter_map(|piece| Some((piece.cells.first()?.row_bytes(), Entry::of_cells(table, &piece.cells)?)));
        Ok((rows.collect(), is_all))
    }

    /// The server that has `hbase:meta`.
    async fn server(&self, servers: &Servers, until: Instant) -> Result<std::sync::Arc<Server>, Error> {
        let known = self.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let address = match known {
            Some(address) => address,
            None => {
                let address = self.registry.meta_server(servers, until).await?;
                *self.server.lock().unwrap_or_else(PoisonError::into_inner) = Some(address.clone());
                address
            }
        };
        Ok(servers.server(&address, Service::Client))
    }

    /// After any failure the registry is asked again.
    fn checked<T>(&self, server: &Server, answer: Result<T, Error>) -> Result<T, Error> {
        if answer.is_err() {
            let mut known = self.server.lock().unwrap_or_else(PoisonError::into_inner);
            if known.as_ref() == Some(server.address()) {
                *known = None;
            }
        }
        answer
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }
}

fn region() -> RegionSpecifier {
    let kind = RegionSpecifierType::RegionName as i32;
    RegionSpecifier { kind, value: Bytes::from_static(META_REGION) }
}

pub(super) fn not_in_service(table: &TableName, row: &[u8]) -> Error {
    Error::NoRegion { table: table.to_string(), row: row.escape_ascii().to_string() }
}
