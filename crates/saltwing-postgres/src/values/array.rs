//! Arrays on their way to the client.
//!
//! As text `{1,NULL,"a b"}`. In the binary format:
//!
//! ```text
//! [dimensions] [has NULL] [type of elements] [elements] [first index] [length][element] ...
//!  i32: 0 or 1  i32        u32                i32        i32: 1        i32, -1 is NULL
//! ```
//!
//! An empty array has no dimension and ends after the type.

use bytes::{BufMut, BytesMut};
use saltwing::{SqlType, Value};

use super::error::WireError;
use super::pg_type::BaseType;

/// Appends an array as text. An element that could be taken for something else stands in quotes. `push` appends the text of an element that is not
/// NULL.
///
/// # Errors
/// Those of an element.
pub(super) fn push_text(
    out: &mut BytesMut,
    elements: &[Value],
    push: impl Fn(&mut BytesMut, &Value) -> Result<(), WireError>,
) -> Result<(), WireError> {
    out.put_u8(b'{');
    for (index, value) in elements.iter().enumerate() {
        if index > 0 {
            out.put_u8(b',');
        }
        if value.is_null() {
            out.put_slice(b"NULL");
            continue;
        }
        let start = out.len();
        push(out, value)?;
        let (_, body) = out.split_at(start);
        if needs_quotes(body) {
            let body = body.to_vec();
            out.truncate(start);
            push_quoted(out, &body);
        }
    }
    out.put_u8(b'}');
    Ok(())
}

/// Whether PostgreSQL puts an element in quotes: an empty one, the word NULL, and one with a character that means something in an
/// array.
fn needs_quotes(element: &[u8]) -> bool {
    let means_something = |byte: &u8| matches!(byte, b'"' | b'\\' | b'{' | b'}' | b',' | b' ' | b'\t'..=b'\r');
    element.is_empty() || element.eq_ignore_ascii_case(b"NULL") || element.iter().any(means_something)
}

fn push_quoted(out: &mut BytesMut, element: &[u8]) {
    out.put_u8(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            out.put_u8(b'\\');
        }
        out.put_u8(*byte);
    }
    out.put_u8(b'"');
}

/// Appends an array in the binary format. `push` appends the length and the bytes of an element.
///
/// # Errors
/// Those of an element; [`WireError::TooLong`] for more elements than 31 bits count.
pub(super) fn push_binary(
    out: &mut BytesMut,
    elements: &[Value],
    element: SqlType,
    push: impl Fn(&mut BytesMut, &Value) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let count = i32::try_from(elements.len()).map_err(|_| WireError::TooLong { bytes: elements.len() })?;
    out.put_i32(i32::from(count > 0));
    out.put_i32(elements.iter().any(Value::is_null).into());
    out.put_u32(BaseType::of_sql(element).oid());
    if count > 0 {
        out.put_i32(count);
        out.put_i32(1);
    }
    elements.iter().try_for_each(|value| push(out, value))
}
