//! Indexes in an export for Apache Phoenix.

use saltwing_bind::parts_text;
use saltwing_types::{ColumnDef, IndexDef, SortOrder, TableDef};

use crate::phoenix_name::{phoenix_column, phoenix_name, phoenix_path};

/// The CREATE INDEX of each index of a table, and comments about parts that Phoenix does not support.
pub(crate) fn index_lines(def: &TableDef) -> Vec<String> {
    def.indexes.iter().flat_map(|index| lines(def, index)).collect()
}

fn lines(def: &TableDef, index: &IndexDef) -> Vec<String> {
    let (table, name) = (phoenix_path(&def.name), phoenix_name(&index.name));
    let note = |text: String| format!("-- {table}: {text}");
    let column_of = |column: usize| def.columns.get(column);
    if let Some(predicate) = &index.predicate {
        let text = predicate.text.replace('\n', " ");
        return vec![note(format!(
            "index {name} WHERE {text} is left out: its condition may mean something else there"
        ))];
    }
    let columns: Option<Vec<&ColumnDef>> =
        index.parts.iter().map(|part| IndexDef::part_column(part).and_then(column_of)).collect();
    let Some(columns) = columns else {
        let parts = parts_text(def, index);
        return vec![note(format!(
            "index {name} on ({parts}) is left out: its expressions may mean something else there"
        ))];
    };
    let parts: Vec<String> = columns
        .iter()
        .zip(&index.parts)
        .map(|(column, part)| {
            let desc = if part.order == SortOrder::Desc { " DESC" } else { "" };
            format!("{}{desc}", phoenix_column(def, column))
        })
        .collect();
    let kind = if index.local { "LOCAL " } else { "" };
    let mut text = format!("CREATE {kind}INDEX IF NOT EXISTS {name} ON {table} ({})", parts.join(", "));
    let included: Vec<String> =
        index.include.iter().filter_map(|column| Some(phoenix_column(def, column_of(*column)?))).collect();
    if !included.is_empty() {
        text.push_str(&format!(" INCLUDE ({})", included.join(", ")));
    }
    let buckets = index.salt.map(|salt| salt.buckets);
    if !index.local && buckets != def.key.salt.map(|salt| salt.buckets) {
        text.push_str(&format!(" SALT_BUCKETS = {}", buckets.unwrap_or(0)));
    }
    let salt_by = index.salt.and_then(|salt| salt.by);
    let salt_by = salt_by.map(|_| note(format!("index {name} has SALT_BY: Phoenix salts by the whole key")));
    let unique = index.unique.then(|| note(format!("index {name} is UNIQUE: Phoenix has no unique indexes")));
    unique.into_iter().chain(salt_by).chain([text + ";"]).collect()
}
