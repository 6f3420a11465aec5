//! Random schedules: nothing is lost, whatever happens.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use hbase_client::cell::Cell;
use hbase_client::proto::{MutateRequest, RegionInfo, Scan, ScanRequest};
use proptest::prelude::*;
use prost::Message;

use fake_hbase::{Cluster, Event, Kind, RegionId, Schedule};

use crate::wire::{Wire, named, put, row};

fn cases() -> ProptestConfig {
    ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(8), ..ProptestConfig::default() }
}

const ROWS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// Regions that cover all rows once, in their order.
fn cover(regions: &[RegionId]) {
    assert!(regions[0].start.is_empty() && regions[regions.len() - 1].end.is_empty());
    for pair in regions.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
        assert!(!pair[0].end.is_empty());
    }
}

/// The regions and servers of the table as the catalog has them.
async fn catalog(cluster: &Cluster) -> Vec<(RegionInfo, Option<String>)> {
    let meta = RegionId { table: "hbase:meta".into(), start: "".into(), end: "".into(), number: 1 };
    let mut wire = Wire::of_row(cluster, "hbase:meta", b"").await;
    let scan = Scan { start_row: Some("t,".into()), stop_row: Some("t-".into()), ..Scan::default() };
    let request = ScanRequest {
        region: Some(named(&meta)),
        scan: Some(scan),
        number_of_rows: Some(1000),
        close_scanner: Some(true),
        ..ScanRequest::default()
    };
    let answer = wire.scan(request).await.unwrap();
    let mut rows: Vec<(Bytes, BTreeMap<Bytes, Bytes>)> = Vec::new();
    for cell in &answer.cells {
        if rows.last().is_none_or(|(row, _)| *row != cell.row()) {
            rows.push((cell.row_bytes(), BTreeMap::new()));
        }
        let columns = &mut rows.last_mut().unwrap().1;
        columns.insert(Bytes::copy_from_slice(cell.qualifier()), cell.value_bytes());
    }
    let of = |(_, columns): (Bytes, BTreeMap<Bytes, Bytes>)| {
        let info = RegionInfo::decode(columns[&b"regioninfo"[..]].slice(4..)).unwrap();
        (info, columns.get(&b"server"[..]).map(|server| String::from_utf8_lossy(server).into_owned()))
    };
    rows.into_iter().map(of).collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn regions_cover_all_rows_at_the_end(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cluster = Cluster::start(3).unwrap();
            cluster.create_table("t", &["f"], &[b"e", b"i"]).unwrap();
            for row in ROWS {
                cluster.put("t", row.as_bytes(), ("f", "q"), row.as_bytes()).unwrap();
            }
            let kinds = [Kind::Split, Kind::Merge, Kind::Move, Kind::Kill];
            let mut schedule = Schedule::new(seed, "t", &kinds);
            for _ in 0..40 {
                schedule.step(&cluster);
                assert!(!cluster.servers().is_empty());
            }
            schedule.settle(&cluster).unwrap();
            let regions = cluster.regions("t").unwrap();
            cover(&regions);
            let in_catalog = catalog(&cluster).await;
            assert_eq!(in_catalog.len(), regions.len());
            for (region, (info, server)) in regions.iter().zip(in_catalog) {
                assert_eq!(info.start_key.as_ref(), Some(&region.start));
                assert_eq!((info.offline, info.split), (Some(false), Some(false)));
                let at = cluster.server_of("t", &region.start).unwrap();
                assert!(cluster.servers().contains(&at));
                assert_eq!(server, Some(cluster.address(at).unwrap()));
            }
            for key in ROWS {
                let mut wire = Wire::of_row(&cluster, "t", key.as_bytes()).await;
                let region = cluster.region_of("t", key.as_bytes()).unwrap();
                assert_eq!(wire.get(&region, row(key)).await.unwrap().cells.len(), 1);
            }
        });
    }

    #[test]
    fn a_write_that_is_acknowledged_is_there(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cluster = Cluster::start(3).unwrap();
            cluster.create_table("t", &["f"], &[b"e", b"i"]).unwrap();
            let mut schedule = Schedule::new(seed, "t", &Kind::ALL);
            let mut written = BTreeMap::new();
            for turn in 0..60_usize {
                schedule.step(&cluster);
                let row = ROWS[(seed as usize ^ (turn * 7)) % ROWS.len()];
                if write(&cluster, row, turn).await == Some(true) {
                    written.insert(row, turn);
                }
            }
            schedule.settle(&cluster).unwrap();
            let cells: BTreeMap<Bytes, usize> = cluster.cells("t").unwrap().iter().map(|cell| (cell.row_bytes(), turn(cell))).collect();
            for (row, turn) in written {
                // A later write may be there as well: one whose answer did not come.
                assert!(cells[row.as_bytes()] >= turn, "{row}");
            }
        });
    }
}

fn turn(cell: &Cell) -> usize {
    String::from_utf8_lossy(cell.value()).parse().unwrap()
}

/// Tries to write once: whether it was acknowledged; `None` if nothing came.
async fn write(cluster: &Cluster, row: &'static str, turn: usize) -> Option<bool> {
    let region = cluster.region_of("t", row.as_bytes()).ok()?;
    let server = cluster.server_of("t", row.as_bytes()).ok()?;
    if !cluster.servers().contains(&server) {
        return None;
    }
    let mut wire = Wire::to(&cluster.address(server).ok()?, "ClientService").await;
    let mut mutation = put(row, &[("q", "")]);
    mutation.column_value[0].qualifier_value[0].value = Some(turn.to_string().into());
    let request = MutateRequest { region: named(&region), mutation, ..MutateRequest::default() };
    wire.send("Mutate", &request, &[]).await;
    let answer = tokio::time::timeout(Duration::from_secs(5), wire.take()).await.ok()??;
    Some(answer.header.exception.is_none())
}

#[tokio::test]
async fn the_same_seed_does_the_same() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let cluster = Cluster::start(3).unwrap();
        cluster.create_table("t", &["f"], &[b"e", b"i"]).unwrap();
        for row in ROWS {
            cluster.put("t", row.as_bytes(), ("f", "q"), row.as_bytes()).unwrap();
        }
        let mut schedule = Schedule::new(7, "t", &Kind::ALL);
        runs.push((0..1000).map(|_| schedule.step(&cluster)).collect::<Vec<Event>>());
    }
    assert_eq!(runs[0], runs[1]);
    for wanted in ["SplitBegun", "MergeBegun", "Moved", "Killed", "Started", "Recovered", "CaughtUp", "Opened", "Armed"]
    {
        assert!(runs[0].iter().any(|event| format!("{event:?}").starts_with(wanted)), "{wanted}");
    }
}
