//! Functions of the session: who it is, where it is, its settings.

use sqlparser::ast::{
    CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value,
    helpers::attached_token::AttachedToken,
};

use super::build::{boolean, call, cast, folded, int, null, text};
use super::scope::Type;
use super::session_relations::SETTINGS;
use super::translator::{Translator, not_supported};
use crate::pg_type::PgType;
use crate::{CatalogError, SettingChange, SettingText};

/// Those whose values are the session's, or the server's.
static NAMES: &[&str] = &[
    "current_catalog",
    "current_database",
    "current_role",
    "current_schema",
    "current_schemas",
    "current_setting",
    "current_user",
    "getdatabaseencoding",
    "inet_client_addr",
    "inet_client_port",
    "inet_server_addr",
    "inet_server_port",
    "pg_advisory_unlock_all",
    "pg_backend_pid",
    "pg_client_encoding",
    "pg_conf_load_time",
    "pg_is_in_recovery",
    "pg_is_wal_replay_paused",
    "pg_jit_available",
    "pg_my_temp_schema",
    "pg_postmaster_start_time",
    "session_user",
    "set_config",
    "txid_current",
    "user",
    "version",
];

/// Whether a function's value is the session's.
pub(crate) fn is_session_function(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

/// What stands as a constant among the arguments of a call.
enum Constant {
    Text(String),
    Parameter(usize),
    Bool(bool),
    Null,
    Other,
}

fn constant(expr: &Expr) -> Constant {
    match expr {
        Expr::Cast { expr, .. } | Expr::Nested(expr) => constant(expr),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(it) | Value::EscapedStringLiteral(it) | Value::Number(it, _) => {
                Constant::Text(it.clone())
            }
            Value::Boolean(value) => Constant::Bool(*value),
            Value::Null => Constant::Null,
            Value::Placeholder(name) => {
                let number = name.strip_prefix('$').and_then(|number| number.parse().ok());
                number.map_or(Constant::Other, Constant::Parameter)
            }
            _ => Constant::Other,
        },
        _ => Constant::Other,
    }
}

/// The arguments of a call, if all are plain expressions.
fn arguments(function: &Function) -> Option<Vec<&Expr>> {
    match &function.args {
        FunctionArguments::None => Some(Vec::new()),
        FunctionArguments::List(list) => list.args.iter().map(plain_argument).collect(),
        FunctionArguments::Subquery(_) => None,
    }
}

fn plain_argument(arg: &FunctionArg) -> Option<&Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

impl Translator<'_> {
    /// The value of a call of the session's functions; `None` of any other call.
    pub(super) fn session_call(&mut self, function: &Function) -> Result<Option<(Expr, Type)>, CatalogError> {
        let path: Vec<String> = function.name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
        let name = match path.as_slice() {
            [name] => name,
            [schema, name] if schema == "pg_catalog" => name,
            _ => return Ok(None),
        };
        if !is_session_function(name) {
            return Ok(None);
        }
        let Some(arguments) = arguments(function) else { return Ok(None) };
        let name_type = || Type::Of(PgType::NAME);
        let value = match (name.as_str(), arguments.as_slice()) {
            ("current_schemas", [with_catalog]) => match constant(with_catalog) {
                Constant::Bool(with_catalog) => {
                    self.depends_on_session = true;
                    let names = self.schemas(with_catalog).join(",");
                    let list = cast(text(&format!("{{{names}}}")), super::casts::engine_type(PgType(1003)));
                    (list, Type::Of(PgType(1003)))
                }
                _ => return Err(not_supported("current_schemas of what is no constant")),
            },
            ("current_setting", [setting, ..]) => return self.current_setting(setting, arguments.len() > 1),
            ("set_config", [setting, value, is_local]) => return self.set_config(setting, value, is_local).map(Some),
            ("pg_advisory_unlock_all", []) => (cast(null(), DataType::Varchar(None)), Type::Of(PgType::VOID)),
            ("pg_backend_pid", []) => {
                (cast(int(self.session.process.into()), DataType::Integer(None)), Type::Of(PgType::INT4))
            }
            ("pg_is_in_recovery" | "pg_is_wal_replay_paused" | "pg_jit_available", []) => {
                (boolean(false), Type::Of(PgType::BOOL))
            }
            ("pg_my_temp_schema", []) => (cast(int(0), DataType::BigInt(None)), Type::Of(PgType::OID)),
            ("pg_postmaster_start_time" | "pg_conf_load_time", []) => {
                (call("server_start", Vec::new()), Type::Of(PgType(1184)))
            }
            ("txid_current", []) => (cast(int(1), DataType::BigInt(None)), Type::Of(PgType::INT8)),
            ("getdatabaseencoding" | "pg_client_encoding", []) => (text("UTF8"), name_type()),
            ("inet_client_addr" | "inet_server_addr", []) => {
                (cast(null(), DataType::Varchar(None)), Type::Of(PgType::TEXT))
            }
            ("inet_client_port" | "inet_server_port", []) => {
                (cast(null(), DataType::Integer(None)), Type::Of(PgType::INT4))
            }
            ("version", []) => (text(&format!("PostgreSQL {}", self.session.server_version)), Type::Of(PgType::TEXT)),
            (word, []) => match self.session_word(word)? {
                Some(value) => value,
                None => return Ok(None),
            },
            _ => return Err(CatalogError::NoFunction { name: name.clone(), arguments: arguments.len() }),
        };
        Ok(Some(value))
    }

    /// The value of a word that is a function without brackets.
    pub(super) fn session_word(&mut self, word: &str) -> Result<Option<(Expr, Type)>, CatalogError> {
        let value = match word {
            "current_user" | "session_user" | "user" | "current_role" => text(self.session.user),
            "current_catalog" | "current_database" => text(self.session.database),
            "current_schema" => {
                self.depends_on_session = true;
                match self.schemas(false).first() {
                    Some(schema) => text(schema),
                    None => cast(null(), DataType::Varchar(None)),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some((value, Type::Of(PgType::NAME))))
    }

    /// The schemas in which names without a schema are looked up.
    fn schemas(&self, with_catalog: bool) -> Vec<String> {
        let path = (self.session.setting)("search_path").unwrap_or_else(|| "public".to_owned());
        let names = path.split(',').map(|name| name.trim().trim_matches('"').to_owned());
        let known = names.filter(|name| name != "pg_catalog" && self.lookups.definitions.schema_oid(name).is_some());
        let mut schemas: Vec<String> = known.collect();
        if with_catalog {
            schemas.insert(0, "pg_catalog".to_owned());
        }
        schemas
    }

    /// The value of a setting that is named; `None` if the name is no constant.
    fn current_setting(&mut self, setting: &Expr, may_lack: bool) -> Result<Option<(Expr, Type)>, CatalogError> {
        self.depends_on_session = true;
        let of = |name: &str| (self.session.setting)(name).map(|value| text(&value));
        let value = match constant(setting) {
            Constant::Text(name) => match of(&name) {
                Some(value) => value,
                None if may_lack => cast(null(), DataType::Varchar(None)),
                None => return Err(CatalogError::NoObject { kind: "configuration parameter", name }),
            },
            Constant::Null => cast(null(), DataType::Varchar(None)),
            Constant::Parameter(_) | Constant::Bool(_) | Constant::Other => return Ok(None),
        };
        Ok(Some((value, Type::Of(PgType::TEXT))))
    }

    /// The setting whose name a row or a parameter has: all settings are there for it.
    pub(super) fn any_setting(&mut self, name: Expr) -> (Expr, Type) {
        self.depends_on_session = true;
        let of = |name: &str| (self.session.setting)(name).map(|value| text(&value));
        let known = SETTINGS.iter().filter_map(|setting| Some((setting.name, of(setting.name)?)));
        let case = known.map(|(name, result)| CaseWhen { condition: text(name), result });
        let value = Expr::Case {
            case_token: AttachedToken::empty(),
            end_token: AttachedToken::empty(),
            operand: Some(Box::new(cast(name, DataType::Varchar(None)))),
            conditions: case.collect(),
            else_result: None,
        };
        (value, Type::Of(PgType::TEXT))
    }

    fn set_config(&mut self, setting: &Expr, value: &Expr, is_local: &Expr) -> Result<(Expr, Type), CatalogError> {
        let of = |expr: &Expr| match constant(expr) {
            Constant::Text(text) => Ok(SettingText::Text(text)),
            Constant::Parameter(number) => Ok(SettingText::Parameter(number)),
            Constant::Null => Ok(SettingText::Null),
            Constant::Bool(value) => Ok(SettingText::Text(value.to_string())),
            Constant::Other => Err(not_supported("set_config of what is no constant")),
        };
        let Constant::Bool(is_local) = constant(is_local) else {
            return Err(not_supported("set_config of what is no constant"));
        };
        let (name, value) = (of(setting)?, of(value)?);
        let new = match &value {
            SettingText::Text(value) => text(value),
            SettingText::Parameter(number) => {
                let parameter = Expr::Value(Value::Placeholder(format!("${number}")).with_empty_span());
                cast(parameter, DataType::Varchar(None))
            }
            SettingText::Null => cast(null(), DataType::Varchar(None)),
        };
        self.depends_on_session = true;
        self.changes.push(SettingChange { name, value, is_local });
        Ok((new, Type::Of(PgType::TEXT)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.is_sorted());
    }
}
