//! Names of primary keys.

use saltwing_types::TableDef;

/// The name of the primary key, which has one in SHOW CREATE TABLE even if it was given none.
pub fn key_constraint(def: &TableDef) -> Option<&str> {
    (!def.has_hidden_key()).then(|| def.key_name.as_deref().unwrap_or("pk"))
}

/// The name that catalogs show for the primary key of a table, of the name that it was given: `t_pkey` without one, as in Postgres.
pub fn key_constraint_shown(table: &str, given: Option<&str>) -> String {
    match given {
        None | Some("pk") => format!("{table}_pkey"),
        Some(name) => name.to_owned(),
    }
}
