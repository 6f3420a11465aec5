//! The calls of aggregate functions in a SELECT, as columns.

use std::cell::RefCell;

use saltwing_types::{ColumnRef, Expr};

use crate::aggregate::{AggregateCall, AggregateFunction};
use crate::tree::{CallColumn, ColumnIds};

/// Collects the calls of aggregate functions in the expressions of a SELECT, each as a column.
pub struct Collector<'a> {
    ids: &'a ColumnIds,
    /// The id of the first column that the FROM clause does not give.
    first_own: usize,
    calls: RefCell<Vec<CallColumn>>,
    /// Items by alias in lower case, for GROUP BY and HAVING.
    aliases: RefCell<Vec<(String, Expr)>>,
}

impl<'a> Collector<'a> {
    /// A collector for the columns with ids below `first_own`; it gives calls new ones.
    pub(crate) fn new(ids: &'a ColumnIds, first_own: usize) -> Self {
        Self { ids, first_own, calls: RefCell::default(), aliases: RefCell::default() }
    }

    /// Lets expressions that follow name an item by its alias, where no column has that name.
    pub(crate) fn name_item(&self, alias: &str, item: &Expr) {
        self.aliases.borrow_mut().push((alias.to_lowercase(), item.clone()));
    }

    pub(crate) fn alias(&self, name: &str) -> Option<Expr> {
        let name = name.to_lowercase();
        self.aliases.borrow().iter().find(|(alias, _)| *alias == name).map(|(_, item)| item.clone())
    }

    /// Whether a column is one that the FROM clause gives.
    pub(crate) fn is_input_column(&self, column: &ColumnRef) -> bool {
        column.index < self.first_own
    }

    /// The column of a call: the same one for equal calls.
    pub(crate) fn column(&self, call: AggregateCall, name: String) -> Expr {
        let mut calls = self.calls.borrow_mut();
        if let Some(known) = calls.iter().find(|known| known.call == call) {
            return Expr::Column(ColumnRef { name, ..known.column.clone() });
        }
        let (ty, nullable) = (call.ty, call.function != AggregateFunction::Count);
        let column = ColumnRef { index: self.ids.take(1), name, ty, nullable, span: None };
        calls.push(CallColumn { column: column.clone(), call });
        Expr::Column(column)
    }

    /// Whether no call was met.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.borrow().is_empty()
    }

    /// The calls met, in the order in which they were met.
    pub(crate) fn into_calls(self) -> Vec<CallColumn> {
        self.calls.into_inner()
    }
}
