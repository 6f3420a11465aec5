//! PREPARE, EXECUTE and DEALLOCATE.

use std::sync::Arc;

use saltwing_bind::{ParamValues, Params as Given, constant};
use saltwing_sql::Name;
use saltwing_sql::statement::{Execute, Prepare};
use saltwing_types::ErrorCode;

use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::params::Params;
use crate::query_run::Purpose;
use crate::session::Session;
use crate::statement_cache::CachedStatement;

impl StatementKind for Prepare {
    fn tag(&self) -> &'static str {
        "PREPARE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn effects(&self) -> Effects {
        Effects::session(format!("keeps statement {}", self.name))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        let types: Vec<_> = self.types.iter().copied().map(Some).collect();
        let prepared = session.prepare_parsed(&session.parsed(&self.text)?, &types, Purpose::Judge)?;
        session.named.add(&self.name, prepared.for_session(session))?;
        Ok(ExecResult::default().into())
    }
}

impl StatementKind for Execute {
    fn tag(&self) -> &'static str {
        "EXECUTE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn gives_rows(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::session(format!("runs statement {}", self.name))
    }

    /// The session runs the prepared statement instead: [`Session::called`].
    fn run(&self, _: &Run<'_>) -> Result<Outcome, Error> {
        debug_assert!(false, "an EXECUTE runs as the statement that it calls");
        Err(Error::new(ErrorCode::Bug, "an EXECUTE was not resolved"))
    }
}

/// `DEALLOCATE name`; `None` is `DEALLOCATE ALL`.
pub(super) struct Deallocate<'a>(pub(super) Option<&'a Name>);

impl StatementKind for Deallocate<'_> {
    fn tag(&self) -> &'static str {
        "DEALLOCATE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn effects(&self) -> Effects {
        Effects::session(match self.0 {
            Some(name) => format!("forgets statement {name}"),
            None => "forgets all prepared statements".into(),
        })
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        match self.0 {
            Some(name) => run.session.named.remove(name)?,
            None => run.session.named.clear(),
        }
        Ok(ExecResult::default().into())
    }
}

impl Session {
    /// The statement that an EXECUTE calls, and the values of its parameters.
    ///
    /// # Errors
    /// [`ErrorCode::NoSuchStatement`]; [`ErrorCode::BadParameter`] for a value that is no constant.
    pub(crate) fn called(&self, execute: &Execute) -> Result<(Arc<CachedStatement>, Params), Error> {
        let named = self.named.get(&execute.name)?;
        let value = |(place, value)| {
            constant(value, Given::Given(ParamValues::untyped(&[]))).ok_or_else(|| {
                let text = format!("value {} of EXECUTE {} is no constant", place + 1, execute.name);
                Error::new(ErrorCode::BadParameter, text).at(Some(execute.name.span))
            })
        };
        let values: Result<Vec<_>, _> = execute.values.iter().enumerate().map(value).collect();
        Ok((named, Params::Positional(values?)))
    }
}
