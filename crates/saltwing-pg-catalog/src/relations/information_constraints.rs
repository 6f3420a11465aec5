//! Constraints in `information_schema`.

use super::cells::{Cell, row};
use super::constraints::{Constraint, constraints};
use super::relation::Entry;
use crate::CatalogError;
use crate::definitions::Definitions;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::information(
        "table_constraints",
        "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, \
         table_name name, constraint_type varchar, is_deferrable varchar, initially_deferred varchar, enforced varchar, \
         nulls_distinct varchar",
        |definitions| {
            each(definitions, |it| {
                let (kind, distinct) =
                    if it.condition.is_some() { ("CHECK", None) } else { ("PRIMARY KEY", Some("YES")) };
                let [database, schema, table] = names(definitions, it);
                vec![row![database, schema, &it.name, database, schema, table, kind, "NO", "NO", "YES", distinct]]
            })
        },
    ),
    Entry::information(
        "key_column_usage",
        "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, \
         table_name name, column_name name, ordinal_position int4, position_in_unique_constraint int4",
        |definitions| {
            each(definitions, |it| {
                let [database, schema, table] = names(definitions, it);
                let columns = it.table.key_columns().into_iter().filter(|_| it.condition.is_none()).zip(1..);
                let row = |(column, place): (&crate::definitions::Column, i32)| {
                    row![database, schema, &it.name, database, schema, table, &column.name, place, Cell::Null]
                };
                columns.map(row).collect()
            })
        },
    ),
    Entry::information(
        "constraint_column_usage",
        "table_catalog name, table_schema name, table_name name, column_name name, constraint_catalog name, constraint_schema name, \
         constraint_name name",
        |definitions| {
            each(definitions, |it| {
                let [database, schema, table] = names(definitions, it);
                let row = |name: &String| row![database, schema, table, name, database, schema, &it.name];
                it.columns().iter().map(|column| row(&column.name)).collect()
            })
        },
    ),
    Entry::information(
        "constraint_table_usage",
        "table_catalog name, table_schema name, table_name name, constraint_catalog name, constraint_schema name, constraint_name name",
        |definitions| {
            each(definitions, |it| {
                let [database, schema, table] = names(definitions, it);
                vec![row![database, schema, table, database, schema, &it.name]]
            })
        },
    ),
    Entry::information(
        "check_constraints",
        "constraint_catalog name, constraint_schema name, constraint_name name, check_clause varchar",
        |definitions| {
            each(definitions, |it| {
                let [database, schema, _] = names(definitions, it);
                let row = |condition: &str| row![database, schema, &it.name, format!("({condition})")];
                it.condition.map(row).into_iter().collect()
            })
        },
    ),
];

/// Database, schema and table of a constraint.
fn names<'a>(definitions: &'a Definitions, of: &'a Constraint<'_>) -> [&'a str; 3] {
    [&definitions.database, &of.table.schema, &of.table.name]
}

fn each(
    definitions: &Definitions,
    rows: impl Fn(&Constraint<'_>) -> Vec<Vec<Cell>>,
) -> Result<Vec<Vec<Cell>>, CatalogError> {
    Ok(constraints(definitions)?.iter().flat_map(rows).collect())
}
