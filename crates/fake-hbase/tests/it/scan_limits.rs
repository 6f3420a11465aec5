//! Limits of scanners: whatever they are, each cell comes once.

use fake_hbase::{Fault, ScanStop};
use hbase_client::proto::{Scan, ScanRequest};
use proptest::prelude::*;

use crate::scans::rows;
use crate::wire::{Wire, next, opening, texts, with_table};

#[tokio::test]
async fn a_limit_of_rows_ends_the_scan() {
    let cluster = with_table(&["a", "b", "c", "d"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let limited = ScanRequest { limit_of_rows: Some(2), ..opening(&region, Scan::default(), 10) };
    let answer = wire.scan(limited).await.unwrap();
    assert_eq!((rows(&answer.cells).concat().as_str(), answer.message.more_results), ("ab", Some(false)));
    let at_once = ScanRequest { close_scanner: Some(true), ..opening(&region, Scan::default(), 3) };
    let answer = wire.scan(at_once).await.unwrap();
    assert_eq!((rows(&answer.cells).concat().as_str(), answer.message.more_results), ("abc", Some(true)));
    assert_eq!(cluster.open_scanners(), 0);
}

#[tokio::test]
async fn a_limit_of_bytes_cuts_rows_for_those_that_handle_parts() {
    let cluster = with_table(&["a", "b"]);
    for qualifier in ["r", "s"] {
        cluster.put("t", b"a", ("f", qualifier), b"x").unwrap();
    }
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let scan = Scan { max_result_size: Some(1), ..Scan::default() };
    let opened = wire.open(&region, scan.clone(), 10).await.unwrap();
    assert_eq!((texts(&opened.cells), &opened.message.partial_flag_per_result), (vec!["a/q=a".into()], &vec![true]));
    let id = opened.message.scanner_id;
    let second = wire.scan(next(id, 0, 10)).await.unwrap();
    assert_eq!((texts(&second.cells), &second.message.partial_flag_per_result), (vec!["a/r=x".into()], &vec![true]));
    let third = wire.scan(next(id, 1, 10)).await.unwrap();
    assert_eq!((texts(&third.cells), &third.message.partial_flag_per_result), (vec!["a/s=x".into()], &vec![false]));
    // A row that comes in parts counts once for the limit of rows.
    let last = wire.scan(ScanRequest { limit_of_rows: Some(1), ..next(id, 2, 10) }).await.unwrap();
    assert_eq!((rows(&last.cells).concat().as_str(), last.message.more_results), ("b", Some(false)));

    let whole = ScanRequest { client_handles_partials: None, ..opening(&region, scan, 10) };
    let answer = wire.scan(whole).await.unwrap();
    assert_eq!((answer.cells.len(), answer.message.more_results_in_region), (3, Some(true)));
}

#[tokio::test]
async fn a_batch_cuts_rows_into_parts() {
    let cluster = with_table(&["a", "b"]);
    for qualifier in ["r", "s"] {
        cluster.put("t", b"a", ("f", qualifier), b"x").unwrap();
    }
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let scan = Scan { batch_size: Some(2), ..Scan::default() };
    let answer = wire.open(&region, scan, 10).await.unwrap().message;
    assert_eq!(answer.cells_per_result, [2, 1, 1]);
    assert_eq!(answer.partial_flag_per_result, [true, false, false]);
}

#[tokio::test]
async fn a_limit_that_the_last_cell_reaches_hides_the_end() {
    let cluster = with_table(&["a"]);
    let region = cluster.region_of("t", b"").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"").await;
    let by_bytes = Scan { max_result_size: Some(1), ..Scan::default() };
    let by_batch = Scan { batch_size: Some(1), ..Scan::default() };
    for (scan, rows) in [(by_bytes, 10), (by_batch, 1)] {
        let opened = wire.open(&region, scan, rows).await.unwrap().message;
        let said = (opened.cells_per_result.len(), opened.more_results_in_region, opened.partial_flag_per_result);
        assert_eq!(said, (1, Some(true), vec![false]));
        let nothing = wire.scan(next(opened.scanner_id, 0, 10)).await.unwrap().message;
        assert_eq!((nothing.cells_per_result.len(), nothing.more_results_in_region), (0, Some(false)));
    }
}

proptest! {
    /// Whatever the limits, the parts that come are the cells of the range, once each and in order.
    #[test]
    fn a_scan_gives_each_cell_once(
        rows in proptest::collection::btree_map("[a-l]{1,2}", 1..4_usize, 0..8),
        (start, stop) in ("[a-l]{0,2}", "[a-l]{0,2}"),
        (include_start, include_stop, reversed, partials) in any::<(bool, bool, bool, bool)>(),
        (max_bytes, batch, per_call) in (0..200_u64, 0..3_u32, 1..4_u32),
        stops in proptest::collection::vec(0..4_usize, 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cluster = with_table(&[]);
            for (row, cells) in &rows {
                for qualifier in &["q", "r", "s"][..*cells] {
                    cluster.put("t", row.as_bytes(), ("f", qualifier), b"x").unwrap();
                }
            }
            let is_in = |row: &str| {
                let (low, high, low_in, high_in) =
                    if reversed { (&stop, &start, include_stop, include_start) } else { (&start, &stop, include_start, include_stop) };
                (low.is_empty() || row > low.as_str() || row == low && low_in)
                    && (high.is_empty() || row < high.as_str() || row == high && high_in)
            };
            let mut expected: Vec<String> = Vec::new();
            let in_order: Vec<_> = if reversed { rows.iter().rev().collect() } else { rows.iter().collect() };
            for (row, cells) in in_order.into_iter().filter(|(row, _)| is_in(row)) {
                expected.extend(["q", "r", "s"][..*cells].iter().map(|qualifier| format!("{row}/{qualifier}=x")));
            }
            for cells in stops {
                let stop = ScanStop { cells, is_heartbeat: cells % 2 == 0 };
                cluster.on_next("Scan", Fault::ScanStops(stop));
            }
            let region = cluster.region_of("t", b"").unwrap();
            let mut wire = Wire::of_row(&cluster, "t", b"").await;
            let scan = Scan {
                start_row: Some(start.clone().into()),
                stop_row: Some(stop.clone().into()),
                include_start_row: Some(include_start),
                include_stop_row: Some(include_stop),
                reversed: Some(reversed),
                max_result_size: Some(max_bytes),
                batch_size: Some(batch),
                ..Scan::default()
            };
            let with = |request: ScanRequest| ScanRequest { client_handles_partials: Some(partials), ..request };
            let mut answer = wire.scan(with(opening(&region, scan, per_call))).await.unwrap();
            let mut given = texts(&answer.cells);
            for seq in 0.. {
                assert!(seq < 200, "the scan does not end");
                assert_eq!(answer.message.more_results, Some(true));
                if answer.message.more_results_in_region == Some(false) {
                    break;
                }
                answer = wire.scan(with(next(answer.message.scanner_id, seq, per_call))).await.unwrap();
                given.extend(texts(&answer.cells));
            }
            assert_eq!(given, expected);
            assert_eq!(cluster.open_scanners(), 0);
        });
    }
}
