//! COPY in PostgreSQL's formats: the statement, and the bytes of its rows.
//!
//! ```text
//! COPY t FROM STDIN:  CopyData ──RowReader──> values ──> the library
//! COPY t TO STDOUT:   rows ──RowWriter──> CopyData
//! ```
//!
//! | module | has |
//! |---|---|
//! | `statement` | a COPY of a stream, as it was written |
//! | `options`, `option_rules` | its options, in the new and the old form, and what they mean together |
//! | `format` | the format that the options choose |
//! | `lines` | the lines of the formats `text` and `csv` |
//! | `text_format`, `csv_format`, `binary_format` | the fields of a row |
//! | `fields` | the fields of one row, in a buffer that is used again |
//! | `row_reader` | rows of a client's bytes |
//! | `row_writer` | rows on their way to the client |
//! | `byte_pipe` | the bytes of a format of the library, between the session and a thread of the library |
//! | `error` | what can be wrong with a client's rows |
//!
//! # Laws
//! 1. For every format and every choice of its characters, the fields of a written row are read back as they were, and NULL apart from every text.
//!    There is one exception, as in PostgreSQL: in `text` a value is NULL that has the characters of another NULL than `\N`.
//! 2. The rows do not depend on how their bytes are cut into messages.
//! 3. No bytes make the readers panic. A row takes at most [`error::ROW_BYTES_MAX`] bytes of memory before it is refused.

mod binary_format;
mod byte_pipe;
mod csv_format;
mod error;
mod fields;
mod format;
mod lines;
mod option_rules;
mod options;
mod row_reader;
#[cfg(test)]
mod row_tests;
mod row_writer;
mod statement;
mod text_format;

pub(crate) use byte_pipe::{PipeReader, PipeWriter, byte_pipe};
pub(crate) use row_reader::{NextRow, ReadColumn, RowReader};
pub(crate) use row_writer::{RowWriter, WrittenColumn};
pub(crate) use statement::{
    CopyColumn, CopyFrom, CopyKind, CopySource, CopyStatement, CopyTable, CopyTo, has_binary_rows,
};
