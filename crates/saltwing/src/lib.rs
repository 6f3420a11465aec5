//! SQL over sorted keys.
//!
//! A table's primary key becomes a row key; a WHERE clause becomes exact key
//! ranges; a query that would read a whole table is refused with a reason and a
//! fix. Storage is embedded: a directory, or memory.
//!
//! ```
//! # fn main() -> Result<(), saltwing::Error> {
//! use saltwing::{Database, params};
//!
//! let db = Database::memory()?;
//! let connection = db.connect().blocking();
//! connection.execute("CREATE TABLE log (host VARCHAR, ts DATE, up BIGINT, CONSTRAINT pk PRIMARY KEY (host, ts DESC))", ())?;
//! connection.execute("UPSERT INTO log VALUES (?, ?, ?)", params!["a", "2024-05-01", 7])?;
//! for row in connection.query("SELECT ts, up FROM log WHERE host = ?", params!["a"])? {
//!     assert_eq!(row?.get::<i64>("up")?, 7);
//! }
//! let (count, most): (u64, i64) = connection.query_one("SELECT count(*), max(up) FROM log WHERE host = ?", ("a",))?;
//! assert_eq!((count, most), (1, 7));
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | open | [`Database`], [`Builder`] |
//! | run, asynchronously | [`Connection`], [`Statement`], [`Rows`] |
//! | run, blocking | [`blocking`] |
//! | load many rows | [`Appender`], `COPY` |
//! | pass and get values | tuples, [`params!`], [`IntoParams`], [`FromValue`], [`FromRow`], [`Value`], [`Timestamp`], [`Interval`] |
//! | understand an error | [`Error`]: code, SQLSTATE, position, help |
//! | back up and restore | [`Database::backup`], [`Builder::restore`] |
//! | find damage, save the rest | [`Builder::check`], [`Builder::salvage`] |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod advise;
mod appender;
mod appending;
mod arrow_column;
#[cfg(feature = "ffi")]
mod arrow_stream;
mod at_once;
mod attached;
mod backup_writer;
mod batch;
mod block_on;
pub mod blocking;
mod builder;
mod calls;
mod computed;
mod connection;
mod convert;
mod copy;
mod database;
mod description;
mod error;
mod error_subject;
mod execution;
mod explained;
mod export;
mod file_access;
mod files;
mod group_rows;
mod guard_refusals;
mod heat_relation;
mod index_builder;
mod indexes;
mod key_heat;
mod literal_template;
mod load;
mod machine_memory;
mod maintenance;
mod metrics;
mod named_statements;
mod outcome;
mod page;
mod page_token;
mod params;
mod parsed_statement;
mod password;
mod phoenix_index;
mod phoenix_literal;
mod phoenix_name;
mod phoenix_view;
mod pooled_rows;
mod prepared_statement;
mod progress;
mod queries;
mod query_run;
mod refused_statements;
#[cfg(feature = "datafusion")]
mod registered;
#[cfg(feature = "datafusion")]
mod relational;
#[cfg(not(feature = "datafusion"))]
#[path = "without_relational.rs"]
mod relational;
#[cfg(feature = "datafusion")]
mod relational_engine;
pub mod render;
mod response;
mod rights;
mod rows;
mod sequences;
#[cfg(feature = "serde")]
mod serde;
mod session;
mod session_tables;
mod session_user;
mod settings;
mod shared;
mod statement;
mod statement_cache;
mod statement_plans;
mod statement_shape;
mod storage;
mod subqueries;
mod sweeper;
pub mod syntax;
mod table_text;
mod target;
mod temporary;
mod text_rows;
mod thread_pools;
mod transaction;
mod transaction_closure;
mod transaction_guard;
mod transaction_statements;
mod tries;
mod typed_rows;
mod users;

#[cfg(feature = "serde")]
pub use self::serde::{Serde, to_params};
pub use appender::Appender;
pub use backup_writer::BackupReport;
pub use builder::{Builder, StoreKind};
pub use connection::{Connection, Responses};
pub use convert::FromValue;
pub use copy::{CopyReport, SkippedLine};
pub use database::Database;
pub use description::{Description, Touch, TouchedObject};
pub use error::Error;
pub use file_access::FileAccess;
pub use guard_refusals::{GuardRefusal, RefusalFix};
pub use key_heat::{HeatShape, HeatSlot, HeatSpan, KeyHeat};
pub use maintenance::{CheckReport, Fault, SalvageReport, SalvagedTable};
pub use outcome::{ExecResult, Stats};
pub use page::Page;
pub use params::{IntoParams, Params};
pub use parsed_statement::ParsedStatement;
pub use prepared_statement::Statement;
pub use progress::{CopyProgress, IndexProgress};
#[cfg(feature = "datafusion")]
pub use registered::{FunctionResult, FunctionType, ScalarFunction};
pub use response::Response;
pub use rows::{ArrowRows, ColumnIndex, FromRow, Row, Rows};
pub use session::InterruptHandle;
pub use settings::{ExecutorChoice, SETTINGS, Setting, SettingScope, Settings};
pub use target::Privilege;

pub use transaction::TransactionState;
pub use transaction_guard::{TRANSACTION_TRIES_MAX, Transaction};

pub use typed_rows::TypedRows;

/// Reads rows as structs, and passes structs as parameters.
///
/// ```
/// # fn main() -> Result<(), saltwing::Error> {
/// use saltwing::{Database, FromRow, IntoParams};
///
/// #[derive(Debug, PartialEq, Clone, FromRow, IntoParams)]
/// struct Session {
///     phone: String,
///     #[saltwing(rename = "ts")]
///     start: i64,
///     up: Option<i64>,
/// }
///
/// let connection = Database::memory()?.connect().blocking();
/// connection.execute("CREATE TABLE log (phone VARCHAR, ts BIGINT, up BIGINT, CONSTRAINT pk PRIMARY KEY (phone, ts))", ())?;
/// let session = Session { phone: "1".into(), start: 7, up: None };
/// connection.execute("UPSERT INTO log VALUES (:phone, :ts, :up)", &session)?;
/// let read: Session = connection.query_one("SELECT * FROM log WHERE phone = ?", ("1",))?;
/// assert_eq!(read, session);
/// let all = connection.query_as::<Session>("SELECT * FROM log WHERE phone = ?", ("1",))?;
/// assert_eq!(all.collect::<Result<Vec<_>, _>>()?, [session]);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "derive")]
pub use saltwing_derive::{FromRow, IntoParams};

pub use saltwing_access::Loss;
#[doc(hidden)] // for PostgreSQL's catalog
pub use saltwing_bind::key_constraint_shown;
pub use saltwing_bind::{ColumnOrigin, OnConflict, ResultColumn};
pub use saltwing_expr::ValueRef;
pub use saltwing_plan::Policy;
pub use saltwing_sql::{Dialect, StatementText, render_caret, split_statements, split_statements_in};
pub use saltwing_types::function::Volatility;
pub use saltwing_types::value::Timestamp;
pub use saltwing_types::{
    Decimal, ErrorCode, Interval, ObjectId, Position, ScramVerifier, Span, SqlType, TableName, Value, parse_bytes, text,
};
#[doc(hidden)] // for the shell
pub use saltwing_types::{dynamic, suggest};

/// The examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library_page {}

/// The examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/transactions.md")]
mod transactions_page {}

/// Arrow, in the version of the batches that this crate returns.
pub use arrow;

/// Values for a statement's parameters: `params![1, "a", None::<i64>]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        $crate::Params::Positional(vec![$($crate::Value::from($value)),*])
    };
}
