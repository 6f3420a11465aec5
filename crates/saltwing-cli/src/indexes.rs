//! `.indexes`: what finds the rows of a table without reading all of it.

use std::io::Write;

use saltwing_sql::quote_name;

use crate::failure::Failure;
use crate::runner::Runner;

impl Runner<'_> {
    /// Prints the indexes of a table, or of all tables: the primary key of each, and its secondary indexes.
    ///
    /// # Errors
    /// A name that no table has; a view.
    pub(crate) fn indexes(&mut self, table: Option<&str>) -> Result<(), Failure> {
        let tables = match table {
            Some(table) => vec![table.to_owned()],
            None => self.tables_and_views()?.0,
        };
        for table in &tables {
            match self.key_of(table)? {
                Some(key) => writeln!(self.out, "{table}: PRIMARY KEY ({key})")?,
                None => writeln!(self.out, "{table}: no key was declared")?,
            }
            self.secondary_indexes(table)?;
        }
        Ok(())
    }

    /// Prints the secondary indexes of a table.
    fn secondary_indexes(&mut self, table: &str) -> Result<(), Failure> {
        for row in self.connection.query(&format!("SHOW INDEXES FROM {table}"), ())? {
            let row = row?;
            let (name, key) = (quote_name(&row.get::<String>("index_name")?), row.get::<String>("key")?);
            let unique = if row.get::<String>("is_unique")? == "YES" { "UNIQUE " } else { "" };
            let kind = if row.get::<String>("kind")? == "local" { "LOCAL " } else { unique };
            let predicate = row.get::<Option<String>>("predicate")?.map(|condition| format!(" WHERE {condition}"));
            let include = row.get::<Option<String>>("include")?.map(|columns| format!(" INCLUDE ({columns})"));
            let state =
                Some(row.get::<String>("state")?).filter(|state| state != "ready").map(|state| format!(", {state}"));
            let [include, predicate, state] = [include, predicate, state].map(Option::unwrap_or_default);
            writeln!(self.out, "{table}: {kind}INDEX {name} ({key}){include}{predicate}{state}")?;
        }
        Ok(())
    }

    /// The columns of a table's key in their order; `None` of a table without one.
    fn key_of(&self, table: &str) -> Result<Option<String>, Failure> {
        let mut parts: Vec<(usize, String)> = Vec::new();
        for row in self.connection.query(&format!("DESCRIBE {table}"), ())? {
            let row = row?;
            let Some(key) = row.get::<Option<String>>("key")? else { continue };
            let (place, order) = key.split_once(' ').unwrap_or((key.as_str(), ""));
            let (name, note) = (row.get::<String>("name")?, row.get::<Option<String>>("note")?);
            // A computed part of the key is shown as it is written.
            let is_computed = note.is_some_and(|note| note.starts_with("computed from "));
            let name = if is_computed { name } else { quote_name(&name) };
            let order = if order.is_empty() { "" } else { " DESC" };
            parts.push((place.parse().unwrap_or(usize::MAX), format!("{name}{order}")));
        }
        parts.sort();
        let names: Vec<String> = parts.into_iter().map(|(_, name)| name).collect();
        Ok((!names.is_empty()).then(|| names.join(", ")))
    }
}
