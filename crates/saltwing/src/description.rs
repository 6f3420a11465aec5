//! The description of a prepared statement.

use std::sync::Arc;

use saltwing_bind::ResultColumn;
use saltwing_types::SqlType;

/// The properties of a statement known before its parameters have values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The type of each parameter, by number from 0. `None`: the statement does not tell it, and takes any value.
    pub parameters: Vec<Option<SqlType>>,
    /// The columns of the rows. `None`: it gives no rows, or only a run tells their columns.
    pub columns: Option<Arc<[ResultColumn]>>,
    /// How a query runs: a plan of the direct path by its word in `EXPLAIN (FORMAT JSON)`, or `relational`.
    pub plan: Option<&'static str>,
}
