//! Calls of functions.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident, ObjectName,
    WindowType,
};

use super::aggregates::result_type;
use super::build::{self, folded};
use super::json::{JsonForm, json_object, whole_row};
use super::queries::nulls_as_in_postgres;
use super::scope::{Scope, Type};
use super::set_returning::gives_rows;
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

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
            *expr = json_object(row.into_iter().map(|(expr, _)| expr).collect(), &types, JsonForm::Tight)?;
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
                function.name = ObjectName::from(vec![Ident::new(name.clone())]);
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
