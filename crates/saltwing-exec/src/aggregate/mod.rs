//! Groups of rows, and aggregates over them.
//!
//! ```text
//! batches ──keys, arguments──> group numbers ──accumulators──> keys | calls ──HAVING, ORDER BY──> outputs
//! ```
//! Rows of a group that follow each other are added as runs, and a group is put out as soon as the next one
//! begins: memory is that of a batch. Else a hash table numbers the groups, and all of them are held.
//!
//! | module | holds |
//! |---|---|
//! | `grouped` | [`GroupedRows`]: from batches to the rows of groups |
//! | `group_order` | what groups are sorted by |
//! | `grouping` | which group a row belongs to |
//! | `group_table` | numbers for combinations of values |
//! | `call` | one call: its argument, FILTER, DISTINCT |
//! | `partial` | what a store can make of the rows where they are |
//! | `accumulator` | what is kept of each group; `count`, `sum`, `extreme` |

mod accumulator;
mod call;
mod count;
mod extreme;
mod group_order;
mod group_table;
mod grouped;
mod grouping;
mod partial;
mod sum;
#[cfg(test)]
mod tests;

pub(crate) use group_order::GroupOrder;
pub(crate) use grouped::{AggregatePlan, GroupedRows};
pub(crate) use partial::PartialPlan;
