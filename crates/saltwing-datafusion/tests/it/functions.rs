//! The registries of aggregate and window functions against the functions that DataFusion has.

use std::collections::BTreeSet;

use datafusion::execution::SessionStateDefaults;
use saltwing_bind::{EngineFunctionKind, EngineFunctions};
use saltwing_datafusion::{Engine, EngineConfig};
use saltwing_types::function::aggregate::{AggregateEntry, AggregateMeaning};
use saltwing_types::function::window::{WINDOW_FUNCTIONS, WindowEntry};

#[test]
fn each_aggregate_of_datafusion_has_an_entry_with_its_names() {
    for function in SessionStateDefaults::default_aggregate_functions() {
        let entry =
            AggregateEntry::by_name(function.name()).unwrap_or_else(|| panic!("no entry of {}", function.name()));
        assert_eq!(entry.engine_name(), function.name());
        for alias in function.aliases() {
            assert!(entry.aliases.iter().any(|known| known.eq_ignore_ascii_case(alias)), "{alias} of {}", entry.name);
        }
    }
}

#[test]
fn the_engine_has_each_aggregate_of_the_registry() {
    let engine = Engine::new(&EngineConfig::default()).unwrap();
    for entry in AggregateEntry::all() {
        let is_there = engine.kind(&entry.engine_name()) == Some(EngineFunctionKind::Aggregate);
        // The binder makes other calls of these.
        let is_put_together = matches!(
            entry.meaning,
            AggregateMeaning::FirstValues
                | AggregateMeaning::LastValues
                | AggregateMeaning::PercentRank
                | AggregateMeaning::Composed(_)
        );
        assert_eq!(is_there, !is_put_together, "{}", entry.name);
    }
}

#[test]
fn window_functions_are_those_of_datafusion() {
    let of_engine: BTreeSet<String> = SessionStateDefaults::default_window_functions()
        .iter()
        .flat_map(|function| std::iter::once(function.name().to_uppercase()).chain(function.aliases().to_vec()))
        .collect();
    let entries: BTreeSet<String> = WINDOW_FUNCTIONS.iter().map(|entry| entry.name.to_owned()).collect();
    assert_eq!(entries, of_engine);
    assert!(WindowEntry::by_name("sum").is_none());
}
