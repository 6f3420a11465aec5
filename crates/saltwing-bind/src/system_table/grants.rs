//! `information_schema.grants`: what the listed users were granted, a row for each object of a user.

use std::sync::Arc;

use saltwing_catalog::{CatalogReader, optional};
use saltwing_types::{GrantedObject, Privileges, TableName, UserDef};

use super::definition::{Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static GRANTS: Definition<Listed> = Definition {
    name: "grants",
    columns: &[
        Column::text("user_name", |it: &Listed| Some(it.user.name.clone())),
        Column::text("object_type", |it| Some(it.kind.into())),
        Column::text("object_schema", |it| match &it.object {
            GrantedObject::Database => None,
            GrantedObject::Schema(schema) => Some(schema.clone()),
            GrantedObject::Relation(name) => name.schema.clone(),
        }),
        Column::text("object_name", |it| match &it.object {
            GrantedObject::Database | GrantedObject::Schema(_) => None,
            GrantedObject::Relation(name) => Some(name.name.clone()),
        }),
        Column::text("privileges", |it| Some(it.privileges.to_string())),
    ],
    objects: listed,
};

/// The privileges of a user on an object.
pub(super) struct Listed {
    user: Arc<UserDef>,
    kind: &'static str,
    object: GrantedObject,
    privileges: Privileges,
}

fn listed(facts: &SystemFacts<'_>) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for user in facts.catalog.users()? {
        for (object, privileges) in user.grants.iter() {
            let kind = match object {
                GrantedObject::Database => "DATABASE",
                GrantedObject::Schema(_) => "SCHEMA",
                GrantedObject::Relation(name) => kind_of(facts.catalog, name)?,
            };
            listed.push(Listed { user: user.clone(), kind, object: object.clone(), privileges });
        }
    }
    Ok(listed)
}

fn kind_of(catalog: &dyn CatalogReader, of: &TableName) -> Result<&'static str> {
    // With a schema it is never the name of a temporary table.
    let (schema, name) = (Some(of.schema.as_deref().unwrap_or_default()), of.name.as_str());
    if catalog.view(schema, name)?.is_some() {
        return Ok("VIEW");
    }
    Ok(if optional(catalog.sequence(schema, name))?.is_some() { "SEQUENCE" } else { "TABLE" })
}
