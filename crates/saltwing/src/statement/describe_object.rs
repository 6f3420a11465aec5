//! DESCRIBE of a table, a view or a sequence.

use saltwing_bind::{
    ResultColumn, SystemColumn, SystemTable, identity_text, parts_text, resolve, system_table, table_path,
};
use saltwing_catalog::{CatalogStore, optional};
use saltwing_sql::TableRef;
use saltwing_types::table::SPLIT_KEYS;
use saltwing_types::{ColumnDef, KeyColumn, SequenceDef, SortOrder, TableDef, ViewColumn};

use super::{Effects, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::table_text::{generated_text, leading, option_text};
use crate::text_rows::{TextRow, text_columns, text_rows};

/// The columns of DESCRIBE.
pub(super) const COLUMNS: [&str; 6] = ["name", "type", "nullable", "key", "default", "note"];

pub(super) struct DescribeObject<'a>(pub(super) &'a TableRef);

impl StatementKind for DescribeObject<'_> {
    fn tag(&self) -> &'static str {
        "DESCRIBE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(self.0, Privilege::Select)]
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(text_columns(&COLUMNS))
    }

    fn effects(&self) -> Effects {
        Effects::shows(format!("the columns of {}", self.0))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        text_rows(text_columns(&COLUMNS), &described(run.session, self.0)?).map(Outcome::Rows)
    }
}

fn described(session: &Session, name: &TableRef) -> Result<Vec<TextRow>, Error> {
    if let Some(table) = system_table_of(name) {
        let column = |SystemColumn { name, ty }| ViewColumn { name: name.into(), ty, nullable: true, comment: None };
        return Ok(table.columns().into_iter().map(|it| view_column_row(&column(it))).collect());
    }
    let catalog = session.catalog()?;
    let (schema, bare) = name.parts();
    if let Some(view) = catalog.view(schema, bare)? {
        let uses = view.uses.iter().map(|it| property_row("USES", "(view)", Some(table_path(&it.name))));
        let comment = view.comment.iter().map(|text| comment_row(text));
        return Ok(view.columns.iter().map(view_column_row).chain(uses).chain(comment).collect());
    }
    // A temporary table hides a sequence, too.
    if !(schema.is_none() && catalog.hides(bare))
        && let Some(sequence) = optional(catalog.sequence(schema, bare))?
    {
        let next = session.own.catalog.next_value_of(&sequence)?.map(|next| next.to_string());
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

/// A property of an object that is not a column.
fn property_row(name: &str, of: &str, value: Option<String>) -> TextRow {
    vec![Some(name.into()), Some(of.into()), None, None, value, None]
}

pub(super) fn view_column_row(column: &ViewColumn) -> TextRow {
    let nullable = if column.nullable { "yes" } else { "no" };
    let (name, ty) = (column.name.clone(), column.ty.to_string());
    vec![Some(name), Some(ty), Some(nullable.to_owned()), None, None, column.comment.clone()]
}

/// The comment of a table or view.
fn comment_row(text: &str) -> TextRow {
    property_row("COMMENT", "(table)", Some(text.to_owned()))
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

/// The position in the key, and the direction.
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

/// The DEFAULT of a column, or the other source of its values.
fn shown_default(column: &ColumnDef) -> Option<String> {
    match (column.generated(), column.identity()) {
        (Some(expr), _) => Some(generated_text(expr)),
        (None, Some(identity)) => Some(identity_text(identity).to_owned()),
        (None, None) => column.default.as_ref().map(|default| default.text.clone()),
    }
}

/// The system table with this name, if there is one.
pub(super) fn system_table_of(name: &TableRef) -> Option<&'static dyn SystemTable> {
    let (schema, bare) = name.parts();
    system_table(schema, bare)
}
