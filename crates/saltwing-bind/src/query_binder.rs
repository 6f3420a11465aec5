//! What the queries of one statement are bound with.

use std::cell::Cell;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::Hint;
use saltwing_types::table::is_same_name;
use sqlparser::ast::Cte;

use crate::collector::Collector;
use crate::lower::{LowerError, Lowerer, Params};
use crate::scope::Scope;
use crate::subquery::Subquery;
use crate::tree::ColumnIds;

/// What binding gives, or why the query is not bound.
pub(crate) type Bound<T> = std::result::Result<T, LowerError>;

/// The query is left to the relational engine.
pub(crate) fn foreign<T>(what: &str) -> Bound<T> {
    Err(LowerError::Unsupported(what.to_owned(), None))
}

/// Binds the queries of one statement.
#[derive(Clone, Copy)]
pub(crate) struct QueryBinder<'a> {
    pub(crate) catalog: &'a dyn CatalogReader,
    pub(crate) params: Params<'a>,
    pub(crate) subqueries: &'a [Subquery],
    pub(crate) ids: &'a ColumnIds,
    pub(crate) hints: &'a [Hint],
    /// The WITH queries that a FROM clause may name.
    pub(crate) ctes: Option<&'a CteScope<'a>>,
}

impl QueryBinder<'_> {
    /// Lowers the expressions over a scope.
    pub(crate) fn lowerer<'s>(&'s self, scope: &'s Scope, collector: Option<&'s Collector<'s>>) -> Lowerer<'s> {
        Lowerer { scope, params: self.params, subqueries: self.subqueries, operands: &[], collector }
    }
}

/// The queries of a WITH clause.
pub(crate) struct CteScope<'a> {
    /// Those of the WITH clauses around it.
    pub(crate) around: Option<&'a CteScope<'a>>,
    pub(crate) list: &'a [Cte],
    /// How many of them, from the first on, may be named.
    pub(crate) visible: usize,
    /// RECURSIVE.
    pub(crate) is_recursive: bool,
    /// The number of the first one: see [`ColumnIds::take_ctes`].
    pub(crate) first_number: usize,
    /// Which of them were named.
    pub(crate) named: &'a [Cell<bool>],
}

/// A query of a WITH clause that a FROM clause names.
pub(crate) struct NamedCte<'a> {
    pub(crate) cte: &'a Cte,
    /// Its number, which no other query of a WITH clause in the statement has.
    pub(crate) number: usize,
    /// What it may name itself.
    pub(crate) scope: CteScope<'a>,
}

impl<'a> CteScope<'a> {
    /// The query of a name: the innermost one.
    pub(crate) fn find(&'a self, name: &str) -> Bound<Option<NamedCte<'a>>> {
        let is_it = |cte: &Cte| is_same_name(&cte.alias.name.value, name);
        let hidden = self.list.get(self.visible..).unwrap_or_default();
        if self.is_recursive && hidden.iter().any(is_it) {
            return foreign("a recursive query");
        }
        let visible = self.list.get(..self.visible).unwrap_or_default();
        match visible.iter().position(is_it).and_then(|place| Some((place, visible.get(place)?))) {
            Some((place, cte)) => {
                self.named.get(place).inspect(|named| named.set(true));
                let scope = CteScope { visible: place, ..*self };
                Ok(Some(NamedCte { cte, number: self.first_number + place, scope }))
            }
            None => self.around.map_or(Ok(None), |around| around.find(name)),
        }
    }
}
