//! Files of rows: which a statement may open, and how their formats are read. A file in FROM is a table of these rows.
//!
//! A file is CSV, JSON lines, Arrow IPC or Parquet, perhaps compressed. CSV is RFC 4180 with `""` for the empty text and nothing for
//! NULL, or another word for NULL.

pub(crate) mod advice;
pub(crate) mod batch_reader;
pub(crate) mod candidates;
pub(crate) mod compression;
pub(crate) mod file;
pub(crate) mod file_catalog;
pub(crate) mod file_tables;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod json_lines;
pub(crate) mod paths;
pub(crate) mod reader;
pub(crate) mod rules;
pub(crate) mod sniff;
