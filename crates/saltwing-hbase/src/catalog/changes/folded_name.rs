//! Names of new objects, as Phoenix has them.

use saltwing_phoenix::TableDefinition;
use saltwing_types::TableName;

/// The name that Phoenix finds if a statement writes it without quotes: a name of letters, digits and underscores is in upper case. Names with other characters need
/// quotes there, and stay as they are.
pub(super) fn folded(name: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part);
    if is_plain { name.to_ascii_uppercase() } else { name.to_owned() }
}

/// As [`folded`], of a table.
pub(super) fn folded_table(name: &TableName) -> TableName {
    TableName { schema: name.schema.as_deref().map(folded), name: folded(&name.name) }
}

/// The name of a definition.
pub(super) fn name_of(definition: &TableDefinition) -> TableName {
    TableName { schema: definition.schema.clone(), name: definition.name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_in_upper_case() {
        for (name, phoenix) in [("t", "T"), ("My_Table2", "MY_TABLE2"), ("a b", "a b"), ("é", "é"), ("_x", "_x")] {
            assert_eq!(folded(name), phoenix);
        }
    }
}
