//! `information_schema.tables`: tables, views, and the system tables themselves.

use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_types::TableName;

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
    ],
    objects: listed,
};

/// A table or a view.
pub(super) struct Listed {
    name: TableName,
    kind: &'static str,
    comment: Option<String>,
}

fn listed(facts: &SystemFacts<'_>) -> Result<Vec<Listed>> {
    let (tables, views) = (facts.tables()?, facts.views()?);
    let tables = tables.iter().map(|table| {
        let def = table.def();
        let kind = if facts.catalog.is_temporary(def) { "LOCAL TEMPORARY" } else { "BASE TABLE" };
        Listed { name: def.name.clone(), kind, comment: def.comment.clone() }
    });
    let views =
        views.iter().map(|view| Listed { name: view.name.clone(), kind: "VIEW", comment: view.comment.clone() });
    let system = facts.system_tables.iter().map(|table| {
        let name = TableName { schema: Some(INFORMATION_SCHEMA.to_owned()), name: table.name().to_owned() };
        Listed { name, kind: "VIEW", comment: None }
    });
    Ok(tables.chain(views).chain(system).collect())
}
