//! The tables from which the columns of an expression come.

use std::collections::BTreeSet;

use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr as PlanExpr;

/// Where the columns of an expression come from.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) tables: BTreeSet<String>,
    pub(super) columns: BTreeSet<String>,
    pub(super) outer: bool,
    computed: bool,
}

impl Sources {
    pub(super) fn of(expr: &PlanExpr) -> Self {
        let mut sources = Self::default();
        let _ = expr.apply(|part| {
            match part {
                PlanExpr::Column(column) => {
                    sources.tables.insert(column.relation.as_ref().map_or_else(String::new, TableReference::to_string));
                    sources.columns.insert(column.flat_name());
                }
                PlanExpr::OuterReferenceColumn(..) => sources.outer = true,
                PlanExpr::ScalarSubquery(_)
                | PlanExpr::Exists(_)
                | PlanExpr::InSubquery(_)
                | PlanExpr::SetComparison(_) => sources.computed = true,
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        });
        sources
    }

    pub(super) fn one_table(&self) -> bool {
        self.tables.len() == 1 && !self.outer && !self.computed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.outer
    }
}
