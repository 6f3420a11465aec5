//! The registries of aggregate and window functions.

use std::collections::HashSet;

use super::super::Function;
use super::super::aggregate::{AggregateEntry, AggregateFunction, AggregateInput, AggregateMeaning};
use super::super::window::{WINDOW_FUNCTIONS, WindowEntry, WindowFunction};
use crate::SqlType;

fn is_sentence(text: &str) -> bool {
    text.ends_with('.') && text.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
}

#[test]
fn entries_of_aggregate_functions_are_whole_and_names_are_unique() {
    let mut names = HashSet::new();
    for entry in AggregateEntry::all() {
        for name in entry.names() {
            assert!(names.insert(name), "{name} stands twice");
            assert_eq!(name.to_ascii_uppercase(), name);
            assert!(Function::by_name(name).is_none(), "{name} is a scalar function, too");
            let found = AggregateEntry::by_name(&name.to_lowercase()).unwrap();
            assert!(std::ptr::eq(found, entry), "{name}");
        }
        assert!(is_sentence(entry.description), "{}: {}", entry.name, entry.description);
        assert!(entry.example.0.starts_with(entry.name) && !entry.example.1.is_empty(), "{}", entry.name);
        let input = std::mem::discriminant(&entry.input());
        for form in entry.forms {
            let is_star = matches!(form.input, AggregateInput::Rows);
            assert!(is_star || std::mem::discriminant(&form.input) == input, "{}{form}", entry.name);
        }
        assert!(!entry.forms.is_empty(), "{}", entry.name);
        assert_eq!(entry.state().is_some(), matches!(entry.meaning, AggregateMeaning::Own(_)));
        if let Some(function) = entry.own() {
            assert!(std::ptr::eq(function.entry(), entry), "{function:?}");
        }
    }
    assert!(AggregateEntry::by_name("nothing").is_none());
}

#[test]
fn entries_of_window_functions_are_whole_and_sorted() {
    assert!(WINDOW_FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    for entry in WINDOW_FUNCTIONS {
        assert!(std::ptr::eq(WindowEntry::by_name(&entry.name.to_lowercase()).unwrap(), *entry));
        assert!(std::ptr::eq(entry.function.entry().unwrap(), *entry), "{}", entry.name);
        assert_eq!(entry.function.name(), entry.name);
        assert!(Function::by_name(entry.name).is_none(), "{} is a scalar function, too", entry.name);
        assert!(is_sentence(entry.description), "{}: {}", entry.name, entry.description);
        assert!(entry.example.0.starts_with(entry.name) && entry.example.0.contains(" OVER ("), "{}", entry.name);
    }
}

#[test]
fn forms_are_written_as_calls_are() {
    let shown = |name: &str| {
        let entry = AggregateEntry::by_name(name).unwrap();
        entry.forms.iter().map(|form| format!("{name}{form}")).collect::<Vec<_>>()
    };
    assert_eq!(shown("COUNT"), ["COUNT(value any) -> BIGINT", "COUNT(*) -> BIGINT"]);
    assert_eq!(shown("NTH_VALUE"), ["NTH_VALUE(value any, place BIGINT [ORDER BY key, ..]) -> any"]);
    let percentile = "QUANTILE_CONT(share DOUBLE) WITHIN GROUP (ORDER BY value DOUBLE) -> DOUBLE";
    assert_eq!(shown("QUANTILE_CONT"), [percentile]);
    let lag = "LAG(value any [, distance BIGINT] [, default any]) OVER (..) -> any";
    assert_eq!(WindowEntry::by_name("lag").unwrap().to_string(), lag);
}

#[test]
fn results_have_the_types_of_the_forms() {
    use AggregateFunction::{Avg, Count, Max, Sum, WrappingSum};
    let decimal = SqlType::Decimal(Some((9, 2)));
    for (function, ty, expected) in [
        (Count, SqlType::Boolean, Some(SqlType::BigInt)),
        (Max, decimal, Some(decimal)),
        (Max, SqlType::Char(3), Some(SqlType::Char(3))),
        (Sum, SqlType::UnsignedSmallInt, Some(SqlType::BigInt)),
        (WrappingSum, SqlType::BigInt, Some(SqlType::BigInt)),
        (Sum, decimal, Some(SqlType::Decimal(None))),
        (Sum, SqlType::Float, Some(SqlType::Double)),
        (Sum, SqlType::Interval, Some(SqlType::Interval)),
        (Sum, SqlType::Varchar(None), None),
        (Avg, SqlType::Integer, Some(SqlType::Double)),
        (Avg, decimal, Some(SqlType::Decimal(None))),
        (Avg, SqlType::Date, None),
    ] {
        assert_eq!(function.result_type(ty), expected, "{function:?} of {ty}");
    }
}

#[test]
fn window_functions_take_as_many_arguments_as_their_forms_say() {
    let count = WindowFunction::by_name("count").unwrap();
    assert_eq!([0, 1, 2].map(|count_of| count.takes_count(count_of)), [true, true, false]);
    let mean = WindowFunction::by_name("mean").unwrap();
    assert_eq!(mean, WindowFunction::Aggregate(AggregateFunction::Avg));
    assert_eq!([0, 1, 2].map(|count_of| mean.takes_count(count_of)), [false, true, false]);
    let lead = WindowFunction::by_name("LEAD").unwrap();
    assert_eq!([0, 1, 3, 4].map(|count_of| lead.takes_count(count_of)), [false, true, true, false]);
}
