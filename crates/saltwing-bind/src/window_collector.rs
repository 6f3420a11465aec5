//! The calls of window functions in a SELECT, as columns.

use std::cell::RefCell;

use saltwing_types::{ColumnRef, Expr};
use sqlparser::ast::NamedWindowDefinition;

use crate::tree::{ColumnIds, WindowColumn};
use crate::window_call::WindowCall;

/// Collects the calls of window functions in the expressions of a SELECT, each as a column.
pub struct WindowCollector<'a> {
    ids: &'a ColumnIds<'a>,
    /// The WINDOW clause.
    pub(crate) named: &'a [NamedWindowDefinition],
    calls: RefCell<Vec<WindowColumn>>,
}

impl<'a> WindowCollector<'a> {
    pub(crate) fn new(ids: &'a ColumnIds<'a>, named: &'a [NamedWindowDefinition]) -> Self {
        Self { ids, named, calls: RefCell::default() }
    }

    /// The column of a call: the same one for equal calls.
    pub(crate) fn column(&self, call: WindowCall, name: String) -> Expr {
        let mut calls = self.calls.borrow_mut();
        if let Some(known) = calls.iter().find(|known| known.call == call) {
            return Expr::Column(ColumnRef { name, ..known.column.clone() });
        }
        let nullable = call.function.entry().is_none_or(|entry| entry.nullable);
        let column = ColumnRef { index: self.ids.take(1), name, ty: call.ty, nullable, span: None };
        calls.push(WindowColumn { column: column.clone(), call });
        Expr::Column(column)
    }

    /// The calls met, in the order in which they were met.
    pub(crate) fn into_calls(self) -> Vec<WindowColumn> {
        self.calls.into_inner()
    }
}
