//! Calls of scalar functions, in whatever syntax: of those of the language, and of those that only the relational engine has.

use std::borrow::Cow;

use saltwing_sql::{array_query, expr_span, function_of, name_span, sequence_call};
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{BitOperator, EngineOperation, Expr, Function, Span, SqlType, Value, ValueError, typing};
use sqlparser::ast::{self, BinaryOperator, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::date_field::check_date_field;
use crate::engine::{EngineFunctionKind, no_such_function, operation_name};
use crate::error::{BindError, BindErrorKind};
use crate::lower::{ARGUMENTS, Lower, LowerError, Lowerer, Queries, cast_type, no_type, unsupported};
use crate::sequence_collector::around_value;
use crate::similar::similar_to;
use crate::table_call::UNNEST;

/// The engine's function for `AT TIME ZONE`, which no statement can name.
pub const AT_TIME_ZONE: &str = "__saltwing_at_time_zone";

/// The engine's function for a field of an instant that the language does not have.
const DATE_PART: &str = "date_part";

impl Lowerer<'_> {
    /// A call of a function, of an aggregate function or of a window function, or an operator that is one.
    pub(crate) fn call(&self, e: &ast::Expr) -> Lower {
        if let Some(query) = array_query(e) {
            return self.array_of_rows(e, query);
        }
        if let ast::Expr::Function(call) = e {
            if let Some(sequences) = self.sequences
                && let Some(value) = sequence_call(e).map_err(BindError::from)?
            {
                return Ok(sequences.value(value)?);
            }
            if let Some(column) = self.merge_action(e, call)? {
                return Ok(column);
            }
            let name = format_args!("the function {}", call.name);
            if let Some(over) = &call.over {
                return match self.windows {
                    Some(windows) => self.before_values(name, e, || self.window(windows, e, call, over)),
                    None => self.misplaced("window functions", e),
                };
            }
            if let Some(column) = self.before_values(name, e, || self.aggregate(e, call))? {
                return Ok(column);
            }
        }
        let Some((function, args)) = function_of(e) else { return self.of_engine(e) };
        let args = args.iter().map(|arg| self.lower(arg)).collect::<std::result::Result<Vec<_>, _>>()?;
        let is_opaque = |arg: &Expr| arg.sql_type() == Some(SqlType::Opaque);
        if function.is_nested_array(&args) || args.iter().any(is_opaque) {
            return self.of_opaque(function, args, e);
        }
        Ok(typing::call(function, args)?)
    }

    /// `MERGE_ACTION()`; `None` of another call.
    ///
    /// # Errors
    /// The call outside of the RETURNING of a MERGE.
    fn merge_action(&self, e: &ast::Expr, call: &ast::Function) -> std::result::Result<Option<Expr>, LowerError> {
        if !call.name.to_string().eq_ignore_ascii_case("merge_action") {
            return Ok(None);
        }
        let column = self.queries.and_then(Queries::merge_action);
        match (column, plain_args(call).as_deref()) {
            (Some(column), Some([])) if call.over.is_none() => Ok(Some(Expr::Column(column))),
            _ => {
                let text = "MERGE_ACTION() stands in the RETURNING of a MERGE, and has no arguments".to_owned();
                Err(BindError::from(BindErrorKind::Syntax(text)).at(expr_span(e)).into())
            }
        }
    }

    /// `ARRAY(query)`: an empty array without rows.
    fn array_of_rows(&self, e: &ast::Expr, query: Option<Box<ast::Query>>) -> Lower {
        let (Some(query), Some(_)) = (query, self.queries) else {
            let help = "SELECT ARRAY_AGG(item ORDER BY key) FROM (query) makes an array of any query";
            return unsupported_with("ARRAY of a query of this form", e, help);
        };
        let array = self.lower(&ast::Expr::Subquery(query))?;
        match array.sql_type() {
            Some(ty) if ty.element().is_some() => {
                let none = Expr::Cast(Box::new(Expr::Literal(Value::Array(Vec::new()), ty)), ty);
                Ok(typing::call(Function::COALESCE, vec![array, none])?)
            }
            _ => unsupported_with("ARRAY of such values", e, "arrays hold values of SQL's types, and no arrays"),
        }
    }

    /// What the language has no function for.
    fn of_engine(&self, e: &ast::Expr) -> Lower {
        let Some(queries) = self.queries else {
            let what = match e {
                ast::Expr::Function(call) => format!("the function {}", call.name),
                ast::Expr::Extract { field, .. } => format!("EXTRACT({field} ..)"),
                other => format!("`{other}`"),
            };
            return unsupported(&what, e);
        };
        let span = expr_span(e);
        match e {
            ast::Expr::Function(call) => self.engine_function(queries, e, call),
            ast::Expr::Extract { field, expr, .. } => {
                check_date_field("EXTRACT", &field.to_string(), expr_span(expr))?;
                let args = vec![typing::string(field.to_string().to_lowercase()), self.lower(expr)?];
                self.typed(queries, EngineOperation::Function(DATE_PART.into()), args, span)
            }
            ast::Expr::AtTimeZone { timestamp, time_zone } => {
                let instant = match self.lower(timestamp)? {
                    text @ Expr::Literal(..) => typing::cast(text, SqlType::Timestamp)?,
                    other => other,
                };
                let args = vec![instant, self.lower(time_zone)?];
                self.typed(queries, EngineOperation::Function(AT_TIME_ZONE.into()), args, span)
            }
            ast::Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                Ok(similar_to(self.lower(expr)?, pattern, escape_char.as_ref(), *negated)?)
            }
            ast::Expr::Cast {
                kind: ast::CastKind::TryCast | ast::CastKind::SafeCast,
                expr,
                data_type,
                format: None,
                ..
            } => match cast_type(data_type) {
                Some(ty) => self.typed(queries, EngineOperation::TryCast(ty), vec![self.lower(expr)?], span),
                None => no_type(data_type, e),
            },
            ast::Expr::BinaryOp { left, op, right } => match bit_operator(op) {
                Some(op) => {
                    let args = vec![self.lower(left)?, self.lower(right)?];
                    self.typed(queries, EngineOperation::Bits(op), args, span)
                }
                None => unsupported(&format!("the operator {op}"), e),
            },
            ast::Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let args = [expr, overlay_what, overlay_from].into_iter().chain(overlay_for);
                let args = args.map(|arg| self.lower(arg)).collect::<std::result::Result<Vec<_>, _>>()?;
                self.typed(queries, EngineOperation::Function("overlay".into()), args, span)
            }
            ast::Expr::Struct { values, fields } if fields.is_empty() => {
                let args = values.iter().map(|value| self.lower(value)).collect::<std::result::Result<Vec<_>, _>>()?;
                self.typed(queries, EngineOperation::Function("struct".into()), args, span)
            }
            other => unsupported(&format!("`{other}`"), e),
        }
    }

    fn engine_function(&self, queries: &dyn Queries, e: &ast::Expr, call: &ast::Function) -> Lower {
        let name = call.name.to_string().replace('"', "").to_lowercase();
        let span = name_span(&call.name).or(expr_span(e));
        let engine = queries.columns().engine;
        let is_of_ours = Function::by_name(&name).is_some();
        check_stars(&name, call).map_err(|error| error.at(span))?;
        if plain_args(call).is_some_and(|args| args.is_empty())
            && let Some(value) = queries.session_word(&name)
        {
            return Ok(value);
        }
        match engine.kind(&name) {
            _ if name == UNNEST => return self.before_values("the function UNNEST", e, || self.unnest(e, call)),
            Some(EngineFunctionKind::Scalar) => {}
            _ if is_of_ours || name == "datepart" || name == DATE_PART => {}
            _ if AggregateEntry::by_name(&name).is_some() => {
                return unsupported(&format!("{} here", name.to_uppercase()), e);
            }
            _ => return Err(no_such_function(engine, &name, span).into()),
        }
        // The engine's function of the same name may make results of any size.
        let has_size = Function::by_name(&name).is_some_and(|own| own.size.is_some());
        let Some(args) = plain_args(call).filter(|_| !has_size) else {
            let text = format!("{} with DISTINCT, named arguments and the like", name.to_uppercase());
            return Err(BindError::from(BindErrorKind::NotSupported(text)).at(span).into());
        };
        if let (DATE_PART | "datepart", Some(field)) = (name.as_str(), args.first())
            && let ast::Expr::Value(value) = field
            && let ast::Value::SingleQuotedString(text) = &value.value
        {
            check_date_field("DATE_PART", text, expr_span(field))?;
        }
        let args = args.into_iter().map(|arg| self.lower(arg)).collect::<std::result::Result<Vec<_>, _>>()?;
        self.typed(queries, EngineOperation::Function(name), args, span)
    }

    /// `UNNEST(array)` as an item of a SELECT.
    fn unnest(&self, e: &ast::Expr, call: &ast::Function) -> Lower {
        match (self.unnests, plain_args(call).as_deref()) {
            (Some(unnests), Some([array])) => {
                unnests.column(Lowerer { unnests: None, ..*self }.lower(array)?, expr_span(array))
            }
            _ => unsupported("UNNEST but as a table in FROM, or in an item of SELECT", e),
        }
    }

    /// `a[1]`, `t.a[1][2]` and `s['field']`.
    pub(crate) fn access(&self, e: &ast::Expr, root: &ast::Expr, chain: &[ast::AccessExpr]) -> Lower {
        let span = expr_span(e);
        let (root, chain) = column_of_access(root, chain);
        let mut value = self.lower(&root)?;
        for access in chain {
            let ast::AccessExpr::Subscript(subscript) = access else { return unsupported(&format!("`{e}`"), e) };
            value = match subscript {
                ast::Subscript::Index { index } => {
                    let index = self.lower(index)?;
                    match value.sql_type() {
                        Some(SqlType::Json) => typing::call(Function::JSON_GET, vec![value, index])?,
                        Some(ty) if ty.family() == TypeFamily::Text => {
                            return unsupported_with(
                                "a character of a text by its place",
                                e,
                                "SUBSTR(text, 2, 1) is the second character",
                            );
                        }
                        Some(SqlType::Opaque) if index.sql_type().is_some_and(SqlType::is_integer) => {
                            self.of_opaque(Function::ARRAY_ELEM, vec![value, index], e)?
                        }
                        Some(SqlType::Opaque) => self.of_engine_function("get_field", vec![value, index], span, e)?,
                        _ => typing::call(Function::ARRAY_ELEM, vec![value, index])?,
                    }
                }
                ast::Subscript::Slice { lower_bound, upper_bound, stride: None } => {
                    let bound = |bound: Option<&ast::Expr>, default| match bound {
                        Some(bound) => self.lower(bound),
                        None => Ok(Expr::Literal(Value::Int(default), SqlType::BigInt)),
                    };
                    if value.sql_type().is_some_and(|ty| ty.family() == TypeFamily::Text) {
                        return unsupported_with(
                            "a part of a text by places",
                            e,
                            "SUBSTR(text, start, count) is a part of a text",
                        );
                    }
                    let args = vec![value, bound(lower_bound.as_ref(), 1)?, bound(upper_bound.as_ref(), -1)?];
                    self.of_engine_function("array_slice", args, span, e)?
                }
                ast::Subscript::Slice { .. } => {
                    return unsupported_with("a slice with a step", e, "array_slice(array, from, to, step) has one");
                }
            };
        }
        Ok(value)
    }

    /// `~a`: `a # -1`.
    pub(crate) fn bitwise_not(&self, e: &ast::Expr, operand: &ast::Expr) -> Lower {
        let Some(queries) = self.queries else { return unsupported("the operator ~", e) };
        let args = vec![self.lower(operand)?, Expr::Literal(Value::Int(-1), SqlType::BigInt)];
        self.typed(queries, EngineOperation::Bits(BitOperator::Xor), args, expr_span(e))
    }

    fn of_engine_function(&self, name: &str, args: Vec<Expr>, span: Option<Span>, e: &ast::Expr) -> Lower {
        match self.queries {
            Some(queries) => self.typed(queries, EngineOperation::Function(name.into()), args, span),
            None => unsupported(&format!("`{e}`"), e),
        }
    }

    /// A function of the language over values that SQL has no type for: the engine's function that does the same.
    fn of_opaque(&self, function: Function, args: Vec<Expr>, e: &ast::Expr) -> Lower {
        let Some(queries) = self.queries else { return unsupported("an array of arrays", e) };
        let name = match function.name {
            "COALESCE" | "NULLIF" => function.name.to_lowercase(),
            "CONCAT" => "array_concat".into(),
            "REVERSE" => "array_reverse".into(),
            "LENGTH" => "cardinality".into(),
            "ARRAY_ELEM" => "array_element".into(),
            "MAKE_ARRAY" => "make_array".into(),
            name => name.to_lowercase(),
        };
        let is_of_arrays = function.name.contains("ARRAY") || name != function.name.to_lowercase();
        let is_same = is_of_arrays || matches!(function.name, "COALESCE" | "NULLIF");
        if !is_same || queries.columns().engine.kind(&name) != Some(EngineFunctionKind::Scalar) {
            let call = Expr::Call(function, args, SqlType::Opaque);
            let text = format!("{call}: there is no such operation on lists, structs and intervals");
            return Err(ValueError::TypeMismatch(text).into());
        }
        self.typed(queries, EngineOperation::Function(name), args, expr_span(e))
    }

    /// A call with the type that the engine gives it.
    pub(crate) fn typed(
        &self,
        queries: &dyn Queries,
        operation: EngineOperation,
        args: Vec<Expr>,
        span: Option<Span>,
    ) -> Lower {
        if self.sequences.is_some_and(|sequences| args.iter().any(|arg| sequences.is_in(arg))) {
            return Err(around_value(&operation_name(&operation)).at(span).into());
        }
        let columns = queries.columns();
        let ty = columns.engine.scalar(&operation, &args, &columns.opaque).map_err(|error| error.at(span))?;
        Ok(ty.call(operation, args))
    }

    /// The error of a call that may not stand in the clause.
    pub(crate) fn misplaced(&self, what: &str, e: &ast::Expr) -> Lower {
        let Some(clause) = self.clause else { return unsupported(what, e) };
        let help = match (what, clause) {
            (_, ARGUMENTS) => "a query in FROM computes them first",
            ("window functions", _) => "QUALIFY takes conditions on them, or a query around this one",
            _ => "HAVING takes conditions on groups, or a query around this one",
        };
        let error = BindError::from(BindErrorKind::Syntax(format!("{what} are not allowed in {clause}")));
        Err(error.at(expr_span(e)).help(help).into())
    }
}

/// An expression that is not supported, and what to write.
fn unsupported_with(what: &str, e: &ast::Expr, help: &str) -> Lower {
    Err(BindError::from(BindErrorKind::NotSupported(what.to_owned())).at(expr_span(e)).help(help).into())
}

/// The column that an access begins with, `t.a` of `t.a[1]`, and the rest of it.
fn column_of_access<'e>(
    root: &'e ast::Expr,
    chain: &'e [ast::AccessExpr],
) -> (Cow<'e, ast::Expr>, &'e [ast::AccessExpr]) {
    let ident = |access: &ast::AccessExpr| match access {
        ast::AccessExpr::Dot(ast::Expr::Identifier(name)) => Some(name.clone()),
        _ => None,
    };
    let mut parts = match root {
        ast::Expr::Identifier(name) => vec![name.clone()],
        ast::Expr::CompoundIdentifier(parts) => parts.clone(),
        _ => return (Cow::Borrowed(root), chain),
    };
    let names: Vec<_> = chain.iter().map_while(ident).collect();
    if names.is_empty() {
        return (Cow::Borrowed(root), chain);
    }
    let rest = chain.get(names.len()..).unwrap_or_default();
    parts.extend(names);
    (Cow::Owned(ast::Expr::CompoundIdentifier(parts)), rest)
}

/// The arguments of a call without DISTINCT, names and clauses.
fn plain_args(call: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let list = match &call.args {
        FunctionArguments::None => return Some(Vec::new()),
        FunctionArguments::List(list) => list,
        FunctionArguments::Subquery(_) => return None,
    };
    let is_plain = call.filter.is_none()
        && call.within_group.is_empty()
        && call.null_treatment.is_none()
        && list.duplicate_treatment.is_none()
        && list.clauses.is_empty();
    let arg = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref e)) => Some(e),
        _ => None,
    };
    list.args.iter().map(arg).collect::<Option<Vec<_>>>().filter(|_| is_plain)
}

/// # Errors
/// A star in a call that counts no rows.
pub(crate) fn check_stars(name: &str, call: &ast::Function) -> crate::error::Result<()> {
    let FunctionArguments::List(list) = &call.args else { return Ok(()) };
    for argument in &list.args {
        if let Some(star) = star_of(argument) {
            let text = format!("{star} is no argument of {}", name.to_uppercase());
            return Err(BindError::from(BindErrorKind::Syntax(text)).help("COUNT(*) counts rows"));
        }
    }
    Ok(())
}

/// An argument that is `*`, or `t.*`.
pub(crate) fn star_of(argument: &FunctionArg) -> Option<String> {
    let (FunctionArg::Unnamed(argument) | FunctionArg::Named { arg: argument, .. }) = argument else { return None };
    match argument {
        FunctionArgExpr::Wildcard | FunctionArgExpr::WildcardWithOptions(_) => Some("*".to_owned()),
        FunctionArgExpr::QualifiedWildcard(table) => Some(format!("{table}.*")),
        FunctionArgExpr::Expr(star @ (ast::Expr::Wildcard(_) | ast::Expr::QualifiedWildcard(..))) => {
            Some(star.to_string())
        }
        FunctionArgExpr::Expr(_) => None,
    }
}

fn bit_operator(op: &BinaryOperator) -> Option<BitOperator> {
    Some(match op {
        BinaryOperator::BitwiseAnd => BitOperator::And,
        BinaryOperator::BitwiseOr => BitOperator::Or,
        BinaryOperator::BitwiseXor | BinaryOperator::PGBitwiseXor => BitOperator::Xor,
        BinaryOperator::PGBitwiseShiftLeft => BitOperator::ShiftLeft,
        BinaryOperator::PGBitwiseShiftRight => BitOperator::ShiftRight,
        _ => return None,
    })
}
