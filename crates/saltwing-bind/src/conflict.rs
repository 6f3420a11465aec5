//! The clause of an INSERT or UPSERT for rows whose keys are there.

use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::statement::{Assignment, ConflictAction, ConflictClause, ConflictTarget, OnConflict};
use saltwing_sql::{DynamicColumn, is_default};
use saltwing_types::{ColumnDef, Expr, Value, typing};
use sqlparser::ast;

use crate::arbiters::{Arbiters, arbiters};
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::{LowerError, Lowerer, Params};
use crate::query_binder::QueryBinder;
use crate::scope::{DynamicOutput, Scope};
use crate::subquery_column::SubqueryBinder;
use crate::target::Target;
use crate::view::{Constant, Place, WrittenView, dynamic_value};
use crate::written_columns::assigned_columns;

/// The change of a row that is there.
#[derive(Clone)]
pub struct ConflictUpdate {
    /// Columns, by index, with their new values.
    ///
    /// In expressions, column `i` of the row that is there has index `i`; that of the row that would be written has `i` plus
    /// [`Table::width`].
    pub assignments: Vec<(usize, Expr)>,
    /// The dynamic columns among them, whose indexes follow those of the table.
    pub dynamic: Vec<ColumnDef>,
    /// Rows for which it is not TRUE stay as they are.
    pub condition: Option<Expr>,
    /// Whether a column of the key is assigned, so that a row may move.
    pub moves_rows: bool,
    /// The `ROW_TIMESTAMP` of the key, by index, if its DEFAULT is assigned: the row takes the time of the write.
    pub row_timestamp: Option<usize>,
}

impl ConflictUpdate {
    /// Puts the value of a subquery, by its number, in its places.
    pub fn set_subquery(&mut self, number: usize, value: &Value) {
        fn put(expr: &mut Expr, number: usize, value: &Value) {
            match expr {
                Expr::Subquery(known, ty) if *known == number => *expr = typing::computed(value.clone(), *ty),
                other => other.for_each_child_mut(&mut |child| put(child, number, value)),
            }
        }
        let values = self.assignments.iter_mut().map(|(_, value)| value);
        values.chain(&mut self.condition).for_each(|expr| put(expr, number, value));
    }
}

/// A subquery in the change of a row that is there. It gives one value, and is computed once, before the rows are written.
pub struct UpdateSubquery {
    /// The number by which [`Expr::Subquery`] refers to it.
    pub number: usize,
    /// How it is written.
    pub expr: Box<ast::Expr>,
}

/// The handling of a row whose key is there.
pub(crate) enum BoundConflict {
    Plain(OnConflict),
    /// The row is replaced as a whole: columns that are not written get their DEFAULTs.
    ReplaceRow,
    Update(ConflictUpdate),
}

/// Binds the clause, which may name the table by an alias and these dynamic columns, and finds the keys that it is about.
///
/// # Errors
/// Those of its names and expressions; a change of a row that the view of the statement may not show.
pub(crate) fn conflict(
    clause: &ConflictClause,
    target: &Target<'_>,
    (alias, known): (Option<String>, Vec<DynamicColumn>),
    binder: &QueryBinder<'_>,
) -> Result<(BoundConflict, Arbiters)> {
    let params = binder.params;
    let (table, place) = (&target.table, |error: BindError| error.at(Some(clause.span)));
    let leaves_out = clause.action == ConflictAction::Ignore;
    let arbiters = arbiters(&clause.target, target, leaves_out).map_err(place)?;
    let bound = match &clause.action {
        ConflictAction::Ignore => BoundConflict::Plain(OnConflict::Ignore),
        ConflictAction::Replace => BoundConflict::ReplaceRow,
        ConflictAction::Update { assignments, selection } => {
            target.view.iter().try_for_each(|view| check_covered(view, &arbiters)).map_err(place)?;
            // Those of subqueries follow.
            binder.ids.take(2 * table.width() + known.len());
            let rows = BothRows::new(target, alias, &known)?;
            let queries = SubqueryBinder::new(binder, &rows.scope);
            let lower = |expr: &ast::Expr| rows.lowered(expr, params, &queries);
            let condition =
                selection.as_ref().map(|e| Ok::<_, BindError>(typing::condition(lower(e)?)?)).transpose()?;
            let (columns, dynamic) = assigned_columns(target, assignments, &known)?;
            target.check_assigned(assignments, (&columns, &dynamic), params)?;
            if matches!(clause.target, ConflictTarget::PrimaryKey) {
                check_key_stays(assignments, &columns, table)?;
            }
            let moves_rows = columns.iter().any(|&column| table.def().key.position(column).is_some());
            let row_timestamp = assigned_time(assignments, &columns, table);
            let assignments = assigned(assignments, (&columns, &dynamic), table, lower)?;
            if !queries.into_subqueries().is_empty() {
                return Err(place(no_single_value()));
            }
            BoundConflict::Update(ConflictUpdate { assignments, dynamic, condition, moves_rows, row_timestamp })
        }
    };
    Ok((bound, arbiters))
}

/// # Errors
/// A row that is there and in conflict with a new one need not be one of the view.
fn check_covered(view: &WrittenView, arbiters: &Arbiters) -> Result<()> {
    let is_covered = |(column, _): &Constant| match column {
        Place::Table(column) => arbiters.cover(*column, view.table.def()),
        Place::Own(_) => false,
    };
    if view.constants.iter().all(is_covered) {
        return Ok(());
    }
    let key = if arbiters.primary_key { "the key" } else { "the unique index" };
    let what = format!("ON CONFLICT DO UPDATE in a view with a condition on a column outside {key}");
    Err(BindErrorKind::NotSupported(what).into())
}

/// The row that is there and the row that would be written, as expressions name them.
struct BothRows {
    /// The columns of both. Greater ids are those of dynamic columns.
    scope: Scope,
    /// The first of them.
    first: usize,
    /// The values of dynamic columns, first those of the row that is there.
    dynamic: Vec<Expr>,
}

impl BothRows {
    fn new(target: &Target<'_>, alias: Option<String>, known: &[DynamicColumn]) -> Result<Self> {
        let table = &target.table;
        let first = 2 * table.width();
        let (mut outputs, mut dynamic) = (Vec::with_capacity(known.len()), Vec::with_capacity(2 * known.len()));
        if !known.is_empty() {
            let scope = Scope::of(table.clone(), None);
            let lowerer = Lowerer::new(&scope, Params::NONE);
            for (place, column) in known.iter().enumerate() {
                let value = dynamic_value(table.def(), column)?;
                dynamic.push(lowerer.lower(&value).map_err(LowerError::into_error)?);
                outputs.push(DynamicOutput::new(column, first + place));
            }
            let mut of_excluded = dynamic.clone();
            for value in &mut of_excluded {
                value.map_columns(&mut |column| column.index += table.width());
            }
            dynamic.append(&mut of_excluded);
        }
        Ok(Self { scope: target.scope(alias)?.with_dynamic(outputs).with_excluded(), first, dynamic })
    }

    fn lowered(&self, expr: &ast::Expr, params: Params<'_>, queries: &SubqueryBinder<'_>) -> Result<Expr> {
        let mut lowered = match Lowerer::new(&self.scope, params).lower(expr) {
            Ok(lowered) => lowered,
            Err(error @ LowerError::Invalid(_)) => return Err(error.into_error()),
            // It may have a subquery.
            Err(error) => match queries.lowerer(None).lower(expr).map_err(LowerError::into_error)? {
                lowered if lowered.is_of_engine() => return Err(error.into_error()),
                lowered => lowered,
            },
        };
        if !self.dynamic.is_empty() {
            self.put_values(&mut lowered);
        }
        Ok(lowered)
    }

    /// Puts the values of dynamic columns in the places of these columns.
    fn put_values(&self, expr: &mut Expr) {
        let Expr::Column(column) = expr else { return expr.for_each_child_mut(&mut |child| self.put_values(child)) };
        if let Some(value) = column.index.checked_sub(self.first).and_then(|place| self.dynamic.get(place)) {
            *expr = value.clone();
        }
    }
}

/// The subqueries that a change names.
///
/// # Errors
/// One that gives no value.
pub(crate) fn named_subqueries(update: &ConflictUpdate, binder: &QueryBinder<'_>) -> Result<Vec<UpdateSubquery>> {
    let mut numbers = BTreeSet::new();
    for expr in update.assignments.iter().map(|(_, value)| value).chain(&update.condition) {
        expr.walk(&mut |part| {
            if let Expr::Subquery(number, _) = part {
                numbers.insert(*number);
            }
        });
    }
    let known = binder.state.uncorrelated.borrow();
    let subquery = |number: usize| match known.get(number).map(|known| &known.syntax) {
        Some(expr @ ast::Expr::Subquery(_)) => Ok(UpdateSubquery { number, expr: Box::new(expr.clone()) }),
        _ => Err(no_single_value()),
    };
    numbers.into_iter().map(subquery).collect()
}

/// The error of a subquery that runs for each row.
fn no_single_value() -> BindError {
    let text = "a subquery in DO UPDATE that names columns around it, or gives no single value";
    let help = "a MERGE takes every subquery: MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN UPDATE SET ..";
    BindError::from(BindErrorKind::NotSupported(text.into())).help(help)
}

/// Refuses columns of the key in ON DUPLICATE KEY UPDATE, as Phoenix does.
fn check_key_stays(assignments: &[Assignment], columns: &[usize], table: &Table) -> Result<()> {
    let mut assigned = assignments.iter().zip(columns);
    let Some((assignment, _)) = assigned.find(|(_, column)| table.def().key.position(**column).is_some()) else {
        return Ok(());
    };
    let text = format!("{} is a column of the primary key, which ON DUPLICATE KEY UPDATE leaves", assignment.column);
    Err(BindError::from(BindErrorKind::Syntax(text))
        .at(Some(assignment.column.span()))
        .phoenix(1218)
        .help("ON CONFLICT .. DO UPDATE can change the key of a row"))
}

/// The `ROW_TIMESTAMP` of the key, by index, if its DEFAULT is assigned.
pub(crate) fn assigned_time(assignments: &[Assignment], columns: &[usize], table: &Table) -> Option<usize> {
    let time = table.time_column().filter(|time| time.is_row_timestamp).map(|time| time.column);
    let takes_time =
        |time: &usize| assignments.iter().zip(columns).any(|(it, column)| column == time && is_default(&it.value));
    time.filter(takes_time)
}

fn assigned(
    assignments: &[Assignment],
    (columns, dynamic): (&[usize], &[ColumnDef]),
    table: &Arc<Table>,
    lower: impl Fn(&ast::Expr) -> Result<Expr>,
) -> Result<Vec<(usize, Expr)>> {
    let def = table.def();
    let mut assigned = Vec::with_capacity(columns.len());
    for (assignment, &column) in assignments.iter().zip(columns) {
        let Some(target) = def.written_column(dynamic, column) else { continue };
        if is_generated(def, target, &assignment.value)? {
            continue;
        }
        check_identity(def, target, Some(&assignment.value), None)?;
        let value = match (is_default(&assignment.value), &target.default) {
            (false, _) => lower(&assignment.value)?,
            (true, Some(default)) if default.is_of_new_row() => {
                let text = format!("DEFAULT of {} here, which is computed for each row,", target.name);
                return Err(BindError::from(BindErrorKind::NotSupported(text)).at(Some(assignment.column.span())));
            }
            (true, Some(default)) => default.expr.clone(),
            (true, None) => Expr::Literal(Value::Null, target.ty),
        };
        assigned.push((column, value));
    }
    Ok(assigned)
}
