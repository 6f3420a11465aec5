//! The formats of files.

use saltwing_sql::statement::{CopyCompression, CopyFormat, CopyOptions};
use saltwing_types::ErrorCode;

use super::compression;
use super::reader::Format;
use crate::Error;

/// The format of a file, with its options.
pub(crate) enum FileFormat {
    Csv(Format),
    Json,
    /// Arrow IPC; a reader distinguishes files and streams by the first bytes.
    Arrow(ArrowForm),
    Parquet,
}

/// The two forms of Arrow IPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrowForm {
    File,
    Stream,
}

/// File name extensions and their formats.
const EXTENSIONS: [(&str, CopyFormat); 10] = [
    (".csv", CopyFormat::Csv),
    (".json", CopyFormat::Json),
    (".jsonl", CopyFormat::Json),
    (".ndjson", CopyFormat::Json),
    (".arrow", CopyFormat::Arrow),
    (".ipc", CopyFormat::Arrow),
    (".feather", CopyFormat::Arrow),
    (".arrows", CopyFormat::ArrowStream),
    (".parquet", CopyFormat::Parquet),
    (".pq", CopyFormat::Parquet),
];

impl FileFormat {
    /// The format from the options, or else from the extension of the file's name.
    pub(crate) fn of(options: &CopyOptions, path: Option<&str>) -> Result<Self, Error> {
        let (named, outer) = path.map_or(("", CopyCompression::None), compression::of_name);
        let by_name = EXTENSIONS.iter().find(|(end, _)| named.ends_with(end)).map(|(_, format)| *format);
        let format = options.format.or(by_name).unwrap_or(CopyFormat::Csv);
        check_compression(format, options.compression)?;
        if format == CopyFormat::Csv {
            let delimiter = if named.ends_with(".tsv") { b'\t' } else { b',' };
            return csv_format(options, delimiter).map(Self::Csv);
        }
        let of_csv = [
            ("HEADER", options.header.is_some()),
            ("DELIMITER", options.delimiter.is_some()),
            ("QUOTE", options.quote.is_some()),
            ("ESCAPE", options.escape.is_some()),
            ("NULL", options.null.is_some()),
        ];
        if let Some((option, _)) = of_csv.iter().find(|(_, is_given)| *is_given) {
            return Err(Error::new(ErrorCode::Syntax, format!("{option} is an option of FORMAT csv")));
        }
        match format {
            CopyFormat::Parquet if outer != CopyCompression::None => {
                let text = format!("{}: a Parquet file is compressed inside", path.unwrap_or_default());
                let help = "name it .parquet; WITH (COMPRESSION gzip) or zstd says how it is compressed";
                Err(Error::new(ErrorCode::NotSupported, text).with_help(Some(help)))
            }
            CopyFormat::Parquet => Ok(Self::Parquet),
            CopyFormat::Arrow => Ok(Self::Arrow(ArrowForm::File)),
            CopyFormat::ArrowStream => Ok(Self::Arrow(ArrowForm::Stream)),
            CopyFormat::Csv | CopyFormat::Json => Ok(Self::Json),
        }
    }

    /// The word for a row of such a file in errors.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Csv(_) | Self::Json => "line",
            Self::Arrow(_) | Self::Parquet => "row",
        }
    }
}

/// Refuses a compression that the format does not support.
fn check_compression(format: CopyFormat, compression: Option<CopyCompression>) -> Result<(), Error> {
    use CopyCompression::{Gzip, Lz4, None as Plain, Snappy, Zstd};
    let (name, known): (&str, &[_]) = match format {
        CopyFormat::Csv => ("csv", &[Plain, Gzip, Zstd]),
        CopyFormat::Json => ("json", &[Plain, Gzip, Zstd]),
        CopyFormat::Arrow => ("arrow", &[Plain, Lz4, Zstd]),
        CopyFormat::ArrowStream => ("arrow_stream", &[Plain, Lz4, Zstd]),
        CopyFormat::Parquet => ("parquet", &[Plain, Snappy, Lz4, Gzip, Zstd]),
    };
    match compression.filter(|compression| !known.contains(compression)) {
        None => Ok(()),
        Some(compression) => {
            let named = |compression: &CopyCompression| format!("{compression:?}").to_lowercase();
            let text = format!("COMPRESSION {} with FORMAT {name}", named(&compression));
            let known: Vec<String> = known.iter().map(named).collect();
            let help = format!("the compressions of FORMAT {name} are {}", known.join(", "));
            Err(Error::new(ErrorCode::NotSupported, text).with_help(Some(help)))
        }
    }
}

/// `delimiter` is the default for the file's extension.
fn csv_format(options: &CopyOptions, delimiter: u8) -> Result<Format, Error> {
    let byte = |c: Option<char>, default: u8, what: &str| match c {
        None => Ok(default),
        Some(c) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c as u8),
        Some(c) => Err(Error::new(ErrorCode::BadArgument, format!("{what} is one ASCII character, not {c:?}"))),
    };
    let quote = byte(options.quote, b'"', "QUOTE")?;
    Ok(Format {
        delimiter: byte(options.delimiter, delimiter, "DELIMITER")?,
        quote,
        escape: byte(options.escape, quote, "ESCAPE")?,
    })
}

/// The error for Parquet from a stream.
pub(crate) fn not_from_stream() -> Error {
    let text = "Parquet from STDIN, a pipe or a device: its end is read first";
    Error::new(ErrorCode::NotSupported, text).with_help(Some("COPY it from a file, or use FORMAT arrow_stream"))
}

/// The error of a build without Parquet.
#[cfg(not(feature = "parquet"))]
pub(crate) fn without_parquet() -> Error {
    let text = "Parquet: this build of the library leaves out its feature \"parquet\"";
    Error::new(ErrorCode::NotSupported, text)
}
