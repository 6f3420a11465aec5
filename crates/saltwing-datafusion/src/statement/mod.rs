//! What all of one statement shares: the context that can stop it, its memory, and the thread that plans it.

pub(crate) mod counted;
pub(crate) mod current;
pub(crate) mod memory_pool;
pub(crate) mod planner_thread;
pub(crate) mod tasks;
