//! `information_schema.schemata`.

use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_types::ObjectId;

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static SCHEMATA: Definition<Listed> = Definition {
    name: "schemata",
    columns: &[
        Column::text("catalog_name", |_| Some(CATALOG.into())),
        Column::text("schema_name", |it: &Listed| Some(it.name.clone())),
        Column::object_id(|it| it.id),
    ],
    objects: listed,
};

/// A schema; that of the system tables has no number.
pub(super) struct Listed {
    name: String,
    id: Option<ObjectId>,
}

fn listed(facts: &SystemFacts<'_>) -> Result<Vec<Listed>> {
    let schemas = facts.catalog.schemas()?;
    let stored = schemas.iter().map(|schema| Listed { name: schema.name.clone(), id: Some(schema.id) });
    Ok(stored.chain([Listed { name: INFORMATION_SCHEMA.to_owned(), id: None }]).collect())
}
