//! `information_schema.columns`: the columns of tables that are not hidden, and those of views.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{ColumnDef, SortOrder, SqlType, TableDef, TableName};

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static COLUMNS: Definition<Listed> = Definition {
    name: "columns",
    columns: &[
        Column::text("table_catalog", |_| Some(CATALOG.into())),
        Column::text("table_schema", |it: &Listed| it.table.schema.clone()),
        Column::text("table_name", |it| Some(it.table.name.clone())),
        Column::text("column_name", |it| Some(it.name.clone())),
        Column::integer("ordinal_position", |it| position(it.place)),
        Column::text("column_default", Listed::default),
        Column::yes_or_no("is_nullable", |it| it.nullable),
        Column::text("data_type", |it| Some(it.ty.to_string())),
        Column::integer("key_position", |it| position(it.key_place()?)),
        Column::text("key_order", Listed::key_order),
        Column::text("column_family", Listed::family),
        Column::text("column_comment", |it| it.comment.clone()),
        Column::text("is_generated", |it| Some(if it.generated().is_some() { "ALWAYS" } else { "NEVER" }.into())),
        Column::text("generation_expression", |it| it.generated().map(str::to_owned)),
        Column::yes_or_no("is_identity", |it| it.is_always_identity().is_some()),
        Column::text("identity_generation", |it| {
            Some(if it.is_always_identity()? { "ALWAYS" } else { "BY DEFAULT" }.into())
        }),
    ],
    objects: listed,
};

/// A column of a table or a view.
pub(super) struct Listed {
    table: TableName,
    name: String,
    /// From 0, hidden columns left out.
    place: usize,
    ty: SqlType,
    nullable: bool,
    comment: Option<String>,
    /// The table, and its index there, if it is not that of a view.
    stored: Option<(Arc<Table>, usize)>,
}

impl Listed {
    fn stored(&self) -> Option<(&TableDef, usize, &ColumnDef)> {
        let (table, index) = self.stored.as_ref()?;
        Some((table.def(), *index, table.def().columns.get(*index)?))
    }

    fn generated(&self) -> Option<&str> {
        self.stored()?.2.generated()
    }

    /// Whether the sequence of an identity column always gives the value; `None` of another column.
    fn is_always_identity(&self) -> Option<bool> {
        self.stored()?.2.identity().map(|identity| identity.always)
    }

    fn default(&self) -> Option<String> {
        let (_, _, column) = self.stored()?;
        let is_plain = column.generated().is_none() && column.identity().is_none();
        column.default.as_ref().filter(|_| is_plain).map(|default| default.text.clone())
    }

    fn key_place(&self) -> Option<usize> {
        let (def, index, _) = self.stored()?;
        def.key.position(index)
    }

    fn key_order(&self) -> Option<String> {
        let (def, index, _) = self.stored()?;
        let part = def.key.columns.get(def.key.position(index)?)?;
        Some(if part.order == SortOrder::Desc { "DESC" } else { "ASC" }.to_owned())
    }

    fn family(&self) -> Option<String> {
        let (def, _, column) = self.stored()?;
        def.family_name(column).map(str::to_owned)
    }
}

/// A place from 0 as one from 1.
fn position(place: usize) -> Option<i32> {
    i32::try_from(place).ok()?.checked_add(1)
}

fn listed(facts: &SystemFacts<'_>) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for table in facts.tables()? {
        let def = table.def();
        let shown = def.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
        listed.extend(shown.enumerate().map(|(place, (index, column))| Listed {
            table: def.name.clone(),
            name: column.name.clone(),
            place,
            ty: column.ty,
            nullable: column.nullable,
            comment: column.comment.clone(),
            stored: Some((table.clone(), index)),
        }));
    }
    for view in facts.views()? {
        listed.extend(view.columns.iter().enumerate().map(|(place, column)| Listed {
            table: view.name.clone(),
            name: column.name.clone(),
            place,
            ty: column.ty,
            nullable: column.nullable,
            comment: column.comment.clone(),
            stored: None,
        }));
    }
    Ok(listed)
}
