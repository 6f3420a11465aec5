//! The request of a query to the engine.

use std::sync::Arc;

use saltwing_access::{ScanContext, Snapshot};
use saltwing_bind::BoundQuery;
use saltwing_catalog::CatalogReader;
use saltwing_planner::Guard;
use saltwing_types::Value;

/// A query and what it runs on. It owns all of that, because the thread that plans it may outlive its caller.
pub struct QueryRequest {
    /// The query.
    pub query: BoundQuery,
    /// Tables by name.
    pub catalog: Arc<dyn CatalogReader>,
    /// What the statement sees.
    pub snapshot: Arc<dyn Snapshot>,
    /// Its budget and cancel.
    pub context: ScanContext,
    /// What may override a refusal.
    pub guard: Guard,
    /// Values that stand for others where rows are estimated and parameters have none; empty where they have.
    pub samples: Vec<Value>,
    /// How far its recursive queries go.
    pub recursion: RecursionLimits,
    /// What becomes of it.
    pub mode: Mode,
    /// The time that `now()` gives, in milliseconds since 1970; `None` is the time of planning.
    pub now_ms: Option<i64>,
}

/// What becomes of a planned query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is run: full scans are refused.
    Execute,
    /// It is explained: nothing is refused.
    Explain,
    /// It is to be run again and again, with values that it does not have yet: nothing is refused.
    Keep,
}

/// How far the recursive queries of a statement go, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursionLimits {
    /// Most rounds; `None` is no limit.
    pub rounds_max: Option<u64>,
    /// Most rows that the rounds make; `None` is no limit.
    pub rows_max: Option<u64>,
}

impl Default for RecursionLimits {
    fn default() -> Self {
        Self { rounds_max: Some(100_000), rows_max: Some(10_000_000) }
    }
}
