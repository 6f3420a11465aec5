//! The parameters of a session with PostgreSQL's names: SET, RESET, SHOW, and what the server reports by itself.
//!
//! A parameter is here if a client sets or shows it. No value is accepted that would have no effect on a client that relies on it: a
//! parameter either has its effect, or has one value that SET accepts and a reason why there is no other, or has an effect that
//! holds for every value, as `lock_timeout` where no transaction takes a lock.
//!
//! ```text
//! SET ── catalog ── value ── session: current and lasting values ── effect: what the session does
//!        names      texts     │
//!                             └ transaction: ROLLBACK, savepoints
//! ```
//!
//! # Laws
//! 1. SET takes the value that SHOW shows, and does not change it. So it takes each default.
//! 2. A SET that is refused changes nothing.
//! 3. Settings follow the transaction (`transaction`).
//! 4. The reports that a client has got are the values that SHOW shows.
//!
//! # Left to others
//! Settings of the library (`docs/settings.md`) stay its own, outside of transactions. The session obeys what `effect` gives: it
//! cancels statements, ends idle sessions and refuses writes.

mod catalog;
mod custom;
mod custom_limits;
mod date_style;
mod effect;
mod error;
mod open_transaction;
mod parameter;
mod search_path;
mod session;
mod startup;
#[cfg(test)]
mod tests;
mod text_at;
mod time_zone;
mod timeout;
mod transaction;
mod transaction_modes;
mod value;
mod values;

pub(crate) use catalog::{SERVER_VERSION, is_library_setting};
pub(crate) use error::{SettingError, SettingWarning};
pub(crate) use parameter::SessionFacts;
pub(crate) use session::{NewValue, PostgresSettings};
pub(crate) use text_at::{TextAt, shortened};
pub(crate) use transaction_modes::{IsolationLevel, TransactionModes};
pub(crate) use value::MessageLevel;
