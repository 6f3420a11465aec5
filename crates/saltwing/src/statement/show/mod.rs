//! SHOW: lists of objects of the catalog, the session and the storage. Lists of the catalog show columns of system tables.

mod functions;
mod indexes;
mod names;
mod settings;
mod storage;
mod system_rows;
mod transactions;
mod users;

use saltwing_bind::ResultColumn;

pub(super) use self::functions::Functions;
pub(super) use self::indexes::Indexes;
pub(super) use self::names::{Attached, CreateSequence, CreateTable, Schemas, Sequences, Tables, Views};
pub(super) use self::settings::Settings;
pub(super) use self::storage::Storage;
use self::system_rows::system_rows;
pub(super) use self::transactions::Transactions;
pub(super) use self::users::{Grants, Users};

use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::text_rows::{TextRow, text_columns, text_rows};

/// A SHOW whose rows are texts.
pub(super) trait Listing {
    /// The labels of the columns.
    fn labels(&self) -> &'static [&'static str];

    /// The subject of the list, for EXPLAIN.
    fn what(&self) -> String;

    /// The object that the statement names, if it names one.
    fn target(&self) -> Option<Target<'_>> {
        None
    }

    /// # Errors
    /// An object that does not exist; a pattern that is not valid.
    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error>;
}

impl<L: Listing> StatementKind for L {
    fn tag(&self) -> &'static str {
        "SHOW"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        self.target().into_iter().collect()
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(text_columns(self.labels()))
    }

    fn effects(&self) -> Effects {
        Effects::shows(self.what())
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        text_rows(text_columns(self.labels()), &self.rows(run.session)?).map(Outcome::Rows)
    }
}
