//! Requests of any bytes: exceptions, and no harm.

use bytes::Bytes;
use hbase_client::proto::{
    Action, ColumnValue, Condition, Filter, Get, GetRequest, MultiRequest, MutateRequest, MutationProto,
    QualifierValue, RegionAction, RegionSpecifier, Scan, ScanRequest, TableSchema,
};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use super::{CellForm, Request};
use crate::name::{RegionId, table_name};
use crate::operation::{create_table, move_meta};
use crate::server_id::ServerId;
use crate::state::{Server, State};

/// A cluster without sockets: one server with table `t`.
fn state() -> (State, RegionId) {
    let mut state = State::new(Server::new(1, 1));
    state.servers.push(Server::new(2, 2));
    move_meta(&mut state, ServerId(0)).unwrap();
    let family = hbase_client::proto::ColumnFamilySchema { name: "f".into(), ..Default::default() };
    let schema = TableSchema { table_name: Some(table_name("t")), column_families: vec![family], ..Default::default() };
    create_table(&mut state, schema, &[]).unwrap();
    let region = state.live_regions("t").remove(0);
    (state, region)
}

/// Valid requests of each method.
fn requests(region: &RegionId) -> Vec<(&'static str, Bytes)> {
    let specifier = RegionSpecifier { kind: 1, value: region.name() };
    let value = QualifierValue { qualifier: Some("q".into()), value: Some("v".into()), ..Default::default() };
    let column_value = vec![ColumnValue { family: "f".into(), qualifier_value: vec![value] }];
    let mutation = MutationProto { row: Some("r".into()), mutate_type: Some(2), column_value, ..Default::default() };
    let condition =
        Condition { row: "r".into(), family: Some("f".into()), compare_type: Some(2), ..Default::default() };
    let action = Action { mutation: Some(mutation.clone()), ..Default::default() };
    let actions = RegionAction { region: specifier.clone(), action: vec![action], ..Default::default() };
    let filter =
        Filter { name: "org.apache.hadoop.hbase.filter.PageFilter".into(), serialized_filter: Some("".into()) };
    let scan = Scan { filter: Some(filter), start_row: Some("a".into()), ..Default::default() };
    let bytes = |message: Vec<u8>| Bytes::from(message);
    let get = GetRequest { region: specifier.clone(), get: Get { row: "r".into(), ..Default::default() } };
    let mutate = MutateRequest { region: specifier.clone(), mutation, condition: Some(condition), nonce_group: None };
    let scan = ScanRequest { region: Some(specifier), scan: Some(scan), number_of_rows: Some(3), ..Default::default() };
    vec![
        ("Get", bytes(get.encode_to_vec())),
        ("Mutate", bytes(mutate.encode_to_vec())),
        ("Multi", bytes(MultiRequest { region_action: vec![actions], nonce_group: None }.encode_to_vec())),
        ("Scan", bytes(scan.encode_to_vec())),
    ]
}

proptest! {
    #[test]
    fn damaged_requests_do_no_harm(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        cells in vec(any::<u8>(), 0..40),
    ) {
        let (mut state, region) = state();
        let form = CellForm { in_blocks: true, gets_in_blocks: true };
        for (method, message) in requests(&region) {
            let mut message = message.to_vec();
            for (at, byte) in &changes {
                let at = at.index(message.len());
                message[at] = *byte;
            }
            if changes.len() == 3 {
                message.truncate(cut.index(message.len()));
            }
            let Ok(request) = Request::decode("ClientService", method, message.into()) else { continue };
            let call = request.describe(&state, Some(ServerId(0)), "ClientService", method);
            prop_assert_eq!(call.method, method);
            let _ = request.answer(&mut state, Some(ServerId(0)), cells.clone().into(), None, form);
        }
    }
}
