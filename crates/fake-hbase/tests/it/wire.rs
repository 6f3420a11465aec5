//! A connection that sends frames and takes frames.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hbase_client::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP};
use hbase_client::frame::{
    CELL_CODEC, CellBlock, FRAME_BYTES_MAX, Request, Response, cell_block, put_preamble, take_frame,
};
use hbase_client::proto::{
    Column, ColumnValue, ConnectionHeader, ExceptionResponse, Get, GetRequest, GetResponse, MutateRequest,
    MutateResponse, MutationProto, MutationType, QualifierValue, RegionSpecifier, RequestHeader, Scan, ScanRequest,
    ScanResponse, UserInformation, VersionInfo,
};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use fake_hbase::{Cluster, RegionId};

pub(crate) struct Wire {
    pub(crate) socket: TcpStream,
    received: BytesMut,
    last_call: u32,
}

/// A cluster whose table `t` has the row `a`, the table's region, and a connection to its server.
pub(crate) async fn start() -> (Cluster, RegionId, Wire) {
    let cluster = with_table(&["a"]);
    let region = cluster.region_of("t", b"").unwrap();
    let wire = Wire::of_row(&cluster, "t", b"").await;
    (cluster, region, wire)
}

/// An answer in its parts.
pub(crate) struct Answer<M> {
    pub(crate) message: M,
    pub(crate) cells: Vec<Cell>,
}

/// How a cell is written in these tests: `row/qualifier=value`.
pub(crate) fn text(cell: &Cell) -> String {
    let part = |bytes: &[u8]| bytes.escape_ascii().to_string();
    format!("{}/{}={}", part(cell.row()), part(cell.qualifier()), part(cell.value()))
}

pub(crate) fn texts(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(text).collect()
}

pub(crate) fn header(service: &str) -> ConnectionHeader {
    ConnectionHeader {
        user_info: Some(UserInformation { effective_user: "test".into(), real_user: None }),
        service_name: Some(service.into()),
        cell_block_codec_class: Some(CELL_CODEC.into()),
        version_info: Some(VersionInfo { version_major: Some(2), version_minor: Some(6), ..VersionInfo::default() }),
        ..ConnectionHeader::default()
    }
}

impl Wire {
    pub(crate) async fn with_header(address: &str, header: &ConnectionHeader) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let mut bytes = BytesMut::new();
        put_preamble(header, &mut bytes);
        socket.write_all(&bytes).await.unwrap();
        Self { socket, received: BytesMut::new(), last_call: 0 }
    }

    pub(crate) async fn to(address: &str, service: &str) -> Self {
        Self::with_header(address, &header(service)).await
    }

    /// To the server of a row.
    pub(crate) async fn of_row(cluster: &Cluster, table: &str, row: &[u8]) -> Self {
        let server = cluster.server_of(table, row).unwrap();
        Self::to(&cluster.address(server).unwrap(), "ClientService").await
    }

    /// Sends a request; the result is its number.
    pub(crate) async fn send(&mut self, method: &str, message: &impl Message, cells: &[Cell]) -> u32 {
        self.last_call += 1;
        let header = RequestHeader {
            call_id: Some(self.last_call),
            method_name: Some(method.into()),
            request_param: Some(true),
            ..RequestHeader::default()
        };
        let request = Request { header, message: message.encode_to_vec().into(), cells: cell_block(cells) };
        let mut bytes = BytesMut::new();
        request.put(&mut bytes).unwrap();
        self.socket.write_all(&bytes).await.unwrap();
        self.last_call
    }

    /// The next answer; `None` if the connection ends before it is complete.
    pub(crate) async fn take(&mut self) -> Option<Response> {
        loop {
            if let Some(frame) = take_frame(&mut self.received, FRAME_BYTES_MAX).unwrap() {
                return Some(Response::decode(frame).unwrap());
            }
            match self.socket.read_buf(&mut self.received).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// No answer comes for a while, and the connection stays.
    pub(crate) async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(50), self.take()).await.is_err()
    }

    pub(crate) async fn call<M: Message + Default>(
        &mut self,
        method: &str,
        message: &impl Message,
        cells: &[Cell],
    ) -> Result<Answer<M>, ExceptionResponse> {
        let id = self.send(method, message, cells).await;
        let response = self.take().await.unwrap();
        assert_eq!(response.header.call_id, Some(id));
        if let Some(exception) = response.header.exception {
            return Err(exception);
        }
        let mut block = CellBlock::new(response.cells);
        let mut cells = Vec::new();
        while let Some(cell) = block.next_cell().unwrap() {
            cells.push(cell);
        }
        Ok(Answer { message: M::decode(response.message).unwrap(), cells })
    }

    pub(crate) async fn get(&mut self, region: &RegionId, get: Get) -> Result<Answer<GetResponse>, ExceptionResponse> {
        self.call("Get", &GetRequest { region: named(region), get }, &[]).await
    }

    pub(crate) async fn mutate(
        &mut self,
        region: &RegionId,
        mutation: MutationProto,
    ) -> Result<Answer<MutateResponse>, ExceptionResponse> {
        let request = MutateRequest { region: named(region), mutation, ..MutateRequest::default() };
        self.call("Mutate", &request, &[]).await
    }

    pub(crate) async fn scan(&mut self, request: ScanRequest) -> Result<Answer<ScanResponse>, ExceptionResponse> {
        self.call("Scan", &request, &[]).await
    }

    /// Opens a scanner with a first call of so many rows.
    pub(crate) async fn open(
        &mut self,
        region: &RegionId,
        scan: Scan,
        rows: u32,
    ) -> Result<Answer<ScanResponse>, ExceptionResponse> {
        self.scan(opening(region, scan, rows)).await
    }
}

pub(crate) fn named(region: &RegionId) -> RegionSpecifier {
    RegionSpecifier { kind: 1, value: region.name() }
}

pub(crate) fn opening(region: &RegionId, scan: Scan, rows: u32) -> ScanRequest {
    ScanRequest { region: Some(named(region)), scan: Some(scan), number_of_rows: Some(rows), ..handling() }
}

/// Goes on with a scanner.
pub(crate) fn next(id: Option<u64>, seq: u64, rows: u32) -> ScanRequest {
    ScanRequest { scanner_id: id, next_call_seq: Some(seq), number_of_rows: Some(rows), ..handling() }
}

fn handling() -> ScanRequest {
    ScanRequest { client_handles_partials: Some(true), client_handles_heartbeats: Some(true), ..ScanRequest::default() }
}

pub(crate) fn row(row: &'static str) -> Get {
    Get { row: row.into(), ..Get::default() }
}

pub(crate) fn column(family: &'static str, qualifier: &'static str) -> Column {
    Column { family: family.into(), qualifier: vec![qualifier.into()] }
}

pub(crate) fn mutation(
    kind: MutationType,
    row: &'static str,
    values: &[(&'static str, &'static str)],
) -> MutationProto {
    let value = |(qualifier, value): &(&'static str, &'static str)| QualifierValue {
        qualifier: Some((*qualifier).into()),
        value: Some((*value).into()),
        ..QualifierValue::default()
    };
    let qualifier_value = values.iter().map(value).collect();
    MutationProto {
        row: Some(row.into()),
        mutate_type: Some(kind as i32),
        column_value: vec![ColumnValue { family: "f".into(), qualifier_value }],
        ..MutationProto::default()
    }
}

pub(crate) fn put(row: &'static str, values: &[(&'static str, &'static str)]) -> MutationProto {
    mutation(MutationType::Put, row, values)
}

pub(crate) fn cell(row: &str, qualifier: &str, value: &[u8]) -> Cell {
    let (row, qualifier, timestamp) = (row.as_bytes(), qualifier.as_bytes(), LATEST_TIMESTAMP);
    Cell::new(CellParts { row, family: b"f", qualifier, timestamp, kind: CellKind::PUT, value }).unwrap()
}

pub(crate) fn class(exception: &ExceptionResponse) -> &str {
    exception.exception_class_name.as_deref().unwrap().rsplit('.').next().unwrap()
}

/// A cluster with table `t`, family `f`, split at `m`: the first region at server 1 and the second at 0.
pub(crate) fn with_table(rows: &[&str]) -> Cluster {
    let cluster = Cluster::start(2).unwrap();
    cluster.create_table("t", &["f"], &[b"m"]).unwrap();
    for row in rows {
        cluster.put("t", row.as_bytes(), ("f", "q"), row.as_bytes()).unwrap();
    }
    cluster
}

pub(crate) fn bytes(text: &'static str) -> Option<Bytes> {
    Some(text.into())
}
