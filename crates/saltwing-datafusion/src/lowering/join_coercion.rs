//! Comparisons of values of two tables, or of a table and a subquery, whose types differ.
//!
//! A join finds its keys only if both sides have one type. So both sides are cast to a type in which equal values stay
//! equal. The meaning of the comparison is still that of [`typing::compare`].

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::common::{DataFusionError, NullEquality, Result};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{BinaryExpr, Expr as PlanExpr, ExprSchemable, Join, LogicalPlan, Operator, Projection};
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{CompareOp, Expr, SqlType, typing};

use super::null_safe::null_safe;
use super::sources::Sources;
use super::{Arguments, Lowerer, column_text, first_span, is_one_row};
use crate::RelationalError;
use crate::expression::expr_function::argument;
use crate::expression::operator::compare_operator;
use crate::expression::row_value::row_of;
use crate::expression::sql_field::field_type;
use crate::expression::translation::{balanced, translate};

impl Lowerer<'_> {
    /// `IN` over a subquery, both sides in the type in which a join finds its keys. The binder makes an IN of types alone that have one in
    /// which no value changes.
    pub(super) fn in_subquery(&self, mut test: InSubquery) -> Result<InSubquery> {
        let schema = test.subquery.subquery.schema();
        let Some(column) = schema.columns().into_iter().next().filter(|_| row_of(&test.expr).is_none()) else {
            return Ok(test);
        };
        let member = PlanExpr::Column(column.clone());
        let types = self.type_of(&test.expr)?.zip(Lowerer { schema }.type_of(&member)?);
        let Some((a, b)) = types.filter(|(a, b)| !compares_natively(CompareOp::Eq, *a, *b)) else { return Ok(test) };
        if let Some((key, true)) = join_key(a, b) {
            let inner = Lowerer { schema }.as_type(&member, key)?.alias(column.name);
            let subquery = Projection::try_new(vec![inner], test.subquery.subquery.clone())?;
            *test.expr = self.as_type(&test.expr, key)?;
            test.subquery = test.subquery.with_plan(Arc::new(LogicalPlan::Projection(subquery)));
        }
        Ok(test)
    }

    fn type_of(&self, expr: &PlanExpr) -> Result<Option<SqlType>> {
        Ok(field_type(&expr.to_field(self.schema)?.1))
    }

    /// The equalities of a join with USING, INTERSECT or EXCEPT: the join keys, and the rest.
    pub(super) fn equalities(&self, join: &mut Join) -> Result<Vec<PlanExpr>> {
        let mut conditions: Vec<PlanExpr> = Vec::new();
        for (left, right) in std::mem::take(&mut join.on) {
            // INTERSECT and EXCEPT: NULL is equal to NULL, and the sides have one type.
            if join.null_equality == NullEquality::NullEqualsNull {
                join.on.push((left, right));
                continue;
            }
            match self.comparison(CompareOp::Eq, &left, &right, left.clone().eq(right.clone()))? {
                PlanExpr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => join.on.push((*left, *right)),
                other => conditions.push(other),
            }
        }
        Ok(conditions)
    }

    /// `x = (SELECT ..)` as `x IN (SELECT ..)`, which is a join, where the subquery is sure to give one row.
    fn in_one_row(&self, left: &PlanExpr, right: &PlanExpr) -> Result<Option<PlanExpr>> {
        for (value, one) in [(left, right), (right, left)] {
            if let PlanExpr::ScalarSubquery(query) = one
                && query.outer_ref_columns.is_empty()
                && is_one_row(&query.subquery)
                && Sources::of(value).one_table()
                && let Some((a, b)) = self.check_comparison(CompareOp::Eq, value, one)?
                && (compares_natively(CompareOp::Eq, a, b) || matches!(join_key(a, b), Some((_, true))))
            {
                let test = InSubquery::new(Box::new(value.clone()), query.clone(), false);
                return self.lower(PlanExpr::InSubquery(test)).map(Some);
            }
        }
        Ok(None)
    }

    /// A comparison: between two tables, or with an outer query, in a form that joins understand.
    pub(crate) fn comparison(
        &self,
        op: CompareOp,
        left: &PlanExpr,
        right: &PlanExpr,
        whole: PlanExpr,
    ) -> Result<PlanExpr> {
        if op == CompareOp::Eq
            && let Some(joined) = self.in_one_row(left, right)?
        {
            return Ok(joined);
        }
        let (a, b) = (Sources::of(left), Sources::of(right));
        let joins = !a.is_empty() && !b.is_empty() && (a.outer != b.outer || a.tables.is_disjoint(&b.tables));
        if !joins {
            return self.lower(whole);
        }
        let Some((left_type, right_type)) = self.check_comparison(op, left, right)? else { return self.lower(whole) };
        let ((left, left_type), (right, right_type)) =
            (self.typed(left, left_type, right_type)?, self.typed(right, right_type, left_type)?);
        let (left, right) = (&*left, &*right);
        if op == CompareOp::NotDistinct && !a.outer && !b.outer {
            return match self.same_or_both_null(left, right, left_type, right_type)? {
                Some(keys) => Ok(keys),
                None => self.lower(whole),
            };
        }
        let native = |left, right| {
            let binary = BinaryExpr::new(Box::new(left), compare_operator(op), Box::new(right));
            PlanExpr::BinaryExpr(binary)
        };
        if compares_natively(op, left_type, right_type) {
            return Ok(native(self.lower(left.clone())?, self.lower(right.clone())?));
        }
        // A key that equal values share makes it an equi-join; the comparison itself decides.
        match (op, join_key(left_type, right_type)) {
            (CompareOp::Eq, Some((key, exact))) => {
                let keys = native(self.as_type(left, key)?, self.as_type(right, key)?);
                if exact {
                    return Ok(keys);
                }
                let decides = self.lower(whole)?;
                Ok(PlanExpr::BinaryExpr(BinaryExpr::new(Box::new(keys), Operator::And, Box::new(decides))))
            }
            _ => self.lower(whole),
        }
    }

    /// A side of a comparison, and its type. What is NULL in every row has no type, and is a join key only as NULL of the other side's
    /// type.
    fn typed<'e>(&self, expr: &'e PlanExpr, ty: SqlType, other: SqlType) -> Result<(Cow<'e, PlanExpr>, SqlType)> {
        Ok(match ty {
            SqlType::Null if other != SqlType::Null => (Cow::Owned(self.as_type(expr, other)?), other),
            _ => (Cow::Borrowed(expr), ty),
        })
    }

    /// `a IS NOT DISTINCT FROM b` as equalities of values of one type; `None` if the sides have no common one.
    fn same_or_both_null(&self, left: &PlanExpr, right: &PlanExpr, a: SqlType, b: SqlType) -> Result<Option<PlanExpr>> {
        let (left, right) = match join_key(a, b) {
            _ if compares_natively(CompareOp::NotDistinct, a, b) => {
                (self.lower(left.clone())?, self.lower(right.clone())?)
            }
            Some((key, true)) => (self.as_type(left, key)?, self.as_type(right, key)?),
            _ => return Ok(None),
        };
        let equal =
            null_safe((left, self.schema), (right, self.schema))?.into_iter().map(|(left, right)| left.eq(right));
        Ok(balanced(equal.collect(), Operator::And))
    }

    /// The types of two sides that compare; `None` where SQL has no type for one.
    fn check_comparison(&self, op: CompareOp, left: &PlanExpr, right: &PlanExpr) -> Result<Option<(SqlType, SqlType)>> {
        let (Some(a), Some(b)) = (self.operand(left)?, self.operand(right)?) else { return Ok(None) };
        let types = a.sql_type().zip(b.sql_type());
        typing::compare(op, a, b).map_err(|error| RelationalError::from(error).at(first_span(left)))?;
        Ok(types)
    }

    /// A placeholder column for an expression, of which only the type matters.
    fn operand(&self, expr: &PlanExpr) -> Result<Option<Expr>> {
        let field = expr.to_field(self.schema)?.1;
        let name = column_text(expr);
        Ok(field_type(&field).map(|ty| argument(0, name, ty, field.is_nullable())))
    }

    fn as_type(&self, expr: &PlanExpr, ty: SqlType) -> Result<PlanExpr> {
        let mut leaves = Arguments { lowerer: self, args: Vec::new(), computed: Vec::new() };
        match translate(expr, &mut leaves)? {
            Some(own) => {
                let cast = typing::cast(own, ty).map_err(|e| DataFusionError::from(RelationalError::from(e)))?;
                Ok(leaves.into_call(cast))
            }
            None => self.lower(expr.clone()),
        }
    }
}

/// Whether DataFusion compares values of these types as we do.
fn compares_natively(op: CompareOp, a: SqlType, b: SqlType) -> bool {
    let equality = matches!(op, CompareOp::Eq | CompareOp::NotEq | CompareOp::Distinct | CompareOp::NotDistinct);
    let is_char = |ty| matches!(ty, SqlType::Char(_));
    // CHAR sorts as if padded; it is stored without. DataFusion compares elements that are NULL otherwise.
    (saltwing_expr::arrow_type(a) == saltwing_expr::arrow_type(b))
        && (is_char(a) == is_char(b))
        && (equality || !is_char(a))
        && a.element().is_none()
        // Arrow compares months before days, and days before nanoseconds.
        && a != SqlType::Interval
}

/// A type in which values that are equal have equal values, and whether these are the only ones.
fn join_key(a: SqlType, b: SqlType) -> Option<(SqlType, bool)> {
    match (a.family(), b.family()) {
        (TypeFamily::Number, TypeFamily::Number) if a.is_integer() && b.is_integer() => Some((SqlType::BigInt, true)),
        // A FLOAT meets a decimal as its shortest text, which no common type keeps.
        (TypeFamily::Number, TypeFamily::Number) if a.is_single_float() || b.is_single_float() => None,
        (TypeFamily::Number, TypeFamily::Number) if a.is_float() || b.is_float() => Some((SqlType::Double, false)),
        (TypeFamily::Number, TypeFamily::Number) => Some((SqlType::Decimal(None), true)),
        (TypeFamily::Instant, TypeFamily::Instant) => Some((SqlType::Date, false)),
        _ => None,
    }
}
