//! A table of statements as a definition of Phoenix.

use saltwing_phoenix::{
    ColumnDefinition, QualifierScheme, StorageScheme, TableDefinition, TableKind, TableProperties, literal_value,
    numbered_columns,
};
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::table::{DefaultDef, DefaultKind};
use saltwing_types::{ColumnDef, Expr, SortOrder, TableDef};

use super::family_options::{HbaseOptions, set_options};
use super::folded_name::{folded, folded_table};

/// A new table, as Phoenix and HBase have it.
pub(super) struct NewDefinition {
    pub(super) definition: TableDefinition,
    pub(super) properties: TableProperties,
    pub(super) options: HbaseOptions,
}

/// The definition of a new table; its HBase table lies in the namespace of its schema if `namespace_mapped` says so.
///
/// # Errors
/// What Phoenix's catalog cannot have, as a sentence.
pub(super) fn new_definition(def: &TableDef, namespace_mapped: bool) -> Result<NewDefinition, String> {
    check_table(def)?;
    let name = folded_table(&def.name);
    let physical_name = match &name.schema {
        Some(schema) if namespace_mapped => format!("{schema}:{}", name.name),
        _ => name.to_string(),
    };
    let mut definition = TableDefinition {
        tenant: None,
        schema: name.schema,
        name: name.name,
        kind: TableKind::Table,
        physical_name,
        sequence_number: 0,
        timestamp: 0,
        salt_buckets: def.key.salt.map(|salt| salt.buckets),
        key_name: def.key_name.as_deref().map(folded),
        columns: Vec::new(),
        default_family: None,
        qualifiers: QualifierScheme::TwoBytes,
        counters: Vec::new(),
        storage: StorageScheme::CellPerColumn,
        immutable: false,
        store_nulls: false,
        row_key_order_optimizable: true,
        wal_disabled: false,
        multi_tenant: false,
        namespace_mapped,
        indexes: Vec::new(),
    };
    let mut properties = TableProperties::default();
    let options = set_options(def, &mut definition, &mut properties)?;
    for place in 0..def.columns.len() {
        let column = new_column(def, place, &definition)?;
        definition.columns.push(column);
    }
    numbered_columns(&mut definition).map_err(|error| error.to_string())?;
    Ok(NewDefinition { definition, properties, options })
}

fn check_table(def: &TableDef) -> Result<(), String> {
    if def.has_hidden_key() {
        return Err("a table of Phoenix has a primary key: declare one".to_owned());
    }
    if def.key.has_computed() {
        return Err("a key of Phoenix has columns alone: declare a column for each part".to_owned());
    }
    if def.key.salt.is_some_and(|salt| salt.by.is_some()) {
        return Err("Phoenix salts by the whole key: leave SALT_BY out".to_owned());
    }
    let places: Vec<usize> = def.key.columns.iter().filter_map(|column| column.column()).collect();
    if !places.is_sorted() {
        let names: Vec<&str> = def.key.columns.iter().map(|column| column.name.as_str()).collect();
        return Err(format!(
            "Phoenix's key has its columns in the order of their declaration: declare {} so",
            names.join(", ")
        ));
    }
    if let Some(check) = def.checks.first() {
        return Err(format!("Phoenix has no CHECK constraints, and the table has {}", check.name));
    }
    if let Some(index) = def.indexes.first() {
        return Err(format!("indexes are made with Phoenix: CREATE INDEX {} there", index.name));
    }
    if def.comment.is_some() || def.columns.iter().any(|column| column.comment.is_some()) {
        return Err("Phoenix has no comments".to_owned());
    }
    match def.columns.iter().find(|column| column.hidden) {
        Some(column) => Err(format!("Phoenix has no hidden column {}", column.name)),
        None => Ok(()),
    }
}

/// The column of a table, for a definition that has its options.
///
/// # Errors
/// What Phoenix's catalog cannot have, as a sentence.
pub(super) fn new_column(
    def: &TableDef,
    place: usize,
    definition: &TableDefinition,
) -> Result<ColumnDefinition, String> {
    let Some(column) = def.columns.get(place) else { return Err(format!("there is no column {place}")) };
    let key = def.key.position(place).and_then(|position| def.key.columns.get(position));
    let family = match key {
        Some(_) => None,
        None => Some(def.family_name(column).map_or_else(|| definition.family_of_unnamed().to_owned(), folded)),
    };
    if key.is_none() && !column.nullable && !definition.immutable {
        return Err(format!(
            "{} is NOT NULL and no part of the key: Phoenix has such columns in tables with IMMUTABLE_ROWS alone",
            column.name
        ));
    }
    Ok(ColumnDefinition {
        name: folded(&column.name),
        family,
        ty: column.ty,
        nullable: column.nullable,
        order: key.map_or(SortOrder::Asc, |key| key.order),
        expression: column.default.as_ref().map(|default| default_text(column, default)).transpose()?,
        qualifier: None,
        view_constant: None,
        is_row_timestamp: key.is_some_and(|key| def.is_row_timestamp(key)),
    })
}

/// The text of a DEFAULT: literals alone, because Phoenix reads other texts in its own SQL.
fn default_text(column: &ColumnDef, default: &DefaultDef) -> Result<String, String> {
    let refused = |what: &str| {
        Err(format!("{} {what}: Phoenix's catalog gets DEFAULTs that are a text, a number, TRUE or FALSE", column.name))
    };
    match &default.kind {
        DefaultKind::Constant => {}
        DefaultKind::Generated => return refused("is generated"),
        DefaultKind::Identity(_) => return refused("is an identity column"),
        DefaultKind::NewRow => return refused(&format!("has DEFAULT {}", default.text)),
    }
    let is_text = default.text.trim().starts_with('\'');
    let fits = match column.ty.family() {
        TypeFamily::Text => is_text,
        TypeFamily::Number | TypeFamily::Boolean => !is_text,
        _ => false,
    };
    match (literal_value(&default.text, column.ty), &default.expr) {
        (Ok(value), Expr::Literal(known, _)) if fits && value == *known => Ok(default.text.trim().to_owned()),
        _ => refused(&format!("has DEFAULT {}", default.text)),
    }
}
