//! EXPORT .. AS PHOENIX: statements that make the same tables, rows, sequences and views in Apache Phoenix.
//!
//! Each statement is a row of text and ends with `;`. A part that Phoenix does not support is left out of its statement, and a comment
//! before the statement gives the reason. A table whose key Phoenix does not support is refused if EXPORT names it, and becomes a comment
//! if it is one of many.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use saltwing_bind::{ParamValues, ResultColumn, column_path, is_phoenix_option, key_constraint, resolve, table_path};
use saltwing_exec::select::result_schema;
use saltwing_expr::value_at;
use saltwing_sql::statement::{Export, ExportedObjects};
use saltwing_sql::{Statement, parse_one};
use saltwing_types::dynamic::{self, DYNAMIC_COLUMNS};
use saltwing_types::table::{DefaultKind, IMMUTABLE_ROWS, SPLIT_KEYS, is_same_name};
use saltwing_types::{ColumnDef, ErrorCode, SequenceDef, SortOrder, SqlType, TableDef, TableName, Value};

use crate::Error;
use crate::outcome::{BatchSource, RowsOutcome, Running};
use crate::phoenix_index::index_lines;
use crate::phoenix_literal::{phoenix_literal, phoenix_type};
use crate::phoenix_name::{path, phoenix_column, phoenix_name, phoenix_path};
use crate::phoenix_view::view_lines;
use crate::queries::run_query;
use crate::session::Session;
use crate::text_rows::text_columns;

/// Rows of text in a batch.
const ROWS_AT_ONCE: usize = 1_000;

/// The statements, table by table as the caller reads them. The rows of each table are of one snapshot; inside a transaction all rows
/// are of its snapshot.
pub(crate) fn export(session: &Session, export: &Export) -> Result<RowsOutcome, Error> {
    let context = session.begin();
    let mut parts = VecDeque::new();
    match &export.objects {
        ExportedObjects::Table(name) => {
            let table = resolve(&*session.catalog()?, name)?;
            if let Some(reason) = refusal(table.def()) {
                let text = format!("{} has no form in Phoenix: {reason}", table.def().name);
                return Err(Error::new(ErrorCode::NotSupported, text).at(Some(name.span())));
            }
            parts.push_back(Part::Lines(table_lines(table.def())));
            parts.push_back(Part::Rows(table.def().clone()));
        }
        ExportedObjects::Schema(name) => {
            let catalog = session.catalog()?;
            if !catalog.has_schema(&name.text)? {
                let error = Error::new(ErrorCode::NoSuchSchema, format!("no schema {}", name.text));
                return Err(error.at(Some(name.span)));
            }
            let schema = catalog.canonical_schema(&name.text)?;
            let is_in = |of: &TableName| is_same_name(of.schema.as_deref().unwrap_or_default(), schema);
            export_all(session, Some(schema), is_in, &mut parts)?;
        }
        ExportedObjects::All => export_all(session, None, |_| true, &mut parts)?,
    }
    let columns: Arc<[ResultColumn]> = text_columns(&["statement"]).into();
    let mut rows = ExportRows { session: session.clone(), parts, table: None, lines: VecDeque::new() };
    let running = Running::new(context, Vec::new(), Vec::new());
    Ok(RowsOutcome::running(columns, BatchSource::Texts(Box::new(move || rows.next())), running))
}

fn export_all(
    session: &Session,
    schema: Option<&str>,
    is_in: impl Fn(&TableName) -> bool,
    parts: &mut VecDeque<Part>,
) -> Result<(), Error> {
    let catalog = session.catalog()?;
    let schemas = catalog.schemas()?.into_iter().filter(|it| schema.is_none_or(|s| is_same_name(s, &it.name)));
    let mut lines: Vec<String> =
        schemas.map(|it| format!("CREATE SCHEMA IF NOT EXISTS {};", phoenix_name(&it.name))).collect();
    for sequence in catalog.sequences()?.iter().filter(|sequence| is_in(&sequence.name)) {
        lines.push(sequence_text(sequence));
    }
    parts.push_back(Part::Lines(lines));
    // Temporary tables are exported only if they are named.
    let is_left_out = |table: &TableDef| schema.is_none() && catalog.is_temporary(table);
    let is_hidden = |of: &TableDef| of.name.schema.is_none() && catalog.hides(&of.name.name);
    let reason = |table: &TableDef| match is_hidden(table) && !catalog.is_temporary(table) {
        true => Some("a temporary table of the connection hides it".to_owned()),
        false => refusal(table),
    };
    let tables = catalog.tables()?;
    for table in tables.iter().filter(|table| is_in(&table.def().name) && !is_left_out(table.def())) {
        match reason(table.def()) {
            Some(reason) => {
                parts.push_back(Part::Lines(vec![format!("-- {} is left out: {reason}", table.def().name)]));
            }
            None => {
                parts.push_back(Part::Lines(table_lines(table.def())));
                parts.push_back(Part::Rows(table.def().clone()));
            }
        }
    }
    let views = view_lines(&*catalog, is_in, |table| reason(table).is_none())?;
    parts.push_back(Part::Lines(views));
    Ok(())
}

/// A part of an export, in the order of the statements.
enum Part {
    Lines(Vec<String>),
    /// The rows of a table.
    Rows(Arc<TableDef>),
}

/// The rows of an export, read table by table.
struct ExportRows {
    session: Session,
    parts: VecDeque<Part>,
    table: Option<TableRows>,
    lines: VecDeque<String>,
}

struct TableRows {
    rows: RowsOutcome,
    table: String,
    /// The columns of the rows, by their names in Phoenix. If the table has dynamic columns, those of a row follow as one value.
    columns: Vec<(String, SqlType)>,
}

impl ExportRows {
    /// The next texts; `None` at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        while self.lines.len() < ROWS_AT_ONCE && self.read()? {}
        let count = self.lines.len().min(ROWS_AT_ONCE);
        if count == 0 {
            return Ok(None);
        }
        let texts: StringArray = self.lines.drain(..count).map(Some).collect();
        let schema = result_schema(&text_columns(&["statement"]));
        Ok(Some(RecordBatch::try_new(schema, vec![Arc::new(texts)]).map_err(saltwing_access::TableError::from)?))
    }

    /// Reads the next batch of rows, or continues with the next part; `false` at the end.
    fn read(&mut self) -> Result<bool, Error> {
        let Some(table) = &mut self.table else {
            match self.parts.pop_front() {
                None => return Ok(false),
                Some(Part::Lines(lines)) => self.lines.extend(lines),
                Some(Part::Rows(def)) => self.table = Some(self.open(&def)?),
            }
            return Ok(true);
        };
        match table.rows.source.next_blocking(&table.rows.columns)? {
            None => self.table = None,
            Some(batch) => {
                for row in 0..batch.num_rows() {
                    self.lines.push_back(table.statement(&batch, row)?);
                }
            }
        }
        Ok(true)
    }

    fn open(&self, def: &TableDef) -> Result<TableRows, Error> {
        let shown: Vec<&ColumnDef> = def.columns.iter().filter(|column| !column.hidden).collect();
        let mut items: Vec<String> = shown.iter().map(|column| column_path(def, column)).collect();
        items.extend(def.column_index(DYNAMIC_COLUMNS).map(|_| DYNAMIC_COLUMNS.to_owned()));
        // EXPORT names the whole table, so the guard must not refuse the full scan.
        let text = format!("SELECT /*+ FULL_SCAN */ {} FROM {}", items.join(", "), table_path(&def.name));
        let Statement::Query(query) = parse_one(&text)?.statement else {
            return Err(Error::new(ErrorCode::Bug, "a SELECT was read as another statement"));
        };
        let rows = run_query(&self.session, &query, ParamValues::NONE)?;
        let columns = shown.iter().map(|column| (phoenix_column(def, column), column.ty)).collect();
        Ok(TableRows { rows, table: phoenix_path(&def.name), columns })
    }
}

impl TableRows {
    /// The UPSERT of a row, after a comment for each value that Phoenix does not support.
    fn statement(&self, batch: &RecordBatch, row: usize) -> Result<String, Error> {
        let mut upsert = Upsert::default();
        for (place, (name, ty)) in self.columns.iter().enumerate() {
            let value = match batch.columns().get(place) {
                Some(array) => value_at(array, row, *ty)?,
                None => Value::Null,
            };
            upsert.push(name.clone(), &value, *ty);
        }
        if let Some(array) = batch.columns().get(self.columns.len())
            && let Value::Text(entries) = value_at(array, row, SqlType::Varchar(None))?
        {
            for (name, (ty, value)) in dynamic::entries(&entries).map_err(saltwing_access::TableError::from)? {
                let name = match name.split_once('.') {
                    Some((family, name)) => path(Some(family), name),
                    None => phoenix_name(&name),
                };
                upsert.push(format!("{name} {}", phoenix_type(ty).0), &value, ty);
            }
        }
        Ok(upsert.into_text(&self.table))
    }
}

/// An UPSERT of one row.
#[derive(Default)]
struct Upsert {
    notes: String,
    columns: Vec<String>,
    values: Vec<String>,
}

impl Upsert {
    /// `column` is a name; for a dynamic column, with its type.
    fn push(&mut self, column: String, value: &Value, ty: SqlType) {
        let literal = phoenix_literal(value, ty);
        for note in literal.notes {
            self.notes.push_str(&format!("-- {column}: {note}\n"));
        }
        self.columns.push(column);
        self.values.push(literal.text);
    }

    fn into_text(self, table: &str) -> String {
        let Self { notes, columns, values } = self;
        format!("{notes}UPSERT INTO {table} ({}) VALUES ({});", columns.join(", "), values.join(", "))
    }
}

/// The reason why Phoenix does not support the table, if there is one.
fn refusal(def: &TableDef) -> Option<String> {
    let mut columns = def.columns.iter().enumerate();
    if columns.any(|(index, column)| column.hidden && def.key.position(index).is_some()) {
        return Some("it has no PRIMARY KEY, which tables of Phoenix have".to_owned());
    }
    let computed = def.key.columns.iter().find(|part| part.computed().is_some());
    computed.map(|part| format!("its key has the part {}, and keys of Phoenix are columns alone", part.name))
}

/// The options of a table with dynamic columns. By default Phoenix stores other columns under numbers, and then a view's own columns are
/// not the dynamic columns of the same names.
fn dynamic_options(def: &TableDef) -> Vec<(&'static str, &'static str)> {
    if def.column_index(DYNAMIC_COLUMNS).is_none() {
        return Vec::new();
    }
    let is_immutable = def.option(IMMUTABLE_ROWS) == Some(&Value::Bool(true));
    let scheme = is_immutable.then_some(("IMMUTABLE_STORAGE_SCHEME", "ONE_CELL_PER_COLUMN"));
    std::iter::once(("COLUMN_ENCODED_BYTES", "0")).chain(scheme).collect()
}

/// CREATE TABLE, with comments on the parts that are left out.
fn table_lines(def: &TableDef) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for (index, column) in def.columns.iter().enumerate().filter(|(_, column)| !column.hidden) {
        let (ty, note) = phoenix_type(column.ty);
        let name = path(def.family_name(column), &column.name);
        notes.extend(note.map(|note| format!("{name} is {}: {note}", column.ty)));
        let not_null = match def.key.position(index) {
            Some(place) => !def.key.columns.get(place).is_some_and(|part| part.nullable),
            None => {
                let note = "Phoenix has NOT NULL behind the key for immutable tables alone";
                notes.extend((!column.nullable).then(|| format!("{name} is NOT NULL: {note}")));
                false
            }
        };
        let default = match &column.default {
            Some(default) => match (&default.kind, &default.expr) {
                (DefaultKind::Constant, saltwing_types::Expr::Literal(value, _)) => {
                    format!(" DEFAULT {}", phoenix_literal(value, column.ty).text)
                }
                (kind, _) => {
                    notes.push(match kind {
                        DefaultKind::Generated => {
                            format!("{name} is generated as {}: Phoenix has no generated columns", default.text)
                        }
                        DefaultKind::Identity(_) => format!("{name} counts by itself: Phoenix has sequences alone"),
                        _ => format!("{name} has DEFAULT {}: Phoenix has constants alone", default.text),
                    });
                    String::new()
                }
            },
            None => String::new(),
        };
        lines.push(format!("    {name} {ty}{}{default}", if not_null { " NOT NULL" } else { "" }));
    }
    let parts = def.key.columns.iter().map(|part| {
        let desc = if part.order == SortOrder::Desc { " DESC" } else { "" };
        let row_timestamp = if def.is_row_timestamp(part) { " ROW_TIMESTAMP" } else { "" };
        format!("{}{desc}{row_timestamp}", phoenix_name(&part.name))
    });
    let name = phoenix_name(key_constraint(def).unwrap_or("pk"));
    lines.push(format!("    CONSTRAINT {name} PRIMARY KEY ({})", parts.collect::<Vec<_>>().join(", ")));
    notes.extend(def.checks.iter().map(|check| format!("CHECK ({}): Phoenix has no CHECK", check.text)));
    let mut options = Vec::new();
    if let Some(salt) = def.key.salt {
        options.push(format!("SALT_BUCKETS = {}", salt.buckets));
        notes.extend(salt.by.map(|_| "SALT_BY: Phoenix salts by the whole key".to_owned()));
    }
    options.extend(def.ttl_s.map(|ttl_s| format!("TTL = {ttl_s}")));
    let own_names = dynamic_options(def);
    options.extend(own_names.iter().map(|(name, value)| format!("{name} = {value}")));
    for option in def.written_options() {
        if own_names.iter().any(|(name, _)| option.name == *name) {
            continue;
        }
        let value =
            if option.value.is_null() { "NONE".into() } else { phoenix_literal(&option.value, SqlType::Null).text };
        let (family, name) = option.name.rsplit_once('.').map_or((None, &*option.name), |(of, name)| (Some(of), name));
        match is_phoenix_option(name) {
            true => options.push(format!("{} = {value}", path(family, name))),
            false => notes.push(format!("{} = {value}: Phoenix has no such option", option.name)),
        }
    }
    let mut options = if options.is_empty() { String::new() } else { format!(" {}", options.join(", ")) };
    if let Some(keys) = def.option(SPLIT_KEYS).and_then(Value::as_text) {
        let keys: Vec<String> = keys.split(',').map(|key| format!("X'{key}'")).collect();
        options.push_str(&format!(" SPLIT ON ({})", keys.join(", ")));
    }
    let table = phoenix_path(&def.name);
    let notes = notes.into_iter().map(|note| format!("-- {table}: {}", note.replace('\n', " ")));
    let create = format!("CREATE TABLE IF NOT EXISTS {table} (\n{}\n){options};", lines.join(",\n"));
    notes.chain([create]).chain(index_lines(def)).collect()
}

/// CREATE SEQUENCE. The values begin again: an export takes no value, so it does not know the current one.
fn sequence_text(sequence: &SequenceDef) -> String {
    let SequenceDef { start, increment, min, max, cycles, cache, .. } = sequence;
    format!(
        "CREATE SEQUENCE IF NOT EXISTS {} START WITH {start} INCREMENT BY {increment} MINVALUE {min} MAXVALUE {max}{} CACHE {cache};",
        phoenix_path(&sequence.name),
        if *cycles { " CYCLE" } else { "" }
    )
}
