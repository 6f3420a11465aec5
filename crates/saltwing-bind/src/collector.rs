//! The calls of aggregate functions in a SELECT, as columns.

use std::cell::RefCell;
use std::ops::Range;

use saltwing_types::{ColumnRef, Expr, Span, SqlType};

use crate::tree::{CallColumn, ColumnIds, GroupCall};

/// Collects the calls of aggregate functions in the expressions of a SELECT, each as a column.
pub struct Collector<'a> {
    ids: &'a ColumnIds<'a>,
    /// The ids of the columns that the FROM clause gives. Those below are of queries around this one.
    input: Range<usize>,
    calls: RefCell<Vec<CallColumn>>,
    /// The calls of GROUPING: each as a column, and what it names.
    groupings: RefCell<Vec<(ColumnRef, Vec<Expr>)>>,
    /// Items by alias in lower case, for GROUP BY and HAVING.
    aliases: RefCell<Vec<(String, Expr)>>,
    /// The ids of the next calls, while these are collected for a subquery.
    lent: RefCell<Option<Range<usize>>>,
}

impl<'a> Collector<'a> {
    /// A collector where the FROM clause gives the columns from `first_input` on; it gives calls new ones.
    pub(crate) fn new(ids: &'a ColumnIds<'a>, first_input: usize) -> Self {
        Self {
            ids,
            input: first_input..ids.next(),
            calls: RefCell::default(),
            groupings: RefCell::default(),
            aliases: RefCell::default(),
            lent: RefCell::default(),
        }
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
        self.input.contains(&column.index)
    }

    /// Whether a column is one of a query around this one.
    pub(crate) fn is_outer_column(&self, column: &ColumnRef) -> bool {
        self.is_outer_id(column.index)
    }

    /// Whether the column with this id is one of a query around this one.
    pub(crate) fn is_outer_id(&self, id: usize) -> bool {
        id < self.input.start
    }

    /// Whether an expression names columns, and all of them are of queries around this one.
    pub(crate) fn is_of_outer_rows(&self, expr: &Expr) -> bool {
        let columns = expr.columns();
        !columns.is_empty() && columns.iter().all(|id| *id < self.input.start)
    }

    /// Whether a column is that of a call.
    pub(crate) fn is_call(&self, column: &ColumnRef) -> bool {
        self.calls.borrow().iter().any(|call| call.column.index == column.index)
            || self.groupings.borrow().iter().any(|(grouping, _)| grouping.index == column.index)
    }

    /// The column of a call of GROUPING: the same one for equal calls.
    pub(crate) fn grouping(&self, keys: Vec<Expr>, name: String, span: Option<Span>) -> Expr {
        let mut groupings = self.groupings.borrow_mut();
        if let Some((known, _)) = groupings.iter().find(|(_, known)| *known == keys) {
            return Expr::Column(ColumnRef { span, ..known.clone() });
        }
        let column = ColumnRef { index: self.ids.take(1), name, ty: SqlType::Integer, nullable: false, span };
        groupings.push((column.clone(), keys));
        Expr::Column(column)
    }

    /// The calls of GROUPING that were met.
    pub(crate) fn groupings(&self) -> Vec<(ColumnRef, Vec<Expr>)> {
        self.groupings.borrow().clone()
    }

    /// The column of a call, of this type: the same one for equal calls.
    pub(crate) fn column(&self, call: GroupCall, ty: SqlType, nullable: bool, name: String) -> Expr {
        let mut calls = self.calls.borrow_mut();
        if let Some(known) = calls.iter().find(|known| known.call == call) {
            return Expr::Column(ColumnRef { name, ..known.column.clone() });
        }
        let column = ColumnRef { index: self.next_id(), name, ty, nullable, span: None };
        calls.push(CallColumn { column: column.clone(), call });
        Expr::Column(column)
    }

    fn next_id(&self) -> usize {
        match self.lent.borrow_mut().as_mut() {
            Some(lent) => {
                let first = lent.start;
                lent.start += 1;
                first
            }
            None => self.ids.take(1),
        }
    }

    /// Collects calls under these ids; `None` if there were too few of them.
    pub(crate) fn lending<T>(&self, ids: Range<usize>, collect: impl FnOnce() -> T) -> Option<T> {
        let before = self.lent.replace(Some(ids));
        let collected = collect();
        let lent = self.lent.replace(before);
        lent.is_some_and(|left| left.start <= left.end).then_some(collected)
    }

    /// The ids among these that no call has.
    pub(crate) fn free(&self, ids: &Range<usize>) -> Range<usize> {
        let taken = self.calls.borrow().iter().map(|call| call.column.index).filter(|id| ids.contains(id)).max();
        taken.map_or(ids.start, |last| last + 1)..ids.end
    }

    /// Whether no call was met.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.borrow().is_empty() && self.groupings.borrow().is_empty()
    }

    /// The calls met, in the order in which they were met.
    pub(crate) fn calls(&self) -> Vec<CallColumn> {
        self.calls.borrow().clone()
    }
}
