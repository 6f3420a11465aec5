//! Indexes as statements write them.

use saltwing_sql::quote_name;
use saltwing_types::{Expr, IndexDef, IndexPart, Salt, SortOrder, TableDef};

use crate::table_path::{column_path, table_path};

/// The statement that creates an index.
pub fn index_text(def: &TableDef, index: &IndexDef) -> String {
    let kind = match (index.unique, index.local) {
        (true, _) => "UNIQUE ",
        (_, true) => "LOCAL ",
        _ => "",
    };
    let (name, table) = (quote_name(&index.name), table_path(&def.name));
    let mut text = format!("CREATE {kind}INDEX {name} ON {table} ({})", parts_text(def, index));
    if !index.include.is_empty() {
        text.push_str(&format!(" INCLUDE ({})", included_text(def, index)));
    }
    if let Some(predicate) = &index.predicate {
        text.push_str(&format!(" WHERE {}", predicate.text));
    }
    let buckets = |salt: Option<Salt>| salt.map_or(0, |salt| salt.buckets);
    if !index.local && buckets(index.salt) != buckets(def.key.salt) {
        text.push_str(&format!(" SALT_BUCKETS = {}", buckets(index.salt)));
    }
    if let Some(by) = index.salt.and_then(|salt| salt.by) {
        let part = |part: &IndexPart| match part.expr {
            Expr::Column(_) => quote_name(&part.text),
            _ => part.text.clone(),
        };
        let parts: Vec<String> = index.parts.iter().take(by).map(part).collect();
        text.push_str(&format!(" SALT_BY = ({})", parts.join(", ")));
    }
    text
}

/// The parts of an index as CREATE INDEX has them.
pub fn parts_text(def: &TableDef, index: &IndexDef) -> String {
    let part = |part: &IndexPart| {
        let column = IndexDef::part_column(part).and_then(|column| def.columns.get(column));
        let text = column.map_or_else(|| part.text.clone(), |column| column_path(def, column));
        text + if part.order == SortOrder::Desc { " DESC" } else { "" }
    };
    index.parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// The columns that an index includes, as CREATE INDEX has them.
pub(crate) fn included_text(def: &TableDef, index: &IndexDef) -> String {
    let columns = index.include.iter().filter_map(|column| def.columns.get(*column));
    columns.map(|column| column_path(def, column)).collect::<Vec<_>>().join(", ")
}
