//! Reading: ranges of keys into columns, values and totals.
//!
//! [`cursor`] walks the directory and the memtables and gives row segments; [`bucket`], [`merged`] and [`skip`] choose
//! what it walks. [`lookup`] and [`rows_of_keys`] find rows by their keys, and [`few`] those of short ranges. [`conditions`] and [`selector`] test rows as they are stored. [`decode`], [`row_values`] and [`totals`] read the rows
//! that are left. [`table_scan`] puts these together, and [`snapshot`] is the border's view of them.

pub(crate) mod block_parts;
pub(crate) mod bucket;
pub(crate) mod column_location;
pub(crate) mod column_writer;
pub(crate) mod condition;
pub(crate) mod conditions;
pub(crate) mod cursor;
pub(crate) mod decode;
pub(crate) mod estimate;
pub(crate) mod few;
pub(crate) mod lookup;
pub(crate) mod merged;
pub(crate) mod next_values;
pub(crate) mod row_values;
pub(crate) mod rows_of_keys;
pub(crate) mod selection;
pub(crate) mod selector;
pub(crate) mod shape;
pub(crate) mod skip;
pub(crate) mod snapshot;
mod snapshot_rows;
pub(crate) mod split;
pub(crate) mod table_scan;
pub(crate) mod texts;
pub(crate) mod totals;
