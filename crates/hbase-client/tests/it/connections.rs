//! Connections that break, and servers that answer with nonsense.

use std::time::Duration;

use hbase_client::proto::{GetResponse, RowResult};
use hbase_client::{Address, CallContext, Client, Error, Get, Registry};

use crate::meta_rows::region;
use crate::replies::{Call, Reply, cell};
use crate::scripted::{Scripted, context, run};

fn found() -> Reply {
    let result = RowResult { associated_cell_count: Some(1), ..RowResult::default() };
    Reply::of(&GetResponse { result: Some(result) }, &[cell("a", "q")])
}

#[test]
fn a_read_goes_on_with_another_connection() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::Close,
            1 => Reply::Garbage,
            _ => found(),
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        assert!(!server.table().get(&context(), Get::new("a")).await.unwrap().is_empty());
        assert_eq!(server.calls().len(), 3);
    });
}

#[test]
fn answers_in_any_order_reach_their_calls() {
    run(async {
        // The first call has no answer until its deadline; those after it have theirs.
        let answer = |number, _: &Call| if number == 0 { Reply::Silence } else { found() };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let table = server.table();
        let bounds = CallContext::within(Duration::from_millis(300));
        let (slow, ()) = tokio::join!(table.get(&bounds, Get::new("a")), async {
            server.until(|calls| !calls.is_empty()).await;
            assert!(table.get(&context(), Get::new("a")).await.is_ok());
        });
        assert_eq!(slow.unwrap_err().server(), Some(&server.address));
    });
}

#[test]
fn a_count_of_cells_that_are_not_there_is_an_error() {
    run(async {
        let answer = |_, _: &Call| {
            let result = RowResult { associated_cell_count: Some(i32::MAX), ..RowResult::default() };
            Reply::of(&GetResponse { result: Some(result) }, &[cell("a", "q")])
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let error = server.table().get(&context(), Get::new("a")).await.unwrap_err();
        assert!(matches!(error, Error::Answer { method: "Get", .. }), "{error}");
    });
}

#[test]
fn a_registry_without_servers_is_named_in_the_error() {
    run(async {
        let client = Client::new(Registry::Servers(vec![Address::new("127.0.0.1", 1)]));
        let table = client.table_named("t").unwrap();
        let error = table.get(&context().with_retries(2), Get::new("a")).await.unwrap_err();
        assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    });
}

#[test]
fn an_overloaded_server_is_asked_again_later() {
    run(async {
        let answer = |number, _: &Call| {
            if number < 3 { Reply::exception("CallQueueTooBigException", false) } else { found() }
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        assert!(server.table().get(&context(), Get::new("a")).await.is_ok());
        // The region is where it was: no look-up.
        assert_eq!((server.look_ups(), server.calls().len()), (1, 4));
    });
}

/// The server that the caller named is gone: the others that the client has met know where the cluster is.
#[test]
fn servers_that_were_met_are_registries_too() {
    run(async {
        let cluster = fake_hbase::Cluster::start(3).unwrap();
        cluster.create_table("t", &["f"], &[b"b", b"c"]).unwrap();
        let servers = cluster.servers();
        for (row, server) in ["a", "b", "c"].into_iter().zip(&servers) {
            cluster.move_region("t", row.as_bytes(), *server).unwrap();
            cluster.put("t", row.as_bytes(), ("f", "q"), b"v").unwrap();
        }
        cluster.move_meta(servers[0]).unwrap();
        let named = cluster.address(servers[0]).unwrap();
        let table = Client::new(Registry::servers([named.as_str()]).unwrap()).table_named("t").unwrap();
        for row in ["a", "b", "c"] {
            assert!(!table.get(&context(), Get::new(row)).await.unwrap().is_empty());
        }
        cluster.kill(servers[0]).unwrap();
        cluster.recover().unwrap();
        assert!(!table.get(&context(), Get::new("a")).await.unwrap().is_empty());
    });
}

/// Servers answer such keys with an exception that asks for another try: nothing is sent.
#[test]
fn wrong_row_keys_are_refused_at_once() {
    run(async {
        let server = Scripted::start(|_| vec![region("", "", 1)], |_, _| found()).await;
        let table = server.table();
        for key in [Vec::new(), vec![b'a'; 40_000]] {
            let error = table.get(&context(), Get::new(key.clone())).await.unwrap_err();
            assert!(matches!(error, Error::Request(_)), "{error}");
            assert!(table.get_many(&context(), vec![Get::new(key)]).await[0].is_err());
        }
        let long = vec![b'a'; 40_000];
        let error = table.scan(hbase_client::Scan::range(&long[..]..)).next_rows(&context()).await.unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error}");
        assert_eq!(server.calls().len(), 0);
        assert!(table.get(&context(), Get::new(vec![b'a'; 32_767])).await.is_ok());
    });
}
