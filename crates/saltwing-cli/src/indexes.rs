//! `.indexes`: the primary key and the secondary indexes of tables.

use std::io::Write;

use saltwing::syntax::quote_name;

use crate::catalog_names::is_computed;
use crate::failure::Failure;
use crate::runner::Runner;

/// A part of a table's key.
pub(crate) struct KeyPart {
    /// The column, or the expression that computes the part, as statements write it.
    pub(crate) name: String,
    pub(crate) is_descending: bool,
}

impl Runner<'_> {
    /// Prints the indexes of a table, or of all tables: the primary key of each, and its secondary indexes.
    ///
    /// # Errors
    /// The table does not exist, or is a view.
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

    /// The primary key in the definition of a table; `None` for a table without one.
    fn key_of(&self, table: &str) -> Result<Option<String>, Failure> {
        let parts = self.key_parts(table)?;
        let parts: Vec<String> =
            parts.into_iter().map(|part| part.name + if part.is_descending { " DESC" } else { "" }).collect();
        Ok((!parts.is_empty()).then(|| parts.join(", ")))
    }

    /// The parts of a table's key, in order.
    ///
    /// # Errors
    /// The table does not exist.
    pub(crate) fn key_parts(&self, table: &str) -> Result<Vec<KeyPart>, Failure> {
        let mut parts: Vec<(usize, KeyPart)> = Vec::new();
        for row in self.connection.query(&format!("DESCRIBE {table}"), ())? {
            let row = row?;
            let Some(key) = row.get::<Option<String>>("key")? else { continue };
            let (place, order) = key.split_once(' ').unwrap_or((key.as_str(), ""));
            let name = row.get::<String>("name")?;
            let name = if is_computed(&row) { name } else { quote_name(&name) };
            parts.push((place.parse().unwrap_or(usize::MAX), KeyPart { name, is_descending: !order.is_empty() }));
        }
        parts.sort_by_key(|(place, _)| *place);
        Ok(parts.into_iter().map(|(_, part)| part).collect())
    }
}
