//! A cluster: its servers, its regions, and calls of single regions, which are tried again.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use crate::connection::{Answer, Server, Servers, Service, Settings};
use crate::context::CallContext;
use crate::error::Error;
use crate::locator::{Locator, Side};
use crate::outcome::Outcome;
use crate::region::Region;
use crate::registry::Registry;
use crate::retries::Retries;
use crate::server_error::Reaction;
use crate::table_name::TableName;

/// Whether a call may be sent again that may have been applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It changes nothing.
    Read,
    /// It changes the same a second time.
    Always,
    /// The server knows a second time by the nonce, as long as the region stays where it is: nonces do not move.
    SamePlace,
    Never,
}

/// A cluster: its servers and its regions.
pub(crate) struct Cluster {
    pub(crate) servers: Arc<Servers>,
    pub(crate) locator: Locator,
    pub(crate) nonce_group: u64,
}

/// What a region is asked: the method, the request for it and its cells.
pub(crate) struct RegionRequest<M> {
    pub(crate) method: &'static str,
    pub(crate) message: M,
    pub(crate) cells: Bytes,
}

impl Cluster {
    pub(crate) fn new(registry: Registry, settings: Settings) -> Self {
        let servers = Arc::new(Servers::new(settings));
        let locator = Locator::new(registry, Arc::clone(&servers));
        Self { servers, locator, nonce_group: fastrand::u64(1..) }
    }

    /// The server of a region.
    pub(crate) fn server_of(&self, region: &Region) -> Arc<Server> {
        self.servers.server(region.server(), Service::Client)
    }

    /// Calls the region of a row until there is an answer, or an error that stays.
    pub(crate) async fn call<Q: Message, A: Message + Default, T>(
        &self,
        context: &CallContext,
        table: &TableName,
        row: &[u8],
        repeat: Repeat,
        request: impl Fn(&Region) -> RegionRequest<Q>,
        read: impl Fn(&Server, Answer<A>) -> Result<T, Error>,
    ) -> Outcome<T> {
        let mut attempts = Attempts::new(repeat, context);
        let mut retries = Retries::new(context);
        loop {
            let region = match self.locator.locate(context, table, row, Side::At).await {
                Ok(region) => region,
                Err(error) => return attempts.end(error),
            };
            if !attempts.may_go_to(&region) {
                return attempts.end(attempts.lost(&region));
            }
            let server = self.server_of(&region);
            let RegionRequest { method, message, cells } = request(&region);
            let until = context.attempt_until();
            let answer = server.call::<A>(method, &message, cells, until).await;
            let failure = match answer.and_then(|answer| read(&server, answer)) {
                Ok(value) => return Outcome::Done(value),
                Err(error) => error.of_table(table),
            };
            if !attempts.may_follow(&failure, &region) {
                return attempts.end(failure);
            }
            if let Err(error) = self.recover(context, table, &region, failure, &mut retries).await {
                return attempts.end(error);
            }
        }
    }

    /// Notes what a failure tells of a region, and waits for the next try.
    ///
    /// # Errors
    /// [`Error::Deadline`], [`Error::RetriesUsedUp`], [`Error::TableNotEnabled`].
    pub(crate) async fn recover(
        &self,
        context: &CallContext,
        table: &TableName,
        region: &Region,
        failure: Error,
        retries: &mut Retries<'_>,
    ) -> Result<(), Error> {
        self.note(table, region, &failure);
        let is_elsewhere = failure.reaction() == Reaction::LookUpAgain;
        retries.wait(failure).await?;
        if is_elsewhere && retries.failures().is_multiple_of(4) {
            self.locator.check_enabled(context, table).await?;
        }
        Ok(())
    }

    /// Notes what a failure tells of the place of a region.
    pub(crate) fn note(&self, table: &TableName, region: &Region, failure: &Error) {
        let moved_to = failure.server_error().and_then(|error| error.moved_to.clone());
        match failure.reaction() {
            Reaction::LookUpAgain if moved_to.as_ref().is_some_and(|server| server != region.server()) => {
                if let Some(server) = moved_to {
                    self.locator.moved(table, region, server);
                }
            }
            Reaction::LookUpAgain | Reaction::Reconnect | Reaction::TryAgain => self.locator.evict(table, region),
            Reaction::Wait | Reaction::OpenScannerAgain | Reaction::Final => {}
        }
    }
}

/// What the attempts of one call have come to.
#[derive(Clone, Debug)]
pub(crate) struct Attempts {
    repeat: Repeat,
    /// The place of the first attempt that may have been applied, and its failure.
    unknown: Option<(Region, Error)>,
}

impl Attempts {
    pub(crate) fn new(repeat: Repeat, context: &CallContext) -> Self {
        // A caller may say that a second time does no harm.
        let repeat = if context.repeats_unknown_writes() && repeat == Repeat::Never { Repeat::Always } else { repeat };
        Self { repeat, unknown: None }
    }

    /// Whether the call may be sent to a region, after what came before.
    pub(crate) fn may_go_to(&self, region: &Region) -> bool {
        match (&self.unknown, self.repeat) {
            (None, _) | (_, Repeat::Read | Repeat::Always) => true,
            (Some((place, _)), Repeat::SamePlace) => place == region,
            (Some(_), Repeat::Never) => false,
        }
    }

    /// The failure of the attempt that may have been applied.
    pub(crate) fn lost(&self, region: &Region) -> Error {
        match &self.unknown {
            Some((_, error)) => error.clone(),
            None => Error::NoAnswer { server: region.server().clone(), method: "call", sent: true },
        }
    }

    /// Notes a failure; whether another attempt may follow.
    pub(crate) fn may_follow(&mut self, failure: &Error, region: &Region) -> bool {
        if self.repeat != Repeat::Read && failure.may_be_applied() && self.unknown.is_none() {
            self.unknown = Some((region.clone(), failure.clone()));
        }
        failure.reaction() != Reaction::Final && (self.unknown.is_none() || self.repeat != Repeat::Never)
    }

    /// The outcome of a call that ends with an error.
    pub(crate) fn end<T>(&self, error: Error) -> Outcome<T> {
        if self.unknown.is_some() { Outcome::Unknown(error) } else { Outcome::Refused(error) }
    }
}
