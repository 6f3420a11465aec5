//! Reads JSON lines: an object a line, whose keys are columns.
//!
//! Arrow's reader gives the values as texts, numbers with all their digits, which are then values by the rules of CSV.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field as ArrowField, Schema};
use arrow::error::ArrowError;
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use saltwing_types::ErrorCode;
use saltwing_types::text::push_quoted;
use serde::de::IgnoredAny;

use super::reader::RECORD_BYTES_MAX;

/// Reads one object after the other.
pub(super) struct JsonLines<R> {
    input: R,
    line: Vec<u8>,
    /// The number of the line, from 1.
    pub(super) number: u64,
    pub(super) bytes: u64,
    /// The keys so far, as the file spells them.
    keys: Vec<String>,
    /// The columns whose values are lists.
    lists: Vec<String>,
    decoder: Option<Decoder>,
}

/// The error of a line.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("a line is longer than {RECORD_BYTES_MAX} bytes")]
    TooLong,
    #[error("the line is no JSON object: {0}")]
    NoObject(String),
}

impl LineError {
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::Io(_) => ErrorCode::Io,
            Self::TooLong | Self::NoObject(_) => ErrorCode::BadText,
        }
    }
}

impl<R: BufRead> JsonLines<R> {
    /// Objects, of whose keys `lists` have lists as values.
    pub(super) fn new(input: R, lists: Vec<String>) -> Self {
        Self { input, line: Vec::new(), number: 0, bytes: 0, keys: Vec::new(), lists, decoder: None }
    }

    /// Reads the next line that is not empty; `false` at the end of the file.
    pub(super) fn read(&mut self) -> Result<bool, LineError> {
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
            (self.number, self.bytes) = (self.number + 1, self.bytes + read as u64);
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The object of the line: its keys with their values as texts, `None` for null and for keys of other lines.
    pub(super) fn object(&mut self) -> Result<Vec<(&str, Option<String>)>, LineError> {
        let batch = match self.decoded() {
            Ok(batch) => batch,
            Err(error) if !self.learn_keys()? => return Err(LineError::NoObject(error)),
            Err(_) => self.decoded().map_err(LineError::NoObject)?,
        };
        let value = |column: &Arc<dyn Array>| match column.as_list_opt::<i32>() {
            Some(lists) => lists.is_valid(0).then(|| list_text(&lists.value(0))),
            None => text_at(column, 0).map(str::to_owned),
        };
        Ok(self.keys.iter().map(String::as_str).zip(batch.columns().iter().map(value)).collect())
    }

    /// Takes note of keys that no line before has; whether there are some.
    fn learn_keys(&mut self) -> Result<bool, LineError> {
        let object: BTreeMap<String, IgnoredAny> =
            serde_json::from_slice(&self.line).map_err(|error| LineError::NoObject(error.to_string()))?;
        let known = self.keys.len();
        self.keys.extend(object.into_keys().filter(|key| !self.keys.contains(key)).collect::<Vec<_>>());
        Ok(self.keys.len() > known)
    }

    fn decoded(&mut self) -> Result<RecordBatch, String> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            empty => empty.insert(decoder_of(&self.keys, &self.lists).map_err(|error| error.to_string())?),
        };
        let batch = decoder.decode(&self.line).and_then(|_| decoder.flush());
        let batch = batch.map_err(|error| error.to_string());
        let batch =
            batch.and_then(|batch| batch.filter(|batch| batch.num_rows() == 1).ok_or("it holds several".into()));
        if batch.is_err() {
            // It may hold a part of the line.
            self.decoder = None;
        }
        batch
    }
}

fn text_at(texts: &dyn Array, index: usize) -> Option<&str> {
    texts.as_string_opt::<i32>().filter(|texts| texts.is_valid(index)).map(|texts| texts.value(index))
}

/// A list of texts as an array in JSON.
fn list_text(elements: &dyn Array) -> String {
    let mut text = String::from("[");
    for index in 0..elements.len() {
        text.push_str(if index == 0 { "" } else { "," });
        match text_at(elements, index) {
            Some(element) => push_quoted(&mut text, element),
            None => text.push_str("null"),
        }
    }
    text + "]"
}

/// A decoder of objects with these keys and no others.
fn decoder_of(keys: &[String], lists: &[String]) -> Result<Decoder, ArrowError> {
    let field = |key: &String| match lists.iter().any(|list| list.eq_ignore_ascii_case(key)) {
        true => ArrowField::new_list(key, ArrowField::new_list_field(DataType::Utf8, true), true),
        false => ArrowField::new(key, DataType::Utf8, true),
    };
    let builder = ReaderBuilder::new(Arc::new(Schema::new(keys.iter().map(field).collect::<Vec<_>>())));
    builder.with_coerce_primitive(true).with_strict_mode(true).build_decoder()
}
