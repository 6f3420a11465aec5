//! The clauses of a SELECT, and those around a query.

use saltwing_sql::expr_span;
use saltwing_sql::statement::SourceText;
use saltwing_types::table::is_same_name;
use saltwing_types::{Expr, eval, typing};
use sqlparser::ast::{self, LimitClause, OrderByKind};

use crate::collation::{Collation, without_collation};
use crate::collector::Collector;
use crate::condition::conditions;
use crate::error::{BindError, BindErrorKind};
use crate::from::Named;
use crate::lower::Lowerer;
use crate::plain_query::unbound_select_clause;
use crate::query_binder::{Bound, QueryBinder, unsupported};
use crate::row_count::RowCount;
use crate::scope::Scope;
use crate::select_tree::{Clauses, Distinct, Item, OrderBy, OrderItem, Subqueries};
use crate::sequence_collector::SequenceCollector;
use crate::sort_direction::direction;
use crate::subquery_column::SubqueryBinder;
use crate::tree::BoundQuery;
use crate::uncorrelated::no_row_count;
use crate::unnest_collector::UnnestCollector;
use crate::window::check_named_windows;
use crate::window_collector::WindowCollector;

/// What stands around the body of a query, and how the result is called.
#[derive(Clone, Copy, Default)]
pub(crate) struct QueryClauses<'a> {
    /// The items of the SELECT that names its columns as written, if they are known.
    pub(crate) items: &'a [SourceText],
    pub(crate) order_by: Option<&'a ast::OrderBy>,
    pub(crate) limit: Option<&'a LimitClause>,
    /// Whether its rows are a page: LIMIT .. AFTER.
    pub(crate) is_page: bool,
    /// Where values of sequences go, which only the items of the outermost SELECT may have.
    pub(crate) sequences: Option<&'a SequenceCollector<'a>>,
}

impl QueryBinder<'_> {
    /// The tree of a SELECT and the clauses around it.
    pub(crate) fn select(&self, select: &ast::Select, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        if let Some(clause) = unbound_select_clause(select) {
            return unsupported(clause);
        }
        let first_input = self.ids.next();
        let from = self.from(&select.from)?;
        self.over(from, first_input, &select.named_window, clauses, |binder| binder.clauses(select))
    }

    /// The tree of the clauses that `bind` gives over the relation of FROM, whose columns have ids from `first_input` on.
    pub(crate) fn over(
        &self,
        (relation, scope): Named,
        first_input: usize,
        named_windows: &[ast::NamedWindowDefinition],
        clauses: QueryClauses<'_>,
        bind: impl FnOnce(&SelectBinder<'_>) -> Bound<Clauses<'static>>,
    ) -> Bound<BoundQuery> {
        let collector = Collector::new(self.ids, first_input);
        let (of_where, others) = (SubqueryBinder::new(self, &scope), SubqueryBinder::new(self, &scope));
        check_named_windows(named_windows)?;
        let windows = WindowCollector::new(self.ids, named_windows);
        let lowerer = Lowerer { windows: Some(&windows), ..others.lowerer(Some(&collector)) };
        let row_lowerer = Lowerer { clause: Some("WHERE"), ..of_where.lowerer(None) };
        let unnests = UnnestCollector::new(self, &others);
        let item_lowerer = Lowerer { unnests: Some(&unnests), sequences: clauses.sequences, ..lowerer };
        let (collected, queries, sequences) = (&collector, &others, clauses.sequences);
        let binder =
            SelectBinder { lowerer, row_lowerer, item_lowerer, collector: collected, queries, scope: &scope, clauses };
        let clauses = bind(&binder)?;
        let (windows, unnests) = (windows.into_calls(), unnests.into_columns());
        let clauses = Clauses { windows, unnests, sequences, ..clauses };
        let subqueries = Subqueries { of_where: of_where.into_subqueries(), others: others.into_subqueries() };
        clauses.bound(self.ids, collector, subqueries, relation)
    }

    /// The tree of a query whose rows `query` gives, with the clauses around it: they are over its columns.
    pub(crate) fn around(&self, query: BoundQuery, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        let scope = Scope::of_query(query.output.clone(), None, None);
        // Its columns are items by themselves.
        let collector = Collector::new(self.ids, 0);
        let found = SubqueryBinder::new(self, &scope);
        let (lowerer, row_lowerer) = (found.lowerer(None), found.lowerer(None));
        let (collected, queries, scope) = (&collector, &found, &scope);
        let item_lowerer = lowerer;
        let binder = SelectBinder { lowerer, row_lowerer, item_lowerer, collector: collected, queries, scope, clauses };
        let items: Vec<Item> = query.output.into_iter().map(Item::of_column).collect();
        let order = binder.order(&items)?;
        let (limit, offset) = binder.limit()?;
        let is_page = clauses.is_page;
        let clauses = Clauses { items, order, limit, offset, is_page, ..Clauses::default() };
        let subqueries = Subqueries { of_where: Vec::new(), others: found.into_subqueries() };
        clauses.bound(self.ids, collector, subqueries, query.relation)
    }
}

/// Binds the clauses of one SELECT.
pub(crate) struct SelectBinder<'a> {
    pub(crate) lowerer: Lowerer<'a>,
    /// Lowers the expressions of WHERE.
    pub(crate) row_lowerer: Lowerer<'a>,
    /// Lowers the items.
    pub(crate) item_lowerer: Lowerer<'a>,
    pub(crate) collector: &'a Collector<'a>,
    /// The subqueries of the clauses other than WHERE.
    pub(crate) queries: &'a SubqueryBinder<'a>,
    pub(crate) scope: &'a Scope,
    pub(crate) clauses: QueryClauses<'a>,
}

impl SelectBinder<'_> {
    fn clauses(&self, select: &ast::Select) -> Bound<Clauses<'static>> {
        let items = self.items(&select.projection)?;
        let of_where = match &select.selection {
            None => Vec::new(),
            Some(selection) => conditions(self.condition(&self.row_lowerer, selection)?),
        };
        let (keys, sets) = self.group_by(&select.group_by, &items)?;
        let having = match &select.having {
            None => Vec::new(),
            Some(having) => self
                .condition(&Lowerer { windows: None, clause: Some("HAVING"), ..self.lowerer }, having)?
                .into_conjuncts(),
        };
        let qualify = match &select.qualify {
            None => Vec::new(),
            Some(qualify) => conditions(self.condition(&self.lowerer, qualify)?),
        };
        let distinct = match &select.distinct {
            None | Some(ast::Distinct::All) => Distinct::No,
            Some(ast::Distinct::Distinct) => Distinct::Rows,
            Some(ast::Distinct::On(on)) => {
                Distinct::On(on.iter().map(|e| self.item_or_expr(e, &items)).collect::<Bound<_>>()?)
            }
        };
        let order = self.order(&items)?;
        let (limit, offset) = self.limit()?;
        let is_page = self.clauses.is_page;
        Ok(Clauses {
            items,
            conditions: of_where,
            keys,
            sets,
            having,
            qualify,
            distinct,
            order,
            limit,
            offset,
            is_page,
            ..Clauses::default()
        })
    }

    pub(crate) fn condition(&self, lowerer: &Lowerer<'_>, e: &ast::Expr) -> Bound<Expr> {
        let lowered = lowerer.lower(e)?;
        typing::condition(lowered).map_err(|error| BindError::from(error).at(expr_span(e)).into())
    }

    /// ORDER BY: items by position or label, and expressions.
    pub(crate) fn order(&self, items: &[Item]) -> Bound<Vec<OrderItem>> {
        let Some(order_by) = self.clauses.order_by else { return Ok(Vec::new()) };
        let list = match &order_by.kind {
            OrderByKind::Expressions(list) => list,
            // All items, in their order.
            OrderByKind::All(options) => {
                let (order, nulls_first) = direction(options);
                let of_item = |place| OrderItem { by: OrderBy::Item(place), order, nulls_first };
                return Ok((0..items.len()).map(of_item).collect());
            }
        };
        list.iter()
            .map(|item| {
                let (e, collation) = without_collation(&item.expr)?;
                let by = match (self.item_or_expr(e, items)?, collation) {
                    (by, None | Some(Collation::Binary)) => by,
                    (OrderBy::Expr(expr), Some(collation)) => OrderBy::Expr(collation.key(expr)?),
                    (OrderBy::Item(place), Some(collation)) => {
                        let item = items.get(place).map_or(Expr::NULL, |item| item.expr.clone());
                        OrderBy::Expr(collation.key(item)?)
                    }
                };
                let (order, nulls_first) = direction(&item.options);
                Ok(OrderItem { by, order, nulls_first })
            })
            .collect()
    }

    /// A number is that of an item. A name is a label first, a column of the table second.
    fn item_or_expr(&self, e: &ast::Expr, items: &[Item]) -> Bound<OrderBy> {
        if let Some(place) = ordinal(e) {
            return match place.checked_sub(1).filter(|place| *place < items.len()) {
                Some(place) => Ok(OrderBy::Item(place)),
                None => Err(no_such_item("ORDER BY", e, items.len()).into()),
            };
        }
        if let ast::Expr::Identifier(name) = e {
            let named = |(_, item): &(usize, &Item)| is_same_name(&item.label, &name.value) && !self.takes_value(item);
            // An alias comes before the label that a column gives to its item.
            let has_alias = items.iter().enumerate().filter(named).any(|(_, item)| item.has_alias);
            let mut named = items.iter().enumerate().filter(named).filter(|(_, item)| item.has_alias == has_alias);
            if let Some((place, item)) = named.next() {
                let others = named.filter(|(_, other)| other.expr != item.expr);
                let others: Vec<String> = others.map(|(_, other)| other.expr.to_string()).collect();
                if others.is_empty() {
                    return Ok(OrderBy::Item(place));
                }
                let candidates = format!("items {} and {}", item.expr, others.join(" and "));
                let error = BindErrorKind::AmbiguousColumn { column: name.value.clone(), candidates };
                let error = BindError::from(error).at(expr_span(e));
                return Err(error.help("write the number of the item, or give the items different aliases").into());
            }
        }
        Ok(OrderBy::Expr(self.lowerer.lower(e)?))
    }

    /// LIMIT and OFFSET.
    pub(crate) fn limit(&self) -> Bound<(RowCount, RowCount)> {
        let (limit, offset) = match self.clauses.limit {
            None => return Ok((RowCount::None, RowCount::None)),
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                (limit.as_ref(), offset.as_ref().map(|o| &o.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(_) => return unsupported("LIMIT BY"),
        };
        let count = |e: Option<&ast::Expr>, clause| e.map_or(Ok(RowCount::None), |e| self.row_count(e, clause));
        let offset = match count(offset, "OFFSET")? {
            RowCount::Rows(0) => RowCount::None,
            other => other,
        };
        Ok((count(limit, "LIMIT")?, offset))
    }

    fn row_count(&self, e: &ast::Expr, clause: &str) -> Bound<RowCount> {
        let lowered = self.lowerer.of_rows().lower(e)?;
        match &lowered {
            Expr::Param(index, _) => Ok(RowCount::Parameter(*index)),
            Expr::Subquery(number, _) => Ok(RowCount::Subquery(*number)),
            computed
                if computed.is_constant()
                    && let Ok(value) = eval::eval(computed, &[])
                    && let Some(rows) = RowCount::of_value(&value) =>
            {
                Ok(rows)
            }
            other => Err(no_row_count(clause, other, expr_span(e)).into()),
        }
    }
}

/// The error of a number in ORDER BY or GROUP BY that is that of no item.
pub(crate) fn no_such_item(clause: &str, number: &ast::Expr, items: usize) -> BindError {
    let text = format!("{clause} {number} is no column of the query, which has {items}");
    let error = BindError::from(BindErrorKind::Syntax(text)).at(expr_span(number));
    error.help("write an expression, or the number of a column from 1 on")
}

/// The number of an `ORDER BY 2`.
pub(crate) fn ordinal(e: &ast::Expr) -> Option<usize> {
    match e {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
