//! Privileges in `information_schema`, a row for each right of a user on a relation.

use super::cells::{Cell, row};
use super::information_columns::yes_or_no;
use super::relation::Entry;
use crate::definitions::{AclEntry, Definitions, Table};

const COLUMNS: &str = "grantor name, grantee name, table_catalog name, table_schema name, table_name name, privilege_type varchar, \
    is_grantable varchar, with_hierarchy varchar";
const OF_COLUMNS: &str = "grantor name, grantee name, table_catalog name, table_schema name, table_name name, column_name name, \
    privilege_type varchar, is_grantable varchar";

pub(super) static RELATIONS: &[Entry] = &[
    Entry::information("table_privileges", COLUMNS, |definitions| Ok(of_tables(definitions))),
    Entry::information("role_table_grants", COLUMNS, |definitions| Ok(of_tables(definitions))),
    Entry::information("column_privileges", OF_COLUMNS, |definitions| Ok(of_columns(definitions))),
    Entry::information("role_column_grants", OF_COLUMNS, |definitions| Ok(of_columns(definitions))),
];

/// The words for the letters of rights, and whether columns have the right.
pub(crate) const RIGHTS: &[(char, &str, bool)] = &[
    ('r', "SELECT", true),
    ('a', "INSERT", true),
    ('w', "UPDATE", true),
    ('d', "DELETE", false),
    ('D', "TRUNCATE", false),
    ('x', "REFERENCES", true),
    ('t', "TRIGGER", false),
    ('U', "USAGE", false),
];

/// Tables and views with the rights that were granted on them, or with those of the owner.
fn granted(definitions: &Definitions) -> impl Iterator<Item = (&Table, AclEntry)> {
    definitions.tables.iter().flat_map(|table| {
        let owner = || vec![AclEntry { user: definitions.owner.clone(), rights: "arwdDxt".to_owned() }];
        let entries = definitions.relation_acl(&table.schema, &table.name, false).unwrap_or_else(owner);
        entries.into_iter().map(move |entry| (table, entry))
    })
}

fn of_tables(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let rows = granted(definitions).flat_map(|(table, entry)| {
        let rights = RIGHTS.iter().filter(|(letter, ..)| entry.rights.contains(*letter));
        let row = |(letter, right, _): &(char, &str, bool)| {
            row![
                &definitions.owner,
                &entry.user,
                &definitions.database,
                &table.schema,
                &table.name,
                *right,
                yes_or_no(entry.user == definitions.owner),
                yes_or_no(*letter == 'r')
            ]
        };
        rights.map(row).collect::<Vec<_>>()
    });
    rows.collect()
}

fn of_columns(definitions: &Definitions) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, entry) in granted(definitions) {
        for (letter, right, _) in RIGHTS.iter().filter(|(.., has_columns)| *has_columns) {
            if !entry.rights.contains(*letter) {
                continue;
            }
            rows.extend(table.columns.iter().map(|column| {
                row![
                    &definitions.owner,
                    &entry.user,
                    &definitions.database,
                    &table.schema,
                    &table.name,
                    &column.name,
                    *right,
                    yes_or_no(entry.user == definitions.owner)
                ]
            }));
        }
    }
    rows
}
