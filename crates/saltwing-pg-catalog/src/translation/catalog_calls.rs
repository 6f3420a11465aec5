//! Calls of the functions that PostgreSQL's catalog has.

use sqlparser::ast::{BinaryOperator, Expr, Value};

use super::aggregates::result_type;
use super::build::{binary, boolean, call, cast, int, nested, null, take, text};
use super::casts::engine_type;
use super::scope::Type;
use super::translator::Translator;
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
                // The library has these, too, but not the names of PostgreSQL's types that clients cast their arguments to.
                | "quote_ident"
                | "quote_literal"
                | "quote_nullable"
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

/// A call with rewritten arguments.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) exprs: Vec<Expr>,
    pub(super) types: Vec<Type>,
}

impl Call<'_> {
    /// The function as the query calls it, and how many arguments it has there.
    pub(super) fn form(&self) -> (&str, usize) {
        (self.name, self.exprs.len())
    }

    /// The arguments, which are taken out.
    pub(super) fn take_exprs(&mut self) -> Vec<Expr> {
        std::mem::take(&mut self.exprs)
    }

    /// The first argument, which is taken out; NULL if there is none.
    pub(super) fn take_first(&mut self) -> Expr {
        self.exprs.first_mut().map(take).unwrap_or_else(null)
    }
}

/// A call of a function whose value is of a type.
fn typed_call(function: &str, exprs: Vec<Expr>, ty: PgType) -> Option<(Expr, Type)> {
    Some((call(function, exprs), Type::Of(ty)))
}

/// NULL of a type.
fn typed_null(ty: PgType) -> Expr {
    cast(null(), engine_type(ty))
}

impl Translator<'_> {
    /// A call with rewritten arguments in the library's words, `written` as the query has its name.
    pub(super) fn translated_call(
        &mut self,
        written: &str,
        name: &str,
        arguments: Vec<(Expr, Type)>,
    ) -> Result<(Expr, Type), CatalogError> {
        if let Some(answer) = self.privilege_call(name, &arguments)? {
            return Ok(answer);
        }
        let count = arguments.len();
        let (exprs, types) = arguments.into_iter().unzip();
        let mut asked = Call { name, exprs, types };
        if name.starts_with("pg_get_") {
            typed_parameters(&mut asked.exprs, &asked.types);
        }
        if name == "current_setting" && matches!(count, 1 | 2) {
            return Ok(self.any_setting(asked.take_first()));
        }
        if let Some(answer) = object_call(&mut asked) {
            return Ok(answer);
        }
        if let Some(answer) = self.definition_call(&mut asked)? {
            return Ok(answer);
        }
        if let Some(answer) = self.size_call(&mut asked)? {
            return Ok(answer);
        }
        if let Some(answer) = self.updatable_call(&mut asked)? {
            return Ok(answer);
        }
        if let Some(answer) = server_call(&mut asked) {
            return Ok(answer);
        }
        if let Some(answer) = self.text_call(&mut asked)? {
            return Ok(answer);
        }
        if is_catalog_function(name) {
            return Err(CatalogError::NoFunction { name: written.to_owned(), arguments: count });
        }
        let ty = result_type(name, &asked.types);
        Ok((call(name, asked.exprs), ty))
    }

    /// Definitions of objects as texts, and comments.
    fn definition_call(&mut self, asked: &mut Call<'_>) -> Result<Option<(Expr, Type)>, CatalogError> {
        if is_null_text(asked.name) {
            return Ok(Some((typed_null(PgType::TEXT), Type::Of(PgType::TEXT))));
        }
        let text_of = |function: &str, exprs: Vec<Expr>| typed_call(function, exprs, PgType::TEXT);
        Ok(match asked.form() {
            ("format_type", 2) => text_of("format_type", asked.take_exprs()),
            ("pg_get_expr", 2 | 3) => Some((asked.take_first(), Type::Of(PgType::TEXT))),
            ("pg_get_indexdef", 1) => text_of("index_text", asked.take_exprs()),
            ("pg_get_indexdef", 3) => text_of("index_part_text", asked.take_exprs()),
            ("pg_get_constraintdef", 1 | 2) => {
                let mut exprs = asked.take_exprs();
                exprs.resize(2, boolean(false));
                text_of("constraint_text", exprs)
            }
            ("pg_get_viewdef", 1 | 2) => text_of("view_text", self.relation(asked)?),
            ("pg_get_serial_sequence", 2) => text_of("serial_sequence", texts(asked.take_exprs())),
            ("pg_get_function_arguments" | "pg_get_function_identity_arguments", 1) => {
                text_of("function_arguments", asked.take_exprs())
            }
            ("pg_get_function_result", 1) => text_of("function_result", asked.take_exprs()),
            ("obj_description", 1) => {
                let mut exprs = asked.take_exprs();
                exprs.push(typed_null(PgType::TEXT));
                text_of("object_comment", exprs)
            }
            ("obj_description", 2) => text_of("object_comment", asked.take_exprs()),
            ("col_description", 2) => text_of("column_comment", asked.take_exprs()),
            _ => None,
        })
    }

    /// Bytes of relations and of the database.
    fn size_call(&mut self, asked: &mut Call<'_>) -> Result<Option<(Expr, Type)>, CatalogError> {
        let function = match asked.form() {
            ("pg_relation_size" | "pg_table_size", 1 | 2) => "relation_bytes",
            ("pg_indexes_size", 1) => "index_bytes",
            ("pg_total_relation_size", 1) => "total_bytes",
            ("pg_database_size" | "pg_tablespace_size", 1) => {
                return Ok(typed_call("database_bytes", Vec::new(), PgType::INT8));
            }
            ("pg_size_pretty", 1) => return Ok(typed_call("pretty_size", asked.take_exprs(), PgType::TEXT)),
            _ => return Ok(None),
        };
        Ok(typed_call(function, self.relation(asked)?, PgType::INT8))
    }

    /// Whether INSERT, UPDATE and DELETE change a relation.
    fn updatable_call(&mut self, asked: &mut Call<'_>) -> Result<Option<(Expr, Type)>, CatalogError> {
        /// The bits of UPDATE, INSERT and DELETE.
        const EVENTS: i64 = 28;
        let is_of_column = match asked.form() {
            ("pg_relation_is_updatable", 2) => false,
            ("pg_column_is_updatable", 3) => true,
            _ => return Ok(None),
        };
        let events = call("updatable_events", self.relation(asked)?);
        Ok(Some(match is_of_column {
            true => (nested(binary(events, BinaryOperator::Eq, int(EVENTS))), Type::Of(PgType::BOOL)),
            false => (events, Type::Of(PgType::INT4)),
        }))
    }

    /// The relation that is the first argument, by its number or its name.
    fn relation(&mut self, asked: &mut Call<'_>) -> Result<Vec<Expr>, CatalogError> {
        let first = asked.take_first();
        let from = asked.types.first().cloned().unwrap_or(Type::Open);
        let is_numeric = matches!(&first, Expr::Value(value) if is_number_in_quotes(&value.value));
        Ok(vec![if is_numeric { first } else { self.converted(first, &from, PgType::REGCLASS)? }])
    }
}

/// Names and numbers of objects, and whether they are named without their schema.
fn object_call(asked: &mut Call<'_>) -> Option<(Expr, Type)> {
    match asked.form() {
        ("pg_table_is_visible", 1) => typed_call("class_is_visible", asked.take_exprs(), PgType::BOOL),
        (name, 1) if name.starts_with("pg_") && name.ends_with("_is_visible") => {
            typed_call("oid_is_visible", asked.take_exprs(), PgType::BOOL)
        }
        ("pg_get_userbyid", 1) => typed_call("user_name", asked.take_exprs(), PgType::NAME),
        ("pg_typeof", 1) => {
            let ty = asked.types.first().and_then(Type::pg).unwrap_or(PgType::TEXT);
            Some((cast(int(ty.0.into()), engine_type(PgType::OID)), Type::Of(PgType::REGTYPE)))
        }
        (name, 1) => {
            let ty = PgType::by_catalog_name(name.strip_prefix("to_")?)?;
            typed_call(&format!("{}_find", ty.object_kind()?), texts(asked.take_exprs()), ty)
        }
        _ => None,
    }
}

/// What every server of PostgreSQL has, and this one in one form.
fn server_call(asked: &mut Call<'_>) -> Option<(Expr, Type)> {
    match asked.form() {
        ("pg_encoding_to_char", 1) => typed_call("encoding_name", asked.take_exprs(), PgType::NAME),
        ("pg_char_to_encoding", 1) => typed_call("encoding_number", asked.take_exprs(), PgType::INT4),
        ("pg_tablespace_location", 1) => Some((text(""), Type::Of(PgType::TEXT))),
        ("pg_relation_is_publishable" | "pg_is_other_temp_schema", 1) => Some((boolean(false), Type::Of(PgType::BOOL))),
        // Numbers of transactions have no age here: nothing ever wraps around.
        ("age" | "mxid_age", 1) if asked.types.first() == Some(&Type::Of(PgType::XID)) => {
            Some((int(1), Type::Of(PgType::INT4)))
        }
        ("pg_indexam_has_property" | "pg_index_has_property", 2) => {
            let property = asked.exprs.pop().unwrap_or_else(null);
            typed_call("index_property", texts(vec![property]), PgType::BOOL)
        }
        ("pg_get_replica_identity_index", 1) => Some((typed_null(PgType::OID), Type::Of(PgType::REGCLASS))),
        ("pg_blocking_pids", 1) => Some((cast(text("{}"), engine_type(PgType(1007))), Type::Of(PgType(1007)))),
        (name, _) if name.starts_with("pg_stat_get_") => Some((typed_null(PgType::INT8), Type::Of(PgType::INT8))),
        _ => None,
    }
}

/// Gives parameters of `pg_get_indexdef` and the like their types: a number of an object or a place, and truth values where it is pretty.
fn typed_parameters(exprs: &mut [Expr], types: &[Type]) {
    let count = exprs.len();
    for (place, (expr, ty)) in exprs.iter_mut().zip(types).enumerate() {
        let is_parameter = matches!(&*expr, Expr::Value(value) if matches!(value.value, Value::Placeholder(_)));
        if *ty == Type::Open && is_parameter {
            let wanted = if place > 0 && place.saturating_add(1) == count { PgType::BOOL } else { PgType::OID };
            *expr = cast(take(expr), engine_type(wanted));
        }
    }
}

/// Literals and parameters as texts.
pub(super) fn texts(exprs: Vec<Expr>) -> Vec<Expr> {
    exprs.into_iter().map(|expr| cast(expr, engine_type(PgType::TEXT))).collect()
}

/// Whether a literal is the number of an object in quotes.
fn is_number_in_quotes(value: &Value) -> bool {
    matches!(value, Value::SingleQuotedString(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
}
