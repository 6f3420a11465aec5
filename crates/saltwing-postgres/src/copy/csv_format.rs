//! The format `csv` as PostgreSQL has it: quotes may begin and end anywhere in a field, and NULL is a field without quotes.

use bytes::{BufMut, BytesMut};

use super::error::CopyError;
use super::fields::Fields;
use super::format::CsvFormat;

/// The columns for which a field of NULL is read otherwise, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ForcedNulls {
    /// It is a text.
    pub(super) not_null: Vec<bool>,
    /// It is NULL in quotes, too.
    pub(super) null: Vec<bool>,
}

/// Splits a record, which may have line ends in quotes, into its fields.
///
/// # Errors
/// [`CopyError::UnterminatedQuote`].
pub(super) fn split(
    record: &[u8],
    format: &CsvFormat,
    forced: &ForcedNulls,
    fields: &mut Fields,
) -> Result<(), CopyError> {
    fields.clear();
    let mut rest = record;
    loop {
        let (has_quotes, after) = field(rest, format, fields)?;
        let place = fields.len();
        let holds = |columns: &[bool]| columns.get(place).copied().unwrap_or(false);
        let is_null = fields.open_field() == format.null.as_bytes()
            && if has_quotes { holds(&forced.null) } else { !holds(&forced.not_null) };
        if is_null {
            fields.end_null()
        } else {
            fields.end_field()
        }
        match after.split_first() {
            Some((_, after)) => rest = after,
            None => return Ok(()),
        }
    }
}

/// Adds the bytes of the first field; gives whether it has quotes, and what follows it.
fn field<'a>(record: &'a [u8], format: &CsvFormat, fields: &mut Fields) -> Result<(bool, &'a [u8]), CopyError> {
    let (mut rest, mut has_quotes) = (record, false);
    loop {
        let end = rest.iter().position(|byte| *byte == format.delimiter || *byte == format.quote);
        let (plain, special) = rest.split_at(end.unwrap_or(rest.len()));
        fields.extend(plain);
        match special.split_first() {
            Some((byte, after)) if *byte == format.quote => {
                has_quotes = true;
                rest = quoted(after, format, fields)?;
            }
            _ => return Ok((has_quotes, special)),
        }
    }
}

/// Adds the bytes up to the closing quote; gives what follows it.
fn quoted<'a>(inside: &'a [u8], format: &CsvFormat, fields: &mut Fields) -> Result<&'a [u8], CopyError> {
    let CsvFormat { quote, escape, .. } = *format;
    let mut rest = inside;
    loop {
        let end = rest.iter().position(|byte| *byte == quote || *byte == escape).ok_or(CopyError::UnterminatedQuote)?;
        let (plain, special) = rest.split_at(end);
        fields.extend(plain);
        let (byte, after) = special.split_first().ok_or(CopyError::UnterminatedQuote)?;
        match after.split_first() {
            Some((next, after)) if *byte == escape && (*next == quote || *next == escape) => {
                fields.push(*next);
                rest = after;
            }
            _ if *byte == quote => return Ok(after),
            _ => {
                fields.push(*byte);
                rest = after;
            }
        }
    }
}

/// Adds a field to a record: `None` is NULL. A field is in quotes if `in_quotes`, or if it would be read as something else without; `is_only` is
/// whether the record has no other field.
pub(super) fn put_field(field: Option<&[u8]>, format: &CsvFormat, in_quotes: bool, is_only: bool, out: &mut BytesMut) {
    let Some(field) = field else {
        out.put_slice(format.null.as_bytes());
        return;
    };
    let CsvFormat { delimiter, quote, escape, .. } = *format;
    let is_special = |byte: &u8| *byte == delimiter || *byte == quote || matches!(byte, b'\n' | b'\r');
    let needs_quotes = in_quotes
        || field == format.null.as_bytes()
        // The end of the data.
        || (is_only && field == b"\\.")
        || field.iter().any(is_special);
    if !needs_quotes {
        out.put_slice(field);
        return;
    }
    out.put_u8(quote);
    let mut rest = field;
    while let Some(place) = rest.iter().position(|byte| *byte == quote || *byte == escape) {
        let (plain, special) = rest.split_at(place);
        out.put_slice(plain);
        let Some((byte, after)) = special.split_first() else { break };
        out.put_slice(&[escape, *byte]);
        rest = after;
    }
    out.put_slice(rest);
    out.put_u8(quote);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(record: &[u8], format: &CsvFormat) -> Result<Vec<Option<Vec<u8>>>, CopyError> {
        let mut fields = Fields::default();
        split(record, format, &ForcedNulls::default(), &mut fields)?;
        Ok(fields.all())
    }

    fn written(row: &[Option<Vec<u8>>], format: &CsvFormat) -> BytesMut {
        let mut out = BytesMut::new();
        for (index, field) in row.iter().enumerate() {
            if index > 0 {
                out.put_u8(format.delimiter);
            }
            put_field(field.as_deref(), format, false, row.len() == 1, &mut out);
        }
        out
    }

    #[test]
    fn fields_are_those_of_postgres() {
        let format = CsvFormat::default();
        for (record, expected) in [
            (&b"a,b"[..], vec![Some(&b"a"[..]), Some(b"b")]),
            (b"", vec![None]),
            (b",", vec![None, None]),
            (b"\"\",x", vec![Some(b""), Some(b"x")]),
            (b"\"a,\"\"b\"\"\nc\",d", vec![Some(b"a,\"b\"\nc"), Some(b"d")]),
            (b"a\"b,c\"d", vec![Some(b"ab,cd")]),
            (b"\"a\"b", vec![Some(b"ab")]),
            (b" a ,\\N", vec![Some(b" a "), Some(b"\\N")]),
        ] {
            let expected = expected.into_iter().map(|field| field.map(<[u8]>::to_vec)).collect();
            assert_eq!(fields(record, &format), Ok(expected), "{:?}", String::from_utf8_lossy(record));
        }
        assert_eq!(fields(b"a,\"b", &format), Err(CopyError::UnterminatedQuote));
        let escaped = CsvFormat { quote: b'\'', escape: b'\\', ..format };
        assert_eq!(
            fields(br"'it\'s','\\','\n'", &escaped).unwrap(),
            [Some(b"it's".to_vec()), Some(b"\\".to_vec()), Some(b"\\n".to_vec())]
        );
    }

    #[test]
    fn forced_columns_read_null_otherwise() {
        let (mut read, format) = (Fields::default(), CsvFormat { null: "NA".into(), ..CsvFormat::default() });
        let forced = ForcedNulls { not_null: vec![true, false, false], null: vec![false, false, true] };
        split(b"NA,NA,\"NA\"", &format, &forced, &mut read).unwrap();
        assert_eq!(read.all(), [Some(b"NA".to_vec()), None, None]);
        split(b"\"NA\",\"NA\",NA,NA", &format, &forced, &mut read).unwrap();
        assert_eq!(read.all(), [Some(b"NA".to_vec()), Some(b"NA".to_vec()), None, None]);
    }

    #[test]
    fn fields_are_written_as_postgres_writes_them() {
        let format = CsvFormat::default();
        for (field, is_only, expected) in [
            (None, false, &b""[..]),
            (Some(&b""[..]), false, b"\"\""),
            (Some(b"a b"), false, b"a b"),
            (Some(b"a,\"b\""), false, b"\"a,\"\"b\"\"\""),
            (Some(b"a\nb"), false, b"\"a\nb\""),
            (Some(b"\\."), true, b"\"\\.\""),
            (Some(b"\\."), false, b"\\."),
        ] {
            let mut out = BytesMut::new();
            put_field(field, &format, false, is_only, &mut out);
            assert_eq!(&out[..], expected);
        }
        let mut out = BytesMut::new();
        put_field(Some(b"a"), &format, true, false, &mut out);
        put_field(None, &format, true, false, &mut out);
        assert_eq!(&out[..], b"\"a\"");
    }

    fn any_format() -> impl Strategy<Value = CsvFormat> {
        let characters = (
            prop::sample::select(&b",;\t|"[..]),
            prop::sample::select(&b"\"'"[..]),
            prop::sample::select(&b"\"'\\"[..]),
            prop::sample::select(&["", "NA", "\\N"][..]),
        );
        characters.prop_map(|(delimiter, quote, escape, null)| CsvFormat {
            delimiter,
            quote,
            escape,
            null: null.into(),
            ..CsvFormat::default()
        })
    }

    proptest! {
        #[test]
        fn written_fields_are_read_back(
            row in prop::collection::vec(prop::option::of(prop::collection::vec(prop::sample::select(&b"aN\\,;\t|\"'\n\r\xff."[..]), 0..8)), 1..5),
            format in any_format(),
        ) {
            prop_assert_eq!(fields(&written(&row, &format), &format), Ok(row));
        }

        #[test]
        fn any_record_has_fields_or_an_error(record in prop::collection::vec(prop::sample::select(&b"a\"'\\,\n"[..]), 0..30), format in any_format()) {
            let _ = fields(&record, &format);
        }
    }
}
