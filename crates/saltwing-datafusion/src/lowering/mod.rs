//! DataFusion's expressions into ours.
//!
//! Nested calls of [`OperationFunction`] become one [`ExprFunction`], before DataFusion coerces or folds anything.
//! Conditions are split, so that each condition over one table becomes a function of its own, which filter pushdown can
//! move to the table's scan.
//!
//! DataFusion keeps columns and constants; expressions that our language lacks (their parts are lowered); AND, OR and
//! NOT over several tables or over subqueries; and comparisons between tables of one type, in which its joins find
//! their keys.

use std::collections::BTreeMap;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Distinct, Expr as PlanExpr, ExprSchemable, LogicalPlan, Operator};
use saltwing_types::Expr;

use crate::RelationalError;
use crate::error::span_of;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::literal::to_literal;
use crate::expression::operator::compare_op;
use crate::expression::row_value::row_of;
use crate::expression::sql_field::field_type;
use crate::expression::translation::{Leaves, balanced, chain, translate};
use crate::function::aggregate::over_moving_frame;

mod aggregate;
mod distinct_on;
mod frame;
mod join_coercion;
mod null_safe;
mod set_operation;
mod sources;
mod volatile;

pub(crate) use self::null_safe::null_safe;
use self::sources::Sources;

/// The function that tells which keys a row of a grouping set is grouped by.
pub(crate) const GROUPING: &str = "grouping";

/// Most conditions of one statement that stay apart; beyond, those over the same columns go together.
const SEPARATE_CONDITIONS_MAX: usize = 64;

/// A node of a plan with its expressions lowered.
pub(crate) fn lower_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    let schema = merge_schema(&plan.inputs());
    let lowerer = Lowerer { schema: &schema };
    let plan = match plan {
        LogicalPlan::Filter(mut filter) => {
            filter.predicate = lowerer.condition(filter.predicate)?;
            volatile::kept_in_place(filter)?
        }
        LogicalPlan::Join(mut join) => {
            let mut conditions = lowerer.equalities(&mut join)?;
            conditions.extend(join.filter.map(|filter| lowerer.condition(filter)).transpose()?);
            join.filter = balanced(conditions, Operator::And)
                .map(|filter| volatile::tied_to_pairs(filter, &join.left, &join.right));
            set_operation::with_counts(join)?
        }
        LogicalPlan::Distinct(Distinct::On(_)) => distinct_on::with_nullable_columns(lowerer.expressions(plan)?)?,
        other => lowerer.expressions(other)?,
    };
    plan.recompute_schema()
}

/// Whether a plan gives the row of an aggregate without groups.
pub(crate) fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Filter(_) | LogicalPlan::Sort(_) => {
            plan.inputs().first().is_some_and(|input| is_one_row(input))
        }
        _ => false,
    }
}

/// Lowers the expressions of one node.
pub(crate) struct Lowerer<'a> {
    /// The columns that the node's expressions are over.
    pub(crate) schema: &'a DFSchema,
}

impl Lowerer<'_> {
    /// A node with its expressions lowered, under the names that they had.
    fn expressions(&self, node: LogicalPlan) -> Result<LogicalPlan> {
        let names = NamePreserver::new(&node);
        let lowered = node.map_expressions(|expr| {
            let name = names.save(&expr);
            Ok(Transformed::yes(name.restore(self.lower(expr)?)))
        })?;
        Ok(lowered.data)
    }

    /// An expression with all that is ours lowered.
    fn lower(&self, expr: PlanExpr) -> Result<PlanExpr> {
        match expr {
            PlanExpr::Alias(mut alias) => {
                *alias.expr = self.lower(*alias.expr)?;
                Ok(PlanExpr::Alias(alias))
            }
            PlanExpr::InSubquery(test) => self.parts(PlanExpr::InSubquery(self.in_subquery(test)?)),
            // A row is taken apart where it is compared.
            row if row_of(&row).is_some() => Ok(row.map_children(|part| Ok(Transformed::yes(self.lower(part)?)))?.data),
            expr if is_ours(&expr) => self.whole(expr),
            expr => self.parts(expr),
        }
    }

    /// The parts of an expression that stays DataFusion's.
    fn parts(&self, expr: PlanExpr) -> Result<PlanExpr> {
        let lowered = expr.map_children(|part| Ok(Transformed::yes(self.lower(part)?)))?.data;
        let lowered = aggregate::of_typed_values(aggregate::without_idle_order(lowered), self.schema)?;
        Ok(over_moving_frame(frame::of_peers(lowered, self.schema)?))
    }

    /// An expression whose outermost operation is ours, as one function.
    fn whole(&self, expr: PlanExpr) -> Result<PlanExpr> {
        let mut leaves = Arguments { lowerer: self, args: Vec::new(), computed: Vec::new() };
        let translated = translate(&expr, &mut leaves).map_err(|error| error.at(first_span(&expr)))?;
        // Over subqueries and the like, AND, OR and NOT stay DataFusion's: it makes joins of them.
        let keep = is_logic(&expr) && leaves.computed.contains(&true);
        match translated {
            Some(own) if !keep => Ok(leaves.into_call(own)),
            _ => self.parts(expr),
        }
    }

    /// A condition of WHERE, HAVING or ON, taken apart.
    fn condition(&self, expr: PlanExpr) -> Result<PlanExpr> {
        let conjuncts = chain(&expr, Operator::And);
        let mut lowered = Vec::new();
        let mut together: BTreeMap<Vec<String>, Vec<PlanExpr>> = BTreeMap::new();
        let many = conjuncts.len() > SEPARATE_CONDITIONS_MAX;
        for conjunct in conjuncts {
            let sources = if many { Sources::of(conjunct) } else { Sources::default() };
            match sources.one_table() {
                true => together.entry(sources.columns.into_iter().collect()).or_default().push(conjunct.clone()),
                false => lowered.push(self.conjunct(conjunct.clone())?),
            }
        }
        for group in together.into_values() {
            if let Some(group) = balanced(group, Operator::And) {
                lowered.push(self.lower(group)?);
            }
        }
        balanced(lowered, Operator::And).map_or(Ok(expr), Ok)
    }

    fn conjunct(&self, expr: PlanExpr) -> Result<PlanExpr> {
        if let PlanExpr::BinaryExpr(binary) = &expr {
            match binary.op {
                Operator::And => return self.condition(expr),
                Operator::Or => return self.disjunction(expr),
                op => {
                    if let Some(op) = compare_op(op) {
                        return self.comparison(op, &binary.left.clone(), &binary.right.clone(), expr);
                    }
                }
            }
        }
        self.lower(expr)
    }

    /// ORs over one table are one condition; over several, the parts over one table are.
    fn disjunction(&self, expr: PlanExpr) -> Result<PlanExpr> {
        if Sources::of(&expr).one_table() {
            return self.lower(expr);
        }
        let mut by_table: BTreeMap<String, Vec<PlanExpr>> = BTreeMap::new();
        let mut lowered = Vec::new();
        for part in chain(&expr, Operator::Or) {
            let sources = Sources::of(part);
            match sources.tables.first() {
                Some(table) if sources.one_table() => by_table.entry(table.clone()).or_default().push(part.clone()),
                _ => lowered.push(self.conjunct(part.clone())?),
            }
        }
        for parts in by_table.into_values() {
            if let Some(together) = balanced(parts, Operator::Or) {
                lowered.push(self.lower(together)?);
            }
        }
        balanced(lowered, Operator::Or).map_or(Ok(expr), Ok)
    }
}

/// The arguments of the function that an expression becomes.
struct Arguments<'a> {
    lowerer: &'a Lowerer<'a>,
    args: Vec<PlanExpr>,
    /// Whether each is more than a column.
    computed: Vec<bool>,
}

impl Arguments<'_> {
    fn into_call(mut self, own: Expr) -> PlanExpr {
        match own {
            Expr::Column(column) if column.index < self.args.len() => self.args.swap_remove(column.index),
            own => ExprFunction::call(own, self.args),
        }
    }
}

impl Leaves for Arguments<'_> {
    fn leaf(&mut self, expr: &PlanExpr) -> std::result::Result<Option<Expr>, RelationalError> {
        let is_column = matches!(expr, PlanExpr::Column(_) | PlanExpr::OuterReferenceColumn(..));
        let arg = if is_column { expr.clone() } else { self.lowerer.parts(expr.clone())? };
        let field = arg.to_field(self.lowerer.schema)?.1;
        let Some(ty) = field_type(&field) else { return Ok(None) };
        let name = column_text(&arg);
        // A join with a subquery in it, or a node below that was lowered later, may add NULL.
        let may_add_null = |part: &PlanExpr| {
            use PlanExpr::{InSubquery, OuterReferenceColumn, ScalarSubquery, SetComparison};
            Ok(matches!(part, OuterReferenceColumn(..) | ScalarSubquery(_) | InSubquery(_) | SetComparison(_)))
        };
        let nullable = field.is_nullable() || arg.exists(may_add_null)?;
        // Two calls of random() are two values.
        let known = if arg.is_volatile() { None } else { self.args.iter().position(|known| *known == arg) };
        let index = known.unwrap_or_else(|| {
            self.args.push(arg);
            self.computed.push(!is_column);
            self.args.len() - 1
        });
        Ok(Some(argument(index, name, ty, nullable)))
    }
}

/// How texts name an argument.
fn column_text(expr: &PlanExpr) -> String {
    match expr {
        PlanExpr::Column(Column { name, .. }) | PlanExpr::OuterReferenceColumn(_, Column { name, .. }) => name.clone(),
        PlanExpr::ScalarSubquery(_) => "(subquery)".to_owned(),
        PlanExpr::Literal(value, _) if let Some(literal) = to_literal(value) => literal.to_string(),
        PlanExpr::ScalarFunction(call) if let Some(own) = ExprFunction::of(call) => own.to_string(),
        other => other.schema_name().to_string(),
    }
}

/// Where the first column of an expression stands.
fn first_span(expr: &PlanExpr) -> Option<saltwing_types::Span> {
    let mut found = None;
    let _ = expr.apply(|part| {
        if let PlanExpr::Column(column) = part {
            found = span_of(column);
        }
        Ok(if found.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}

/// Whether the outermost operation is in our language.
fn is_ours(expr: &PlanExpr) -> bool {
    match expr {
        PlanExpr::BinaryExpr(binary) => is_logic(expr) || compare_op(binary.op).is_some(),
        _ => is_logic(expr),
    }
}

fn is_logic(expr: &PlanExpr) -> bool {
    match expr {
        PlanExpr::Not(_)
        | PlanExpr::IsNull(_)
        | PlanExpr::IsNotNull(_)
        | PlanExpr::IsTrue(_)
        | PlanExpr::IsFalse(_)
        | PlanExpr::IsUnknown(_)
        | PlanExpr::IsNotTrue(_)
        | PlanExpr::IsNotFalse(_)
        | PlanExpr::IsNotUnknown(_) => true,
        PlanExpr::BinaryExpr(binary) => matches!(binary.op, Operator::And | Operator::Or),
        _ => false,
    }
}
