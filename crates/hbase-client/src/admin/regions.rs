//! Regions: to split, to merge, to move.

use bytes::Bytes;

use super::master::Admin;
use super::procedures::Procedure;
use crate::context::CallContext;
use crate::error::Error;
use crate::proto::{
    MergeTableRegionsRequest, MergeTableRegionsResponse, MoveRegionRequest, MoveRegionResponse, RegionInfo,
    RegionSpecifier, RegionSpecifierType, ServerName, SetBalancerRunningRequest, SetBalancerRunningResponse,
    SplitTableRegionRequest, SplitTableRegionResponse,
};
use crate::region::{Place, Region};
use crate::table_name::TableName;

fn encoded(region: &Region) -> RegionSpecifier {
    let kind = RegionSpecifierType::EncodedRegionName as i32;
    RegionSpecifier { kind, value: Bytes::copy_from_slice(region.encoded_name()) }
}

impl Admin {
    /// Splits a region at a row key inside of it.
    ///
    /// # Errors
    /// Those of calls.
    pub async fn split_region(
        &self,
        context: &CallContext,
        table: &TableName,
        region: &Region,
        row: &[u8],
    ) -> Result<Procedure, Error> {
        let (nonce_group, nonce) = self.nonce();
        let region_info = RegionInfo {
            region_id: region.id(),
            table_name: table.message(),
            start_key: Some(region.start().clone()),
            end_key: Some(region.end().clone()),
            offline: Some(false),
            split: Some(false),
            replica_id: Some(0),
        };
        let split_row = Some(Bytes::copy_from_slice(row));
        let request = SplitTableRegionRequest { region_info, split_row, nonce_group, nonce };
        let split: SplitTableRegionResponse = self.call(context, "SplitRegion", &request).await?;
        Procedure::new(split.proc_id)
    }

    /// Merges neighbours.
    ///
    /// # Errors
    /// Those of calls.
    pub async fn merge_regions(&self, context: &CallContext, regions: &[Region]) -> Result<Procedure, Error> {
        let (nonce_group, nonce) = self.nonce();
        let region = regions.iter().map(encoded).collect();
        let request = MergeTableRegionsRequest { region, forcible: Some(false), nonce_group, nonce };
        let merged: MergeTableRegionsResponse = self.call(context, "MergeTableRegions", &request).await?;
        Procedure::new(merged.proc_id)
    }

    /// Moves a region to a server, or to any. The master has moved it when the call ends, or goes on with it.
    ///
    /// # Errors
    /// Those of calls.
    pub async fn move_region(&self, context: &CallContext, region: &Region, to: Option<&Place>) -> Result<(), Error> {
        let dest_server_name = to.map(|place| ServerName {
            host_name: place.server.host.to_string(),
            port: Some(u32::from(place.server.port)),
            start_code: Some(place.start_code),
        });
        let request = MoveRegionRequest { region: encoded(region), dest_server_name };
        let _: MoveRegionResponse = self.call(context, "MoveRegion", &request).await?;
        Ok(())
    }

    /// Lets the balancer run or not; whether it ran before.
    ///
    /// # Errors
    /// Those of calls.
    pub async fn set_balancer(&self, context: &CallContext, on: bool) -> Result<bool, Error> {
        let request = SetBalancerRunningRequest { on, synchronous: Some(true) };
        let before: SetBalancerRunningResponse = self.call(context, "SetBalancerRunning", &request).await?;
        Ok(before.prev_balance_value.unwrap_or(false))
    }
}
