//! The rows of `hbase:meta` that a test says, and the scans of them.

use bytes::Bytes;
use hbase_client::Address;
use hbase_client::cell::{Cell, CellKind, CellParts};
use hbase_client::proto::{
    GetMetaRegionLocationsResponse, RegionInfo, RegionLocation, ScanResponse, ServerName, TableName,
};
use prost::Message;

use crate::replies::{Call, Reply};

/// A row of `hbase:meta`.
#[derive(Clone)]
pub(crate) struct MetaRow {
    pub(crate) start: &'static str,
    pub(crate) end: &'static str,
    pub(crate) id: u64,
    pub(crate) in_service: bool,
    pub(crate) is_split: bool,
}

/// A region in service.
pub(crate) fn region(start: &'static str, end: &'static str, id: u64) -> MetaRow {
    MetaRow { start, end, id, in_service: true, is_split: false }
}

pub(crate) fn region_name(start: &str, id: u64) -> Bytes {
    format!("t,{start},{id}.0123456789abcdef0123456789abcdef.").into()
}

fn server_name(address: &Address) -> ServerName {
    ServerName { host_name: address.host.to_string(), port: Some(u32::from(address.port)), start_code: Some(1) }
}

pub(crate) fn meta_location(address: &Address) -> Reply {
    let location = RegionLocation { server_name: Some(server_name(address)), ..RegionLocation::default() };
    Reply::of(&GetMetaRegionLocationsResponse { meta_locations: vec![location] }, &[])
}

/// The rows of `hbase:meta` in the range of a scan. The rows of the test's table are compared as they are.
pub(crate) fn meta_rows(rows: &[MetaRow], call: &Call, address: &Address) -> Reply {
    let Some((_, scan)) = call.opening() else { return Reply::of(&hbase_client::proto::GetResponse::default(), &[]) };
    let start = scan.start_row.clone().unwrap_or_default();
    let start = String::from_utf8_lossy(&start).into_owned();
    let (_, start) = start.split_once(',').unwrap();
    let mut rows: Vec<&MetaRow> = rows.iter().collect();
    rows.sort_by_key(|row| (row.start, row.id));
    if scan.reversed == Some(true) {
        // `row,:` is after all regions that begin with the row, `row,` before them, and `,` after all.
        let key = start.trim_end_matches([',', ':']);
        rows.retain(|row| match start {
            "," => true,
            _ if start.ends_with(":") => row.start <= key,
            _ => row.start < key,
        });
        rows.reverse();
    }
    let mut cells = Vec::new();
    let mut cells_per_result = Vec::new();
    for row in rows {
        let of_row = meta_cells(row, address);
        cells_per_result.push(of_row.len() as u32);
        cells.extend(of_row);
    }
    let response = ScanResponse {
        cells_per_result,
        more_results: Some(false),
        more_results_in_region: Some(false),
        ..ScanResponse::default()
    };
    Reply::of(&response, &cells)
}

fn meta_cells(row: &MetaRow, address: &Address) -> Vec<Cell> {
    let info = RegionInfo {
        region_id: row.id,
        table_name: TableName { namespace: "default".into(), qualifier: "t".into() },
        start_key: Some(row.start.into()),
        end_key: Some(row.end.into()),
        offline: Some(row.is_split),
        split: Some(row.is_split),
        replica_id: None,
    };
    let name = region_name(row.start, row.id);
    let cell = |qualifier: &[u8], value: &[u8]| {
        let (family, timestamp, kind) = (&b"info"[..], 1, CellKind::PUT);
        Cell::new(CellParts { row: &name, family, qualifier, timestamp, kind, value }).unwrap()
    };
    let mut cells = vec![cell(b"regioninfo", &[b"PBUF".to_vec(), info.encode_to_vec()].concat())];
    if row.in_service {
        cells.push(cell(b"seqnumDuringOpen", &3_u64.to_be_bytes()));
        cells.push(cell(b"server", address.to_string().as_bytes()));
        cells.push(cell(b"serverstartcode", &1_u64.to_be_bytes()));
    }
    cells
}
