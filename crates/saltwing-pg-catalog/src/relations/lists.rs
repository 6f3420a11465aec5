//! The views of `pg_catalog` over its tables: `pg_tables`, `pg_views`, `pg_sequences`; and `pg_sequence`.

use super::cells::{Cell, row};
use super::relation::{Entry, Relation, visible};
use crate::definitions::{OWNER, Sequence, Table};
use crate::pg_type::PgType;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::empty_view(
        "pg_tables",
        "schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool, hastriggers bool, \
         rowsecurity bool",
    )
    .listing(
        |definitions, relations| {
            let tables = definitions.tables.iter().filter(|table| table.view.is_none());
            let table = |table: &Table| {
                let has_index = table.has_key() || definitions.indexes_of(table).next().is_some();
                row![&table.schema, &table.name, &definitions.owner, Cell::Null, has_index, false, false, false]
            };
            let catalog = of_catalog(relations, 'r').map(|relation| {
                row![relation.schema, relation.name, &definitions.owner, Cell::Null, false, false, false, false]
            });
            Ok(tables.map(table).chain(catalog).collect())
        },
    ),
    Entry::empty_view("pg_views", "schemaname name, viewname name, viewowner name, definition text").listing(|definitions, relations| {
        let view = |table: &Table| {
            let query = &table.view.as_ref()?.query;
            Some(row![&table.schema, &table.name, &definitions.owner, query])
        };
        let own = definitions.tables.iter().filter_map(view);
        let catalog =
            of_catalog(relations, 'v').map(|relation| row![relation.schema, relation.name, &definitions.owner, Cell::Null]);
        Ok(own.chain(catalog).collect())
    }),
    Entry::table(
        "pg_sequence",
        2224,
        "seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, seqmin int8, seqcache int8, seqcycle bool",
        |definitions| {
            let sequence = |it: &Sequence| {
                row![it.oid, PgType::INT8.0, it.start, it.increment, it.max, it.min, it.cache, it.cycles]
            };
            Ok(definitions.sequences.iter().map(sequence).collect())
        },
    ),
    Entry::view(
        "pg_sequences",
        "schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8, min_value int8, max_value int8, \
         increment_by int8, cycle bool, cache_size int8, last_value int8",
        |definitions| {
            let sequence = |it: &Sequence| {
                row![
                    &it.schema,
                    &it.name,
                    &definitions.owner,
                    PgType::INT8.0,
                    it.start,
                    it.min,
                    it.max,
                    it.increment,
                    it.cycles,
                    it.cache,
                    Cell::Null
                ]
            };
            Ok(definitions.sequences.iter().map(sequence).collect())
        },
    ),
    Entry::table(
        "pg_shdepend",
        1214,
        "dbid oid, classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, deptype char",
        |_| Ok(vec![row![0, 0, 0, 0, 1260, OWNER, 'p']]),
    ),
];

/// The relations of the catalog of one kind.
fn of_catalog(relations: &'static [Relation], kind: char) -> impl Iterator<Item = &'static Relation> {
    visible(relations).filter(move |relation| relation.kind == kind)
}
