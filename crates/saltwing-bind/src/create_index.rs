//! CREATE INDEX into an index's definition.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_rowkey::RowKeyCodec;
use saltwing_sql::statement::{CreateIndex, KeyPart, OptionSpec};
use saltwing_types::key_expression::key_type;
use saltwing_types::key_form::can_be_indexed;
use saltwing_types::table::{BUCKETS_MAX, HIDDEN_COLUMNS, INDEXES_MAX, is_same_name};
use saltwing_types::{
    Expr, IndexDef, IndexPart, IndexPredicate, IndexState, ObjectId, Salt, SqlType, TableDef, TableId, ValueError,
};

use crate::check::row_expr;
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::scope::Scope;
use crate::table_option::{salt, whole};

/// The definition of a new index of a table; the catalog gives it its id. It is [building](IndexState::Building).
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub fn create_index(statement: &CreateIndex, table: &Arc<Table>) -> Result<IndexDef> {
    let def = table.def();
    let place = |error: BindError| error.at(Some(statement.name.span));
    if HIDDEN_COLUMNS.contains(&statement.name.text.to_lowercase().as_str()) {
        return Err(place(invalid(format!("{} is the name of a hidden column", statement.name.text))));
    }
    if def.indexes.len() >= INDEXES_MAX {
        return Err(place(invalid(format!("{} has {INDEXES_MAX} indexes, which is the limit", def.name))));
    }
    let scope = Scope::of(table.clone(), None);
    let mut parts: Vec<IndexPart> = Vec::with_capacity(statement.parts.len());
    for part in &statement.parts {
        let bound = index_part(part, table)?;
        if parts.iter().any(|other| other.expr == bound.expr) {
            return Err(BindError::from(BindErrorKind::DuplicateColumn(bound.text)).at(Some(part.span)));
        }
        parts.push(bound);
    }
    let mut include = Vec::with_capacity(statement.include.len());
    for name in &statement.include {
        let column = scope.resolve(&name.parts(), Some(name.span()))?.index;
        if column >= def.columns.len() {
            return Err(invalid(format!("{name} is no column that an entry can have")).at(Some(name.span())));
        }
        if include.contains(&column) {
            return Err(BindError::from(BindErrorKind::DuplicateColumn(name.name.text.clone())).at(Some(name.span())));
        }
        include.push(column);
    }
    if statement.unique && statement.local {
        let text = "a unique index is global: a local one would have to look for other rows in all buckets";
        return Err(BindError::from(BindErrorKind::NotSupported("UNIQUE of a local index".into()))
            .at(Some(statement.span))
            .help(text));
    }
    let index = IndexDef {
        id: TableId(0),
        object_id: ObjectId::NEW,
        name: statement.name.text.clone(),
        predicate: index_predicate(statement, table)?,
        local: statement.local,
        salt: index_salt(statement, &parts, def)?.filter(|_| !statement.local),
        parts,
        include,
        unique: statement.unique,
        state: IndexState::Building,
        rebuild: None,
    };
    RowKeyCodec::new(&index.key(def)).map_err(|error| invalid(error.to_string()).at(Some(statement.span)))?;
    Ok(index)
}

/// One part of the key of an index.
fn index_part(part: &KeyPart, table: &Arc<Table>) -> Result<IndexPart> {
    if part.is_row_timestamp {
        return Err(invalid("ROW_TIMESTAMP is for the key of a table").at(Some(part.span)));
    }
    let expr = row_expr(&part.expr, table, "an index").map_err(|error| error.at(Some(part.span)))?;
    if !matches!(expr, Expr::Column(_)) {
        key_type(&expr).map_err(|error| invalid(error.to_string()).at(Some(part.span)))?;
    }
    let ty = expr.sql_type().unwrap_or(SqlType::Null);
    if !can_be_indexed(ty) {
        return Err(invalid(format!("{} is {ty}, which an index has no order for", part.text)).at(Some(part.span)));
    }
    let text = match &expr {
        Expr::Column(column) => column.name.clone(),
        _ => part.text.clone(),
    };
    Ok(IndexPart { expr, text, order: part.order })
}

/// The condition of a partial index.
fn index_predicate(statement: &CreateIndex, table: &Arc<Table>) -> Result<Option<IndexPredicate>> {
    let Some((expr, text)) = &statement.predicate else { return Ok(None) };
    let place = |error: BindError| error.at(Some(statement.span));
    let expr = row_expr(expr, table, "the predicate of an index").map_err(place)?;
    match expr.sql_type() {
        Some(SqlType::Boolean) => Ok(Some(IndexPredicate { expr, text: text.clone() })),
        _ => Err(place(ValueError::TypeMismatch(format!("WHERE takes a condition, and {text} is none")).into())),
    }
}

/// The buckets of a global index: those of its table, unless it says otherwise.
fn index_salt(statement: &CreateIndex, parts: &[IndexPart], def: &TableDef) -> Result<Option<Salt>> {
    let (mut buckets, mut by) = (def.key.salt.map(|salt| salt.buckets), None);
    for option in &statement.options {
        let refused = |text: String| Err(invalid(text).at(Some(option.span)));
        let name = option.name.text.to_uppercase();
        match name.as_str() {
            "SALT_BUCKETS" | "SALT_BY" if statement.local => {
                return refused(format!(
                    "{name} is for global indexes: entries of a local one lie in the buckets of their rows"
                ));
            }
            "SALT_BUCKETS" => {
                let count = whole(option, 0, u64::from(BUCKETS_MAX))?;
                buckets = (count > 0).then_some(count as u16);
            }
            "SALT_BY" => by = Some((leading_parts(option, statement, parts)?, option.span)),
            _ => {
                return refused(format!("{name} is no option of an index"))
                    .map_err(|error| error.help("an index has SALT_BUCKETS and SALT_BY"));
            }
        }
    }
    salt(buckets, by)
}

/// How many leading parts SALT_BY names. Spaces make no difference in the text of an expression.
fn leading_parts(option: &OptionSpec, statement: &CreateIndex, parts: &[IndexPart]) -> Result<usize> {
    let names = option.names();
    let is_same = |(name, (part, written)): (&&str, (&IndexPart, &KeyPart))| {
        is_same_name(name, &part.text) || is_same_name(name, &written.expr.to_string())
    };
    let is_leading = names.len() <= parts.len() && names.iter().zip(parts.iter().zip(&statement.parts)).all(is_same);
    if names.is_empty() || !is_leading {
        let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        return Err(invalid("SALT_BY names leading parts of the index, in their order")
            .at(Some(option.value_span))
            .help(format!("the index is on ({})", parts.join(", "))));
    }
    Ok(names.len())
}
