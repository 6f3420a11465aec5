//! SHOW of tables, views, sequences, schemas, attached databases, and of definitions.

use saltwing_bind::{create_sequence_text, index_text, resolve, table_comments, view_statements};
use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_sql::TableRef;
use saltwing_sql::statement::ShowTables;
use saltwing_types::table::is_same_name;
use saltwing_types::{ErrorCode, TableName};

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::statement::describe_object::catalog_view_of;
use crate::statement::{Privilege, Target};
use crate::table_text::create_table_text;
use crate::text_rows::{TextRow, pattern};
use crate::view_order::in_order_of_use;

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
        let (mut tables, mut views) = (session.catalog()?.tables()?, session.catalog()?.views()?);
        if self.0.schema.is_some() {
            tables.extend(session.catalog()?.attached_tables());
            views.extend(session.catalog()?.attached_views());
        }
        let tables = tables.iter().map(|table| &table.def().name);
        let mut names: Vec<&TableName> = tables.chain(views.iter().map(|view| &view.name)).collect();
        names.sort_by_key(|name| (name.schema.as_ref().map(|schema| schema.to_lowercase()), name.name.to_lowercase()));
        names_shown(session, self.0, names.into_iter())
    }
}

/// SHOW VIEWS: the views, each after those that it uses.
pub(crate) struct Views<'a>(pub(crate) &'a ShowTables);

impl Listing for Views<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["table_schema", "table_name"]
    }

    fn what(&self) -> String {
        "views".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let mut views = session.catalog()?.views()?;
        if self.0.schema.is_some() {
            views.extend(session.catalog()?.attached_views());
        }
        names_shown(session, self.0, in_order_of_use(views).iter().map(|view| &view.name))
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
        let sequences = session.catalog()?.sequences()?;
        names_shown(session, self.0, sequences.iter().map(|sequence| &sequence.name))
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
        let catalog = session.catalog()?;
        let pattern = pattern(self.0)?;
        let names = catalog.schemas()?.into_iter().filter(|name| pattern.as_ref().is_none_or(|p| p.matches(name)));
        Ok(names.map(|name| vec![Some(name)]).collect())
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
        if let Some(view) = catalog_view_of(name) {
            let text = format!("{INFORMATION_SCHEMA}.{} is a view of the catalog: it has no CREATE TABLE", view.name);
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

/// The names that a SHOW asks for.
fn names_shown<'n>(
    session: &Session,
    show: &ShowTables,
    names: impl Iterator<Item = &'n TableName>,
) -> Result<Vec<TextRow>, Error> {
    if let Some(schema) = &show.schema
        && !session.catalog()?.has_schema(&schema.text)?
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
