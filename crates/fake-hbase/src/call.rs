//! Calls that servers got.

use bytes::Bytes;

use crate::name::{META, RegionId};
use crate::server_id::ServerId;

/// What a call of Scan does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanStep {
    /// Opens a scanner, and may read and close it as well.
    Open,
    /// Reads on.
    Next,
    /// Makes the lease longer.
    Renew,
    /// Closes without reading.
    Close,
}

/// A call that a server got, whether or not it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The server; `None` is the master.
    pub server: Option<ServerId>,
    /// The service of the connection: `ClientService`, ..
    pub service: String,
    /// The method: `Get`, `Scan`, ..
    pub method: String,
    /// The regions that it names, or whose scanner it names; unknown ones are left out.
    pub regions: Vec<RegionId>,
    /// The rows that it gets or changes.
    pub rows: Vec<Bytes>,
    /// What a call of Scan does.
    pub scan: Option<ScanStep>,
}

impl Call {
    /// Whether it reads the catalog of regions.
    pub fn is_meta(&self) -> bool {
        self.regions.iter().any(|region| region.table == META)
    }

    /// Whether it names a region of this table.
    pub fn is_of(&self, table: &str) -> bool {
        self.regions.iter().any(|region| region.table == table)
    }
}
