//! The formats of files.

use saltwing_sql::statement::{CopyFormat, CopyOptions};
use saltwing_types::ErrorCode;

use super::compression;
use super::reader::Format;
use crate::Error;

/// How a file is written.
pub(super) enum FileFormat {
    Csv(Format),
    Json,
}

impl FileFormat {
    /// The format that the options ask for, or else the name of the file stands for.
    pub(super) fn of(options: &CopyOptions, path: Option<&str>) -> Result<Self, Error> {
        let named = path.map_or("", |path| compression::of_name(path).0);
        let is_json = match options.format {
            Some(format) => format == CopyFormat::Json,
            None => [".json", ".jsonl", ".ndjson"].iter().any(|end| named.ends_with(end)),
        };
        if !is_json {
            return csv_format(options).map(Self::Csv);
        }
        let of_csv = [
            ("HEADER", options.header.is_some()),
            ("DELIMITER", options.delimiter.is_some()),
            ("QUOTE", options.quote.is_some()),
            ("ESCAPE", options.escape.is_some()),
            ("NULL", options.null.is_some()),
        ];
        match of_csv.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Error::new(ErrorCode::Syntax, format!("{option} is an option of FORMAT csv"))),
            None => Ok(Self::Json),
        }
    }
}

fn csv_format(options: &CopyOptions) -> Result<Format, Error> {
    let byte = |c: Option<char>, default: u8, what: &str| match c {
        None => Ok(default),
        Some(c) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c as u8),
        Some(c) => Err(Error::new(ErrorCode::BadArgument, format!("{what} is one ASCII character, not {c:?}"))),
    };
    let quote = byte(options.quote, b'"', "QUOTE")?;
    Ok(Format {
        delimiter: byte(options.delimiter, b',', "DELIMITER")?,
        quote,
        escape: byte(options.escape, quote, "ESCAPE")?,
    })
}
