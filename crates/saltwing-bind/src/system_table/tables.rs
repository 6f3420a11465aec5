//! `information_schema.tables`: tables, views, and the system tables themselves.

use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_types::{ObjectId, TableName};

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static TABLES: Definition<Listed> = Definition {
    name: "tables",
    columns: &[
        Column::text("table_catalog", |_| Some(CATALOG.into())),
        Column::text("table_schema", |it: &Listed| it.name.schema.clone()),
        Column::text("table_name", |it| Some(it.name.name.clone())),
        Column::text("table_type", |it| Some(it.kind.into())),
        Column::text("table_comment", |it| it.comment.clone()),
        Column::object_id(|it| it.id),
    ],
    objects: listed,
};

/// A table or a view; system tables have no number.
pub(super) struct Listed {
    id: Option<ObjectId>,
    name: TableName,
    kind: &'static str,
    comment: Option<String>,
}

fn listed(facts: &SystemFacts<'_>) -> Result<Vec<Listed>> {
    let (tables, views) = (facts.tables()?, facts.views()?);
    let tables = tables.iter().map(|table| {
        let def = table.def();
        let kind = if facts.catalog.is_temporary(def) { "LOCAL TEMPORARY" } else { "BASE TABLE" };
        Listed { id: Some(def.object_id), name: def.name.clone(), kind, comment: def.comment.clone() }
    });
    let views = views.iter().map(|view| {
        let (name, comment) = (view.name.clone(), view.comment.clone());
        Listed { id: Some(view.id), name, kind: "VIEW", comment }
    });
    let system = facts.system_tables.iter().map(|table| {
        let name = TableName { schema: Some(INFORMATION_SCHEMA.to_owned()), name: table.name().to_owned() };
        Listed { id: None, name, kind: "VIEW", comment: None }
    });
    Ok(tables.chain(views).chain(system).collect())
}
