//! CHECK constraints: their definitions, and the conditions that rows are checked by.
//!
//! A definition has the text of a condition. A statement that writes into such a table lowers it, so that it is part of no
//! record, and tables without constraints pay nothing.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::statement::CheckSpec;
use saltwing_types::table::{CheckDef, ROW_KEY_COLUMN, ROW_TIME_COLUMN, is_same_name};
use saltwing_types::{Expr, SqlType, TableDef, Value, ValueError, eval};
use sqlparser::ast;

use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::key_constraint::key_constraint;
use crate::lower::{Lowerer, Params};
use crate::scope::{Scope, table_of};
use crate::table_path::free_name;

/// The conditions that the rows of a table meet.
#[derive(Debug)]
pub struct RowChecks(Vec<RowCheck>);

/// A constraint whose condition is ready.
#[derive(Debug)]
pub struct RowCheck {
    /// Its name.
    pub name: String,
    /// Its condition over the table's columns.
    pub condition: Expr,
}

impl RowChecks {
    /// Those of a table; `None` if it has none.
    ///
    /// # Errors
    /// A text that is no condition, which no statement causes.
    pub fn of(table: &Arc<Table>) -> Result<Option<Self>> {
        let checks = &table.def().checks;
        if checks.is_empty() {
            return Ok(None);
        }
        let check = |check: &CheckDef| {
            let condition = condition(&expr_of(&check.text)?, table)?;
            Ok(RowCheck { name: check.name.clone(), condition })
        };
        checks.iter().map(check).collect::<Result<_>>().map(|checks| Some(Self(checks)))
    }

    /// The first constraint whose condition is FALSE for a row of all columns. A condition that is NULL is met.
    ///
    /// # Errors
    /// Those of a condition, with the name of its constraint: such a row cannot be written.
    pub fn broken_by(&self, row: &[Value]) -> std::result::Result<Option<&str>, (&str, ValueError)> {
        for RowCheck { name, condition } in &self.0 {
            if eval::eval(condition, row).map_err(|error| (name.as_str(), error))? == Value::Bool(false) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The constraint of this name.
    pub fn named(&self, name: &str) -> Option<&RowCheck> {
        self.0.iter().find(|check| check.name == name)
    }
}

/// Lowers a condition over the columns of a table.
fn condition(expr: &ast::Expr, table: &Arc<Table>) -> Result<Expr> {
    let condition = row_expr(expr, table, "a CHECK constraint")?;
    match condition.sql_type() {
        Some(SqlType::Boolean | SqlType::Null) => Ok(condition),
        _ => Err(ValueError::TypeMismatch(format!("CHECK takes a condition, and {condition} is none")).into()),
    }
}

/// Lowers an expression over the columns of a table that is computed when a row is written; `place` is where it stands.
///
/// # Errors
/// An expression that the scalar evaluator does not have; one that reads `_row_key`.
pub(crate) fn row_expr(expr: &ast::Expr, table: &Arc<Table>, place: &str) -> Result<Expr> {
    expr_of_row(expr, (&Scope::of(table.clone(), None), table), place)
}

/// The same, where the scope tells the names of the table's columns.
pub(crate) fn expr_of_row(expr: &ast::Expr, (scope, table): (&Scope, &Table), place: &str) -> Result<Expr> {
    let lowerer = Lowerer::new(scope, Params::NONE);
    let mut expr = lowerer.lower(expr).map_err(|error| match error.into_error() {
        BindError { kind: BindErrorKind::NotSupported(what), span, .. } => {
            let error = BindError::from(BindErrorKind::NotSupported(format!("{what} in {place}"))).at(span);
            error.help("it takes columns of its row, and functions that run on both executors")
        }
        error => error,
    })?;
    if expr.columns().iter().any(|column| *column >= table.row_key_index()) {
        let what = format!("{ROW_KEY_COLUMN} or {ROW_TIME_COLUMN} in {place}");
        return Err(BindErrorKind::NotSupported(what).into());
    }
    expr.map_columns(&mut |column| column.span = None);
    Ok(expr)
}

/// Adds constraints to a definition; their names.
///
/// # Errors
/// A name that another constraint has; a condition that is none.
pub(crate) fn add_checks<'s>(
    def: &mut TableDef,
    specs: impl IntoIterator<Item = &'s CheckSpec>,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut specs = specs.into_iter().peekable();
    if specs.peek().is_none() {
        return Ok(names);
    }
    let table = table_of(def.clone())?;
    for spec in specs {
        let place = |error: BindError| error.at(Some(spec.span));
        let condition = condition(&spec.expr, &table).map_err(place)?;
        let name = match &spec.name {
            Some(name) if is_taken(def, &name.text) => {
                let error = BindErrorKind::DuplicateConstraint { table: def.name.to_string(), name: name.text.clone() };
                return Err(BindError::from(error).at(Some(name.span)));
            }
            Some(name) => name.text.clone(),
            None => name_of(def, &condition),
        };
        names.push(name.clone());
        def.checks.push(CheckDef { name, text: spec.text.clone() });
    }
    Ok(names)
}

/// The constraint of a column that ALTER TABLE adds: rows that are there have the column's DEFAULT.
///
/// # Errors
/// [`BindErrorKind::CheckBroken`]; [`BindErrorKind::NotSupported`] if it names other columns.
pub(crate) fn add_checks_of_new_column(def: &mut TableDef, column: usize, specs: &[CheckSpec]) -> Result<()> {
    let names = add_checks(def, specs)?;
    if names.is_empty() {
        return Ok(());
    }
    let table = table_of(def.clone())?;
    let row: Vec<Value> = (0..def.columns.len()).map(|column| table.absent(column).clone()).collect();
    let checks = RowChecks::of(&table)?;
    for (name, spec) in names.iter().zip(specs) {
        let Some(check) = checks.as_ref().and_then(|checks| checks.named(name)) else { continue };
        if check.condition.columns().iter().any(|other| *other != column) {
            let what = "a CHECK of other columns on a column that is added";
            return Err(BindError::from(BindErrorKind::NotSupported(what.into()))
                .at(Some(spec.span))
                .help("add the column first, then ALTER TABLE .. ADD CHECK (..)"));
        }
        if eval::eval(&check.condition, &row)? == Value::Bool(false) {
            let error = BindErrorKind::CheckBroken { table: def.name.to_string(), constraint: name.clone() };
            return Err(BindError::from(error).at(Some(spec.span)).help("give the column another DEFAULT"));
        }
    }
    Ok(())
}

/// Takes a constraint out of a definition; whether it was there.
///
/// # Errors
/// The constraint is the key's.
pub(crate) fn drop_check(def: &mut TableDef, name: &str) -> Result<bool> {
    if key_constraint(def).is_some_and(|key| is_same_name(key, name)) {
        let error = invalid(format!("{name} is the primary key, which cannot be dropped"));
        return Err(error.help("make a table with the new key, then UPSERT INTO new SELECT .. FROM old"));
    }
    let before = def.checks.len();
    def.checks.retain(|check| !is_same_name(&check.name, name));
    Ok(def.checks.len() < before)
}

/// Takes the constraints out that name one of these columns of the table, as in Postgres; their names.
pub(crate) fn drop_checks_of(def: &mut TableDef, table: &Arc<Table>, columns: &[usize]) -> Result<Vec<String>> {
    let Some(RowChecks(checks)) = RowChecks::of(table)? else { return Ok(Vec::new()) };
    let names_one = |check: &RowCheck| check.condition.columns().iter().any(|column| columns.contains(column));
    let gone: Vec<String> = checks.into_iter().filter(names_one).map(|check| check.name).collect();
    def.checks.retain(|check| !gone.contains(&check.name));
    Ok(gone)
}

fn is_taken(def: &TableDef, name: &str) -> bool {
    let checks = def.checks.iter().map(|check| check.name.as_str());
    key_constraint(def).into_iter().chain(checks).any(|taken| is_same_name(taken, name))
}

/// The name of a constraint without one, as Postgres makes it: of the table, and of the column if there is one only.
fn name_of(def: &TableDef, condition: &Expr) -> String {
    let column = match condition.columns().as_slice() {
        [column] => def.columns.get(*column).map(|column| format!("_{}", column.name)),
        _ => None,
    };
    free_constraint_name(def, &format!("{}{}_check", def.name.name, column.unwrap_or_default()))
}

/// A name that no other constraint of the table has.
pub(crate) fn free_constraint_name(def: &TableDef, name: &str) -> String {
    free_name(name, |name| is_taken(def, name))
}
