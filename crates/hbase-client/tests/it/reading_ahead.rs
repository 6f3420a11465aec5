//! A scanner asks for the next rows while the caller works: numbers of calls, cancelled calls, dropped scanners, renewals.

use std::sync::Arc;
use std::time::Duration;

use hbase_client::cell::Cell;
use hbase_client::proto::ScanResponse;
use hbase_client::{Scan, Scanner};
use tokio::sync::Notify;

use crate::meta_rows::region;
use crate::replies::{Call, Reply, cell};
use crate::scripted::{Scripted, context, run};

async fn start(answer: impl Fn(usize, &Call) -> Reply + Send + Sync + 'static) -> Scripted {
    Scripted::start(|_| vec![region("", "", 1)], answer).await
}

/// The keys of all rows that are left, with the numbers of their cells.
async fn all(scanner: &mut Scanner) -> Vec<(String, usize)> {
    let mut rows = Vec::new();
    while let Some(row) = scanner.next_row(&context()).await.unwrap() {
        rows.push((String::from_utf8_lossy(row.key()).into_owned(), row.cells().len()));
    }
    rows
}

fn rows(rows: &[(&str, usize)]) -> Vec<(String, usize)> {
    rows.iter().map(|(key, cells)| ((*key).to_owned(), *cells)).collect()
}

/// Time for calls that must not come.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// Whole rows of one cell, and the first cell of another row.
fn with_a_part(keys: &[&str], part: &str) -> Reply {
    let cells: Vec<Cell> = keys.iter().chain([&part]).map(|key| cell(key, "p")).collect();
    let response = ScanResponse {
        cells_per_result: vec![1; cells.len()],
        partial_flag_per_result: [vec![false; keys.len()], vec![true]].concat(),
        scanner_id: Some(7),
        more_results: Some(true),
        more_results_in_region: Some(true),
        ..ScanResponse::default()
    };
    Reply::of(&response, &cells)
}

/// One row of two cells, which ends the region.
fn two_cells(key: &str) -> Reply {
    let response = ScanResponse {
        cells_per_result: vec![2],
        scanner_id: Some(8),
        more_results_in_region: Some(false),
        ..ScanResponse::default()
    };
    Reply::of(&response, &[cell(key, "p"), cell(key, "q")])
}

#[test]
fn one_call_is_under_way_while_the_caller_works() {
    run(async {
        let answer = |number, _: &Call| match number {
            0 => Reply::rows(&["a"], true, true),
            1 => Reply::rows(&["b"], true, true),
            _ => Reply::rows(&["c"], false, true),
        };
        let server = start(answer).await;
        let mut scanner = server.table().scan(Scan::all());
        for calls in [2, 3, 3] {
            assert_eq!(scanner.next_rows(&context()).await.unwrap().len(), 1);
            server.until(|all| all.len() == calls).await;
            a_moment().await;
            assert_eq!(server.calls().len(), calls);
        }
        assert!(scanner.next_rows(&context()).await.unwrap().is_empty());
        drop(scanner);
        a_moment().await;
        assert_eq!(server.calls().len(), 3, "nothing is left to close");
    });
}

/// The number of rows, and of bytes, that the caller wants: no call is sent when they are there.
#[test]
fn scans_that_have_enough_ask_no_more() {
    let limits = |rows, per_call| Scan::all().limit(rows).rows_per_call(per_call);
    // Each answer has two rows, of 24 bytes each, and says that the region has more. The last call closes the scanner.
    for (scan, reads, closes) in [
        (limits(2, 10), 1, 0),
        (limits(2, 1), 1, 1),
        (limits(4, 2), 2, 1),
        (limits(3, 2), 2, 1),
        (Scan::all().limit_bytes(1), 1, 1),
        (Scan::all().limit_bytes(60), 2, 1),
    ] {
        run(async move {
            let answer = |number: usize, _: &Call| {
                let keys = [format!("{number}a"), format!("{number}b")];
                Reply::rows(&[keys[0].as_str(), &keys[1]], true, true)
            };
            let server = start(answer).await;
            let text = format!("{scan:?}");
            let mut scanner = server.table().scan(scan);
            while !scanner.next_rows(&context()).await.unwrap().is_empty() {
                a_moment().await;
            }
            drop(scanner);
            server.until(|all| all.len() >= reads + closes).await;
            a_moment().await;
            let closing =
                server.scans().iter().filter(|scan| scan.scan.is_none() && scan.close_scanner == Some(true)).count();
            assert_eq!((server.calls().len(), closing), (reads + closes, closes), "{text}");
        });
    }
}

#[test]
fn a_small_scan_is_one_call() {
    run(async {
        let server = start(|_, _| Reply::rows(&["a"], false, true)).await;
        let mut scanner = server.table().scan(Scan::all());
        assert_eq!(all(&mut scanner).await, rows(&[("a", 1)]));
        assert_eq!((server.calls().len(), scanner.counts().ahead), (1, 0));
    });
}

/// The client tells the server after the server has answered: before that, the server would refuse to close a scanner that it reads.
#[test]
fn a_scanner_that_is_dropped_is_closed_after_its_call() {
    for region_has_more in [true, false] {
        run(async move {
            let now = Arc::new(Notify::new());
            let late = Arc::clone(&now);
            let answer = move |number, _: &Call| match number {
                0 => Reply::rows(&["a"], true, true),
                _ => Reply::Late(Arc::clone(&late), Box::new(Reply::rows(&["b"], region_has_more, true))),
            };
            let server = start(answer).await;
            let mut scanner = server.table().scan(Scan::all());
            scanner.next_rows(&context()).await.unwrap();
            server.until(|calls| calls.len() == 2).await;
            drop(scanner);
            a_moment().await;
            assert_eq!(server.calls().len(), 2);
            now.notify_one();
            if region_has_more {
                server.until(|calls| calls.len() == 3).await;
                let scans = server.scans();
                assert_eq!((scans[2].close_scanner, scans[2].scanner_id), (Some(true), Some(7)));
            } else {
                a_moment().await;
                assert_eq!(server.calls().len(), 2, "the server has closed it");
            }
        });
    }
}

/// The call goes on, and the next one gets its answer: neither a scanner nor a row is lost.
#[test]
fn a_cancelled_call_loses_nothing() {
    run(async {
        let now = Arc::new(Notify::new());
        let late = Arc::clone(&now);
        let answer = move |number, _: &Call| match number {
            0 => with_a_part(&["a"], "b"),
            _ => Reply::Late(Arc::clone(&late), Box::new(two_cells("c"))),
        };
        let server = start(answer).await;
        let mut scanner = server.table().scan(Scan::all());
        scanner.next_rows(&context()).await.unwrap();
        for _ in 0..2 {
            let bounds = context();
            tokio::select! {
                _ = scanner.next_rows(&bounds) => panic!("there is no answer"),
                () = a_moment() => {}
            }
        }
        now.notify_one();
        assert_eq!(all(&mut scanner).await, rows(&[("b", 1), ("c", 2)]));
        assert_eq!(server.calls().len(), 2);
    });
}

/// An attempt that ends without an answer costs a scanner. The row of which there was a part is read again.
#[test]
fn a_call_without_an_answer_is_made_again_by_another_scanner() {
    run(async {
        let answer = |number, call: &Call| match (number, call.opening()) {
            (0, _) => with_a_part(&["a"], "b"),
            (_, Some((_, scan))) => {
                assert_eq!(scan.start_row.as_deref(), Some(&b"a"[..]));
                two_cells("b")
            }
            _ => Reply::Silence,
        };
        let server = start(answer).await;
        let mut scanner = server.table().scan(Scan::all());
        let bounds = context().with_attempts_of(Duration::from_millis(50));
        scanner.next_rows(&bounds).await.unwrap();
        let row = scanner.next_row(&bounds).await.unwrap().unwrap();
        assert_eq!((row.key(), row.cells().len()), (&b"b"[..], 2));
        assert_eq!(scanner.counts().failures, 1);
        let closes = |call: &Call| call.decode::<hbase_client::proto::ScanRequest>().close_scanner == Some(true);
        server.until(|calls| calls.iter().any(|call| call.opening().is_none() && closes(call))).await;
    });
}

/// A call that was sent under a context has the time of an attempt, though the context's deadline comes before its answer.
#[test]
fn a_call_that_is_sent_ahead_outlives_the_deadline() {
    run(async {
        let now = Arc::new(Notify::new());
        let late = Arc::clone(&now);
        let answer = move |number, _: &Call| match number {
            0 => Reply::rows(&["a"], true, true),
            _ => Reply::Late(Arc::clone(&late), Box::new(Reply::rows(&["b"], false, true))),
        };
        let server = start(answer).await;
        let mut scanner = server.table().scan(Scan::all());
        let bounds = hbase_client::CallContext::within(Duration::from_secs(1));
        scanner.next_rows(&bounds).await.unwrap();
        tokio::time::sleep_until(bounds.deadline()).await;
        now.notify_one();
        assert_eq!(all(&mut scanner).await, rows(&[("b", 1)]));
        assert_eq!((server.calls().len(), scanner.counts().failures), (2, 0));
    });
}

/// If a renewal fails, the answer before it is not lost, but the scanner is.
#[test]
fn a_renewal_that_fails_costs_a_scanner() {
    run(async {
        let answer = |number, call: &Call| match number {
            0 => Reply::rows(&["a"], true, true),
            1 => with_a_part(&["b"], "c"),
            2 => Reply::exception("UnknownScannerException", true),
            _ => {
                let (_, scan) = call.opening().unwrap();
                assert_eq!(scan.start_row.as_deref(), Some(&b"b"[..]));
                two_cells("c")
            }
        };
        let server = start(answer).await;
        let mut scanner = server.table().scan(Scan::all());
        scanner.next_rows(&context()).await.unwrap();
        scanner.renew(&context()).await;
        assert_eq!(all(&mut scanner).await, rows(&[("b", 1), ("c", 2)]));
        assert_eq!(server.calls().len(), 4);
    });
}
