//! A bound statement to a plan: which keys of its table are read, and how rows come from them.
//!
//! ```text
//! plan          the access of one table: ranges, residual conditions, order, verdict
//! DirectQuery   the pattern of bound queries that the direct path runs
//! plan_select   such a query: its access, and a [`DirectPlan`] for what becomes of the rows read
//! SystemQuery   a query over a system table, whose rows are in memory
//! Guard         what may override the verdict; a refusal is an error that names every table and the way out
//! ```
//!
//! Both executors plan their accesses here. A [`SelectTemplate`] is a SELECT with parameters, planned as far as it is known
//! without values.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod access;
mod combination;
mod direct;
mod direct_query;
mod error;
mod explain;
mod fixed_column;
mod guard;
mod index_advice;
mod index_hint;
mod join_advice;
mod key_access;
mod key_template;
mod plan;
mod prefix;
mod refused;
mod request;
mod select;
mod system_query;
mod template;

pub use access::{AccessRequest, TableAccess, UsableKeys};
pub use direct::{Aggregate, AggregateStrategy, DirectPlan, PlannedSelect, RowOutput, TotalOutput};
pub use direct_query::{DirectQuery, GroupOrder, Grouping};
pub use error::{PlannerError, Result};
pub use explain::{AccessReport, explain_json, explain_text};
pub use guard::Guard;
pub use index_advice::IndexAdvice;
pub use join_advice::JoinAdvice;
pub use key_access::{KeyAccess, keys_of_rows};
pub use plan::plan;
pub use refused::{HintVerb, RefusedScans, RefusedTable};
pub use select::plan_select;
pub use system_query::{SystemQuery, SystemStep};
pub use template::{SelectTemplate, is_bindable, with_values};
