//! Calls of functions.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, WindowType,
};

use super::aggregates::result_type;
use super::build::{self, binary, boolean, call, cast, concat, folded, int, nested, null, take, text};
use super::casts::{as_text, engine_type};
use super::queries::nulls_as_in_postgres;
use super::scope::{Output, Scope, Type};
use super::set_returning::gives_rows;
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

/// Whether a function is one of PostgreSQL's catalog, which the library does not have.
pub(crate) fn is_catalog_function(name: &str) -> bool {
    let is_of_kind = ["pg_", "has_", "to_reg"].iter().any(|prefix| name.starts_with(prefix));
    is_of_kind
        || matches!(
            name,
            "format_type"
                | "obj_description"
                | "col_description"
                | "shobj_description"
                | "quote_ident"
                | "quote_literal"
                | "parse_ident"
                | "_pg_expandarray"
                | "generate_subscripts"
                | "set_config"
                | "current_schemas"
        )
}

/// A function whose value is a text that nothing here has.
fn is_null_text(name: &str) -> bool {
    matches!(
        name,
        "shobj_description"
            | "pg_get_triggerdef"
            | "pg_get_ruledef"
            | "pg_get_statisticsobjdef"
            | "pg_get_statisticsobjdef_columns"
            | "pg_get_statisticsobjdef_expressions"
            | "pg_get_partkeydef"
            | "pg_get_partition_constraintdef"
            | "pg_get_functiondef"
            | "pg_get_function_sqlbody"
            | "pg_get_function_arg_default"
            | "pg_relation_filepath"
    )
}

impl Translator<'_> {
    pub(super) fn function(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::Function(function) = expr else { return Ok(Type::Natural) };
        let path: Vec<String> = function.name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
        let (schema, name) = match path.as_slice() {
            [name] => (None, name.clone()),
            [schema, name] => (Some(schema.clone()), name.clone()),
            _ => return Err(no_function(function, 0)),
        };
        if schema.is_some_and(|schema| schema != "pg_catalog" && schema != "information_schema") {
            return Err(no_function(function, 0));
        }
        if let FunctionArguments::Subquery(query) = &function.args {
            if name != "array" {
                return Err(not_supported("subqueries as arguments"));
            }
            let (value, ty) = self.array_of_query((**query).clone(), scope)?;
            *expr = value;
            return Ok(ty);
        }
        if let Some((value, ty)) = self.session_call(function)? {
            *expr = value;
            return Ok(ty);
        }
        if let Some(row) = whole_row(function, &name, scope) {
            let types: Vec<Type> = row.iter().map(|(_, ty)| ty.clone()).collect();
            *expr = self.json_object(row.into_iter().map(|(expr, _)| expr).collect(), &types, JsonForm::Tight)?;
            return Ok(Type::Of(PgType::JSON));
        }
        let types = self.rewrite_arguments(function, scope)?;
        let is_plain = function.over.is_none()
            && function.filter.is_none()
            && function.within_group.is_empty()
            && matches!(&function.args, FunctionArguments::List(list) if list.clauses.is_empty() && list.duplicate_treatment.is_none());
        let arguments = if is_plain { plain_arguments(function) } else { None };
        match arguments {
            Some(arguments) => {
                let written = function.name.to_string();
                let arguments = arguments.into_iter().zip(types).collect();
                let (value, ty) = match gives_rows(&name) {
                    true => self.rows_in_list(&name, arguments)?,
                    false => self.translated_call(&written, &name, arguments)?,
                };
                *expr = value;
                Ok(ty)
            }
            None => {
                // An aggregate, or a call over a window: the library has them under the same names.
                function.name = sqlparser::ast::ObjectName::from(vec![sqlparser::ast::Ident::new(name.clone())]);
                Ok(result_type(&name, &types))
            }
        }
    }

    /// Rewrites the arguments of a call in place, with all that belongs to them.
    fn rewrite_arguments(&mut self, function: &mut Function, scope: Scope<'_>) -> Result<Vec<Type>, CatalogError> {
        let mut types = Vec::new();
        if let FunctionArguments::List(list) = &mut function.args {
            for arg in &mut list.args {
                match arg {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => types.push(self.expr(expr, scope)?),
                    FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => {}
                    _ => return Err(not_supported("named arguments")),
                }
            }
            for clause in &mut list.clauses {
                let FunctionArgumentClause::OrderBy(keys) = clause else {
                    return Err(not_supported("clauses of arguments"));
                };
                for key in keys {
                    self.expr(&mut key.expr, scope)?;
                    nulls_as_in_postgres(key);
                }
            }
        }
        if let Some(filter) = &mut function.filter {
            self.expr(filter, scope)?;
        }
        for key in &mut function.within_group {
            self.expr(&mut key.expr, scope)?;
        }
        match &mut function.over {
            Some(WindowType::WindowSpec(window)) => self.window(window, scope)?,
            Some(WindowType::NamedWindow(window)) => *window = build::name(&folded(window)),
            None => {}
        }
        Ok(types)
    }

    /// A call with rewritten arguments.
    pub(super) fn translated_call(
        &mut self,
        written: &str,
        name: &str,
        arguments: Vec<(Expr, Type)>,
    ) -> Result<(Expr, Type), CatalogError> {
        let count = arguments.len();
        if let Some(answer) = self.privilege_call(name, &arguments)? {
            return Ok(answer);
        }
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.clone()).collect();
        let mut exprs: Vec<Expr> = arguments.into_iter().map(|(expr, _)| expr).collect();
        if name.starts_with("pg_get_") {
            typed_parameters(&mut exprs, &types);
        }
        let of = |ty: PgType| Type::Of(ty);
        if is_null_text(name) {
            return Ok((cast(null(), engine_type(PgType::TEXT)), of(PgType::TEXT)));
        }
        if name.ends_with("_is_visible") && name.starts_with("pg_") && count == 1 {
            let function = if name == "pg_table_is_visible" { "class_is_visible" } else { "oid_is_visible" };
            return Ok((call(function, exprs), of(PgType::BOOL)));
        }
        if let Some(kind) = name.strip_prefix("to_").filter(|kind| kind.starts_with("reg") && count == 1) {
            let ty = PgType::by_catalog_name(kind).and_then(PgType::object_kind).zip(PgType::by_catalog_name(kind));
            let (kind, ty) =
                ty.ok_or_else(|| CatalogError::NoFunction { name: written.to_owned(), arguments: count })?;
            return Ok((call(&format!("{kind}_find"), texts(exprs)), of(ty)));
        }
        let object = |translator: &mut Self, exprs: &mut [Expr]| -> Result<Vec<Expr>, CatalogError> {
            let first = exprs.first_mut().map(take).unwrap_or_else(null);
            let from = types.first().cloned().unwrap_or(Type::Open);
            let is_numeric = matches!(&first, Expr::Value(value) if numeric_text(&value.value));
            let number = if is_numeric { first } else { translator.converted(first, &from, PgType::REGCLASS)? };
            Ok(vec![number])
        };
        Ok(match (name, count) {
            ("current_setting", 1 | 2) => self.any_setting(exprs.swap_remove(0)),
            ("format_type", 2) => (call("format_type", exprs), of(PgType::TEXT)),
            ("pg_get_expr", 2 | 3) => (exprs.swap_remove(0), of(PgType::TEXT)),
            ("pg_get_indexdef", 1) => (call("index_text", exprs), of(PgType::TEXT)),
            ("pg_get_indexdef", 3) => (call("index_part_text", exprs), of(PgType::TEXT)),
            ("pg_get_constraintdef", 1 | 2) => {
                exprs.resize(2, boolean(false));
                (call("constraint_text", exprs), of(PgType::TEXT))
            }
            ("pg_get_viewdef", 1 | 2) => (call("view_text", object(self, &mut exprs)?), of(PgType::TEXT)),
            ("pg_get_userbyid", 1) => (call("user_name", exprs), of(PgType::NAME)),
            ("obj_description", 1) => {
                exprs.push(cast(null(), engine_type(PgType::TEXT)));
                (call("object_comment", exprs), of(PgType::TEXT))
            }
            ("obj_description", 2) => (call("object_comment", exprs), of(PgType::TEXT)),
            ("col_description", 2) => (call("column_comment", exprs), of(PgType::TEXT)),
            ("pg_relation_size" | "pg_table_size", 1 | 2) => {
                (call("relation_bytes", object(self, &mut exprs)?), of(PgType::INT8))
            }
            ("pg_indexes_size", 1) => (call("index_bytes", object(self, &mut exprs)?), of(PgType::INT8)),
            ("pg_total_relation_size", 1) => (call("total_bytes", object(self, &mut exprs)?), of(PgType::INT8)),
            ("pg_database_size" | "pg_tablespace_size", 1) => (call("database_bytes", Vec::new()), of(PgType::INT8)),
            ("pg_size_pretty", 1) => (call("pretty_size", exprs), of(PgType::TEXT)),
            ("pg_encoding_to_char", 1) => (call("encoding_name", exprs), of(PgType::NAME)),
            ("pg_char_to_encoding", 1) => (call("encoding_number", exprs), of(PgType::INT4)),
            ("pg_get_serial_sequence", 2) => (call("serial_sequence", texts(exprs)), of(PgType::TEXT)),
            ("pg_get_function_arguments" | "pg_get_function_identity_arguments", 1) => {
                (call("function_arguments", exprs), of(PgType::TEXT))
            }
            ("pg_get_function_result", 1) => (call("function_result", exprs), of(PgType::TEXT)),
            ("pg_tablespace_location", 1) => (text(""), of(PgType::TEXT)),
            ("pg_relation_is_publishable" | "pg_is_other_temp_schema", 1) => (boolean(false), of(PgType::BOOL)),
            ("pg_get_replica_identity_index", 1) => (cast(null(), engine_type(PgType::OID)), of(PgType::REGCLASS)),
            (name, _) if name.starts_with("pg_stat_get_") => {
                (cast(null(), engine_type(PgType::INT8)), of(PgType::INT8))
            }
            ("pg_blocking_pids", 1) => (cast(text("{}"), engine_type(PgType(1007))), of(PgType(1007))),
            ("pg_typeof", 1) => {
                let ty = types.first().and_then(Type::pg).unwrap_or(PgType::TEXT);
                (cast(int(ty.0.into()), engine_type(PgType::OID)), of(PgType::REGTYPE))
            }
            ("quote_ident", 1) => (call("quote_ident", texts(exprs)), of(PgType::TEXT)),
            ("quote_literal", 1) => (call("quote_literal", self.as_texts(exprs, &types)), of(PgType::TEXT)),
            ("quote_nullable", 1) => {
                let quoted = call("quote_literal", self.as_texts(exprs, &types));
                (call("coalesce", vec![quoted, text("NULL")]), of(PgType::TEXT))
            }
            ("parse_ident", 1 | 2) => {
                exprs.truncate(1);
                (call("string_to_array", vec![call("parse_ident", texts(exprs)), text("\u{1f}")]), of(PgType(1009)))
            }
            ("array_upper", 2) => {
                let length = call("array_length", exprs);
                let is_vector = types.first().is_some_and(Type::counts_from_zero);
                let upper = if is_vector { nested(binary(length, BinaryOperator::Minus, int(1))) } else { length };
                (upper, of(PgType::INT4))
            }
            ("array_lower", 2) => {
                let is_vector = types.first().is_some_and(Type::counts_from_zero);
                // NULL of an empty array.
                let nothing = nested(binary(call("array_length", exprs), BinaryOperator::Multiply, int(0)));
                (nested(binary(nothing, BinaryOperator::Plus, int(i64::from(!is_vector)))), of(PgType::INT4))
            }
            ("cardinality", 1) => {
                exprs.push(int(1));
                (call("coalesce", vec![call("array_length", exprs), int(0)]), of(PgType::INT4))
            }
            ("json_build_object" | "jsonb_build_object", _) => {
                (self.json_object(exprs, &types, JsonForm::Wide)?, of(PgType::JSON))
            }
            ("format", 1..) => (self.formatted(exprs, &types)?, of(PgType::TEXT)),
            ("concat" | "concat_ws", 1..) => {
                // NULLs are left out in PostgreSQL, and so they are by concat_ws.
                let mut exprs = self.as_texts(exprs, &types);
                if name == "concat" {
                    exprs.insert(0, text(""));
                }
                (call("concat_ws", exprs), of(PgType::TEXT))
            }
            ("has_" | "pg_", _) => return Err(CatalogError::NoFunction { name: written.to_owned(), arguments: count }),
            (name, _) if name.starts_with("pg_") => {
                return Err(CatalogError::NoFunction { name: written.to_owned(), arguments: count });
            }
            (name, _) => {
                let ty = result_type(name, &types);
                (call(name, exprs), ty)
            }
        })
    }

    /// Arguments as texts.
    fn as_texts(&self, exprs: Vec<Expr>, types: &[Type]) -> Vec<Expr> {
        let types = types.iter().chain(std::iter::repeat(&Type::Open));
        let text_of = |(expr, ty): (Expr, &Type)| {
            if *ty == Type::Open { cast(expr, engine_type(PgType::TEXT)) } else { as_text(expr, ty) }
        };
        exprs.into_iter().zip(types).map(text_of).collect()
    }

    /// `json_build_object('a', 1, ..)`.
    fn json_object(&self, exprs: Vec<Expr>, types: &[Type], form: JsonForm) -> Result<Expr, CatalogError> {
        if !exprs.len().is_multiple_of(2) {
            return Err(not_supported("json_build_object of an odd number of arguments"));
        }
        let mut joined = text("{");
        for (place, (expr, ty)) in exprs.into_iter().zip(types).enumerate() {
            let is_key = place.is_multiple_of(2);
            let storage_is_plain = matches!(ty, Type::Natural)
                || ty.pg().is_some_and(|ty| !ty.is_object() && !ty.is_text() && ty.element().is_none());
            let as_json = match storage_is_plain && !is_key {
                // Numbers and truth values are written in JSON as in SQL.
                true => cast(expr, engine_type(PgType::TEXT)),
                false => {
                    let value =
                        if *ty == Type::Open { cast(expr, engine_type(PgType::TEXT)) } else { as_text(expr, ty) };
                    call("json_text", vec![value])
                }
            };
            let before = match (place, is_key, form) {
                (0, ..) => "",
                (_, true, JsonForm::Wide) => ", ",
                (_, false, JsonForm::Wide) => " : ",
                (_, true, JsonForm::Tight) => ",",
                (_, false, JsonForm::Tight) => ":",
            };
            joined = concat(joined, text(before));
            joined = concat(joined, call("coalesce", vec![as_json, text("null")]));
        }
        Ok(cast(nested(concat(joined, text("}"))), engine_type(PgType::JSON)))
    }

    /// `format('%I.%s', a, b)` of a literal.
    fn formatted(&mut self, exprs: Vec<Expr>, types: &[Type]) -> Result<Expr, CatalogError> {
        let mut arguments = exprs.into_iter().zip(types);
        let form = match arguments.next() {
            Some((Expr::Value(value), _)) => match value.value {
                sqlparser::ast::Value::SingleQuotedString(form) => form,
                _ => return Err(not_supported("format of what is no literal")),
            },
            _ => return Err(not_supported("format of what is no literal")),
        };
        let mut joined = vec![text("")];
        let mut rest = form.as_str();
        while let Some((before, after)) = rest.split_once('%') {
            joined.push(text(before));
            let mut chars = after.chars();
            let directive = chars.next();
            rest = chars.as_str();
            if directive == Some('%') {
                joined.push(text("%"));
                continue;
            }
            let (expr, ty) = arguments.next().ok_or_else(|| not_supported("format with too few arguments"))?;
            let value = if *ty == Type::Open { cast(expr, engine_type(PgType::TEXT)) } else { as_text(expr, ty) };
            joined.push(match directive {
                Some('I') => call("quote_ident", vec![value]),
                Some('L') => call("coalesce", vec![call("quote_literal", vec![value]), text("NULL")]),
                Some('s') => value,
                _ => return Err(not_supported("this directive of format")),
            });
        }
        joined.push(text(rest));
        Ok(call("concat_ws", std::iter::once(text("")).chain(joined).collect()))
    }
}

/// The blanks of a JSON object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonForm {
    /// As `json_build_object` has them.
    Wide,
    /// As `row_to_json` has them: none.
    Tight,
}

/// Names and values of all columns of a relation, if the call is `row_to_json` of its rows.
fn whole_row(function: &Function, name: &str, scope: Scope<'_>) -> Option<Vec<(Expr, Type)>> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(of)))] = list.args.as_slice() else { return None };
    let of = folded(of);
    let source = scope.sources.iter().find(|source| source.alias == of).filter(|_| name == "row_to_json")?;
    let pair = |output: &Output| [(text(&output.name), Type::Open), (source.expr(output), output.ty.clone())];
    Some(source.columns.iter().flat_map(pair).collect())
}

fn no_function(function: &Function, arguments: usize) -> CatalogError {
    CatalogError::NoFunction { name: function.name.to_string(), arguments }
}

/// The arguments of a call if they are expressions alone.
fn plain_arguments(function: &mut Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &mut function.args else { return None };
    let is_expr = |arg: &FunctionArg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Expr(_)));
    if !list.args.iter().all(is_expr) {
        return None;
    }
    let expr = |arg| if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg { Some(expr) } else { None };
    Some(std::mem::take(&mut list.args).into_iter().filter_map(expr).collect())
}

/// Gives parameters of `pg_get_indexdef` and the like their types: a number of an object or a place, and truth values where it is pretty.
fn typed_parameters(exprs: &mut [Expr], types: &[Type]) {
    let count = exprs.len();
    for (place, (expr, ty)) in exprs.iter_mut().zip(types).enumerate() {
        let is_parameter =
            matches!(&*expr, Expr::Value(value) if matches!(value.value, sqlparser::ast::Value::Placeholder(_)));
        if *ty == Type::Open && is_parameter {
            let wanted = if place > 0 && place.saturating_add(1) == count { PgType::BOOL } else { PgType::OID };
            *expr = cast(take(expr), engine_type(wanted));
        }
    }
}

/// Literals and parameters as texts.
fn texts(exprs: Vec<Expr>) -> Vec<Expr> {
    exprs.into_iter().map(|expr| cast(expr, engine_type(PgType::TEXT))).collect()
}

/// Whether a literal is the number of an object in quotes.
fn numeric_text(value: &sqlparser::ast::Value) -> bool {
    matches!(value, sqlparser::ast::Value::SingleQuotedString(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
}
