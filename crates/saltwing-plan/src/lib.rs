//! WHERE to key ranges, residual filter and verdict.
//!
//! One entry, [`choose`]: candidate keys, conditions, order and limit in, an [`Access`]
//! out. It knows key schemas under a label and nothing else: no store, no
//! DataFusion, no Arrow, no statistics.
//!
//! ```text
//!  condition ── predicates ──► cover: boxes of typed spans   a IN (1, 2) AND b > 'x'
//!                           │ AND intersects, OR appends   a {1, 2}, b ('x' ..]
//!                           ▼
//!                         computed parts follow their inputs
//!                           ▼
//!                         one cover for all ──► guard: may this run?
//!                           │
//!                           ▼
//!                         products: lists, then a tail     1, 2  x  ('x' ..]
//!                           │
//!                           ▼
//!                         ranges, made while they are read [80000001 7801 .. 80000002), ..
//!                         buckets: the salt, last
//!                           │
//!                           ▼
//!                         skip: what columns after the tail let a scan pass over
//! ```
//!
//! # Laws
//! 1. **No row is lost**: the boxes of a condition hold every row that satisfies
//!    it; reading too much is slow, losing a row is wrong. Every step says whether it is
//!    exact or loose.
//! 2. A condition leaves the residual filter only if the ranges that are finally
//!    produced imply it.
//! 3. The verdict is a pure function of schema and statement.
//!
//! # Values that are not known yet
//! A parameter, or a subquery, has no value before execution. A condition with one becomes an open set of its column's values
//! (`column_set`): it has a shape, such as one point or a span with a lower bound. Kind, verdict, order and uses of
//! conditions come from shapes; ranges, buckets and skips are made of known sets alone. The plan with values contradicts no
//! claim of the one without them, but for values at an end of their type, up to which a bound leaves out nothing.
//!
//! # Left to others
//! Literals come here in the type of the column that they meet, or else in their own, to
//! be compared exactly (`saltwing_types::typing`). Bytes are `saltwing_rowkey`'s,
//! reading is `saltwing-table`'s. Overrides of a refusal are gathered by the
//! caller, at each execution, and applied by [`resolve`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod access;
mod choose;
mod coalesce_boxes;
mod column_set;
mod computed;
mod cover;
mod cursor;
mod domain;
mod error;
mod extent;
mod guard;
mod implication;
mod inclusion;
mod key_box;
mod key_space;
mod literal_position;
mod monotonicity;
mod notation;
mod order;
mod predicates;
mod product;
mod range_plan;
mod ranges;
mod rank;
mod reasons;
mod refusal;
mod request;
mod row_list;
mod shape;
mod skip;
mod span;
mod value_rank;
mod value_set;
mod verdict;

pub use access::{Access, AccessKind, Buckets, LISTED_MAX, PredicateUse, Use};
pub use choose::choose;
pub use error::PlanError;
pub use implication::implies;
pub use order::OrderKind;
pub use predicates::compared_column;
pub use ranges::{RangeIter, Ranges, ScanRange};
pub use rank::Loss;
pub use refusal::Refusal;
pub use request::{CandidateKey, Condition, IndexTraits, LIMITED_ROWS_MAX, OrderBy, OrderItem, Request, RowLimit};
pub use skip::{KeyRegion, KeyRegions, Skip};
pub use verdict::{OverrideLadder, Policy, Rule, Verdict, resolve};
