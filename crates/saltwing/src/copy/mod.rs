//! COPY: tables from and to files.
//!
//! A file is CSV, JSON lines, Arrow IPC or Parquet, and may be compressed. CSV is RFC 4180, with `""` for the empty text, and an empty field
//! or a word of choice for NULL. COPY FROM upserts in batches, each a commit of its own.

mod batch_rows;
mod batch_writer;
mod columns;
mod faults;
mod from;
mod loading;
mod stream;
mod text_rows;
mod to;
mod writer;

pub(crate) use from::copy_from;
pub(crate) use to::{copied_query, copy_to};

/// The lines skipped by a COPY FROM with `ON ERROR SKIP`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Rows committed.
    pub rows: u64,
    /// The number of skipped lines.
    pub skipped: u64,
    /// The first skipped lines.
    pub first: Vec<SkippedLine>,
}

/// A line that a COPY FROM skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// The number of the line, or of the row of a columnar file, from 1.
    pub line: u64,
    /// The error.
    pub reason: String,
}
