//! MERGE: each WHEN clause is a query for the rows that it acts on, over the rows as they are before the statement.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Merge, MergeAction, MergeClause, MergeRows, OnConflict, QueryStatement, TargetOutput};
use saltwing_sql::{ColumnName, DynamicColumn, is_default};
use saltwing_types::Expr;
use sqlparser::ast::{self, BinaryOperator, SelectItem};

use crate::dml::{UpsertTarget, check_not_null};
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::Params;
use crate::target::{NamedTarget, Target, declared, select_of};
use crate::update::{AssignedRows, ChangedColumns, assigned_value};
use crate::written_columns::known_columns;

/// A MERGE, clause by clause.
pub struct BoundMerge {
    /// The table.
    pub table: Arc<Table>,
    /// What its clauses do, but for those that do nothing.
    pub steps: Vec<MergeStep>,
    /// The parameters that are assigned, with the types that these get.
    pub open: Vec<Expr>,
}

/// The action of a clause, and the query for its rows. No row is in the queries of two clauses.
pub enum MergeStep {
    /// Rows of the table get new values: as [`BoundUpdate::query`](crate::BoundUpdate::query).
    Update(QueryStatement, ChangedColumns),
    /// Rows of the table are deleted: as [`deleted_rows`](crate::deleted_rows).
    Delete(QueryStatement),
    /// New rows: a value for each of the target's columns.
    Insert(Box<UpsertTarget>, QueryStatement),
}

impl MergeStep {
    /// The query.
    pub fn query(&self) -> &QueryStatement {
        match self {
            Self::Update(query, _) | Self::Delete(query) | Self::Insert(_, query) => query,
        }
    }

    /// Whether it writes dynamic columns.
    pub fn writes_dynamic_columns(&self) -> bool {
        match self {
            Self::Update(_, changed) => !changed.dynamic.is_empty(),
            Self::Insert(target, _) => target.writes_dynamic_columns(),
            Self::Delete(_) => false,
        }
    }
}

/// Binds a MERGE.
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub fn merge(statement: &Merge, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<BoundMerge> {
    let target = Target::resolve(catalog, &statement.table)?;
    let Merge { table: name, dynamic, alias, hints, span, .. } = statement;
    let known = target.known_columns(declared(dynamic.as_ref())?)?;
    let named = NamedTarget { table: name, dynamic: dynamic.as_ref(), alias: alias.as_ref(), hints, span: *span };
    let (mut steps, mut open) = (Vec::new(), Vec::new());
    for (index, clause) in statement.clauses.iter().enumerate() {
        let (earlier, _) = statement.clauses.split_at(index);
        let condition = clause_condition(clause, earlier);
        let place = |error: BindError| error.at(Some(clause.span));
        steps.push(match &clause.action {
            MergeAction::Nothing => continue,
            MergeAction::Update(assignments) => {
                let mut rows = AssignedRows::new(named, &target, assignments, params)?;
                read_target(&mut rows.query, statement, clause.rows, condition)?;
                open.append(&mut rows.open);
                MergeStep::Update(rows.query, rows.changed)
            }
            MergeAction::Delete => {
                let mut query = named.deleted(statement.returning.is_some())?;
                read_target(&mut query, statement, clause.rows, condition)?;
                MergeStep::Delete(query)
            }
            MergeAction::Insert { columns, overriding, values } => {
                let columns = columns.as_deref();
                let new = NewRow { columns, known: &known, values, overriding: *overriding };
                let (target, items) = new.bound(&target, params, &mut open).map_err(place)?;
                let mut unmatched = named.query(TargetOutput::Items)?;
                let select = select_of(&mut unmatched)?;
                select.projection = vec![SelectItem::UnnamedExpr(ast::Expr::value(ast::Value::Null))];
                select.selection = Some(statement.on.clone());
                let mut query = named.query(TargetOutput::Items)?;
                let select = select_of(&mut query)?;
                select.projection = items;
                select.from = vec![statement.source.clone()];
                select.selection = Some(all_of([Some(not_exists(unmatched)), condition].into_iter().flatten()));
                MergeStep::Insert(Box::new(target), query)
            }
        });
    }
    Ok(BoundMerge { table: target.table, steps, open })
}

/// Restricts a query for rows of the table to those of a clause.
fn read_target(
    query: &mut QueryStatement,
    statement: &Merge,
    rows: MergeRows,
    condition: Option<ast::Expr>,
) -> Result<()> {
    let matching = match rows {
        MergeRows::NotInSource => {
            let mut unmatched = query.clone();
            let select = select_of(&mut unmatched)?;
            select.projection = vec![SelectItem::UnnamedExpr(ast::Expr::value(ast::Value::Null))];
            select.from = vec![statement.source.clone()];
            select.selection = Some(statement.on.clone());
            not_exists(unmatched)
        }
        _ => {
            select_of(query)?.from.push(statement.source.clone());
            ast::Expr::Nested(Box::new(statement.on.clone()))
        }
    };
    select_of(query)?.selection = Some(all_of([Some(matching), condition].into_iter().flatten()));
    Ok(())
}

/// The condition of a clause: its own, and that no earlier clause for the same rows has acted.
fn clause_condition(clause: &MergeClause, earlier: &[MergeClause]) -> Option<ast::Expr> {
    let earlier = earlier.iter().filter(|other| other.rows == clause.rows);
    let passed_over = earlier.map(|other| match &other.condition {
        Some(condition) => ast::Expr::IsNotTrue(Box::new(ast::Expr::Nested(Box::new(condition.clone())))),
        None => ast::Expr::value(ast::Value::Boolean(false)),
    });
    let own = clause.condition.iter().map(|own| ast::Expr::Nested(Box::new(own.clone())));
    let mut conditions = passed_over.chain(own).peekable();
    conditions.peek().is_some().then(|| all_of(conditions))
}

/// The row of an INSERT.
struct NewRow<'a> {
    columns: Option<&'a [ColumnName]>,
    known: &'a [DynamicColumn],
    values: &'a [ast::Expr],
    overriding: bool,
}

impl NewRow<'_> {
    /// Where it goes, and its values.
    fn bound(
        &self,
        target: &Target,
        params: Params<'_>,
        open: &mut Vec<Expr>,
    ) -> Result<(UpsertTarget, Vec<SelectItem>)> {
        let Self { columns, known, values, overriding } = *self;
        let (columns, mut dynamic) = match columns {
            Some(names) => known_columns(target, names, known)?,
            None => target.listed_columns(None, &[])?,
        };
        if columns.len() != values.len() {
            let error = BindErrorKind::WrongValueCount { values: values.len(), columns: columns.len() };
            return Err(BindError::from(error).phoenix(1020));
        }
        let (mut items, mut written) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
        let def = target.table.def();
        for (value, &column) in values.iter().zip(&columns) {
            if let Some(constant) = target.view.as_ref().and_then(|view| view.constant_of(column, &dynamic)) {
                // The constant of the view comes instead.
                if is_default(value) {
                    continue;
                }
                target.view.iter().try_for_each(|view| view.check(constant, value, params))?;
            }
            if let Some(target) = def.columns.get(column) {
                if is_generated(def, target, value)? {
                    continue;
                }
                if !overriding {
                    check_identity(def, target, Some(value), None)?;
                }
            }
            let Some(target) = def.written_column(&dynamic, column) else { continue };
            written.push(column);
            items.push(SelectItem::UnnamedExpr(assigned_value(value, target, params, open)?));
        }
        let constants = target.add_constants((&mut written, &mut dynamic));
        check_not_null(&target.table, &written)?;
        let target = UpsertTarget::new(target.table.clone(), written, OnConflict::Error)?;
        Ok((UpsertTarget { dynamic, constants, ..target }, items))
    }
}

fn not_exists(subquery: QueryStatement) -> ast::Expr {
    ast::Expr::Exists { subquery: subquery.query, negated: true }
}

/// All conditions, of which there is at least one, with AND between them.
fn all_of(conditions: impl IntoIterator<Item = ast::Expr>) -> ast::Expr {
    let and =
        |left, right| ast::Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::And, right: Box::new(right) };
    conditions.into_iter().reduce(and).unwrap_or_else(|| ast::Expr::value(ast::Value::Boolean(true)))
}
