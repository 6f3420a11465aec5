//! Expressions. Each is rewritten in place, and has a type.

use sqlparser::ast::{
    AccessExpr, BinaryOperator, CaseWhen, Expr, Ident, Query, Subscript, UnaryOperator, Value, ValueWithSpan,
    WindowSpec,
};

use super::build::{self, binary, call, cast, folded, int, nested, take, text};
use super::casts;
use super::queries::{Place, nulls_as_in_postgres};
use super::scope::{Scope, Type};
use super::selects::without_brackets;
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    /// Rewrites an expression, and gives its type.
    pub(super) fn expr(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.name(expr, scope),
            Expr::Value(value) => literal(expr_value(value)).map(|(new, ty)| {
                *expr = new;
                ty
            }),
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
            | Expr::ILike { any: false, expr: left, pattern, escape_char, .. } => {
                self.expr(left, scope)?;
                self.expr(pattern, scope)?;
                check_escape(escape_char)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::SimilarTo { expr: left, pattern, escape_char, .. } => {
                self.expr(left, scope)?;
                self.expr(pattern, scope)?;
                check_escape(escape_char)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.compared(left, right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                if let Type::Record(_) = self.expr(inner, scope)? {
                    return Err(not_supported("IS NULL of a row"));
                }
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner) => {
                self.expr(inner, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::InList { expr: left, list, .. } => {
                let ty = self.expr(left, scope)?;
                for element in list {
                    self.meets(element, &ty, scope)?;
                }
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::InSubquery { expr: left, subquery, .. } => {
                self.expr(left, scope)?;
                self.query(subquery, scope, Place::Inside)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::Between { expr: left, low, high, .. } => {
                let ty = self.expr(left, scope)?;
                self.meets(low, &ty, scope)?;
                self.meets(high, &ty, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::Exists { subquery, .. } => {
                self.query(subquery, scope, Place::Inside)?;
                Ok(Type::Of(PgType::BOOL))
            }
            Expr::Subquery(query) => self.scalar(query, scope),
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref_mut(), conditions, else_result.as_deref_mut(), scope)
            }
            Expr::Array(array) => {
                let mut ty = Type::Open;
                for element in &mut array.elem {
                    let of_element = self.expr(element, scope)?;
                    ty = if ty == Type::Open { of_element } else { ty };
                }
                Ok(if ty == Type::Open { Type::Of(PgType(1009)) } else { ty.array() })
            }
            Expr::Tuple(values) => {
                for value in values {
                    self.expr(value, scope)?;
                }
                Ok(Type::Natural)
            }
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

    /// `a[1]`, `(row).field`.
    fn access(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::CompoundFieldAccess { root, access_chain } = expr else { return Ok(Type::Natural) };
        // `relation.column[1]` is a name with two accesses to the parser.
        let mut accesses = std::mem::take(access_chain).into_iter().peekable();
        while let (Expr::Identifier(_) | Expr::CompoundIdentifier(_), Some(AccessExpr::Dot(Expr::Identifier(name)))) =
            (&**root, accesses.peek())
        {
            if self.resolves(root, scope)? {
                break;
            }
            **root = longer_name(take(root), name.clone());
            accesses.next();
        }
        let mut ty = self.expr(root, scope)?;
        let mut value = take(root);
        for access in accesses {
            match access {
                AccessExpr::Subscript(Subscript::Index { mut index }) => {
                    self.expr(&mut index, scope)?;
                    let place =
                        if ty.counts_from_zero() { nested(binary(index, BinaryOperator::Plus, int(1))) } else { index };
                    value = call("array_elem", vec![value, place]);
                    ty = ty.element();
                }
                AccessExpr::Dot(Expr::Identifier(field)) => {
                    let (Type::Record(fields), Expr::Tuple(values)) = (ty, without_brackets(value)) else {
                        return Err(not_supported("fields of what is no row"));
                    };
                    let field = folded(&field);
                    let mut found = fields.into_iter().zip(values).filter(|((name, _), _)| *name == field);
                    let ((_, of_field), new) = found.next().ok_or(CatalogError::NoColumn(field))?;
                    (value, ty) = (new, of_field);
                }
                AccessExpr::Subscript(Subscript::Slice { .. }) | AccessExpr::Dot(_) => {
                    return Err(not_supported("slices of arrays"));
                }
            }
        }
        *expr = value;
        Ok(ty)
    }

    /// Whether a name is one of a column.
    fn resolves(&self, expr: &Expr, scope: Scope<'_>) -> Result<bool, CatalogError> {
        let names = match expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(names) => names.as_slice(),
            _ => return Ok(false),
        };
        Ok(scope.resolve(names)?.is_some())
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
            ty = if ty == Type::Open { of_result } else { ty };
        }
        let last = otherwise.map(|otherwise| self.expr(otherwise, scope)).transpose()?;
        // A literal of a text takes the type of what stands beside it, and is a text alone.
        Ok(match (ty, last) {
            (Type::Open, Some(last)) => last,
            (ty, _) => ty,
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

    fn operator(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::BinaryOp { left, op, right } = expr else { return Ok(Type::Natural) };
        *op = plain_operator(op)?;
        use BinaryOperator as B;
        match op {
            B::And | B::Or => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq => {
                self.compared(left, right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            B::PGRegexMatch | B::PGRegexIMatch | B::PGRegexNotMatch | B::PGRegexNotIMatch => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            B::PGLikeMatch | B::PGNotLikeMatch | B::PGILikeMatch | B::PGNotILikeMatch => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                let (ignores_case, negated) = (
                    matches!(op, B::PGILikeMatch | B::PGNotILikeMatch),
                    matches!(op, B::PGNotLikeMatch | B::PGNotILikeMatch),
                );
                let (left, pattern) = (Box::new(take(left)), Box::new(take(right)));
                let escape_char = Some(backslash());
                *expr = match ignores_case {
                    true => Expr::ILike { negated, any: false, expr: left, pattern, escape_char },
                    false => Expr::Like { negated, any: false, expr: left, pattern, escape_char },
                };
                Ok(Type::Of(PgType::BOOL))
            }
            B::StringConcat => {
                let (of_left, of_right) = (self.expr(left, scope)?, self.expr(right, scope)?);
                let is_array = |ty: &Type| ty.pg().and_then(PgType::element).is_some();
                if is_array(&of_left) || is_array(&of_right) {
                    return Ok(if is_array(&of_left) { of_left } else { of_right });
                }
                for (side, ty) in [(left, of_left), (right, of_right)] {
                    let value = take(side);
                    **side = casts::as_text(value, &ty);
                }
                Ok(Type::Of(PgType::TEXT))
            }
            B::Plus
            | B::Minus
            | B::Multiply
            | B::Divide
            | B::Modulo
            | B::BitwiseAnd
            | B::BitwiseOr
            | B::BitwiseXor
            | B::PGBitwiseShiftLeft
            | B::PGBitwiseShiftRight
            | B::Arrow
            | B::LongArrow
            | B::HashArrow
            | B::HashLongArrow => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                Ok(Type::Natural)
            }
            other => Err(not_supported(format!("the operator {other}"))),
        }
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
    fn meets(&mut self, expr: &mut Expr, ty: &Type, scope: Scope<'_>) -> Result<(), CatalogError> {
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
    fn quantified(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
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
                    let array_type = if ty == Type::Open { Type::Of(PgType(1009)) } else { ty.array() };
                    let wanted = array_type.pg().unwrap_or(PgType(1009));
                    let value = take(array);
                    *array = cast(value, casts::engine_type(wanted));
                }
            }
        }
        Ok(Type::Of(PgType::BOOL))
    }

    /// In PostgreSQL, places before the first character count.
    fn substring(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::Substring { expr: of, substring_from, substring_for, .. } = expr else { return Ok(Type::Natural) };
        self.expr(of, scope)?;
        let mut arguments = vec![take(of)];
        if let Some(from) = substring_from {
            let ty = self.expr(from, scope)?;
            if substring_for.is_none() && matches!(&**from, Expr::Value(_)) && ty == Type::Open {
                *expr = call("regexp_substr", vec![arguments.remove(0), take(from)]);
                return Ok(Type::Of(PgType::TEXT));
            }
            arguments.push(take(from));
        } else {
            arguments.push(int(1));
        }
        if let Some(count) = substring_for {
            self.expr(count, scope)?;
            arguments.push(take(count));
        }
        let function = if arguments.len() == 3 { "pg_substring_for" } else { "pg_substring" };
        *expr = call(function, arguments);
        Ok(Type::Of(PgType::TEXT))
    }
}

/// A name with another part.
fn longer_name(expr: Expr, part: Ident) -> Expr {
    let mut names = match expr {
        Expr::Identifier(name) => vec![name],
        Expr::CompoundIdentifier(names) => names,
        other => return other,
    };
    names.push(part);
    Expr::CompoundIdentifier(names)
}

fn expr_value(value: &mut ValueWithSpan) -> Value {
    std::mem::replace(&mut value.value, Value::Null)
}

/// A literal. Texts of all forms become one.
fn literal(value: Value) -> Result<(Expr, Type), CatalogError> {
    use Value as V;
    let plain = |value: Value| Expr::Value(value.with_empty_span());
    Ok(match value {
        V::SingleQuotedString(it) | V::EscapedStringLiteral(it) | V::UnicodeStringLiteral(it) => {
            (text(&it), Type::Open)
        }
        V::DollarQuotedString(it) => (text(&it.value), Type::Open),
        V::Null => (plain(V::Null), Type::Open),
        V::Placeholder(name) => (plain(V::Placeholder(name)), Type::Open),
        V::Boolean(value) => (plain(V::Boolean(value)), Type::Of(PgType::BOOL)),
        V::Number(digits, long) => (plain(V::Number(digits, long)), Type::Natural),
        other => return Err(not_supported(format!("the literal {other}"))),
    })
}

fn backslash() -> ValueWithSpan {
    Value::SingleQuotedString("\\".to_owned()).with_empty_span()
}

/// In PostgreSQL, a backslash escapes unless ESCAPE names another character.
fn check_escape(escape: &mut Option<ValueWithSpan>) -> Result<(), CatalogError> {
    let value = escape.get_or_insert_with(backslash);
    match &value.value {
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text)
            if text.chars().count() <= 1 && text != "'" =>
        {
            value.value = Value::SingleQuotedString(text.clone());
            Ok(())
        }
        _ => Err(not_supported("this ESCAPE")),
    }
}

/// `OPERATOR(pg_catalog.~)` is `~`.
fn plain_operator(op: &BinaryOperator) -> Result<BinaryOperator, CatalogError> {
    use BinaryOperator as B;
    let B::PGCustomBinaryOperator(path) = op else { return Ok(op.clone()) };
    let symbol = path.last().map_or("", String::as_str);
    Ok(match symbol {
        "~" => B::PGRegexMatch,
        "~*" => B::PGRegexIMatch,
        "!~" => B::PGRegexNotMatch,
        "!~*" => B::PGRegexNotIMatch,
        "~~" => B::PGLikeMatch,
        "!~~" => B::PGNotLikeMatch,
        "~~*" => B::PGILikeMatch,
        "!~~*" => B::PGNotILikeMatch,
        "=" => B::Eq,
        "<>" => B::NotEq,
        "<" => B::Lt,
        "<=" => B::LtEq,
        ">" => B::Gt,
        ">=" => B::GtEq,
        "+" => B::Plus,
        "-" => B::Minus,
        "||" => B::StringConcat,
        other => return Err(not_supported(format!("the operator {other}"))),
    })
}
