//! `x op ANY (..)`, `x op ALL (..)` and `IN`.
//!
//! ANY is true if some comparison is, else unknown if some is, else false; ALL is false
//! if some comparison is, else unknown if some is, else true. `IN` is `= ANY`.

use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::bool_or;
use datafusion::logical_expr::expr::{Case, Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{
    BinaryExpr, Expr as PlanExpr, ExprSchemable, Filter, LogicalPlan, Operator, Projection, Subquery, lit,
};
use saltwing_types::CompareOp;

use super::left::{Position, Site, has_subquery, is_left};
use super::references::{as_outer, outer_references};
use super::refusal::not_supported;
use crate::expression::comparison::{Side, as_function, between_relations};
use crate::expression::operator::{compare_op, compare_operator};
use crate::expression::row_value::row_of;
use crate::expression::sql_field::field_type;
use crate::expression::translation::balanced;
use crate::{RelationalError, RelationalErrorKind};

/// A value compared with the members of a subquery.
pub(super) struct Quantified {
    /// The value, or a row of them.
    pub(super) value: PlanExpr,
    subquery: Subquery,
    op: CompareOp,
    /// ALL, else ANY.
    all: bool,
    negated: bool,
}

/// A condition with each quantified comparison in it that is no join of DataFusion's as `EXISTS`, which is never unknown.
pub(super) fn as_exists(
    expr: PlanExpr,
    schema: &DFSchema,
    position: Position,
    names: &AliasGenerator,
) -> Result<PlanExpr> {
    if position == Position::Value {
        return Ok(expr);
    }
    match expr {
        PlanExpr::BinaryExpr(binary) if matches!(binary.op, Operator::And | Operator::Or) => {
            let BinaryExpr { left, op, right } = binary;
            let below = if op == Operator::Or { Position::Truth } else { position };
            let left = as_exists(*left, schema, below, names)?;
            let right = as_exists(*right, schema, below, names)?;
            Ok(PlanExpr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        PlanExpr::Not(inner) => match *inner {
            PlanExpr::Exists(Exists { subquery, negated }) => {
                Ok(PlanExpr::Exists(Exists { subquery, negated: !negated }))
            }
            PlanExpr::InSubquery(InSubquery { expr, subquery, negated }) => {
                let turned = PlanExpr::InSubquery(InSubquery { expr, subquery, negated: !negated });
                as_exists(turned, schema, position, names)
            }
            PlanExpr::SetComparison(_) => match Quantified::of((*inner).clone())? {
                Some(test) if !has_subquery(&test.value) => {
                    Quantified { negated: !test.negated, ..test }.into_exists(schema, names)
                }
                _ => Ok(PlanExpr::Not(inner)),
            },
            _ => Ok(PlanExpr::Not(inner)),
        },
        PlanExpr::InSubquery(_) | PlanExpr::SetComparison(_) if !is_left(&expr, schema, Site::Filter, position) => {
            match Quantified::of(expr.clone())? {
                Some(test) if !has_subquery(&test.value) => test.into_exists(schema, names),
                _ => Ok(expr),
            }
        }
        other => Ok(other),
    }
}

impl Quantified {
    pub(super) fn of(expr: PlanExpr) -> Result<Option<Self>> {
        Ok(match expr {
            PlanExpr::InSubquery(InSubquery { expr, subquery, negated }) => {
                Some(Self { value: *expr, subquery, op: CompareOp::Eq, all: false, negated })
            }
            PlanExpr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
                let Some(op) = compare_op(op) else { return Err(not_supported()) };
                let all = matches!(quantifier, SetQuantifier::All);
                Some(Self { value: *expr, subquery, op, all, negated: false })
            }
            _ => None,
        })
    }

    /// The members with columns named as no others, and these columns.
    fn members(&self, names: &AliasGenerator) -> Result<(LogicalPlan, Vec<PlanExpr>)> {
        let plan = self.subquery.subquery.as_ref();
        // A row is made over an alias, which conditions would not pass.
        let input = match plan {
            LogicalPlan::Projection(row) if row.expr.first().and_then(row_of).is_some() => match row.input.as_ref() {
                LogicalPlan::SubqueryAlias(alias) => alias.input.clone(),
                _ => return Err(not_supported()),
            },
            _ => self.subquery.subquery.clone(),
        };
        let items: Vec<PlanExpr> = input.schema().columns().into_iter().map(PlanExpr::Column).collect();
        let alias = names.next("__saltwing");
        let name = |i: usize| format!("{alias}_{i}");
        let width = items.len();
        let items = items.into_iter().enumerate().map(|(i, item)| item.alias(name(i))).collect();
        let members = LogicalPlan::Projection(Projection::try_new(items, input)?);
        let columns = (0..width).map(|i| PlanExpr::Column(Column::new_unqualified(name(i)))).collect();
        Ok((members, columns))
    }

    /// The comparison with a member, whose value is over the columns of the outer query.
    fn comparison(&self, outer: &DFSchema, members: &DFSchema, columns: &[PlanExpr]) -> Result<PlanExpr> {
        let single = [self.value.clone()];
        let values = row_of(&self.value).unwrap_or(&single);
        if values.len() != columns.len() {
            let text = format!("row values of {} and {} columns do not compare", values.len(), columns.len());
            return Err(RelationalError::from(RelationalErrorKind::TypeMismatch(text)).into());
        }
        if values.len() > 1 && self.op != CompareOp::Eq {
            let text = "a row value before ANY or ALL, other than = ANY and <> ALL,";
            return Err(RelationalError::not_supported(text).into());
        }
        let compared = values.iter().zip(columns).map(|(compared, member)| {
            let value = as_outer(compared.clone(), outer)?;
            let (left, right) = (side(value, members)?, side(member.clone(), members)?);
            match left.zip(right) {
                Some((left, right)) => {
                    let decides = as_function(self.op, &left, &right)?;
                    between_relations(self.op, left, right, decides)
                }
                // The engine alone knows the types.
                None => Ok(PlanExpr::BinaryExpr(BinaryExpr::new(
                    Box::new(as_outer(compared.clone(), outer)?),
                    compare_operator(self.op),
                    Box::new(member.clone()),
                ))),
            }
        });
        let compared = compared.collect::<Result<Vec<_>>>()?;
        balanced(compared, Operator::And).ok_or_else(not_supported)
    }

    /// The comparisons with all members.
    pub(super) fn comparisons(&self, outer: &DFSchema, names: &AliasGenerator) -> Result<LogicalPlan> {
        let (members, columns) = self.members(names)?;
        let compared = self.comparison(outer, members.schema(), &columns)?;
        let items = vec![compared.alias(names.next("__saltwing"))];
        Ok(LogicalPlan::Projection(Projection::try_new(items, Arc::new(members))?))
    }

    /// Whether some comparison decides, and whether some is unknown.
    pub(super) fn aggregates(&self, compared: PlanExpr) -> Vec<PlanExpr> {
        let decides = match self.all {
            true => PlanExpr::IsFalse(Box::new(compared.clone())),
            false => PlanExpr::IsTrue(Box::new(compared.clone())),
        };
        vec![bool_or(decides), bool_or(compared.is_null())]
    }

    /// The value, by the two aggregates; both are NULL where there are no members.
    pub(super) fn result(&self, aggregates: &[Column]) -> Result<PlanExpr> {
        let [decides, unknown] = aggregates else { return Err(not_supported()) };
        let holds = |column: &Column| Box::new(PlanExpr::IsTrue(Box::new(PlanExpr::Column(column.clone()))));
        let null = PlanExpr::Literal(ScalarValue::Boolean(None), None);
        let whens = vec![(holds(decides), Box::new(lit(!self.all))), (holds(unknown), Box::new(null))];
        let value = PlanExpr::Case(Case::new(None, whens, Some(Box::new(lit(self.all)))));
        Ok(if self.negated { PlanExpr::Not(Box::new(value)) } else { value })
    }

    /// Whether it is true, as `EXISTS` over the members that decide so.
    fn into_exists(self, outer: &DFSchema, names: &AliasGenerator) -> Result<PlanExpr> {
        let (members, columns) = self.members(names)?;
        let compared = self.comparison(outer, members.schema(), &columns)?;
        let boxed = Box::new;
        let (condition, negated) = match (self.all, self.negated) {
            (false, false) => (compared, false),
            (false, true) => (PlanExpr::IsNotFalse(boxed(compared)), true),
            (true, false) => (PlanExpr::IsNotTrue(boxed(compared)), true),
            (true, true) => (PlanExpr::IsFalse(boxed(compared)), false),
        };
        let plan = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(members))?);
        let outer_ref_columns = outer_references(&plan);
        let subquery = Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: self.subquery.spans };
        Ok(PlanExpr::Exists(Exists { subquery, negated }))
    }
}

/// A side of a comparison over the columns of a schema; `None` if SQL has no type for it.
fn side(value: PlanExpr, schema: &DFSchema) -> Result<Option<Side>> {
    let field = value.to_field(schema)?.1;
    // A join may add NULL to an outer column.
    let nullable =
        field.is_nullable() || value.exists(|part| Ok(matches!(part, PlanExpr::OuterReferenceColumn(..))))?;
    Ok(field_type(&field).map(|ty| Side { value, ty, nullable }))
}
