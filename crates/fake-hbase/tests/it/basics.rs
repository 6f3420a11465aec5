//! The registry, the catalog, and calls of one row.

use hbase_client::proto::{
    BinaryComparator, ByteArrayComparable, Comparator, Condition, ConnectionHeader, DeleteType, Get,
    GetActiveMasterRequest, GetActiveMasterResponse, GetBootstrapNodesRequest, GetBootstrapNodesResponse,
    GetClusterIdRequest, GetClusterIdResponse, GetMetaRegionLocationsRequest, GetMetaRegionLocationsResponse,
    MutateRequest, MutateResponse, MutationProto, MutationType, RegionInfo, Scan, ScanRequest,
};
use prost::Message;

use fake_hbase::{Cluster, RegionId, ServerId};

use crate::wire::{Wire, bytes, cell, class, header, mutation, named, put, row, text, texts, with_table};

fn meta() -> RegionId {
    RegionId { table: "hbase:meta".into(), start: "".into(), end: "".into(), number: 1 }
}

/// What a client asks to find the region of a row.
fn look_up(row: &str, rows: u32) -> ScanRequest {
    let scan = Scan {
        start_row: Some(format!("t,{row},:").into()),
        stop_row: bytes("t,,"),
        include_stop_row: Some(true),
        reversed: Some(true),
        ..Scan::default()
    };
    ScanRequest {
        region: Some(named(&meta())),
        scan: Some(scan),
        number_of_rows: Some(rows),
        limit_of_rows: Some(rows),
        close_scanner: Some(true),
        ..ScanRequest::default()
    }
}

#[tokio::test]
async fn the_registry_is_at_every_server() {
    let cluster = Cluster::start(2).unwrap();
    let first = cluster.server_name(ServerId(0)).unwrap();
    for address in [cluster.master(), cluster.address(ServerId(1)).unwrap()] {
        let mut wire = Wire::to(&address, "ClientMetaService").await;
        let id = wire.call::<GetClusterIdResponse>("GetClusterId", &GetClusterIdRequest {}, &[]).await.unwrap();
        assert!(id.message.cluster_id.is_some());
        let request = GetMetaRegionLocationsRequest {};
        let meta = wire.call::<GetMetaRegionLocationsResponse>("GetMetaRegionLocations", &request, &[]).await.unwrap();
        let location = &meta.message.meta_locations[0];
        assert_eq!((&location.server_name, location.seq_num), (&Some(first.clone()), -1));
        let request = GetActiveMasterRequest {};
        let master = wire.call::<GetActiveMasterResponse>("GetActiveMaster", &request, &[]).await.unwrap();
        let master = master.message.server_name.unwrap();
        assert_eq!(format!("{}:{}", master.host_name, master.port.unwrap()), cluster.master());
        let request = GetBootstrapNodesRequest {};
        let nodes = wire.call::<GetBootstrapNodesResponse>("GetBootstrapNodes", &request, &[]).await.unwrap();
        assert_eq!(nodes.message.server_name.len(), 2);
    }
    let count = |server| cluster.count_calls("GetClusterId", server);
    assert_eq!((count(None), count(Some(ServerId(1))), count(Some(ServerId(0)))), (2, 1, 0));
}

#[tokio::test]
async fn the_catalog_says_where_a_row_is() {
    let cluster = with_table(&[]);
    let mut wire = Wire::to(&cluster.address(ServerId(0)).unwrap(), "ClientService").await;
    for row in ["", "a", "lzz", "m", "n,o", "~"] {
        let answer = wire.scan(look_up(row, 1)).await.unwrap();
        assert_eq!(answer.message.more_results, Some(false));
        let region = cluster.region_of("t", row.as_bytes()).unwrap();
        let server = cluster.server_of("t", row.as_bytes()).unwrap();
        let value = |qualifier: &str| {
            let cell = answer.cells.iter().find(|cell| cell.qualifier() == qualifier.as_bytes()).unwrap();
            (cell.row_bytes(), cell.value_bytes())
        };
        let (name, info) = value("regioninfo");
        assert_eq!((name, &info[..4]), (region.name(), &b"PBUF"[..]));
        let info = RegionInfo::decode(info.slice(4..)).unwrap();
        assert_eq!((info.start_key, info.end_key), (Some(region.start), Some(region.end)));
        assert_eq!(value("server").1, cluster.address(server).unwrap());
        assert_eq!((value("serverstartcode").1.len(), value("seqnumDuringOpen").1.len()), (8, 8));
    }
    assert_eq!(cluster.count_meta_calls(), 6);
}

#[tokio::test]
async fn a_row_is_written_and_read() {
    let cluster = with_table(&[]);
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let answer = wire.mutate(&region, put("a", &[("q", "1"), ("p", "2")])).await.unwrap();
    assert_eq!(answer.message.encode_to_vec(), [0x10, 1]);
    // The same by the cell block.
    let mutation = MutationProto {
        row: bytes("a"),
        mutate_type: Some(MutationType::Put as i32),
        associated_cell_count: Some(1),
        ..MutationProto::default()
    };
    let request = MutateRequest { region: named(&region), mutation, ..MutateRequest::default() };
    wire.call::<MutateResponse>("Mutate", &request, &[cell("a", "r", b"3")]).await.unwrap();

    let answer = wire.get(&region, row("a")).await.unwrap();
    assert_eq!(answer.message.result.as_ref().unwrap().associated_cell_count, Some(3));
    assert_eq!(texts(&answer.cells), ["a/p=2", "a/q=1", "a/r=3"]);
    let exists = Get { existence_only: Some(true), ..row("a") };
    let answer = wire.get(&region, exists).await.unwrap();
    assert_eq!((answer.message.result.unwrap().exists, answer.cells.len()), (Some(true), 0));
    let answer = wire.get(&region, row("b")).await.unwrap();
    assert_eq!(answer.message.result.unwrap().associated_cell_count, Some(0));
}

#[tokio::test]
async fn cells_lie_in_the_message_if_the_client_says_no_version() {
    let cluster = with_table(&["a"]);
    let region = cluster.region_of("t", b"a").unwrap();
    let address = cluster.address(cluster.server_of("t", b"a").unwrap()).unwrap();
    let old = ConnectionHeader { version_info: None, ..header("ClientService") };
    let mut wire = Wire::with_header(&address, &old).await;
    let answer = wire.get(&region, row("a")).await.unwrap();
    assert_eq!((answer.message.result.unwrap().cell.len(), answer.cells.len()), (1, 0));
    // Those of scans lie in the block all the same.
    let answer = wire.open(&region, Scan::default(), 1).await.unwrap();
    assert_eq!((answer.message.cells_per_result, answer.cells.len()), (vec![1], 1));
}

#[tokio::test]
async fn deletions_of_each_kind() {
    let cluster = with_table(&[]);
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let deletion = |delete_type: DeleteType, qualifier: &'static str| {
        let mut deletion = mutation(MutationType::Delete, "a", &[(qualifier, "")]);
        deletion.column_value[0].qualifier_value[0].delete_type = Some(delete_type as i32);
        deletion
    };
    let whole = MutationProto { column_value: Vec::new(), ..mutation(MutationType::Delete, "a", &[]) };
    for (deletion, left) in [
        (deletion(DeleteType::DeleteOneVersion, "p"), &["a/q=2"][..]),
        (deletion(DeleteType::DeleteMultipleVersions, "p"), &["a/q=2"]),
        (deletion(DeleteType::DeleteFamily, ""), &[]),
        (whole, &[]),
    ] {
        wire.mutate(&region, put("a", &[("p", "1"), ("q", "2")])).await.unwrap();
        wire.mutate(&region, deletion).await.unwrap();
        assert_eq!(texts(&cluster.cells("t").unwrap()), left);
    }
    // A row that is written in the millisecond of its deletion stays deleted.
    cluster.stop_clock(true);
    wire.mutate(&region, put("a", &[("p", "1")])).await.unwrap();
    assert_eq!(texts(&cluster.cells("t").unwrap()), [""; 0]);
}

#[tokio::test]
async fn increments_are_done_once_for_a_nonce() {
    let cluster = with_table(&[]);
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    for (nonce, sum) in [(1, 5_i64), (1, 5), (2, 10)] {
        let mut mutation = mutation(MutationType::Increment, "a", &[("q", "")]);
        mutation.column_value[0].qualifier_value[0].value = Some(5_i64.to_be_bytes().to_vec().into());
        mutation.nonce = Some(nonce);
        let request =
            MutateRequest { region: named(&region), mutation, nonce_group: Some(7), ..MutateRequest::default() };
        let answer = wire.call::<MutateResponse>("Mutate", &request, &[]).await.unwrap();
        assert_eq!(answer.cells[0].value(), sum.to_be_bytes());
        assert_eq!(answer.message.processed, None);
    }
    let append = mutation(MutationType::Append, "a", &[("p", "x")]);
    wire.mutate(&region, append.clone()).await.unwrap();
    let answer = wire.mutate(&region, append).await.unwrap();
    assert_eq!(text(&answer.cells[0]), "a/p=xx");
}

pub(crate) fn equal(row: &'static str, value: &'static str) -> Condition {
    let serialized = BinaryComparator { comparable: ByteArrayComparable { value: bytes(value) } }.encode_to_vec();
    let comparator = Comparator {
        name: "org.apache.hadoop.hbase.filter.BinaryComparator".into(),
        serialized_comparator: Some(serialized.into()),
    };
    Condition {
        row: row.into(),
        family: bytes("f"),
        qualifier: bytes("q"),
        compare_type: Some(2),
        comparator: Some(comparator),
        ..Condition::default()
    }
}

pub(crate) fn absent(row: &'static str) -> Condition {
    let name = "org.apache.hadoop.hbase.filter.NullComparator".into();
    Condition { comparator: Some(Comparator { name, serialized_comparator: None }), ..equal(row, "") }
}

#[tokio::test]
async fn a_condition_decides_whether_a_row_is_written() {
    let cluster = with_table(&[]);
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    for (condition, value, processed) in [
        (equal("a", "1"), "0", false),
        (absent("a"), "1", true),
        (absent("a"), "2", false),
        (equal("a", "2"), "3", false),
        (equal("a", "1"), "4", true),
        // The relation is that of the condition's value to the cell's.
        (Condition { compare_type: Some(0), ..equal("a", "3") }, "5", true),
        (Condition { compare_type: Some(5), ..equal("a", "3") }, "6", false),
        // No value is not equal to an absent cell.
        (Condition { compare_type: Some(3), qualifier: bytes("z"), ..equal("a", "3") }, "7", false),
    ] {
        let mutation = put("a", &[("q", value)]);
        let request =
            MutateRequest { region: named(&region), mutation, condition: Some(condition), ..MutateRequest::default() };
        let answer = wire.call::<MutateResponse>("Mutate", &request, &[]).await.unwrap();
        assert_eq!(answer.message.processed, Some(processed), "{value}");
    }
    assert_eq!(texts(&cluster.cells("t").unwrap()), ["a/q=5"]);
}

#[tokio::test]
async fn wrong_calls_get_their_exceptions() {
    let cluster = with_table(&[]);
    let region = cluster.region_of("t", b"a").unwrap();
    let mut wire = Wire::of_row(&cluster, "t", b"a").await;
    let of = |answer: Result<(), hbase_client::proto::ExceptionResponse>| {
        let exception = answer.unwrap_err();
        (class(&exception).to_owned(), exception.do_not_retry.unwrap())
    };
    let answer = wire.get(&region, row("z")).await.map(|_| ());
    assert_eq!(of(answer), ("WrongRegionException".into(), false));
    let answer = wire.mutate(&region, put("z", &[("q", "")])).await.map(|_| ());
    assert_eq!(of(answer), ("FailedSanityCheckException".into(), true));
    let answer = wire.get(&region, row("")).await.map(|_| ());
    assert_eq!(of(answer), ("IOException".into(), false));
    let mut of_other = put("a", &[("q", "")]);
    of_other.column_value[0].family = "g".into();
    let answer = wire.mutate(&region, of_other).await.map(|_| ());
    assert_eq!(of(answer), ("NoSuchColumnFamilyException".into(), true));
    let answer = wire.get(&RegionId { number: 5, ..region }, row("a")).await.map(|_| ());
    assert_eq!(of(answer), ("NotServingRegionException".into(), false));
}
