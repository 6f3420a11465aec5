//! Values of sequences in the items of a statement, as columns.

use std::cell::RefCell;
use std::ops::ControlFlow;

use saltwing_sql::{SequenceCall, sequence_call};
use saltwing_types::{ColumnRef, Expr};
use sqlparser::ast::{self, Visit};

use crate::error::{BindError, BindErrorKind, Result};
use crate::tree::{ColumnIds, ComputedColumn, Output, SequenceDraw, SequenceUses};

/// Collects the values of sequences in expressions, each as a column: all values of one sequence are the same column.
pub struct SequenceCollector<'a> {
    ids: &'a ColumnIds<'a>,
    uses: RefCell<SequenceUses>,
    /// The columns of the result that are computed of values, and all its columns, once the items are bound.
    result: RefCell<(Vec<ComputedColumn>, Vec<Output>)>,
}

impl<'a> SequenceCollector<'a> {
    /// A collector that knows these sequences already.
    pub(crate) fn new(ids: &'a ColumnIds<'a>, uses: SequenceUses) -> Self {
        Self { ids, uses: RefCell::new(uses), result: RefCell::default() }
    }

    pub(crate) fn into_uses(self) -> SequenceUses {
        self.uses.into_inner()
    }

    /// What the rows of the query take, and what their columns are then; `None` if they take nothing.
    pub(crate) fn into_draw(self) -> Option<SequenceDraw> {
        let (uses, (columns, output)) = (self.uses.into_inner(), self.result.into_inner());
        (!uses.is_empty()).then_some(SequenceDraw { uses, columns, output })
    }

    /// The value that a call gives.
    ///
    /// # Errors
    /// As [`SequenceUses::add`].
    pub(crate) fn value(&self, call: SequenceCall) -> Result<Expr> {
        self.uses.borrow_mut().add(call, self.ids).map(Expr::Column)
    }

    /// How many calls were met.
    pub(crate) fn calls(&self) -> usize {
        self.uses.borrow().iter().map(|it| it.calls.len()).sum()
    }

    /// Whether a column is a value of a sequence.
    pub(crate) fn is_value(&self, column: &ColumnRef) -> bool {
        self.uses.borrow().iter().any(|it| it.column.index == column.index)
    }

    /// Whether a value of a sequence stands in an expression.
    pub(crate) fn is_in(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| found |= matches!(part, Expr::Column(column) if self.is_value(column)));
        found
    }

    /// Calls `visit` on the largest parts of an expression without a value of a sequence, but for literals and parameters.
    pub(crate) fn for_each_other_part(&self, expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
        match expr {
            Expr::Literal(..) | Expr::Param(..) => {}
            Expr::Column(column) if self.is_value(column) => {}
            other if !self.is_in(other) => visit(other),
            other => other.for_each_child_mut(&mut |child| self.for_each_other_part(child, visit)),
        }
    }

    /// Notes the columns of the result: those that are `computed` of values, and all.
    pub(crate) fn put_result(&self, computed: Vec<ComputedColumn>, output: Vec<Output>) {
        self.result.replace((computed, output));
    }
}

/// The error of what is computed before the rows of the result are known, with a value of a sequence in it.
pub(crate) fn around_value(what: &str) -> BindError {
    BindErrorKind::NotSupported(format!("{what} around a value of a sequence")).into()
}

/// Whether a value of a sequence stands in a part of a statement.
pub(crate) fn takes_values(tree: &impl Visit) -> bool {
    let look = ast::visit_expressions(tree, |expr| match sequence_call(expr) {
        Ok(None) => ControlFlow::Continue(()),
        Ok(Some(_)) | Err(_) => ControlFlow::Break(()),
    });
    look.is_break()
}
