//! `.advise`: the keys and indexes that statements use, and the indexes that they lack.

use std::io::Write;
use std::path::Path;

use saltwing::split_statements;

use crate::failure::Failure;
use crate::runner::Runner;

impl Runner<'_> {
    /// Prints the advice for a statement, or for each statement of a file.
    ///
    /// # Errors
    /// A file that cannot be read; the first statement that cannot be planned.
    pub(crate) fn advise(&mut self, given: &str) -> Result<(), Failure> {
        if !Path::new(given).is_file() {
            return self.sql(&format!("ADVISE {given}"));
        }
        self.uses_files(".advise")?;
        let text = std::fs::read_to_string(given).map_err(|error| Failure::Usage(format!("{given}: {error}")))?;
        for statement in split_statements(&text) {
            writeln!(self.out, "{}", statement.text.trim())?;
            self.sql(&format!("ADVISE {}", statement.text))?;
        }
        Ok(())
    }
}
