//! The rows of a target as a query: scanned, joined with the other items of FROM, filtered, and given new values.
//!
//! ```text
//! UPDATE t SET a = x.b FROM x WHERE t.k = x.k    the physical key, k, a = x.b
//!                                                  join on t.k = x.k
//!                                                    scan t
//!                                                    scan x
//! ```

use saltwing_types::{Expr, SqlType, typing};
use sqlparser::ast::{self, LimitClause, TableWithJoins};

use crate::error::BindError;
use crate::from::Named;
use crate::query_binder::{Bound, QueryBinder};
use crate::resolve::table_of;
use crate::scope::Scope;
use crate::select::{QueryClauses, SelectBinder};
use crate::select_tree::{Clauses, Item};
use crate::sequence_collector::SequenceCollector;
use crate::table_constants::constant_conditions;
use crate::target::NamedTarget;
use crate::tree::{BoundQuery, JoinKind, Scan};

/// What a query gives of the rows of its target.
pub(crate) enum TargetOutput {
    /// Its items alone: they are new rows for the target.
    Items,
    /// The physical key of each row, then its items. If the table is compared ([`Table::is_compared`](saltwing_access::Table)), all its columns follow
    /// the key.
    Keys,
    /// The physical key of each row, then all columns of its table, hidden ones too. If there are items, and the table is compared or has indexes, all
    /// columns of the table before the change follow.
    Rows {
        /// For each item, the index of the column whose new value it is. Items of dynamic columns come last.
        assigned: Vec<usize>,
    },
}

impl TargetOutput {
    /// Of rows to be deleted.
    pub(crate) fn of_deleted(is_returned: bool) -> Self {
        if is_returned { Self::Rows { assigned: Vec::new() } } else { Self::Keys }
    }
}

/// Rows of a target, or for it.
pub(crate) struct TargetRows<'a> {
    pub(crate) named: NamedTarget<'a>,
    pub(crate) output: TargetOutput,
    /// The items.
    pub(crate) values: Vec<AssignedValue<'a>>,
    pub(crate) source: TargetSource<'a>,
    /// All of these hold for its rows.
    pub(crate) conditions: Vec<RowCondition<'a>>,
    pub(crate) order_by: Option<&'a ast::OrderBy>,
    pub(crate) limit: Option<LimitClause>,
}

/// A value for a column.
pub(crate) enum AssignedValue<'a> {
    Null,
    Given(&'a ast::Expr),
    /// A parameter without a value: it gets the type of the column.
    Open(&'a ast::Expr, SqlType),
    /// DEFAULT.
    Default(Box<ast::Expr>),
}

/// Where the rows come from.
pub(crate) enum TargetSource<'a> {
    /// The target, beside these items of FROM.
    Beside(&'a [TableWithJoins]),
    /// Pairs of a row of the target and one of this item for which the condition holds.
    Matched(&'a TableWithJoins, &'a ast::Expr),
    /// Rows of the target for which no row of this item fulfils the condition.
    NotInSource(&'a TableWithJoins, &'a ast::Expr),
    /// Rows of this item for which no row of the target fulfils the condition.
    NotInTarget(&'a TableWithJoins, &'a ast::Expr),
}

/// A condition on rows.
pub(crate) enum RowCondition<'a> {
    /// It is true.
    Holds(&'a ast::Expr),
    /// It is false or NULL.
    Fails(&'a ast::Expr),
    /// No row fulfils it.
    Never,
}

impl QueryBinder<'_> {
    /// The tree of a query for rows of a target.
    pub(crate) fn target_rows(&self, rows: &TargetRows<'_>, sequences: &SequenceCollector<'_>) -> Bound<BoundQuery> {
        let first_input = self.ids.next();
        let from = self.rows_from(rows)?;
        let clauses = QueryClauses {
            order_by: rows.order_by,
            limit: rows.limit.as_ref(),
            sequences: Some(sequences),
            ..QueryClauses::default()
        };
        self.over(from, first_input, &[], clauses, |binder| {
            let items = rows.values.iter().map(|value| binder.assigned(value)).collect::<Bound<Vec<Item>>>()?;
            let items = binder.with_row(items, &rows.output)?;
            let conditions = binder.row_conditions(&rows.conditions)?;
            let order = binder.order(&items)?;
            let (limit, offset) = binder.limit()?;
            Ok(Clauses { items, conditions, order, limit, offset, ..Clauses::default() })
        })
    }

    /// The relation that has the rows, before conditions.
    fn rows_from(&self, rows: &TargetRows<'_>) -> Bound<Named> {
        let target = || self.target(&rows.named, false);
        let of_source = |source: &TableWithJoins| self.from(std::slice::from_ref(source));
        match rows.source {
            TargetSource::Beside(items) => self.beside(target()?, items),
            TargetSource::Matched(source, on) => {
                self.joined_on(target()?, of_source(source)?, JoinKind::Inner, on, false)
            }
            TargetSource::NotInSource(source, on) => {
                self.joined_on(target()?, of_source(source)?, JoinKind::Anti, on, false)
            }
            TargetSource::NotInTarget(source, on) => {
                let source = of_source(source)?;
                self.joined_on(source, target()?, JoinKind::Anti, on, false)
            }
        }
    }

    /// The rows of a target under its name or an alias. Rows that the statement has written need not fulfil the conditions of a view.
    pub(crate) fn target(&self, named: &NamedTarget<'_>, is_written: bool) -> Bound<Named> {
        let (schema, name) = named.table.parts();
        let span = Some(named.table.span());
        if self.catalog.has_views()
            && let Some(view) = self.catalog.view(schema, name).map_err(|error| BindError::from(error).at(span))?
        {
            return self.target_view(&view, named, is_written);
        }
        let table = table_of(self.catalog, schema, name).map_err(|error| BindError::from(error).at(span))?;
        self.note_read(&table.def().name);
        let (alias, first_column) = (named.alias.map(|alias| alias.text.clone()), self.ids.take(table.width()));
        let scan = Scan { table, as_of: None, alias, span, first_column, hints: self.hints.to_vec() };
        let is_public = named.alias.is_none() && self.names.is_public(&scan.table.def().name, self.catalog)?;
        let scope = Scope::of_scan(&scan, named.alias.map_or(span, |alias| Some(alias.span))).public(is_public);
        let conditions = if is_written { Vec::new() } else { constant_conditions(&scan.table, first_column) };
        let (relation, scope) = self.with_dynamic_columns(scan, scope, named.dynamic)?;
        Ok((relation.filtered(conditions), scope))
    }
}

impl SelectBinder<'_> {
    /// A value for a column.
    fn assigned(&self, value: &AssignedValue<'_>) -> Bound<Item> {
        let lower = |e| self.item_lowerer.lower(e);
        let expr = match value {
            AssignedValue::Null => Expr::NULL,
            AssignedValue::Given(e) => lower(e)?,
            AssignedValue::Default(e) => lower(e)?,
            AssignedValue::Open(e, ty) => match lower(e)? {
                Expr::Param(index, None) => Expr::Param(index, Some(*ty)),
                typed => typing::cast(typed, *ty)?,
            },
        };
        self.item(expr.to_string(), expr)
    }

    fn row_conditions(&self, conditions: &[RowCondition<'_>]) -> Bound<Vec<saltwing_plan::Condition>> {
        let lowered = |condition: &RowCondition<'_>| match condition {
            RowCondition::Holds(e) => self.condition(&self.row_lowerer, e),
            RowCondition::Fails(e) => Ok(typing::not(typing::is_truth(self.row_lowerer.lower(e)?, Some(true))?)?),
            RowCondition::Never => Ok(Expr::Literal(saltwing_types::Value::Bool(false), SqlType::Boolean)),
        };
        let lowered = conditions.iter().map(lowered).collect::<Bound<Vec<Expr>>>()?;
        Ok(lowered.into_iter().flat_map(crate::condition::conditions).collect())
    }
}

/// `LIMIT` of the rows that a statement changes.
pub(crate) fn limit_clause(limit: &ast::Expr) -> LimitClause {
    LimitClause::LimitOffset { limit: Some(limit.clone()), offset: None, limit_by: Vec::new() }
}
