//! ExecService, of the service `ClientService`: calls of coprocessors.

use bytes::Bytes;
use prost::Message;

use super::base::{NameBytesPair, RegionSpecifier};

/// A call of a method of a coprocessor.
#[derive(Clone, PartialEq, Message)]
pub struct CoprocessorServiceCall {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub row: Bytes,
    #[prost(string, required, tag = "2")]
    pub service_name: String,
    #[prost(string, required, tag = "3")]
    pub method_name: String,
    #[prost(bytes = "bytes", required, tag = "4")]
    pub request: Bytes,
}

/// The answer of a coprocessor in a Multi.
#[derive(Clone, PartialEq, Message)]
pub struct CoprocessorServiceResult {
    #[prost(message, optional, tag = "1")]
    pub value: Option<NameBytesPair>,
}

/// The request of ExecService.
#[derive(Clone, PartialEq, Message)]
pub struct CoprocessorServiceRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(message, required, tag = "2")]
    pub call: CoprocessorServiceCall,
}

/// The response of ExecService: the answer is the value of `value`.
#[derive(Clone, PartialEq, Message)]
pub struct CoprocessorServiceResponse {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(message, required, tag = "2")]
    pub value: NameBytesPair,
}
