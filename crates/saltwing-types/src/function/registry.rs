//! Functions by name.

use std::sync::LazyLock;

use super::{Function, ScalarFunction};

/// The lists of all subjects.
static SUBJECTS: [&[&ScalarFunction]; 10] = [
    super::characters::ALL,
    super::conditional::ALL,
    super::datetime::ALL,
    super::hash::ALL,
    super::numeric::ALL,
    super::padding::ALL,
    super::power::ALL,
    super::regexp::ALL,
    super::substring::ALL,
    super::text::ALL,
];

/// Names and aliases in alphabetical order.
static BY_NAME: LazyLock<Vec<(&'static str, Function)>> = LazyLock::new(|| {
    let functions = SUBJECTS.into_iter().flatten().copied();
    let names = |function: &'static ScalarFunction| {
        let all = std::iter::once(&function.name).chain(function.aliases);
        all.map(move |name| (*name, Function(function)))
    };
    let mut names: Vec<_> = functions.flat_map(names).collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    names
});

pub(super) fn sorted() -> impl Iterator<Item = Function> {
    BY_NAME.iter().filter(|(name, function)| *name == function.name).map(|(_, function)| *function)
}

pub(super) fn find(name: &str) -> Option<Function> {
    let name = name.to_ascii_uppercase();
    let place = BY_NAME.binary_search_by_key(&name.as_str(), |(name, _)| name).ok()?;
    BY_NAME.get(place).map(|(_, function)| *function)
}
