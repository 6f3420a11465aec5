//! The SQL dialect: text to statements.
//!
//! [`parse()`] gives each statement of a text as a [`Statement`], its parameters
//! numbered and its hints taken out; [`split_statements`] finds where statements
//! end, for shells, and [`lexemes`] what to colour; [`render_caret`] draws an error's place.
//!
//! ```text
//!  text ─ scanner ─ lexer ─ guard ─ statement parser ──► Statement
//!           │                            │
//!           └ split_statements           └ sqlparser, for queries and expressions
//! ```
//!
//! Statements are ours, because Phoenix's DDL and DML are no one else's. SELECT
//! bodies and expressions are sqlparser's trees, in the form that DataFusion
//! takes: `$n` placeholders, no hints, LIMIT for FETCH, plain strings.
//!
//! ```
//! use saltwing_sql::{Statement, parse_one, render_caret};
//!
//! let sql = "UPSERT INTO log (phone, ts) VALUES (?, ?)";
//! let parsed = parse_one(sql)?;
//! assert!(matches!(parsed.statement, Statement::Upsert(_)));
//! assert_eq!(parsed.parameters.len(), 2);
//!
//! let sql = "SELECT * FORM log";
//! let error = parse_one(sql).unwrap_err();
//! assert_eq!(error.help(), Some("did you mean FROM instead of \"FORM\"?"));
//! assert_eq!(render_caret(sql, error.span()), "SELECT * FORM log\n         ^^^^");
//! # Ok::<(), saltwing_sql::SqlError>(())
//! ```
//!
//! # Laws
//! 1. An expression or a query prints as text that is read back as the same ([`tree_text`]).
//! 2. No text overflows the stack or takes more than a little longer than its
//!    length asks for ([`guard`] says what the limits are).
//! 3. What cannot be read is an error with a place; nothing is dropped in silence.
//!
//! # Left to others
//! Names are not looked up, and nothing is checked that needs a catalog or a
//! type: duplicate columns, unknown options and unknown hints are `saltwing-bind`'s.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::expect_used))]

mod alter_table;
mod array_query;
mod as_of;
mod call;
mod cast_type;
mod column_type;
mod comment;
mod copy;
mod create_table;
mod create_table_as;
mod cursor;
mod derived;
mod dialect;
mod dml;
mod dynamic_column;
mod dynamic_list;
mod error;
mod exact;
mod expr;
mod file_name;
mod file_options;
mod frame_exclusion;
mod generated;
pub mod guard;
mod hint;
mod index;
mod interval;
mod json_operator;
mod json_pairs;
mod large_stack;
mod left_out;
mod lexer;
mod merge;
mod mistake;
mod name;
mod named_queries;
mod named_statement;
mod parameter;
mod parse;
mod phoenix;
mod place;
mod print;
mod query;
mod refused_word;
mod row_time;
mod row_value;
mod scanner;
mod secret;
mod sequence;
mod sequence_value;
mod session;
mod spelling;
mod split;
pub mod statement;
mod summary;
mod ties;
mod transaction;
mod user;
mod view;
mod with_write;
mod words;

pub use array_query::array_query;
pub use call::{function_call, function_of, local_time, with_text_strides};
pub use cast_type::cast_type;
pub use column_type::{NO_TIMESTAMPTZ, TYPE_LENGTH_MAX};
pub use dml::is_default;
pub use dynamic_column::{DynamicColumn, dynamic_columns, set_dynamic_columns};
pub use error::SqlError;
pub use exact::ExactNames;
pub use expr::{expr_span, name_span, tree_span};
pub use file_options::file_parts;
pub use frame_exclusion::{ExcludedRows, excluded_rows};
pub use interval::interval_of;
pub use large_stack::on_large_stack;
pub use name::{ColumnName, Name, TableRef, is_reserved_word, quote_name, table_name_parts};
pub use parameter::{PARAMETERS_MAX, Parameter, parameter_count, parameter_place};
pub use parse::{
    Parsed, STATEMENT_BYTES_MAX, STATEMENT_TOKENS_MAX, StatementReader, parse, parse_one, parse_one_in, parse_query_at,
};
pub use phoenix::Dialect;
pub use place::render_caret;
pub use print::tree_text;
pub use scanner::{Lexeme, lexemes, lexemes_in};
pub use secret::without_passwords;
pub use sequence_value::{SequenceCall, SequenceVerb, sequence_call};
pub use split::{StatementText, split_statements, split_statements_in};
pub use statement::Statement;
