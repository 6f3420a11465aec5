//! ExecService: what a test gives in place of a coprocessor.

use std::sync::Arc;

use bytes::Bytes;
use hbase_client::proto::{
    CoprocessorServiceCall, CoprocessorServiceRequest, CoprocessorServiceResponse, NameBytesPair, RegionSpecifier,
    RegionSpecifierType,
};

use super::reply::Reply;
use crate::exception::Exception;
use crate::name::RegionId;
use crate::server_id::ServerId;
use crate::state::State;

/// The answer of the test's coprocessor.
pub(crate) fn run(state: &State, region: &RegionId, call: &CoprocessorServiceCall) -> Result<Bytes, Exception> {
    let Some(coprocessor) = state.coprocessor.as_ref().map(Arc::clone) else {
        let text = format!("No registered coprocessor service found for {}", call.service_name);
        return Err(Exception::fatal("exceptions.UnknownProtocolException", text));
    };
    coprocessor(region, call)
}

pub(crate) fn exec(state: &State, server: ServerId, request: &CoprocessorServiceRequest) -> Result<Reply, Exception> {
    let region = state.region(server, &request.region)?.id.clone();
    let value = run(state, &region, &request.call)?;
    Ok(Reply::of(&CoprocessorServiceResponse {
        region: RegionSpecifier { kind: RegionSpecifierType::RegionName as i32, value: region.name() },
        value: NameBytesPair { name: request.call.method_name.clone(), value: Some(value) },
    }))
}
