//! Row keys: primary-key values as bytes that sort the way SQL sorts.
//!
//! ```text
//! [bucket] [column 1] [00] [column 2] ...
//!  1 byte   VARCHAR   sep.  BIGINT, 8 bytes
//! ```
//!
//! The bytes are those of Apache Phoenix 5.2. `docs/row-key-format.md` specifies them byte by byte; a test reads its
//! examples, and more vectors stand under `tests/`. The *logical* key
//! is the key without its bucket byte, the *physical* key has it in front.
//!
//! * A column of fixed width is written as it is. One of variable width is
//!   followed by a separator when more follows: `00` after an ASC value and
//!   after NULL, `FF` after a DESC value (which keeps it at the end, too).
//!   VARBINARY_ENCODED has `00 01` and `FF FE` instead.
//! * NULL has no bytes in either direction. NULLs at the end of the key are
//!   left out, separators and all: ('x', NULL, NULL) is `78`.
//! * DESC inverts every byte of the value.
//!
//! # Laws
//! For rows `a` and `b` of one table, by their logical keys:
//! 1. `encode(a) < encode(b)` exactly when [`RowKeyCodec::compare`] says so: column
//!    by column, each in its own direction, NULL first in both. Arrays compare there by their bytes, whose order is not
//!    always that of the values: a plan bounds them by equality alone, and sorts rows where their order matters;
//! 2. `decode(encode(a))` is `a`, but for CHAR's trailing blanks (dropped), BINARY's
//!    padding (filled up) and -0.0 (stored as 0.0);
//! 3. a range from [`RowKeyCodec::prefix_range`], [`RowKeyCodec::span_ranges`] or
//!    [`RowKeyCodec::bounds_range`] holds the keys of exactly the requested rows;
//! 4. any bytes given to a decoder give values or an error, never a panic.
//!
//! # Where Phoenix would corrupt
//! Refused on writing, because Phoenix would store bytes that it reads back
//! as something else, or that sort wrongly:
//!
//! | in | refused |
//! |---|---|
//! | VARCHAR, unless last and ASC | a NUL byte: it would end the column |
//! | nullable VARCHAR, last and ASC | a NUL byte in front: Phoenix reads it as NULL |
//! | nullable column of variable width | a value of no bytes: it is NULL's form |
//! | nullable VARBINARY_ENCODED DESC, unless last | a value that begins with FF: its bytes begin like NULL's |
//! | DECIMAL | beyond 1E-126 <= x < 1E126, and -1E124 < x <= -1E-126 below zero |
//! | nullable DECIMAL DESC | from 1E122 on: its bytes begin like NULL's, or where Phoenix no longer looks |
//! | array | NULL among elements of fixed width; '' and a NUL byte among others |
//! | the whole row | a key of no bytes, unless a bucket byte stands in front |
//!
//! # Left to others
//! Which ranges to read is `saltwing-plan`'s business, bringing literals to a
//! column's type is `saltwing_types::number`'s, storing is `saltwing-table`'s.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod array;
mod bound;
mod codec;
mod column;
mod decimal;
mod entries;
mod error;
mod escape;
mod key_range;
mod key_slices;
mod plain_key;
pub mod salt;
mod scalar;
mod span;
mod split;
mod value_codec;

pub use codec::{KEY_BYTES_EXPECTED, RowKeyCodec, RowsOfEntries};
pub use error::{BadBytes, KeyValueError, RowKeyError};
pub use key_range::{Key, KeyRange, merge_ranges};
pub use key_slices::KeySlices;
pub use plain_key::{BucketRange, PlainKey};
pub use span::{Bound, ColumnSpan};
pub use value_codec::{IntegerReader, ValueCodec};
