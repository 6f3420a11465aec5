//! `pg_namespace`: the schemas.

use super::cells::{Cell, row};
use super::relation::Entry;
use crate::CatalogError;
use crate::definitions::{Definitions, INFORMATION_SCHEMA, OWNER, PG_CATALOG, PUBLIC};

pub(super) static RELATIONS: &[Entry] = &[
    Entry::table("pg_namespace", 2615, "oid oid, nspname name, nspowner oid, nspacl _aclitem", |definitions| {
        let schema = |(oid, name): (u32, &str)| row![oid, name, OWNER, Cell::Null];
        Ok(schemas(definitions).into_iter().map(schema).collect())
    }),
    Entry::information(
        "schemata",
        "catalog_name name, schema_name name, schema_owner name, default_character_set_catalog name, \
         default_character_set_schema name, default_character_set_name name, sql_path varchar",
        schemata,
    ),
];

/// All schemas, those that every database has first.
fn schemas(definitions: &Definitions) -> Vec<(u32, &str)> {
    let fixed = [(PG_CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION_SCHEMA, "information_schema")];
    let own = definitions.schemas.iter().map(|schema| (schema.oid, schema.name.as_str()));
    fixed.into_iter().chain(own).collect()
}

fn schemata(definitions: &Definitions) -> Result<Vec<Vec<Cell>>, CatalogError> {
    let Definitions { database, owner, .. } = definitions;
    let schema = |(_, name): (u32, &str)| row![database, name, owner, Cell::Null, Cell::Null, Cell::Null, Cell::Null];
    Ok(schemas(definitions).into_iter().map(schema).collect())
}
