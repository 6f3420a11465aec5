//! CREATE, ALTER, DROP and SHOW of indexes.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::resolve;
use saltwing_sql::{Name, TableRef};
use saltwing_types::{ErrorCode, IndexDef, IndexState, Span, TableDef, TableId, suggest};

use crate::Error;
use crate::index_builder::{BackgroundBuild, IndexBuilder};
use crate::outcome::{ExecResult, Outcome};
use crate::session::Session;
use crate::temporary::change_definition;

/// # Errors
/// The table is temporary: a background build belongs to no connection, so it cannot see the table.
pub(crate) fn check_stored(session: &Session, table: &Table, span: Span) -> Result<(), Error> {
    if !session.catalog()?.is_temporary(table.def()) {
        return Ok(());
    }
    let error = Error::new(ErrorCode::NotSupported, "ASYNC for an index of a temporary table is not supported");
    Err(error.at(Some(span)).with_help(Some("leave ASYNC out: the statement then waits for the index")))
}

/// An index builder for the session's database.
fn index_builder(session: &Session) -> IndexBuilder<'_> {
    let shared = session.shared();
    IndexBuilder {
        tables: &*shared.tables,
        catalog: &session.own.catalog,
        durability: session.read_settings(|settings| settings.durability),
        commit_rows: shared.options.index_commit_rows,
    }
}

/// Builds the incomplete entries of an index, and puts them in force. If that fails, the entries are discarded.
pub(crate) fn build_index(
    session: &Session,
    table: &TableRef,
    name: &Name,
    entries: impl Fn(&IndexDef) -> Option<TableId>,
) -> Result<Outcome, Error> {
    let entries = entries_to_build(session, table, name, entries)
        .inspect_err(|error| take_back(session, (table, name), error))?;
    let builder = index_builder(session);
    let built = builder.complete(entries, &session.begin(), |progress| session.progress.index(progress));
    let is_in_force = built.inspect_err(|_| builder.discard(entries))?;
    // After a concurrent TRUNCATE, the index is complete, too.
    let is_complete = |index: &IndexDef| index.state != IndexState::Building && index.rebuild.is_none();
    let is_complete = || {
        let table = resolve(&*session.catalog()?, table)?;
        let place = table.def().index_place(&name.text);
        Ok::<_, Error>(place.and_then(|place| table.def().indexes.get(place)).is_some_and(is_complete))
    };
    match is_in_force || is_complete()? {
        true => Ok(ExecResult::default().into()),
        false => Err(changed_meanwhile(&name.text)),
    }
}

/// Builds the incomplete entries of an index in the background.
pub(crate) fn build_later(
    session: &Session,
    table: &TableRef,
    name: &Name,
    entries: impl Fn(&IndexDef) -> Option<TableId>,
) -> Result<Outcome, Error> {
    let shared = session.shared();
    let entries = entries_to_build(session, table, name, entries)
        .inspect_err(|error| take_back(session, (table, name), error))?;
    shared.index_builds.start(BackgroundBuild {
        tables: shared.tables.clone(),
        catalog: shared.catalog.clone(),
        durability: session.read_settings(|settings| settings.durability),
        commit_rows: shared.options.index_commit_rows,
        entries: vec![entries],
        failures: shared.storage.clone(),
    })?;
    let text = format!("index {} is built in the background: SHOW INDEXES tells when it is ready", name.text);
    Ok(ExecResult::noticed(vec![text]).into())
}

/// The number of the incomplete entries of an index.
fn entries_to_build(
    session: &Session,
    table: &TableRef,
    name: &Name,
    entries: impl Fn(&IndexDef) -> Option<TableId>,
) -> Result<TableId, Error> {
    let def = resolve(&*session.catalog()?, table)?.def().clone();
    let index = def.index_place(&name.text).and_then(|place| def.indexes.get(place));
    index.and_then(entries).ok_or_else(|| changed_meanwhile(&name.text))
}

/// Undoes the beginning of an index build after the catalog could not be read again.
fn take_back(session: &Session, (table, name): (&TableRef, &Name), error: &Error) {
    // After a conflict, the index belongs to the other statement.
    if error.code() == ErrorCode::Conflict {
        return;
    }
    let before = |index: IndexDef| match index.state {
        IndexState::Building => None,
        IndexState::Ready | IndexState::Disabled => Some(IndexDef { rebuild: None, ..index }),
    };
    if let Err(error) = change_index(session, table, name, |_, index| Ok(before(index))) {
        tracing::warn!(index = %name.text, %error, "what a statement has begun with an index is still there");
    }
}

/// Removes the rebuilds of all indexes of a table from its definition.
pub(crate) fn discard_rebuilds(session: &Session, table: &TableRef) {
    let without = |table: &Arc<Table>| {
        let mut def = TableDef::clone(table.def());
        def.indexes.iter_mut().for_each(|index| index.rebuild = None);
        Ok(Some(def).filter(|def| *def != **table.def()))
    };
    if let Err(error) = change_definition(session, table, without) {
        tracing::warn!(%table, %error, "the rebuilds of the indexes of a table are still there");
    }
}

/// Builds new entries of all indexes of a table without putting them in force; returns their numbers. If that fails, the entries are discarded.
pub(crate) fn build_new_entries(session: &Session, def: &TableDef) -> Result<Vec<TableId>, Error> {
    let rebuilds = def.indexes.iter().filter_map(|index| index.rebuild);
    let entries: Vec<TableId> = rebuilds.map(|rebuild| rebuild.id).collect();
    let (builder, context) = (index_builder(session), session.begin());
    // A merge that began earlier drops rows by the old TTL, and these rows are visible until it ends.
    let merged = session.shared().storage.as_ref().map_or(Ok(()), |storage| storage.merge());
    let built = merged.map_err(Error::from).and_then(|()| {
        entries.iter().try_for_each(|entries| {
            builder.build(*entries, &context, |progress| session.progress.index(progress)).map(drop)
        })
    });
    built.inspect_err(|_| discard_new_entries(session, &entries))?;
    Ok(entries)
}

/// Discards new entries, unless they are in force.
pub(crate) fn discard_new_entries(session: &Session, entries: &[TableId]) {
    let builder = index_builder(session);
    entries.iter().for_each(|entries| builder.discard(*entries));
}

/// Changes the definition of an index, or drops it.
pub(crate) fn change_index(
    session: &Session,
    table: &TableRef,
    name: &Name,
    change: impl Fn(&TableDef, IndexDef) -> Result<Option<IndexDef>, Error>,
) -> Result<(), Error> {
    change_definition(session, table, |table| {
        let mut def = TableDef::clone(table.def());
        let place = def.index_place(&name.text).ok_or_else(|| no_such_index(&def, name))?;
        let index = def.indexes.remove(place);
        if let Some(index) = change(table.def(), index)? {
            def.indexes.insert(place, index);
        }
        Ok(Some(def))
    })
}

fn changed_meanwhile(index: &str) -> Error {
    let text = format!("another statement has dropped index {index} meanwhile, or rebuilds it");
    Error::new(ErrorCode::Conflict, text)
}

fn no_such_index(def: &TableDef, name: &Name) -> Error {
    let near = suggest(&name.text, def.indexes.iter().map(|index| index.name.as_str()));
    let help = near.map(|near| format!("there is {near}"));
    let text = format!("no index {} on {}", name.text, def.name);
    Error::new(ErrorCode::NoSuchTable, text).at(Some(name.span)).with_help(help.as_deref())
}

#[cfg(test)]
mod tests;
