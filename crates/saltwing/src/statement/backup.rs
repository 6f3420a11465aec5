//! BACKUP TO.

use std::path::Path;

use saltwing_sql::statement::Backup;

use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::backup_writer::write_backup;
use crate::files::file::Purpose;
use crate::files::rules::file_rules;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for Backup {
    fn tag(&self) -> &'static str {
        "BACKUP"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::database(Privilege::Select)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::storage("BACKUP")
    }

    fn effects(&self) -> Effects {
        Effects::storage(format!("writes a backup into '{}'", self.path), "all are copied")
    }

    /// Other connections may write to the database meanwhile; this one waits.
    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let (session, path) = (run.session, self.path.as_str());
        let written = || {
            // The statement writes files, which is not allowed for a read-only database.
            session.writable()?;
            file_rules(session, Purpose::Write)?.check_named(path, "written")?;
            write_backup(session.shared(), Path::new(path), &session.begin())
        };
        let report = written().map_err(|error| error.at(Some(self.span)))?;
        Ok(ExecResult::noticed(vec![format!("{} bytes are in {path}", report.bytes)]).into())
    }
}
