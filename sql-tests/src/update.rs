//! Writes the rows that queries give into their file.
//!
//! For a new record, or a change that is meant: the diff is then read like code.
//! Only results of one row a line are written, and never over a hash.

use std::path::Path;

use sqllogictest::QueryExpect;

use crate::runner::{Ended, Run};
use crate::script::{self, Action};
use crate::{Error, Options};

/// Runs a file and replaces the rows of the queries that fail; returns how many.
///
/// # Errors
/// As [`crate::run_file`]; a file that cannot be written.
pub fn update_file(path: &Path, options: &Options) -> Result<usize, Error> {
    let wrong = |source| Error::File { path: path.display().to_string(), source };
    let text = std::fs::read_to_string(path).map_err(wrong)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut run, mut changed, mut edits) = (Run::start(options)?, 0, Vec::new());
    for step in script::read(path)? {
        let ended = run.step(&step);
        let (Ended::Failed(_), Action::Query { connection, sql, expected }, true) = (ended, &step.action, step.is_own)
        else {
            continue;
        };
        let QueryExpect::Results { types, sort_mode, results, .. } = expected else { continue };
        if results.iter().any(|line| line.contains(" values hashing to ")) {
            continue;
        }
        let connection = run.connection(connection);
        if let Ok(answer) = run.answer(&connection, sql, types, *sort_mode) {
            edits.push((step.line, answer.lines().collect::<Vec<_>>()));
        }
    }
    // From the end, so that the lines before keep their numbers.
    for (line, rows) in edits.into_iter().rev() {
        let end = (line..lines.len()).find(|&i| lines.get(i).is_none_or(|l| l.is_empty())).unwrap_or(lines.len());
        let start = (line..end).find(|&i| lines.get(i).is_some_and(|l| l == "----")).unwrap_or(end);
        lines.splice(start..end, std::iter::once("----".to_owned()).chain(rows));
        changed += 1;
    }
    if changed > 0 {
        std::fs::write(path, lines.join("\n") + "\n").map_err(wrong)?;
    }
    Ok(changed)
}
