//! Actions of a multi.

use crate::proto;
use crate::request::{Delete, Get, Increment, Mutation, Put};

/// An action of a multi.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Reads a row.
    Get(Get),
    /// Changes a row.
    Mutate(Mutation),
}

impl Action {
    /// The row key.
    pub fn row(&self) -> &[u8] {
        match self {
            Self::Get(get) => get.row(),
            Self::Mutate(mutation) => mutation.row(),
        }
    }

    /// About the number of bytes of the action in a request.
    pub(super) fn request_bytes(&self) -> usize {
        match self {
            Self::Get(get) => get.row().len() + 50,
            Self::Mutate(mutation) => mutation.row().len() + mutation.cells_bytes() + 50,
        }
    }

    /// The action in a request, in which `index` names it.
    pub(super) fn message(&self, index: u32, nonce: u64) -> proto::Action {
        let (get, mutation) = match self {
            Self::Get(get) => (Some(get.message()), None),
            Self::Mutate(mutation) => (None, Some(mutation.message(nonce))),
        };
        proto::Action { index: Some(index), get, mutation, service_call: None }
    }
}

impl From<Get> for Action {
    fn from(get: Get) -> Self {
        Self::Get(get)
    }
}

impl From<Mutation> for Action {
    fn from(mutation: Mutation) -> Self {
        Self::Mutate(mutation)
    }
}

impl From<Put> for Action {
    fn from(put: Put) -> Self {
        Self::Mutate(put.into())
    }
}

impl From<Delete> for Action {
    fn from(delete: Delete) -> Self {
        Self::Mutate(delete.into())
    }
}

impl From<Increment> for Action {
    fn from(increment: Increment) -> Self {
        Self::Mutate(increment.into())
    }
}
