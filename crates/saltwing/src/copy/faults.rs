//! The lines that a COPY FROM cannot load.

use saltwing_sql::statement::{CopyFrom, OnError};
use saltwing_types::ErrorCode;

use super::SkippedLine;
use crate::Error;
use crate::error_subject::Subject;

/// Most skipped lines that are reported one by one.
const SKIPPED_TOLD_MAX: usize = 20;

/// The error of a line.
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) column: Option<String>,
    pub(super) reason: String,
    pub(super) code: ErrorCode,
    /// Advice that loses no rows, if there is any.
    pub(super) advice: Option<String>,
}

impl Fault {
    pub(super) fn new(line: u64, reason: String, code: ErrorCode) -> Self {
        Self { line, column: None, reason, code, advice: None }
    }
}

/// The lines that cannot be loaded.
pub(super) struct Faults<'a> {
    pub(super) copy: &'a CopyFrom,
    /// The file that is read.
    pub(super) file: String,
    /// The word for the file's rows: line, or row for a file without lines.
    pub(super) unit: &'static str,
    /// The name of the table.
    pub(super) table: String,
    pub(super) skipped: Vec<SkippedLine>,
    pub(super) skipped_count: u64,
}

impl Faults<'_> {
    /// Skips a line, and counts it.
    ///
    /// # Errors
    /// The error of the line, unless the statement has `ON ERROR SKIP`.
    pub(super) fn take(&mut self, fault: Fault) -> Result<(), Error> {
        if self.copy.options.on_error != Some(OnError::Skip) {
            return Err(self.error(&fault));
        }
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_TOLD_MAX {
            let Fault { line, column, reason, .. } = fault;
            let column = column.map(|c| format!("column {c}: ")).unwrap_or_default();
            self.skipped.push(SkippedLine { line, reason: format!("{column}{reason}") });
        }
        Ok(())
    }

    pub(super) fn error(&self, fault: &Fault) -> Error {
        let column = fault.column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default();
        let text = format!("{}, {} {}{column}: {}", self.file, self.unit, fault.line, fault.reason);
        let general = || match fault.code {
            // An error of the whole file cannot be skipped.
            ErrorCode::Io => None,
            ErrorCode::DuplicateKey => Some(
                "ON_CONFLICT REPLACE lets later rows replace earlier ones, ON_CONFLICT IGNORE keeps these".to_owned(),
            ),
            _ => Some(format!("ON ERROR SKIP leaves such {}s out and reports them", self.unit)),
        };
        let (table, column) = (Some(self.table.clone()), fault.column.clone());
        let subject = Subject { table, column, ..Subject::default() };
        Error::new(fault.code, text).about(subject).with_help(fault.advice.clone().or_else(general))
    }

    pub(super) fn notices(&self) -> Vec<String> {
        if self.skipped_count == 0 {
            return Vec::new();
        }
        let unit = self.unit;
        let count = match self.skipped_count {
            1 => format!("1 {unit} was left out"),
            count => format!("{count} {unit}s were left out"),
        };
        let told = self.skipped.iter().map(|s| format!("{unit} {}: {}", s.line, s.reason));
        let more = self.skipped_count as usize - self.skipped.len();
        let more = (more > 0).then(|| format!("… and {more} more"));
        [count].into_iter().chain(told).chain(more).collect()
    }
}
