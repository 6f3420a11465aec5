//! Comparisons of values of two relations, in a form in which joins find their keys.
//!
//! A join finds its keys only if both sides have one type. So both sides are cast to a type in which equal values stay
//! equal. The meaning of the comparison is still that of [`typing::compare`].

use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{BinaryExpr, Expr as PlanExpr, Operator};
use saltwing_expr::arrow_type;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{CompareOp, SqlType, typing};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::operator::compare_operator;
use crate::expression::translation::balanced;

/// A side of a comparison.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) value: PlanExpr,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
}

/// A comparison whose sides are of two relations. `decides` is the comparison as one function.
///
/// # Errors
/// What the rules of typing refuse.
pub(crate) fn between_relations(op: CompareOp, left: Side, right: Side, decides: PlanExpr) -> Result<PlanExpr> {
    let (left, right) = (left.clone().beside(&right)?, right.beside(&left)?);
    let key = match join_key(left.ty, right.ty) {
        _ if compares_natively(op, left.ty, right.ty) => None,
        Some(key) => Some(key),
        None => return Ok(decides),
    };
    match (op, key) {
        (CompareOp::NotDistinct, None) => same_or_both_null(left, right),
        (CompareOp::NotDistinct, Some((key, true))) => same_or_both_null(left.cast(key)?, right.cast(key)?),
        (op, None) => Ok(binary(left.value, compare_operator(op), right.value)),
        (CompareOp::Eq, Some((key, exact))) => {
            let keys = binary(left.cast(key)?.value, Operator::Eq, right.cast(key)?.value);
            // A key that equal values share makes it an equi-join; the comparison itself decides.
            Ok(if exact { keys } else { binary(keys, Operator::And, decides) })
        }
        _ => Ok(decides),
    }
}

impl Side {
    /// The side beside another one: what is NULL in every row has no type, and is a join key only as NULL of the other side's type.
    fn beside(self, other: &Self) -> Result<Self, RelationalError> {
        match self.ty {
            SqlType::Null if other.ty != SqlType::Null => self.cast(other.ty),
            _ => Ok(self),
        }
    }

    fn cast(self, ty: SqlType) -> Result<Self, RelationalError> {
        if self.ty == ty {
            return Ok(self);
        }
        let name = self.value.schema_name().to_string();
        let own = typing::cast(argument(0, name, self.ty, self.nullable), ty)?;
        Ok(Self { value: ExprFunction::call(own, vec![self.value]), ty, ..self })
    }
}

fn binary(left: PlanExpr, op: Operator, right: PlanExpr) -> PlanExpr {
    PlanExpr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

/// `a IS NOT DISTINCT FROM b` as equalities of values of one type.
fn same_or_both_null(left: Side, right: Side) -> Result<PlanExpr> {
    let ty = arrow_type(left.ty);
    let equal = null_safe((left.value, left.nullable), (right.value, right.nullable), &ty)?;
    let equal = equal.into_iter().map(|(left, right)| left.eq(right)).collect();
    Ok(balanced(equal, Operator::And).ok_or_else(|| RelationalError::bug("an equality of nothing"))?)
}

/// Equalities that hold where two values of one type, each with whether it can be NULL, are the same, NULL included.
///
/// They are no `IS NOT DISTINCT FROM`: DataFusion makes a join of these in which every other equality that it finds later,
/// or in joins merged into it, takes NULL for equal to NULL, too.
pub(crate) fn null_safe(
    (left, left_nullable): (PlanExpr, bool),
    (right, right_nullable): (PlanExpr, bool),
    ty: &DataType,
) -> Result<Vec<(PlanExpr, PlanExpr)>> {
    if !left_nullable && !right_nullable {
        return Ok(vec![(left, right)]);
    }
    let nulls = (left.clone().is_null(), right.clone().is_null());
    // All values of a column without a type are NULL.
    if ty.is_null() {
        return Ok(vec![nulls]);
    }
    let any = PlanExpr::Literal(ScalarValue::new_default(ty)?, None);
    let or_any = |value: PlanExpr| coalesce(vec![value, any.clone()]);
    Ok(vec![nulls, (or_any(left), or_any(right))])
}

/// Whether DataFusion compares values of these types as we do.
pub(crate) fn compares_natively(op: CompareOp, a: SqlType, b: SqlType) -> bool {
    let equality = matches!(op, CompareOp::Eq | CompareOp::NotEq | CompareOp::Distinct | CompareOp::NotDistinct);
    let is_char = |ty| matches!(ty, SqlType::Char(_));
    // CHAR sorts as if padded; it is stored without. DataFusion compares elements that are NULL otherwise.
    (arrow_type(a) == arrow_type(b))
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
