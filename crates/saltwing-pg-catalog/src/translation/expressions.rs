//! Expressions. Each is rewritten in place, and has a type.

use sqlparser::ast::{CaseWhen, Expr, Query, UnaryOperator, Value, WindowSpec};

use super::build::{self, folded, take};
use super::literals::literal;
use super::queries::{Place, nulls_as_in_postgres};
use super::scope::{Scope, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    /// Rewrites an expression, and gives its type.
    pub(super) fn expr(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.name(expr, scope),
            Expr::Value(value) => {
                let (new, ty) = literal(std::mem::replace(&mut value.value, Value::Null))?;
                *expr = new;
                Ok(ty)
            }
            Expr::Nested(inner) => self.expr(inner, scope),
            Expr::CompoundFieldAccess { .. } => self.access(expr, scope),
            Expr::Collate { expr: inner, .. } => {
                // All texts are compared by their characters.
                let ty = self.expr(inner, scope)?;
                *expr = take(inner);
                Ok(ty)
            }
            Expr::Cast { .. } | Expr::TypedString(_) => self.cast(expr, scope),
            Expr::Function(_) => self.function(expr, scope),
            Expr::BinaryOp { .. } => self.operator(expr, scope),
            Expr::UnaryOp { op, expr: inner } => {
                let (op, ty) = (*op, self.expr(inner, scope)?);
                Ok(if op == UnaryOperator::Not { Type::Of(PgType::BOOL) } else { ty })
            }
            Expr::AnyOp { .. } | Expr::AllOp { .. } => self.quantified(expr, scope),
            Expr::Like { any: false, expr: left, pattern, escape_char, .. }
            | Expr::ILike { any: false, expr: left, pattern, escape_char, .. }
            | Expr::SimilarTo { expr: left, pattern, escape_char, .. } => {
                self.pattern(left, pattern, escape_char, scope)
            }
            Expr::Subquery(query) => self.scalar(query, scope),
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref_mut(), conditions, else_result.as_deref_mut(), scope)
            }
            Expr::Array(array) => self.array(&mut array.elem, scope),
            Expr::Tuple(values) => {
                for value in values {
                    self.expr(value, scope)?;
                }
                Ok(Type::Natural)
            }
            Expr::Extract { .. }
            | Expr::Ceil { .. }
            | Expr::Floor { .. }
            | Expr::AtTimeZone { .. }
            | Expr::Position { .. }
            | Expr::Substring { .. }
            | Expr::Trim { .. }
            | Expr::Interval(_) => self.call_in_words(expr, scope),
            _ => self.condition(expr, scope),
        }
    }

    /// A call whose arguments stand between words: `EXTRACT (year FROM x)`.
    fn call_in_words(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        match expr {
            Expr::Extract { expr: inner, .. } | Expr::Ceil { expr: inner, .. } | Expr::Floor { expr: inner, .. } => {
                self.expr(inner, scope)?;
                Ok(Type::Natural)
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                self.expr(timestamp, scope)?;
                self.expr(time_zone, scope)?;
                Ok(Type::Natural)
            }
            Expr::Position { expr: inner, r#in } => {
                self.expr(inner, scope)?;
                self.expr(r#in, scope)?;
                Ok(Type::Of(PgType::INT4))
            }
            Expr::Substring { .. } => self.substring(expr, scope),
            Expr::Trim { expr: inner, trim_what, trim_characters: None, .. } => {
                self.expr(inner, scope)?;
                if let Some(what) = trim_what {
                    self.expr(what, scope)?;
                }
                Ok(Type::Of(PgType::TEXT))
            }
            Expr::Interval(interval) => {
                self.expr(&mut interval.value, scope)?;
                Ok(Type::Natural)
            }
            other => Err(not_supported(format!("the expression {other}"))),
        }
    }

    /// `ARRAY[a, b]`.
    fn array(&mut self, elements: &mut [Expr], scope: Scope<'_>) -> Result<Type, CatalogError> {
        let mut ty = Type::Open;
        for element in elements {
            let of_element = self.expr(element, scope)?;
            ty = if ty == Type::Open { of_element } else { ty };
        }
        Ok(if ty == Type::Open { Type::Of(PgType::TEXT_ARRAY) } else { ty.array() })
    }

    fn name(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let names = match &*expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(names) => names.as_slice(),
            _ => &[],
        };
        if let Some((column, ty)) = scope.resolve(names)? {
            *expr = column;
            return Ok(ty);
        }
        if let [only] = names
            && let Some((value, ty)) = self.session_word(&folded(only))?
        {
            *expr = value;
            return Ok(ty);
        }
        Err(CatalogError::NoColumn(names.iter().map(folded).collect::<Vec<_>>().join(".")))
    }

    fn case(
        &mut self,
        operand: Option<&mut Expr>,
        conditions: &mut [CaseWhen],
        otherwise: Option<&mut Expr>,
        scope: Scope<'_>,
    ) -> Result<Type, CatalogError> {
        let of_operand = operand.map(|operand| self.expr(operand, scope)).transpose()?;
        let mut ty = Type::Open;
        for CaseWhen { condition, result } in conditions {
            match &of_operand {
                Some(of_operand) => self.meets(condition, of_operand, scope)?,
                None => self.expr(condition, scope).map(|_| ())?,
            }
            let of_result = self.expr(result, scope)?;
            ty = ty.or(of_result);
        }
        let last = otherwise.map(|otherwise| self.expr(otherwise, scope)).transpose()?;
        // A literal of a text takes the type of what stands beside it, and is a text alone.
        Ok(match last {
            Some(last) => ty.or(last),
            None => ty,
        })
    }

    /// A subquery of one value.
    fn scalar(&mut self, query: &mut Query, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let mut outputs = self.query(query, scope, Place::Inside)?.into_iter();
        match (outputs.next(), outputs.next()) {
            (Some(output), None) => Ok(output.ty),
            _ => Err(not_supported("subqueries of several columns as a value")),
        }
    }

    pub(super) fn window(&mut self, window: &mut WindowSpec, scope: Scope<'_>) -> Result<(), CatalogError> {
        if let Some(of) = &mut window.window_name {
            *of = build::name(&folded(of));
        }
        for key in &mut window.partition_by {
            self.expr(key, scope)?;
        }
        for key in &mut window.order_by {
            self.expr(&mut key.expr, scope)?;
            nulls_as_in_postgres(key);
        }
        Ok(())
    }
}
