//! Tests whose cases and outcomes are text files.
//!
//! ```text
//! # A comment, which stays as it is.
//! The case, of one line or several.
//! ----
//! Its outcome.
//! ```
//!
//! Blank lines stand between cases. A file whose outcomes are not those of today fails its test; with `UPDATE_GOLDEN=1` the test
//! rewrites the file instead. Review its difference as you review code.

#![allow(clippy::panic)]

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Holds each file of a folder, folders apart, against what `rewritten` makes of its path and text.
///
/// # Panics
/// If a file differs, with its first line that does; if one cannot be read or written.
pub fn assert_files(folder: &Path, rewritten: impl Fn(&Path, &str) -> String) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for path in done(folder, files(folder)) {
        let text = done(&path, fs::read_to_string(&path));
        let now = rewritten(&path, &text);
        if now == text {
            continue;
        }
        if update {
            done(&path, fs::write(&path, &now));
            continue;
        }
        let line = text.lines().zip(now.lines()).position(|(was, is)| was != is);
        let line = line.unwrap_or_else(|| text.lines().count().min(now.lines().count()));
        let shown: Vec<&str> = now.lines().skip(line.saturating_sub(4)).take(9).collect();
        wrong.push(format!("{}:{}, now:\n{}", path.display(), line + 1, shown.join("\n")));
    }
    assert!(wrong.is_empty(), "{}\nUPDATE_GOLDEN=1 writes the outcomes anew", wrong.join("\n\n"));
}

/// The result of work on a file or a folder, whose failure fails the test.
fn done<T>(path: &Path, result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// A file with the outcome of each case as `outcome` has it now. A block of comments alone has none, and
/// neither has a case whose outcome is empty.
pub fn with_outcomes(text: &str, mut outcome: impl FnMut(&str) -> String) -> String {
    with_outcomes_after(text, |case, _| outcome(case))
}

/// As [`with_outcomes`], of an `outcome` that is also told the one in the file, which is empty for a new case: an outcome that still holds
/// can stay.
pub fn with_outcomes_after(text: &str, mut outcome: impl FnMut(&str, &str) -> String) -> String {
    let mut out = String::new();
    for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let block: Vec<&str> = block.trim_matches('\n').lines().collect();
        let end = block.iter().position(|line| *line == "----").unwrap_or(block.len());
        let (lines, before) = block.split_at(end);
        let before = before.get(1..).unwrap_or_default().join("\n");
        let comments = lines.iter().take_while(|line| line.starts_with('#')).count();
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&lines.join("\n"));
        out.push('\n');
        let case = lines.get(comments..).unwrap_or_default();
        let outcome = if case.is_empty() { String::new() } else { outcome(&case.join("\n"), &before) };
        if !outcome.is_empty() {
            out.push_str("----\n");
            out.push_str(outcome.trim_end());
            out.push('\n');
        }
    }
    out
}
