//! The limit of calls in flight to one server, which follows what the server can do.
//!
//! The limit is halved if the server says that it has too much to do, at most once for all calls that were in flight then, and grows by
//! one after as many answers as it allows calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The limit at the beginning: twice the handlers of a small region server.
pub(super) const CALLS_FIRST: usize = 60;
/// The limit never falls below this.
pub(super) const CALLS_MIN: usize = 2;
/// The limit never grows beyond this.
pub(super) const CALLS_MAX: usize = 1024;

struct State {
    limit: usize,
    /// Permits that are still to be taken away.
    debt: usize,
    /// Answers since the limit changed.
    answers: usize,
    /// Calls that began before are of the last overload.
    halved_at: Instant,
}

pub(super) struct InFlight {
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

/// The right to have a call in flight.
pub(super) struct Permit {
    owner: Arc<InFlight>,
    permit: Option<OwnedSemaphorePermit>,
    begun: Instant,
}

impl InFlight {
    pub(super) fn new() -> Arc<Self> {
        let state = State { limit: CALLS_FIRST, debt: 0, answers: 0, halved_at: Instant::now() };
        Arc::new(Self { permits: Arc::new(Semaphore::new(CALLS_FIRST)), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the right to have a call in flight; `None` if the deadline comes first.
    pub(super) async fn permit(self: &Arc<Self>, until: Instant) -> Option<Permit> {
        let wait = Arc::clone(&self.permits).acquire_owned();
        let permit = timeout_at(until, wait).await.ok()?.ok()?;
        Some(Permit { owner: Arc::clone(self), permit: Some(permit), begun: Instant::now() })
    }

    #[cfg(test)]
    fn limit(&self) -> usize {
        self.state().limit
    }
}

impl Permit {
    /// The call was answered, and the server did not complain.
    pub(super) fn answered(&self) {
        let mut state = self.owner.state();
        state.answers += 1;
        if state.answers >= state.limit && state.limit < CALLS_MAX {
            state.answers = 0;
            state.limit += 1;
            match state.debt.checked_sub(1) {
                Some(debt) => state.debt = debt,
                None => self.owner.permits.add_permits(1),
            }
        }
    }

    /// The server has too much to do.
    pub(super) fn overloaded(&self) {
        let mut state = self.owner.state();
        if self.begun < state.halved_at {
            return;
        }
        let limit = (state.limit / 2).max(CALLS_MIN);
        state.debt += state.limit - limit;
        (state.limit, state.answers, state.halved_at) = (limit, 0, Instant::now());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.owner.state();
        if let Some(debt) = state.debt.checked_sub(1) {
            state.debt = debt;
            if let Some(permit) = self.permit.take() {
                permit.forget();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(10)
    }

    #[tokio::test]
    async fn an_overload_halves_the_limit_once() {
        let calls = InFlight::new();
        let mut permits = Vec::new();
        while let Some(permit) = calls.permit(soon()).await {
            permits.push(permit);
        }
        assert_eq!(permits.len(), CALLS_FIRST);
        for permit in &permits {
            permit.overloaded();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(calls.limit(), CALLS_FIRST / 2);
        permits.clear();
        while let Some(permit) = calls.permit(soon()).await {
            permits.push(permit);
        }
        assert_eq!(permits.len(), CALLS_FIRST / 2);
    }

    #[tokio::test]
    async fn the_limit_grows_slowly_and_stays_within_its_bounds() {
        let calls = InFlight::new();
        for _ in 0..CALLS_FIRST {
            calls.permit(soon()).await.unwrap().answered();
        }
        assert_eq!(calls.limit(), CALLS_FIRST + 1);
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            calls.permit(soon()).await.unwrap().overloaded();
        }
        assert_eq!(calls.limit(), CALLS_MIN);
        assert!(calls.permit(soon()).await.is_some());
    }
}
