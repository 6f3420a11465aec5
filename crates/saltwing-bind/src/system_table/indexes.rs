//! `information_schema.indexes`.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{IndexDef, IndexState, TableDef};

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;
use crate::index_text::{included_text, parts_text};

pub(super) static INDEXES: Definition<Listed> = Definition {
    name: "indexes",
    columns: &[
        Column::text("table_catalog", |_| Some(CATALOG.into())),
        Column::text("table_schema", |it: &Listed| it.table().name.schema.clone()),
        Column::text("table_name", |it| Some(it.table().name.name.clone())),
        Column::text("index_name", |it| Some(it.index()?.name.clone())),
        Column::text("kind", |it| Some(if it.index()?.local { "local" } else { "global" }.into())),
        Column::yes_or_no("is_unique", |it| it.index().is_some_and(|index| index.unique)),
        Column::text("key", |it| Some(parts_text(it.table(), it.index()?))),
        Column::text("include", |it| {
            Some(included_text(it.table(), it.index()?)).filter(|columns| !columns.is_empty())
        }),
        Column::text("predicate", |it| it.index()?.predicate.as_ref().map(|predicate| predicate.text.clone())),
        Column::integer("salt_buckets", |it| it.index()?.key(it.table()).salt.map(|salt| salt.buckets.into())),
        Column::text("state", |it| it.index().map(state)),
        Column::object_id(|it| it.index().map(|index| index.object_id)),
    ],
    objects: listed,
};

/// An index of a table, by place.
pub(super) struct Listed {
    table: Arc<Table>,
    place: usize,
}

impl Listed {
    fn table(&self) -> &TableDef {
        self.table.def()
    }

    fn index(&self) -> Option<&IndexDef> {
        self.table().indexes.get(self.place)
    }
}

/// The state; `rebuilding` of an index that is read while its new entries are written.
fn state(index: &IndexDef) -> String {
    match (index.state, index.rebuild) {
        (IndexState::Ready, Some(_)) => "rebuilding".to_owned(),
        (state, _) => state.to_string(),
    }
}

fn listed(facts: &SystemFacts<'_>) -> Result<Vec<Listed>> {
    let of_table = |table: Arc<Table>| {
        let places = 0..table.def().indexes.len();
        places.map(move |place| Listed { table: table.clone(), place })
    };
    Ok(facts.tables()?.into_iter().flat_map(of_table).collect())
}
