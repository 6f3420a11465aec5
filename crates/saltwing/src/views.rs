//! CREATE, ALTER and SHOW of views.

use std::sync::Arc;

use saltwing_bind::{altered_view, create_view};
use saltwing_sql::statement::{AlterView, CreateView, ShowTables};
use saltwing_types::ViewDef;

use crate::Error;
use crate::describe::columns_of;
use crate::dml::adds_dynamic_columns;
use crate::outcome::{ExecResult, Outcome};
use crate::run::{Purpose, writable};
use crate::session::Session;
use crate::show::names_shown;
use crate::text_rows::TextRow;

pub(crate) fn run_create_view(session: &Session, create: &CreateView) -> Result<Outcome, Error> {
    writable(session)?;
    let (schema, name) = create.name.parts();
    let catalog = &session.shared().catalog;
    if create.if_not_exists && catalog.snapshot().view(schema, name).is_some() {
        return Ok(ExecResult::noticed(vec![format!("view {} exists already", create.name)]).into());
    }
    if !create.own.is_empty()
        && let Some(table) = create_view(create, &*session.catalog())?.table
    {
        // So the first row written through the view may be one of a transaction.
        adds_dynamic_columns(session, &table)?;
    }
    let created = catalog.create_view(create.replaces, |_| {
        // That of this session, which tells whether the view would read a temporary table.
        let view = create_view(create, &*session.catalog())?;
        let columns = columns_of(session, &view.query, 0, Purpose::Explain)?;
        Ok::<_, Error>(view.into_def(create, &columns)?)
    });
    created.map_err(|error| error.at(Some(create.name.span())))?;
    Ok(ExecResult::default().into())
}

pub(crate) fn run_alter_view(session: &Session, alter: &AlterView) -> Result<Outcome, Error> {
    writable(session)?;
    let catalog = &session.shared().catalog;
    let altered = altered_view(alter, &*catalog.snapshot())?;
    if let Some(table) = &altered.table {
        adds_dynamic_columns(session, table)?;
    }
    let changed = catalog.alter_view(|catalog| Ok::<_, Error>(altered_view(alter, catalog)?.def));
    changed.map_err(|error| error.at(Some(alter.view.span())))?;
    Ok(ExecResult::noticed(altered.notices).into())
}

/// The views, each behind those that it uses.
pub(crate) fn show_views(session: &Session, show: &ShowTables) -> Result<Vec<TextRow>, Error> {
    let mut views = session.catalog().views();
    if show.schema.is_some() {
        views.extend(session.catalog().attached_views());
    }
    names_shown(session, show, in_order_of_use(views).iter().map(|view| &view.name))
}

/// Views, each behind those that it uses.
pub(crate) fn in_order_of_use(mut waiting: Vec<Arc<ViewDef>>) -> Vec<Arc<ViewDef>> {
    let mut ready = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let names: Vec<_> = waiting.iter().map(|view| view.name.clone()).collect();
        let is_ready = |view: &Arc<ViewDef>| !view.uses.iter().any(|used| names.contains(&used.name));
        let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_ready);
        debug_assert!(!now.is_empty(), "views use each other in a circle");
        if now.is_empty() {
            break;
        }
        ready.extend(now);
        waiting = later;
    }
    ready
}
