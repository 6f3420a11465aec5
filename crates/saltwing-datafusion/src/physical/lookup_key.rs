//! The key columns of a lookup join's inner table, and the outer expressions that they equal.

use std::fmt;
use std::sync::Arc;

use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use saltwing_types::{ColumnRef, SqlType};

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

/// A key column of the inner table, and what it is equal to in the outer rows.
#[derive(Clone, Debug)]
pub(crate) struct LookupKey {
    pub(crate) column: ColumnRef,
    pub(crate) value: Arc<dyn PhysicalExpr>,
    pub(crate) ty: SqlType,
    /// What it is equal to, for people.
    pub(crate) text: String,
}

impl LookupKey {
    /// Whether values of both sides are equal where they are the same: blanks at the end of a CHAR are not.
    pub(crate) fn is_of_one_kind(&self) -> bool {
        let (outer, own) = (self.ty, self.column.ty);
        outer == own
            || outer.is_integer() && own.is_integer()
            || matches!((outer, own), (SqlType::Varchar(_), SqlType::Varchar(_)))
    }
}

impl fmt::Display for LookupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.column.name, self.text)
    }
}
