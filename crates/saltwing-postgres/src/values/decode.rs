//! Parameters of a Bind message, as values.

use saltwing::{SqlType, Timestamp, Value};

use super::error::WireError;
use super::format::Format;
use super::pg_type::{BaseType, Declared, PgType};
use super::{array_reading, datetime, numeric, text_reading};

/// The first byte of a `jsonb` in the binary format.
const JSONB_VERSION: u8 = 1;

/// A parameter; `bytes` is `None` for NULL.
///
/// `oid` is the type that the client declared: 0 and 705 (`unknown`) are none. `wanted` is the type that the statement would have
/// the parameter be, as far as that is known. A parameter without a type, and a text where the statement wants another type, is
/// read as the wanted type. A parameter of another type keeps its own: an `int2` for a BIGINT column is a number, and the library
/// checks whether the column takes it.
///
/// # Errors
/// [`WireError::UnsupportedType`]; [`WireError::BadEncoding`]; those of a text: [`WireError::BadText`],
/// [`WireError::BadDatetime`], [`WireError::BadArrayText`]; those of bytes: [`WireError::BadBinary`]; and of both
/// [`WireError::OutOfRange`], [`WireError::DatetimeOverflow`], [`WireError::SeveralDimensions`], [`WireError::TooManyElements`].
pub(crate) fn decode(
    bytes: Option<&[u8]>,
    format: Format,
    oid: u32,
    wanted: Option<SqlType>,
) -> Result<Value, WireError> {
    let wanted = wanted.filter(|ty| !matches!(ty, SqlType::Null | SqlType::Opaque));
    let ty = match (Declared::of_oid(oid), format, wanted) {
        (Declared::Unsupported, ..) => return Err(WireError::UnsupportedType { oid }),
        (Declared::Type(ty), ..) => ty,
        // The client has learnt the wanted type, and its binary form is that of the type.
        (Declared::Nothing, Format::Binary, Some(wanted)) => PgType::of_sql(wanted),
        (Declared::Nothing, ..) => PgType::Base(BaseType::Text),
    };
    let Some(bytes) = bytes else { return Ok(Value::Null) };
    let element = wanted.and_then(SqlType::element);
    let value = match (ty, format) {
        (PgType::Base(base), _) if base.is_text() && element.is_some() => {
            read_array_text(bytes, PgType::Array(element.map_or(base, BaseType::of_sql)), base, element)?
        }
        (PgType::Base(base), format) => read_base(bytes, format, base, wanted)?,
        (PgType::Array(base), Format::Text) => read_array_text(bytes, ty, base, element)?,
        (PgType::Array(base), Format::Binary) => array_reading::read_binary(bytes, ty, |oid, bytes| {
            read_base(bytes, Format::Binary, element_type(ty, base, oid)?, element)
        })?,
    };
    Ok(fitted(value, wanted))
}

/// Reads the text of an array whose elements have type `base`, where the statement wants elements of type `wanted`.
fn read_array_text(bytes: &[u8], ty: PgType, base: BaseType, wanted: Option<SqlType>) -> Result<Value, WireError> {
    array_reading::read_text(utf8(bytes, ty)?, ty, |text| read_base(text.as_bytes(), Format::Text, base, wanted))
}

/// The type by which the elements of an array are read: as the array itself says. It must be the declared one, or both texts.
fn element_type(ty: PgType, declared: BaseType, oid: u32) -> Result<BaseType, WireError> {
    match Declared::of_oid(oid) {
        Declared::Type(PgType::Base(base)) if base == declared || base.is_text() && declared.is_text() => Ok(base),
        _ => Err(WireError::bad_binary(ty, format!("its elements are of the type with OID {oid}"))),
    }
}

/// Reads a value of a type that is no array.
fn read_base(bytes: &[u8], format: Format, base: BaseType, wanted: Option<SqlType>) -> Result<Value, WireError> {
    if format == Format::Binary && !base.is_text() {
        return read_binary(bytes, base);
    }
    let text = utf8(bytes, base.into())?;
    // The padding is no part of the value, whatever the statement wants.
    let text = if base == BaseType::Bpchar { text.trim_end_matches(' ') } else { text };
    let wants_time = matches!(wanted, Some(SqlType::Time | SqlType::UnsignedTime));
    match wanted.map(BaseType::of_sql) {
        // TIME has a day, too: clients may send a time of day or an instant.
        Some(_) if wants_time && (base.is_text() || base == BaseType::Timestamp) => text_reading::read_time(text),
        Some(wanted) if base.is_text() => text_reading::read(text, wanted),
        _ => text_reading::read(text, base),
    }
}

/// Reads the binary form of a value that is neither text nor array.
fn read_binary(bytes: &[u8], base: BaseType) -> Result<Value, WireError> {
    Ok(match base {
        BaseType::Bool => {
            let [byte] = fixed(bytes, base)?;
            Value::Bool(byte != 0)
        }
        BaseType::Int2 => Value::Int(i16::from_be_bytes(fixed(bytes, base)?).into()),
        BaseType::Int4 => Value::Int(i32::from_be_bytes(fixed(bytes, base)?).into()),
        BaseType::Int8 => Value::Int(i64::from_be_bytes(fixed(bytes, base)?)),
        BaseType::Oid => Value::Int(u32::from_be_bytes(fixed(bytes, base)?).into()),
        BaseType::Float4 => Value::Float(f32::from_be_bytes(fixed(bytes, base)?)),
        BaseType::Float8 => Value::Double(f64::from_be_bytes(fixed(bytes, base)?)),
        BaseType::Numeric => Value::Decimal(numeric::read(bytes)?),
        BaseType::Bytea => Value::Bytes(bytes.to_vec()),
        BaseType::Uuid => Value::Bytes(fixed::<16>(bytes, base)?.to_vec()),
        BaseType::Date => Value::Date(datetime::date_of_binary(i32::from_be_bytes(fixed(bytes, base)?))?),
        BaseType::Time => Value::Date(datetime::time_of_binary(i64::from_be_bytes(fixed(bytes, base)?))?),
        BaseType::Timestamp | BaseType::Timestamptz => {
            Value::Timestamp(datetime::timestamp_of_binary(i64::from_be_bytes(fixed(bytes, base)?), base)?)
        }
        BaseType::Interval => {
            // Eight bytes of microseconds, four of days and four of months.
            let number = i128::from_be_bytes(fixed(bytes, base)?);
            Value::Interval(datetime::interval_of_binary((number >> 64) as i64, (number >> 32) as i32, number as i32)?)
        }
        BaseType::Jsonb => {
            let json = bytes.strip_prefix(&[JSONB_VERSION]);
            let json = json.ok_or_else(|| WireError::bad_binary(base, "its version is not 1"))?;
            text_reading::read(utf8(json, base.into())?, base)?
        }
        BaseType::Json | BaseType::Text | BaseType::Varchar | BaseType::Bpchar | BaseType::Name | BaseType::Char => {
            text_reading::read(utf8(bytes, base.into())?, base)?
        }
    })
}

/// The bytes of a type whose values all have as many.
fn fixed<const N: usize>(bytes: &[u8], base: BaseType) -> Result<[u8; N], WireError> {
    bytes
        .try_into()
        .map_err(|_| WireError::bad_binary(base, format!("{N} bytes are needed, and it has {}", bytes.len())))
}

fn utf8(bytes: &[u8], ty: PgType) -> Result<&str, WireError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid_bytes = error.valid_up_to();
        let sequence = bytes.iter().skip(valid_bytes).take(error.error_len().unwrap_or(4));
        let bytes = sequence.map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(" ");
        WireError::BadEncoding { ty, valid_bytes, bytes }
    })
}

/// The value in the form of the wanted type, where the two hold the same: an instant as DATE or as TIMESTAMP.
fn fitted(value: Value, wanted: Option<SqlType>) -> Value {
    let Some(wanted) = wanted else { return value };
    match (value, wanted) {
        (
            Value::Timestamp(Timestamp { ms, nanos: 0 }),
            SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime,
        ) => Value::Date(ms),
        (Value::Date(ms), wanted) if wanted.is_timestamp() => Value::Timestamp(Timestamp { ms, nanos: 0 }),
        (Value::Array(elements), SqlType::Array(element, _)) => {
            let fitted = |value| fitted(value, Some(element.sql_type()));
            Value::Array(elements.into_iter().map(fitted).collect())
        }
        (value, _) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::Format::{Binary, Text};
    use super::*;

    const VARCHAR: SqlType = SqlType::Varchar(None);

    fn array_of(element: SqlType) -> Option<SqlType> {
        SqlType::array(element)
    }

    #[test]
    fn null_has_every_type() {
        for oid in [0, 23, 25, 705, 1007] {
            assert_eq!(decode(None, Binary, oid, None).unwrap(), Value::Null);
        }
    }

    #[test]
    fn the_statement_decides_about_texts() {
        let at = |ms| Value::Timestamp(Timestamp { ms, nanos: 0 });
        let text = |text: &str| Value::text(text);
        for (oid, bytes, wanted, expected) in [
            (0, "5", Some(SqlType::BigInt), Value::Int(5)),
            (25, "5", Some(SqlType::BigInt), Value::Int(5)),
            (1043, "1.50", Some(SqlType::Decimal(Some((5, 2)))), Value::Decimal("1.5".parse().unwrap())),
            (705, "5", None, text("5")),
            (25, "5", Some(VARCHAR), text("5")),
            (0, "5", Some(SqlType::Null), text("5")),
            // The blanks of CHAR are padding.
            (25, "a  ", Some(SqlType::Char(3)), text("a")),
            (1042, "a  ", Some(VARCHAR), text("a")),
            (0, "{\"a  \"}", array_of(SqlType::Char(3)), Value::from(vec!["a"])),
            (25, "a  ", Some(VARCHAR), text("a  ")),
            (0, "5", Some(SqlType::Opaque), text("5")),
            // A number is a number, whatever the statement wants.
            (21, "5", Some(SqlType::BigInt), Value::Int(5)),
            (20, "5", Some(VARCHAR), Value::Int(5)),
            (1700, "5", Some(SqlType::BigInt), Value::Decimal(5.into())),
            (0, "\\x00", Some(SqlType::Varbinary), Value::Bytes(vec![0])),
            (0, "t", Some(SqlType::Boolean), Value::Bool(true)),
            // Instants of one millisecond are both.
            (0, "2024-05-01 12:30:00", Some(SqlType::Date), Value::Date(1_714_566_600_000)),
            (0, "2024-05-01 12:30:00", Some(SqlType::Timestamp), at(1_714_566_600_000)),
            (0, "12:30:00", Some(SqlType::Time), Value::Date(45_000_000)),
            (1114, "12:30:00", Some(SqlType::Time), Value::Date(45_000_000)),
            (1083, "12:30:00", Some(SqlType::Time), Value::Date(45_000_000)),
            (0, "2024-05-01 12:30:00", Some(SqlType::UnsignedTime), Value::Date(1_714_566_600_000)),
            (1082, "2024-05-01", Some(SqlType::Timestamp), at(1_714_521_600_000)),
            (1184, "2024-05-01 12:30:00+02", Some(SqlType::Date), Value::Date(1_714_559_400_000)),
            (0, "{1,NULL}", array_of(SqlType::Integer), Value::Array(vec![Value::Int(1), Value::Null])),
            (25, "{1,2}", array_of(SqlType::Integer), Value::from(vec![1, 2])),
            (1009, "{1,2}", array_of(SqlType::Integer), Value::from(vec![1, 2])),
            (0, "{2024-05-01}", array_of(SqlType::Date), Value::Array(vec![Value::Date(1_714_521_600_000)])),
            (25, "{1,2}", None, text("{1,2}")),
            (1007, "{1,2}", None, Value::from(vec![1, 2])),
        ] {
            assert_eq!(
                decode(Some(bytes.as_bytes()), Text, oid, wanted).unwrap(),
                expected,
                "{oid} {bytes} {wanted:?}"
            );
        }
        // More digits than milliseconds are kept.
        let micros = Value::Timestamp(Timestamp { ms: 1, nanos: 1000 });
        assert_eq!(decode(Some(b"1970-01-01 00:00:00.001001"), Text, 1114, Some(SqlType::Date)).unwrap(), micros);
        let error = decode(Some(b"abc"), Text, 25, Some(SqlType::Integer)).unwrap_err();
        assert_eq!(error.to_string(), "invalid input syntax for type integer: \"abc\"");
        let error = decode(Some(b"{1,x}"), Text, 0, array_of(SqlType::Integer)).unwrap_err();
        assert_eq!(error.to_string(), "invalid input syntax for type integer: \"x\"");
    }

    #[test]
    fn bytes_without_a_type_are_those_of_the_wanted_one() {
        assert_eq!(decode(Some(&[0, 0, 0, 5]), Binary, 0, Some(SqlType::Integer)).unwrap(), Value::Int(5));
        assert_eq!(decode(Some(b"abc"), Binary, 0, None).unwrap(), Value::text("abc"));
        assert_eq!(decode(Some(&[0; 8]), Binary, 0, Some(SqlType::Date)).unwrap(), Value::Date(946_684_800_000));
        // A text is a text in both formats.
        assert_eq!(decode(Some(b"7"), Binary, 25, Some(SqlType::Integer)).unwrap(), Value::Int(7));
    }

    #[test]
    fn refuses_hostile_bytes() {
        let state = |bytes: &[u8], format, oid| decode(Some(bytes), format, oid, None).unwrap_err().sqlstate();
        for (bytes, oid) in [
            (&[][..], 23),
            (&[0, 0, 0], 23),
            (&[0; 5], 23),
            (&[0; 4], 20),
            (&[], 16),
            (&[0; 15], 2950),
            (&[0; 15], 1186),
            (&[], 3802),
            (b"\x02{}", 3802),
            (&[0; 7], 1114),
            (&[0; 3], 1700),
        ] {
            assert_eq!(state(bytes, Binary, oid), "22P03", "{bytes:?} {oid}");
        }
        for oid in [0, 25, 114, 1042, 1043] {
            assert_eq!(state(b"a\xff", Text, oid), "22021");
            assert_eq!(state(b"a\xff", Binary, oid), "22021");
        }
        assert_eq!(state(b"\x01\xff", Binary, 3802), "22021");
        assert_eq!(state(b"\xff", Text, 23), "22021");
        let message = decode(Some(b"ab\xc3("), Text, 25, None).unwrap_err().to_string();
        assert_eq!(message, "invalid byte sequence for encoding \"UTF8\" in a value of type text, after 2 bytes: 0xc3");
        for (bytes, oid) in [
            (&i64::MAX.to_be_bytes()[..], 1114),
            (&i64::MIN.to_be_bytes(), 1184),
            (&i32::MAX.to_be_bytes(), 1082),
            (&(-1i64).to_be_bytes(), 1083),
            (&86_400_000_001i64.to_be_bytes(), 1083),
            (&[0x7f; 16], 1186),
        ] {
            assert_eq!(state(bytes, Binary, oid), "22008", "{bytes:?} {oid}");
        }
        assert_eq!(state(b"", Text, 600), "0A000");
        assert!(decode(None, Text, 600, None).is_err());
    }

    #[test]
    fn elements_have_the_declared_type() {
        let array = |element_oid: u32, element: &[u8]| {
            let mut bytes: Vec<u8> =
                [1, 0, element_oid, 1, 1, element.len() as u32].into_iter().flat_map(u32::to_be_bytes).collect();
            bytes.extend(element);
            bytes
        };
        let read = |bytes: &[u8], oid| decode(Some(bytes), Binary, oid, None);
        assert_eq!(read(&array(23, &[0, 0, 0, 7]), 1007).unwrap(), Value::from(vec![7]));
        assert_eq!(read(&array(25, b"ab"), 1015).unwrap(), Value::from(vec!["ab"]));
        assert_eq!(read(&array(21, &[0, 7]), 1007).unwrap_err().sqlstate(), "22P03");
        assert_eq!(read(&array(0, b"ab"), 1009).unwrap_err().sqlstate(), "22P03");
        let wanted = array_of(SqlType::Integer);
        assert_eq!(decode(Some(&array(25, b"12")), Binary, 1009, wanted).unwrap(), Value::from(vec![12]));
    }
}
