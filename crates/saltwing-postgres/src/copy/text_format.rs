//! The format `text`: fields between delimiters, with escapes by backslashes.
//!
//! | escape | is |
//! |---|---|
//! | `\b` `\f` `\n` `\r` `\t` `\v` | the control character |
//! | `\1` to `\377` | the byte of an octal number |
//! | `\x1` to `\xff` | the byte of a hexadecimal number |
//! | a backslash and another byte | that byte |
//!
//! A field is NULL if it has the characters of NULL before its escapes are taken out, so `\N` is NULL and `\\N` is a text.

use bytes::{BufMut, BytesMut};

use super::error::CopyError;
use super::fields::Fields;
use super::format::TextFormat;

/// Splits a line into its fields.
///
/// # Errors
/// [`CopyError::CorruptEnd`] for `\.` inside a line.
pub(super) fn split(line: &[u8], format: &TextFormat, fields: &mut Fields) -> Result<(), CopyError> {
    fields.clear();
    let mut rest = line;
    loop {
        let end = field_end(rest, format.delimiter);
        let (field, after) = rest.split_at(end);
        if field == format.null.as_bytes() {
            fields.end_null();
        } else {
            unescape(field, fields)?;
            fields.end_field();
        }
        match after.split_first() {
            Some((_, after)) => rest = after,
            None => return Ok(()),
        }
    }
}

/// The length of the first field, with its escapes.
fn field_end(rest: &[u8], delimiter: u8) -> usize {
    let mut at = 0;
    loop {
        let tail = rest.get(at..).unwrap_or_default();
        let Some(special) = tail.iter().position(|byte| *byte == delimiter || *byte == b'\\') else {
            return rest.len();
        };
        match tail.get(special) {
            Some(b'\\') => at = at.saturating_add(special).saturating_add(2),
            _ => return at.saturating_add(special),
        }
    }
}

/// Adds the bytes of a field without its escapes.
fn unescape(field: &[u8], fields: &mut Fields) -> Result<(), CopyError> {
    let mut rest = field;
    while let Some(place) = rest.iter().position(|byte| *byte == b'\\') {
        let (plain, escape) = rest.split_at(place);
        fields.extend(plain);
        let Some((letter, after)) = escape.get(1..).and_then(<[u8]>::split_first) else {
            // The last byte of the data is a backslash.
            fields.push(b'\\');
            return Ok(());
        };
        rest = after;
        match letter {
            b'b' => fields.push(8),
            b'f' => fields.push(12),
            b'n' => fields.push(b'\n'),
            b'r' => fields.push(b'\r'),
            b't' => fields.push(b'\t'),
            b'v' => fields.push(11),
            b'0'..=b'7' => {
                let digits = escape.get(1..).unwrap_or_default();
                rest = push_number(digits, 8, 3, fields);
            }
            b'x' if after.first().is_some_and(u8::is_ascii_hexdigit) => rest = push_number(after, 16, 2, fields),
            b'.' => return Err(CopyError::CorruptEnd),
            other => fields.push(*other),
        }
    }
    fields.extend(rest);
    Ok(())
}

/// Adds the byte of a number of at most `most` digits; gives the bytes after it. Of an octal number beyond 255 the lowest eight bits count.
fn push_number<'a>(digits: &'a [u8], radix: u32, most: usize, fields: &mut Fields) -> &'a [u8] {
    let value_of = |byte: &u8| char::from(*byte).to_digit(radix);
    let count = digits.iter().take(most).take_while(|byte| value_of(byte).is_some()).count();
    let (number, after) = digits.split_at(count);
    let value = number.iter().filter_map(value_of).fold(0, |value, digit| value * radix + digit);
    fields.push((value & 0xff) as u8);
    after
}

/// Adds a field to a row: `None` is NULL.
pub(super) fn put_field(field: Option<&[u8]>, format: &TextFormat, out: &mut BytesMut) {
    let Some(field) = field else {
        out.put_slice(format.null.as_bytes());
        return;
    };
    let is_special = |byte: u8| byte < b' ' || byte == b'\\' || byte == format.delimiter;
    let mut rest = field;
    while let Some(place) = rest.iter().position(|byte| is_special(*byte)) {
        let (plain, special) = rest.split_at(place);
        out.put_slice(plain);
        let Some((byte, after)) = special.split_first() else { break };
        rest = after;
        let letter = match byte {
            8 => b'b',
            9 => b't',
            10 => b'n',
            11 => b'v',
            12 => b'f',
            13 => b'r',
            byte if *byte == b'\\' || *byte == format.delimiter => *byte,
            byte => {
                out.put_u8(*byte);
                continue;
            }
        };
        out.put_slice(&[b'\\', letter]);
    }
    out.put_slice(rest);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::copy::format::Header;

    fn fields(line: &[u8], format: &TextFormat) -> Result<Vec<Option<Vec<u8>>>, CopyError> {
        let mut fields = Fields::default();
        split(line, format, &mut fields)?;
        Ok(fields.all())
    }

    #[test]
    fn fields_have_the_escapes_of_postgres() {
        for (line, expected) in [
            (&b"a\tb"[..], vec![Some(&b"a"[..]), Some(b"b")]),
            (b"", vec![Some(b"")]),
            (b"\t", vec![Some(b""), Some(b"")]),
            (b"\\N\t\\\\N\tN", vec![None, Some(b"\\N"), Some(b"N")]),
            (b"\\Nx", vec![Some(b"Nx")]),
            (b"\\b\\f\\n\\r\\t\\v", vec![Some(b"\x08\x0c\n\r\t\x0b")]),
            (b"a\\\tb\tc", vec![Some(b"a\tb"), Some(b"c")]),
            (b"a\\\nb", vec![Some(b"a\nb")]),
            (b"\\1018\\x41g\\x4", vec![Some(b"A8Ag\x04")]),
            (b"\\777\\xg\\q\\\\", vec![Some(b"\xffxgq\\")]),
            (b"a\\", vec![Some(b"a\\")]),
        ] {
            let expected = expected.into_iter().map(|field| field.map(<[u8]>::to_vec)).collect();
            assert_eq!(fields(line, &TextFormat::default()), Ok(expected), "{:?}", String::from_utf8_lossy(line));
        }
        assert_eq!(fields(b"a\\.b", &TextFormat::default()), Err(CopyError::CorruptEnd));
    }

    #[test]
    fn fields_are_written_as_postgres_writes_them() {
        for (field, written) in [
            (None, &b"\\N"[..]),
            (Some(&b""[..]), b""),
            (Some(b"a\tb\nc\\d\re\x08\x0b\x0c\x01"), b"a\\tb\\nc\\\\d\\re\\b\\v\\f\x01"),
            (Some(b"\\N"), b"\\\\N"),
            (Some("ä,ö".as_bytes()), "ä,ö".as_bytes()),
        ] {
            let mut out = BytesMut::new();
            put_field(field, &TextFormat::default(), &mut out);
            assert_eq!(&out[..], written);
        }
        let format = TextFormat { delimiter: b',', ..TextFormat::default() };
        let mut out = BytesMut::new();
        put_field(Some(b"a,b"), &format, &mut out);
        assert_eq!(&out[..], b"a\\,b");
    }

    proptest! {
        /// A text equal to NULL of another form than `\N` is a loss that PostgreSQL has as well.
        #[test]
        fn written_fields_are_read_back(
            row in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..12)), 1..5),
            delimiter in prop::sample::select(&b"\t,;|:*\x01"[..]),
        ) {
            let format = TextFormat { delimiter, null: "\\N".into(), header: Header::Absent };
            let mut line = BytesMut::new();
            for (index, field) in row.iter().enumerate() {
                if index > 0 {
                    line.put_u8(delimiter);
                }
                put_field(field.as_deref(), &format, &mut line);
            }
            prop_assert!(!line.contains(&b'\n'));
            prop_assert_eq!(fields(&line, &format), Ok(row));
        }

        #[test]
        fn any_line_has_fields_or_an_error(line in prop::collection::vec(prop::sample::select(&b"\\\\\\xN.017\taf"[..]), 0..30)) {
            let _ = fields(&line, &TextFormat::default());
        }
    }
}
