//! A bound statement to a plan: which keys of its table are read, and how rows come from them.
//!
//! ```text
//! plan          the access of one table: ranges, residual conditions, order, verdict
//! plan_select   a SELECT over one table: its access, and how rows or groups come from the rows read
//! Guard         what may override the verdict; a refusal is an error that names every table and the way out
//! ```
//!
//! Both executors plan their accesses here. A [`SelectTemplate`] is a SELECT with parameters, planned as far as it is known
//! without values.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod access;
mod error;
mod explain;
mod guard;
mod key_access;
mod key_list;
mod key_template;
mod planned_ranges;
mod refused;
mod row_list;
mod select;
mod template;

pub use access::{AccessRequest, TableAccess, plan, plan_in_turn};
pub use error::{PlannerError, Result};
pub use explain::{AccessReport, explain_json, explain_text};
pub use guard::Guard;
pub use key_access::KeyAccess;
pub use refused::{HintVerb, RefusedScans, RefusedTable};
pub use select::{PlannedSelect, ReadMode, plan_select};
pub use template::{SelectTemplate, has_parameter, is_bindable, with_values};
