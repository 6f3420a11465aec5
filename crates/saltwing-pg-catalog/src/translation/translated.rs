//! The rewriting of a whole query.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, visit_expressions_mut};

use super::outputs::wire_type;
use super::shapes::replace_known;
use super::translator::Translator;
use crate::lookups::Lookups;
use crate::pg_type::PgType;
use crate::{CatalogError, SessionFacts, SettingChange};

/// What a query became.
pub(crate) struct Translated {
    pub(crate) sql: String,
    /// The labels that the client expects, and types where they differ from those of the values.
    pub(crate) columns: Vec<(String, Option<u32>)>,
    pub(crate) changes: Vec<SettingChange>,
    /// Whether texts of the session are in it.
    pub(crate) depends_on_session: bool,
    /// The types to which it casts parameters, by number from 1.
    pub(crate) parameter_types: Vec<(usize, PgType)>,
}

/// Rewrites a query.
///
/// # Errors
/// What the query names and the catalog does not have, and what it does and cannot be done here.
pub(crate) fn translate(
    mut query: Query,
    session: &SessionFacts<'_>,
    lookups: &Lookups,
) -> Result<Translated, CatalogError> {
    replace_known(&mut query);
    let mut translator = Translator::new(session, lookups);
    let outputs = translator.top(&mut query)?;
    let columns = outputs.into_iter().map(|output| (output.name, wire_type(&output.ty))).collect();
    let Translator { changes, depends_on_session, parameter_types, .. } = translator;
    Ok(Translated { sql: query.to_string(), columns, changes, depends_on_session, parameter_types })
}

/// Rewrites the calls of session functions in a query over other tables.
///
/// # Errors
/// As [`translate`].
pub(crate) fn with_session_values(
    query: &mut Query,
    session: &SessionFacts<'_>,
    lookups: &Lookups,
) -> Result<(Vec<SettingChange>, bool), CatalogError> {
    let mut translator = Translator::new(session, lookups);
    let outcome = visit_expressions_mut(query, |expr: &mut Expr| {
        let Expr::Function(function) = &*expr else { return ControlFlow::Continue(()) };
        match translator.session_call(function) {
            Ok(Some((value, _))) => {
                *expr = value;
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    match outcome {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok((translator.changes, translator.depends_on_session)),
    }
}
