//! Functions that give rows.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::{TableFunction, TableFunctionArgs, TableProvider};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::{SessionState, SessionStateDefaults};
use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{Expr, SqlType, eval, typing};

use crate::expression::literal::to_scalar;
use crate::{RelationalError, RelationalErrorKind};

/// The table functions of the engine, by name in lower case.
pub(crate) struct TableFunctions(HashMap<String, Arc<TableFunction>>);

impl Default for TableFunctions {
    fn default() -> Self {
        let functions = SessionStateDefaults::default_table_functions();
        Self(functions.into_iter().map(|function| (function.name().to_owned(), function)).collect())
    }
}

impl TableFunctions {
    /// Whether there is a function of this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The rows that a call gives. Of an argument without a value NULL is taken: then the columns alone matter.
    ///
    /// # Errors
    /// Arguments that the function does not take.
    pub(crate) fn table(
        &self,
        name: &str,
        args: Vec<PlanExpr>,
        session: &SessionState,
    ) -> Result<Arc<dyn TableProvider>, RelationalError> {
        let function = self.0.get(name).cloned();
        let function =
            function.ok_or_else(|| RelationalError::from(RelationalErrorKind::NoSuchFunction(name.to_owned())))?;
        let context = SimplifyContext::builder().with_config_options(session.config_options().clone()).build();
        let (simplifier, empty) = (ExprSimplifier::new(context), DFSchema::empty());
        let args = args
            .into_iter()
            .map(|arg| simplifier.coerce(arg, &empty).and_then(|arg| simplifier.simplify(arg)))
            .collect::<datafusion::common::Result<Vec<_>>>()?;
        Ok(function.create_table_provider_with_args(TableFunctionArgs::new(&args, session))?)
    }
}

/// A value that is known before the statement runs, as DataFusion reads it.
///
/// # Errors
/// What is wrong with the value.
pub(crate) fn constant_argument(expr: &Expr) -> Result<Option<PlanExpr>, RelationalError> {
    let scalar = match expr {
        Expr::Param(..) | Expr::Subquery(..) => ScalarValue::Null,
        known if known.is_constant() => {
            let ty = known.sql_type().unwrap_or(SqlType::Null);
            // DataFusion takes instants of nanoseconds alone.
            let ty = if ty.family() == TypeFamily::Instant { SqlType::Timestamp } else { ty };
            let known = typing::as_type(known.clone(), ty)?;
            to_scalar(&eval::eval(&known, &[])?, ty)?
        }
        _ => return Ok(None),
    };
    Ok(Some(PlanExpr::Literal(scalar, None)))
}
