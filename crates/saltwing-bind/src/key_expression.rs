//! Computed parts of a PRIMARY KEY: `PRIMARY KEY (SUBSTR(MD5(phone), 1, 3), phone)`.

use saltwing_sql::statement::KeyPart;
use saltwing_sql::tree_text;
use saltwing_types::key_expression::{key_functions, key_type, may_be_null};
use saltwing_types::{Expr, KeyColumn, KeySource, TableDef};
use sqlparser::ast;

use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::lower::{LowerError, Lowerer, Params};
use crate::scope::{Scope, table_of};

/// Functions that people try in keys, and that give another result each time.
const NOT_DETERMINISTIC: &[&str] = &[
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "GEN_RANDOM_UUID",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "NOW",
    "RAND",
    "RANDOM",
    "TODAY",
    "UUID",
];

/// One part of a key: a column, or an expression over the columns after it.
pub(crate) enum KeyItem<'a> {
    /// A column.
    Column(KeyColumn),
    /// An expression.
    Computed(&'a KeyPart),
}

/// The key columns of a table whose key has computed parts; `def` has its columns.
///
/// Inputs of a part of fixed width become NOT NULL, and a notice says so.
///
/// # Errors
/// [`BindErrorKind::InvalidDefinition`], [`BindErrorKind::NotSupported`], with the place.
pub(crate) fn key_columns(items: Vec<KeyItem<'_>>, def: TableDef, notices: &mut Vec<String>) -> Result<Vec<KeyColumn>> {
    if let (true, Some(KeyItem::Computed(part))) = (def.key.columns.is_empty(), items.first()) {
        return Err(refused(part, "a key part is computed from key columns behind it, and there are none"));
    }
    let scope = Scope::of(table_of(def)?, None);
    let mut later: Vec<KeyColumn> = Vec::with_capacity(items.len());
    // From the last one on, because a part may use later ones.
    for item in items.into_iter().rev() {
        later.push(match item {
            KeyItem::Column(key) => key,
            KeyItem::Computed(part) => computed(part, &scope, &later)?,
        });
    }
    later.reverse();
    let mut key = later;
    let parts: Vec<(String, Expr, bool)> =
        key.iter().filter_map(|k| Some((k.name.clone(), k.computed()?.clone(), may_be_null(k.ty)))).collect();
    for (part, expr, _) in parts.iter().filter(|(_, _, may_be_null)| !may_be_null) {
        let columns = expr.columns();
        let is_input = |k: &&mut KeyColumn| k.column().is_some_and(|column| columns.contains(&column));
        for input in key.iter_mut().filter(is_input).filter(|k| k.nullable) {
            input.nullable = false;
            let name = &input.name;
            notices.push(format!("key column {name} is NOT NULL: {part}, of fixed width, is computed from it"));
        }
    }
    let nullable: Vec<Option<usize>> = key.iter().map(|k| k.column().filter(|_| k.nullable)).collect();
    for part in key.iter_mut() {
        let columns = part.computed().map(Expr::columns).unwrap_or_default();
        part.nullable |= columns.iter().any(|column| nullable.contains(&Some(*column)));
    }
    Ok(key)
}

fn computed(part: &KeyPart, scope: &Scope, later: &[KeyColumn]) -> Result<KeyColumn> {
    let ast = unnested(&part.expr);
    let lowerer = Lowerer::new(scope, Params::NONE);
    let mut expr = lowerer.lower(ast).map_err(|lowered| not_lowered(lowered, part))?;
    let ty = key_type(&expr).map_err(|error| refused(part, error.to_string()).help(allowed()))?;
    let name = tree_text(ast);
    let mut wrong = None;
    expr.walk(&mut |e| {
        if let Expr::Column(column) = e
            && !later.iter().any(|key| key.column() == Some(column.index))
        {
            wrong.get_or_insert_with(|| (column.name.clone(), column.span));
        }
    });
    if let Some((column, span)) = wrong {
        let text = format!("{column} is no key column behind {name}: a key part is computed from such columns alone");
        return Err(invalid(text).at(span).at(Some(part.span)).help(format!("put {column} into the key, behind it")));
    }
    if later.iter().any(|key| key.computed() == Some(&expr)) {
        return Err(BindError::from(BindErrorKind::DuplicateColumn(name)).at(Some(part.span)));
    }
    expr.map_columns(&mut |column| column.span = None);
    Ok(KeyColumn { source: KeySource::Computed(expr), name, ty, order: part.order, nullable: false })
}

fn unnested(expr: &ast::Expr) -> &ast::Expr {
    match expr {
        ast::Expr::Nested(inner) => unnested(inner),
        other => other,
    }
}

fn not_lowered(lowered: LowerError, part: &KeyPart) -> BindError {
    match lowered {
        LowerError::Invalid(error) => error.at(Some(part.span)),
        LowerError::Unsupported(what, span) => {
            let function = what.strip_prefix("the function ").unwrap_or_default().to_uppercase();
            if NOT_DETERMINISTIC.contains(&function.as_str()) {
                let text =
                    format!("{function} is not deterministic: a key part has the same value each time it is computed");
                return invalid(text).at(span).at(Some(part.span)).help(allowed());
            }
            let error = BindErrorKind::NotSupported(format!("{what} in a key"));
            BindError::from(error).at(span).at(Some(part.span)).help(allowed())
        }
    }
}

fn allowed() -> String {
    format!("a key part may use {}", key_functions())
}

fn refused(part: &KeyPart, message: impl Into<String>) -> BindError {
    invalid(message).at(Some(part.span))
}
