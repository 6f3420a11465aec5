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

use sqlparser::ast::{Expr, Query};

pub(crate) use self::calls::is_catalog_function;
use self::scope::Output;
pub(crate) use self::session_calls::is_session_function;
use self::set_returning::Expansion;
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

/// The state of a rewriting.
struct Translator<'a> {
    session: &'a SessionFacts<'a>,
    lookups: &'a Lookups,
    /// Names and columns of the queries of WITH, the innermost last.
    ctes: Vec<(String, Vec<Output>)>,
    /// The calls with several rows in the list of the SELECT that is being rewritten; `None` where there are none.
    expansion: Option<Expansion>,
    /// How many names were made up.
    made_up: u32,
    changes: Vec<SettingChange>,
    depends_on_session: bool,
}

impl<'a> Translator<'a> {
    fn new(session: &'a SessionFacts<'a>, lookups: &'a Lookups) -> Self {
        Self {
            session,
            lookups,
            ctes: Vec::new(),
            expansion: None,
            made_up: 0,
            changes: Vec::new(),
            depends_on_session: false,
        }
    }

    /// A name that no query has.
    fn made_up_name(&mut self) -> String {
        self.made_up = self.made_up.saturating_add(1);
        format!("made up {}", self.made_up)
    }
}

/// The error of what cannot be done.
fn not_supported(what: impl Into<String>) -> CatalogError {
    CatalogError::NotSupported(what.into())
}
