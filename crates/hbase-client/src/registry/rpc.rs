//! The registry that masters and region servers are.

use bytes::Bytes;
use tokio::time::Instant;

use super::wanted::Wanted;
use crate::address::Address;
use crate::connection::{Answer, Servers, Service};
use crate::error::Error;
use crate::proto::{
    GetActiveMasterRequest, GetActiveMasterResponse, GetMetaRegionLocationsRequest, GetMetaRegionLocationsResponse,
};

/// Asks one server; `None` if it knows none.
pub(super) async fn find(
    servers: &Servers,
    address: &Address,
    wanted: Wanted,
    until: Instant,
) -> Result<Option<Address>, Error> {
    let server = servers.server(address, Service::ClientMeta);
    let name = match wanted {
        Wanted::Meta => {
            let request = GetMetaRegionLocationsRequest {};
            let answer: Answer<GetMetaRegionLocationsResponse> =
                server.call("GetMetaRegionLocations", &request, Bytes::new(), until).await?;
            // Replicas of `hbase:meta` may be old.
            let mut locations = answer.message.meta_locations.into_iter();
            let primary = locations.find(|location| location.region_info.replica_id.unwrap_or(0) == 0);
            primary.and_then(|location| location.server_name)
        }
        Wanted::Master => {
            let request = GetActiveMasterRequest {};
            let answer: Answer<GetActiveMasterResponse> =
                server.call("GetActiveMaster", &request, Bytes::new(), until).await?;
            answer.message.server_name
        }
    };
    Ok(name.as_ref().and_then(Address::of_server))
}
