//! Relational queries on DataFusion, over our scans.
//!
//! ```text
//!  sqlparser's tree ─ rewrite ─► names in lower case, operations as calls
//!        │ DataFusion's planner (names)
//!        ▼
//!  logical plan ─ lowering, the first analyzer rule ─► our expressions as opaque functions, subqueries as joins
//!        │ DataFusion's analyzer and optimizer: filters, limits and columns reach the tables
//!        ▼
//!  physical plan ─ scan_rule, the first physical rule ─► orders and limits reach the scans; constants, before sorts are placed ─► constant columns are hidden
//!        │ the guard judges every scan
//!        ▼
//!  batches in our types (output)
//! ```
//!
//! # Invariants
//! 1. **Our meaning.** Every operation of our language is typed by `saltwing_types::typing` and computed by
//!    `saltwing_expr`, here as on the direct path. DataFusion neither coerces nor folds it. Both executors give the
//!    same answers because of this.
//! 2. An error that starts in an expression or a scan reaches the caller unchanged. DataFusion's own errors get a code
//!    (`error.rs`); causes that DataFusion tells apart by text alone are listed in `datafusion_texts.rs`.
//! 3. Every table is read through a scan that the guard has judged.
//! 4. No statement brings the process down: planning has a deep stack of its own, and a panic there becomes an error.
//!
//! # Other crates
//! `saltwing-sql` parses, `saltwing-plan` makes ranges, `saltwing-table` reads.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregate;
mod bounded_function;
mod cancellation;
mod constants;
mod current_statement;
mod datafusion_texts;
mod declared;
mod engine;
mod error;
mod expr_function;
mod function_list;
mod function_names;
mod information_schema;
mod internal_name;
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
mod planned;
mod planner_thread;
mod recursion;
mod request;
mod result_size;
mod reusable;
mod rewrite;
mod row_bytes;
mod scan_part;
mod scan_path;
mod scan_request;
mod scan_rule;
mod scan_statistics;
mod sql_field;
mod table_scan;
mod table_source;
mod template;
mod translation;
mod unnesting;

pub use engine::{Engine, EngineConfig};
pub use error::{RelationalError, RelationalErrorKind};
pub use function_list::EngineFunction;
pub use output::ResultStream;
pub use planned::{Planned, Template};
pub use recursion::RecursionLimits;
pub use request::{Mode, QueryRequest};
pub use template::Binding;
