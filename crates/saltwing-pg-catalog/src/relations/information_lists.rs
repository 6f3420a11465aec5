//! Tables, views and sequences in `information_schema`.

use super::cells::{Cell, row};
use super::information_columns::yes_or_no;
use super::relation::{Entry, visible};
use crate::definitions::{Sequence, Table};

pub(super) static RELATIONS: &[Entry] = &[
    Entry::empty_information(
        "tables",
        "table_catalog name, table_schema name, table_name name, table_type varchar, self_referencing_column_name name, \
         reference_generation varchar, user_defined_type_catalog name, user_defined_type_schema name, user_defined_type_name name, \
         is_insertable_into varchar, is_typed varchar, commit_action varchar",
    )
    .listing(
        |definitions, relations| {
            let row = |schema: &str, name: &str, kind: &str, takes_rows: bool| {
                row![
                    &definitions.database,
                    schema,
                    name,
                    kind,
                    Cell::Null,
                    Cell::Null,
                    Cell::Null,
                    Cell::Null,
                    Cell::Null,
                    yes_or_no(takes_rows),
                    "NO",
                    Cell::Null
                ]
            };
            let own = definitions.tables.iter().map(|table| {
                let kind = if table.view.is_some() { "VIEW" } else { "BASE TABLE" };
                row(&table.schema, &table.name, kind, table.view.as_ref().is_none_or(|view| view.is_updatable))
            });
            let catalog = visible(relations).map(|relation| {
                row(relation.schema, relation.name, if relation.kind == 'r' { "BASE TABLE" } else { "VIEW" }, false)
            });
            Ok(own.chain(catalog).collect())
        },
    ),
    Entry::information(
        "views",
        "table_catalog name, table_schema name, table_name name, view_definition varchar, check_option varchar, is_updatable varchar, \
         is_insertable_into varchar, is_trigger_updatable varchar, is_trigger_deletable varchar, is_trigger_insertable_into varchar",
        |definitions| {
            let view = |table: &Table| {
                let view = table.view.as_ref()?;
                let updatable = yes_or_no(view.is_updatable);
                Some(row![
                    &definitions.database,
                    &table.schema,
                    &table.name,
                    &view.query,
                    if view.is_updatable { "LOCAL" } else { "NONE" },
                    updatable,
                    updatable,
                    "NO",
                    "NO",
                    "NO"
                ])
            };
            Ok(definitions.tables.iter().filter_map(view).collect())
        },
    ),
    Entry::information(
        "sequences",
        "sequence_catalog name, sequence_schema name, sequence_name name, data_type varchar, numeric_precision int4, \
         numeric_precision_radix int4, numeric_scale int4, start_value varchar, minimum_value varchar, maximum_value varchar, \
         increment varchar, cycle_option varchar",
        |definitions| {
            let sequence = |it: &Sequence| {
                row![
                    &definitions.database,
                    &it.schema,
                    &it.name,
                    "bigint",
                    64,
                    2,
                    0,
                    it.start.to_string(),
                    it.min.to_string(),
                    it.max.to_string(),
                    it.increment.to_string(),
                    yes_or_no(it.cycles)
                ]
            };
            Ok(definitions.sequences.iter().map(sequence).collect())
        },
    ),
    Entry::information(
        "character_sets",
        "character_set_catalog name, character_set_schema name, character_set_name name, character_repertoire name, \
         form_of_use name, default_collate_catalog name, default_collate_schema name, default_collate_name name",
        |definitions| {
            let database = &definitions.database;
            Ok(vec![row![Cell::Null, Cell::Null, "UTF8", "UCS", "UTF8", database, "pg_catalog", "default"]])
        },
    ),
];
