//! Scans: numbers of calls, partial rows, leases, edges of regions.

use hbase_client::cell::{Cell, CellKind, CellParts};
use hbase_client::proto::{self, ScanResponse};
use hbase_client::{CallContext, Scan, Scanner};

use crate::meta_rows::region;
use crate::replies::{Call, Reply, cell};
use crate::scripted::{Scripted, context, run};

pub(crate) async fn all(scanner: &mut Scanner) -> Vec<String> {
    let mut keys = Vec::new();
    while let Some(row) = scanner.next_row(&context()).await.unwrap() {
        keys.push(String::from_utf8_lossy(row.key()).into_owned());
    }
    keys
}

#[test]
fn the_call_after_the_opening_has_number_zero_and_renewals_are_counted() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::rows(&["a"], true, true),
            // The call that is sent ahead.
            1 => Reply::rows(&["b"], true, true),
            // The renewal.
            2 => Reply::rows(&[], true, true),
            3 => Reply::rows(&["c"], true, true),
            _ => Reply::rows(&[], false, true),
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let mut scanner = server.table().scan(Scan::all());
        scanner.next_rows(&context()).await.unwrap();
        scanner.renew(&context()).await;
        assert_eq!(all(&mut scanner).await, ["b", "c"]);
        let scans = server.scans();
        let numbers: Vec<_> = scans.iter().map(|scan| (scan.next_call_seq, scan.renew == Some(true))).collect();
        assert_eq!(numbers, [(None, false), (Some(0), false), (Some(1), true), (Some(2), false), (Some(3), false)]);
    });
}

/// A partial row, then an exception that forbids another try: the scan opens again after the last complete row, and reads the row again.
#[test]
fn a_scan_goes_on_after_the_last_complete_row() {
    for class in [
        "exceptions.OutOfOrderScannerNextException",
        "UnknownScannerException",
        "exceptions.ScannerResetException",
        "NotServingRegionException",
        "regionserver.LeaseException",
    ] {
        run(async move {
            let answer = move |number, _: &Call| match number {
                0 => {
                    let cells: Vec<Cell> = vec![cell("a", "p"), cell("a", "q"), cell("b", "p")];
                    let response = ScanResponse {
                        cells_per_result: vec![2, 1],
                        partial_flag_per_result: vec![false, true],
                        scanner_id: Some(7),
                        more_results: Some(true),
                        more_results_in_region: Some(true),
                        ..ScanResponse::default()
                    };
                    Reply::of(&response, &cells)
                }
                1 => Reply::exception(class, true),
                _ => {
                    let cells = vec![cell("b", "p"), cell("b", "q"), cell("c", "p")];
                    let response = ScanResponse {
                        cells_per_result: vec![2, 1],
                        scanner_id: Some(8),
                        more_results_in_region: Some(false),
                        ..ScanResponse::default()
                    };
                    Reply::of(&response, &cells)
                }
            };
            let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
            let mut scanner = server.table().scan(Scan::all());
            let mut rows = Vec::new();
            while let Some(row) = scanner.next_row(&context()).await.unwrap() {
                rows.push((String::from_utf8_lossy(row.key()).into_owned(), row.cells().len()));
            }
            assert_eq!(rows, [("a".into(), 2), ("b".into(), 2), ("c".into(), 1)], "{class}");
            let openings: Vec<_> = server.calls().iter().filter_map(Call::opening).collect();
            assert_eq!(openings.len(), 2);
            let (_, again) = &openings[1];
            assert_eq!(again.start_row.as_deref(), Some(&b"a"[..]));
            assert_eq!(again.include_start_row, Some(false));
        });
    }
}

#[test]
fn a_heartbeat_does_not_end_a_row() {
    run(async {
        let piece = |cells: &[Cell], partial, more, heartbeat| {
            let response = ScanResponse {
                cells_per_result: if cells.is_empty() { vec![] } else { vec![cells.len() as u32] },
                partial_flag_per_result: if cells.is_empty() { vec![] } else { vec![partial] },
                scanner_id: Some(7),
                more_results_in_region: Some(more),
                heartbeat_message: Some(heartbeat),
                ..ScanResponse::default()
            };
            Reply::of(&response, cells)
        };
        let answer = move |number, _: &Call| match number {
            0 => piece(&[cell("a", "p")], true, true, false),
            1 => piece(&[], false, true, true),
            2 => piece(&[cell("a", "q")], false, true, false),
            _ => piece(&[], false, false, false),
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let mut scanner = server.table().scan(Scan::all());
        let rows = scanner.next_rows(&context()).await.unwrap();
        assert_eq!((rows.len(), rows[0].cells().len()), (1, 2));
        assert!(scanner.next_rows(&context()).await.unwrap().is_empty());
        assert_eq!(scanner.counts().heartbeats, 1);
    });
}

#[test]
fn a_scan_with_a_limit_takes_one_call() {
    run(async {
        let answer = |_, _: &Call| Reply::rows(&["a", "b"], true, false);
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let mut scanner = server.table().scan(Scan::all().limit(2));
        assert_eq!(all(&mut scanner).await, ["a", "b"]);
        drop(scanner);
        let scans = server.scans();
        assert_eq!(scans.len(), 1);
        assert_eq!((scans[0].limit_of_rows, scans[0].close_scanner), (Some(2), Some(true)));
    });
}

/// The call that opened and closed a scanner had no room for all rows: the rest comes from another scanner.
#[test]
fn a_limit_that_does_not_fit_into_one_call_goes_on() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::rows(&["a"], true, true),
            _ => Reply::rows(&["b"], true, false),
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        let mut scanner = server.table().scan(Scan::all().limit(2));
        assert_eq!(all(&mut scanner).await, ["a", "b"]);
        let openings: Vec<_> = server.calls().iter().filter_map(Call::opening).collect();
        let (request, scan) = &openings[1];
        assert_eq!((request.limit_of_rows, request.close_scanner), (Some(1), Some(false)));
        assert_eq!((scan.start_row.as_deref(), scan.include_start_row), (Some(&b"a"[..]), Some(false)));
    });
}

#[test]
fn an_overloaded_server_is_asked_the_same_again() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::rows(&["a"], true, true),
            1 => Reply::exception("CallQueueTooBigException", false),
            _ => Reply::rows(&["b"], false, true),
        };
        let server = Scripted::start(|_| vec![region("", "", 1)], answer).await;
        assert_eq!(all(&mut server.table().scan(Scan::all())).await, ["a", "b"]);
        let scans = server.scans();
        assert_eq!((scans[1].next_call_seq, scans[2].next_call_seq), (Some(0), Some(0)));
        assert_eq!(scans.len(), 3);
    });
}

#[test]
fn a_silent_server_ends_a_scan_at_its_deadline() {
    run(async {
        let server = Scripted::start(|_| vec![region("", "", 1)], |_, _| Reply::Silence).await;
        let bounds = CallContext::within(std::time::Duration::from_millis(100));
        let error = server.table().scan(Scan::all()).next_rows(&bounds).await.unwrap_err();
        assert_eq!(error.server(), Some(&server.address));
    });
}

/// The rows of a coprocessor have keys of their own. After one of them no other scanner can go on.
#[test]
fn computed_rows_have_no_order_and_are_not_read_twice() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::rows(&["z", "a"], false, true),
            // The second region: a failure before its first row, and one after it.
            1 => Reply::exception("UnknownScannerException", true),
            2 => Reply::rows(&["a"], true, true),
            _ => Reply::exception("UnknownScannerException", true),
        };
        let server = Scripted::start(|_| vec![region("", "m", 1), region("m", "", 2)], answer).await;
        let mut scanner = server.table().scan(Scan::all().computed_rows());
        assert_eq!(scanner.next_rows(&context()).await.unwrap().len(), 2);
        assert_eq!(scanner.next_rows(&context()).await.unwrap().len(), 1);
        assert!(scanner.next_rows(&context()).await.is_err());
        assert_eq!(scanner.next_rows(&context()).await.unwrap(), []);
        assert_eq!(server.calls().len(), 4);
    });
}

/// A coprocessor refuses a range beyond its region, and shows with cells without names that it goes on.
#[test]
fn computed_rows_are_asked_of_each_region_within_its_bounds() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::rows(&["a"], false, true),
            1 => {
                let parts =
                    CellParts { row: b"p", family: b"", qualifier: b"", timestamp: 1, kind: CellKind::PUT, value: b"" };
                let response = ScanResponse {
                    cells_per_result: vec![1],
                    scanner_id: Some(7),
                    more_results: Some(true),
                    more_results_in_region: Some(true),
                    ..ScanResponse::default()
                };
                Reply::of(&response, &[Cell::new(parts).unwrap()])
            }
            // The region is read again, because no row of it was given.
            2 => Reply::exception("UnknownScannerException", true),
            _ => Reply::rows(&["b"], false, true),
        };
        let server =
            Scripted::start(|_| vec![region("", "m", 1), region("m", "t", 2), region("t", "", 3)], answer).await;
        let scan = Scan::range(&b"c"[..]..&b"t"[..]).computed_rows();
        assert_eq!(all(&mut server.table().scan(scan)).await, ["a", "b"]);
        let bounds = |scan: &proto::Scan| (scan.start_row.clone().unwrap(), scan.stop_row.clone().unwrap());
        let opened: Vec<_> = server.scans().iter().filter_map(|call| call.scan.as_ref().map(bounds)).collect();
        let expected = [("c", "m"), ("m", "t"), ("m", "t")].map(|(start, stop)| (start.into(), stop.into()));
        assert_eq!(opened, expected);
    });
}
