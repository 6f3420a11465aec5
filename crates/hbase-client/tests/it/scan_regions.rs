//! Scans over several regions: their edges, merges, and rows that are not where they should be.

use hbase_client::{Error, Scan};

use crate::meta_rows::{region, region_name};
use crate::replies::{Call, Reply};
use crate::scans::all;
use crate::scripted::{Scripted, context, run};

#[test]
fn a_scan_goes_over_the_edges_of_regions_in_both_directions() {
    run(async {
        let answer = |_, call: &Call| {
            let (request, scan) = call.opening().unwrap();
            let is_first = request.region.unwrap().value == region_name("", 1);
            match (is_first, scan.reversed == Some(true)) {
                (true, false) => Reply::rows(&["a", "b"], false, true),
                (false, false) => Reply::rows(&["m", "n"], false, true),
                (true, true) => Reply::rows(&["b", "a"], false, true),
                (false, true) => Reply::rows(&["n", "m"], false, true),
            }
        };
        let server = Scripted::start(|_| vec![region("", "m", 1), region("m", "", 2)], answer).await;
        let table = server.table();
        assert_eq!(all(&mut table.scan(Scan::all())).await, ["a", "b", "m", "n"]);
        assert_eq!(all(&mut table.scan(Scan::all().reversed())).await, ["n", "m", "b", "a"]);
        let starts: Vec<_> = server
            .calls()
            .iter()
            .filter_map(Call::opening)
            .map(|(_, scan)| (scan.start_row.unwrap(), scan.include_start_row.unwrap()))
            .collect();
        assert_eq!(starts, [("".into(), true), ("m".into(), true), ("".into(), true), ("m".into(), false)]);
        // The stop row is the edge: the second region is not asked.
        assert_eq!(all(&mut table.scan(Scan::range(&b""[..]..&b"m"[..]))).await, ["a", "b"]);
        assert_eq!(server.scans().len(), 5);
    });
}

/// After a merge the next region begins before the place that the scan has reached.
#[test]
fn after_a_merge_no_row_is_read_twice() {
    run(async {
        let meta = |look_up| match look_up {
            0 => vec![region("", "m", 1), region("m", "", 2)],
            _ => vec![region("", "", 5)],
        };
        let answer = |number, call: &Call| match number {
            0 => Reply::rows(&["a", "b"], false, true),
            1 => Reply::exception("NotServingRegionException", false),
            _ => {
                let (_, scan) = call.opening().unwrap();
                assert_eq!(scan.start_row.as_deref(), Some(&b"m"[..]));
                Reply::rows(&["m", "n"], false, true)
            }
        };
        let server = Scripted::start(meta, answer).await;
        assert_eq!(all(&mut server.table().scan(Scan::all())).await, ["a", "b", "m", "n"]);
    });
}

#[test]
fn rows_out_of_order_are_an_error() {
    for keys in [["b", "a"], ["b", "b"], ["b", "z"]] {
        run(async move {
            let answer = move |_, _: &Call| Reply::rows(&keys, true, true);
            let server = Scripted::start(|_| vec![region("", "m", 1), region("m", "", 2)], answer).await;
            let error = server.table().scan(Scan::all()).next_rows(&context()).await.unwrap_err();
            assert!(matches!(error, Error::RowsOutOfOrder { .. }), "{error}");
        });
    }
}

/// While the caller works on the last rows of a region, the scanner calls the next region, if it knows its server and the scan goes on there.
#[test]
fn the_region_after_the_last_rows_is_asked_ahead() {
    for (knows_regions, stop, calls_ahead) in [(true, "", 1), (false, "", 0), (true, "m", 0), (true, "n", 1)] {
        run(async move {
            let answer = |number, call: &Call| {
                let (request, _) = call.opening().unwrap();
                let is_first = request.region.unwrap().value == region_name("", 1);
                match (is_first, number) {
                    (true, _) => Reply::rows(&["a", "b"], false, true),
                    // The first try of the second region.
                    (false, 1) => Reply::exception("NotServingRegionException", false),
                    (false, _) => Reply::rows(&["m"], false, true),
                }
            };
            let server = Scripted::start(|_| vec![region("", "m", 1), region("m", "", 2)], answer).await;
            let table = server.table();
            if knows_regions {
                table.regions(&context()).await.unwrap();
            }
            let mut scanner = table.scan(Scan::range(&b""[..]..stop.as_bytes()));
            assert_eq!(scanner.next_rows(&context()).await.unwrap().len(), 2);
            server.until(|calls| calls.len() > calls_ahead).await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            assert_eq!((server.calls().len(), scanner.counts().ahead), (1 + calls_ahead, calls_ahead as u64));
            let is_left = stop != "m";
            assert_eq!(all(&mut scanner).await, ["m"][..usize::from(is_left)]);
            assert_eq!(scanner.counts().opened, 1 + u64::from(is_left));
        });
    }
}
