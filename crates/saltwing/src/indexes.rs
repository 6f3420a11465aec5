//! CREATE, ALTER, DROP and SHOW of indexes.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{IndexFacts, create_index, resolve};
use saltwing_sql::statement::{AlterIndex, CreateIndex, DropIndex, IndexChange};
use saltwing_sql::{Name, TableRef};
use saltwing_types::{ErrorCode, IndexDef, IndexState, Rebuild, Span, TableDef, TableId, suggest};

use crate::Error;
use crate::index_builder::{BackgroundBuild, IndexBuilder};
use crate::outcome::{ExecResult, Outcome};
use crate::run::writable;
use crate::session::Session;
use crate::temporary::change_definition;
use crate::text_rows::TextRow;

pub(crate) fn run_create_index(session: &Session, create: &CreateIndex) -> Result<Outcome, Error> {
    writable(session)?;
    let (name, index) = (&create.table, &create.name);
    let table = resolve(&*session.catalog(), name)?;
    if create.asynchronous {
        check_stored(session, &table, create.span)?;
    }
    if create.if_not_exists && table.def().index_place(&index.text).is_some() {
        return Ok(ExecResult::noticed(vec![format!("index {} exists already", index.text)]).into());
    }
    let added = |table: &Arc<Table>| {
        let mut def = TableDef::clone(table.def());
        def.indexes.push(create_index(create, table)?);
        Ok(Some(def))
    };
    change_definition(session, name, added).map_err(|error| error.at(Some(index.span)))?;
    let new = |index: &IndexDef| (index.state == IndexState::Building).then_some(index.id);
    match create.asynchronous {
        true => build_later(session, name, index, new),
        false => build_index(session, name, index, new).map_err(|error| error.at(Some(create.span))),
    }
}

pub(crate) fn run_alter_index(session: &Session, alter: &AlterIndex) -> Result<Outcome, Error> {
    writable(session)?;
    let table = resolve(&*session.catalog(), &alter.table)?;
    if let IndexChange::Rebuild { asynchronous: true } = alter.change {
        check_stored(session, &table, alter.span)?;
    }
    if alter.if_exists && table.def().index_place(&alter.name.text).is_none() {
        return Ok(ExecResult::noticed(vec![format!("there is no index {}", alter.name.text)]).into());
    }
    let (table, name) = (&alter.table, &alter.name);
    let complete = |index: IndexDef| match index.state {
        IndexState::Building => {
            let error = Error::new(ErrorCode::NotSupported, format!("index {} is being built", name.text));
            let help = "SHOW INDEXES tells when it is ready; DROP INDEX ends the build";
            Err(error.at(Some(alter.span)).with_help(Some(help)))
        }
        IndexState::Ready | IndexState::Disabled => Ok(index),
    };
    let in_state = |state| {
        change_index(session, table, name, |_, index| Ok(Some(IndexDef { state, ..complete(index)? })))?;
        Ok(ExecResult::default().into())
    };
    match alter.change {
        IndexChange::Disable => in_state(IndexState::Disabled),
        IndexChange::Usable => in_state(IndexState::Ready),
        IndexChange::Rebuild { asynchronous } => {
            let rebuilt = |def: &TableDef, index| {
                let rebuild = Some(Rebuild { id: TableId(0), ttl_s: def.ttl_s });
                Ok(Some(IndexDef { rebuild, ..complete(index)? }))
            };
            change_index(session, table, name, rebuilt)?;
            let new = |index: &IndexDef| index.rebuild.map(|rebuild| rebuild.id);
            match asynchronous {
                true => build_later(session, table, name, new),
                false => build_index(session, table, name, new).map_err(|error| error.at(Some(alter.span))),
            }
        }
    }
}

/// The indexes of a table, or of all tables.
pub(crate) fn show_indexes(session: &Session, table: Option<&TableRef>) -> Result<Vec<TextRow>, Error> {
    let catalog = session.catalog();
    let tables = match table {
        Some(name) => vec![resolve(&*catalog, name)?],
        None => catalog.tables(),
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

pub(crate) fn run_drop_index(session: &Session, drop: &DropIndex) -> Result<Outcome, Error> {
    writable(session)?;
    let table = resolve(&*session.catalog(), &drop.table)?;
    if drop.if_exists && table.def().index_place(&drop.name.text).is_none() {
        return Ok(ExecResult::noticed(vec![format!("there is no index {}", drop.name.text)]).into());
    }
    change_index(session, &drop.table, &drop.name, |_, _| Ok(None))?;
    Ok(ExecResult::default().into())
}

/// # Errors
/// The table is temporary: what runs in the background belongs to no connection.
fn check_stored(session: &Session, table: &Table, span: Span) -> Result<(), Error> {
    if !session.catalog().is_temporary(table.def()) {
        return Ok(());
    }
    let error = Error::new(ErrorCode::NotSupported, "ASYNC for an index of a temporary table is not supported");
    Err(error.at(Some(span)).with_help(Some("leave ASYNC out: the statement then waits for the index")))
}

/// Where indexes of a table are built.
fn index_builder<'a>(session: &'a Session, def: &TableDef) -> IndexBuilder<'a> {
    let shared = session.shared();
    IndexBuilder {
        tables: &*shared.tables,
        definitions: match session.catalog().is_temporary(def) {
            true => &session.own.catalog,
            false => &*shared.catalog,
        },
        durability: session.read_settings(|settings| settings.durability),
        commit_rows: shared.options.index_commit_rows,
    }
}

/// Builds entries of an index that are not complete, and puts them in force. If that fails, they are gone.
fn build_index(
    session: &Session,
    table: &TableRef,
    name: &Name,
    entries: impl Fn(&IndexDef) -> Option<TableId>,
) -> Result<Outcome, Error> {
    let (def, entries) = entries_to_build(session, table, name, entries)?;
    let builder = index_builder(session, &def);
    let built = builder.complete(entries, &session.begin(), |progress| session.progress.index(progress));
    let is_in_force = built.inspect_err(|_| builder.discard(entries))?;
    // TRUNCATE leaves an index that is complete, too.
    let is_complete = |index: &IndexDef| index.state != IndexState::Building && index.rebuild.is_none();
    let is_complete = || {
        let table = resolve(&*session.catalog(), table)?;
        let place = table.def().index_place(&name.text);
        Ok::<_, Error>(place.and_then(|place| table.def().indexes.get(place)).is_some_and(is_complete))
    };
    match is_in_force || is_complete()? {
        true => Ok(ExecResult::default().into()),
        false => Err(changed_meanwhile(&name.text)),
    }
}

/// Builds such entries in the background.
fn build_later(
    session: &Session,
    table: &TableRef,
    name: &Name,
    entries: impl Fn(&IndexDef) -> Option<TableId>,
) -> Result<Outcome, Error> {
    let shared = session.shared();
    let (_, entries) = entries_to_build(session, table, name, entries)?;
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

/// The definition of a table whose index is to be built, and the number of the entries.
fn entries_to_build(
    session: &Session,
    table: &TableRef,
    name: &Name,
    entries: impl Fn(&IndexDef) -> Option<TableId>,
) -> Result<(Arc<TableDef>, TableId), Error> {
    let def = resolve(&*session.catalog(), table)?.def().clone();
    let index = def.index_place(&name.text).and_then(|place| def.indexes.get(place));
    let entries = index.and_then(entries).ok_or_else(|| changed_meanwhile(&name.text))?;
    Ok((def, entries))
}

/// Builds the new entries of all indexes of a table, without putting them in force; their numbers. If that fails, they are gone.
pub(crate) fn build_new_entries(session: &Session, def: &TableDef) -> Result<Vec<TableId>, Error> {
    let rebuilds = def.indexes.iter().filter_map(|index| index.rebuild);
    let entries: Vec<TableId> = rebuilds.map(|rebuild| rebuild.id).collect();
    let (builder, context) = (index_builder(session, def), session.begin());
    // A merge that began before drops rows by the TTL of then, and they are seen until it ends.
    let merged = session.shared().storage.as_ref().map_or(Ok(()), |storage| storage.merge());
    let built = merged.map_err(Error::from).and_then(|()| {
        entries.iter().try_for_each(|entries| {
            builder.build(*entries, &context, |progress| session.progress.index(progress)).map(drop)
        })
    });
    built.inspect_err(|_| discard_new_entries(session, def, &entries))?;
    Ok(entries)
}

/// Discards such entries, unless they are in force.
pub(crate) fn discard_new_entries(session: &Session, def: &TableDef, entries: &[TableId]) {
    let builder = index_builder(session, def);
    entries.iter().for_each(|entries| builder.discard(*entries));
}

/// Changes the definition of an index, or drops it.
fn change_index(
    session: &Session,
    table: &TableRef,
    name: &Name,
    change: impl FnOnce(&TableDef, IndexDef) -> Result<Option<IndexDef>, Error>,
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
