//! `.indexes`: what finds the rows of a table without reading all of it.

use std::io::Write;

use crate::failure::Failure;
use crate::runner::Runner;

impl Runner<'_> {
    /// Prints the indexes of a table, or of all tables: today the primary key of each.
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
                None => writeln!(self.out, "{table}: no key was declared, so no condition finds its rows")?,
            }
        }
        writeln!(self.messages, "the primary key is a table's only index: there are no secondary indexes yet")?;
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
            let name = if is_computed { name } else { saltwing_sql::quote_name(&name) };
            let order = if order.is_empty() { "" } else { " DESC" };
            parts.push((place.parse().unwrap_or(usize::MAX), format!("{name}{order}")));
        }
        parts.sort();
        let names: Vec<String> = parts.into_iter().map(|(_, name)| name).collect();
        Ok((!names.is_empty()).then(|| names.join(", ")))
    }
}
