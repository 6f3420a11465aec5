//! The labels of result columns.
//!
//! DataFusion wants unique column names in lower case. The labels of a result keep the case in which they were written
//! or declared, and may repeat. So items get internal names before planning, and the result gets its labels back
//! afterwards.

use std::collections::HashMap;

use crate::expression::internal_name::PREFIX;

/// Labels by internal name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// Of the SELECT that names the result's columns.
    result: HashMap<String, String>,
    /// Of all other aliases, as spelt.
    aliases: HashMap<String, String>,
    made_unique: usize,
}

impl Labels {
    /// A name that no other item has.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        self.made_unique += 1;
        format!("{}{PREFIX}{}", plain(name), self.made_unique)
    }

    /// Notes how an alias was spelt; returns the name it goes by.
    pub(crate) fn alias(&mut self, spelt: &str) -> String {
        let name = spelt.to_lowercase();
        if name != spelt {
            self.aliases.entry(name.clone()).or_insert_with(|| spelt.to_owned());
        }
        name
    }

    /// Notes the label of an item of the SELECT that names the result's columns.
    pub(crate) fn result(&mut self, internal: &str, label: &str) {
        self.result.insert(internal.to_owned(), label.to_owned());
    }

    /// The label of a result's column: by its name in the plan, and the name of the table's column that it passes on.
    pub(crate) fn of(&self, name: &str, declared: Option<&str>) -> String {
        if let Some(label) = self.result.get(name) {
            return label.clone();
        }
        let name = plain(name);
        let declared_as = |name: &str| declared.filter(|declared| declared.to_lowercase() == name);
        let label = declared_as(name)
            .or_else(|| self.aliases.get(name).map(String::as_str))
            // DataFusion numbers the columns of a derived table that has a name twice: `a:1`.
            .or_else(|| declared_as(without_number(name)));
        label.unwrap_or(name).to_owned()
    }
}

/// The name without its unique suffix.
pub(crate) fn plain(name: &str) -> &str {
    name.split_once(PREFIX).map_or(name, |(name, _)| name)
}

fn without_number(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_back() {
        let mut labels = Labels::default();
        let unique = labels.unique("a");
        labels.result(&unique, "A");
        let alias = labels.alias("Foo");
        assert_eq!(labels.of(&unique, None), "A");
        assert_eq!(labels.of(&alias, None), "Foo");
        let unique = labels.unique("foo");
        assert_eq!(labels.of(&unique, None), "Foo");
        assert_eq!(labels.of("a + 1", None), "a + 1");
        assert_eq!(labels.of("phone", Some("Phone")), "Phone");
        assert_eq!(labels.of("phone:1", Some("Phone")), "Phone");
        assert_eq!(labels.of("other", Some("Phone")), "other");
    }
}
