//! Looking up regions, in the middle of splits and moves.

use fake_hbase::{Cluster, Fault, ScanStop};
use hbase_client::proto::{ExceptionResponse, GetRequest, GetResponse, RowResult};
use hbase_client::{Client, Error, Get, Registry, Scan};

use crate::meta_rows::{MetaRow, region, region_name};
use crate::replies::{Reply, cell};
use crate::scripted::{Scripted, context, run};

fn found() -> Reply {
    let result = RowResult { associated_cell_count: Some(1), ..RowResult::default() };
    Reply::of(&GetResponse { result: Some(result) }, &[cell("c", "q")])
}

fn parent(start: &'static str, end: &'static str, id: u64) -> MetaRow {
    MetaRow { is_split: true, ..region(start, end, id) }
}

fn being_opened(start: &'static str, end: &'static str, id: u64) -> MetaRow {
    MetaRow { in_service: false, ..region(start, end, id) }
}

#[test]
fn a_split_is_waited_for() {
    run(async {
        let meta = |look_up| match look_up {
            // The parent is split, and its daughters are not yet in service.
            0..3 => vec![region("", "b", 1), parent("b", "", 2), being_opened("b", "m", 5), being_opened("m", "", 5)],
            _ => vec![region("", "b", 1), parent("b", "", 2), region("b", "m", 5), region("m", "", 5)],
        };
        let server = Scripted::start(meta, |_, _| found()).await;
        let row = server.table().get(&context(), Get::new("c")).await.unwrap();
        assert_eq!(row.key(), b"c");
        let calls = server.calls();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].decode::<GetRequest>().region.value, region_name("b", 5));
    });
}

/// During a split a look-up may lead to the region before. A server takes a scan that begins outside of its region, and answers with no
/// rows and no error.
#[test]
fn a_scan_never_begins_outside_of_its_region() {
    run(async {
        let meta = |look_up| match look_up {
            0..2 => vec![region("", "b", 1)],
            _ => vec![region("", "b", 1), region("b", "", 5)],
        };
        let answer = |_, call: &crate::replies::Call| {
            let (request, _) = call.opening().unwrap();
            match request.region.unwrap().value == region_name("b", 5) {
                true => Reply::rows(&["c", "d"], false, true),
                false => Reply::rows(&[], false, true),
            }
        };
        let server = Scripted::start(meta, answer).await;
        let mut scanner = server.table().scan(Scan::range("c".as_bytes()..));
        assert_eq!(scanner.next_rows(&context()).await.unwrap().len(), 2);
        assert_eq!(server.scans().len(), 1);
    });
}

#[test]
fn a_table_is_not_there_only_if_it_has_no_rows_at_all() {
    run(async {
        let server = Scripted::start(|_| Vec::new(), |_, _| found()).await;
        let error = server.table().get(&context(), Get::new("c")).await.unwrap_err();
        assert_eq!(error, Error::TableNotFound { table: "t".into() });

        let server = Scripted::start(|_| vec![region("", "b", 1)], |_, _| found()).await;
        let error = server.table().get(&context().with_retries(3), Get::new("c")).await.unwrap_err();
        assert!(matches!(error, Error::RetriesUsedUp { tries: 4, .. }), "{error}");
        assert_eq!(server.calls().len(), 0);
    });
}

#[test]
fn a_region_that_moved_is_asked_at_its_new_place_at_once() {
    run(async {
        let there = Scripted::start(|_| Vec::new(), |_, _| found()).await;
        let place = there.address.clone();
        let moved = move |_, _: &_| {
            Reply::Exception(ExceptionResponse {
                exception_class_name: Some("org.apache.hadoop.hbase.exceptions.RegionMovedException".into()),
                hostname: Some(place.host.to_string()),
                port: Some(i32::from(place.port)),
                ..ExceptionResponse::default()
            })
        };
        let here = Scripted::start(|_| vec![region("", "", 1)], moved).await;
        let table = here.table();
        for _ in 0..2 {
            assert!(!table.get(&context(), Get::new("c")).await.unwrap().is_empty());
        }
        assert_eq!((here.look_ups(), here.calls().len(), there.calls().len()), (1, 1, 2));
    });
}

#[test]
fn many_calls_wait_for_one_look_up() {
    run(async {
        let server = Scripted::start(|_| vec![region("", "", 1)], |_, _| found()).await;
        let table = server.table();
        let gets: Vec<_> = (0..50)
            .map(|_| {
                let table = table.clone();
                tokio::spawn(async move { table.get(&context(), Get::new("c")).await })
            })
            .collect();
        for get in gets {
            get.await.unwrap().unwrap();
        }
        assert_eq!((server.look_ups(), server.calls().len()), (1, 50));
    });
}

/// A server whose time is over in the middle of the row of a region sends a part of the row: that is no table without regions.
#[test]
fn a_region_whose_row_comes_in_parts_is_looked_up_again() {
    run(async {
        let cluster = Cluster::start(1).unwrap();
        cluster.create_table("t", &["f"], &[]).unwrap();
        cluster.put("t", b"a", ("f", "q"), b"v").unwrap();
        let stop = ScanStop { cells: 1, is_heartbeat: true };
        cluster.on_call(2, |call| call.is_meta(), Fault::ScanStops(stop));
        let client = Client::new(Registry::servers([cluster.master().as_str()]).unwrap());
        let row = client.table_named("t").unwrap().get(&context(), Get::new("a")).await.unwrap();
        assert_eq!(row.value(b"f", b"q").map(|value| value.to_vec()), Some(b"v".to_vec()));
    });
}
