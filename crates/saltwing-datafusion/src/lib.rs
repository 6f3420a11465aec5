//! Relational queries on DataFusion over our scans.
//!
//! ```text
//!  sqlparser's tree ─ rewrite ─► names in lower case, operations as calls
//!        │ DataFusion's planner (names)
//!        ▼
//!  logical plan ─ lowering, the first analyzer rule ─► our expressions as opaque functions, subqueries as joins
//!        │ DataFusion's analyzer and optimizer: filters, limits and columns reach the tables
//!        ▼
//!  physical plan ─ scan_rule, the first physical rule ─► orders and limits reach the scans; constants, before sorts are placed ─► columns of one value are hidden
//!        │ the guard judges every scan
//!        ▼
//!  batches in our types (output)
//! ```
//!
//! # Laws
//! 1. **Meaning is ours.** Every operation that our language has is typed by `saltwing_types::typing`
//!    and computed by `saltwing_expr`, here as on the direct path; DataFusion neither coerces nor folds it.
//! 2. Errors are ours: one that starts in an expression or a scan comes out as it went in; DataFusion's are given a code.
//! 3. Nothing reads a table but a scan whose access the guard has judged.
//! 4. No statement brings the process down: planning has a deep stack of its own, and a panic there is an error.
//!
//! # Left to others
//! Parsing is `saltwing-sql`'s, ranges are `saltwing-plan`'s, reading is `saltwing-table`'s. A store without
//! snapshots wants its rows read to the end before the statement returns: the caller collects the stream.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod average;
mod bounded_function;
mod cancellation;
mod constants;
mod current_statement;
mod declared;
mod engine;
mod error;
mod expr_function;
mod extreme;
mod function_list;
mod information_schema;
mod join_order;
mod label;
mod literal;
mod lookup_join;
mod lookup_key;
mod lowering;
mod memory_pool;
mod message;
mod names;
mod native;
mod operation;
mod operation_text;
mod origin;
mod outer_join;
mod output;
mod pass;
mod plan_budget;
mod planner_thread;
mod recursion;
mod result_size;
mod rewrite;
mod row_bytes;
mod scan_part;
mod scan_path;
mod scan_request;
mod scan_rule;
mod scan_statistics;
mod single_value;
mod sql_field;
mod sum;
mod table_scan;
mod table_source;
mod template;
mod translation;
mod unnesting;

pub use engine::{Engine, EngineConfig, Mode, Planned, QueryRequest};
pub use error::{RelationalError, RelationalErrorKind};
pub use function_list::EngineFunction;
pub use output::ResultStream;
pub use recursion::RecursionLimits;
pub use template::{Binding, Template};
