//! `pg_index`, `pg_indexes`: the indexes, each primary key's among them.

use super::cells::{Cell, row};
use super::object_text::index_text;
use super::relation::Entry;
use super::types::OPERATOR_CLASS;
use crate::CatalogError;
use crate::definitions::{Column, Definitions, IndexPart, Table, key_index_oid};
use crate::pg_type::of_column;

/// The options of a part: descending, NULLs first, as DESC alone says.
const DESCENDING: i64 = 3;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::table(
        "pg_index",
        2610,
        "indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool, indnullsnotdistinct bool, indisprimary bool, \
         indisexclusion bool, indimmediate bool, indisclustered bool, indisvalid bool, indcheckxmin bool, indisready bool, \
         indislive bool, indisreplident bool, indkey int2vector, indcollation oidvector, indclass oidvector, indoption int2vector, \
         indexprs pg_node_tree, indpred pg_node_tree",
        |definitions| listed(definitions).into_iter().map(Listed::row).collect(),
    ),
    Entry::view(
        "pg_indexes",
        "schemaname name, tablename name, indexname name, tablespace name, indexdef text",
        |definitions| {
            let row = |entry: Listed<'_>| {
                let text = index_text(definitions, entry.oid, false);
                row![&entry.table.schema, &entry.table.name, entry.name, Cell::Null, text]
            };
            Ok(listed(definitions).into_iter().map(row).collect())
        },
    ),
];

/// A row of `pg_index`.
struct Listed<'a> {
    oid: u32,
    name: String,
    table: &'a Table,
    is_unique: bool,
    is_primary: bool,
    is_valid: bool,
    /// Numbers of columns, 0 of an expression; those beside the key at the end.
    columns: Vec<i64>,
    /// Collations of the parts of the key alone, 0 of those without.
    collations: Vec<i64>,
    /// Of the parts of the key alone.
    options: Vec<i64>,
    expressions: Option<String>,
    predicate: Option<&'a String>,
}

impl Listed<'_> {
    fn row(self) -> Result<Vec<Cell>, CatalogError> {
        let number = |count: usize| {
            i16::try_from(count).map_err(|_| CatalogError::bug(format!("{} has too many columns", self.name)))
        };
        let parts = self.options.len();
        let (all, keys) = (number(self.columns.len())?, number(parts)?);
        Ok(row![
            self.oid,
            self.table.oid,
            all,
            keys,
            self.is_unique,
            false,
            self.is_primary,
            false,
            true,
            false,
            self.is_valid,
            false,
            true,
            true,
            false,
            self.columns,
            self.collations,
            vec![i64::from(OPERATOR_CLASS); parts],
            self.options,
            self.expressions,
            self.predicate
        ])
    }
}

/// The collation of a column's values: that of texts, or 0.
fn collation(column: &Column) -> i64 {
    of_column(column.ty).0.entry().map_or(0, |entry| entry.collation().into())
}

fn listed(definitions: &Definitions) -> Vec<Listed<'_>> {
    let option = |is_descending: bool| if is_descending { DESCENDING } else { 0 };
    let keyed = definitions.tables.iter().filter(|table| table.has_key());
    let keys = keyed.map(|table| {
        let columns = table.key_columns();
        Listed {
            oid: key_index_oid(table.oid),
            name: table.key_index_name(),
            table,
            is_unique: true,
            is_primary: true,
            is_valid: true,
            columns: columns.iter().map(|column| column.number.into()).collect(),
            collations: columns.iter().map(|column| collation(column)).collect(),
            options: columns
                .iter()
                .map(|column| option(column.key.is_some_and(|(_, is_descending)| is_descending)))
                .collect(),
            expressions: None,
            predicate: None,
        }
    });
    let indexes = definitions.indexes.iter().filter_map(|index| {
        let table = definitions.table_of(index)?;
        let number = |name: &str| table.column(name).map_or(0, |column| i64::from(column.number));
        let parts = index.parts.iter().map(|part| if part.is_column { number(&part.text) } else { 0 });
        let expressions: Vec<&str> =
            index.parts.iter().filter(|part| !part.is_column).map(|part| part.text.as_str()).collect();
        let collation_of = |part: &IndexPart| match table.column(&part.text).filter(|_| part.is_column) {
            Some(column) => collation(column),
            None => 0,
        };
        Some(Listed {
            oid: index.oid,
            name: index.name.clone(),
            table,
            is_unique: index.is_unique,
            is_primary: false,
            is_valid: index.is_ready,
            columns: parts.chain(index.included.iter().map(|name| number(name))).collect(),
            collations: index.parts.iter().map(collation_of).collect(),
            options: index.parts.iter().map(|part| option(part.is_descending)).collect(),
            expressions: (!expressions.is_empty()).then(|| expressions.join(", ")),
            predicate: index.predicate.as_ref(),
        })
    });
    keys.chain(indexes).collect()
}
