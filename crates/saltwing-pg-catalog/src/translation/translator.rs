//! The state of a rewriting. The other modules add the methods for the parts of a query.

use super::expansion::Expansion;
use super::scope::Output;
use crate::lookups::Lookups;
use crate::pg_type::PgType;
use crate::{CatalogError, SessionFacts, SettingChange};

/// The state of a rewriting.
pub(super) struct Translator<'a> {
    pub(super) session: &'a SessionFacts<'a>,
    pub(super) lookups: &'a Lookups,
    /// Names and columns of the queries of WITH, the innermost last.
    pub(super) ctes: Vec<(String, Vec<Output>)>,
    /// The calls with several rows in the list of the SELECT that is being rewritten; `None` where there are none.
    pub(super) expansion: Option<Expansion>,
    /// How many names were made up.
    pub(super) made_up: u32,
    pub(super) changes: Vec<SettingChange>,
    pub(super) depends_on_session: bool,
    /// The types to which the query casts its parameters, by number from 1.
    pub(super) parameter_types: Vec<(usize, PgType)>,
}

impl<'a> Translator<'a> {
    pub(super) fn new(session: &'a SessionFacts<'a>, lookups: &'a Lookups) -> Self {
        Self {
            session,
            lookups,
            ctes: Vec::new(),
            expansion: None,
            made_up: 0,
            changes: Vec::new(),
            depends_on_session: false,
            parameter_types: Vec::new(),
        }
    }

    /// A name that no query has.
    pub(super) fn made_up_name(&mut self) -> String {
        self.made_up = self.made_up.saturating_add(1);
        format!("made up {}", self.made_up)
    }
}

/// The error of what cannot be done.
pub(super) fn not_supported(what: impl Into<String>) -> CatalogError {
    CatalogError::NotSupported(what.into())
}
