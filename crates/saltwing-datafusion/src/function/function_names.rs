//! The functions that a statement may call, beside those of our own language.

use std::sync::Arc;

use datafusion::execution::SessionState;
use saltwing_types::{Function, Span};

use crate::expression::internal_name::is_internal;
use crate::{RelationalError, RelationalErrorKind};

/// Functions that DataFusion's planner knows by name alone.
const PLANNER_FUNCTIONS: [&str; 3] = ["make_map", "unnest", "unnest_outer"];

/// Functions of other databases whose names are near those of ours that do something else, and what to write.
const FOREIGN: [(&str, &str); 1] =
    [("mode", "the most frequent value: SELECT v FROM t GROUP BY v ORDER BY count(*) DESC LIMIT 1")];

/// Functions by name.
pub(crate) struct FunctionNames<'a>(pub(crate) &'a Arc<SessionState>);

impl FunctionNames<'_> {
    /// # Errors
    /// No function of this name, in lower case, can be called so: window functions are called with OVER alone.
    pub(crate) fn check(&self, name: &str, with_over: bool, span: Option<Span>) -> Result<(), RelationalError> {
        let session = self.0.as_ref();
        let is_known = PLANNER_FUNCTIONS.contains(&name)
            || session.scalar_functions().contains_key(name)
            || session.higher_order_functions().contains_key(name)
            || session.aggregate_functions().contains_key(name)
            || with_over && session.window_functions().contains_key(name);
        if is_known {
            return Ok(());
        }
        let error = RelationalError::from(RelationalErrorKind::NoSuchFunction(name.to_owned())).at(span);
        let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == name).map(|(_, help)| (*help).to_owned());
        Err(match foreign.or_else(|| self.near(name).map(|near| format!("there is {near}"))) {
            Some(help) => error.help(help),
            None => error,
        })
    }

    /// Whether a name, in lower case, is that of an aggregate.
    pub(crate) fn is_aggregate(&self, name: &str) -> bool {
        self.0.aggregate_functions().contains_key(name)
    }

    /// The function that a name is a slip of.
    fn near(&self, name: &str) -> Option<String> {
        let scalar = self.0.scalar_functions().keys();
        let aggregate = self.0.aggregate_functions().keys();
        let all = scalar.chain(aggregate).chain(self.0.window_functions().keys());
        let own = Function::all().map(|function| function.name);
        let mut names: Vec<&str> = all.map(String::as_str).filter(|name| !is_internal(name)).chain(own).collect();
        // The maps have another order each time, and of names that are equally near the first is suggested.
        names.sort_unstable();
        saltwing_types::suggest(name, names).map(str::to_owned)
    }
}
