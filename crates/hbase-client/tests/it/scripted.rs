//! A server that answers as a test says: it is the registry, the server of `hbase:meta` and a region server in one.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hbase_client::frame::{FRAME_BYTES_MAX, Request, Response, take_frame, take_preamble};
use hbase_client::proto::{ResponseHeader, ScanRequest};
use hbase_client::{Address, CallContext, Client, Registry, Table};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::meta_rows::{MetaRow, meta_location, meta_rows};
use crate::replies::{Call, Reply};

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
