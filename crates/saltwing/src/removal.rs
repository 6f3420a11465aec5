//! DROP and TRUNCATE: the objects of a list go in one change of the catalog, or none of them does.

use saltwing_bind::resolve;
use saltwing_catalog::{Dependents, DropList, GivenName, ListError};
use saltwing_sql::TableRef;
use saltwing_sql::statement::{DropObjects, DropSchema, DropSequence};
use saltwing_types::{ErrorCode, Span};

use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::run::writable;
use crate::sequences::default_that_uses;
use crate::session::Session;

pub(crate) fn run_drop_table(session: &Session, drop: &DropObjects) -> Result<Outcome, Error> {
    writable(session)?;
    let names = given(&drop.names);
    let left = session.own.catalog.drop_tables(&listed(drop, &names)).map_err(placed(&drop.names))?;
    Ok(spaces_come_later(&drop.names, &left))
}

pub(crate) fn run_truncate(session: &Session, tables: &[TableRef]) -> Result<Outcome, Error> {
    writable(session)?;
    session.begin().check()?;
    let catalog = session.catalog();
    for name in tables {
        // Tells what is wrong with the name better than the change does.
        resolve(&*catalog, name)?;
    }
    let left = session.own.catalog.truncate_tables(&given(tables)).map_err(placed(tables))?;
    Ok(spaces_come_later(tables, &left))
}

pub(crate) fn run_drop_view(session: &Session, drop: &DropObjects) -> Result<Outcome, Error> {
    writable(session)?;
    let names = given(&drop.names);
    session.shared().catalog.drop_views(&listed(drop, &names)).map_err(placed(&drop.names))?;
    Ok(ExecResult::default().into())
}

pub(crate) fn run_drop_sequence(session: &Session, drop: &DropSequence) -> Result<Outcome, Error> {
    writable(session)?;
    let catalog = &session.shared().catalog;
    for it in &drop.names {
        let (schema, name) = it.parts();
        if let Ok(def) = catalog.snapshot().sequence(schema, name)
            && let Some(column) = default_that_uses(session, &def)?
        {
            let text = format!("the DEFAULT of {column} takes values of sequence {}", def.name);
            return Err(Error::new(ErrorCode::InvalidDefinition, text).at(Some(it.span())));
        }
    }
    let names = given(&drop.names);
    let list = DropList { names: &names, if_exists: drop.if_exists, dependents: Dependents::Refuse };
    catalog.drop_sequences(&list).map_err(placed(&drop.names))?;
    Ok(ExecResult::default().into())
}

pub(crate) fn run_drop_schema(session: &Session, drop: &DropSchema) -> Result<Outcome, Error> {
    writable(session)?;
    let names: Vec<GivenName<'_>> = drop.names.iter().map(|name| (None, name.text.as_str())).collect();
    let list = DropList { names: &names, if_exists: drop.if_exists, dependents: Dependents::Refuse };
    let span = |place: usize| drop.names.get(place).map(|name| name.span);
    session.shared().catalog.drop_schemas(&list).map_err(|error| placed_at(error, span))?;
    Ok(ExecResult::default().into())
}

fn given(names: &[TableRef]) -> Vec<GivenName<'_>> {
    names.iter().map(TableRef::parts).collect()
}

fn listed<'n>(drop: &DropObjects, names: &'n [GivenName<'n>]) -> DropList<'n> {
    let dependents = if drop.cascade { Dependents::Drop } else { Dependents::Refuse };
    DropList { names, if_exists: drop.if_exists, dependents }
}

/// Adds the position of the name that an error is about.
fn placed(names: &[TableRef]) -> impl Fn(ListError) -> Error + '_ {
    |error| placed_at(error, |place| names.get(place).map(TableRef::span))
}

fn placed_at(listed: ListError, span: impl Fn(usize) -> Option<Span>) -> Error {
    Error::from(listed.error).at(listed.place.and_then(span))
}

/// The result of the statement, with a notice for each table whose space was not given back yet; `left` has their places.
fn spaces_come_later(names: &[TableRef], left: &[usize]) -> Outcome {
    let notice = |name: &TableRef| {
        format!(
            "the rows of {name} are gone; their space could not be given back yet, and comes back in the background"
        )
    };
    let notices = left.iter().filter_map(|place| names.get(*place)).map(notice).collect();
    ExecResult::noticed(notices).into()
}
