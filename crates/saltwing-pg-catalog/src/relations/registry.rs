//! All relations of the catalog, by their names.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::relation::Relation;
use super::{
    attributes, classes, constraints, dependencies, descriptions, empty, empty_information, empty_statistics,
    functions, indexes, information_columns, information_constraints, information_lists, information_privileges,
    keywords, lists, namespaces, numbers, roles, session_rows, statistics, type_tree, types,
};

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
        dependencies::RELATIONS,
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
