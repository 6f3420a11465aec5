//! SHOW of tables, views, sequences, schemas, attached databases, and of definitions.

use saltwing_bind::{
    Objects, SCHEMATA, SEQUENCES, SystemTable, TABLES, VIEWS, create_sequence_text, index_text, resolve,
    table_comments, view_statements,
};
use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_sql::TableRef;
use saltwing_sql::statement::ShowTables;
use saltwing_types::ErrorCode;
use saltwing_types::table::is_same_name;

use super::{Listing, system_rows};
use crate::Error;
use crate::session::Session;
use crate::statement::describe_object::system_table_of;
use crate::statement::{Privilege, Target};
use crate::table_text::create_table_text;
use crate::text_rows::{TextRow, pattern};

/// SHOW TABLES.
pub(crate) struct Tables<'a>(pub(crate) &'a ShowTables);

impl Listing for Tables<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["table_schema", "table_name"]
    }

    fn what(&self) -> String {
        "tables".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let mut rows = shown(session, TABLES, self.labels(), self.0)?;
        rows.retain(|row| !matches!(row.as_slice(), [Some(schema), ..] if schema == INFORMATION_SCHEMA));
        rows.sort_by_cached_key(|row| {
            row.iter().map(|name| name.as_deref().map(str::to_lowercase)).collect::<Vec<_>>()
        });
        Ok(rows)
    }
}

/// SHOW VIEWS.
pub(crate) struct Views<'a>(pub(crate) &'a ShowTables);

impl Listing for Views<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["table_schema", "table_name"]
    }

    fn what(&self) -> String {
        "views".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        shown(session, VIEWS, self.labels(), self.0)
    }
}

/// SHOW SEQUENCES.
pub(crate) struct Sequences<'a>(pub(crate) &'a ShowTables);

impl Listing for Sequences<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["sequence_schema", "sequence_name"]
    }

    fn what(&self) -> String {
        "sequences".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        shown(session, SEQUENCES, self.labels(), self.0)
    }
}

/// SHOW SCHEMAS.
pub(crate) struct Schemas<'a>(pub(crate) Option<&'a str>);

impl Listing for Schemas<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["schema_name"]
    }

    fn what(&self) -> String {
        "schemas".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let pattern = pattern(self.0)?;
        let mut rows = system_rows(session, SCHEMATA, self.labels(), Objects::Own)?;
        rows.retain(|row| match row.as_slice() {
            [Some(name)] => name != INFORMATION_SCHEMA && pattern.as_ref().is_none_or(|it| it.matches(name)),
            _ => false,
        });
        Ok(rows)
    }
}

/// SHOW ATTACHED.
pub(crate) struct Attached;

impl Listing for Attached {
    fn labels(&self) -> &'static [&'static str] {
        &["database_name", "path"]
    }

    fn what(&self) -> String {
        "attached databases".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let attached = session.own.catalog.attached();
        Ok(attached.iter().map(|it| vec![Some(it.alias().to_owned()), Some(it.path().to_owned())]).collect())
    }
}

/// SHOW CREATE TABLE, SHOW CREATE VIEW.
pub(crate) struct CreateTable<'a>(pub(crate) &'a TableRef);

impl Listing for CreateTable<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["create_table"]
    }

    fn what(&self) -> String {
        format!("the definition of {}", self.0)
    }

    fn target(&self) -> Option<Target<'_>> {
        Some(Target::relation(self.0, Privilege::Select))
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let name = self.0;
        if let Some(table) = system_table_of(name) {
            let text =
                format!("{INFORMATION_SCHEMA}.{} is a view of the catalog: it has no CREATE TABLE", table.name());
            return Err(Error::new(ErrorCode::NotSupported, text)
                .at(Some(name.span()))
                .with_help(Some("DESCRIBE shows its columns")));
        }
        let catalog = session.catalog()?;
        let (schema, bare) = name.parts();
        if let Some(view) = catalog.view(schema, bare)? {
            return Ok(view_statements(&view).into_iter().map(|text| vec![Some(text)]).collect());
        }
        let table = resolve(&*catalog, name)?;
        let def = table.def();
        let indexes = def.indexes.iter().map(|index| index_text(def, index));
        let texts = [create_table_text(def, &*catalog)?].into_iter().chain(table_comments(def)).chain(indexes);
        Ok(texts.map(|text| vec![Some(text)]).collect())
    }
}

/// SHOW CREATE SEQUENCE.
pub(crate) struct CreateSequence<'a>(pub(crate) &'a TableRef);

impl Listing for CreateSequence<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["create_sequence"]
    }

    fn what(&self) -> String {
        format!("the definition of {}", self.0)
    }

    fn target(&self) -> Option<Target<'_>> {
        Some(Target::stored(self.0, Privilege::Select))
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let it = self.0;
        let (schema, name) = it.parts();
        let def = session.catalog()?.sequence(schema, name).map_err(|error| Error::from(error).at(Some(it.span())))?;
        Ok(vec![vec![Some(create_sequence_text(&def))]])
    }
}

/// The rows of a system table for a SHOW. The two columns have the schema and the name.
fn shown(
    session: &Session,
    table: &dyn SystemTable,
    columns: &[&str],
    show: &ShowTables,
) -> Result<Vec<TextRow>, Error> {
    let catalog = session.catalog()?;
    if let Some(schema) = &show.schema
        && !catalog.has_schema(&schema.text)?
    {
        return Err(Error::new(ErrorCode::NoSuchSchema, format!("no schema {}", schema.text)).at(Some(schema.span)));
    }
    let wanted = show.schema.as_ref().map(|schema| catalog.canonical_schema(&schema.text)).transpose()?;
    let pattern = pattern(show.like.as_deref())?;
    let is_asked_for = |row: &TextRow| {
        let [schema, Some(name)] = row.as_slice() else { return false };
        let is_it = |wanted| is_same_name(schema.as_deref().unwrap_or_default(), wanted);
        wanted.is_none_or(is_it) && pattern.as_ref().is_none_or(|pattern| pattern.matches(name))
    };
    let objects = if show.schema.is_some() { Objects::WithAttached } else { Objects::Own };
    let mut rows = system_rows(session, table, columns, objects)?;
    rows.retain(is_asked_for);
    Ok(rows)
}
