//! Regions that split, merge and move, and servers that die.

use hbase_client::cell::Cell;
use hbase_client::proto::{RegionInfo, Scan, ScanRequest};
use prost::Message;

use fake_hbase::{Cluster, RegionId, ServerId};

use crate::wire::{Wire, class, named, next, row, texts, with_table};

/// The rows of the catalog of table `t` in order: start and number of the region, whether it is offline and split, and its server.
async fn catalog(cluster: &Cluster) -> Vec<(String, bool, bool, Option<String>)> {
    let meta = RegionId { table: "hbase:meta".into(), start: "".into(), end: "".into(), number: 1 };
    let mut wire = Wire::to(&cluster.address(ServerId(0)).unwrap(), "ClientService").await;
    let scan = Scan { start_row: Some("t,".into()), stop_row: Some("t-".into()), ..Scan::default() };
    let request = ScanRequest {
        region: Some(named(&meta)),
        scan: Some(scan),
        number_of_rows: Some(100),
        close_scanner: Some(true),
        ..ScanRequest::default()
    };
    let answer = wire.scan(request).await.unwrap();
    let mut cells = &answer.cells[..];
    let mut rows = Vec::new();
    for count in answer.message.cells_per_result {
        let (row, rest) = cells.split_at(count as usize);
        cells = rest;
        let value =
            |qualifier: &str| row.iter().find(|cell| cell.qualifier() == qualifier.as_bytes()).map(Cell::value_bytes);
        let info = RegionInfo::decode(value("regioninfo").unwrap().slice(4..)).unwrap();
        let start = String::from_utf8(info.start_key.unwrap().to_vec()).unwrap();
        let server = value("server").map(|server| String::from_utf8(server.to_vec()).unwrap());
        rows.push((start, info.offline.unwrap(), info.split.unwrap(), server));
    }
    rows
}

#[tokio::test]
async fn in_the_middle_of_a_split_daughters_have_no_server() {
    let cluster = with_table(&["a", "h"]);
    let parent = cluster.region_of("t", b"a").unwrap();
    let server = cluster.server_of("t", b"a").unwrap();
    let address = Some(cluster.address(server).unwrap());
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let id = wire.open(&parent, Scan::default(), 1).await.unwrap().message.scanner_id;

    let [_, first, second] = cluster.begin_split("t", b"h").unwrap();
    assert!(first.number > parent.number);
    let middle = catalog(&cluster).await;
    let open = middle[3].clone();
    let split = ("".into(), true, true, address);
    assert_eq!(middle[..3], [split.clone(), ("".into(), false, false, None), ("h".into(), false, false, None)]);
    assert!(open.3.is_some());
    for region in [&parent, &first] {
        let exception = wire.get(region, row("a")).await.map(|_| ()).unwrap_err();
        assert_eq!((class(&exception), exception.do_not_retry), ("NotServingRegionException", Some(false)));
    }
    // The scanner is dead, and at its second call it is not even known.
    let dead = wire.scan(next(id, 0, 1)).await.map(|_| ()).unwrap_err();
    assert!(dead.stack_trace.unwrap().contains("Region has changed on the scanner"));
    assert_eq!(class(&wire.scan(next(id, 0, 1)).await.map(|_| ()).unwrap_err()), "UnknownScannerException");

    cluster.open_regions(&[first.clone(), second.clone()]).unwrap();
    let after = catalog(&cluster).await;
    assert_eq!(after[0], split);
    assert!(after[1].3.is_some() && after[2].3.is_some());
    for (region, key) in [(first, "a"), (second, "h")] {
        let mut wire = Wire::of_row(&cluster, "t", key.as_bytes()).await;
        assert_eq!(wire.get(&region, row(key)).await.unwrap().cells.len(), 1);
    }
    cluster.clean_catalog("t");
    assert_eq!(catalog(&cluster).await, after[1..]);
}

#[tokio::test]
async fn a_merged_region_begins_where_the_first_one_did() {
    let cluster = with_table(&["a", "z"]);
    let old = cluster.region_of("t", b"z").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"z").await;
    let merged = cluster.begin_merge("t", b"a").unwrap();
    // The catalog names a server that does not have it open.
    let in_catalog = catalog(&cluster).await;
    assert_eq!(in_catalog.len(), 1);
    let mut named = Wire::to(in_catalog[0].3.as_ref().unwrap(), "ClientService").await;
    assert_eq!(class(&named.get(&merged, row("a")).await.map(|_| ()).unwrap_err()), "NotServingRegionException");
    assert_eq!(class(&wire.get(&old, row("z")).await.map(|_| ()).unwrap_err()), "NotServingRegionException");
    cluster.open_regions(std::slice::from_ref(&merged)).unwrap();
    assert_eq!((&merged.start[..], &merged.end[..]), (&b""[..], &b""[..]));
    let mut wire = Wire::of_row(&cluster, "t", b"z").await;
    assert_eq!(texts(&wire.open(&merged, Scan::default(), 10).await.unwrap().cells), ["a/q=a", "z/q=z"]);
    assert!(cluster.merge("t", b"a").is_err());
}

#[tokio::test]
async fn a_moved_region_says_where_it_is() {
    let cluster = with_table(&["a", "b"]);
    let region = cluster.region_of("t", b"a").unwrap();
    let from = cluster.server_of("t", b"a").unwrap();
    let to = ServerId(1 - from.0);
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let id = wire.open(&region, Scan::default(), 1).await.unwrap().message.scanner_id;
    cluster.begin_move("t", b"a", to).unwrap();

    let dead = wire.scan(next(id, 0, 1)).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&dead), "NotServingRegionException");
    let moved = wire.get(&region, row("a")).await.map(|_| ()).unwrap_err();
    let place = format!("{}:{}", moved.hostname.clone().unwrap(), moved.port.unwrap());
    assert_eq!((class(&moved), place), ("RegionMovedException", cluster.address(to).unwrap()));
    assert_eq!(moved.do_not_retry, Some(false));
    // The catalog still names the old place, and the new one is not ready.
    assert_eq!(catalog(&cluster).await[0].3, Some(cluster.address(from).unwrap()));
    let mut new = Wire::to(&cluster.address(to).unwrap(), "ClientService").await;
    assert_eq!(class(&new.get(&region, row("a")).await.map(|_| ()).unwrap_err()), "RegionOpeningException");
    cluster.catch_up().unwrap();
    assert_eq!(new.get(&region, row("a")).await.unwrap().cells.len(), 1);
    assert_eq!(catalog(&cluster).await[0].3, Some(cluster.address(to).unwrap()));
    // A region that comes back has left no other server.
    cluster.move_region("t", b"a", from).unwrap();
    assert_eq!(wire.get(&region, row("a")).await.unwrap().cells.len(), 1);
}

#[tokio::test]
async fn a_scanner_does_not_outlive_the_opening_of_its_region() {
    let cluster = with_table(&["a", "b"]);
    let region = cluster.region_of("t", b"a").unwrap();
    let at = cluster.server_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let id = wire.open(&region, Scan::default(), 1).await.unwrap().message.scanner_id;
    cluster.move_region("t", b"a", ServerId(1 - at.0)).unwrap();
    cluster.move_region("t", b"a", at).unwrap();
    assert_eq!(class(&wire.scan(next(id, 0, 1)).await.map(|_| ()).unwrap_err()), "NotServingRegionException");
}

#[tokio::test]
async fn a_killed_server_is_gone_until_its_regions_are_elsewhere() {
    let cluster = with_table(&["a", "z"]);
    let region = cluster.region_of("t", b"a").unwrap();
    let dead = cluster.server_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    wire.get(&region, row("a")).await.unwrap();
    cluster.kill(dead).unwrap();
    assert!(wire.take().await.is_none());
    assert_eq!(cluster.servers(), [ServerId(1 - dead.0)]);
    let address = cluster.address(dead).unwrap();
    while tokio::net::TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    cluster.recover().unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    assert_eq!(wire.get(&region, row("a")).await.unwrap().cells.len(), 1);
    // Another process at the same address does not have the regions.
    let new = cluster.restart(dead).unwrap();
    assert_eq!(cluster.address(new).unwrap(), address);
    let mut wire = Wire::to(&address, "ClientService").await;
    assert_eq!(class(&wire.get(&region, row("a")).await.map(|_| ()).unwrap_err()), "NotServingRegionException");
}

#[tokio::test]
async fn a_closed_region_is_in_the_catalog_as_before() {
    let cluster = with_table(&["a"]);
    let before = catalog(&cluster).await;
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let region = cluster.close_region("t", b"a").unwrap();
    assert_eq!(catalog(&cluster).await, before);
    assert_eq!(class(&wire.get(&region, row("a")).await.map(|_| ()).unwrap_err()), "NotServingRegionException");
    cluster.open_regions(std::slice::from_ref(&region)).unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    assert_eq!(wire.get(&region, row("a")).await.unwrap().cells.len(), 1);
}

#[tokio::test]
async fn connections_are_cut_and_the_server_lives() {
    let cluster = with_table(&["a"]);
    let server = cluster.server_of("t", b"a").unwrap();
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    wire.get(&region, row("a")).await.unwrap();
    cluster.cut_connections(server).unwrap();
    assert!(wire.take().await.is_none());
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    assert_eq!(wire.get(&region, row("a")).await.unwrap().cells.len(), 1);
}

#[tokio::test]
async fn a_table_out_of_service_has_no_regions() {
    let cluster = with_table(&["a"]);
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    cluster.disable_table("t").unwrap();
    assert_eq!(class(&wire.get(&region, row("a")).await.map(|_| ()).unwrap_err()), "NotServingRegionException");
    cluster.enable_table("t").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    assert_eq!(wire.get(&region, row("a")).await.unwrap().cells.len(), 1);
    cluster.disable_table("t").unwrap();
    cluster.delete_table("t").unwrap();
    assert_eq!(catalog(&cluster).await, []);
}
