//! A server that answers as a test says: it is the registry, the server of `hbase:meta` and a region server in one.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hbase_client::cell::{Cell, CellKind, CellParts};
use hbase_client::frame::{FRAME_BYTES_MAX, Request, Response, cell_block, take_frame, take_preamble};
use hbase_client::proto::{
    ExceptionResponse, GetMetaRegionLocationsResponse, RegionInfo, RegionLocation, ResponseHeader, Scan, ScanRequest,
    ScanResponse, ServerName, TableName,
};
use hbase_client::{Address, CallContext, Client, Registry, Table};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What a server does with a request.
pub(crate) enum Reply {
    Answer(Vec<u8>, Bytes),
    Exception(ExceptionResponse),
    /// The answer that comes when the test says so, once for each time.
    Late(Arc<Notify>, Box<Reply>),
    /// No answer.
    Silence,
    /// The connection ends.
    Close,
    /// Bytes that are no answer.
    Garbage,
}

impl Reply {
    pub(crate) fn of(message: &impl Message, cells: &[Cell]) -> Self {
        Self::Answer(message.encode_to_vec(), cell_block(cells))
    }

    pub(crate) fn exception(class: &str, do_not_retry: bool) -> Self {
        Self::Exception(ExceptionResponse {
            exception_class_name: Some(format!("org.apache.hadoop.hbase.{class}")),
            stack_trace: Some(format!("org.apache.hadoop.hbase.{class}: as the test says")),
            do_not_retry: Some(do_not_retry),
            ..ExceptionResponse::default()
        })
    }

    /// Rows of one cell each, and whether the region, and the scan, have more.
    pub(crate) fn rows(keys: &[&str], more_in_region: bool, more: bool) -> Self {
        let cells: Vec<Cell> = keys.iter().map(|key| cell(key, "q")).collect();
        let response = ScanResponse {
            cells_per_result: vec![1; cells.len()],
            partial_flag_per_result: vec![false; cells.len()],
            scanner_id: Some(7),
            more_results: Some(more),
            more_results_in_region: Some(more_in_region),
            ..ScanResponse::default()
        };
        Self::of(&response, &cells)
    }
}

/// A call that a server got.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) message: Bytes,
}

impl Call {
    pub(crate) fn decode<M: Message + Default>(&self) -> M {
        M::decode(self.message.clone()).unwrap()
    }

    /// The part of a scan's request that opens a scanner.
    pub(crate) fn opening(&self) -> Option<(ScanRequest, Scan)> {
        let request: ScanRequest = (self.method == "Scan").then(|| self.decode())?;
        let scan = request.scan.clone()?;
        Some((request, scan))
    }
}

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

pub(crate) fn cell(row: &str, qualifier: &str) -> Cell {
    let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
    Cell::new(CellParts { row, family: b"f", qualifier, timestamp: 1, kind: CellKind::PUT, value: b"v" }).unwrap()
}

/// A server, and the calls that it got, without those of the registry.
pub(crate) struct Scripted {
    pub(crate) address: Address,
    calls: Arc<Mutex<Vec<Call>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Scripted {
    /// A server whose `hbase:meta` has these rows, and which answers calls of regions so. Both closures get the number of the call of
    /// their kind, from 0.
    pub(crate) async fn start(
        meta: impl Fn(usize) -> Vec<MetaRow> + Send + Sync + 'static,
        answer: impl Fn(usize, &Call) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = Address::new("127.0.0.1", listener.local_addr().unwrap().port());
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (all, place) = (Arc::clone(&calls), address.clone());
        let numbers = Arc::new(Mutex::new((0_usize, 0_usize)));
        let answer = Arc::new(move |call: Call| {
            if call.method == "GetMetaRegionLocations" {
                return meta_location(&place);
            }
            all.lock().unwrap().push(call.clone());
            let mut numbers = numbers.lock().unwrap();
            if is_of_meta(&call) {
                numbers.0 += 1;
                return meta_rows(&meta(numbers.0 - 1), &call, &place);
            }
            numbers.1 += 1;
            answer(numbers.1 - 1, &call)
        });
        let task = tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(socket, Arc::clone(&answer)));
            }
        });
        Self { address, calls, task }
    }

    /// The calls that are not of `hbase:meta`.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().iter().filter(|call| !is_of_meta(call)).cloned().collect()
    }

    /// The number of calls of `hbase:meta`.
    pub(crate) fn look_ups(&self) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| is_of_meta(call)).count()
    }

    /// The scans: those that open a scanner, and those that go on with one.
    pub(crate) fn scans(&self) -> Vec<ScanRequest> {
        self.calls().iter().filter(|call| call.method == "Scan").map(Call::decode).collect()
    }

    pub(crate) fn table(&self) -> Table {
        let client = Client::new(Registry::Servers(vec![self.address.clone()]));
        client.table_named("t").unwrap()
    }

    /// Waits until the server has got what the closure looks for.
    pub(crate) async fn until(&self, is_there: impl Fn(&[Call]) -> bool) {
        while !is_there(&self.calls()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

pub(crate) fn context() -> CallContext {
    CallContext::within(Duration::from_secs(30))
}

/// Runs a test, which fails if it hangs.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), test).await }).unwrap();
}

fn is_of_meta(call: &Call) -> bool {
    let name = match call.method.as_str() {
        "Scan" => call.decode::<ScanRequest>().region.map(|region| region.value),
        "Get" => Some(call.decode::<hbase_client::proto::GetRequest>().region.value),
        _ => None,
    };
    name.is_some_and(|name| name.starts_with(b"hbase:meta"))
}

fn server_name(address: &Address) -> ServerName {
    ServerName { host_name: address.host.to_string(), port: Some(u32::from(address.port)), start_code: Some(1) }
}

fn meta_location(address: &Address) -> Reply {
    let location = RegionLocation { server_name: Some(server_name(address)), ..RegionLocation::default() };
    Reply::of(&GetMetaRegionLocationsResponse { meta_locations: vec![location] }, &[])
}

/// The rows of `hbase:meta` in the range of a scan. The rows of the test's table are compared as they are.
fn meta_rows(rows: &[MetaRow], call: &Call, address: &Address) -> Reply {
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

async fn serve(mut socket: TcpStream, answer: Arc<impl Fn(Call) -> Reply + Send + Sync + 'static>) {
    let mut received = BytesMut::new();
    while take_preamble(&mut received).unwrap().is_none() {
        if socket.read_buf(&mut received).await.unwrap_or(0) == 0 {
            return;
        }
    }
    loop {
        let frame = loop {
            if let Some(frame) = take_frame(&mut received, FRAME_BYTES_MAX).unwrap() {
                break frame;
            }
            if socket.read_buf(&mut received).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let Request { header, message, .. } = Request::decode(frame).unwrap();
        let call = Call { method: header.method_name.unwrap(), message };
        let mut out = BytesMut::new();
        let head = ResponseHeader { call_id: header.call_id, ..ResponseHeader::default() };
        let mut reply = answer(call);
        while let Reply::Late(now, late) = reply {
            now.notified().await;
            reply = *late;
        }
        match reply {
            Reply::Answer(message, cells) => {
                Response { header: head, message: message.into(), cells }.put(&mut out).unwrap();
            }
            Reply::Exception(exception) => {
                let header = ResponseHeader { exception: Some(exception), ..head };
                Response { header, message: Bytes::new(), cells: Bytes::new() }.put(&mut out).unwrap();
            }
            Reply::Silence | Reply::Late(..) => {}
            Reply::Close => return,
            Reply::Garbage => out.extend_from_slice(b"\0\0\0\x04\xff\xff\xff\xff"),
        }
        if socket.write_all(&out).await.is_err() {
            return;
        }
    }
}
