//! The text of a table's CREATE TABLE.

use saltwing_bind::{identity_definition, key_constraint, table_path};
use saltwing_catalog::{CatalogError, CatalogReader, optional};
use saltwing_sql::quote_name;
use saltwing_types::table::SPLIT_ON;
use saltwing_types::{ColumnDef, SortOrder, TableDef, Value, text};

pub(crate) fn generated_text(expr: &str) -> String {
    format!("GENERATED ALWAYS AS ({expr}) STORED")
}

/// The columns among the first `count` parts of the key. Computed parts count, but are not listed.
pub(crate) fn leading(def: &TableDef, count: usize) -> String {
    let columns = def.key.columns.iter().take(count).filter(|k| k.column().is_some());
    let names: Vec<String> = columns.map(|k| quote_name(&k.name)).collect();
    format!("({})", names.join(", "))
}

pub(crate) fn option_text(value: &Value) -> String {
    match value {
        Value::Null => "NONE".into(),
        Value::Text(text) => text.clone(),
        other => text::format(other, saltwing_types::typing::natural_type(other)).unwrap_or_default(),
    }
}

/// A CREATE TABLE that creates the same table.
///
/// # Errors
/// Errors of the catalog.
pub(crate) fn create_table_text(def: &TableDef, catalog: &dyn CatalogReader) -> Result<String, CatalogError> {
    let columns = def.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
    let lines: Result<Vec<String>, _> = columns.map(|column| column_text(def, column, catalog)).collect();
    let mut lines = lines?;
    if let Some(name) = key_constraint(def) {
        let parts: Vec<String> = def
            .key
            .columns
            .iter()
            .map(|k| {
                let name = if k.computed().is_some() { k.name.clone() } else { quote_name(&k.name) };
                let row_timestamp = if def.is_row_timestamp(k) { " ROW_TIMESTAMP" } else { "" };
                format!("{name}{}{row_timestamp}", if k.order == SortOrder::Desc { " DESC" } else { "" })
            })
            .collect();
        let name = quote_name(name);
        lines.push(format!("    CONSTRAINT {name} PRIMARY KEY ({})", parts.join(", ")));
    }
    let checks = def.checks.iter();
    lines.extend(checks.map(|check| format!("    CONSTRAINT {} CHECK ({})", quote_name(&check.name), check.text)));
    let mut options: Vec<String> = Vec::new();
    if let Some(salt) = def.key.salt {
        options.push(format!("SALT_BUCKETS = {}", salt.buckets));
        options.extend(salt.by.map(|by| format!("SALT_BY = {}", leading(def, by))));
    }
    options.extend(def.ttl_s.map(|ttl_s| format!("TTL = {ttl_s}")));
    options.extend(def.written_options().map(|o| {
        let value =
            if o.value.is_null() { "NONE".into() } else { text::literal(&o.value, saltwing_types::SqlType::Null) };
        format!("{} = {value}", o.name)
    }));
    let options = if options.is_empty() { String::new() } else { format!(" {}", options.join(", ")) };
    let split_on =
        def.option(SPLIT_ON).map(|points| format!(" {SPLIT_ON} {}", option_text(points))).unwrap_or_default();
    let create = match catalog.is_temporary(def) {
        true => format!("CREATE TEMPORARY TABLE {}", quote_name(&def.name.name)),
        false => format!("CREATE TABLE {}", table_path(&def.name)),
    };
    Ok(format!("{create} (\n{}\n){options}{split_on}", lines.join(",\n")))
}

fn column_text(
    def: &TableDef,
    (index, column): (usize, &ColumnDef),
    catalog: &dyn CatalogReader,
) -> Result<String, CatalogError> {
    let family = def.family_name(column).map(|family| format!("{}.", quote_name(family)));
    let not_null = match def.key.position(index) {
        Some(position) => !def.key.columns.get(position).is_some_and(|k| k.nullable),
        None => !column.nullable,
    };
    let not_null = if not_null { " NOT NULL" } else { "" };
    let default = match (column.generated(), column.identity()) {
        (Some(expr), _) => format!(" {}", generated_text(expr)),
        (None, Some(identity)) => {
            let sequence = optional(catalog.sequence(identity.sequence.schema.as_deref(), &identity.sequence.name))?;
            format!(" {}", identity_definition(identity, sequence.as_deref()))
        }
        (None, None) => column.default.as_ref().map(|d| format!(" DEFAULT {}", d.text)).unwrap_or_default(),
    };
    let family = family.unwrap_or_default();
    Ok(format!("    {family}{} {}{not_null}{default}", quote_name(&column.name), column.ty))
}
