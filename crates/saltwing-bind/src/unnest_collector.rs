//! Calls of UNNEST among the items of a SELECT, as columns.

use std::cell::RefCell;

use saltwing_types::{Expr, Span};

use crate::lower::{Lower, Unnests};
use crate::query_binder::QueryBinder;
use crate::subquery_column::SubqueryBinder;
use crate::table_call::UNNEST;
use crate::tree::UnnestColumn;

/// Collects the calls of UNNEST in the items of a SELECT, each as a column: an item has a row for each element.
pub struct UnnestCollector<'a> {
    binder: &'a QueryBinder<'a>,
    queries: &'a SubqueryBinder<'a>,
    columns: RefCell<Vec<UnnestColumn>>,
}

impl<'a> UnnestCollector<'a> {
    pub(crate) fn new(binder: &'a QueryBinder<'a>, queries: &'a SubqueryBinder<'a>) -> Self {
        Self { binder, queries, columns: RefCell::default() }
    }

    /// The columns, in the order in which the calls were met.
    pub(crate) fn into_columns(self) -> Vec<UnnestColumn> {
        self.columns.into_inner()
    }
}

impl Unnests for UnnestCollector<'_> {
    fn column(&self, array: Expr, span: Option<Span>) -> Lower {
        if let Some(known) = self.columns.borrow().iter().find(|known| known.array == array) {
            return Ok(Expr::Column(known.column.clone()));
        }
        let name = format!("{UNNEST}({array})");
        let column = self.binder.unnest_column(self.queries, array, name, span, false)?;
        let elements = Expr::Column(column.column.clone());
        self.columns.borrow_mut().push(column);
        Ok(elements)
    }
}
