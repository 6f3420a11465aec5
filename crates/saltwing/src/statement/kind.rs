//! The trait of a kind of statements.

use saltwing_bind::{ParamValues, ResultColumn};
use saltwing_sql::Statement;
use saltwing_types::ErrorCode;

use super::describer::Describer;
use super::effects::Effects;
use super::explaining::Explaining;
use crate::Error;
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::statement_plans::PlanCache;
use crate::target::Target;

/// Everything that the library knows about a kind of statement.
pub(crate) trait StatementKind {
    /// What the statement does, in the words of PostgreSQL's command tags: `INSERT`, `CREATE TABLE`.
    fn tag(&self) -> &'static str;

    /// The objects that the statement names, each with the privilege that it needs. The objects that its queries read are in their bound trees.
    fn targets(&self) -> Vec<Target<'_>>;

    /// Whether the statement may run inside a transaction.
    fn in_transaction(&self) -> InTransaction {
        InTransaction::Allowed
    }

    /// The columns of the result, if all statements of the kind have the same columns; `None` if it has no rows, or the rows of a query.
    fn columns(&self) -> Option<Vec<ResultColumn>> {
        None
    }

    /// Whether the statement returns rows. A caller that needs rows checks this first, so that a write without rows is refused before it runs.
    fn gives_rows(&self) -> bool {
        self.columns().is_some()
    }

    /// Whether the statement is cached by its text, with its plan: programs send such statements again and again.
    fn is_kept(&self) -> bool {
        false
    }

    /// Describes the statement without values for its parameters.
    ///
    /// # Errors
    /// Errors that do not depend on values: names, types, definitions, a refusal by the guard.
    fn describe(&self, _: &mut Describer<'_>) -> Result<Description, Error> {
        Ok(Description::default())
    }

    /// The effects of the statement besides reading rows by keys.
    fn effects(&self) -> Effects;

    /// The reads by keys, with the effects; `None` if the statement reads no rows, and EXPLAIN shows only its effects.
    ///
    /// # Errors
    /// As [`StatementKind::describe`], without refusals.
    fn explain(&self, _: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        Ok(None)
    }

    /// Whether EXPLAIN ANALYZE runs the statement.
    fn is_analyzed(&self) -> bool {
        false
    }

    /// Runs the statement.
    ///
    /// # Errors
    /// All errors of the statement.
    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error>;
}

/// Whether a statement may run inside a transaction.
pub(crate) enum InTransaction {
    Allowed,
    /// The statement writes rows: a READ ONLY transaction refuses it.
    Writes,
    /// The statement cannot be rolled back, or would not see the transaction's rows.
    Refused {
        what: &'static str,
        help: &'static str,
    },
}

impl InTransaction {
    /// A statement that changes definitions.
    pub(super) fn definition(what: &'static str) -> Self {
        let help = "COMMIT or ROLLBACK first: definitions take effect at once, and cannot be rolled back";
        Self::Refused { what, help }
    }

    /// A statement that works on stored rows.
    pub(super) fn storage(what: &'static str) -> Self {
        let help = "COMMIT or ROLLBACK first: it works on stored rows, and a transaction's own are not stored yet";
        Self::Refused { what, help }
    }

    /// A statement that attaches or detaches a database.
    pub(super) fn attached(what: &'static str) -> Self {
        let help = "COMMIT or ROLLBACK first: a transaction has the databases that were attached at its beginning";
        Self::Refused { what, help }
    }

    /// # Errors
    /// [`ErrorCode::ActiveTransaction`], [`ErrorCode::ReadOnly`].
    pub(crate) fn check(&self, is_read_only: bool) -> Result<(), Error> {
        match self {
            Self::Refused { what, help } => {
                let text = format!("{what} cannot run inside a transaction");
                Err(Error::new(ErrorCode::ActiveTransaction, text).with_help(Some(*help)))
            }
            Self::Writes if is_read_only => Err(Error::new(ErrorCode::ReadOnly, "the transaction is READ ONLY")),
            Self::Allowed | Self::Writes => Ok(()),
        }
    }
}

/// A run of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) session: &'a Session,
    pub(crate) statement: &'a Statement,
    pub(crate) params: ParamValues<'a>,
    pub(crate) plans: &'a PlanCache,
}

/// A value with a kind: a [`Statement`]. The trait breaks an import cycle: it is implemented in the module that knows all kinds, and used
/// by EXPLAIN, which is one of the kinds and needs the kind of the statement that it explains.
pub(crate) trait HasKind {
    /// Calls `ask` with the statement's kind.
    fn ask<T>(&self, ask: impl FnOnce(&dyn StatementKind) -> T) -> T;
}
