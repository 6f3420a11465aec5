//! Joins.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::{Column, ExprSchema, JoinConstraint, JoinType, NullEquality, TableReference};
use datafusion::logical_expr::{BinaryExpr, Expr as PlanExpr, Join, LogicalPlan, LogicalPlanBuilder, Operator, lit};
use saltwing_bind::JoinKind;
use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType};

use super::volatile::tied_to_pairs;
use super::{COMPUTED, Planner, Result};
use crate::RelationalError;
use crate::expression::comparison::null_safe;
use crate::internal_name::unique_name;

/// The name that DataFusion gives to the column of a mark join.
const MARK: &str = "mark";

impl Planner<'_> {
    pub(super) fn join(
        &mut self,
        kind: JoinKind,
        (left, right): (LogicalPlan, LogicalPlan),
        same: &[(ColumnRef, ColumnRef)],
        conditions: &[Condition],
    ) -> Result<LogicalPlan> {
        let join_type = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
            JoinKind::Semi => JoinType::LeftSemi,
            JoinKind::Anti | JoinKind::NotIn => JoinType::LeftAnti,
            JoinKind::Mark { .. } => JoinType::LeftMark,
        };
        let right = match kind {
            JoinKind::Mark { column } => self.marking(column, &left, right)?,
            _ => right,
        };
        let mut on = Vec::with_capacity(same.len());
        for (of_left, of_right) in same {
            let (of_left, of_right) = (self.side((of_left, &left))?, self.side((of_right, &right))?);
            let ty = left.schema().data_type(&of_left.0)?;
            let side = |(column, nullable)| (PlanExpr::Column(column), nullable);
            on.extend(null_safe(side(of_left.clone()), side(of_right), ty)?);
        }
        let filter = match (kind, conditions) {
            (JoinKind::NotIn, [condition]) => Some(self.not_in(&condition.expr)?),
            (JoinKind::NotIn, _) => return Err(RelationalError::bug("NOT IN has one condition")),
            _ => self.conditions(conditions)?.map(|filter| tied_to_pairs(filter, &left, &right)),
        };
        // Only an inner join has a form without a condition.
        let filter = filter.or_else(|| (on.is_empty() && kind != JoinKind::Inner).then(|| lit(true)));
        let passed = left.schema().columns();
        let (nulls, null_aware) = (NullEquality::NullEqualsNothing, kind == JoinKind::NotIn);
        let (left, right, constraint) = (Arc::new(left), Arc::new(right), JoinConstraint::On);
        let join = LogicalPlan::Join(Join::try_new(left, right, on, filter, join_type, constraint, nulls, null_aware)?);
        let JoinKind::Mark { column: index } = kind else { return Ok(join) };
        let mark = join.schema().columns().pop().map(PlanExpr::Column);
        let mark = mark.ok_or_else(|| RelationalError::bug("a mark join gives no mark"))?;
        let column = ColumnRef { index, name: "matched".to_owned(), ty: SqlType::Boolean, nullable: false, span: None };
        let mark = self.named(mark, &column);
        let columns = passed.into_iter().map(PlanExpr::Column).chain([mark]);
        Ok(LogicalPlanBuilder::from(join).project(columns)?.build()?)
    }

    /// The right side of a mark join. DataFusion takes the mark for a column of that side, which must have some, and gives it the qualifier
    /// of its columns, if they have one. Where another column has the name of the mark, they have one that no other column has.
    fn marking(&mut self, mark: usize, left: &LogicalPlan, right: LogicalPlan) -> Result<LogicalPlan> {
        let is_taken = |plan: &LogicalPlan| plan.schema().fields().iter().any(|field| field.name() == MARK);
        if !is_taken(left) && !is_taken(&right) && !right.schema().fields().is_empty() {
            return Ok(right);
        }
        let qualifier = TableReference::bare(format!("{COMPUTED}{mark}"));
        let mut renamed = vec![lit(true).alias_qualified(Some(qualifier.clone()), COMPUTED)];
        let of_right = self.columns.iter_mut().filter(|(_, column)| right.schema().has_column(column));
        for (id, column) in of_right.collect::<BTreeMap<_, _>>() {
            let name = unique_name(&column.name, id);
            let own = Column::new(Some(qualifier.clone()), &name);
            let given = std::mem::replace(column, own);
            renamed.push(PlanExpr::Column(given).alias_qualified(Some(qualifier.clone()), name));
        }
        Ok(LogicalPlanBuilder::from(right).project(renamed)?.build()?)
    }

    /// A column of a plan, and whether it can be NULL there.
    fn side(&self, (column, plan): (&ColumnRef, &LogicalPlan)) -> Result<(Column, bool)> {
        match self.column(column)? {
            PlanExpr::Column(column) => {
                let nullable = plan.schema().nullable(&column)?;
                Ok((column, nullable))
            }
            other => Err(RelationalError::bug(format!("{other} is no column"))),
        }
    }

    /// The equality of DataFusion's anti join that knows of NULL. It must be one of its own, which becomes the key of a hash join.
    fn not_in(&self, condition: &Expr) -> Result<PlanExpr> {
        let Expr::Compare(CompareOp::Eq, a, b) = condition else {
            return Err(RelationalError::bug("NOT IN compares by an equality"));
        };
        let (a, b) = (Box::new(self.expr(a)?), Box::new(self.expr(b)?));
        Ok(PlanExpr::BinaryExpr(BinaryExpr::new(a, Operator::Eq, b)))
    }
}
