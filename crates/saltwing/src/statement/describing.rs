//! PREPARE: describes a statement of any kind, with the objects that it names.

use std::sync::Arc;

use saltwing_bind::{GivenTypes, QueryRead};
use saltwing_sql::{Statement, TableRef};

use super::describer::Describer;
use super::kind::HasKind;
use super::returned::described_returning;
use crate::Error;
use crate::attached::check_own;
use crate::description::{Description, Touch};
use crate::query_run::Purpose;
use crate::session::Session;
use crate::target::{Object, Privilege, Target};

/// Describes a statement with this number of parameters.
///
/// # Errors
/// Errors that do not depend on values: names, types, definitions, a refusal by the guard if the statement is judged.
pub(crate) fn describe_statement(
    session: &Session,
    statement: &Statement,
    (parameters, types): (usize, GivenTypes<'_>),
    purpose: Purpose,
) -> Result<Description, Error> {
    let mut describer = Describer::new(session, purpose, (parameters, types));
    let mut description = described(&mut describer, statement)?;
    description.tag = statement.ask(|kind| kind.tag());
    let catalog = describer.catalog()?;
    description.parameters = describer.types.into_types(parameters);
    let mut touched = Ok(());
    for_each_target(statement, &mut |target| {
        if touched.is_ok() {
            touched = description.touch(target, &*catalog);
        }
    });
    touched?;
    let Describer { reads, sequences, .. } = describer;
    reads.into_iter().for_each(|read| description.read(read));
    for name in &sequences {
        description.touch(Target::relation(name, Privilege::Upsert), &*catalog)?;
    }
    Ok(description)
}

/// The objects that the queries of a statement read, and the sequences from which they take values.
pub(crate) struct QueryTouches {
    /// The tables and views that the queries read.
    pub(crate) reads: Vec<QueryRead>,
    /// The sequences from which the statement takes values.
    pub(crate) sequences: Vec<TableRef>,
    /// The objects that the statement names, but that can be determined only with the catalog.
    pub(crate) named: Vec<Touch>,
    /// An error in the names or types of the statement; then the lists may be incomplete.
    pub(crate) error: Option<Error>,
}

/// The objects that the queries of a statement touch. The queries are bound, but neither planned nor judged.
pub(crate) fn query_touches(
    session: &Session,
    statement: &Statement,
    parameters: (usize, GivenTypes<'_>),
) -> QueryTouches {
    let mut describer = Describer::of_names(session, parameters);
    let (named, error) = match described(&mut describer, statement) {
        Ok(described) => (described.touches, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    QueryTouches { reads: describer.reads, sequences: describer.sequences, named, error }
}

/// The description of a statement, without the objects that it touches.
///
/// # Errors
/// As [`describe_statement`].
pub(super) fn described(describer: &mut Describer<'_>, statement: &Statement) -> Result<Description, Error> {
    let described = statement.ask(|kind| kind.describe(describer))?;
    if described.columns.is_some() || described.plan.is_some() {
        return Ok(described);
    }
    let columns = match described_returning(describer, statement)? {
        Some(columns) => Some(columns),
        None => statement.ask(|kind| kind.columns()).map(Arc::from),
    };
    Ok(Description { columns, ..described })
}

/// Visits the objects that a statement names; for EXPLAIN, those of the explained statement.
pub(crate) fn for_each_target(statement: &Statement, visit: &mut dyn FnMut(Target<'_>)) {
    match statement {
        Statement::Explain(explain) => for_each_target(&explain.statement, visit),
        other => other.ask(|kind| kind.targets().into_iter().for_each(visit)),
    }
}

/// # Errors
/// [`ErrorCode::ReadOnly`](saltwing_types::ErrorCode::ReadOnly) for a statement that would write to an attached database, or create an
/// object in it.
pub(crate) fn check_written(session: &Session, statement: &Statement) -> Result<(), Error> {
    if session.own.catalog.is_empty() {
        return Ok(());
    }
    let mut checked = Ok(());
    for_each_target(statement, &mut |Target { object, privilege }| {
        let schema_and_name = match object {
            _ if privilege == Privilege::Select || checked.is_err() => return,
            Object::Relation(name) | Object::Stored(name) | Object::View(name) | Object::Temporary(name) => {
                (name.schema.as_ref(), &name.name)
            }
            Object::Schema(name) => (Some(name), name),
            Object::Database | Object::User(_) => return,
        };
        checked = check_own(session, schema_and_name.0, schema_and_name.1);
    });
    checked
}
