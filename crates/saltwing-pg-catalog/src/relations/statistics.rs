//! What PostgreSQL counts of tables and indexes: here their rows, and nothing else.

use super::cells::{Cell, row};
use super::relation::Entry;
use crate::definitions::{Definitions, Table, key_index_oid};

const TABLE_COLUMNS: &str = "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, \
    n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, \
    n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, \
    last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count int8, autoanalyze_count int8";
const INDEX_COLUMNS: &str = "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, \
    idx_tup_read int8, idx_tup_fetch int8";

const TABLE_BLOCKS: &str = "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, \
    idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8";
const INDEX_BLOCKS: &str = "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, \
    idx_blks_hit int8";

pub(super) static RELATIONS: &[Entry] = &[
    Entry::view("pg_statio_user_tables", TABLE_BLOCKS, |definitions| Ok(padded(table_names(definitions), 11))),
    Entry::view("pg_statio_all_tables", TABLE_BLOCKS, |definitions| Ok(padded(table_names(definitions), 11))),
    Entry::view("pg_statio_user_indexes", INDEX_BLOCKS, |definitions| Ok(padded(index_names(definitions), 7))),
    Entry::view("pg_statio_all_indexes", INDEX_BLOCKS, |definitions| Ok(padded(index_names(definitions), 7))),
    Entry::view("pg_stat_user_tables", TABLE_COLUMNS, |definitions| Ok(tables(definitions))),
    Entry::view("pg_stat_all_tables", TABLE_COLUMNS, |definitions| Ok(tables(definitions))),
    Entry::view("pg_stat_user_indexes", INDEX_COLUMNS, |definitions| Ok(padded(index_names(definitions), 8))),
    Entry::view("pg_stat_all_indexes", INDEX_COLUMNS, |definitions| Ok(padded(index_names(definitions), 8))),
    Entry::view(
        "pg_stat_database",
        "datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8, blks_read int8, blks_hit int8, \
         tup_returned int8, tup_fetched int8, tup_inserted int8, tup_updated int8, tup_deleted int8, conflicts int8, temp_files int8, \
         temp_bytes int8, deadlocks int8, stats_reset timestamptz",
        |definitions| {
            let mut row = row![super::roles::DATABASE, &definitions.database, 1];
            row.resize(17, Cell::Null);
            Ok(vec![row])
        },
    ),
];

fn tables(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let tables = definitions.tables.iter().filter(|table| table.view.is_none());
    let row_of = |table: &Table| {
        let rows = definitions.sizes.get(&table.oid).map(|size| size.rows);
        let mut row = row![table.oid, &table.schema, &table.name];
        row.resize(11, Cell::Null);
        row.push(Cell::from(rows));
        row.resize(23, Cell::Null);
        row
    };
    tables.map(row_of).collect()
}

/// Rows with NULLs up to so many columns: nothing is counted.
fn padded(mut rows: Vec<Vec<Cell>>, width: usize) -> Vec<Vec<Cell>> {
    rows.iter_mut().for_each(|row| row.resize(width, Cell::Null));
    rows
}

/// Number, schema and name of each table.
fn table_names(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let tables = definitions.tables.iter().filter(|table| table.view.is_none());
    tables.map(|table| row![table.oid, &table.schema, &table.name]).collect()
}

/// Each index with its table.
fn index_names(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for table in definitions.tables.iter().filter(|table| table.view.is_none()) {
        let key = table.has_key().then(|| (key_index_oid(table.oid), table.key_index_name()));
        let others = definitions.indexes_of(table).map(|index| (index.oid, index.name.clone()));
        let row = |(oid, name): (u32, String)| row![table.oid, oid, &table.schema, &table.name, name];
        rows.extend(key.into_iter().chain(others).map(row));
    }
    rows
}
