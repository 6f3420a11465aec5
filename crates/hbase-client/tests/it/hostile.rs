//! Servers that hang, and answers that are damaged anywhere.

use std::time::{Duration, Instant};

use fake_hbase::{Cluster, Fault};
use hbase_client::{Action, CallContext, Client, CoprocessorCall, Error, Get, Put, Registry, Scan};
use proptest::prelude::*;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::scripted::run;

/// Each kind of call ends at its deadline, and its error names the server.
#[test]
fn a_hanging_server_ends_each_kind_of_call() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap().to_string();
        // Connections are taken, and nothing is ever answered.
        let client = Client::new(Registry::servers([server.as_str()]).unwrap());
        let table = client.table_named("t").unwrap();
        let admin = client.admin();
        let bounds = || CallContext::within(Duration::from_millis(150));
        let put = || Put::new("a").unwrap().column(b"f", b"q", b"v").unwrap();
        let call = CoprocessorCall { service: "s", method: "m", request: b"", changes: true };
        let begun = Instant::now();
        let errors: Vec<Error> = vec![
            table.get(&bounds(), Get::new("a")).await.unwrap_err(),
            table.mutate(&bounds(), put()).await.error().cloned().unwrap(),
            table.multi(&bounds(), vec![Action::from(put())]).await[0].error().cloned().unwrap(),
            table.scan(Scan::all()).next_rows(&bounds()).await.unwrap_err(),
            table.call_coprocessor(&bounds(), b"a", call).await.error().cloned().unwrap(),
            table.regions(&bounds()).await.unwrap_err(),
            admin.table_names(&bounds()).await.unwrap_err(),
        ];
        for error in &errors {
            assert!(error.to_string().contains(&server), "{error}");
        }
        // Seven deadlines, and room for a busy machine.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    });
}

/// The most that a client takes for itself, its connection and one answer: the reader's buffer above all.
const CLIENT_BYTES_MAX: u64 = 512 << 10;

/// A server that answers everything with these bytes, and then says nothing.
async fn answering(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut sockets = Vec::new();
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.write_all(&answer).await;
            sockets.push(socket);
        }
    });
    address
}

/// A length of a frame that is beyond the limit, or within it and never fulfilled: the call ends, and memory follows the bytes that
/// came, on connections to HBase and to ZooKeeper.
#[test]
fn lengths_on_a_connection_take_no_memory() {
    let frame = |length: u32, rest: &[u8]| [&length.to_be_bytes(), rest].concat();
    let answers = [
        frame(u32::MAX, b""),
        frame(256 << 20, b"beginning"),
        frame(i32::MAX as u32, b"beginning"),
        // The header, the message, the cell block.
        frame(10, &[0xff; 10]),
        frame(12, b"\x02\x08\0\xff\xff\xff\xff\x0f\0\0\0\0"),
        frame(16, b"\x0a\x08\0\x1a\x06\x08\xff\xff\xff\xff\x0f\0\0\0\0"),
        // ZooKeeper opens a session, then its answer has a long node.
        [frame(4, b"open"), frame(20, &[&[0; 16][..], &[0x7f, 0xff, 0xff, 0xff]].concat())].concat(),
    ];
    for answer in answers {
        // One thread does it all, so that all memory is counted.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let memory = allocation_counter::measure(|| {
            runtime.block_on(async {
                let server = answering(answer.clone()).await;
                let servers = Registry::servers([server.as_str()]).unwrap();
                let zookeeper = Registry::zookeeper([server.as_str()]).unwrap();
                for registry in [servers, zookeeper] {
                    let table = Client::new(registry).table_named("t").unwrap();
                    let bounds = CallContext::within(Duration::from_millis(50));
                    let error = table.get(&bounds, Get::new("a")).await.unwrap_err();
                    assert!(error.to_string().contains(&server), "{error}");
                }
            });
        });
        assert!(memory.bytes_max <= CLIENT_BYTES_MAX, "{} bytes for {answer:?}", memory.bytes_max);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    /// A byte of an answer is changed, or the answer is cut: the call ends with a value or an error.
    #[test]
    fn a_damaged_answer_ends_its_call(at in 0_usize..200, change in 1_u8.., is_cut: bool, is_meta: bool) {
        run(async move {
            let cluster = Cluster::start(1).unwrap();
            cluster.create_table("t", &["f"], &[]).unwrap();
            for row in ["a", "b", "c"] {
                cluster.put("t", row.as_bytes(), ("f", "q"), b"value").unwrap();
            }
            let master = cluster.master();
            let client = Client::new(Registry::servers([master.as_str()]).unwrap());
            let table = client.table_named("t").unwrap();
            let bounds = || CallContext::within(Duration::from_millis(200));
            let fault = || if is_cut { Fault::CutInside(at) } else { Fault::Damaged(at, change) };
            if is_meta {
                cluster.on_call(2, |call| call.is_meta() || call.method.contains("Meta"), fault());
                let _ = table.get(&bounds(), Get::new("a")).await;
                let _ = table.regions(&bounds()).await;
            }
            for method in ["Get", "Scan", "Multi", "Mutate"] {
                cluster.on_next(method, fault());
            }
            let _ = table.get(&bounds(), Get::new("a")).await;
            let mut scanner = table.scan(Scan::all());
            let _ = (scanner.next_rows(&bounds()).await, scanner.next_rows(&bounds()).await);
            let put = Put::new("d").unwrap().column(b"f", b"q", b"v").unwrap();
            let _ = table.mutate(&bounds(), put.clone()).await;
            let _ = table.multi(&bounds(), vec![put.into(), Get::new("a").into()]).await;
        });
    }
}
