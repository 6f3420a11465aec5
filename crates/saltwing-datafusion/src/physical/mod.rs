//! Joins in an order that lookups serve, the rules for physical plans, and the operators that these put in.

pub(crate) mod cancellation;
pub(crate) mod constants;
mod either_side;
pub(crate) mod join_order;
pub(crate) mod large_limits;
mod lookup_advice;
pub(crate) mod lookup_join;
mod lookup_key;
mod lookup_rule;
pub(crate) mod order_columns;
mod origin;
mod pass;
pub(crate) mod recursion;
pub(crate) mod scan_rule;
