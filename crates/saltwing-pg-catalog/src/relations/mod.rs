//! The relations of `pg_catalog` and `information_schema`, made of the definitions of a database.
//!
//! ```text
//! definitions ──a row for each object──> cells ──by the types of the columns──> Arrow batches
//! ```
//!
//! A relation is a name, its columns as PostgreSQL 15 has them, and its rows. What Saltwing does not have is an empty relation.

mod attributes;
mod cells;
mod classes;
mod constraints;
mod descriptions;
mod empty;
mod empty_information;
mod empty_statistics;
mod functions;
mod indexes;
mod information_columns;
mod information_constraints;
mod information_lists;
mod information_privileges;
mod keywords;
mod lists;
mod namespaces;
mod numbers;
mod object_text;
mod relation;
mod roles;
mod session_rows;
mod statistics;
mod type_tree;
mod types;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use self::cells::Cell;
pub(crate) use self::classes::class_names;
pub(crate) use self::descriptions::descriptions;
pub(crate) use self::functions::function_names;
pub(crate) use self::object_text::{constraint_text, index_part_text, index_text, quoted, sequence_of};
pub(crate) use self::relation::{Attribute, INFORMATION_SCHEMA_NAME, PG_CATALOG_NAME, Relation};
pub(crate) use self::roles::DATABASE;

/// All relations.
pub(crate) static RELATIONS: LazyLock<Vec<Relation>> = LazyLock::new(|| {
    let entries = [
        namespaces::RELATIONS,
        roles::RELATIONS,
        classes::RELATIONS,
        attributes::RELATIONS,
        indexes::RELATIONS,
        constraints::RELATIONS,
        types::RELATIONS,
        functions::RELATIONS,
        descriptions::RELATIONS,
        lists::RELATIONS,
        statistics::RELATIONS,
        session_rows::RELATIONS,
        information_columns::RELATIONS,
        information_constraints::RELATIONS,
        information_lists::RELATIONS,
        information_privileges::RELATIONS,
        keywords::RELATIONS,
        numbers::RELATIONS,
        type_tree::RELATIONS,
        empty::RELATIONS,
        empty_information::RELATIONS,
        empty_statistics::RELATIONS,
    ];
    entries.into_iter().flatten().enumerate().map(|(place, entry)| Relation::new(entry, place)).collect()
});

/// The relations by schema and name.
static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), &'static Relation>> =
    LazyLock::new(|| RELATIONS.iter().map(|relation| ((relation.schema, relation.name), relation)).collect());

/// The relation of this schema and name, both in lower case.
pub(crate) fn relation_named(schema: &str, name: &str) -> Option<&'static Relation> {
    BY_NAME.get(&(schema, name)).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_relation_has_a_name_and_a_number_of_its_own() {
        let mut oids = HashSet::new();
        for relation in RELATIONS.iter() {
            assert!(oids.insert(relation.oid), "{}", relation.name);
            assert!(!relation.attributes.is_empty(), "{}", relation.name);
        }
        assert_eq!(BY_NAME.len(), RELATIONS.len());
    }
}
