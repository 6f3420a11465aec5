//! `information_schema.views`: each view after those that it uses.

use std::sync::Arc;

use saltwing_types::ViewDef;

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;
use crate::view_order::in_order_of_use;

pub(super) static VIEWS: Definition<Arc<ViewDef>> = Definition {
    name: "views",
    columns: &[
        Column::text("table_catalog", |_| Some(CATALOG.into())),
        Column::text("table_schema", |view: &Arc<ViewDef>| view.name.schema.clone()),
        Column::text("table_name", |view| Some(view.name.name.clone())),
        Column::text("view_definition", |view| Some(view.query.clone())),
        Column::computed("is_updatable", |view, facts| (facts.is_updatable)(view, facts.catalog)),
    ],
    objects: views,
};

fn views(facts: &SystemFacts<'_>) -> Result<Vec<Arc<ViewDef>>> {
    facts.views().map(in_order_of_use)
}
