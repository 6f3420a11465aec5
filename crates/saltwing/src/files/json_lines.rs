//! Reads JSON lines: one object on each line, whose keys are columns.
//!
//! The values are returned as texts, numbers with all their digits, and are then converted like values of CSV.

use std::io::{self, BufRead};

use saltwing_types::{ErrorCode, SqlType, json};

use super::reader::{MARK, RECORD_BYTES_MAX};

/// Reads objects in order.
pub(crate) struct JsonLines<R> {
    input: R,
    line: Vec<u8>,
    /// The number of the line, from 1.
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    /// The columns whose values may be lists or objects: arrays and JSON.
    nested: Vec<(String, SqlType)>,
}

/// The error of a line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("a line is longer than {RECORD_BYTES_MAX} bytes")]
    TooLong,
    #[error("the line is no JSON object: {0}")]
    NoObject(String),
    /// The value of this key is a list or an object.
    #[error("the value of {0} is a list or an object")]
    Nested(String),
}

impl LineError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Io(_) => ErrorCode::Io,
            Self::TooLong | Self::NoObject(_) | Self::Nested(_) => ErrorCode::BadText,
        }
    }
}

impl<R: BufRead> JsonLines<R> {
    /// A reader of objects in which the keys in `nested` may have lists or objects as values.
    pub(crate) fn new(input: R, nested: Vec<(String, SqlType)>) -> Self {
        Self { input, line: Vec::new(), number: 0, bytes: 0, nested }
    }

    /// Reads the next line that is not empty; `false` at the end of the file.
    pub(crate) fn read(&mut self) -> Result<bool, LineError> {
        loop {
            self.line.clear();
            let limit = RECORD_BYTES_MAX as u64 + 1;
            let read = io::Read::take(&mut self.input, limit).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(false);
            }
            if read as u64 == limit {
                return Err(LineError::TooLong);
            }
            if self.number == 0 && self.line.starts_with(MARK) {
                self.line.drain(..MARK.len());
            }
            (self.number, self.bytes) = (self.number + 1, self.bytes + read as u64);
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The object of the line: its keys with their values as texts, `None` for null.
    pub(crate) fn object(&self) -> Result<Vec<(String, Option<String>)>, LineError> {
        let texts = self.members()?.into_iter().map(|(key, value)| {
            let of_key = self.nested.iter().find(|(column, _)| column.eq_ignore_ascii_case(&key));
            let text = match (of_key, value.starts_with('['), value.starts_with('{')) {
                (_, false, false) if value == "null" => None,
                (Some((_, SqlType::Json)), ..) | (Some(_), true, _) => Some(value.to_owned()),
                (_, false, false) => json::plain_text(value).map_err(|error| no_object(&error))?,
                _ => return Err(LineError::Nested(key)),
            };
            Ok((key, text))
        });
        texts.collect()
    }

    /// The members of the line's object, with the texts of their values.
    pub(crate) fn members(&self) -> Result<Vec<(String, &str)>, LineError> {
        let line = std::str::from_utf8(&self.line).map_err(|error| no_object(&error))?;
        let members = json::members(line).map_err(|error| no_object(&error))?;
        members.ok_or_else(|| no_object(&"it begins with no brace"))
    }
}

fn no_object(reason: &dyn std::fmt::Display) -> LineError {
    LineError::NoObject(reason.to_string())
}
