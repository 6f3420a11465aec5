//! Relational queries on DataFusion, over our scans.
//!
//! # The walk of one SELECT
//! 1. `engine` takes a [`QueryRequest`] to a thread for planning, which `statement` can stop.
//! 2. `saltwing-bind` has bound the query to a tree. It makes joins of the subqueries in that ([`saltwing_bind::BoundQuery::decorrelated`]).
//! 3. `bound_plan` makes the logical plan of the tree. An expression of our language becomes one function that DataFusion does not look into
//!    (`expression::expr_function`). Comparisons between relations stay DataFusion's, in a form in which joins find their keys
//!    (`expression::comparison`).
//! 4. DataFusion's analyzer and optimizer bring filters, limits and columns to the tables (`scan::table_source`). Rules that would
//!    give wrong rows are corrected (`engine::optimizer`).
//! 5. `physical::join_order` puts inner joins in an order in which tables can be looked up by key.
//! 6. DataFusion makes the physical plan, whose leaves are `scan::table_scan`. `saltwing-planner` makes key ranges of their filters.
//! 7. `physical::scan_rule` brings orders and limits to the scans, and puts lookup joins in. `physical::constants` keeps
//!    DataFusion from wrong conclusions about constant columns.
//! 8. `engine::planned` has the guard judge every scan. A plan whose parameters stand in conditions of scans alone is
//!    kept as a [`Template`].
//! 9. DataFusion's operators pull batches from the scans; `engine::output` gives them the types of the result.
//!
//! Each folder imports only those before it: `error`, `statement`, `expression`, `function`, `scan`, `bound_plan`,
//! `physical`, `engine`.
//!
//! # Invariants
//! 1. **Our meaning.** Every operation of our language is typed by `saltwing_types::typing` and computed by
//!    `saltwing_expr`, here as on the direct path. DataFusion neither coerces nor folds it. Both executors give the
//!    same answers because of this.
//! 2. An error that starts in an expression or a scan reaches the caller unchanged. DataFusion's own errors get a code
//!    (`error::from_datafusion`); causes that DataFusion tells apart by text alone are listed in `error::datafusion_texts`.
//! 3. Every table is read through a scan that the guard has judged.
//! 4. No statement brings the process down: planning has a deep stack of its own, and a panic there becomes an error.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod bound_plan;
mod engine;
mod error;
mod expression;
mod function;
mod internal_name;
mod physical;
mod request;
mod scan;
mod statement;

pub use engine::{Binding, Engine, EngineConfig, EngineFunction, Planned, ResultStream, Template};
pub use error::{RelationalError, RelationalErrorKind};
pub use function::registered::{Compute, RegisteredFunction};
pub use request::{Mode, QueryRequest, RecursionLimits};
