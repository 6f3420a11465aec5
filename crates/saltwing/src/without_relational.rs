//! In a build without the relational engine: what it would do is refused.

use saltwing_table::ScanContext;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::explain::Explained;
use crate::outcome::RowsOutcome;
use crate::run::QueryRun;
use crate::session::Session;

impl Session {
    pub(crate) fn start_relational(&self, run: &QueryRun<'_>, _: ScanContext) -> Result<RowsOutcome, Error> {
        Err(refused(run))
    }

    pub(crate) fn check_relational(&self, run: &QueryRun<'_>) -> Result<(), Error> {
        Err(refused(run))
    }

    pub(crate) fn explain_relational(&self, run: &QueryRun<'_>) -> Result<Explained, Error> {
        Err(refused(run))
    }

    pub(crate) fn analyze_relational(&self, run: &QueryRun<'_>, _: ScanContext) -> Result<Explained, Error> {
        Err(refused(run))
    }
}

fn refused(run: &QueryRun<'_>) -> Error {
    Error::new(ErrorCode::NotSupported, "a query that is more than one table's rows is not supported")
        .at(Some(run.statement.span))
        .with_help(Some("build with the feature `datafusion`"))
}
