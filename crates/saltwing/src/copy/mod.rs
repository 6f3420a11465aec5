//! COPY: tables from and to files.
//!
//! A file is CSV, JSON lines, Arrow IPC or Parquet, perhaps compressed. CSV is RFC 4180 with `""` for the empty text and nothing for
//! NULL, or another word for NULL. COPY FROM upserts in batches, each a commit of its own.

mod advice;
mod batch_reader;
mod batch_rows;
mod batch_writer;
mod candidates;
mod columns;
mod compression;
mod faults;
mod file;
mod file_catalog;
mod file_tables;
mod format;
mod from;
mod header;
mod json_lines;
mod loading;
mod paths;
mod reader;
mod sniff;
mod stream;
mod text_rows;
mod to;
mod writer;

pub(crate) use file_tables::{describe_file, with_files};
pub(crate) use from::copy_from;
pub(crate) use stream::{copy_from_reader, copy_to_writer};
pub(crate) use to::{copied_query, copy_to};

use file::FileRules;
pub(crate) use file::Purpose;

use crate::session::Session;

/// The lines skipped by a COPY FROM with `ON ERROR SKIP`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Rows committed.
    pub rows: u64,
    /// How many lines were left out.
    pub skipped: u64,
    /// The first of them.
    pub first: Vec<SkippedLine>,
}

/// A line that a COPY FROM left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Line in the file, or row of a file of columns, from 1.
    pub line: u64,
    /// The error.
    pub reason: String,
}

/// The rules for the files that statements may use.
pub(crate) fn file_rules(session: &Session, purpose: Purpose) -> FileRules<'_> {
    let shared = session.shared();
    FileRules { access: &shared.options.file_access, own_directory: shared.directory.as_deref(), purpose }
}
