//! The library's tests, in one binary: linking it is what takes long.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod added_keys;
mod aggregates;
mod alter_table;
mod appender;
mod arrays;
#[cfg(feature = "ffi")]
mod arrow_streams;
mod at_once;
mod attached;
mod copy_advice;
mod copy_columns;
mod copy_conflicts;
mod copy_formats;
mod copy_streams;
#[cfg(feature = "datafusion")]
mod copy_texts;
mod damaged_pages;
mod depth;
mod derives;
mod direct;
mod durability;
#[cfg(feature = "datafusion")]
mod dynamic_columns;
#[cfg(feature = "datafusion")]
mod errors_as_data;
mod export;
mod failed_transactions;
mod features;
mod few_rows;
#[cfg(feature = "datafusion")]
mod file_queries;
#[cfg(feature = "datafusion")]
mod files;
#[cfg(feature = "datafusion")]
mod fixtures;
mod flights;
mod foreign_files;
mod forms;
mod functions;
mod generated_columns;
mod guard_refusals;
mod inbox;
mod index_access;
mod index_combination;
mod index_rebuild;
mod index_ttl;
mod indexes;
mod inner_transactions;
mod interrupts;
mod intervals;
mod json;
#[cfg(feature = "datafusion")]
mod kept_plans;
mod kept_writes;
mod key_expression;
mod key_heat;
mod large_writes;
mod limits;
mod lost_updates;
#[cfg(feature = "datafusion")]
mod maintenance;
mod metrics;
mod mobile_log;
mod modules;
mod page_tokens;
mod pages;
mod prepare;
mod prepared_values;
#[cfg(feature = "datafusion")]
mod random_subqueries;
mod readers;
mod references;
#[cfg(feature = "datafusion")]
mod registered;
#[cfg(feature = "datafusion")]
mod relational_as_sqlite;
mod repository;
mod returning;
mod row_times;
mod runtime;
mod sequences;
mod serde;
mod skipping;
#[cfg(feature = "datafusion")]
mod space;
#[cfg(feature = "datafusion")]
mod spilling;
mod statements;
mod storage;
mod subqueries;
#[cfg(feature = "datafusion")]
mod subqueries_as_sqlite;
mod temporary_tables;
mod threads;
mod tidy;
mod touches;
mod transactions;
mod transactions_as_sqlite;
mod unique_conflicts;
mod unique_conflicts_as_sqlite;
mod unique_values;
mod user_sessions;
mod users;
mod values_in_and_out;
mod versions;
mod views;

use saltwing::{Error, blocking::Connection};

/// The rows of a query as text, columns joined by `|`.
fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for row in connection.query(sql, ())? {
        let row = row?;
        let values: Vec<Option<String>> = (0..row.columns().len()).map(|i| row.get(i)).collect::<Result<_, _>>()?;
        rows.push(values.into_iter().map(|v| v.unwrap_or_else(|| "NULL".into())).collect::<Vec<_>>().join("|"));
    }
    Ok(rows)
}

fn code(result: Result<impl Sized, Error>) -> &'static str {
    result.err().map_or("ok", |error| error.code().as_str())
}
