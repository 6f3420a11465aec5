//! Tables, views, indexes and sequences.

use saltwing::Value;

use crate::error::AvaticaError;

use super::catalog::Catalog;
use super::listing::{Column, Listing, TEXT, text};
use super::pattern::Pattern;

/// The kinds in `TABLE_TYPE`, in their order.
const KINDS: [&str; 6] = ["INDEX", "LOCAL TEMPORARY", "SEQUENCE", "SYSTEM TABLE", "TABLE", "VIEW"];

/// The columns of JDBC, followed by those of Phoenix that have a meaning here.
const COLUMNS: [Column; 13] = [
    ("TABLE_CAT", TEXT),
    ("TABLE_SCHEM", TEXT),
    ("TABLE_NAME", TEXT),
    ("TABLE_TYPE", TEXT),
    ("REMARKS", TEXT),
    ("TYPE_CAT", TEXT),
    ("TYPE_SCHEM", TEXT),
    ("TYPE_NAME", TEXT),
    ("SELF_REFERENCING_COL_NAME", TEXT),
    ("REF_GENERATION", TEXT),
    ("INDEX_STATE", TEXT),
    ("VIEW_STATEMENT", TEXT),
    ("INDEX_TYPE", TEXT),
];

/// A row before it is one.
struct Entry {
    kind: &'static str,
    schema: Option<String>,
    name: String,
    comment: Option<String>,
    index_state: Option<String>,
    query: Option<String>,
    index_kind: Option<String>,
}

impl Entry {
    fn new(kind: &'static str, schema: Option<String>, name: String) -> Self {
        Self { kind, schema, name, comment: None, index_state: None, query: None, index_kind: None }
    }

    fn into_row(self) -> Vec<Value> {
        vec![
            Value::Null,
            text(self.schema.as_deref()),
            Value::Text(self.name),
            Value::text(self.kind),
            text(self.comment.as_deref()),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            text(self.index_state.as_deref()),
            text(self.query.as_deref()),
            text(self.index_kind.as_deref()),
        ]
    }
}

/// The kinds of tables.
pub(crate) fn table_types() -> Listing {
    Listing::new(&[("TABLE_TYPE", TEXT)], KINDS.iter().map(|kind| vec![Value::text(*kind)]).collect())
}

/// The objects whose schema and name fit, of these kinds or of all; by kind, schema and name.
///
/// # Errors
/// Those of `information_schema`.
pub(crate) async fn tables(
    catalog: &Catalog<'_>,
    schema: &Pattern,
    name: &Pattern,
    kinds: Option<&[String]>,
) -> Result<Listing, AvaticaError> {
    let is_wanted = |kind: &str| kinds.is_none_or(|kinds| kinds.iter().any(|it| it.eq_ignore_ascii_case(kind)));
    let mut entries: Vec<Entry> = Vec::new();
    for table in catalog.tables().await? {
        let entry = Entry::new(table.kind, table.schema, table.name);
        entries.push(Entry { comment: table.comment, query: table.query, ..entry });
    }
    if is_wanted("INDEX") {
        for index in catalog.indexes().await? {
            let entry = Entry::new("INDEX", index.schema, index.name);
            entries.push(Entry { index_state: index.state, index_kind: Some(index.kind), ..entry });
        }
    }
    if is_wanted("SEQUENCE") {
        let sequences = catalog.sequences().await?;
        entries.extend(sequences.into_iter().map(|(schema, name)| Entry::new("SEQUENCE", schema, name)));
    }
    entries
        .retain(|entry| is_wanted(entry.kind) && schema.fits_schema(entry.schema.as_deref()) && name.fits(&entry.name));
    entries.sort_unstable_by(|a, b| (a.kind, &a.schema, &a.name).cmp(&(b.kind, &b.schema, &b.name)));
    Ok(Listing::new(&COLUMNS, entries.into_iter().map(Entry::into_row).collect()))
}
