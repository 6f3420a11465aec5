//! What the options of a COPY mean together, by PostgreSQL's rules.

use pgwire::error::ErrorInfo;
use saltwing::OnConflict;

use super::format::{CopyFormat, CsvFormat, Forced, Header, TextFormat};
use crate::messages::error;

/// Characters that have a meaning in the format `text`, and cannot be its delimiter.
const NO_DELIMITERS: &str = "\\.abcdefghijklmnopqrstuvwxyz0123456789";

/// The direction of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    From,
    To,
}

/// The options as they were written.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) format: Option<String>,
    pub(super) delimiter: Option<String>,
    pub(super) null: Option<String>,
    pub(super) header: Option<Header>,
    pub(super) quote: Option<String>,
    pub(super) escape: Option<String>,
    pub(super) force_quote: Option<Forced>,
    pub(super) force_not_null: Option<Forced>,
    pub(super) force_null: Option<Forced>,
    pub(super) encoding: Option<String>,
    pub(super) freeze: Option<bool>,
    pub(super) on_conflict: Option<OnConflict>,
    pub(super) on_error: Option<bool>,
    /// An option that the library's readers and writers alone have.
    pub(super) of_library: Option<String>,
}

impl Options {
    /// The format, with its characters.
    ///
    /// # Errors
    /// Options that PostgreSQL refuses, with its codes.
    pub(super) fn chosen(self, direction: Direction) -> Result<(CopyFormat, OnConflict), Box<ErrorInfo>> {
        let is_utf8 = |name: &String| ["utf8", "utf-8", "unicode"].contains(&name.to_ascii_lowercase().as_str());
        if let Some(encoding) = self.encoding.as_ref().filter(|name| !is_utf8(name)) {
            return Err(error("0A000", format!("COPY with the encoding {encoding} is not supported: rows are UTF-8")));
        }
        let of_other_direction = [
            ("ON_CONFLICT", self.on_conflict.is_some() && direction == Direction::To),
            ("FREEZE", self.freeze == Some(true) && direction == Direction::To),
            ("HEADER MATCH", self.header == Some(Header::Matching) && direction == Direction::To),
            ("FORCE_QUOTE", self.force_quote.is_some() && direction == Direction::From),
            ("FORCE_NOT_NULL", self.force_not_null.is_some() && direction == Direction::To),
            ("FORCE_NULL", self.force_null.is_some() && direction == Direction::To),
        ];
        if let Some((option, _)) = of_other_direction.iter().find(|(_, is_given)| *is_given) {
            let verb = if direction == Direction::From { "COPY FROM" } else { "COPY TO" };
            return Err(error("0A000", format!("{option} is no option of {verb}")));
        }
        let on_conflict = self.on_conflict.unwrap_or(OnConflict::Replace);
        let format = match self.format.as_deref() {
            None | Some("text") => CopyFormat::Text(self.text()?),
            Some("csv") => CopyFormat::Csv(self.csv()?),
            Some("binary") => self.binary()?,
            Some(format) => {
                let mut info = error("22023", format!("COPY format \"{format}\" not recognized"));
                info.hint = Some("the formats are text, csv, binary, json, arrow, arrow_stream and parquet".to_owned());
                return Err(info);
            }
        };
        Ok((format, on_conflict))
    }

    fn binary(self) -> Result<CopyFormat, Box<ErrorInfo>> {
        self.refuse_in(
            "BINARY",
            &[
                ("DELIMITER", self.delimiter.is_some()),
                ("NULL", self.null.is_some()),
                ("HEADER", self.header.is_some_and(|header| header != Header::Absent)),
            ],
        )?;
        self.refuse_csv_options("BINARY")?;
        Ok(CopyFormat::Binary)
    }

    fn text(self) -> Result<TextFormat, Box<ErrorInfo>> {
        self.refuse_csv_options("text")?;
        let default = TextFormat::default();
        let delimiter = character("delimiter", self.delimiter.as_deref(), default.delimiter)?;
        if NO_DELIMITERS.contains(char::from(delimiter)) {
            return Err(error("22023", format!("COPY delimiter cannot be \"{}\"", char::from(delimiter))));
        }
        let null = null(self.null, &default.null, &[("delimiter", delimiter)])?;
        Ok(TextFormat { delimiter, null, header: self.header.unwrap_or_default() })
    }

    fn csv(self) -> Result<CsvFormat, Box<ErrorInfo>> {
        let default = CsvFormat::default();
        let delimiter = character("delimiter", self.delimiter.as_deref(), default.delimiter)?;
        let quote = character("quote", self.quote.as_deref(), default.quote)?;
        let escape = character("escape", self.escape.as_deref(), quote)?;
        if delimiter == quote {
            return Err(error("22023", "COPY delimiter and quote must be different"));
        }
        let null = null(self.null, &default.null, &[("delimiter", delimiter), ("CSV quote character", quote)])?;
        Ok(CsvFormat {
            delimiter,
            quote,
            escape,
            null,
            header: self.header.unwrap_or_default(),
            force_quote: self.force_quote.unwrap_or_default(),
            force_not_null: self.force_not_null.unwrap_or_default(),
            force_null: self.force_null.unwrap_or_default(),
        })
    }

    fn refuse_csv_options(&self, format: &str) -> Result<(), Box<ErrorInfo>> {
        self.refuse_in(
            format,
            &[
                ("QUOTE", self.quote.is_some()),
                ("ESCAPE", self.escape.is_some()),
                ("FORCE_QUOTE", self.force_quote.is_some()),
                ("FORCE_NOT_NULL", self.force_not_null.is_some()),
                ("FORCE_NULL", self.force_null.is_some()),
            ],
        )
    }

    fn refuse_in(&self, format: &str, options: &[(&str, bool)]) -> Result<(), Box<ErrorInfo>> {
        match options.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(error("42601", format!("cannot specify {option} in {format} mode"))),
            None => Ok(()),
        }
    }
}

/// A character of one byte; `\t` may be written in a plain string.
fn character(name: &str, given: Option<&str>, default: u8) -> Result<u8, Box<ErrorInfo>> {
    match given.map(str::as_bytes) {
        None => Ok(default),
        Some(b"\\t") => Ok(b'\t'),
        Some([byte]) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'\0') => Ok(*byte),
        Some([b'\n' | b'\r']) => Err(error("22023", format!("COPY {name} cannot be newline or carriage return"))),
        Some(_) => Err(error("0A000", format!("COPY {name} must be a single one-byte character"))),
    }
}

/// The field of NULL, which has none of these characters.
fn null(given: Option<String>, default: &str, others: &[(&str, u8)]) -> Result<String, Box<ErrorInfo>> {
    let null = given.unwrap_or_else(|| default.to_owned());
    if null.contains(['\n', '\r']) {
        return Err(error("22023", "COPY null representation cannot use newline or carriage return"));
    }
    match others.iter().find(|(_, byte)| null.as_bytes().contains(byte)) {
        Some((name, _)) => Err(error("0A000", format!("{name} must not appear in the NULL specification"))),
        None => Ok(null),
    }
}
