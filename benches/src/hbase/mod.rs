//! Saltwing and Phoenix over the same tables of a cluster, in the same run, with the same answers.
//!
//! The bench asks both sides each question in turn, so that other load on the machine slows both. Phoenix answers through its JDBC driver, which
//! a program in Java drives (`benches/phoenix/PhoenixSpeed.java`).

mod args;
mod log;
mod phoenix;
mod question;
mod run;
mod saltwing_side;

pub use args::Args;
pub use run::run;
