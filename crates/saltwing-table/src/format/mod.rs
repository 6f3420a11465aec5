//! Bytes: every record and block as the key-value store has it, written and read. `docs/packed-layout.md` has each byte.
//!
//! This layer knows no store, no table and no memtable. Foreign bytes never make it panic: an invalid format is `None`
//! or an error.

pub(crate) mod bits;
pub(crate) mod block_builder;
pub(crate) mod block_columns;
pub(crate) mod delta_record;
pub(crate) mod directory_format;
pub(crate) mod fix_part;
pub(crate) mod meta;
pub(crate) mod number_ranges;
pub(crate) mod overflow;
pub(crate) mod prefetch;
pub(crate) mod row_format;
pub(crate) mod row_order;
pub(crate) mod search;
pub(crate) mod seek;
pub(crate) mod slot_format;
pub(crate) mod spaces;
pub(crate) mod stored_column;
pub(crate) mod stored_row;
pub(crate) mod summary;
pub(crate) mod var_part;
pub(crate) mod versions;
pub(crate) mod zone;
