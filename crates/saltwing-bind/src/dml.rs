//! UPSERT, INSERT and DELETE over one table.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_plan::Condition;
use saltwing_sql::statement::{Delete, Hint, OnConflict, RowSource, Upsert};
use saltwing_sql::{ColumnName, DynamicColumn, is_default};
use saltwing_types::{ColumnDef, Expr, SqlType, TableDef, Value, eval, interrupt, number, typing};
use sqlparser::ast::Query;

use crate::arbiters::Arbiters;
use crate::computed::expr_of;
use crate::condition::conditions;
use crate::conflict::{BoundConflict, ConflictUpdate, UpdateSubquery, conflict, named_subqueries};
use crate::engine::EngineFunctions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::{check_not_generated, is_generated};
use crate::hint::canonical_hints;
use crate::identity::check_identity;
use crate::lower::{LowerError, Lowerer, Params};
use crate::names::Names;
use crate::query::BoundWith;
use crate::query_binder::BinderState;
use crate::row_rules::RowRules;
use crate::scope::Scope;
use crate::statement_query::{ComputedQuery, Root, StatementQuery};
use crate::table_constants::constant_conditions;
use crate::target::{NamedTarget, Target};
use crate::target_rows::{RowCondition, TargetOutput, TargetRows, TargetSource, limit_clause};
use crate::tree::SequenceUses;

/// Rows into a table.
pub struct BoundUpsert {
    /// Where they go.
    pub target: UpsertTarget,
    /// The rows.
    pub source: BoundSource,
    /// Values of the rows that our language has no words for: they are NULL in the rows.
    pub computed: Vec<ComputedValue>,
    /// Values of the rows that are taken from sequences: they are NULL in the rows.
    pub sequenced: Vec<SequencedRow>,
    /// Values that wait for parameters, with the types that these get. They are NULL in the rows.
    pub open: Vec<Expr>,
    /// The subqueries of [`UpsertTarget::update`].
    pub subqueries: Vec<UpdateSubquery>,
}

/// A value of VALUES that the relational engine computes: see [`ComputedQuery`](crate::ComputedQuery).
pub struct ComputedValue {
    /// In which row it stands, from 0.
    pub row: usize,
    /// In which place of the row, from 0.
    pub place: usize,
    /// The expression, or the DEFAULT that it stands for.
    pub expr: Box<sqlparser::ast::Expr>,
}

/// A row of VALUES that takes values of sequences.
pub struct SequencedRow {
    /// Which row, from 0.
    pub row: usize,
    /// The sequences.
    pub uses: SequenceUses,
    /// Places in the row, from 0, with their expressions: see [`SequenceUses::of_row`].
    pub values: Vec<(usize, Expr)>,
}

/// Where rows go.
pub struct UpsertTarget {
    /// The table.
    pub table: Arc<Table>,
    /// The columns written, by index, in the order of the values.
    pub columns: Vec<usize>,
    /// The handling of a row whose key already exists.
    pub on_conflict: OnConflict,
    /// Whether unwritten columns keep their values, so that the row must be read.
    pub partial: bool,
    /// The keys by which rows are there.
    pub arbiters: Arbiters,
    /// The change of a row whose key is there, instead of [`UpsertTarget::on_conflict`].
    pub update: Option<ConflictUpdate>,
    /// What the rows obey.
    pub rules: Option<RowRules>,
    /// Columns beside those written that new rows take a value for which is computed for each row, by index: their
    /// values stand in each row after those of `columns`.
    pub computed_defaults: Vec<usize>,
    /// The key column that new rows without a value for it take the time of the write for, by index.
    pub row_timestamp: Option<usize>,
    /// The dynamic columns that are written. In `columns` they follow those of the table.
    pub dynamic: Vec<ColumnDef>,
    /// The values of the last of `columns`, which the conditions of a view give to each row of a query: the query does not have them.
    pub constants: Vec<Value>,
}

impl UpsertTarget {
    /// The target of rows of these columns, by index.
    ///
    /// # Errors
    /// A column that is generated; those of [`RowRules::of`].
    pub fn new(table: Arc<Table>, columns: Vec<usize>, on_conflict: OnConflict) -> Result<Self> {
        let def = table.def();
        if table.has_generated() {
            check_not_generated(def, &columns, None)?;
        }
        let is_computed = |column: &ColumnDef| column.default.as_ref().is_some_and(|default| default.is_of_new_row());
        let computed = def.columns.iter().enumerate().filter(|(_, column)| is_computed(column)).map(|(index, _)| index);
        let computed_defaults = computed.filter(|index| !columns.contains(index)).collect();
        let rules = RowRules::of(&table)?;
        let row_timestamp = table.time_column().filter(|time| time.is_row_timestamp).map(|time| time.column);
        let mut target = Self {
            table,
            columns,
            on_conflict,
            partial: false,
            arbiters: Arbiters::primary_key(),
            update: None,
            rules,
            computed_defaults,
            row_timestamp,
            dynamic: Vec::new(),
            constants: Vec::new(),
        };
        target.set_on_conflict(on_conflict);
        Ok(target)
    }

    /// Whether dynamic columns are written.
    pub fn writes_dynamic_columns(&self) -> bool {
        !self.dynamic.is_empty() || self.update.as_ref().is_some_and(|update| !update.dynamic.is_empty())
    }

    /// How many values a row of a query has.
    pub fn given(&self) -> usize {
        self.columns.len().saturating_sub(self.constants.len())
    }

    /// A column that is written, by its index in [`UpsertTarget::columns`].
    pub fn column(&self, index: usize) -> Option<&ColumnDef> {
        self.table.def().written_column(&self.dynamic, index)
    }

    /// Sets the handling of rows whose keys already exist.
    pub fn set_on_conflict(&mut self, on_conflict: OnConflict) {
        let def = self.table.def();
        // A column that is neither written nor in the key nor computed keeps its value.
        let leaves_out = |(index, column): (usize, &ColumnDef)| {
            !self.columns.contains(&index) && def.key.position(index).is_none() && column.generated().is_none()
        };
        self.partial = on_conflict == OnConflict::Replace && def.columns.iter().enumerate().any(leaves_out);
        self.arbiters = match on_conflict {
            OnConflict::Ignore => Arbiters::all(&self.table),
            OnConflict::Replace | OnConflict::Error => Arbiters::primary_key(),
        };
        self.on_conflict = on_conflict;
    }

    /// Whether rows are looked up before they are written; those with a hidden key are always new.
    pub fn reads_rows(&self) -> bool {
        let is_looked_up = self.partial || self.update.is_some() || self.on_conflict != OnConflict::Replace;
        is_looked_up && (!self.table.def().has_hidden_key() || !self.arbiters.indexes.is_empty())
    }
}

/// Where the rows come from.
pub enum BoundSource {
    /// Constants, computed and brought to the columns' types.
    Rows(Vec<Vec<Value>>),
    /// A query with as many columns.
    Query(Box<Query>),
}

/// Rows out of a table.
pub struct BoundDelete {
    /// The table.
    pub table: Arc<Table>,
    /// Another name for it: an alias, or a view.
    pub alias: Option<String>,
    /// The hints of the statement, by the names that definitions have.
    pub hints: Vec<Hint>,
    /// Which rows.
    pub rows: DeletedRows,
}

/// The rows that a DELETE deletes.
pub enum DeletedRows {
    /// Those that meet conditions.
    Where(Vec<Condition>),
    /// Those of a query: see [`TargetQuery::Delete`](crate::TargetQuery::Delete).
    Query,
}

/// Binds an UPSERT or INSERT.
///
/// # Errors
/// [`BindErrorKind`] with the place; for a value, with its column.
pub fn upsert(
    statement: &Upsert,
    insert: bool,
    (catalog, engine): (&dyn CatalogReader, &dyn EngineFunctions),
    params: Params<'_>,
) -> Result<BoundUpsert> {
    let target = Target::resolve(catalog, &statement.table)?;
    let table = target.table.clone();
    let (mut columns, mut dynamic) = target.listed_columns(statement.columns.as_deref(), &statement.dynamic)?;
    if let Some(count) = count_of_first_columns(statement) {
        columns.truncate(count);
    }
    let (named, mut columns) = match &statement.source {
        RowSource::Values(rows) if table.has_generated() => {
            let first = rows.first().filter(|_| statement.columns.is_none() && target.view.is_none());
            with_generated(&table, columns, first.map(|row| row.values.len()))
        }
        _ => (columns.clone(), columns),
    };
    let view = target.view.as_deref().filter(|view| !view.constants.is_empty());
    let of_view = |column, dynamic: &[ColumnDef]| view.and_then(|view| view.constant_of(column, dynamic));
    let mut constants = target.add_constants((&mut columns, &mut dynamic));
    let (mut computed, mut sequenced, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let source = match &statement.source {
        RowSource::Query(query) => {
            let targets = columns.iter().filter_map(|&column| table.def().columns.get(column));
            for target in targets.filter(|_| !statement.overriding) {
                check_identity(table.def(), target, None, Some(statement.table.span()))?;
            }
            let mut of_conditions = named
                .iter()
                .enumerate()
                .filter_map(|(place, &column)| Some((place, view?.name_of(of_view(column, &dynamic)?.0))));
            if let Some((place, name)) = of_conditions.next() {
                return Err(given_by_query(statement, place, name));
            }
            BoundSource::Query(query.clone())
        }
        RowSource::Values(rows) => {
            let scope = Scope::empty();
            let lowerer = Lowerer::new(&scope, params);
            let mut bound = Vec::with_capacity(rows.len());
            for (row_number, row) in rows.iter().enumerate() {
                interrupt::spend(row.values.len()).map_err(BindErrorKind::from)?;
                if row.values.len() != named.len() {
                    let error = BindErrorKind::WrongValueCount { values: row.values.len(), columns: named.len() };
                    return Err(BindError::from(error).at(Some(row.span)).phoenix(1020));
                }
                // With more rows than this, the values are not examined one by one.
                let given = match (row.first_parameter, params) {
                    (Some(first), Params::Given(given)) => given.values.get(first..first + named.len()),
                    _ => None,
                };
                let mut values = Vec::with_capacity(columns.len());
                for (place, (value, &column)) in row.values.iter().zip(&named).enumerate() {
                    let given = given.and_then(|given| given.get(place));
                    if let Some((view, constant)) = view.zip(of_view(column, &dynamic)) {
                        if given.is_none() && is_default(value) {
                            values.push(constant.1.clone());
                            continue;
                        }
                        view.check(constant, value, params)?;
                    }
                    if table.has_generated() {
                        if is_generated_value(&table, column, value, given)? {
                            continue;
                        }
                        if let Some(target) = table.def().columns.get(column).filter(|_| !statement.overriding) {
                            check_identity(table.def(), target, Some(value), None)?;
                        }
                    }
                    let place = values.len();
                    let target = table.def().columns.get(column);
                    let target = target.or_else(|| dynamic.get(column - table.def().columns.len()));
                    values.push(match bind_value(&lowerer, (value, given), table.def(), target)? {
                        BoundValue::Known(value) => value,
                        BoundValue::Open(expr) => {
                            open.push(*expr);
                            Value::Null
                        }
                        BoundValue::Computed(expr) => {
                            if !takes_sequence(&mut sequenced, (row_number, place), &expr, params)? {
                                computed.push(ComputedValue { row: row_number, place, expr });
                            }
                            Value::Null
                        }
                    });
                }
                values.extend(constants.iter().cloned());
                bound.push(values);
            }
            // The rows have them.
            constants.clear();
            open.extend(sequenced.iter().flat_map(|row| &row.values).map(|(_, expr)| expr.clone()));
            BoundSource::Rows(bound)
        }
    };
    check_not_null(&table, &columns).map_err(|error| error.at(Some(statement.table.span())))?;
    let on_conflict = if insert { OnConflict::Error } else { OnConflict::Replace };
    let mut subqueries = Vec::new();
    let bind_conflict = |clause| {
        let known = target.known_columns(&declared_by(statement))?;
        let alias = statement.alias.as_ref().map(|alias| alias.text.clone());
        let query = ComputedQuery { exprs: &[], rows: 1, hints: &statement.hints, span: statement.span };
        let state = BinderState::new(Root::Query(StatementQuery::Computed(query)));
        let with = BoundWith { catalog, engine, params, names: Names::Statement };
        with.binding(&state, |binder| {
            let bound = conflict(clause, &target, (alias, known), binder)?;
            if let (BoundConflict::Update(update), _) = &bound {
                subqueries = named_subqueries(update, binder).map_err(|error| error.at(Some(clause.span)))?;
            }
            Ok(bound)
        })
    };
    let target = match statement.conflict.as_ref().map(bind_conflict).transpose()? {
        None => UpsertTarget::new(table, columns, on_conflict)?,
        Some((BoundConflict::Plain(on_conflict), arbiters)) => {
            UpsertTarget { arbiters, ..UpsertTarget::new(table, columns, on_conflict)? }
        }
        Some((BoundConflict::ReplaceRow, _)) => {
            UpsertTarget { partial: false, ..UpsertTarget::new(table, columns, OnConflict::Replace)? }
        }
        Some((BoundConflict::Update(update), arbiters)) => {
            open.extend(update.assignments.iter().map(|(_, value)| value).chain(&update.condition).cloned());
            UpsertTarget { update: Some(update), arbiters, ..UpsertTarget::new(table, columns, OnConflict::Error)? }
        }
    };
    let target = UpsertTarget { dynamic, constants, ..target };
    Ok(BoundUpsert { target, source, computed, sequenced, open, subqueries })
}

/// How many columns the values of a statement are for, which may be fewer than the table has; `None` if they are for all that are listed.
fn count_of_first_columns(statement: &Upsert) -> Option<usize> {
    match &statement.source {
        RowSource::Values(rows) if statement.takes_first_columns && statement.columns.is_none() => {
            rows.first().map(|row| row.values.len())
        }
        _ => None,
    }
}

/// The columns that have a place in VALUES, and those of them that are not generated. `count` is how many values the first row
/// of a statement without a list has: generated columns may have a place then, too.
fn with_generated(table: &Table, columns: Vec<usize>, count: Option<usize>) -> (Vec<usize>, Vec<usize>) {
    let def = table.def();
    let is_given = |column: &usize| def.columns.get(*column).is_none_or(|column| column.generated().is_none());
    let shown = || (0..def.columns.len()).filter(|column| def.columns.get(*column).is_some_and(|it| !it.hidden));
    let named = if count == Some(shown().count()) { shown().collect() } else { columns };
    let given = named.iter().copied().filter(is_given).collect();
    (named, given)
}

/// Whether a value stands for that of a generated column.
///
/// # Errors
/// It is none but DEFAULT.
fn is_generated_value(
    table: &Table,
    column: usize,
    value: &sqlparser::ast::Expr,
    given: Option<&Value>,
) -> Result<bool> {
    let def = table.def();
    match def.columns.get(column) {
        // The parameter stands in `value`, too.
        Some(target) if target.generated().is_some() && given.is_some() => {
            check_not_generated(def, &[column], saltwing_sql::expr_span(value)).map(|()| false)
        }
        Some(target) => is_generated(def, target, value),
        None => Ok(false),
    }
}

/// The dynamic columns that a statement declares by writing them.
pub(crate) fn declared_by(statement: &Upsert) -> Vec<DynamicColumn> {
    let columns = statement.columns.as_deref().unwrap_or_default();
    let column = |(place, ty): &(usize, SqlType)| Some(DynamicColumn { column: columns.get(*place)?.clone(), ty: *ty });
    statement.dynamic.iter().filter_map(column).collect()
}

/// The error of a query for the rows that gives a column at a place whose value is known.
fn given_by_query(statement: &Upsert, place: usize, name: &str) -> BindError {
    let written = statement.columns.as_ref().and_then(|columns| columns.get(place));
    let span = written.map_or_else(|| statement.table.span(), ColumnName::span);
    let what = format!("{name} among the columns that a query gives to view {}", statement.table);
    let error = BindError::from(BindErrorKind::NotSupported(what)).at(Some(span));
    error.help("list the other columns: the view gives this one its value")
}

/// Adds the value at a place of a row if it takes values of sequences; whether it does.
fn takes_sequence(
    sequenced: &mut Vec<SequencedRow>,
    (row, place): (usize, usize),
    expr: &sqlparser::ast::Expr,
    params: Params<'_>,
) -> Result<bool> {
    let new = || SequencedRow { row, uses: SequenceUses::default(), values: Vec::new() };
    let mut taking = sequenced.pop_if(|last| last.row == row).unwrap_or_else(new);
    let value = taking.uses.of_row(expr, params)?;
    let takes = value.is_some();
    taking.values.extend(value.map(|value| (place, value)));
    sequenced.extend((!taking.values.is_empty()).then_some(taking));
    Ok(takes)
}

/// Binds a DELETE.
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub fn delete(statement: &Delete, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<BoundDelete> {
    let target = Target::resolve(catalog, &statement.table)?;
    let alias = statement.alias.as_ref().map(|alias| alias.text.clone());
    let scope = target.scope(alias.clone())?;
    let Delete { dynamic, using, order_by, limit, selection, .. } = statement;
    let view = target.view.as_deref();
    let is_queried = !dynamic.is_empty() || view.is_some_and(|view| !view.own.is_empty());
    let of_view = || view.map_or_else(|| constant_conditions(&target.table, 0), |view| view.conditions.clone());
    let rows = match selection {
        _ if is_queried || !using.is_empty() || order_by.is_some() || limit.is_some() => DeletedRows::Query,
        None => DeletedRows::Where(of_view()),
        Some(selection) => match Lowerer::new(&scope, params).lower(selection) {
            Ok(e) => {
                let own = conditions(typing::condition(e)?);
                DeletedRows::Where(of_view().into_iter().chain(own).collect())
            }
            Err(LowerError::Unsupported(..)) => DeletedRows::Query,
            Err(LowerError::Invalid(error)) => return Err(error),
        },
    };
    let alias = alias.or_else(|| view.map(|view| view.def.name.name.clone()));
    let hints = canonical_hints(&statement.hints, catalog)?.into_owned();
    Ok(BoundDelete { table: target.table, alias, hints, rows })
}

/// The rows that a DELETE deletes.
pub(crate) fn deleted_rows(statement: &Delete) -> TargetRows<'_> {
    let Delete { table, dynamic, alias, using, selection, order_by, limit, returning, .. } = statement;
    TargetRows {
        named: NamedTarget { table, dynamic: dynamic.as_ref(), alias: alias.as_ref() },
        output: TargetOutput::of_deleted(returning.is_some()),
        values: Vec::new(),
        source: TargetSource::Beside(using),
        conditions: selection.iter().map(RowCondition::Holds).collect(),
        order_by: order_by.as_ref(),
        limit: limit.as_ref().map(limit_clause),
    }
}

/// A NOT NULL column without a DEFAULT must be among those written; the hidden row id is made.
pub(crate) fn check_not_null(table: &Table, columns: &[usize]) -> Result<()> {
    let def = table.def();
    for (i, column) in def.columns.iter().enumerate() {
        let takes_time = table.time_column().is_some_and(|time| time.is_row_timestamp && time.column == i);
        let missing = !columns.contains(&i) && !column.hidden && !takes_time && column.default.is_none();
        if missing && !column.nullable {
            return Err(BindErrorKind::NotNull(format!("{}.{}", def.name, column.name)).into());
        }
    }
    Ok(())
}

/// The kind of an expression of VALUES.
enum BoundValue {
    Known(Value),
    /// It waits for parameters.
    Open(Box<Expr>),
    /// The relational engine knows what it is.
    Computed(Box<sqlparser::ast::Expr>),
}

/// The value of an expression, which is `given` where that is known, as one of a column.
fn bind_value(
    lowerer: &Lowerer<'_>,
    (value, given): (&sqlparser::ast::Expr, Option<&Value>),
    def: &TableDef,
    target: Option<&ColumnDef>,
) -> Result<BoundValue> {
    let Some(target) = target else {
        return Err(BindErrorKind::Syntax("a column is missing".into()).into());
    };
    let place = |error: BindError| error.at(saltwing_sql::expr_span(value));
    if given.is_none() && is_default(value) {
        return match &target.default {
            Some(default) if default.is_of_new_row() => Ok(BoundValue::Computed(Box::new(expr_of(&default.text)?))),
            Some(default) => Ok(BoundValue::Known(eval::eval(&default.expr, &[])?)),
            None => Ok(BoundValue::Known(Value::Null)),
        };
    }
    let wrong = |source| {
        let column = Some(format!("{}.{}", def.name, target.name));
        place(BindErrorKind::Value { column, source }.into())
    };
    let assigned = |value, from| number::assign_from(value, from, target.ty);
    let value = match given {
        Some(given) => assigned(given.clone(), typing::natural_type(given)),
        None => match lowerer.lower(value) {
            Ok(Expr::Literal(value, ty)) => assigned(value, ty),
            Ok(Expr::Param(index, None)) => return Ok(BoundValue::Open(Box::new(Expr::Param(index, Some(target.ty))))),
            Ok(e) if !e.is_constant() => return Ok(BoundValue::Open(Box::new(e))),
            Ok(e) => eval::eval(&e, &[]).and_then(|value| assigned(value, e.sql_type().unwrap_or(SqlType::Null))),
            Err(LowerError::Unsupported(..)) => return Ok(BoundValue::Computed(Box::new(value.clone()))),
            Err(wrong) => return Err(place(wrong.into_error())),
        },
    };
    match value.map_err(wrong)? {
        Value::Null if !target.nullable => {
            Err(place(BindErrorKind::NullGiven(format!("{}.{}", def.name, target.name)).into()))
        }
        value => Ok(BoundValue::Known(value)),
    }
}
