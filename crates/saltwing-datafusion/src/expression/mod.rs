//! Expressions of ours in DataFusion's plans: each is a function that DataFusion runs (`expr_function`), and is one of ours again where
//! plans change (`translation`).

pub(crate) mod comparison;
pub(crate) mod expr_function;
pub(crate) mod literal;
pub(crate) mod operator;
pub(crate) mod order_form;
pub(crate) mod sql_field;
pub(crate) mod translation;
