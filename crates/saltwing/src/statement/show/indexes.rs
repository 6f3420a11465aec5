//! SHOW INDEXES.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{IndexFacts, resolve};
use saltwing_sql::TableRef;
use saltwing_types::{IndexDef, TableDef};

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::statement::{Privilege, Target};
use crate::text_rows::TextRow;

/// SHOW INDEXES: of a table, or of all tables.
pub(crate) struct Indexes<'a>(pub(crate) Option<&'a TableRef>);

impl Listing for Indexes<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &[
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
        ]
    }

    fn what(&self) -> String {
        self.0.map_or_else(|| "indexes".into(), |table| format!("the indexes of {table}"))
    }

    fn target(&self) -> Option<Target<'_>> {
        self.0.map(|table| Target::relation(table, Privilege::Select))
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let catalog = session.catalog()?;
        let tables = match self.0 {
            Some(name) => vec![resolve(&*catalog, name)?],
            None => catalog.tables()?,
        };
        let row = |def: &TableDef, index: &IndexDef| -> TextRow {
            let facts = IndexFacts::of(def, index);
            vec![
                def.name.schema.clone(),
                Some(def.name.name.clone()),
                Some(facts.name),
                Some(facts.kind.into()),
                Some(facts.is_unique.into()),
                Some(facts.key),
                facts.include,
                facts.predicate,
                facts.salt_buckets.map(|buckets| buckets.to_string()),
                Some(facts.state),
            ]
        };
        let rows = |table: &Arc<Table>| {
            let def = table.def();
            def.indexes.iter().map(|index| row(def, index)).collect::<Vec<_>>()
        };
        Ok(tables.iter().flat_map(rows).collect())
    }
}
