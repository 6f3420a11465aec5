//! `information_schema.sequences`.

use std::sync::Arc;

use saltwing_types::{SequenceDef, SqlType};

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static SEQUENCES: Definition<Arc<SequenceDef>> = Definition {
    name: "sequences",
    columns: &[
        Column::text("sequence_catalog", |_| Some(CATALOG.into())),
        Column::text("sequence_schema", |it: &Arc<SequenceDef>| it.name.schema.clone()),
        Column::text("sequence_name", |it| Some(it.name.name.clone())),
        Column::text("data_type", |_| Some(SqlType::BigInt.to_string())),
        Column::big_int("start_value", |it| Some(it.start)),
        Column::big_int("minimum_value", |it| Some(it.min)),
        Column::big_int("maximum_value", |it| Some(it.max)),
        Column::big_int("increment", |it| Some(it.increment)),
        Column::yes_or_no("cycle_option", |it| it.cycles),
        Column::big_int("cache_size", |it| Some(it.cache.cast_signed())),
        Column::object_id(|it| Some(it.id)),
    ],
    objects: sequences,
};

fn sequences(facts: &SystemFacts<'_>) -> Result<Vec<Arc<SequenceDef>>> {
    Ok(facts.catalog.sequences()?)
}
