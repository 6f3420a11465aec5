//! `has_table_privilege` and its kin.

use sqlparser::ast::Expr;

use super::build::{boolean, call, cast, text};
use super::casts::engine_type;
use super::scope::Type;
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    /// A question for a privilege, of the session's user or of the user that the first argument names; `None` of any other call.
    pub(super) fn privilege_call(
        &mut self,
        name: &str,
        arguments: &[(Expr, Type)],
    ) -> Result<Option<(Expr, Type)>, CatalogError> {
        let Some(kind) = name.strip_prefix("has_").and_then(|name| name.strip_suffix("_privilege")) else {
            return self.role_call(name, arguments);
        };
        // The column does not matter: there are no privileges on columns.
        let column = usize::from(kind == "column");
        let (user, rest) = match arguments.len().checked_sub(column) {
            Some(2) => (text(self.session.user), arguments),
            Some(3) => {
                let (user, rest) = arguments.split_first().ok_or_else(|| not_supported("a privilege of nothing"))?;
                (self.user_text(user)?, rest)
            }
            _ => return Err(CatalogError::NoFunction { name: name.to_owned(), arguments: arguments.len() }),
        };
        let (Some((object, of_object)), Some((privilege, _))) = (rest.first(), rest.last()) else { return Ok(None) };
        let privilege = cast(privilege.clone(), engine_type(PgType::TEXT));
        let value = match kind {
            "table" | "any_column" | "column" | "sequence" => {
                let object = self.converted(object.clone(), of_object, PgType::REGCLASS)?;
                call("has_class_right", vec![user, object, privilege])
            }
            "schema" => {
                let object = self.converted(object.clone(), of_object, PgType::REGNAMESPACE)?;
                call("has_schema_right", vec![user, object, privilege])
            }
            "database" => call("has_database_right", vec![user, privilege]),
            "function" | "type" | "language" | "tablespace" | "parameter" => boolean(true),
            _ => return Err(not_supported(name)),
        };
        Ok(Some((value, Type::Of(PgType::BOOL))))
    }

    /// `pg_has_role(..)`: a user is no member of another one.
    fn role_call(&mut self, name: &str, arguments: &[(Expr, Type)]) -> Result<Option<(Expr, Type)>, CatalogError> {
        let (user, role) = match (name, arguments) {
            ("pg_has_role", [role, _]) => (text(self.session.user), role),
            ("pg_has_role", [user, role, _]) => (self.user_text(user)?, role),
            _ => return Ok(None),
        };
        let role = self.converted(role.0.clone(), &role.1, PgType::REGROLE)?;
        Ok(Some((call("has_role", vec![user, role]), Type::Of(PgType::BOOL))))
    }

    /// A user's name, of its name or its number.
    fn user_text(&mut self, (expr, ty): &(Expr, Type)) -> Result<Expr, CatalogError> {
        match ty.pg() {
            Some(PgType::OID | PgType::REGROLE | PgType::INT4 | PgType::INT8) => {
                Ok(call("user_name", vec![expr.clone()]))
            }
            _ => Ok(cast(expr.clone(), engine_type(PgType::TEXT))),
        }
    }
}
