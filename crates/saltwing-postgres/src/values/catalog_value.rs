//! Values of PostgreSQL's catalog, whose form is not the one that the library's type has.
//!
//! | type | the library's | as text | binary |
//! |---|---|---|---|
//! | `oid`, `xid`, `regclass` .. | BIGINT | the same | 32 bits without a sign |
//! | `oid[]` | BIGINT ARRAY | the same | an array of such |
//! | `int2vector`, `oidvector` | an ARRAY | with blanks between, without brackets | an array whose first index is 0 |
//! | `timestamptz` | TIMESTAMP, of UTC | with `+00` at the end | the same |

use bytes::{BufMut, BytesMut};
use saltwing::{SqlType, Value, ValueRef};

use super::encode::encode;
use super::error::WireError;
use super::format::Format;

const INT2: u32 = 21;
const INT2_VECTOR: u32 = 22;
const OID: u32 = 26;
const OID_VECTOR: u32 = 30;
const OID_ARRAY: u32 = 1028;
const TIMESTAMPTZ: u32 = 1184;
const LENGTH_BYTES: usize = size_of::<i32>();

/// Whether values of a type are unsigned numbers of 32 bits: oid, xid, cid, regproc, regclass, regtype, regnamespace, regrole.
pub(crate) fn is_object_id(oid: u32) -> bool {
    matches!(oid, 24 | 26 | 28 | 29 | 2205 | 2206 | 4089 | 4096)
}

/// Appends a value of a column that the client takes for one of the type `oid`: the length and the bytes, as [`encode`] does. A value that does not
/// fit that type has the form of the library's.
///
/// # Errors
/// As [`encode`].
pub(crate) fn encode_as(
    value: &ValueRef<'_>,
    ty: SqlType,
    oid: u32,
    format: Format,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let start = out.len();
    let is_done = match (value, format) {
        (ValueRef::Int(number), Format::Binary) if is_object_id(oid) => push_id(out, *number),
        (ValueRef::Owned(Value::Array(elements)), Format::Text) if matches!(oid, INT2_VECTOR | OID_VECTOR) => {
            push_vector_text(out, elements)
        }
        (ValueRef::Owned(Value::Array(elements)), Format::Binary) => match oid {
            INT2_VECTOR => push_array(out, elements, INT2, 0),
            OID_VECTOR => push_array(out, elements, OID, 0),
            OID_ARRAY => push_array(out, elements, OID, 1),
            _ => None,
        },
        (ValueRef::Owned(_), Format::Text) if oid == TIMESTAMPTZ => {
            encode(value, ty, format, out)?;
            out.put_slice(b"+00");
            Some(())
        }
        _ => None,
    };
    if is_done.is_none() {
        out.truncate(start);
        return encode(value, ty, format, out);
    }
    let bytes = out.len().saturating_sub(start).saturating_sub(LENGTH_BYTES);
    let length = i32::try_from(bytes).map_err(|_| WireError::TooLong { bytes })?;
    if let Some(field) = out.get_mut(start..start.saturating_add(LENGTH_BYTES)) {
        field.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Appends the place of a length, and a number of 32 bits; `None` of another number.
fn push_id(out: &mut BytesMut, number: i64) -> Option<()> {
    let number = u32::try_from(number).ok()?;
    out.put_i32(0);
    out.put_u32(number);
    Some(())
}

fn number(value: &Value) -> Option<i64> {
    if let Value::Int(number) = value { Some(*number) } else { None }
}

fn push_vector_text(out: &mut BytesMut, elements: &[Value]) -> Option<()> {
    let numbers: Option<Vec<String>> = elements.iter().map(|value| Some(number(value)?.to_string())).collect();
    out.put_i32(0);
    out.put_slice(numbers?.join(" ").as_bytes());
    Some(())
}

/// Appends the place of a length, and an array of numbers without NULLs.
fn push_array(out: &mut BytesMut, elements: &[Value], element: u32, first: i32) -> Option<()> {
    out.put_i32(0);
    out.put_i32(i32::from(!elements.is_empty()));
    out.put_i32(0);
    out.put_u32(element);
    if !elements.is_empty() {
        out.put_i32(i32::try_from(elements.len()).ok()?);
        out.put_i32(first);
    }
    for value in elements {
        let number = number(value)?;
        if element == INT2 {
            out.put_i32(2);
            out.put_i16(i16::try_from(number).ok()?);
        } else {
            out.put_i32(4);
            out.put_u32(u32::try_from(number).ok()?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use saltwing::Timestamp;

    use super::*;

    fn encoded(value: &ValueRef<'_>, ty: SqlType, oid: u32, format: Format) -> Vec<u8> {
        let mut out = BytesMut::from(&b"before"[..]);
        encode_as(value, ty, oid, format, &mut out).unwrap();
        let bytes = out.split_off(6);
        let (length, body) = bytes.split_at(4);
        assert_eq!(length, (body.len() as i32).to_be_bytes());
        body.to_vec()
    }

    #[test]
    fn values_have_the_forms_of_postgresql() {
        let numbers = |numbers: &[i64]| ValueRef::Owned(Value::Array(numbers.iter().map(|n| Value::Int(*n)).collect()));
        let shorts = SqlType::array(SqlType::SmallInt).unwrap();
        let longs = SqlType::array(SqlType::BigInt).unwrap();
        let (text, binary) = (Format::Text, Format::Binary);
        assert_eq!(encoded(&numbers(&[3, -7]), shorts, INT2_VECTOR, text), b"3 -7");
        assert_eq!(encoded(&numbers(&[]), shorts, INT2_VECTOR, text), b"");
        assert_eq!(encoded(&numbers(&[3, 7]), shorts, 1005, text), b"{3,7}");
        assert_eq!(
            encoded(&numbers(&[]), longs, OID_ARRAY, binary),
            [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 26]].concat()
        );
        let header = [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 26], [0, 0, 0, 1], [0, 0, 0, 1]].concat();
        let one = [&header[..], &[0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff]].concat();
        assert_eq!(encoded(&numbers(&[u32::MAX.into()]), longs, OID_ARRAY, binary), one);
        assert_eq!(encoded(&ValueRef::Int(1259), SqlType::BigInt, OID, binary), 1259_u32.to_be_bytes());
        assert_eq!(encoded(&ValueRef::Int(1259), SqlType::BigInt, OID, text), b"1259");
        assert_eq!(encoded(&ValueRef::Int(-1), SqlType::BigInt, OID, binary), (-1_i64).to_be_bytes());
        assert_eq!(encoded(&ValueRef::Int(5), SqlType::BigInt, 20, binary), 5_i64.to_be_bytes());
        let at = ValueRef::Owned(Value::Timestamp(Timestamp { ms: 0, nanos: 0 }));
        assert_eq!(encoded(&at, SqlType::Timestamp, TIMESTAMPTZ, text), b"1970-01-01 00:00:00+00");
        assert_eq!(encoded(&at, SqlType::Timestamp, 1114, text), b"1970-01-01 00:00:00");
    }

    #[test]
    fn null_has_no_form() {
        for oid in [INT2_VECTOR, OID, OID_ARRAY, TIMESTAMPTZ] {
            for format in [Format::Text, Format::Binary] {
                let mut out = BytesMut::new();
                encode_as(&ValueRef::Null, SqlType::BigInt, oid, format, &mut out).unwrap();
                assert_eq!(&out[..], (-1_i32).to_be_bytes());
            }
        }
    }
}
