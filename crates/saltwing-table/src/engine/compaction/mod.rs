//! Compaction: recent rows into blocks, one step after the other. A step is one batch of the store.
//!
//! ```text
//! plan ──> inputs ──> outputs, runs ──> install
//! ```
//! [`plan`] chooses entries of the directory, and whether their new rows go into a run or into a new block. [`inputs`] gathers the
//! rows that count, in key order. [`outputs`] makes blocks of them, and [`runs`] runs. [`install`] writes the batch, and puts the
//! new directory in the place of the old one. [`step`] goes through these for the entries of one step, [`parallel`] by several
//! threads; [`state`] is what a step knows meanwhile.

pub(crate) mod block_sizes;
pub(crate) mod inputs;
pub(crate) mod install;
pub(crate) mod outputs;
pub(crate) mod parallel;
pub(crate) mod pending;
pub(crate) mod plan;
pub(crate) mod runs;
pub(crate) mod state;
pub(crate) mod step;
