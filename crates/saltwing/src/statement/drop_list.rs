//! The names of a DROP or TRUNCATE: all objects of a list are removed in one change of the catalog, or none.

use saltwing_catalog::{Applied, CatalogChange, CatalogStore, ChangeError, Dependents, DropList, GivenName};
use saltwing_sql::TableRef;
use saltwing_sql::statement::DropObjects;
use saltwing_types::Span;

use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::session::Session;

pub(super) fn given(names: &[TableRef]) -> Vec<GivenName<'_>> {
    names.iter().map(TableRef::parts).collect()
}

pub(super) fn drop_list<'n>(drop: &DropObjects, names: &'n [GivenName<'n>]) -> DropList<'n> {
    let dependents = if drop.cascade { Dependents::Drop } else { Dependents::Refuse };
    DropList { names, if_exists: drop.if_exists, dependents }
}

/// Applies the change of a list of names. An error has the position of the name that it is about.
pub(super) fn apply_to(session: &Session, names: &[TableRef], change: CatalogChange<'_>) -> Result<Applied, Error> {
    session.own.catalog.apply(change).map_err(|error| placed_at(error, |place| names.get(place).map(TableRef::span)))
}

/// Adds the position of the name that an error is about.
pub(super) fn placed_at(listed: ChangeError, span: impl Fn(usize) -> Option<Span>) -> Error {
    Error::from(listed.error).at(listed.place.and_then(span))
}

/// The result of the statement, with a notice for each table whose space is not freed yet.
pub(super) fn spaces_come_later(names: &[TableRef], applied: &Applied) -> Outcome {
    let notice = |name: &TableRef| {
        format!(
            "the rows of {name} are gone; their space could not be given back yet, and comes back in the background"
        )
    };
    let notices = applied.left.iter().filter_map(|place| names.get(*place)).map(notice).collect();
    ExecResult::noticed(notices).into()
}
