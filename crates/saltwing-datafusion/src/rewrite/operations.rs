//! The rewriting of operators, functions and constants.

use std::borrow::Cow;

use saltwing_bind::{BindError, BindErrorKind, Params, Subquery, placed};
use saltwing_sql::{cast_type, expr_span, extract_field, own_call, trim_function};
use saltwing_types::{ArithOp, CompareOp, Function, Span, SqlType, Value, ValueError, typing};
use sqlparser::ast::{
    self, BinaryOperator, CastKind, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    ObjectNamePart, Query, UnaryOperator, Values,
};

use super::{Result, Rewriter, not_supported, similar};
use crate::internal_name::is_internal;
use crate::operation::Operation;
use crate::{RelationalError, RelationalErrorKind};

impl Rewriter<'_> {
    /// Makes an expression a call if it is an operation of the language; its operands have been seen already.
    pub(super) fn operation(&mut self, expr: &mut Expr) -> Result<()> {
        let span = expr_span(expr);
        self.operation_at(expr, span).map_err(|error| error.at(span))
    }

    fn operation_at(&mut self, expr: &mut Expr, span: Option<Span>) -> Result<()> {
        let taken = std::mem::replace(expr, Expr::value(ast::Value::Null));
        *expr = match taken {
            Expr::Nested(inner) => *inner,
            Expr::Value(value) => return self.value(value, expr),
            Expr::TypedString(string) => match (cast_type(&string.data_type), &string.value.value) {
                (Some(ty), ast::Value::SingleQuotedString(text)) => {
                    let value = saltwing_types::text::parse(text, ty)?;
                    self.call(Operation::Literal(value, ty), Vec::new(), span)
                }
                _ => Expr::TypedString(string),
            },
            Expr::BinaryOp { left, op, right } => match binary_operation(&op) {
                Some(Operation::Compare(op)) => self.compare(op, *left, *right, span)?,
                Some(operation) => self.call(operation, vec![*left, *right], span),
                None => Expr::BinaryOp { left, op, right },
            },
            Expr::IsDistinctFrom(left, right) => self.compare(CompareOp::Distinct, *left, *right, span)?,
            Expr::IsNotDistinctFrom(left, right) => self.compare(CompareOp::NotDistinct, *left, *right, span)?,
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => self.call(Operation::Negate, vec![*expr], span),
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => *expr,
            Expr::Between { expr, negated, low, high } => {
                self.call(Operation::Between { negated }, vec![*expr, *low, *high], span)
            }
            Expr::InList { expr, list, negated } => self.in_list(*expr, list, negated, span)?,
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                let escape = escape_of(escape_char)?;
                self.call(Operation::Like { escape, ignore_case: false, negated }, vec![*expr, *pattern], span)
            }
            Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                let escape = escape_of(escape_char)?;
                self.call(Operation::Like { escape, ignore_case: true, negated }, vec![*expr, *pattern], span)
            }
            Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                let escape = escape_of(escape_char)?;
                let Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(text), .. }) = *pattern
                else {
                    return Err(not_supported("SIMILAR TO with a pattern that is no literal")
                        .help("write ~ with a regular expression"));
                };
                let regexp = as_is(ast::Value::SingleQuotedString(similar::as_regexp(&text, escape)?));
                self.call(Operation::Regexp { ignore_case: false, negated }, vec![*expr, regexp], span)
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
            Expr::Case { operand, conditions, else_result, .. } => {
                let operation = Operation::Case { operand: operand.is_some(), otherwise: else_result.is_some() };
                let whens = conditions.into_iter().flat_map(|when| [when.condition, when.result]);
                let args = operand.into_iter().map(|e| *e).chain(whens).chain(else_result.into_iter().map(|e| *e));
                self.call(operation, args.collect(), span)
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let one = || Box::new(Expr::value(ast::Value::Number("1".into(), false)));
                let from = substring_from.or_else(|| substring_for.is_some().then(one));
                let args = [Some(expr), from, substring_for];
                let args = args.into_iter().flatten().map(|e| *e).collect();
                self.call(Operation::Call(Function::SUBSTR), args, span)
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters: None } => {
                let args = std::iter::once(expr).chain(trim_what).map(|e| *e).collect();
                self.call(Operation::Call(trim_function(trim_where)), args, span)
            }
            Expr::Position { expr, r#in } => self.call(Operation::Call(Function::STRPOS), vec![*r#in, *expr], span),
            Expr::Extract { field, syntax, expr } => match extract_field(&field) {
                Some(field) => self.call(Operation::Call(Function::extract(field)), vec![*expr], span),
                None => Expr::Extract { field, syntax, expr },
            },
            Expr::Function(function) => match own_call(&function) {
                Some((own, args)) => {
                    let args = args.into_iter().map(Cow::into_owned).collect();
                    self.call(Operation::Call(own), args, span)
                }
                None => {
                    self.native_call(&function, span)?;
                    Expr::Function(function)
                }
            },
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
            other => other,
        };
        Ok(())
    }

    /// Checks that a function which is not ours exists, and notes where it is called, for errors that name it.
    fn native_call(&mut self, function: &ast::Function, span: Option<Span>) -> Result<()> {
        let name = match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => name.value.clone(),
            _ => function.name.to_string(),
        };
        let first = function.name.0.first().and_then(|part| part.as_ident());
        let span = first.and_then(|name| expr_span(&Expr::Identifier(name.clone()))).or(span);
        // A name without brackets may be a column.
        if matches!(function.args, FunctionArguments::List(_)) && !is_internal(&name) {
            self.functions.check(&name, function.over.is_some(), span)?;
        }
        if let Some(span) = span {
            self.calls.entry(name).or_insert(span);
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
        function_call(self.operations.name(operation, span), args)
    }

    /// Puts a constant into `expr`: as it is where DataFusion reads it as we do.
    fn value(&mut self, value: ast::ValueWithSpan, expr: &mut Expr) -> Result<()> {
        let span = expr_span(&Expr::Value(value.clone()));
        *expr = match value.value {
            ast::Value::Number(text, _) => match typing::number(&text)? {
                saltwing_types::Expr::Literal(Value::Int(n), _) => as_is(ast::Value::Number(n.to_string(), false)),
                saltwing_types::Expr::Literal(value, ty) => self.call(Operation::Literal(value, ty), Vec::new(), span),
                other => return Err(RelationalError::bug(format!("the number {text} is {other}"))),
            },
            ast::Value::EscapedStringLiteral(text)
            | ast::Value::UnicodeStringLiteral(text)
            | ast::Value::NationalStringLiteral(text) => as_is(ast::Value::SingleQuotedString(text)),
            ast::Value::DollarQuotedString(text) => as_is(ast::Value::SingleQuotedString(text.value)),
            ast::Value::HexStringLiteral(text) => match saltwing_types::text::unhex(&text) {
                Some(bytes) => self.call(Operation::Literal(Value::Bytes(bytes), SqlType::Varbinary), Vec::new(), span),
                None => return Err(ValueError::BadText { text, target: "hex string".into() }.into()),
            },
            ast::Value::Placeholder(name) => match placed(&name, self.subqueries) {
                Some((number, Subquery { ty, value, .. })) => {
                    let unknown = Operation::Subquery(number, *ty);
                    let operation = value.clone().map_or(unknown, |value| Operation::Computed(value, *ty));
                    self.call(operation, Vec::new(), span)
                }
                None => return self.parameter_value(&name, span, expr),
            },
            other => as_is(other),
        };
        Ok(())
    }

    /// Puts the value of a parameter into `expr`.
    fn parameter_value(&mut self, name: &str, span: Option<Span>, expr: &mut Expr) -> Result<()> {
        *expr = match self.parameter(name)? {
            None => {
                let index = parameter_index(name).unwrap_or_default();
                self.call(Operation::Param(index), Vec::new(), span)
            }
            Some(Value::Null) => as_is(ast::Value::Null),
            Some(Value::Bool(value)) => as_is(ast::Value::Boolean(value)),
            Some(Value::Int(n)) if n >= 0 => as_is(ast::Value::Number(n.to_string(), false)),
            Some(Value::Text(text)) => as_is(ast::Value::SingleQuotedString(text)),
            Some(value) => {
                let ty = typing::natural_type(&value);
                self.call(Operation::Literal(value, ty), Vec::new(), span)
            }
        };
        Ok(())
    }

    /// The value of `$1`, the first parameter; `None` where none is known yet.
    pub(super) fn parameter(&self, name: &str) -> Result<Option<Value>> {
        let Some(index) = parameter_index(name) else {
            return Err(RelationalErrorKind::Syntax(format!("{name} is no parameter")).into());
        };
        match self.params {
            Params::Open => Ok(None),
            Params::Given(values) => match values.get(index) {
                Some(value) => Ok(Some(value.clone())),
                None => Err(BindError::from(BindErrorKind::MissingParameter(index + 1)).into()),
            },
        }
    }

    fn compare(&mut self, op: CompareOp, left: Expr, right: Expr, span: Option<Span>) -> Result<Expr> {
        match (left, right) {
            (Expr::Tuple(left), Expr::Tuple(right)) => {
                if left.len() != right.len() {
                    return Err(unequal_rows(left.len(), right.len()));
                }
                let operation = Operation::RowCompare(op, left.len());
                Ok(self.call(operation, left.into_iter().chain(right).collect(), span))
            }
            (Expr::Tuple(_), _) | (_, Expr::Tuple(_)) => {
                Err(ValueError::TypeMismatch("a row value compares with a row value".into()).into())
            }
            (left, right) => Ok(self.call(Operation::Compare(op), vec![left, right], span)),
        }
    }

    fn in_list(&mut self, left: Expr, list: Vec<Expr>, negated: bool, span: Option<Span>) -> Result<Expr> {
        let Expr::Tuple(mut args) = left else {
            let args = std::iter::once(left).chain(list).collect();
            return Ok(self.call(Operation::InList { negated }, args, span));
        };
        let width = args.len();
        for item in list {
            let row = if let Expr::Tuple(row) = item { row } else { vec![item] };
            if row.len() != width {
                return Err(unequal_rows(width, row.len()));
            }
            args.extend(row);
        }
        Ok(self.call(Operation::RowInList { width, negated }, args, span))
    }
}

pub(super) fn function_call(name: String, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    let list = ast::FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() };
    Expr::Function(ast::Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::with_quote('"', name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The BIGINT that minus a number makes though the number alone is a DECIMAL: -9223372036854775808.
///
/// The type of a negation follows from its operand's type, so that this one value must be a literal from the start.
pub(super) fn smallest_bigint(operand: &Expr) -> Option<Operation> {
    let Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(text, _), .. }) = operand else { return None };
    let number = typing::number(text).ok()?;
    if !matches!(number, saltwing_types::Expr::Literal(Value::Decimal(_), _)) {
        return None;
    }
    match typing::negate(number).ok()? {
        saltwing_types::Expr::Literal(value @ Value::Int(_), ty) => Some(Operation::Literal(value, ty)),
        _ => None,
    }
}

fn as_is(value: ast::Value) -> Expr {
    Expr::Value(ast::ValueWithSpan { value, span: sqlparser::tokenizer::Span::empty() })
}

fn unequal_rows(left: usize, right: usize) -> RelationalError {
    ValueError::TypeMismatch(format!("row values of {left} and {right} columns do not compare")).into()
}

fn parameter_index(name: &str) -> Option<usize> {
    name.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

/// The operation of an operator that is ours.
fn binary_operation(op: &BinaryOperator) -> Option<Operation> {
    Some(match op {
        BinaryOperator::Eq => Operation::Compare(CompareOp::Eq),
        BinaryOperator::NotEq => Operation::Compare(CompareOp::NotEq),
        BinaryOperator::Lt => Operation::Compare(CompareOp::Lt),
        BinaryOperator::LtEq => Operation::Compare(CompareOp::LtEq),
        BinaryOperator::Gt => Operation::Compare(CompareOp::Gt),
        BinaryOperator::GtEq => Operation::Compare(CompareOp::GtEq),
        BinaryOperator::Plus => Operation::Arith(ArithOp::Add),
        BinaryOperator::Minus => Operation::Arith(ArithOp::Sub),
        BinaryOperator::Multiply => Operation::Arith(ArithOp::Mul),
        BinaryOperator::Divide => Operation::Arith(ArithOp::Div),
        BinaryOperator::Modulo => Operation::Arith(ArithOp::Rem),
        BinaryOperator::StringConcat => Operation::Call(Function::CONCAT),
        BinaryOperator::PGRegexMatch => Operation::Regexp { ignore_case: false, negated: false },
        BinaryOperator::PGRegexIMatch => Operation::Regexp { ignore_case: true, negated: false },
        BinaryOperator::PGRegexNotMatch => Operation::Regexp { ignore_case: false, negated: true },
        BinaryOperator::PGRegexNotIMatch => Operation::Regexp { ignore_case: true, negated: true },
        _ => return None,
    })
}

/// The escape character: backslash where nothing is said, none for ''.
fn escape_of(escape: Option<ast::ValueWithSpan>) -> Result<Option<char>> {
    match escape.map(|v| v.value) {
        None => Ok(Some('\\')),
        Some(ast::Value::SingleQuotedString(text)) if text.chars().count() <= 1 => Ok(text.chars().next()),
        Some(other) => Err(ValueError::BadArgument(format!("ESCAPE takes one character, and {other} is none")).into()),
    }
}
