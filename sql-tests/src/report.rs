//! What running a file gave.

use std::fmt;
use std::path::PathBuf;

/// Records of a file, or of several, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Did what the file says.
    pub passed: u64,
    /// Did not.
    pub failed: u64,
    /// Not run: for another engine or store, after a halt, or not for the forced executor.
    pub skipped: u64,
}

impl Totals {
    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// A record that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// `file:line`.
    pub place: String,
    /// The statement.
    pub sql: String,
    /// What was expected, and what came; several lines.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n    {}\n{}", self.place, self.sql.replace('\n', "\n    "), self.message)
    }
}

/// What running a file gave.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// Its records, counted.
    pub totals: Totals,
    /// Those that failed, in file order.
    pub failures: Vec<Failure>,
    /// What the reader should know: records of kinds that are never run.
    pub notices: Vec<String>,
}
