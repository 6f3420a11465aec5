//! Faults of calls and of answers.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use hbase_client::proto::{GetResponse, Scan};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use fake_hbase::{Exception, Fault, ScanStep, ScanStop};

use crate::wire::{Wire, class, next, put, row, start, texts, with_table};

#[tokio::test]
async fn each_exception_comes_as_servers_send_it() {
    let (cluster, region, mut wire) = start().await;
    for (exception, fatal, overloaded) in [
        (Exception::not_serving_region("t"), false, false),
        (Exception::region_moved("h", 1, 2, 3), false, false),
        (Exception::region_opening("t"), false, false),
        (Exception::region_too_busy(), false, false),
        (Exception::call_queue_too_big(), false, true),
        (Exception::server_stopped(), false, false),
        (Exception::server_aborted(), false, false),
        (Exception::server_not_running_yet(), false, false),
        (Exception::please_hold(), false, false),
        (Exception::rpc_throttling(1234), false, false),
        (Exception::unknown_scanner(1), true, false),
        (Exception::out_of_order_scanner_next(""), true, false),
        (Exception::scanner_reset(), true, false),
        (Exception::wrong_region(""), false, false),
        (Exception::failed_sanity_check(""), true, false),
        (Exception::no_such_column_family(b"f", "t"), true, false),
        (Exception::table_not_found("t"), true, false),
        (Exception::access_denied(), true, false),
        (Exception::do_not_retry(""), true, false),
    ] {
        cluster.on_next("Get", Fault::Exception(exception.clone()));
        let answer = wire.get(&region, row("a")).await.map(|_| ()).unwrap_err();
        assert_eq!(answer.exception_class_name.as_deref(), Some(exception.class.as_str()));
        assert_eq!((answer.do_not_retry, answer.server_overloaded), (Some(fatal), Some(overloaded)));
        assert!(answer.stack_trace.unwrap().starts_with(&exception.to_string()));
        let place = (answer.hostname, answer.port);
        let moved = (Some("h".to_owned()), Some(1));
        assert_eq!(place, if exception.place.is_some() { moved } else { (None, None) });
    }
    assert!(Exception::rpc_throttling(1234).text.ends_with("wait 1sec, 234ms"));
    assert_eq!(cluster.waiting_faults(), 0);
}

#[tokio::test]
async fn a_cut_comes_before_or_after_the_write() {
    let (cluster, region, mut wire) = start().await;
    for (fault, is_written) in
        [(Fault::CutBefore, false), (Fault::CutAfter, true), (Fault::CutInside(3), true), (Fault::CutInside(7), true)]
    {
        let before = cluster.cells("t").unwrap();
        cluster.on_next("Mutate", fault.clone());
        let mutation = put("b", &[("q", "new")]);
        let request =
            hbase_client::proto::MutateRequest { region: crate::wire::named(&region), mutation, ..Default::default() };
        wire.send("Mutate", &request, &[]).await;
        assert!(wire.take().await.is_none(), "{fault:?}");
        // Times grow, so a write is seen even if its value is the same.
        assert_eq!(cluster.cells("t").unwrap() != before, is_written, "{fault:?}");
        wire = Wire::of_row(&cluster, "t", b"").await;
    }
}

#[tokio::test]
async fn a_call_is_late_lost_or_slow() {
    let (cluster, region, mut wire) = start().await;
    let wait = Duration::from_millis(100);
    for fault in [Fault::Late(wait), Fault::Slow(wait)] {
        cluster.on_next("Get", fault);
        let begun = Instant::now();
        wire.get(&region, row("a")).await.unwrap();
        assert!(begun.elapsed() >= wait);
    }
    for (fault, is_written) in [(Fault::Lost, false), (Fault::Silent, true)] {
        cluster.on_next("Mutate", fault);
        let request = hbase_client::proto::MutateRequest {
            region: crate::wire::named(&region),
            mutation: put("b", &[("q", "")]),
            ..Default::default()
        };
        wire.send("Mutate", &request, &[]).await;
        assert!(wire.is_silent().await);
        assert_eq!(cluster.cells("t").unwrap().len() == 2, is_written);
    }
    // The connection is as good as before.
    wire.get(&region, row("a")).await.unwrap();
}

#[tokio::test]
async fn a_slow_call_overtakes_no_write_and_dies_with_its_server() {
    let (cluster, region, mut wire) = start().await;
    let wait = Duration::from_millis(100);
    cluster.on_next("Get", Fault::Slow(wait));
    cluster.on_next("Get", Fault::Late(wait));
    let get = hbase_client::proto::GetRequest { region: crate::wire::named(&region), get: row("a") };
    wire.send("Get", &get, &[]).await;
    wire.send("Get", &get, &[]).await;
    while cluster.count_calls("Get", None) < 2 {
        tokio::task::yield_now().await;
    }
    cluster.put("t", b"a", ("f", "q"), b"new").unwrap();
    let mut values = Vec::new();
    for _ in 0..2 {
        let mut block = hbase_client::frame::CellBlock::new(wire.take().await.unwrap().cells);
        values.push(block.next_cell().unwrap().unwrap().value_bytes());
    }
    values.sort();
    // The late one read before the write, the slow one after it.
    assert_eq!(values, ["a", "new"]);

    cluster.on_next("Mutate", Fault::Slow(Duration::from_millis(20)));
    let request = hbase_client::proto::MutateRequest {
        region: crate::wire::named(&region),
        mutation: put("c", &[("q", "")]),
        ..Default::default()
    };
    wire.send("Mutate", &request, &[]).await;
    while cluster.count_calls("Mutate", None) < 1 {
        tokio::task::yield_now().await;
    }
    cluster.kill(cluster.server_of("t", b"").unwrap()).unwrap();
    assert!(wire.take().await.is_none());
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/q=new"]);
}

#[tokio::test]
async fn answers_come_out_of_order() {
    let (cluster, region, mut wire) = start().await;
    cluster.on_call(2, |call| call.method == "Get", Fault::Held);
    let get = hbase_client::proto::GetRequest { region: crate::wire::named(&region), get: row("a") };
    for _ in 0..3 {
        wire.send("Get", &get, &[]).await;
    }
    let mut ids = vec![wire.take().await.unwrap().header.call_id.unwrap()];
    assert_eq!((cluster.held(), cluster.release()), (2, 2));
    for _ in 0..2 {
        ids.push(wire.take().await.unwrap().header.call_id.unwrap());
    }
    assert_eq!(ids, [3, 2, 1]);
}

#[tokio::test]
async fn answers_come_in_pieces_or_damaged() {
    let (cluster, region, mut wire) = start().await;
    for piece in [1, 3, 1000] {
        cluster.on_next("Get", Fault::Pieces(piece));
        assert_eq!(wire.get(&region, row("a")).await.unwrap().cells.len(), 1);
    }
    let get = hbase_client::proto::GetRequest { region: crate::wire::named(&region), get: row("a") };
    cluster.on_next("Get", Fault::Bytes(Bytes::from_static(b"\xff\xff\xff\xff")));
    wire.send("Get", &get, &[]).await;
    let mut received = BytesMut::new();
    wire.socket.read_buf(&mut received).await.unwrap();
    assert_eq!(received.as_ref(), b"\xff\xff\xff\xff");
    cluster.on_next("Get", Fault::Damaged(0, 0x80));
    wire.send("Get", &get, &[]).await;
    received.clear();
    wire.socket.read_buf(&mut received).await.unwrap();
    assert_eq!(received[..2], [0x80, 0]);
}

#[tokio::test]
async fn a_full_queue_refuses_calls() {
    let (cluster, region, mut wire) = start().await;
    cluster.set_latency(Duration::from_millis(30));
    cluster.set_queue_max(2);
    let get = hbase_client::proto::GetRequest { region: crate::wire::named(&region), get: row("a") };
    for _ in 0..5 {
        wire.send("Get", &get, &[]).await;
    }
    let mut refused = 0;
    for _ in 0..5 {
        let exception = wire.take().await.unwrap().header.exception;
        refused += usize::from(exception.is_some_and(|is| is.server_overloaded == Some(true)));
    }
    assert_eq!(refused, 3);
    wire.get(&region, row("a")).await.unwrap();
}

#[tokio::test]
async fn predicates_choose_calls() {
    let (cluster, region, mut wire) = start().await;
    let exception = || Fault::Exception(Exception::region_too_busy());
    cluster.on_call(1, |call| call.rows.iter().any(|row| row == "b"), exception());
    cluster.on_call(1, |call| call.is_of("t") && call.scan == Some(ScanStep::Next), exception());
    wire.get(&region, row("a")).await.unwrap();
    assert!(wire.get(&region, row("b")).await.is_err());
    cluster.put("t", b"b", ("f", "q"), b"").unwrap();
    let id = wire.open(&region, Scan::default(), 1).await.unwrap().message.scanner_id;
    assert!(wire.scan(next(id, 0, 1)).await.is_err());
    // The call was not carried out, so its number is still the next one.
    wire.scan(next(id, 0, 1)).await.unwrap();
    assert_eq!(cluster.waiting_faults(), 0);
    // A fault that a call can't have is said to the client.
    cluster.on_next("Get", Fault::ScanStops(ScanStop { cells: 0, is_heartbeat: true }));
    let wrong = wire.get(&region, row("a")).await.map(|_| ()).unwrap_err();
    assert!(wrong.stack_trace.unwrap().contains("does not fit"));
}

#[tokio::test]
async fn hostile_bytes_end_the_connection() {
    let cluster = with_table(&[]);
    let address = cluster.master();
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"HBas\0\x51", b"HBas\0\x50\xff\xff\xff\xff"] {
        let mut socket = tokio::net::TcpStream::connect(&address).await.unwrap();
        socket.write_all(bytes).await.unwrap();
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest).await;
        assert_eq!(rest, b"");
    }
    let mut wire = Wire::to(&address, "ClientMetaService").await;
    wire.socket.write_all(b"\xff\xff\xff\xff").await.unwrap();
    assert!(wire.take().await.is_none());
    let mut wire = Wire::to(&address, "NoService").await;
    let wrong = wire.call::<GetResponse>("Foo", &Scan::default(), &[]).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&wrong), "UnknownProtocolException");
}
