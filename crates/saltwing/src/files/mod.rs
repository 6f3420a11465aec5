//! Files of rows: the rules for opening them, and the readers of their formats. A file in FROM is a table of its rows.
//!
//! A file is CSV, JSON lines, Arrow IPC or Parquet, and may be compressed. CSV is RFC 4180, with `""` for the empty text, and an empty field
//! or a word of choice for NULL.

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
