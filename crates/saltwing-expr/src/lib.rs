//! Expressions evaluated over Arrow columns.
//!
//! ```text
//! Expr ──compile──> steps over whole columns ──> ArrayRef of arrow_type(type of the Expr)
//!   └──────────────── eval, row by row ────────────┘
//! ```
//! What an expression means is defined once, by [`saltwing_types::eval`]. Whole
//! columns are a faster way to the same answer; whatever that way does not know, and
//! whatever fails on it, is computed row by row.
//!
//! # Laws
//! For an expression `e`, columns of `n` rows and row `i`:
//! 1. [`Evaluator::evaluate`] of `e` at `i` is `eval(e, row i)` as a column of the type of `e` takes
//!    it, or fails when that fails for some row, with the code of one of these failures;
//! 2. [`Filter::mask`] is true at `i` exactly when [`saltwing_types::eval::holds`] for the conditions joined by AND;
//! 3. [`value_at()`] gives back what [`ColumnBuilder`] took;
//! 4. [`write_text`] writes what [`saltwing_types::text::format`] gives for [`value_at()`].
//!
//! # Limits
//! Columns hold less than values do: a TIMESTAMP outside 1677..2262 (22008), and a
//! bare DECIMAL from 1E38 on or with more than 38 places (22003). Only results
//! and columns are held to that; between them an expression computes with all that [`saltwing_types::Value`] has.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@arrow_type`] | SQL types as Arrow types and back |
//! | [`builder`] | [`ColumnBuilder`]: columns from values or from bytes |
//! | [`mod@value_at`] | single values out of columns |
//! | [`row_values`] | values of rows, without columns |
//! | [`text`] | values of columns as text |
//! | [`json`] | rows as JSON objects |
//! | [`sum`] | SUM and AVG of columns |
//! | [`known_values`] | loops over the values of a column that are not NULL |
//! | [`mod@evaluate`] | [`Evaluator`], [`Filter`] |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod arithmetic;
pub mod arrow_type;
mod bare_decimal;
mod batch;
mod bits;
pub mod builder;
mod choice;
mod comparison;
mod compile;
mod conversion;
pub mod evaluate;
mod hash_call;
mod instant_call;
pub mod json;
mod kernels;
pub mod known_values;
mod logic;
mod membership;
mod operand;
mod pattern;
mod placement;
mod rounding;
mod row_call;
pub mod row_values;
mod row_wise;
mod step;
pub mod sum;
pub mod text;
mod text_call;
pub mod value_at;

pub use arrow_type::{arrow_type, sql_type};
pub use batch::Columns;
pub use builder::{ColumnBuilder, columns_of_rows};
pub use evaluate::{Evaluator, Filter};
pub use json::JsonObjects;
pub use row_values::{ColumnCells, RowValues};
pub use text::{text_at, write_text};
pub use value_at::{ValueColumn, ValueRef, value_at};

#[cfg(test)]
mod tests {
    pub(crate) mod generators;
}
