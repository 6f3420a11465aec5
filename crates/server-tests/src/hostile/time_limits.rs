//! The time limits of our own server in these tests.

use std::time::Duration;

/// After this time it ends a connection that has not logged in.
pub(super) const LOGIN_TIMEOUT: Duration = Duration::from_secs(5);
/// After this time it ends a connection whose client reads nothing of its result. Attacks of slow readers are shorter.
pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(8);
