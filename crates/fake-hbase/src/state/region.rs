//! Regions and where they are.

use std::collections::BTreeMap;

use crate::name::RegionId;
use crate::server_id::ServerId;

/// Whether a region can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// By this server, if it lives.
    Open(ServerId),
    /// Soon by this server.
    Opening(ServerId),
    /// By none.
    Closed,
}

/// A region. Its rows lie with its table.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) id: RegionId,
    pub(crate) status: Status,
    /// The number of its last write when it was opened; grows with each opening.
    pub(crate) opened_at: u64,
    /// Whether its daughters have its rows: it will never be open again.
    pub(crate) is_split: bool,
    /// Servers that it left, where it went from there, and its number there.
    pub(crate) left: BTreeMap<ServerId, (ServerId, u64)>,
}

impl Region {
    pub(crate) fn new(id: RegionId) -> Self {
        Self { id, status: Status::Closed, opened_at: 0, is_split: false, left: BTreeMap::new() }
    }

    /// The server that has it or will have it.
    pub(crate) fn server(&self) -> Option<ServerId> {
        match self.status {
            Status::Open(server) | Status::Opening(server) => Some(server),
            Status::Closed => None,
        }
    }
}
