//! Expressions: of the statement's syntax as functions that DataFusion plans, of its plan as ours, of ours as functions that it
//! runs.

pub(crate) mod expr_function;
pub(crate) mod internal_name;
pub(crate) mod literal;
pub(crate) mod operation;
pub(crate) mod operation_function;
pub(crate) mod operation_text;
pub(crate) mod sql_field;
pub(crate) mod translation;
