//! `.dump`: SQL that makes the same schemas, sequences, tables, rows and views again.

use std::io::Write;

use saltwing::dynamic::DYNAMIC_COLUMNS;
use saltwing::text::literal;
use saltwing::{Error, ErrorCode, TransactionState, Value, dynamic};

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
        let done = done.and_then(|()| views.iter().try_for_each(|view| self.definition("TABLE", view)));
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

    /// A restored sequence goes on behind the values that were given out. Only its next value tells where that is, so one
    /// is taken of each.
    fn dump_sequences(&mut self) -> Result<(), Failure> {
        for sequence in self.names("SEQUENCES")? {
            self.definition("SEQUENCE", &sequence)?;
            match self.connection.query_one::<(i64,)>(&format!("SELECT NEXT VALUE FOR {sequence}"), ()) {
                Ok((next,)) => writeln!(self.out, "ALTER SEQUENCE {sequence} RESTART WITH {next};")?,
                Err(error) => writeln!(self.out, "-- the values of {sequence} begin again: {error}")?,
            }
        }
        Ok(())
    }

    fn dump_rows(&mut self, table: &str) -> Result<(), Failure> {
        let all = |items: &str| format!("SELECT /*+ FULL_SCAN */ {items} FROM {table}");
        // A table that has had dynamic columns keeps them in a hidden column.
        let with_dynamic = self.connection.query(&all(&format!("*, {DYNAMIC_COLUMNS}")), ());
        let (rows, has_dynamic) = match with_dynamic {
            Err(error) if error.code() == ErrorCode::NoSuchColumn => (self.connection.query(&all("*"), ())?, false),
            rows => (rows?, true),
        };
        let mut types: Vec<_> = rows.columns().iter().map(|column| column.ty).collect();
        let mut names: Vec<_> = rows.columns().iter().map(|column| saltwing_sql::quote_name(&column.label)).collect();
        if has_dynamic {
            types.pop();
            names.pop();
        }
        let head = format!("UPSERT INTO {table} ({}) VALUES", names.join(", "));
        let (mut count, mut bytes) = (0, 0);
        for row in rows {
            if self.interrupt.came() {
                return Err(Failure::Interrupted("cancelled".into()));
            }
            let row = row?;
            let values = row.values()?;
            let dynamic = values.get(types.len()).and_then(Value::as_text);
            let values: Vec<String> = values.iter().zip(&types).map(|(value, ty)| literal(value, *ty)).collect();
            if let Some(dynamic) = dynamic {
                if count > 0 {
                    writeln!(self.out, ";")?;
                    (count, bytes) = (0, 0);
                }
                let (columns, more) = dynamic_columns(dynamic)?;
                let (columns, values) = (names.join(", ") + &columns, values.join(", ") + &more);
                writeln!(self.out, "UPSERT INTO {table} ({columns}) VALUES\n({values});")?;
                continue;
            }
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

/// The dynamic columns of a row behind its others: their names with types, and their values.
fn dynamic_columns(row: &str) -> Result<(String, String), Failure> {
    let (mut columns, mut values) = (String::new(), String::new());
    for (name, (ty, value)) in dynamic::entries(row).map_err(Error::from)? {
        let path = name.split('.').map(saltwing_sql::quote_name).collect::<Vec<_>>().join(".");
        columns.push_str(&format!(", {path} {ty}"));
        values.push_str(&format!(", {}", literal(&value, ty)));
    }
    Ok((columns, values))
}
