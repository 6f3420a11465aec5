//! What bounds the key of a lookup join's inner table, and the outer expressions that it equals.

use std::fmt;
use std::sync::Arc;

use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use saltwing_types::{Expr, SqlType};

/// Which input of a join is looked up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outer {
    Left,
    Right,
}

impl Outer {
    /// The outer side of a join, and the inner one.
    pub(crate) fn of(self, join: &HashJoinExec) -> (&Arc<dyn ExecutionPlan>, &Arc<dyn ExecutionPlan>) {
        match self {
            Self::Left => (join.left(), join.right()),
            Self::Right => (join.right(), join.left()),
        }
    }

    /// The other side.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// A part of an equality over the inner table, and what it is equal to in the outer rows.
#[derive(Clone, Debug)]
pub(crate) struct LookupKey {
    /// A column of the table, or a cast of one that changes which values are equal.
    pub(crate) part: Expr,
    pub(crate) value: Arc<dyn PhysicalExpr>,
    pub(crate) ty: SqlType,
    /// What it is equal to, for people.
    pub(crate) text: String,
}

impl LookupKey {
    /// The column that equals the value if both are the same: this is not so under a cast, nor with blanks at the end of a CHAR.
    pub(crate) fn plain_column(&self) -> Option<usize> {
        let Expr::Column(column) = &self.part else { return None };
        let (outer, own) = (self.ty, column.ty);
        let is_of_one_kind = outer == own
            || outer.is_integer() && own.is_integer()
            || matches!((outer, own), (SqlType::Varchar(_), SqlType::Varchar(_)));
        is_of_one_kind.then_some(column.index)
    }
}

impl fmt::Display for LookupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.part, self.text)
    }
}
