//! Queries of PostgreSQL over its catalog, in the words of the library.
//!
//! A query is read as a tree, and the tree is rewritten from the inside: the types that expressions have in PostgreSQL follow from the
//! columns of the relations, and what PostgreSQL does by types, the rewritten query says in words.
//!
//! | PostgreSQL | here |
//! |---|---|
//! | `pg_catalog.pg_class` | the table `pg_class` of the catalog's database |
//! | `x::regclass`, `'t'::regclass` | a number; its name where it becomes a text |
//! | `unnest(a)`, `generate_subscripts(a, 1)` in a list | a join with `numbers`, and `a[n]` |
//! | `(f(x)).n`, a column that is a row | a tuple, whose fields are columns of their own |
//! | `ORDER BY x` | `ORDER BY x NULLS LAST` |
//! | `current_user`, `current_setting('x')` | the session's value |
//! | all other names | in quotes, so that no word of the library is meant |

mod aggregates;
mod arrays;
mod build;
mod calls;
mod casts;
mod expansion;
mod expressions;
mod from;
mod labels;
mod outputs;
mod privileges;
mod queries;
mod scope;
mod selects;
mod session_calls;
mod session_relations;
mod set_returning;
mod shapes;
mod translator;

use sqlparser::ast::{Expr, Query};

pub(crate) use self::calls::is_catalog_function;
pub(crate) use self::session_calls::is_session_function;
use self::translator::Translator;
use crate::lookups::Lookups;
use crate::{CatalogError, SessionFacts, SettingChange};

/// What a query became.
pub(crate) struct Translated {
    pub(crate) sql: String,
    /// The labels that the client expects, and types where they differ from those of the values.
    pub(crate) columns: Vec<(String, Option<u32>)>,
    pub(crate) changes: Vec<SettingChange>,
    /// Whether texts of the session are in it.
    pub(crate) depends_on_session: bool,
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
    shapes::replace_known(&mut query);
    let mut translator = Translator::new(session, lookups);
    let outputs = translator.top(&mut query)?;
    let columns = outputs.into_iter().map(|output| (output.name, outputs::wire_type(&output.ty))).collect();
    let Translator { changes, depends_on_session, .. } = translator;
    Ok(Translated { sql: query.to_string(), columns, changes, depends_on_session })
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
    use std::ops::ControlFlow;

    use sqlparser::ast::visit_expressions_mut;

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
