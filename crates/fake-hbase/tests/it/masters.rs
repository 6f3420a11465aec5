//! The master: tables and procedures.

use hbase_client::proto::{
    AddColumnRequest, AddColumnResponse, ColumnFamilySchema, CreateTableRequest, CreateTableResponse,
    DeleteTableRequest, DeleteTableResponse, DisableTableRequest, DisableTableResponse, EnableTableRequest,
    EnableTableResponse, GetProcedureResultRequest, GetProcedureResultResponse, GetTableDescriptorsRequest,
    GetTableDescriptorsResponse, GetTableNamesRequest, GetTableNamesResponse, GetTableStateRequest,
    GetTableStateResponse, MergeTableRegionsRequest, MergeTableRegionsResponse, MoveRegionRequest, MoveRegionResponse,
    RegionSpecifier, SplitTableRegionRequest, SplitTableRegionResponse, TableName, TableSchema,
};

use fake_hbase::{Cluster, RegionId};

use crate::wire::{Wire, class, named};

fn name(name: &'static str) -> TableName {
    TableName { namespace: "default".into(), qualifier: name.into() }
}

fn creation() -> CreateTableRequest {
    let family = ColumnFamilySchema { name: "f".into(), ..ColumnFamilySchema::default() };
    let table_schema =
        TableSchema { table_name: Some(name("t")), column_families: vec![family], ..TableSchema::default() };
    CreateTableRequest { table_schema, split_keys: vec!["m".into()], nonce_group: Some(1), nonce: Some(2) }
}

/// Asks for a procedure until it is finished: how often it ran, and the class of its exception.
async fn result(wire: &mut Wire, proc_id: Option<u64>) -> (usize, Option<String>) {
    let request = GetProcedureResultRequest { proc_id: proc_id.unwrap() };
    for ran in 0.. {
        let answer =
            wire.call::<GetProcedureResultResponse>("getProcedureResult", &request, &[]).await.unwrap().message;
        match answer.state {
            1 => {}
            2 => {
                let exception = answer.exception.and_then(|is| is.generic_exception?.class_name);
                return (ran, exception);
            }
            other => panic!("state {other}"),
        }
    }
    unreachable!()
}

#[tokio::test]
async fn a_family_is_added_once() {
    let cluster = Cluster::start(1).unwrap();
    let mut wire = Wire::to(&cluster.master(), "MasterService").await;
    let created = wire.call::<CreateTableResponse>("CreateTable", &creation(), &[]).await.unwrap().message.proc_id;
    assert_eq!(result(&mut wire, created).await.1, None);
    let column_families = ColumnFamilySchema { name: "g".into(), ..ColumnFamilySchema::default() };
    let adding = AddColumnRequest { table_name: name("t"), column_families, nonce_group: Some(1), nonce: Some(3) };
    let added = wire.call::<AddColumnResponse>("AddColumn", &adding, &[]).await.unwrap().message.proc_id;
    assert_eq!(result(&mut wire, added).await.1, None);
    let asked = GetTableDescriptorsRequest { table_names: vec![name("t")], ..GetTableDescriptorsRequest::default() };
    let answer = wire.call::<GetTableDescriptorsResponse>("GetTableDescriptors", &asked, &[]).await.unwrap();
    let families = answer.message.table_schema[0].column_families.iter().map(|family| family.name.clone());
    assert_eq!(families.collect::<Vec<_>>(), ["f", "g"]);
    let again = AddColumnRequest { nonce: Some(4), ..adding };
    let exists = wire.call::<AddColumnResponse>("AddColumn", &again, &[]).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&exists), "InvalidFamilyOperationException");
}

async fn names(wire: &mut Wire) -> Vec<TableName> {
    let request = GetTableNamesRequest::default();
    wire.call::<GetTableNamesResponse>("GetTableNames", &request, &[]).await.unwrap().message.table_names
}

#[tokio::test]
async fn a_table_is_there_when_its_procedure_is_finished() {
    let cluster = Cluster::start(2).unwrap();
    cluster.set_procedure_polls(2);
    let mut wire = Wire::to(&cluster.master(), "MasterService").await;
    let first = wire.call::<CreateTableResponse>("CreateTable", &creation(), &[]).await.unwrap().message.proc_id;
    // The same nonce is the same procedure.
    let again = wire.call::<CreateTableResponse>("CreateTable", &creation(), &[]).await.unwrap().message.proc_id;
    assert_eq!(first, again);
    assert_eq!(names(&mut wire).await, []);
    assert_eq!(result(&mut wire, first).await, (2, None));
    assert_eq!(names(&mut wire).await, [name("t")]);
    assert_eq!(cluster.regions("t").unwrap().len(), 2);
    let other = CreateTableRequest { nonce: Some(3), ..creation() };
    let exists = wire.call::<CreateTableResponse>("CreateTable", &other, &[]).await.map(|_| ()).unwrap_err();
    assert_eq!((class(&exists), exists.do_not_retry), ("TableExistsException", Some(true)));
    let unknown = GetProcedureResultRequest { proc_id: 9999 };
    let answer = wire.call::<GetProcedureResultResponse>("getProcedureResult", &unknown, &[]).await.unwrap();
    assert_eq!(answer.message.state, 0);
}

#[tokio::test]
async fn a_table_is_disabled_enabled_and_deleted() {
    let cluster = Cluster::start(1).unwrap();
    cluster.create_table("t", &["f"], &[]).unwrap();
    let mut wire = Wire::to(&cluster.master(), "MasterService").await;
    let disable = DisableTableRequest { table_name: name("t"), nonce_group: None, nonce: None };
    let enable = EnableTableRequest { table_name: name("t"), nonce_group: None, nonce: None };
    let delete = DeleteTableRequest { table_name: name("t"), nonce_group: None, nonce: None };
    let wrong = wire.call::<DeleteTableResponse>("DeleteTable", &delete, &[]).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&wrong), "TableNotDisabledException");
    let wrong = wire.call::<EnableTableResponse>("EnableTable", &enable, &[]).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&wrong), "TableNotDisabledException");
    for expected in [1, 0] {
        let id = if expected == 1 {
            wire.call::<DisableTableResponse>("DisableTable", &disable, &[]).await.unwrap().message.proc_id
        } else {
            wire.call::<EnableTableResponse>("EnableTable", &enable, &[]).await.unwrap().message.proc_id
        };
        assert_eq!(result(&mut wire, id).await, (1, None));
        let request = GetTableStateRequest { table_name: name("t") };
        let is = wire.call::<GetTableStateResponse>("GetTableState", &request, &[]).await.unwrap().message;
        assert_eq!(is.table_state.state, expected);
    }
    let id = wire.call::<DisableTableResponse>("DisableTable", &disable, &[]).await.unwrap().message.proc_id;
    result(&mut wire, id).await;
    let id = wire.call::<DeleteTableResponse>("DeleteTable", &delete, &[]).await.unwrap().message.proc_id;
    assert_eq!(result(&mut wire, id).await, (1, None));
    let gone = wire.call::<DeleteTableResponse>("DeleteTable", &delete, &[]).await.map(|_| ()).unwrap_err();
    assert_eq!((class(&gone), gone.do_not_retry), ("TableNotFoundException", Some(true)));
}

#[tokio::test]
async fn descriptors_are_those_of_the_creation() {
    let cluster = Cluster::start(1).unwrap();
    let mut wire = Wire::to(&cluster.master(), "MasterService").await;
    wire.call::<CreateTableResponse>("CreateTable", &creation(), &[]).await.unwrap();
    cluster.finish_procedures();
    let request = GetTableDescriptorsRequest { table_names: vec![name("t"), name("no")], ..Default::default() };
    let answer = wire.call::<GetTableDescriptorsResponse>("GetTableDescriptors", &request, &[]).await.unwrap();
    assert_eq!(answer.message.table_schema, [creation().table_schema]);
    let all = GetTableDescriptorsRequest { include_sys_tables: Some(true), ..Default::default() };
    let answer = wire.call::<GetTableDescriptorsResponse>("GetTableDescriptors", &all, &[]).await.unwrap();
    assert_eq!(answer.message.table_schema.len(), 2);
}

#[tokio::test]
async fn the_master_splits_merges_and_moves() {
    let cluster = Cluster::start(2).unwrap();
    cluster.create_table("t", &["f"], &[]).unwrap();
    let mut wire = Wire::to(&cluster.master(), "MasterService").await;
    let encoded = |region: &RegionId| RegionSpecifier { kind: 2, value: region.encoded_name().into_bytes().into() };
    let info = hbase_client::proto::RegionInfo { table_name: name("t"), ..Default::default() };
    let split = SplitTableRegionRequest { region_info: info, split_row: Some("m".into()), ..Default::default() };
    let id = wire.call::<SplitTableRegionResponse>("SplitRegion", &split, &[]).await.unwrap().message.proc_id;
    assert_eq!(result(&mut wire, id).await, (1, None));
    let regions = cluster.regions("t").unwrap();
    assert_eq!(regions.len(), 2);

    let from = cluster.server_of("t", b"z").unwrap();
    let to = cluster.servers().into_iter().find(|server| *server != from).unwrap();
    let dest_server_name = Some(cluster.server_name(to).unwrap());
    let request = MoveRegionRequest { region: encoded(&regions[1]), dest_server_name };
    wire.call::<MoveRegionResponse>("MoveRegion", &request, &[]).await.unwrap();
    assert_eq!(cluster.server_of("t", b"z").unwrap(), to);

    let merge = MergeTableRegionsRequest { region: regions.iter().map(encoded).collect(), ..Default::default() };
    let id = wire.call::<MergeTableRegionsResponse>("MergeTableRegions", &merge, &[]).await.unwrap().message.proc_id;
    assert_eq!(result(&mut wire, id).await, (1, None));
    assert_eq!(cluster.regions("t").unwrap().len(), 1);
    // A split whose key is a start fails in its procedure.
    let split = SplitTableRegionRequest { split_row: Some("m".into()), ..split };
    let id = wire.call::<SplitTableRegionResponse>("SplitRegion", &split, &[]).await.unwrap().message.proc_id;
    result(&mut wire, id).await;
    let id = wire.call::<SplitTableRegionResponse>("SplitRegion", &split, &[]).await.unwrap().message.proc_id;
    assert_eq!(result(&mut wire, id).await.1.as_deref(), Some("org.apache.hadoop.hbase.DoNotRetryIOException"));
    let unknown = MoveRegionRequest { region: named(&regions[0]), dest_server_name: None };
    let wrong = wire.call::<MoveRegionResponse>("MoveRegion", &unknown, &[]).await.map(|_| ()).unwrap_err();
    assert_eq!(class(&wrong), "UnknownRegionException");
}

#[tokio::test]
async fn a_dead_master_is_known_to_no_server() {
    let cluster = Cluster::start(1).unwrap();
    let address = cluster.address(cluster.servers()[0]).unwrap();
    cluster.kill_master();
    let mut wire = Wire::to(&address, "ClientMetaService").await;
    let request = hbase_client::proto::GetActiveMasterRequest {};
    let answer =
        wire.call::<hbase_client::proto::GetActiveMasterResponse>("GetActiveMaster", &request, &[]).await.unwrap();
    assert_eq!(answer.message.server_name, None);
}
