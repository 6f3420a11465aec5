//! What result columns are called.
//!
//! DataFusion wants unique names in lower case; a result has labels as written or
//! declared, and they may repeat. So items get internal names, and the labels come
//! back at the end.

use std::collections::HashMap;

use arrow::datatypes::Field;

use crate::sql_field::declared_name;

/// Stands between a name and the number that makes it unique; in no name of a statement.
const MARK: char = '\u{2}';

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
        format!("{}{MARK}{}", plain(name), self.made_unique)
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

    /// The label of a result's column.
    pub(crate) fn of(&self, field: &Field) -> String {
        if let Some(label) = self.result.get(field.name()) {
            return label.clone();
        }
        let name = plain(field.name());
        let named = field.clone().with_name(name);
        let declared = declared_name(&named).or_else(|| self.aliases.get(name).map(String::as_str));
        match declared {
            Some(declared) => declared.to_owned(),
            // DataFusion numbers the columns of a derived table that has a name twice: `a:1`.
            None => match declared_name(&field.clone().with_name(without_number(name))) {
                Some(declared) => declared.to_owned(),
                None => name.to_owned(),
            },
        }
    }
}

/// The name without what made it unique.
pub(crate) fn plain(name: &str) -> &str {
    name.split_once(MARK).map_or(name, |(name, _)| name)
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
    use crate::sql_field::column_field;
    use arrow::datatypes::DataType;
    use saltwing_types::SqlType;

    #[test]
    fn labels_come_back() {
        let mut labels = Labels::default();
        let unique = labels.unique("a");
        labels.result(&unique, "A");
        let alias = labels.alias("Foo");
        let field = |name: &str| Field::new(name, DataType::Int64, true);
        assert_eq!(labels.of(&field(&unique)), "A");
        assert_eq!(labels.of(&field(&alias)), "Foo");
        let unique = labels.unique("foo");
        assert_eq!(labels.of(&field(&unique)), "Foo");
        assert_eq!(labels.of(&field("a + 1")), "a + 1");
        let phone = column_field("Phone", SqlType::BigInt, false);
        assert_eq!(labels.of(&phone), "Phone");
        assert_eq!(labels.of(&phone.with_name("phone:1")), "Phone");
    }
}
