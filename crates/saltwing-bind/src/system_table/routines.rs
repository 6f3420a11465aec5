//! `information_schema.routines`: the functions of the registries. SHOW FUNCTIONS tells their forms, and those of the relational engine.

use saltwing_types::Function;
use saltwing_types::function::Volatility;
use saltwing_types::function::aggregate::AggregateEntry;

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static ROUTINES: Definition<Routine> = Definition {
    name: "routines",
    columns: &[
        Column::text("specific_catalog", |_| Some(CATALOG.into())),
        Column::text("specific_schema", |_: &Routine| None),
        Column::text("specific_name", |it| Some(it.name.to_lowercase())),
        Column::text("routine_catalog", |_| Some(CATALOG.into())),
        Column::text("routine_schema", |_| None),
        Column::text("routine_name", |it| Some(it.name.to_lowercase())),
        Column::text("routine_type", |_| Some("FUNCTION".into())),
        Column::text("external_language", |_| Some("INTERNAL".into())),
        Column::yes_or_no("is_deterministic", |it| it.volatility == Volatility::Immutable),
    ],
    objects: routines,
};

/// A function by one of its names.
pub(super) struct Routine {
    name: &'static str,
    volatility: Volatility,
}

fn routines(_: &SystemFacts<'_>) -> Result<Vec<Routine>> {
    let scalar = Function::all().flat_map(|function| {
        let names = std::iter::once(&function.name).chain(function.aliases).copied();
        let volatility = function.volatility;
        names.map(move |name| Routine { name, volatility }).collect::<Vec<_>>()
    });
    let aggregates = AggregateEntry::all().flat_map(AggregateEntry::names);
    let aggregates = aggregates.map(|name| Routine { name, volatility: AggregateEntry::VOLATILITY });
    let mut all: Vec<Routine> = scalar.chain(aggregates).collect();
    all.sort_unstable_by_key(|routine| routine.name);
    Ok(all)
}
