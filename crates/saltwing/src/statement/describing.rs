//! The work of PREPARE: the description of a statement of any kind, with the objects that it names.

use std::sync::Arc;

use saltwing_bind::{GivenTypes, returning};
use saltwing_sql::Statement;

use super::describer::Describer;
use super::description::Description;
use super::dml::planned_returning;
use super::kind::HasKind;
use super::target::{Object, Privilege, Target};
use crate::Error;
use crate::attached::check_own;
use crate::query_run::Purpose;
use crate::session::Session;

/// Describes a statement of so many parameters.
///
/// # Errors
/// Its errors regardless of values: names, types, definitions, the guard's refusal.
pub(crate) fn describe_statement(
    session: &Session,
    statement: &Statement,
    (parameters, types): (usize, GivenTypes<'_>),
) -> Result<Description, Error> {
    let mut describer = Describer::new(session, Purpose::Judge, (parameters, types));
    let mut description = described(&mut describer, statement)?;
    description.tag = statement.ask(|kind| kind.tag());
    description.parameters = describer.types.into_types(parameters);
    for_each_target(statement, &mut |target| description.touch(target));
    describer.reads.into_iter().for_each(|read| description.read(read));
    describer.sequences.iter().for_each(|name| description.touch(Target::relation(name, Privilege::Upsert)));
    Ok(description)
}

/// A statement, described without the objects that it touches.
///
/// # Errors
/// As [`describe_statement`].
pub(super) fn described(describer: &mut Describer<'_>, statement: &Statement) -> Result<Description, Error> {
    let catalog = describer.catalog()?;
    let described = statement.ask(|kind| kind.describe(describer))?;
    if described.columns.is_some() || described.plan.is_some() {
        return Ok(described);
    }
    if let Some(bound) = returning(statement, &*catalog, describer.open())? {
        describer.types.note_query(&bound);
    }
    let columns = match planned_returning(statement, &*catalog, describer.open())? {
        Some(returning) => Some(returning.columns().clone()),
        None => statement.ask(|kind| kind.columns()).map(Arc::from),
    };
    Ok(Description { columns, ..described })
}

/// The objects that a statement names; of EXPLAIN, those of its statement.
fn for_each_target(statement: &Statement, visit: &mut dyn FnMut(Target<'_>)) {
    match statement {
        Statement::Explain(explain) => for_each_target(&explain.statement, visit),
        other => other.ask(|kind| kind.targets().into_iter().for_each(visit)),
    }
}

/// # Errors
/// [`ErrorCode::ReadOnly`](saltwing_types::ErrorCode::ReadOnly) for a statement that would write to an attached database, or make something
/// in it.
pub(crate) fn check_written(session: &Session, statement: &Statement) -> Result<(), Error> {
    if session.own.catalog.is_empty() {
        return Ok(());
    }
    let mut checked = Ok(());
    for_each_target(statement, &mut |Target { object, privilege }| {
        let schema_and_name = match object {
            _ if privilege == Privilege::Select || checked.is_err() => return,
            Object::Relation(name) => (name.schema.as_ref(), &name.name),
            Object::Schema(name) => (Some(name), name),
            Object::Database => return,
        };
        checked = check_own(session, schema_and_name.0, schema_and_name.1);
    });
    checked
}
