//! The names in Phoenix's catalog.

use std::collections::{BTreeMap, BTreeSet};

use saltwing_phoenix::{ListedKind, ListedTable};
use saltwing_types::TableName;

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: TableName,
    pub(super) kind: ListedKind,
}

/// The names of tables, views and indexes that are not of a tenant.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// By schema and name in lower case; several if they differ in case alone.
    objects: BTreeMap<(String, String), Vec<Listed>>,
}

fn key(schema: Option<&str>, name: &str) -> (String, String) {
    (schema.unwrap_or_default().to_lowercase(), name.to_lowercase())
}

impl Listing {
    pub(super) fn new(tables: impl IntoIterator<Item = ListedTable>) -> Self {
        let mut objects: BTreeMap<_, Vec<Listed>> = BTreeMap::new();
        for ListedTable { schema, name, kind, .. } in tables {
            let key = key(schema.as_deref(), &name);
            objects.entry(key).or_default().push(Listed { name: TableName { schema, name }, kind });
        }
        Self { objects }
    }

    /// All that has a name, in any case.
    pub(super) fn named(&self, schema: Option<&str>, name: &str) -> &[Listed] {
        self.objects.get(&key(schema, name)).map(Vec::as_slice).unwrap_or_default()
    }

    /// All names of tables and views. Of names that differ in case alone those come that a statement finds.
    pub(super) fn tables(&self) -> impl Iterator<Item = &TableName> {
        let is_table =
            |listed: &&Listed| matches!(listed.kind, ListedKind::System | ListedKind::Table | ListedKind::View);
        self.objects.values().filter_map(move |same| {
            let mut tables = same.iter().filter(is_table);
            let first = tables.next()?;
            let upper = || same.iter().filter(is_table).find(|listed| is_folded(&listed.name));
            if tables.next().is_none() { Some(&first.name) } else { upper().map(|listed| &listed.name) }
        })
    }

    /// The names of schemas, each once in any case.
    pub(super) fn schemas(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let schemas = self.objects.values().flatten().filter_map(|listed| listed.name.schema.as_deref());
        schemas.filter(|schema| known.insert(schema.to_lowercase())).collect()
    }
}

/// Whether it is the name that Phoenix makes of one without quotes.
pub(super) fn is_folded(name: &TableName) -> bool {
    name.name.to_uppercase() == name.name && name.schema.as_ref().is_none_or(|schema| schema.to_uppercase() == *schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(names: &[(&str, &str, ListedKind)]) -> Listing {
        Listing::new(names.iter().map(|(schema, name, kind)| ListedTable {
            tenant: None,
            schema: (!schema.is_empty()).then(|| (*schema).to_owned()),
            name: (*name).to_owned(),
            kind: *kind,
            data_table: None,
        }))
    }

    #[test]
    fn names_are_found_in_any_case() {
        let all = [
            ("", "T", ListedKind::Table),
            ("", "t", ListedKind::Table),
            ("", "low", ListedKind::Table),
            ("S", "V", ListedKind::View),
            ("s", "IX", ListedKind::Index),
            ("SYSTEM", "CATALOG", ListedKind::System),
        ];
        let listing = listing(&all);
        assert_eq!(listing.named(None, "LOW").len(), 1);
        assert_eq!(listing.named(None, "t").len(), 2);
        assert_eq!(listing.named(Some("s"), "v").first().unwrap().name.to_string(), "S.V");
        assert_eq!(listing.named(Some("x"), "v"), []);
        let tables: Vec<String> = listing.tables().map(ToString::to_string).collect();
        assert_eq!(tables, ["low", "T", "S.V", "SYSTEM.CATALOG"]);
        assert_eq!(listing.schemas(), ["s", "SYSTEM"]);
    }
}
