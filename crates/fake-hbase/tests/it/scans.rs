//! Scanners: numbers of calls, limits, parts of rows, heartbeats, directions, leases.

use std::time::Duration;

use hbase_client::proto::{Column, Scan, ScanRequest};

use fake_hbase::{Fault, ScanStop};

use crate::wire::{Wire, bytes, class, next, opening, texts, with_table};

fn from(start: &'static str) -> Scan {
    Scan { start_row: bytes(start), ..Scan::default() }
}

pub(crate) fn rows(cells: &[hbase_client::cell::Cell]) -> Vec<String> {
    cells.iter().map(|cell| String::from_utf8_lossy(cell.row()).into_owned()).collect()
}

#[tokio::test]
async fn the_call_after_the_one_that_opens_has_number_0() {
    let cluster = with_table(&["a", "b", "c", "d", "e"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    for first in [0, 1] {
        let opened = wire.open(&region, Scan::default(), first).await.unwrap().message;
        assert_eq!((opened.ttl, opened.cells_per_result.len()), (Some(60_000), first as usize));
        assert!(opened.mvcc_read_point.is_some());
        assert_eq!((opened.more_results, opened.more_results_in_region), (Some(true), Some(true)));
        let id = opened.scanner_id;
        // A wrong number leaves the scanner as it was.
        let wrong = wire.scan(next(id, 1, 1)).await.map(|_| ()).unwrap_err();
        assert_eq!((class(&wrong), wrong.do_not_retry), ("OutOfOrderScannerNextException", Some(true)));
        assert_eq!(wire.scan(next(id, 0, 1)).await.unwrap().cells.len(), 1);
        // Renewing uses up a number.
        let renewed = wire.scan(ScanRequest { renew: Some(true), ..next(id, 1, 0) }).await.unwrap();
        assert_eq!((renewed.message.more_results, renewed.cells.len()), (None, 0));
        assert_eq!(wire.scan(next(id, 2, 1)).await.unwrap().cells.len(), 1);
        let close = ScanRequest { close_scanner: Some(true), scanner_id: id, ..ScanRequest::default() };
        wire.scan(close.clone()).await.unwrap();
        // Closing again is no error without a number, and one with a number.
        wire.scan(close.clone()).await.unwrap();
        let again = wire.scan(next(id, 3, 1)).await.map(|_| ()).unwrap_err();
        assert!(again.stack_trace.unwrap().contains("for closed request"));
    }
    assert_eq!(cluster.open_scanners(), 0);
    let unknown = wire.scan(next(Some(5), 0, 1)).await.map(|_| ()).unwrap_err();
    assert_eq!((class(&unknown), unknown.do_not_retry), ("UnknownScannerException", Some(true)));
}

#[tokio::test]
async fn the_end_of_the_region_closes_the_scanner() {
    let cluster = with_table(&["a", "b", "z"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    // The last row comes with the news that no more follow.
    let all = wire.open(&region, Scan::default(), 2).await.unwrap();
    assert_eq!(rows(&all.cells), ["a", "b"]);
    assert_eq!((all.message.more_results, all.message.more_results_in_region), (Some(true), Some(false)));
    assert_eq!(cluster.open_scanners(), 0);
}

#[tokio::test]
async fn a_start_row_outside_of_the_region_gives_nothing_and_no_error() {
    let cluster = with_table(&["a", "z"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let answer = wire.open(&region, from("n"), 10).await.unwrap();
    assert_eq!(answer.cells, []);
    assert_eq!((answer.message.more_results, answer.message.more_results_in_region), (Some(true), Some(false)));
}

#[tokio::test]
async fn bounds_are_included_as_the_scan_says() {
    let cluster = with_table(&["a", "b", "c", "d"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let scan = |start, stop, reversed| Scan { stop_row: bytes(stop), reversed: Some(reversed), ..from(start) };
    for (scan, expected) in [
        (scan("b", "d", false), "bc"),
        (Scan { include_start_row: Some(false), include_stop_row: Some(true), ..scan("b", "d", false) }, "cd"),
        (scan("c", "a", true), "cb"),
        (Scan { include_start_row: Some(false), include_stop_row: Some(true), ..scan("c", "a", true) }, "ba"),
        (scan("", "", true), "dcba"),
        (scan("z", "c", true), "d"),
        // A scan of one row from a client that does not say whether the stop row is included.
        (scan("b", "b", false), "b"),
        (Scan { include_stop_row: Some(false), ..scan("b", "b", false) }, ""),
        (scan("c", "b", false), ""),
    ] {
        let answer = wire.open(&region, scan.clone(), 10).await.unwrap();
        assert_eq!(rows(&answer.cells).concat(), expected, "{scan:?}");
    }
}

#[tokio::test]
async fn a_scanner_reads_rows_as_they_were_when_it_was_opened() {
    let cluster = with_table(&["a", "c"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let id = wire.open(&region, Scan::default(), 1).await.unwrap().message.scanner_id;
    cluster.put("t", b"b", ("f", "q"), b"new").unwrap();
    cluster.put("t", b"c", ("f", "q"), b"new").unwrap();
    assert_eq!(texts(&wire.scan(next(id, 0, 10)).await.unwrap().cells), ["c/q=c"]);
}

#[tokio::test]
async fn stops_and_heartbeats_are_where_the_test_wants_them() {
    let cluster = with_table(&["a", "b"]);
    cluster.put("t", b"a", ("f", "r"), b"x").unwrap();
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let stop = |cells, is_heartbeat| cluster.on_next("Scan", Fault::ScanStops(ScanStop { cells, is_heartbeat }));
    stop(0, true);
    let scan = Scan { need_cursor_result: Some(true), ..Scan::default() };
    let opened = wire.open(&region, scan, 10).await.unwrap().message;
    assert_eq!((opened.heartbeat_message, opened.cells_per_result.len()), (Some(true), 0));
    assert_eq!((opened.more_results_in_region, opened.cursor.unwrap().row), (Some(true), bytes("a")));
    stop(1, true);
    let part = wire.scan(next(opened.scanner_id, 0, 10)).await.unwrap().message;
    assert_eq!((part.heartbeat_message, part.partial_flag_per_result), (Some(true), vec![true]));
    stop(1, false);
    let row = wire.scan(next(opened.scanner_id, 1, 10)).await.unwrap().message;
    assert_eq!((row.heartbeat_message, row.partial_flag_per_result), (None, vec![false]));
    // A call that stops with the last cell does not know it, and the next one gives nothing.
    stop(1, true);
    let last = wire.scan(next(opened.scanner_id, 2, 10)).await.unwrap().message;
    assert_eq!((last.heartbeat_message, last.more_results_in_region), (Some(true), Some(true)));
    let nothing = wire.scan(next(opened.scanner_id, 3, 10)).await.unwrap().message;
    assert_eq!((nothing.cells_per_result.len(), nothing.more_results_in_region), (0, Some(false)));
    // A client that handles no heartbeats has no such end.
    stop(1, true);
    let simple = ScanRequest { client_handles_heartbeats: None, ..opening(&region, Scan::default(), 10) };
    let all = wire.scan(simple).await.unwrap().message;
    assert_eq!((all.heartbeat_message, all.cells_per_result), (None, vec![2, 1]));
    assert_eq!(cluster.waiting_faults(), 0);
}

#[tokio::test]
async fn a_row_can_be_marked_partial_though_it_is_complete() {
    let cluster = with_table(&["a", "b"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    cluster.on_next("Scan", Fault::ScanMarksPartial);
    let opened = wire.open(&region, Scan::default(), 1).await.unwrap().message;
    assert_eq!(opened.partial_flag_per_result, [true]);
    // The next row makes it complete, and the limit of one row was reached by it.
    let limited = ScanRequest { limit_of_rows: Some(1), ..next(opened.scanner_id, 0, 1) };
    let answer = wire.scan(limited).await.unwrap();
    assert_eq!((answer.cells.len(), answer.message.more_results), (0, Some(false)));
}

#[tokio::test]
async fn leases_end() {
    let cluster = with_table(&["a", "b", "c"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let id = wire.open(&region, Scan::default(), 1).await.unwrap().message.scanner_id;
    cluster.end_leases();
    let ended = wire.scan(next(id, 0, 1)).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&ended), "UnknownScannerException");
    cluster.set_lease(Duration::from_millis(1));
    let opened = wire.open(&region, Scan::default(), 1).await.unwrap().message;
    assert_eq!(opened.ttl, Some(1));
    tokio::time::sleep(Duration::from_millis(20)).await;
    let ended = wire.scan(next(opened.scanner_id, 0, 1)).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&ended), "UnknownScannerException");
}

#[tokio::test]
async fn columns_and_times_are_chosen() {
    let cluster = with_table(&["a", "b"]);
    cluster.put("t", b"a", ("f", "r"), b"x").unwrap();
    let now = cluster.now_ms();
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let column = Column { family: "f".into(), qualifier: vec!["r".into()] };
    let answer = wire.open(&region, Scan { column: vec![column], ..Scan::default() }, 10).await.unwrap();
    assert_eq!(texts(&answer.cells), ["a/r=x"]);
    let time_range = Some(hbase_client::proto::TimeRange { from: None, to: Some(now) });
    let answer = wire.open(&region, Scan { time_range, ..Scan::default() }, 10).await.unwrap();
    assert_eq!(texts(&answer.cells), ["a/q=a", "b/q=b"]);
    let column = Column { family: "g".into(), qualifier: Vec::new() };
    let wrong = wire.open(&region, Scan { column: vec![column], ..Scan::default() }, 10).await.map(|_| ());
    assert_eq!(class(&wrong.unwrap_err()), "NoSuchColumnFamilyException");
}
