//! The client against a server in this process that answers as each test says.

#![allow(clippy::unwrap_used, clippy::panic)]

mod connections;
mod hostile;
mod look_ups;
mod model;
mod reading_ahead;
mod scans;
mod schedules;
mod scripted;
mod writes;
