//! Actions that wait for their outcomes.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::actions::Action;
use crate::cell::Cell;
use crate::cluster::Attempts;
use crate::error::Error;
use crate::region::Region;
use crate::row::Row;

/// The actions of a request, by the names of regions.
pub(super) type ByRegion = BTreeMap<Bytes, (Region, Vec<Waiting>)>;

/// An action after a call: where it was sent, and its answer.
pub(super) type Answered = (Waiting, Region, Result<Row, Error>);

/// An action that waits for its outcome.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// The place among the caller's actions.
    pub(super) place: usize,
    pub(super) action: Action,
    pub(super) attempts: Attempts,
    pub(super) nonce: u64,
}

impl Waiting {
    pub(super) fn new(place: usize, action: Action, attempts: Attempts) -> Self {
        Self { place, action, attempts, nonce: fastrand::u64(1..) }
    }

    pub(super) fn cells(&self) -> &[Cell] {
        match &self.action {
            Action::Get(_) => &[],
            Action::Mutate(mutation) => mutation.cells(),
        }
    }
}
