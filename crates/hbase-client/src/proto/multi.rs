//! Multi, of the service `ClientService`.

use prost::Message;

use super::base::{NameBytesPair, RegionSpecifier};
use super::cell::RowResult;
use super::coprocessor::{CoprocessorServiceCall, CoprocessorServiceResult};
use super::get::Get;
use super::mutation::{Condition, MutationProto};

/// An action of Multi.
#[derive(Clone, PartialEq, Message)]
pub struct Action {
    #[prost(uint32, optional, tag = "1")]
    pub index: Option<u32>,
    #[prost(message, optional, tag = "2")]
    pub mutation: Option<MutationProto>,
    #[prost(message, optional, tag = "3")]
    pub get: Option<Get>,
    #[prost(message, optional, tag = "4")]
    pub service_call: Option<CoprocessorServiceCall>,
}

/// Actions on one region.
#[derive(Clone, PartialEq, Message)]
pub struct RegionAction {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(bool, optional, tag = "2")]
    pub atomic: Option<bool>,
    #[prost(message, repeated, tag = "3")]
    pub action: Vec<Action>,
    #[prost(message, optional, tag = "4")]
    pub condition: Option<Condition>,
}

/// The request of Multi.
#[derive(Clone, PartialEq, Message)]
pub struct MultiRequest {
    #[prost(message, repeated, tag = "1")]
    pub region_action: Vec<RegionAction>,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
}

/// The outcome of one action, which `index` names.
#[derive(Clone, PartialEq, Message)]
pub struct ResultOrException {
    #[prost(uint32, optional, tag = "1")]
    pub index: Option<u32>,
    #[prost(message, optional, tag = "2")]
    pub result: Option<RowResult>,
    #[prost(message, optional, tag = "3")]
    pub exception: Option<NameBytesPair>,
    #[prost(message, optional, tag = "4")]
    pub service_result: Option<CoprocessorServiceResult>,
}

/// The outcomes of the actions on one region, in any order.
#[derive(Clone, PartialEq, Message)]
pub struct RegionActionResult {
    #[prost(message, repeated, tag = "1")]
    pub result_or_exception: Vec<ResultOrException>,
    #[prost(message, optional, tag = "2")]
    pub exception: Option<NameBytesPair>,
    #[prost(bool, optional, tag = "3")]
    pub processed: Option<bool>,
}

/// The response of Multi, with a result for each `RegionAction` in its order.
#[derive(Clone, PartialEq, Message)]
pub struct MultiResponse {
    #[prost(message, repeated, tag = "1")]
    pub region_action_result: Vec<RegionActionResult>,
}
