//! The active master.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use prost::Message;
use tokio::time::Instant;

use crate::address::Address;
use crate::cluster::Cluster;
use crate::connection::{Answer, Server, Service};
use crate::context::CallContext;
use crate::error::Error;
use crate::retries::Retries;
use crate::server_error::Reaction;

/// The calls of the master. The master of the moment is found by the registry, and again after failures.
///
/// Calls that change something carry nonces, so that a master which gets one twice does it once.
pub struct Admin {
    pub(super) cluster: Arc<Cluster>,
    master: Mutex<Option<Address>>,
}

impl Admin {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Self {
        Self { cluster, master: Mutex::default() }
    }

    /// Calls a method of the master until there is an answer, or an error that stays.
    pub(super) async fn call<A: Message + Default>(
        &self,
        context: &CallContext,
        method: &'static str,
        request: &impl Message,
    ) -> Result<A, Error> {
        let mut retries = Retries::new(context);
        loop {
            let until = context.attempt_until();
            let answer = match self.server(until).await {
                Ok(server) => server.call::<A>(method, request, Bytes::new(), until).await,
                Err(error) => Err(error),
            };
            let failure = match answer {
                Ok(Answer { message, .. }) => return Ok(message),
                Err(error) => error,
            };
            let reaction = failure.reaction();
            if reaction == Reaction::Final {
                return Err(failure);
            }
            if reaction != Reaction::Wait {
                *self.master.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            retries.wait(failure).await?;
        }
    }

    async fn server(&self, until: Instant) -> Result<Arc<Server>, Error> {
        let known = self.master.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let address = match known {
            Some(address) => address,
            None => {
                let address = self.cluster.locator.registry().master(&self.cluster.servers, until).await?;
                *self.master.lock().unwrap_or_else(PoisonError::into_inner) = Some(address.clone());
                address
            }
        };
        Ok(self.cluster.servers.server(&address, Service::Master))
    }

    /// A nonce for a call: the group of the client, and a number of its own.
    pub(super) fn nonce(&self) -> (Option<u64>, Option<u64>) {
        (Some(self.cluster.nonce_group), Some(fastrand::u64(1..)))
    }
}
