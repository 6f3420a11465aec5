//! Conditions: comparisons, lists, subqueries, truth values.

use sqlparser::ast::Expr;

use super::build::{cast, take};
use super::casts;
use super::operators::plain_operator;
use super::queries::Place;
use super::scope::{Scope, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    /// A condition that no operator of two sides makes.
    pub(super) fn condition(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        match expr {
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.compared(left, right, scope)?;
            }
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                if let Type::Record(_) = self.expr(inner, scope)? {
                    return Err(not_supported("IS NULL of a row"));
                }
            }
            Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner) => {
                self.expr(inner, scope)?;
            }
            Expr::InList { expr: left, list, .. } => {
                let ty = self.expr(left, scope)?;
                for element in list {
                    self.meets(element, &ty, scope)?;
                }
            }
            Expr::InSubquery { expr: left, subquery, .. } => {
                self.expr(left, scope)?;
                self.query(subquery, scope, Place::Inside)?;
            }
            Expr::Between { expr: left, low, high, .. } => {
                let ty = self.expr(left, scope)?;
                self.meets(low, &ty, scope)?;
                self.meets(high, &ty, scope)?;
            }
            Expr::Exists { subquery, .. } => {
                self.query(subquery, scope, Place::Inside)?;
            }
            other => return Err(not_supported(format!("the expression {other}"))),
        }
        Ok(Type::Of(PgType::BOOL))
    }

    /// Two sides of a comparison: a text beside the number of an object is the object's name.
    pub(super) fn compared(&mut self, left: &mut Expr, right: &mut Expr, scope: Scope<'_>) -> Result<(), CatalogError> {
        let (of_left, of_right) = (self.expr(left, scope)?, self.expr(right, scope)?);
        if let (Type::Record(_), _) | (_, Type::Record(_)) = (&of_left, &of_right) {
            return Err(not_supported("comparisons of rows"));
        }
        if of_left == Type::Open {
            self.becomes(left, &of_right)?;
        } else if of_right == Type::Open {
            self.becomes(right, &of_left)?;
        }
        Ok(())
    }

    /// An expression beside one of a type.
    pub(super) fn meets(&mut self, expr: &mut Expr, ty: &Type, scope: Scope<'_>) -> Result<(), CatalogError> {
        match self.expr(expr, scope)? {
            Type::Open => self.becomes(expr, ty),
            _ => Ok(()),
        }
    }

    /// A text, NULL or parameter takes the type of what it meets.
    fn becomes(&mut self, expr: &mut Expr, ty: &Type) -> Result<(), CatalogError> {
        if let Some(pg) = ty.pg()
            && pg.is_object()
        {
            let value = take(expr);
            *expr = self.object_number(value, pg)?;
        }
        Ok(())
    }

    /// `x = ANY (array)`, `x <> ALL (array)`, and the same over a subquery.
    pub(super) fn quantified(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let (left, op, right) = match expr {
            Expr::AnyOp { left, compare_op, right, .. } | Expr::AllOp { left, compare_op, right } => {
                (left, compare_op, right)
            }
            _ => return Ok(Type::Natural),
        };
        *op = plain_operator(op)?;
        let ty = self.expr(left, scope)?;
        match &mut **right {
            Expr::Subquery(query) => {
                self.query(query, scope, Place::Inside)?;
            }
            array => {
                let of_array = self.expr(array, scope)?;
                if of_array == Type::Open {
                    let array_type = if ty == Type::Open { Type::Of(PgType::TEXT_ARRAY) } else { ty.array() };
                    let wanted = array_type.pg().unwrap_or(PgType::TEXT_ARRAY);
                    let value = take(array);
                    *array = cast(value, casts::engine_type(wanted));
                }
            }
        }
        Ok(Type::Of(PgType::BOOL))
    }
}
