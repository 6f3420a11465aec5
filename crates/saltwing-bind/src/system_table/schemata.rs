//! `information_schema.schemata`.

use saltwing_catalog::INFORMATION_SCHEMA;

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static SCHEMATA: Definition<String> = Definition {
    name: "schemata",
    columns: &[
        Column::text("catalog_name", |_| Some(CATALOG.into())),
        Column::text("schema_name", |name: &String| Some(name.clone())),
    ],
    objects: names,
};

fn names(facts: &SystemFacts<'_>) -> Result<Vec<String>> {
    let mut names = facts.catalog.schemas()?;
    names.push(INFORMATION_SCHEMA.to_owned());
    Ok(names)
}
