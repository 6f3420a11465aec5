//! SHOW and DESCRIBE.

use saltwing_bind::{
    ResultColumn, identity_definition, identity_text, index_text, key_constraint, parts_text, resolve, table_comments,
    table_path, view_statements,
};
use saltwing_catalog::{CatalogReader, CatalogViewDef, INFORMATION_SCHEMA, catalog_view};
use saltwing_sql::statement::{ExplainFormat, SettingName, ShowTables};
use saltwing_sql::{Statement, TableRef, quote_name};
use saltwing_types::like::LikePattern;
use saltwing_types::table::{SPLIT_KEYS, SPLIT_ON, is_same_name};
use saltwing_types::{
    ColumnDef, ErrorCode, KeyColumn, SequenceDef, SortOrder, SqlType, TableDef, TableName, Value, ViewColumn, text,
};

use crate::Error;
use crate::advise;
use crate::session::Session;
use crate::settings::{SETTINGS, Setting};
use crate::storage::storage_columns;
use crate::text_rows::{TextRow, text_columns};

/// The columns of a statement that shows something; `None` of another one.
pub(crate) fn columns_shown(statement: &Statement) -> Option<Vec<ResultColumn>> {
    let labels: &[&str] = match statement {
        Statement::Explain(explain) if explain.format == ExplainFormat::Advice => &advise::COLUMNS,
        Statement::Explain(_) => &["plan"],
        Statement::ShowTables(_) => &["table_schema", "table_name"],
        Statement::ShowSchemas(_) => &["schema_name"],
        Statement::ShowAttached => &["database_name", "path"],
        Statement::ShowFunctions(_) => &["name", "kind", "signature", "volatility", "description"],
        Statement::ShowViews(_) => &["table_schema", "table_name"],
        Statement::ShowIndexes(_) => &[
            "table_schema",
            "table_name",
            "index_name",
            "kind",
            "is_unique",
            "key",
            "include",
            "predicate",
            "salt_buckets",
            "state",
        ],
        Statement::ShowSequences(_) => &["sequence_schema", "sequence_name"],
        Statement::ShowCreateTable(_) => &["create_table"],
        Statement::ShowCreateSequence(_) => &["create_sequence"],
        Statement::Export(_) => &["statement"],
        Statement::ShowSetting(Some(_)) => &["name", "value"],
        Statement::ShowSetting(None) => &["name", "value", "description"],
        Statement::Describe(_) | Statement::DescribeFile(_) => &["name", "type", "nullable", "key", "default", "note"],
        Statement::ShowTransactions => &[
            "number",
            "mode",
            "state",
            "open_ms",
            "statements",
            "rows_written",
            "bytes_written",
            "commits_since",
            "pinned_bytes",
        ],
        Statement::ShowStorage(_) => return Some(storage_columns()),
        _ => return None,
    };
    Some(text_columns(labels))
}

pub(crate) fn show_tables(session: &Session, show: &ShowTables) -> Result<Vec<TextRow>, Error> {
    let (mut tables, mut views) = (session.catalog().tables(), session.catalog().views());
    if show.schema.is_some() {
        tables.extend(session.catalog().attached_tables());
        views.extend(session.catalog().attached_views());
    }
    let tables = tables.iter().map(|table| &table.def().name);
    let mut names: Vec<&TableName> = tables.chain(views.iter().map(|view| &view.name)).collect();
    names.sort_by_key(|name| (name.schema.as_ref().map(|schema| schema.to_lowercase()), name.name.to_lowercase()));
    names_shown(session, show, names.into_iter())
}

/// The names that a SHOW asks for.
pub(crate) fn names_shown<'n>(
    session: &Session,
    show: &ShowTables,
    names: impl Iterator<Item = &'n TableName>,
) -> Result<Vec<TextRow>, Error> {
    if let Some(schema) = &show.schema
        && !session.catalog().has_schema(&schema.text)
    {
        return Err(Error::new(ErrorCode::NoSuchSchema, format!("no schema {}", schema.text)).at(Some(schema.span)));
    }
    let pattern = pattern(show.like.as_deref())?;
    let rows = names.filter(|name| {
        let same = |s: &saltwing_sql::Name| name.schema.as_ref().is_some_and(|n| is_same_name(n, &s.text));
        show.schema.as_ref().is_none_or(same) && pattern.as_ref().is_none_or(|p| p.matches(&name.name))
    });
    Ok(rows.map(|name| vec![name.schema.clone(), Some(name.name.clone())]).collect())
}

pub(crate) fn show_schemas(session: &Session, like: Option<&str>) -> Result<Vec<TextRow>, Error> {
    let catalog = session.catalog();
    let pattern = pattern(like)?;
    let names = catalog.schemas().into_iter().filter(|name| pattern.as_ref().is_none_or(|p| p.matches(name)));
    Ok(names.map(|name| vec![Some(name)]).collect())
}

/// `SHOW name`, or `SHOW ALL`.
pub(crate) fn show_setting(session: &Session, name: Option<&SettingName>) -> Result<Vec<TextRow>, Error> {
    let cell = |text: &str| Some(text.to_owned());
    let Some(name) = name else {
        let rows = SETTINGS.iter().map(|it| vec![cell(it.name), Some(session.setting(it)), cell(it.description)]);
        return Ok(rows.collect());
    };
    let setting = Setting::named(&name.text).map_err(|error| error.at(Some(name.span)))?;
    Ok(vec![vec![cell(setting.name), Some(session.setting(setting))]])
}

pub(crate) fn show_create_table(session: &Session, name: &TableRef) -> Result<Vec<TextRow>, Error> {
    if let Some(view) = view_of(name) {
        let text = format!("{INFORMATION_SCHEMA}.{} is a view of the catalog: it has no CREATE TABLE", view.name);
        return Err(Error::new(ErrorCode::NotSupported, text)
            .at(Some(name.span()))
            .with_help(Some("DESCRIBE shows its columns")));
    }
    let catalog = session.catalog();
    let (schema, bare) = name.parts();
    if let Some(view) = catalog.view(schema, bare) {
        return Ok(view_statements(&view).into_iter().map(|text| vec![Some(text)]).collect());
    }
    let table = resolve(&*catalog, name)?;
    let def = table.def();
    let indexes = def.indexes.iter().map(|index| index_text(def, index));
    let texts = [create_table_text(def, &*catalog)].into_iter().chain(table_comments(def)).chain(indexes);
    Ok(texts.map(|text| vec![Some(text)]).collect())
}

pub(crate) fn describe(session: &Session, name: &TableRef) -> Result<Vec<TextRow>, Error> {
    if let Some(view) = view_of(name) {
        let column =
            |(name, ty): &(&str, SqlType)| ViewColumn { name: (*name).into(), ty: *ty, nullable: true, comment: None };
        return Ok(view.columns.iter().map(|it| view_column_row(&column(it))).collect());
    }
    let catalog = session.catalog();
    let (schema, bare) = name.parts();
    if let Some(view) = catalog.view(schema, bare) {
        let uses = view.uses.iter().map(|it| property_row("USES", "(view)", Some(table_path(&it.name))));
        let comment = view.comment.iter().map(|text| comment_row(text));
        return Ok(view.columns.iter().map(view_column_row).chain(uses).chain(comment).collect());
    }
    if let Ok(sequence) = catalog.sequence(schema, bare) {
        let next = session.shared().catalog.next_value_of(&sequence)?.map(|next| next.to_string());
        let next = property_row("NEXT", "(sequence)", next);
        return Ok(sequence_rows(&sequence).into_iter().chain([next]).collect());
    }
    let table = resolve(&*catalog, name)?;
    let def = table.def();
    let mut rows: Vec<TextRow> =
        def.columns.iter().enumerate().filter(|(_, c)| !c.hidden).map(|(i, c)| column_row(def, i, c)).collect();
    rows.extend(def.key.columns.iter().enumerate().filter_map(|(i, k)| computed_row(def, i, k)));
    let mut fact = |name: &str, value: String, note: &str| {
        let note = (!note.is_empty()).then(|| note.to_owned());
        rows.push(vec![Some(name.into()), Some("(table)".into()), None, None, Some(value), note]);
    };
    if def.has_hidden_key() {
        fact("PRIMARY KEY", "hidden row id".into(), "no key was declared");
    }
    if let Some(salt) = def.key.salt {
        fact("SALT_BUCKETS", salt.buckets.to_string(), "");
        if let Some(by) = salt.by {
            fact("SALT_BY", leading(def, by), "Phoenix cannot read this table");
        }
    }
    if let Some(ttl_s) = def.ttl_s {
        fact("TTL", ttl_s.to_string(), "seconds");
    }
    for index in &def.indexes {
        let key = format!("{} ({})", index.name, parts_text(def, index));
        let unique = if index.unique { "unique, " } else { "" };
        fact("INDEX", key, &format!("{unique}{}", index.state));
    }
    for check in &def.checks {
        fact("CHECK", check.text.clone(), &check.name);
    }
    for option in def.options.iter().filter(|option| option.name != SPLIT_KEYS) {
        let note = if option.honoured { "" } else { "kept, without effect on an embedded store" };
        fact(&option.name, option_text(&option.value), note);
    }
    rows.extend(def.comment.iter().map(|text| comment_row(text)));
    Ok(rows)
}

/// The options of a sequence, in the columns of DESCRIBE.
fn sequence_rows(def: &SequenceDef) -> Vec<TextRow> {
    let options = [
        ("START", def.start.to_string()),
        ("INCREMENT", def.increment.to_string()),
        ("MINVALUE", def.min.to_string()),
        ("MAXVALUE", def.max.to_string()),
        ("CYCLE", def.cycles.to_string()),
        ("CACHE", def.cache.to_string()),
    ];
    options.into_iter().map(|(name, value)| property_row(name, "(sequence)", Some(value))).collect()
}

/// A property of an object that is no column.
fn property_row(name: &str, of: &str, value: Option<String>) -> TextRow {
    vec![Some(name.into()), Some(of.into()), None, None, value, None]
}

fn view_column_row(column: &ViewColumn) -> TextRow {
    let nullable = if column.nullable { "yes" } else { "no" };
    let (name, ty) = (column.name.clone(), column.ty.to_string());
    vec![Some(name), Some(ty), Some(nullable.to_owned()), None, None, column.comment.clone()]
}

/// The comment of a table or view.
fn comment_row(text: &str) -> TextRow {
    property_row("COMMENT", "(table)", Some(text.to_owned()))
}

fn view_of(name: &TableRef) -> Option<&'static CatalogViewDef> {
    catalog_view(name.schema.as_ref().map(|s| s.text.as_str()), &name.name.text)
}

pub(crate) fn pattern(like: Option<&str>) -> Result<Option<LikePattern>, Error> {
    Ok(like.map(|pattern| LikePattern::parse(pattern, None, true)).transpose()?)
}

/// A computed part of the key: not a column, but part of the sort order.
fn computed_row(def: &TableDef, position: usize, key: &KeyColumn) -> Option<TextRow> {
    let inputs = key.computed()?.columns();
    let inputs: Vec<&str> = inputs.iter().filter_map(|input| Some(def.columns.get(*input)?.name.as_str())).collect();
    Some(vec![
        Some(key.name.clone()),
        Some(key.ty.to_string()),
        Some(if key.nullable { "yes" } else { "no" }.into()),
        Some(key_place(position, key)),
        None,
        Some(format!("computed from {}; Phoenix cannot read this table", inputs.join(", "))),
    ])
}

/// The place in the key, and the direction.
fn key_place(position: usize, key: &KeyColumn) -> String {
    format!("{}{}", position + 1, if key.order == SortOrder::Desc { " desc" } else { "" })
}

fn column_row(def: &TableDef, index: usize, column: &ColumnDef) -> TextRow {
    let key = def.key.position(index);
    let key = key.and_then(|position| Some(key_place(position, def.key.columns.get(position)?)));
    let family = def.family_name(column).map(|family| format!("family {family}"));
    let sequence = column.identity().map(|identity| format!("sequence {}", table_path(&identity.sequence)));
    let notes: Vec<String> = family.into_iter().chain(sequence).chain(column.comment.clone()).collect();
    vec![
        Some(column.name.clone()),
        Some(column.ty.to_string()),
        Some(if column.nullable { "yes" } else { "no" }.into()),
        key,
        shown_default(column),
        (!notes.is_empty()).then(|| notes.join("; ")),
    ]
}

fn generated_text(expr: &str) -> String {
    format!("GENERATED ALWAYS AS ({expr}) STORED")
}

/// The DEFAULT of a column, or how else it gets its values.
fn shown_default(column: &ColumnDef) -> Option<String> {
    match (column.generated(), column.identity()) {
        (Some(expr), _) => Some(generated_text(expr)),
        (None, Some(identity)) => Some(identity_text(identity).to_owned()),
        (None, None) => column.default.as_ref().map(|default| default.text.clone()),
    }
}

/// The columns among the first parts of the key: those before them that are computed count with them.
fn leading(def: &TableDef, count: usize) -> String {
    let columns = def.key.columns.iter().take(count).filter(|k| k.column().is_some());
    let names: Vec<String> = columns.map(|k| quote_name(&k.name)).collect();
    format!("({})", names.join(", "))
}

fn option_text(value: &Value) -> String {
    match value {
        Value::Null => "NONE".into(),
        Value::Text(text) => text.clone(),
        other => text::format(other, saltwing_types::typing::natural_type(other)).unwrap_or_default(),
    }
}

/// A CREATE TABLE that makes the same table.
fn create_table_text(def: &TableDef, catalog: &dyn CatalogReader) -> String {
    let mut lines: Vec<String> = def
        .columns
        .iter()
        .enumerate()
        .filter(|(_, c)| !c.hidden)
        .map(|(i, c)| column_text(def, (i, c), catalog))
        .collect();
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
    format!("{create} (\n{}\n){options}{split_on}", lines.join(",\n"))
}

fn column_text(def: &TableDef, (index, column): (usize, &ColumnDef), catalog: &dyn CatalogReader) -> String {
    let family = def.family_name(column).map(|family| format!("{}.", quote_name(family)));
    let not_null = match def.key.position(index) {
        Some(position) => !def.key.columns.get(position).is_some_and(|k| k.nullable),
        None => !column.nullable,
    };
    let not_null = if not_null { " NOT NULL" } else { "" };
    let default = match (column.generated(), column.identity()) {
        (Some(expr), _) => format!(" {}", generated_text(expr)),
        (None, Some(identity)) => {
            let sequence = catalog.sequence(identity.sequence.schema.as_deref(), &identity.sequence.name).ok();
            format!(" {}", identity_definition(identity, sequence.as_deref()))
        }
        (None, None) => column.default.as_ref().map(|d| format!(" DEFAULT {}", d.text)).unwrap_or_default(),
    };
    format!("    {}{} {}{not_null}{default}", family.unwrap_or_default(), quote_name(&column.name), column.ty)
}
