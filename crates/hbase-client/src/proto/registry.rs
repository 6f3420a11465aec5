//! The service `ClientMetaService`, which masters and region servers have, and the nodes of ZooKeeper.

use prost::Message;

use super::base::{RegionLocation, ServerName};

/// Asks for the id of the cluster.
#[derive(Clone, PartialEq, Message)]
pub struct GetClusterIdRequest {}

/// The id of the cluster.
#[derive(Clone, PartialEq, Message)]
pub struct GetClusterIdResponse {
    #[prost(string, optional, tag = "1")]
    pub cluster_id: Option<String>,
}

/// Asks for the active master.
#[derive(Clone, PartialEq, Message)]
pub struct GetActiveMasterRequest {}

/// The active master; none if there is none.
#[derive(Clone, PartialEq, Message)]
pub struct GetActiveMasterResponse {
    #[prost(message, optional, tag = "1")]
    pub server_name: Option<ServerName>,
}

/// Asks where `hbase:meta` is.
#[derive(Clone, PartialEq, Message)]
pub struct GetMetaRegionLocationsRequest {}

/// Where `hbase:meta` is.
#[derive(Clone, PartialEq, Message)]
pub struct GetMetaRegionLocationsResponse {
    #[prost(message, repeated, tag = "1")]
    pub meta_locations: Vec<RegionLocation>,
}

/// Asks for servers that have this service.
#[derive(Clone, PartialEq, Message)]
pub struct GetBootstrapNodesRequest {}

/// Servers that have this service.
#[derive(Clone, PartialEq, Message)]
pub struct GetBootstrapNodesResponse {
    #[prost(message, repeated, tag = "1")]
    pub server_name: Vec<ServerName>,
}

/// The node `meta-region-server` of ZooKeeper.
#[derive(Clone, PartialEq, Message)]
pub struct MetaRegionServer {
    #[prost(message, required, tag = "1")]
    pub server: ServerName,
    #[prost(uint32, optional, tag = "2")]
    pub rpc_version: Option<u32>,
}

/// The node `master` of ZooKeeper.
#[derive(Clone, PartialEq, Message)]
pub struct Master {
    #[prost(message, required, tag = "1")]
    pub master: ServerName,
    #[prost(uint32, optional, tag = "2")]
    pub rpc_version: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub info_port: Option<u32>,
}
