//! The hints that statements may have.
//!
//! A hint that does nothing because it is misspelt, or because it names another table, would be found out only when a
//! statement is slow or refused: so it is an error. Phoenix's hints are accepted, and change nothing: how a
//! statement is read follows from its conditions.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use saltwing_catalog::{CatalogReader, PUBLIC_SCHEMA};
use saltwing_sql::statement::{ConflictAction, CopySource, CopyTo, Hint, RowSource};
use saltwing_sql::{Name, Statement, TableRef};
use saltwing_types::suggest;
use sqlparser::ast::{ObjectName, Query, TableFactor, Visit, Visitor};

use crate::error::{BindError, BindErrorKind, Result};
use crate::returning_clause::clause_of;

/// The hint that allows a full scan of the tables it names; of all, when it names none.
pub const FULL_SCAN: &str = "FULL_SCAN";

/// The hint that names a table and those of its indexes one of which is to be read.
pub const INDEX: &str = "INDEX";

/// The hint that forbids to read the tables it names by an index; all tables, when it names none.
pub const NO_INDEX: &str = "NO_INDEX";

/// The hints of Apache Phoenix 5.2, by its `HintNode`.
pub const PHOENIX_HINTS: [&str; 19] = [
    "CDC_INCLUDE",
    "FORWARD_SCAN",
    "HASH_AGGREGATE",
    "INDEX",
    "NO_CACHE",
    "NO_CHILD_PARENT_JOIN_OPTIMIZATION",
    "NO_INDEX",
    "NO_INDEX_SERVER_MERGE",
    "NO_SEEK_TO_COLUMN",
    "NO_STAR_JOIN",
    "RANGE_SCAN",
    "SEEK_TO_COLUMN",
    "SERIAL",
    "SKIP_SCAN",
    "SMALL",
    "USE_DATA_OVER_INDEX_TABLE",
    "USE_INDEX_OVER_DATA_TABLE",
    "USE_PERSISTENT_CACHE",
    "USE_SORT_MERGE_JOIN",
];

/// Checks a statement's hints by its text alone.
///
/// # Errors
/// A name that is no hint, and a FULL_SCAN of a table that the statement does not name.
pub fn check_hints(statement: &Statement) -> Result<()> {
    let hints = hints_of(statement);
    // Most statements have none.
    if hints.is_empty() {
        return Ok(());
    }
    let mut named = None;
    for hint in hints {
        let name = hint.name.text.to_uppercase();
        let tables = match name.as_str() {
            FULL_SCAN | NO_INDEX => &hint.args,
            INDEX => hint.args.get(..1).unwrap_or_default(),
            _ => &[],
        };
        if !tables.is_empty() {
            check_tables(&name, tables, named.get_or_insert_with(|| tables_of(statement)))?;
        } else if name != FULL_SCAN && !PHOENIX_HINTS.contains(&name.as_str()) {
            return Err(unknown(hint));
        }
    }
    Ok(())
}

/// The hints, with the names of tables as definitions have them: `t` for `public.t` of the default schema.
///
/// # Errors
/// That of the catalog.
pub fn canonical_hints<'h>(hints: &'h [Hint], catalog: &dyn CatalogReader) -> Result<Cow<'h, [Hint]>> {
    let mut canonical = Cow::Borrowed(hints);
    for (place, hint) in hints.iter().enumerate() {
        for (arg, name) in hint.args.iter().enumerate() {
            let Some((schema, table)) = name.text.rsplit_once('.') else { continue };
            let known = match catalog.canonical_schema(schema)? {
                known if known.len() == schema.len() => continue,
                "" => table.to_owned(),
                known => format!("{known}.{table}"),
            };
            let name = canonical.to_mut().get_mut(place).and_then(|hint| hint.args.get_mut(arg));
            name.into_iter().for_each(|name| name.text.clone_from(&known));
        }
    }
    Ok(canonical)
}

fn unknown(hint: &Hint) -> BindError {
    let known = PHOENIX_HINTS.into_iter().chain([FULL_SCAN]);
    let help = match suggest(&hint.name.text, known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there is {FULL_SCAN}(table, ..), and Phoenix's hints are accepted and change nothing"),
    };
    let text = format!("there is no hint {}", hint.name.text);
    BindError::from(BindErrorKind::Syntax(text)).at(Some(hint.name.span)).help(help)
}

fn check_tables(hint: &str, tables: &[Name], named: &Tables) -> Result<()> {
    for arg in tables {
        if !named.lower.contains(&arg.text.to_lowercase()) {
            let text = format!("the hint {hint} names {}, and the statement reads no table of this name", arg.text);
            let all = if named.listed.is_empty() { "none".to_owned() } else { named.listed.join(", ") };
            return Err(BindError::from(BindErrorKind::Syntax(text))
                .at(Some(arg.span))
                .help(format!("it reads {all}")));
        }
    }
    Ok(())
}

fn hints_of(statement: &Statement) -> &[Hint] {
    match statement {
        Statement::Query(query) | Statement::DescribeQuery(query) | Statement::Summarize(query) => &query.hints,
        Statement::Upsert(upsert) | Statement::Insert(upsert) => &upsert.hints,
        Statement::Delete(delete) => &delete.hints,
        Statement::Update(update) => &update.hints,
        Statement::Merge(merge) => &merge.hints,
        Statement::Explain(explain) => hints_of(&explain.statement),
        Statement::CopyTo(CopyTo { source: CopySource::Query(query), .. }) => &query.hints,
        _ => &[],
    }
}

/// The tables that a statement names.
#[derive(Default)]
struct Tables {
    /// By name, by name with schema (one without a schema also as of `public`), by alias: in lower case.
    lower: HashSet<String>,
    /// As written, each once.
    listed: Vec<String>,
    /// Names of WITH queries, in lower case: they are no tables.
    with: HashSet<String>,
}

fn tables_of(statement: &Statement) -> Tables {
    let mut tables = Tables::default();
    match statement {
        Statement::Query(query) | Statement::DescribeQuery(query) | Statement::Summarize(query) => {
            tables.search(&*query.query)
        }
        Statement::Upsert(upsert) | Statement::Insert(upsert) => {
            tables.add(&upsert.table.to_string());
            match &upsert.source {
                RowSource::Query(query) => tables.search(&**query),
                RowSource::Values(rows) => rows.iter().for_each(|row| tables.search(&row.values)),
            }
            if let Some(ConflictAction::Update { assignments, selection }) =
                upsert.conflict.as_ref().map(|clause| &clause.action)
            {
                assignments.iter().for_each(|assignment| tables.search(&assignment.value));
                tables.search(selection);
            }
        }
        Statement::Delete(delete) => {
            tables.add_named(&delete.table, delete.alias.as_ref());
            tables.search(&delete.using);
            tables.search(&delete.selection);
        }
        Statement::Update(update) => {
            tables.add_named(&update.table, update.alias.as_ref());
            tables.search(&update.from);
            update.assignments.iter().for_each(|assignment| tables.search(&assignment.value));
            tables.search(&update.selection);
        }
        Statement::Merge(merge) => {
            tables.add_named(&merge.table, merge.alias.as_ref());
            tables.search(&merge.source);
            tables.search(&merge.on);
        }
        Statement::Explain(explain) => return tables_of(&explain.statement),
        Statement::CopyTo(CopyTo { source: CopySource::Query(query), .. }) => tables.search(&*query.query),
        _ => {}
    }
    if let Some(returned) = clause_of(statement) {
        tables.search(&returned.clause.items);
    }
    tables
}

impl Tables {
    fn search(&mut self, tree: &impl Visit) {
        let _ = tree.visit(self);
    }

    /// The table that a statement writes.
    fn add_named(&mut self, table: &TableRef, alias: Option<&Name>) {
        self.add(&table.to_string());
        self.lower.extend(alias.iter().map(|alias| alias.text.to_lowercase()));
    }

    /// A table by its name as written, with its schema if it has one.
    fn add(&mut self, name: &str) {
        let plain = name.replace('"', "");
        let lower = plain.to_lowercase();
        if self.with.contains(&lower) {
            return;
        }
        self.lower.extend(lower.rsplit('.').next().map(str::to_owned));
        if !lower.contains('.') {
            self.lower.insert(format!("{PUBLIC_SCHEMA}.{lower}"));
        }
        self.lower.insert(lower);
        if !self.listed.contains(&plain) {
            self.listed.push(plain);
        }
    }
}

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let names = query.with.iter().flat_map(|with| &with.cte_tables);
        self.with.extend(names.map(|cte| cte.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        self.add(&name.to_string());
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias: Some(alias), .. } = factor
            && !self.with.contains(&name.to_string().to_lowercase())
        {
            self.lower.insert(alias.name.value.to_lowercase());
        }
        ControlFlow::Continue(())
    }
}
