//! Functions by name: in SQL, and in stored expressions.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Function, ScalarFunction};
use crate::calendar::DateField;

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

/// The form of a function in a stored expression.
///
/// It is written by its name. Databases of version 0.1 have names without underscores in any case (`DateTrunc`), and the
/// functions of date fields as `{"Extract": "Year"}`: these are read, too.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Name(String),
    Field {
        #[serde(rename = "Extract")]
        extract: DateField,
    },
}

impl Serialize for Function {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for Function {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = match Stored::deserialize(deserializer)? {
            Stored::Field { extract } => return Ok(Self::extract(extract)),
            Stored::Name(name) => name,
        };
        let letters = |name: &str| name.replace('_', "").to_ascii_uppercase();
        let found = find(&name).or_else(|| sorted().find(|function| letters(function.name) == letters(&name)));
        found.ok_or_else(|| serde::de::Error::custom(format!("no function {name}")))
    }
}
