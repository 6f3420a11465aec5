//! The forms that an expression of a statement takes.
//!
//! 1. An operation of the syntax tree becomes a call that DataFusion plans (`operation`, `operation_function`).
//! 2. Nested calls become one typed expression of ours (`translation`).
//! 3. That expression becomes a function that DataFusion runs (`expr_function`).

pub(crate) mod expr_function;
pub(crate) mod internal_name;
pub(crate) mod literal;
pub(crate) mod operation;
pub(crate) mod operation_function;
pub(crate) mod operation_text;
pub(crate) mod sql_field;
pub(crate) mod translation;
