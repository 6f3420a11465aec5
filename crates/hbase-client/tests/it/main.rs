//! The client against a server in this process that answers as each test says.

#![allow(clippy::unwrap_used, clippy::panic)]

mod connections;
mod disturbances;
mod hostile;
mod look_ups;
mod meta_rows;
mod mistakes;
mod model;
mod reading_ahead;
mod replies;
mod scan_regions;
mod scans;
mod schedules;
mod scripted;
mod steps;
mod world;
mod writes;
