//! DESCRIBE of a file.

use saltwing_bind::ResultColumn;
use saltwing_sql::statement::FileRef;

use super::describe_object::COLUMNS;
use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::files::file_tables::describe_file;
use crate::outcome::Outcome;
use crate::text_rows::{text_columns, text_rows};

impl StatementKind for FileRef {
    fn tag(&self) -> &'static str {
        "DESCRIBE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(text_columns(&COLUMNS))
    }

    fn effects(&self) -> Effects {
        Effects::shows(format!("the columns of '{}'", self.name.split('\0').next().unwrap_or_default()))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        text_rows(text_columns(&COLUMNS), &describe_file(run.session, self)?).map(Outcome::Rows)
    }
}
