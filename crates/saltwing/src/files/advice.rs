//! Advice for files that COPY FROM cannot read: the likely format, and the option for it.
//!
//! The advice must not lose rows: `ON ERROR SKIP` is named only if there is no better advice.

use saltwing_types::{ColumnDef, ErrorCode};

use super::candidates::{is_null_text, is_value};
use super::reader::Field;
use crate::Error;

/// The first bytes of compressed and binary files, their formats, and the advice.
const SIGNATURES: [(&[u8], &str, &str); 7] = [
    (b"PK\x03\x04", "is a zip archive", "unpack it first"),
    (b"BZh", "is compressed by bzip2", "decompress it first, and pipe it in: bzcat FILE, COPY t FROM STDIN"),
    (b"\xfd7zXZ\0", "is compressed by xz", "decompress it first, and pipe it in: xzcat FILE, COPY t FROM STDIN"),
    (b"ARROW1", "is an Arrow file", "WITH (FORMAT arrow)"),
    (b"PAR1", "is a Parquet file", "WITH (FORMAT parquet)"),
    (b"\xff\xfe", "is UTF-16", "convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "is UTF-16", "convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE"),
];

/// Common delimiters, with their spelling in the option DELIMITER.
const DELIMITERS: [(char, &str); 4] = [(';', ";"), ('\t', "\\t"), ('|', "|"), (',', ",")];

/// Refuses a file whose first bytes are not text.
///
/// # Errors
/// `bad_text`, with the probable format of `file`.
pub(crate) fn check_text(file: &str, begin: &[u8]) -> Result<(), Error> {
    let signed = SIGNATURES.iter().find(|(signature, ..)| begin.starts_with(signature));
    let signed = signed.map(|(_, what, help)| (*what, *help));
    match signed.or_else(|| unlike_text(begin)) {
        None => Ok(()),
        Some((what, help)) => {
            Err(Error::new(ErrorCode::BadText, format!("{file} {what}: it is no CSV")).with_help(Some(help)))
        }
    }
}

/// Signs of a file that is not made of UTF-8 lines: a zero byte beside the first letter, or lines that end in carriage returns alone.
fn unlike_text(begin: &[u8]) -> Option<(&'static str, &'static str)> {
    match begin {
        [0, _, ..] | [_, 0, ..] => {
            Some(("is UTF-16 or binary", "convert it to UTF-8 first: iconv -f UTF-16LE -t UTF-8 FILE"))
        }
        // Inside quotes, a carriage return may be part of a value.
        _ if begin.contains(&b'\n') || begin.contains(&b'"') => None,
        _ if begin.trim_ascii_end().contains(&b'\r') => {
            Some(("ends its lines with carriage returns alone", "convert it first: tr '\\r' '\\n' < FILE"))
        }
        _ => None,
    }
}

/// Advice for a field that is not a value of its column's type.
pub(crate) fn of_field(text: &str) -> Option<String> {
    is_null_text(text)
        .then(|| format!("if {text} means that there is no value: WITH (NULL '{}')", text.replace('\'', "''")))
}

/// Advice for a record of one field if `columns` are expected.
pub(crate) fn of_single_field(text: &str, columns: usize) -> Option<String> {
    let splits = |(delimiter, _): &&(char, &str)| columns > 1 && text.split(*delimiter).count() == columns;
    DELIMITERS.iter().find(splits).map(|(_, written)| delimiter_advice(written))
}

/// Advice for a header with one unknown column.
pub(crate) fn of_header(header: &[String], columns: &[ColumnDef]) -> Option<String> {
    let [name] = header else { return None };
    let is_column = |name: &str| columns.iter().any(|c| !c.hidden && c.name.eq_ignore_ascii_case(name.trim()));
    let splits = |(delimiter, _): &&(char, &str)| {
        let mut names = name.split(*delimiter);
        names.clone().count() > 1 && names.any(is_column)
    };
    DELIMITERS.iter().find(splits).map(|(_, written)| delimiter_advice(written))
}

/// Advice for a header without any column name, if its fields look like values.
pub(crate) fn of_values_as_header(header: &[String]) -> Option<&'static str> {
    let has_values = header.iter().any(|field| field.is_empty() || is_value(field));
    has_values.then_some("the first line seems to hold values, not names: leave HEADER out")
}

/// Advice for a first line with the columns' names.
pub(crate) fn of_first_line(fields: &[Field<'_>], names: &[&str]) -> Option<String> {
    let is_header = !fields.is_empty()
        && fields.iter().all(|field| names.iter().any(|name| name.eq_ignore_ascii_case(field.text.trim())));
    is_header.then(|| "the first line seems to hold the columns' names: WITH (HEADER)".to_owned())
}

fn delimiter_advice(delimiter: &str) -> String {
    format!(
        "the fields seem to be separated by {delimiter}: WITH (DELIMITER '{delimiter}'), with HEADER if there is one"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_option_that_reads_the_file() {
        assert_eq!(of_field("NA").unwrap(), "if NA means that there is no value: WITH (NULL 'NA')");
        assert_eq!(of_field("12x"), None);
        assert!(of_single_field("1;2;3", 3).unwrap().contains("DELIMITER ';'"));
        assert!(of_single_field("1\t2", 2).unwrap().contains("DELIMITER '\\t'"));
        assert_eq!(of_single_field("1", 2), None);
        assert!(check_text("f", b"BZh9").unwrap_err().to_string().contains("bzip2"));
        assert!(check_text("f", b"a\0,\0").unwrap_err().to_string().contains("UTF-16"));
        assert!(check_text("f", b"a,b\r1,2\r").unwrap_err().to_string().contains("carriage returns alone"));
        for text in ["a,b\n", "", "a", "a,b\r\n", "a,b\r", "\"a\rb\""] {
            assert!(check_text("f", text.as_bytes()).is_ok(), "{text:?}");
        }
    }
}
