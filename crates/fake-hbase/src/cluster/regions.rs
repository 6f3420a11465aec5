//! Regions that split, merge and move.

use super::handle::Cluster;
use crate::exception::Exception;
use crate::name::RegionId;
use crate::operation::{
    begin_merge, begin_split, clean_catalog, close_region, finish_opening, move_region, open_regions, region_of,
    tell_catalog,
};
use crate::server_id::ServerId;

impl Cluster {
    /// The region that has a row.
    ///
    /// # Errors
    /// `TableNotFoundException`; `DoNotRetryIOException` if the table is out of service.
    pub fn region_of(&self, table: &str, row: &[u8]) -> Result<RegionId, Exception> {
        region_of(&self.state(), table, row)
    }

    /// The server of the region that has a row: where it is or is about to be, or was when that server died.
    ///
    /// # Errors
    /// As [`Cluster::region_of`].
    pub fn server_of(&self, table: &str, row: &[u8]) -> Result<ServerId, Exception> {
        let state = self.state();
        let region = region_of(&state, table, row)?;
        let server = state.regions.get(&region.name()).and_then(|region| region.server());
        server.ok_or_else(|| Exception::not_serving_region(&region.encoded_name()))
    }

    /// Splits a region at a key. The parent stays in `hbase:meta`, offline and split, until the next call of
    /// [`Cluster::clean_catalog`].
    ///
    /// # Errors
    /// As [`Cluster::region_of`], and `DoNotRetryIOException` for the first key of a region.
    pub fn split(&self, table: &str, key: &[u8]) -> Result<(), Exception> {
        let [_, first, second] = self.begin_split(table, key)?;
        self.open_regions(&[first, second])
    }

    /// Goes to the middle of a split: the parent is closed and offline, the daughters have no server yet. The result is the parent
    /// and the daughters.
    ///
    /// # Errors
    /// As [`Cluster::split`].
    pub fn begin_split(&self, table: &str, key: &[u8]) -> Result<[RegionId; 3], Exception> {
        begin_split(&mut self.state(), table, key)
    }

    /// Closes a region for a while, as each split, merge and move begins: `hbase:meta` goes on naming its server.
    ///
    /// # Errors
    /// As [`Cluster::region_of`], and `NotServingRegionException` if it is not open at a server that lives.
    pub fn close_region(&self, table: &str, row: &[u8]) -> Result<RegionId, Exception> {
        close_region(&mut self.state(), table, row)
    }

    /// Opens regions that are closed: daughters of a split, the region of a merge, one that was closed. They go to one server.
    ///
    /// # Errors
    /// `HBaseIOException` if no server lives.
    pub fn open_regions(&self, regions: &[RegionId]) -> Result<(), Exception> {
        open_regions(&mut self.state(), regions)
    }

    /// Opens the daughters of a split, as [`Cluster::open_regions`].
    ///
    /// # Errors
    /// As [`Cluster::open_regions`].
    pub fn finish_split(&self, daughters: &[RegionId]) -> Result<(), Exception> {
        self.open_regions(daughters)
    }

    /// Takes the parents of splits out of `hbase:meta`.
    pub fn clean_catalog(&self, table: &str) {
        clean_catalog(&mut self.state(), table);
    }

    /// Merges the region that has a row with the one after it. The new region begins where the first one did.
    ///
    /// # Errors
    /// As [`Cluster::region_of`], and `DoNotRetryIOException` for the last region.
    pub fn merge(&self, table: &str, row: &[u8]) -> Result<(), Exception> {
        let merged = self.begin_merge(table, row)?;
        self.open_regions(&[merged])
    }

    /// Goes to the middle of a merge: the new region is in `hbase:meta` with the server of the first one, which does not have it open.
    ///
    /// # Errors
    /// As [`Cluster::merge`].
    pub fn begin_merge(&self, table: &str, row: &[u8]) -> Result<RegionId, Exception> {
        begin_merge(&mut self.state(), table, row)
    }

    /// Moves the region that has a row to a server, and `hbase:meta` names it at once. Scanners of the region end.
    ///
    /// # Errors
    /// As [`Cluster::region_of`], and `HBaseIOException` if the server is dead.
    pub fn move_region(&self, table: &str, row: &[u8], to: ServerId) -> Result<(), Exception> {
        let mut state = self.state();
        let region = region_of(&state, table, row)?;
        move_region(&mut state, &region, to, true)?;
        tell_catalog(&mut state, &region)
    }

    /// As [`Cluster::move_region`], but `hbase:meta` names the old server until [`Cluster::catch_up`].
    ///
    /// # Errors
    /// As [`Cluster::move_region`].
    pub fn move_unseen(&self, table: &str, row: &[u8], to: ServerId) -> Result<(), Exception> {
        let mut state = self.state();
        let region = region_of(&state, table, row)?;
        move_region(&mut state, &region, to, true)
    }

    /// Begins a move: the new server says that the region is opening, the old one that it moved, and `hbase:meta` names the old
    /// one, until [`Cluster::catch_up`].
    ///
    /// # Errors
    /// As [`Cluster::move_region`].
    pub fn begin_move(&self, table: &str, row: &[u8], to: ServerId) -> Result<(), Exception> {
        let mut state = self.state();
        let region = region_of(&state, table, row)?;
        move_region(&mut state, &region, to, false)
    }

    /// Opens regions that are about to be open, and lets `hbase:meta` name the servers of all regions.
    ///
    /// # Errors
    /// `IOException` for cells that can't be made.
    pub fn catch_up(&self) -> Result<(), Exception> {
        let mut state = self.state();
        finish_opening(&mut state)?;
        let regions: Vec<RegionId> = state.regions.values().map(|region| region.id.clone()).collect();
        regions.iter().try_for_each(|region| tell_catalog(&mut state, region))
    }
}
