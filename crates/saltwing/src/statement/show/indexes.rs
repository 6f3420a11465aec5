//! SHOW INDEXES.

use saltwing_bind::{INDEXES, Objects, resolve};
use saltwing_sql::TableRef;

use super::{Listing, system_rows};
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
        let objects = match self.0 {
            Some(name) => Objects::Table(resolve(&*session.catalog()?, name)?),
            None => Objects::Own,
        };
        system_rows(session, INDEXES, self.labels(), objects)
    }
}
