//! Advice for files that COPY FROM cannot read: the likely format, and the option for it.
//!
//! The advice must not lose rows: `ON ERROR SKIP` is named only where nothing better is known.

use saltwing_types::{ColumnDef, ErrorCode};

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

/// Texts that stand for no value in many files.
const NULL_TEXTS: [&str; 10] = ["NA", "N/A", "NULL", "NIL", "NONE", "\\N", "-", "?", ".", "NAN"];

/// Delimiters that files have beside the comma, as the option DELIMITER takes them.
const DELIMITERS: [(char, &str); 4] = [(';', ";"), ('\t', "\\t"), ('|', "|"), (',', ",")];

/// Refuses what begins as no text does.
///
/// # Errors
/// `bad_text`, naming what `file` seems to be.
pub(super) fn check_text(file: &str, begin: &[u8]) -> Result<(), Error> {
    match SIGNATURES.iter().find(|(signature, ..)| begin.starts_with(signature)) {
        None => Ok(()),
        Some((_, what, help)) => {
            Err(Error::new(ErrorCode::BadText, format!("{file} {what}: it is no CSV")).with_help(Some(*help)))
        }
    }
}

/// Advice for a field that is not a value of its column's type.
pub(super) fn of_field(text: &str) -> Option<String> {
    let is_null = NULL_TEXTS.contains(&text.trim().to_uppercase().as_str());
    is_null.then(|| format!("if {text} means that there is no value: WITH (NULL '{}')", text.replace('\'', "''")))
}

/// Advice for a record of one field if `columns` are expected.
pub(super) fn of_single_field(text: &str, columns: usize) -> Option<String> {
    let splits = |(delimiter, _): &&(char, &str)| columns > 1 && text.split(*delimiter).count() == columns;
    DELIMITERS.iter().find(splits).map(|(_, written)| delimiter_advice(written))
}

/// Advice for a header with one unknown column.
pub(super) fn of_header(header: &[String], columns: &[ColumnDef]) -> Option<String> {
    let [name] = header else { return None };
    let is_column = |name: &str| columns.iter().any(|c| !c.hidden && c.name.eq_ignore_ascii_case(name.trim()));
    let splits = |(delimiter, _): &&(char, &str)| {
        let mut names = name.split(*delimiter);
        names.clone().count() > 1 && names.any(is_column)
    };
    DELIMITERS.iter().find(splits).map(|(_, written)| delimiter_advice(written))
}

/// Advice for a first line with the columns' names.
pub(super) fn of_first_line(fields: &[Field<'_>], names: &[&str]) -> Option<String> {
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
        assert!(check_text("f", b"a,b\n").is_ok() && check_text("f", b"").is_ok());
    }
}
