//! The rewriting of operators, functions and constants.

use std::borrow::Cow;
use std::ops::ControlFlow;

use saltwing_bind::{LowerError, Lowerer, placed};
use saltwing_sql::{cast_type, expr_span, function_of};
use saltwing_types::{Function, Span, SqlType, Value, ValueError};
use sqlparser::ast::{
    self, BinaryOperator, CastKind, Expr, FunctionArguments, ObjectNamePart, Query, UnaryOperator, Values, VisitMut,
    VisitorMut,
};

use super::families::Scope;
use super::rewriter::Rewriter;
use super::tree::{Result, function_call};
use super::windows::with_literal_bounds;
use super::{arguments, similar};
use crate::RelationalError;
use crate::expression::internal_name::is_internal;
use crate::expression::operation::{Operation, comparison};
use crate::function::at_time_zone::AT_TIME_ZONE;

impl Rewriter<'_> {
    /// Makes an expression a call if it is an operation of the language; its operands have been seen already.
    pub(super) fn operation(&mut self, expr: &mut Expr) -> Result<()> {
        let span = expr_span(expr);
        let taken = std::mem::replace(expr, Expr::value(ast::Value::Null));
        *expr = self.operation_at(taken, span).map_err(|error| error.at(span))?;
        Ok(())
    }

    fn operation_at(&mut self, expr: Expr, span: Option<Span>) -> Result<Expr> {
        if let Some((own, args)) = function_of(&expr) {
            let args = args.into_iter().map(Cow::into_owned).collect();
            return Ok(self.call(Operation::Call(own), args, span));
        }
        if let Some((_, left, right)) = comparison(&expr)
            && matches!(left, Expr::Tuple(_)) != matches!(right, Expr::Tuple(_))
        {
            return Err(ValueError::TypeMismatch("a row value compares with a row value".into()).into());
        }
        Ok(match expr {
            Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner } => *inner,
            Expr::Value(_) | Expr::TypedString(_) | Expr::Interval(_) => self.constant(expr, span)?,
            Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                let Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(text), .. }) = *pattern
                else {
                    return Err(RelationalError::not_supported("SIMILAR TO with a pattern that is no literal")
                        .help("write ~ with a regular expression"));
                };
                let regexp = similar::as_regexp(&text, escape_of(escape_char)?)?;
                let right = Box::new(Expr::value(ast::Value::SingleQuotedString(regexp)));
                let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
                self.syntax(Expr::BinaryOp { left: expr, op, right }, span)
            }
            Expr::Cast {
                kind: kind @ (CastKind::Cast | CastKind::DoubleColon),
                expr,
                data_type,
                array: false,
                format: None,
            } => match cast_type(&data_type) {
                Some(ty) => self.call(Operation::Cast(ty), vec![*expr], span),
                None => Expr::Cast { kind, expr, data_type, array: false, format: None },
            },
            Expr::Function(mut function) => {
                with_literal_bounds(&mut function, &self.found.operations);
                let has_one_table = self.scopes.last().is_none_or(Scope::has_one_table);
                arguments::check(&function, &self.found.operations, has_one_table)?;
                let bounds = self.values_of_group(&mut function)?;
                let function = self.within_group(function, span)?;
                self.native_call(&function, span)?;
                if let Some(call) = self.with_default(&function, span) {
                    return Ok(call);
                }
                let call = Expr::Function(function);
                match bounds {
                    Some([first, last]) => function_call("array_slice".into(), vec![call, first, last]),
                    None => call,
                }
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                let instant = match *timestamp {
                    literal @ Expr::Value(_) => self.call(Operation::Cast(SqlType::Timestamp), vec![literal], span),
                    other => other,
                };
                function_call(AT_TIME_ZONE.into(), vec![instant, *time_zone])
            }
            Expr::InSubquery { expr, subquery, negated } => {
                let (expr, subquery) = self.row_sides(*expr, subquery, span)?;
                Expr::InSubquery { expr: Box::new(expr), subquery, negated }
            }
            Expr::AnyOp { left, compare_op, right, is_some } => {
                let (left, right) = self.quantified_sides(*left, *right, span)?;
                Expr::AnyOp { left: Box::new(left), compare_op, right: Box::new(right), is_some }
            }
            Expr::AllOp { left, compare_op, right } => {
                let (left, right) = self.quantified_sides(*left, *right, span)?;
                Expr::AllOp { left: Box::new(left), compare_op, right: Box::new(right) }
            }
            other if is_own_syntax(&other) => self.syntax(other, span),
            other => other,
        })
    }

    /// An operation with its operands as arguments.
    pub(super) fn syntax(&mut self, mut syntax: Expr, span: Option<Span>) -> Expr {
        let mut operands = Operands::default();
        let _ = VisitMut::visit(&mut syntax, &mut operands);
        self.call(Operation::Syntax(Box::new(syntax)), operands.taken, span)
    }

    /// Checks that a function which is not ours exists, and notes where it is called, for errors that name it.
    fn native_call(&mut self, function: &ast::Function, span: Option<Span>) -> Result<()> {
        let name = match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => name.value.clone(),
            _ => function.name.to_string(),
        };
        let first = function.name.0.first().and_then(|part| part.as_ident());
        let span = first.and_then(|name| expr_span(&Expr::Identifier(name.clone()))).or(span);
        // DataFusion's function of this name makes results of any size.
        if Function::by_name(&name).is_some_and(|own| own.size.is_some()) {
            return Err(RelationalError::not_supported(format!(
                "{} with DISTINCT, named arguments and the like",
                name.to_uppercase()
            )));
        }
        // A name without brackets may be a column.
        if matches!(function.args, FunctionArguments::List(_)) && !is_internal(&name) {
            self.functions.check(&name, function.over.is_some(), span)?;
        }
        if let Some(span) = span {
            self.found.calls.entry(name).or_insert(span);
        }
        Ok(())
    }

    /// The rows of a VALUES agree in type only if the types are plain.
    pub(super) fn plain_rows(&mut self, values: &mut Values) {
        for value in values.rows.iter_mut().flat_map(|row| &mut row.content) {
            if matches!(value, Expr::Function(_)) {
                let typed = std::mem::replace(value, Expr::value(ast::Value::Null));
                *value = self.call(Operation::Plain, vec![typed], None);
            }
        }
    }

    /// A row value and the members of a subquery, each as one value.
    fn row_sides(&mut self, left: Expr, members: Box<Query>, span: Option<Span>) -> Result<(Expr, Box<Query>)> {
        let Expr::Tuple(values) = left else { return Ok((left, members)) };
        let members = self.rows_of(members, values.len(), span)?;
        Ok((self.call(Operation::Row, values, span), members))
    }

    /// The same for both sides of ANY and ALL, over a subquery.
    fn quantified_sides(&mut self, left: Expr, right: Expr, span: Option<Span>) -> Result<(Expr, Expr)> {
        let Expr::Subquery(members) = right else { return Ok((left, right)) };
        let (left, members) = self.row_sides(left, members, span)?;
        Ok((left, Expr::Subquery(members)))
    }

    pub(super) fn call(&mut self, operation: Operation, args: Vec<Expr>, span: Option<Span>) -> Expr {
        function_call(self.found.operations.name(operation, span), args)
    }

    /// A constant or placeholder: as it is where DataFusion reads it as we do.
    pub(super) fn constant(&mut self, expr: Expr, span: Option<Span>) -> Result<Expr> {
        use saltwing_types::Expr::Literal;
        let own = match self.lowerer(&saltwing_bind::Scope::empty()).lower(&expr) {
            Ok(own) => own,
            Err(LowerError::Unsupported(..)) => return Ok(expr),
            Err(LowerError::Invalid(error)) => return Err(error.into()),
        };
        let is_subquery = matches!(&expr, Expr::Value(value)
            if matches!(&value.value, ast::Value::Placeholder(name) if placed(name, self.subqueries).is_some()));
        let value = match own {
            own if is_subquery || !matches!(expr, Expr::Value(_)) => Err(own),
            Literal(Value::Null, SqlType::Null) => Ok(ast::Value::Null),
            Literal(Value::Bool(value), _) => Ok(ast::Value::Boolean(value)),
            Literal(Value::Int(n), SqlType::BigInt) if n >= 0 => Ok(ast::Value::Number(n.to_string(), false)),
            Literal(Value::Text(text), _) => Ok(ast::Value::SingleQuotedString(text)),
            own => Err(own),
        };
        Ok(match value {
            Ok(value) => Expr::value(value),
            Err(own) => self.call(Operation::Constant(own), Vec::new(), span),
        })
    }

    /// The lowering of expressions without columns.
    pub(super) fn lowerer<'s>(&'s self, scope: &'s saltwing_bind::Scope) -> Lowerer<'s> {
        Lowerer::new(scope, self.params).with_subqueries(self.subqueries)
    }
}

/// Whether syntax that calls no function is an operation of the language.
fn is_own_syntax(expr: &Expr) -> bool {
    use BinaryOperator::*;
    match expr {
        Expr::BinaryOp { op, .. } => matches!(
            op,
            Eq | NotEq
                | Lt
                | LtEq
                | Gt
                | GtEq
                | Plus
                | Minus
                | Multiply
                | Divide
                | Modulo
                | StringConcat
                | PGRegexMatch
                | PGRegexIMatch
                | PGRegexNotMatch
                | PGRegexNotIMatch
        ),
        Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::UnaryOp { op: UnaryOperator::Minus, .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Case { .. } => true,
        Expr::Like { any, .. } | Expr::ILike { any, .. } => !any,
        _ => false,
    }
}

/// Takes the operands out of an operation, and leaves placeholders; a row's parts are operands.
#[derive(Default)]
struct Operands {
    taken: Vec<Expr>,
    depth: usize,
}

impl VisitorMut for Operands {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let is_row = self.depth == 1 && matches!(expr, Expr::Tuple(_));
        if self.depth > 0 && !is_row {
            let operand = saltwing_bind::operand(self.taken.len());
            self.taken.push(std::mem::replace(expr, operand));
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &mut Expr) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// The escape character: none where nothing is said, and none for ''.
fn escape_of(escape: Option<ast::ValueWithSpan>) -> Result<Option<char>> {
    match escape.map(|v| v.value) {
        None => Ok(None),
        Some(ast::Value::SingleQuotedString(text)) if text.chars().count() <= 1 => Ok(text.chars().next()),
        Some(other) => Err(ValueError::BadArgument(format!("ESCAPE takes one character, and {other} is none")).into()),
    }
}
