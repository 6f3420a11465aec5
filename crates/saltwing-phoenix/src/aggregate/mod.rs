//! Aggregates that Phoenix's coprocessors compute in the region servers: attributes of scans, and their results.

mod expression;
mod function;
mod group_key;
mod result;
mod scan;

pub use expression::ScanExpression;
pub use function::{Aggregate, AggregateFunction};
pub use group_key::GroupKey;
pub use scan::{AggregateScan, Grouping};
