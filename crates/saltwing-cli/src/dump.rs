//! `.dump`: SQL that recreates schemas, sequences, tables, rows and views; `.phoenix`: the same for Apache Phoenix.

use std::io::Write;

use saltwing::dynamic::DYNAMIC_COLUMNS;
use saltwing::syntax::quote_name;
use saltwing::text::literal;
use saltwing::{Error, ErrorCode, SqlType, TransactionState, Value, dynamic};

use crate::failure::Failure;
use crate::runner::Runner;

/// Rows of one UPSERT.
const ROWS: usize = 100;
/// Bytes of an UPSERT after which no more rows are added.
const BYTES: usize = 64 << 10;

/// The columns of a table, with those that are computed.
#[derive(Default)]
struct Columns {
    /// All columns, as a statement names them: with their families if two columns have the same name.
    names: Vec<String>,
    /// The positions of computed columns, which cannot be written.
    places: Vec<usize>,
    /// The sequences of identity columns, which are created with the table.
    sequences: Vec<String>,
    /// Whether an identity column accepts values only with OVERRIDING SYSTEM VALUE.
    counts_always: bool,
}

impl Runner<'_> {
    /// Prints the statements, with the rows of one snapshot; only for `table` if one is named.
    ///
    /// # Errors
    /// Errors of the reads; an open transaction that has failed; Ctrl-C.
    pub(crate) fn dump(&mut self, table: Option<&str>) -> Result<(), Failure> {
        let interrupt = self.interrupt.clone();
        let running = interrupt.begin();
        let (tables, views) = match table {
            Some(name) if self.is_view(name)? => (Vec::new(), vec![name.to_owned()]),
            Some(name) => (vec![name.to_owned()], Vec::new()),
            None => {
                let (mut tables, mut views) = self.tables_and_views()?;
                let temporary_views = self.temporary_among(&views)?;
                let temporary = [self.temporary_among(&tables)?, temporary_views.clone()].concat();
                tables.retain(|table| !temporary.contains(table));
                views.retain(|view| !temporary.contains(view));
                let mut names = tables.iter().chain(&views);
                if let Some(hidden) = names.find(|name| temporary.contains(&format!("temp.{name}"))) {
                    let kind = |is_view: bool| if is_view { "view" } else { "table" };
                    let (by, hides) = (temporary_views.contains(&format!("temp.{hidden}")), views.contains(hidden));
                    let text = format!(
                        "the temporary {} temp.{hidden} hides {} {hidden}: drop it first",
                        kind(by),
                        kind(hides)
                    );
                    return Err(Failure::Usage(text));
                }
                (tables, views)
            }
        };
        let own = self.sequences_of(&tables)?;
        if table.is_none() {
            self.dump_schemas()?;
            for sequence in self.names("SEQUENCES")?.into_iter().filter(|sequence| !own.contains(sequence)) {
                self.definition("SEQUENCE", &sequence)?;
                self.dump_position(&sequence)?;
            }
        }
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
        done.and_then(|()| own.iter().try_for_each(|sequence| self.dump_position(sequence)))?;
        drop(running);
        self.out.flush()?;
        Ok(())
    }

    /// Prints the statements of EXPORT, line by line, with the rows of one snapshot; only for `table` if one is named.
    ///
    /// # Errors
    /// As [`Runner::dump`].
    pub(crate) fn phoenix(&mut self, table: Option<&str>) -> Result<(), Failure> {
        let interrupt = self.interrupt.clone();
        let running = interrupt.begin();
        let is_alone = self.connection.transaction_state() == TransactionState::None;
        if is_alone {
            self.connection.execute("BEGIN READ ONLY", ())?;
        }
        let done = self.phoenix_statements(&format!("EXPORT {} AS PHOENIX", table.unwrap_or("ALL")));
        if is_alone {
            self.connection.execute("ROLLBACK", ())?;
        }
        drop(running);
        done.and_then(|()| Ok(self.out.flush()?))
    }

    fn phoenix_statements(&mut self, export: &str) -> Result<(), Failure> {
        for row in self.connection.query(export, ())? {
            if self.interrupt.came() {
                return Err(Failure::Interrupted("cancelled".into()));
            }
            writeln!(self.out, "{}", row?.get::<String>(0)?)?;
        }
        Ok(())
    }

    fn dump_schemas(&mut self) -> Result<(), Failure> {
        for row in self.connection.query("SHOW SCHEMAS", ())? {
            if let Some(name) = row?.get::<Option<String>>(0)? {
                writeln!(self.out, "CREATE SCHEMA IF NOT EXISTS {};", quote_name(&name))?;
            }
        }
        Ok(())
    }

    /// The temporary ones among these tables or views.
    fn temporary_among(&self, tables: &[String]) -> Result<Vec<String>, Failure> {
        let mut temporary = Vec::new();
        for table in tables.iter().filter(|table| table.starts_with("temp.")) {
            let mut create = self.connection.query(&format!("SHOW CREATE TABLE {table}"), ())?;
            let create = create.next().transpose()?.map(|row| row.get::<String>(0)).transpose()?;
            let is_temporary = create.is_some_and(|create| create.starts_with("CREATE TEMPORARY "));
            temporary.extend(is_temporary.then(|| table.clone()));
        }
        Ok(temporary)
    }

    /// Prints the position of a sequence: the restored sequence continues after the used values, and has no values if none are left.
    fn dump_position(&mut self, sequence: &str) -> Result<(), Failure> {
        let property = |name: &str| Ok::<_, Failure>(self.properties(sequence, name)?.into_iter().next());
        if let Some(next) = property("NEXT")? {
            writeln!(self.out, "ALTER SEQUENCE {sequence} RESTART WITH {next};")?;
            return Ok(());
        }
        let descends = property("INCREMENT")?.is_some_and(|increment| increment.starts_with('-'));
        if let Some(last) = property(if descends { "MINVALUE" } else { "MAXVALUE" })? {
            let name = Value::text(sequence);
            writeln!(self.out, "SELECT SETVAL({}, {last});", literal(&name, SqlType::Varchar(None)))?;
        }
        Ok(())
    }

    /// The sequences of the identity columns of tables.
    pub(crate) fn sequences_of(&mut self, tables: &[String]) -> Result<Vec<String>, Failure> {
        let mut sequences = Vec::new();
        for table in tables {
            sequences.extend(self.columns(table)?.sequences);
        }
        Ok(sequences)
    }

    fn is_view(&self, name: &str) -> Result<bool, Failure> {
        let mut is_view = false;
        for row in self.connection.query(&format!("DESCRIBE {name}"), ())? {
            is_view |= row?.get::<String>("type")? == "(view)";
        }
        Ok(is_view)
    }

    /// The columns of a table, with those that are computed.
    fn columns(&mut self, table: &str) -> Result<Columns, Failure> {
        let mut found = Columns::default();
        let mut named: Vec<(String, Option<String>)> = Vec::new();
        for (place, row) in self.connection.query(&format!("DESCRIBE {table}"), ())?.enumerate() {
            let row = row?;
            // The type of a column has no brackets around it.
            if !row.get::<String>("type")?.starts_with('(') {
                let note = row.get::<Option<String>>("note")?.unwrap_or_default();
                let family = note.split("; ").find_map(|note| note.strip_prefix("family ")).map(str::to_owned);
                named.push((row.get("name")?, family));
            }
            let default = row.get::<Option<String>>(4)?.unwrap_or_default();
            if default.starts_with("GENERATED ALWAYS AS (") {
                found.places.push(place);
            } else if default.ends_with("AS IDENTITY") && default.starts_with("GENERATED ") {
                let note = row.get::<Option<String>>(5)?.unwrap_or_default();
                let sequence = note.split("; ").find_map(|note| note.strip_prefix("sequence "));
                found.sequences.extend(sequence.map(str::to_owned));
                found.counts_always |= default == "GENERATED ALWAYS AS IDENTITY";
            }
        }
        let is_shared = |name: &str| named.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).count() > 1;
        let written = named.iter().map(|(name, family)| match family {
            Some(family) if is_shared(name) => format!("{}.{}", quote_name(family), quote_name(name)),
            _ => quote_name(name),
        });
        found.names = written.collect();
        Ok(found)
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

    fn dump_rows(&mut self, table: &str) -> Result<(), Failure> {
        let columns = self.columns(table)?;
        let all = |items: &str| format!("SELECT /*+ FULL_SCAN */ {items} FROM {table}");
        // A table that has had dynamic columns keeps them in a hidden column. Whether it has one is found without running a
        // statement, whose failure would end the transaction.
        let with_dynamic = all(&format!("*, {DYNAMIC_COLUMNS}"));
        let has_dynamic = match self.connection.prepare(&with_dynamic) {
            Err(error) if error.code() == ErrorCode::NoSuchColumn => false,
            prepared => prepared.map(|_| true)?,
        };
        let rows = self.connection.query(&if has_dynamic { with_dynamic } else { all("*") }, ())?;
        let mut types: Vec<_> = rows.columns().iter().map(|column| column.ty).collect();
        if has_dynamic {
            types.pop();
        }
        let is_written = |place: &usize| !columns.places.contains(place);
        let names = columns.names.iter().enumerate().filter(|(place, _)| is_written(place));
        let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
        let overriding = if columns.counts_always { " OVERRIDING SYSTEM VALUE" } else { "" };
        let head = format!("UPSERT INTO {table} ({}){overriding} VALUES", names.join(", "));
        let (mut count, mut bytes) = (0, 0);
        for row in rows {
            if self.interrupt.came() {
                return Err(Failure::Interrupted("cancelled".into()));
            }
            let row = row?;
            let values = row.values()?;
            let dynamic = values.get(types.len()).and_then(Value::as_text);
            let values = values.iter().zip(&types).enumerate().filter(|(place, _)| is_written(place));
            let values: Vec<String> = values.map(|(_, (value, ty))| literal(value, *ty)).collect();
            if let Some(dynamic) = dynamic {
                if count > 0 {
                    writeln!(self.out, ";")?;
                    (count, bytes) = (0, 0);
                }
                let (columns, more) = dynamic_columns(dynamic)?;
                let (columns, values) = (names.join(", ") + &columns, values.join(", ") + &more);
                writeln!(self.out, "UPSERT INTO {table} ({columns}){overriding} VALUES\n({values});")?;
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

/// The dynamic columns of a row after its others: their names with types, and their values.
fn dynamic_columns(row: &str) -> Result<(String, String), Failure> {
    let (mut columns, mut values) = (String::new(), String::new());
    for (name, (ty, value)) in dynamic::entries(row).map_err(Error::from)? {
        let path = name.split('.').map(saltwing::syntax::quote_name).collect::<Vec<_>>().join(".");
        columns.push_str(&format!(", {path} {ty}"));
        values.push_str(&format!(", {}", literal(&value, ty)));
    }
    Ok((columns, values))
}
