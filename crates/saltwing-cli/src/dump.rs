//! `.dump`: SQL that makes the same schemas, sequences, tables, rows and views again.

use std::io::Write;

use saltwing::TransactionState;
use saltwing::text::literal;

use crate::failure::Failure;
use crate::runner::Runner;

/// Rows of one UPSERT.
const ROWS: usize = 100;
/// Bytes of an UPSERT after which it takes no more rows.
const BYTES: usize = 64 << 10;

impl Runner<'_> {
    /// Prints the statements, all of one snapshot; of `table` only if one is named.
    ///
    /// # Errors
    /// Those of the reads; an open transaction that failed; Ctrl-C.
    pub(crate) fn dump(&mut self, table: Option<&str>) -> Result<(), Failure> {
        let interrupt = self.interrupt.clone();
        let running = interrupt.begin();
        if table.is_none() {
            self.dump_schemas()?;
            self.dump_sequences()?;
        }
        let (tables, views) = match table {
            Some(table) => (vec![table.to_owned()], Vec::new()),
            None => self.tables_and_views()?,
        };
        let is_alone = self.connection.transaction_state() == TransactionState::None;
        if is_alone {
            self.connection.execute("BEGIN READ ONLY", ())?;
        }
        let done = tables.iter().try_for_each(|table| {
            self.definition("TABLE", table)?;
            self.dump_rows(table)
        });
        let done = done.and_then(|()| {
            let views = self.in_order_of_use(views)?;
            views.iter().try_for_each(|view| self.definition("TABLE", view))
        });
        if is_alone {
            self.connection.execute("ROLLBACK", ())?;
        }
        drop(running);
        done.and_then(|()| Ok(self.out.flush()?))
    }

    fn dump_schemas(&mut self) -> Result<(), Failure> {
        for row in self.connection.query("SHOW SCHEMAS", ())? {
            if let Some(name) = row?.get::<Option<String>>(0)? {
                writeln!(self.out, "CREATE SCHEMA IF NOT EXISTS {};", saltwing_sql::quote_name(&name))?;
            }
        }
        Ok(())
    }

    /// A restored sequence goes on behind the values that were given out.
    fn dump_sequences(&mut self) -> Result<(), Failure> {
        for sequence in self.names("SEQUENCES")? {
            self.definition("SEQUENCE", &sequence)?;
            match self.properties(&sequence, "NEXT")?.into_iter().next() {
                Some(next) => writeln!(self.out, "ALTER SEQUENCE {sequence} RESTART WITH {next};")?,
                None => writeln!(self.out, "-- {sequence} has no more values; here it begins again")?,
            }
        }
        Ok(())
    }

    /// The values of a property of a view or sequence, as DESCRIBE shows it.
    fn properties(&self, object: &str, property: &str) -> Result<Vec<String>, Failure> {
        let mut values = Vec::new();
        for row in self.connection.query(&format!("DESCRIBE {object}"), ())? {
            let row = row?;
            // The type of a column has no brackets around it.
            if row.get::<String>("type")?.starts_with('(') && row.get::<String>("name")? == property {
                values.extend(row.get::<Option<String>>("default")?);
            }
        }
        Ok(values)
    }

    /// Views behind the views that they use.
    pub(crate) fn in_order_of_use(&self, views: Vec<String>) -> Result<Vec<String>, Failure> {
        let mut waiting = Vec::with_capacity(views.len());
        for view in views {
            let uses = self.properties(&view, "USES")?;
            waiting.push((view, uses));
        }
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let names: Vec<String> = waiting.iter().map(|(view, _)| view.clone()).collect();
            let is_free = |uses: &[String]| !uses.iter().any(|name| names.contains(name));
            let (free, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, uses)| is_free(uses));
            // A view cannot use itself by way of others.
            let stuck = free.is_empty();
            debug_assert!(!stuck, "views use each other: {names:?}");
            ordered.extend(free.into_iter().map(|(view, _)| view));
            if stuck {
                ordered.extend(rest.into_iter().map(|(view, _)| view));
                break;
            }
            waiting = rest;
        }
        Ok(ordered)
    }

    fn dump_rows(&mut self, table: &str) -> Result<(), Failure> {
        let rows = self.connection.query(&format!("SELECT /*+ FULL_SCAN */ * FROM {table}"), ())?;
        let types: Vec<_> = rows.columns().iter().map(|column| column.ty).collect();
        let names: Vec<_> = rows.columns().iter().map(|column| saltwing_sql::quote_name(&column.label)).collect();
        let head = format!("UPSERT INTO {table} ({}) VALUES", names.join(", "));
        let (mut count, mut bytes) = (0, 0);
        for row in rows {
            if self.interrupt.came() {
                return Err(Failure::Interrupted("cancelled".into()));
            }
            let values: Vec<String> =
                row?.values()?.iter().zip(&types).map(|(value, ty)| literal(value, *ty)).collect();
            let row = format!("({})", values.join(", "));
            match count {
                0 => write!(self.out, "{head}\n{row}")?,
                _ => write!(self.out, ",\n{row}")?,
            }
            (count, bytes) = (count + 1, bytes + row.len());
            if count == ROWS || bytes >= BYTES {
                writeln!(self.out, ";")?;
                (count, bytes) = (0, 0);
            }
        }
        if count > 0 {
            writeln!(self.out, ";")?;
        }
        Ok(())
    }
}
