//! MERGE: each WHEN clause is a query for the rows that it acts on, over the rows as they are before the statement.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Merge, MergeAction, MergeClause, MergeRows, OnConflict};
use saltwing_sql::{ColumnName, DynamicColumn, is_default};
use saltwing_types::Span;
use sqlparser::ast;

use crate::dml::{UpsertTarget, check_not_null};
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::Params;
use crate::target::{NamedTarget, Target};
use crate::target_rows::{AssignedValue, RowCondition, TargetOutput, TargetRows, TargetSource};
use crate::update::{AssignedRows, ChangedColumns, assigned_value};
use crate::written_columns::known_columns;

/// A MERGE, clause by clause.
pub struct BoundMerge {
    /// The table.
    pub table: Arc<Table>,
    /// What its clauses do, but for those that do nothing.
    pub steps: Vec<MergeStep>,
}

/// What a clause does to the rows that [`TargetQuery::Merge`](crate::TargetQuery::Merge) gives.
pub struct MergeStep {
    /// The clause, by position.
    pub clause: usize,
    /// What becomes of the rows.
    pub effect: MergeEffect,
}

/// What a clause of a MERGE does to rows.
pub enum MergeEffect {
    /// They get new values.
    Update(ChangedColumns),
    /// They are deleted.
    Delete,
    /// They are new.
    Insert(Box<UpsertTarget>),
}

impl MergeStep {
    /// Whether it writes dynamic columns.
    pub fn writes_dynamic_columns(&self) -> bool {
        match &self.effect {
            MergeEffect::Update(changed) => !changed.dynamic.is_empty(),
            MergeEffect::Insert(target) => target.writes_dynamic_columns(),
            MergeEffect::Delete => false,
        }
    }
}

/// Binds a MERGE.
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub fn merge(statement: &Merge, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<BoundMerge> {
    let target = Target::resolve(catalog, &statement.table)?;
    let mut steps = Vec::new();
    for (place, clause) in statement.clauses.iter().enumerate() {
        let effect = match &clause.action {
            MergeAction::Nothing => continue,
            MergeAction::Update(assignments) => {
                let rows = AssignedRows::new(&statement.dynamic, &target, assignments, params)?;
                MergeEffect::Update(rows.changed)
            }
            MergeAction::Delete => MergeEffect::Delete,
            MergeAction::Insert { .. } => {
                MergeEffect::Insert(Box::new(NewRow::of(statement, clause, &target)?.bound(&target, params)?.0))
            }
        };
        steps.push(MergeStep { clause: place, effect });
    }
    Ok(BoundMerge { table: target.table, steps })
}

/// The rows that a clause of a MERGE acts on.
///
/// # Errors
/// As [`merge`].
pub(crate) fn merged_rows<'a>(
    statement: &'a Merge,
    place: usize,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<TargetRows<'a>> {
    let target = Target::resolve(catalog, &statement.table)?;
    let Merge { table, dynamic, alias, source, on, clauses, returning, .. } = statement;
    let named = NamedTarget { table, dynamic, alias: alias.as_ref() };
    let clause = clauses.get(place).ok_or_else(|| BindError::bug("a MERGE has no such clause"))?;
    let (output, values) = match &clause.action {
        MergeAction::Nothing => return Err(BindError::bug("a clause that does nothing has no rows")),
        MergeAction::Update(assignments) => {
            let rows = AssignedRows::new(dynamic, &target, assignments, params)?;
            (TargetOutput::Rows { assigned: rows.assigned }, rows.values)
        }
        MergeAction::Delete => (TargetOutput::of_deleted(returning.is_some()), Vec::new()),
        MergeAction::Insert { .. } => {
            (TargetOutput::Items, NewRow::of(statement, clause, &target)?.bound(&target, params)?.1)
        }
    };
    let source = match clause.rows {
        MergeRows::Matched => TargetSource::Matched(source, on),
        MergeRows::NotInTable => TargetSource::NotInTarget(source, on),
        MergeRows::NotInSource => TargetSource::NotInSource(source, on),
    };
    let conditions = clause_conditions(clause, clauses.get(..place).unwrap_or_default());
    Ok(TargetRows { named, output, values, source, conditions, order_by: None, limit: None })
}

/// The conditions of a clause: its own, and that no earlier clause for the same rows has acted.
fn clause_conditions<'a>(clause: &'a MergeClause, earlier: &'a [MergeClause]) -> Vec<RowCondition<'a>> {
    let earlier = earlier.iter().filter(|other| other.rows == clause.rows);
    let passed_over = earlier.map(|other| other.condition.as_ref().map_or(RowCondition::Never, RowCondition::Fails));
    passed_over.chain(clause.condition.as_ref().map(RowCondition::Holds)).collect()
}

/// The row of an INSERT.
struct NewRow<'a> {
    columns: Option<&'a [ColumnName]>,
    known: Vec<DynamicColumn>,
    values: &'a [ast::Expr],
    overriding: bool,
    /// The clause.
    span: Span,
}

impl<'a> NewRow<'a> {
    fn of(statement: &'a Merge, clause: &'a MergeClause, target: &Target<'_>) -> Result<Self> {
        let MergeAction::Insert { columns, overriding, values } = &clause.action else {
            return Err(BindError::bug("a clause that inserts nothing has no new row"));
        };
        let known = target.known_columns(&statement.dynamic)?;
        Ok(Self { columns: columns.as_deref(), known, values, overriding: *overriding, span: clause.span })
    }

    /// Where it goes, and its values. An error without a place gets that of the clause.
    fn bound(self, target: &Target<'_>, params: Params<'_>) -> Result<(UpsertTarget, Vec<AssignedValue<'a>>)> {
        let span = self.span;
        self.values_of(target, params).map_err(|error| error.at(Some(span)))
    }

    fn values_of(self, target: &Target<'_>, params: Params<'_>) -> Result<(UpsertTarget, Vec<AssignedValue<'a>>)> {
        let Self { columns, known, values, overriding, .. } = self;
        let (columns, mut dynamic) = match columns {
            Some(names) => known_columns(target, names, &known)?,
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
            items.push(assigned_value(value, target, params)?);
        }
        let constants = target.add_constants((&mut written, &mut dynamic));
        check_not_null(&target.table, &written)?;
        let target = UpsertTarget::new(target.table.clone(), written, OnConflict::Error)?;
        Ok((UpsertTarget { dynamic, constants, ..target }, items))
    }
}
