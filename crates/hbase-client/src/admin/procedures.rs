//! Procedures: what a master does step by step, and finishes even if another master takes its place.

use std::time::Duration;

use super::master::Admin;
use crate::context::CallContext;
use crate::error::Error;
use crate::proto::{GetProcedureResultRequest, GetProcedureResultResponse, ProcedureState};

/// The first and the longest time between two looks at a procedure.
const LOOK_MS: (u64, u64) = (20, 500);

/// A procedure of the master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Its number.
    pub id: u64,
}

impl Procedure {
    pub(super) fn new(id: Option<u64>) -> Result<Self, Error> {
        let missing = Error::Procedure { procedure_id: 0, reason: "the master gave no number".to_owned() };
        id.map(|id| Self { id }).ok_or(missing)
    }
}

impl Admin {
    /// Waits until a procedure has ended.
    ///
    /// # Errors
    /// [`Error::Procedure`] if it failed, or is not known; those of calls; [`Error::Deadline`].
    pub async fn wait(&self, context: &CallContext, procedure: Procedure) -> Result<(), Error> {
        let Procedure { id } = procedure;
        let failed = |reason: String| Error::Procedure { procedure_id: id, reason };
        let mut pause = LOOK_MS.0;
        loop {
            let request = GetProcedureResultRequest { proc_id: id };
            let result: GetProcedureResultResponse = self.call(context, "getProcedureResult", &request).await?;
            if let Some(exception) = result.exception {
                let exception = exception.generic_exception.unwrap_or_default();
                let (class, message) =
                    (exception.class_name.unwrap_or_default(), exception.message.unwrap_or_default());
                return Err(failed(format!("{class}: {message}")));
            }
            match ProcedureState::try_from(result.state) {
                Ok(ProcedureState::Finished) => return Ok(()),
                Ok(ProcedureState::Running) => {}
                Ok(ProcedureState::NotFound) | Err(_) => return Err(failed("the master does not know it".to_owned())),
            }
            let until = tokio::time::Instant::now() + Duration::from_millis(pause);
            if until >= context.deadline() {
                let last = Box::new(failed("it is still running".to_owned()));
                return Err(Error::Deadline { tries: 1, last });
            }
            tokio::time::sleep_until(until).await;
            pause = (pause * 2).min(LOOK_MS.1);
        }
    }
}
