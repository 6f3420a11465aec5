//! Waiting between tries.

use std::time::Duration;

use tokio::time::Instant;

use crate::context::CallContext;
use crate::error::Error;

/// The first wait, in milliseconds.
const WAIT_MS_MIN: u64 = 20;
/// The longest wait, in milliseconds.
const WAIT_MS_MAX: u64 = 2_000;

/// The tries of one call: each wait is about twice as long as the one before.
pub(crate) struct Retries<'c> {
    context: &'c CallContext,
    tries: u32,
    waits: u32,
}

impl<'c> Retries<'c> {
    pub(crate) fn new(context: &'c CallContext) -> Self {
        Self { context, tries: 0, waits: 0 }
    }

    /// The number of failures so far.
    pub(crate) fn failures(&self) -> u32 {
        self.tries
    }

    /// The call came further: the next wait is short again.
    pub(crate) fn progress(&mut self) {
        self.waits = 0;
    }

    /// Waits after a failure, as long as the server asked for if it did.
    ///
    /// # Errors
    /// [`Error::Deadline`], [`Error::RetriesUsedUp`], with the failure.
    pub(crate) async fn wait(&mut self, failure: Error) -> Result<(), Error> {
        self.tries += 1;
        let (tries, asked) = (self.tries, failure.server_error().and_then(|error| error.wait()));
        if !self.context.take_retry() {
            return Err(Error::RetriesUsedUp { tries, last: Box::new(failure) });
        }
        let wait = asked.unwrap_or_else(|| with_jitter(self.waits));
        self.waits += 1;
        let until = Instant::now() + wait;
        if until >= self.context.deadline() {
            tokio::time::sleep_until(self.context.deadline()).await;
            return Err(Error::Deadline { tries, last: Box::new(failure) });
        }
        tokio::time::sleep_until(until).await;
        Ok(())
    }
}

/// A wait between half and one and a half of its nominal length, so that clients that failed together do not come together.
fn with_jitter(waits: u32) -> Duration {
    let nominal = (WAIT_MS_MIN << waits.min(20)).min(WAIT_MS_MAX);
    Duration::from_millis(nominal / 2 + fastrand::u64(0..=nominal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Error {
        Error::Unsupported { reason: "a failure" }
    }

    #[test]
    fn waits_grow_to_their_limit() {
        for waits in 0..100 {
            let nominal = (WAIT_MS_MIN << waits.min(20)).min(WAIT_MS_MAX);
            let wait = with_jitter(waits).as_millis() as u64;
            assert!((nominal / 2..=nominal * 3 / 2).contains(&wait), "{waits}: {wait}");
        }
    }

    #[tokio::test]
    async fn the_budget_is_shared() {
        let context = CallContext::within(Duration::from_secs(60)).with_retries(3);
        let other = context.clone();
        let (mut one, mut two) = (Retries::new(&context), Retries::new(&other));
        assert!(one.wait(failure()).await.is_ok());
        assert!(two.wait(failure()).await.is_ok());
        assert!(one.wait(failure()).await.is_ok());
        assert_eq!(two.wait(failure()).await, Err(Error::RetriesUsedUp { tries: 2, last: Box::new(failure()) }));
    }

    #[tokio::test]
    async fn a_wait_ends_at_the_deadline() {
        let begun = Instant::now();
        let context = CallContext::within(Duration::from_millis(500));
        let mut retries = Retries::new(&context);
        let error = loop {
            if let Err(error) = retries.wait(failure()).await {
                break error;
            }
        };
        assert!(matches!(error, Error::Deadline { .. }));
        assert!(begun.elapsed() >= Duration::from_millis(500));
    }
}
