//! The service `ClientMetaService`.

use hbase_client::proto::{
    GetActiveMasterResponse, GetBootstrapNodesResponse, GetClusterIdResponse, GetMetaRegionLocationsResponse,
    RegionLocation,
};

use super::reply::Reply;
use crate::exception::Exception;
use crate::name::{META_REGION, RegionId};
use crate::state::State;

pub(crate) fn cluster_id() -> Reply {
    Reply::of(&GetClusterIdResponse { cluster_id: Some("fake-hbase".to_owned()) })
}

/// The master, unless it is dead.
pub(crate) fn active_master(state: &State) -> Reply {
    let server_name = state.master.is_alive().then(|| state.master.name.clone());
    Reply::of(&GetActiveMasterResponse { server_name })
}

/// Where the catalog is; that server may be dead.
pub(crate) fn meta_locations(state: &State) -> Result<Reply, Exception> {
    let meta = state.regions.get(META_REGION);
    let server = meta.and_then(|region| region.server()).and_then(|id| state.servers.get(id.0));
    let Some(server) = server else { return Err(Exception::io("hbase:meta has no location")) };
    let location =
        RegionLocation { region_info: RegionId::meta().info(), server_name: Some(server.name.clone()), seq_num: -1 };
    Ok(Reply::of(&GetMetaRegionLocationsResponse { meta_locations: vec![location] }))
}

/// The region servers that live.
pub(crate) fn bootstrap_nodes(state: &State) -> Reply {
    let alive = state.servers.iter().filter(|server| server.is_alive());
    Reply::of(&GetBootstrapNodesResponse { server_name: alive.map(|server| server.name.clone()).collect() })
}
