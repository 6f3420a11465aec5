//! A session of one client: its messages in turn.
//!
//! | module | has |
//! |---|---|
//! | `postgres_session` | the state of a session |
//! | `serving` | the loop over messages, and the end of a session |
//! | `simple`, `extended` | the two protocols |
//! | `statement`, `portal` | statements by the part of the server that runs them; prepared ones with values |
//! | `run`, `row_stream` | statements of the library, and rows on their way to the client |
//! | `own_statements`, `cursors`, `transaction`, `block` | statements that the session answers itself |
//! | `catalog`, `copy_stream` | queries for the catalog of PostgreSQL; COPY |
//! | `end`, `failures` | why a session ends, and errors of statements |

mod answer_form;
mod block;
mod catalog;
mod copy_stream;
mod cursors;
mod end;
mod extended;
mod failures;
mod own_statements;
mod portal;
mod postgres_session;
mod row_stream;
mod run;
mod serving;
mod simple;
mod statement;
mod statement_text;
mod transaction;

pub(crate) use self::serving::serve;
