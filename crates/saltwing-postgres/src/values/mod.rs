//! Values as the Postgres protocol has them.
//!
//! | module | has |
//! |---|---|
//! | `pg_type` | the built-in types of PostgreSQL, with their numbers (OIDs) and names |
//! | `wire_type` | the type that a column is described as, and the type that a parameter's OID means |
//! | `format` | the two formats of a value, text and binary, and the codes that choose them |
//! | `encode` | a value of a row, on its way to the client |
//! | `decode` | a parameter, on its way from the client |
//! | `error` | what can be wrong with either |
//!
//! The other modules are the forms of single types.
//!
//! # Laws
//! For every value `v` of an SQL type `t` and for both formats, decoding the encoded value with the OID of `t`, and with `t` as
//! the type that the statement wants, gives `v`. There are three exceptions, because PostgreSQL's types are narrower:
//! 1. digits of an instant or of an interval below the microsecond are cut;
//! 2. a value of the type NULL arrives as a text;
//! 3. of a DECIMAL(p,s) the digits beyond s are cut.
//!
//! Bytes from a client are hostile: decoding never panics, and what it allocates is bounded by the bytes that have arrived.

mod array;
mod array_reading;
mod bytea;
mod calendar;
mod catalog_value;
mod datetime;
mod datetime_reading;
mod decode;
mod digits;
mod encode;
mod error;
mod float_text;
mod format;
mod numeric;
mod pg_type;
mod text_reading;
mod wire_type;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod property_tests;

pub(crate) use catalog_value::{encode_as, is_object_id};
pub(crate) use decode::decode;
pub(crate) use error::WireError;
pub(crate) use format::{Format, formats};
pub(crate) use wire_type::{WireType, parameter_type};
