//! The time limit of logins.

use std::time::Duration;

/// After this time our own server ends a connection that has not logged in.
pub(super) const LOGIN_TIMEOUT: Duration = Duration::from_secs(5);
