//! Calls of single rows.

use std::time::Duration;

use bytes::Bytes;

use crate::cluster::{Cluster, RegionRequest, Repeat};
use crate::connection::{Answer, Server};
use crate::context::CallContext;
use crate::error::Error;
use crate::frame::{CellBlock, cell_block};
use crate::outcome::Outcome;
use crate::proto::{
    self, CoprocessorServiceCall, CoprocessorServiceRequest, CoprocessorServiceResponse, GetRequest, GetResponse,
    MultiRequest, MultiResponse, MutateRequest, MutateResponse, RegionAction, RowResult,
};
use crate::region::Region;
use crate::request::{Condition, Get, Mutation};
use crate::row::{Row, row_of};
use crate::server_error::ServerError;
use crate::table_name::TableName;

/// A call of a method of a coprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoprocessorCall<'a> {
    /// The service's name.
    pub service: &'a str,
    /// The method's name.
    pub method: &'a str,
    /// The bytes of the request.
    pub request: &'a [u8],
    /// Whether the call changes something: then it is not sent again if its reply is lost.
    pub changes: bool,
}

async fn call_get<T>(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    get: proto::Get,
    read: impl Fn(&Server, RowResult, Bytes) -> Result<T, Error>,
) -> Result<T, Error> {
    let row = get.row.clone();
    let request = |region: &Region| {
        let message = GetRequest { region: region.specifier(), get: get.clone() };
        RegionRequest { method: "Get", message, cells: Bytes::new() }
    };
    let read = |server: &Server, answer: Answer<GetResponse>| {
        read(server, answer.message.result.unwrap_or_default(), answer.cells)
    };
    cluster.call(context, table, &row, Repeat::Read, request, read).await.into_result()
}

pub(super) async fn get(cluster: &Cluster, table: &TableName, context: &CallContext, get: Get) -> Result<Row, Error> {
    get.check()?;
    let read = |server: &Server, result: RowResult, cells: Bytes| read_row(server, "Get", &result, cells);
    call_get(cluster, table, context, get.message(), read).await
}

pub(super) async fn exists(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    get: Get,
) -> Result<bool, Error> {
    get.check()?;
    let get = proto::Get { existence_only: Some(true), ..get.message() };
    let read = |server: &Server, result: RowResult, _: Bytes| {
        result.exists.ok_or_else(|| server.wrong("Get", "it does not say whether the row exists"))
    };
    call_get(cluster, table, context, get, read).await
}

fn read_row(server: &Server, method: &'static str, result: &RowResult, cells: Bytes) -> Result<Row, Error> {
    row_of(result, &mut CellBlock::new(cells)).map_err(|error| server.damaged(method, error))
}

/// Whether a mutation may be sent again.
pub(super) fn repeat(mutation: &Mutation) -> Repeat {
    match mutation {
        mutation if mutation.is_repeatable() => Repeat::Always,
        mutation if mutation.has_nonce() => Repeat::SamePlace,
        _ => Repeat::Never,
    }
}

pub(super) async fn mutate(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    mutation: Mutation,
) -> Outcome<Row> {
    if let Err(error) = mutation.check() {
        return Outcome::Refused(error);
    }
    let nonce = fastrand::u64(1..);
    let request = |region: &Region| RegionRequest {
        method: "Mutate",
        message: MutateRequest {
            region: region.specifier(),
            mutation: mutation.message(nonce),
            condition: None,
            nonce_group: Some(cluster.nonce_group),
        },
        cells: cell_block(mutation.cells()),
    };
    let read = |server: &Server, answer: Answer<MutateResponse>| match answer.message.result {
        Some(result) => read_row(server, "Mutate", &result, answer.cells),
        None => Ok(Row::default()),
    };
    cluster.call(context, table, mutation.row(), repeat(&mutation), request, read).await
}

/// Several mutations of one row in one step, if a condition holds; whether it did.
pub(super) async fn check_and_mutate(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    condition: Option<Condition>,
    mutations: Vec<Mutation>,
) -> Outcome<bool> {
    let Some(row) = mutations.first().map(Mutation::row).cloned() else {
        return Outcome::Refused(Error::Unsupported { reason: "there are no mutations" });
    };
    if mutations.iter().any(|mutation| *mutation.row() != row) {
        return Outcome::Refused(Error::Unsupported { reason: "the mutations are of different rows" });
    }
    if let Some(error) = mutations.iter().find_map(|mutation| mutation.check().err()) {
        return Outcome::Refused(error);
    }
    let repeatable = condition.is_none() && mutations.iter().all(Mutation::is_repeatable);
    let nonce = fastrand::u64(1..);
    let request = |region: &Region| {
        let action = (0..).zip(&mutations).map(|(index, mutation)| proto::Action {
            index: Some(index),
            mutation: Some(mutation.message(nonce)),
            ..proto::Action::default()
        });
        let actions = RegionAction {
            region: region.specifier(),
            atomic: Some(true),
            action: action.collect(),
            condition: condition.as_ref().map(|condition| condition.message(row.clone())),
        };
        let message = MultiRequest { region_action: vec![actions], nonce_group: Some(cluster.nonce_group) };
        let cells: Vec<_> = mutations.iter().flat_map(Mutation::cells).collect();
        RegionRequest { method: "Multi", message, cells: cell_block(cells) }
    };
    let repeat = if repeatable { Repeat::Always } else { Repeat::Never };
    cluster.call(context, table, &row, repeat, request, read_atomic).await
}

/// Whether the mutations of one step were made.
fn read_atomic(server: &Server, answer: Answer<MultiResponse>) -> Result<bool, Error> {
    let mut results = answer.message.region_action_result.into_iter();
    let Some(result) = results.next() else { return Err(server.wrong("Multi", "it has no result of the region")) };
    let exception = result.exception.as_ref();
    let of_action = result.result_or_exception.iter().find_map(|result| result.exception.as_ref());
    match exception.or(of_action) {
        Some(exception) => Err(Error::Server(ServerError::of_action(server.address(), "Multi", exception))),
        None => Ok(result.processed.unwrap_or(true)),
    }
}

pub(super) async fn call_coprocessor(
    cluster: &Cluster,
    table: &TableName,
    context: &CallContext,
    row: &[u8],
    call: CoprocessorCall<'_>,
) -> Outcome<Bytes> {
    let request = |region: &Region| {
        let call = CoprocessorServiceCall {
            row: Bytes::copy_from_slice(row),
            service_name: call.service.to_owned(),
            method_name: call.method.to_owned(),
            request: Bytes::copy_from_slice(call.request),
        };
        let message = CoprocessorServiceRequest { region: region.specifier(), call };
        RegionRequest { method: "ExecService", message, cells: Bytes::new() }
    };
    let read =
        |_: &Server, answer: Answer<CoprocessorServiceResponse>| Ok(answer.message.value.value.unwrap_or_default());
    let repeat = if call.changes { Repeat::Never } else { Repeat::Read };
    // A coprocessor may work long, and has no heartbeats.
    let context = &context.clone().with_attempts_of(Duration::MAX);
    cluster.call(context, table, row, repeat, request, read).await
}
