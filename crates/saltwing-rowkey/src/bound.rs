//! The position of a value among the values that a key column can hold.
//!
//! A bound may be a value that no row can have: a number beyond the type, a
//! text longer than CHAR(n), one with a NUL byte. It still has a place between
//! values that rows can have, so ranges stay exact and nothing goes loose.

use std::cmp::Ordering;

use saltwing_types::{Decimal, SqlType, Value};

use crate::column::ColumnCodec;
use crate::decimal::Magnitude;
use crate::{KeyValueError, decimal, escape, scalar};

/// The place of a value, in value order (DESC does not matter here). `At`, `Below`
/// and `Above` come with the value bytes they refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It has these value bytes.
    At,
    /// Just below the value of these bytes, equal to none.
    Below,
    /// Just above the value of these bytes, equal to none.
    Above,
    /// Below all values but NULL, equal to none.
    BelowAll,
    /// Above all values, equal to none.
    AboveAll,
}

impl ColumnCodec {
    /// Finds the place of `value`; appends stored value bytes for `At`, `Below`, `Above`.
    ///
    /// A BINARY value that is too short is taken as padded; a longer one lies
    /// just above its first n bytes. A CHAR value compares as if padded with blanks.
    ///
    /// # Errors
    /// NULL, and values of another kind than the column's.
    pub(crate) fn place(&self, value: &Value, out: &mut Vec<u8>) -> Result<Place, KeyValueError> {
        let start = out.len();
        let place = self.place_ascending(value, out)?;
        let empty = out.len() == start;
        self.value.invert(start, out);
        match place {
            // The form of NULL: all values that rows have are larger.
            Place::At if empty && self.nullable => Ok(Place::BelowAll),
            place => Ok(place),
        }
    }

    fn place_ascending(&self, value: &Value, out: &mut Vec<u8>) -> Result<Place, KeyValueError> {
        use SqlType as T;
        let ty = self.value.sql_type();
        let signed = !ty.is_unsigned();
        let below_zero = match value {
            Value::Int(v) | Value::Date(v) => *v < 0,
            Value::Float(v) => *v < 0.0,
            Value::Double(v) => *v < 0.0,
            Value::Timestamp(at) => at.ms < 0,
            _ => false,
        };
        match (value, ty) {
            (Value::Int(_), _) if ty.is_integer() => return Ok(self.place_int(value, out)),
            (Value::Float(_), T::UnsignedFloat)
            | (Value::Double(_), T::UnsignedDouble)
            | (Value::Date(_), T::UnsignedDate | T::UnsignedTime)
            | (Value::Timestamp(_), T::UnsignedTimestamp)
                if below_zero =>
            {
                return Ok(Place::BelowAll);
            }
            (Value::Float(v), T::Float | T::UnsignedFloat) => scalar::write_f32(*v, signed, out),
            (Value::Double(v), T::Double | T::UnsignedDouble) => scalar::write_f64(*v, signed, out),
            (Value::Decimal(d), T::Decimal(_)) => return Ok(self.place_decimal(*d, out)),
            (Value::Text(text), T::Varchar(_)) => return Ok(self.place_varchar(text.as_bytes(), out)),
            (Value::Text(text), T::Char(width)) => return Ok(place_char(text.as_bytes(), width as usize, out)),
            (Value::Bytes(bytes), T::Binary(width)) => return Ok(place_binary(bytes, width as usize, out)),
            (Value::Bytes(bytes), T::Varbinary) => out.extend_from_slice(bytes),
            (Value::Bytes(bytes), T::VarbinaryEncoded) => {
                if self.reserves_ff() && bytes.first() == Some(&0xff) {
                    return Ok(Place::AboveAll);
                }
                escape::write(bytes, out);
            }
            // Types whose every value has a form, and arrays: of those, plans look for values that have a form.
            (Value::Bool(_), T::Boolean)
            | (Value::Date(_), T::Date | T::Time | T::UnsignedDate | T::UnsignedTime)
            | (Value::Timestamp(_), T::Timestamp | T::UnsignedTimestamp)
            | (Value::Array(_), T::Array(..)) => {
                self.value.encode_ascending(value, out)?;
            }
            (Value::Null, _) => return Err(KeyValueError::Null),
            _ => return Err(self.value.wrong_kind(value)),
        }
        Ok(Place::At)
    }

    fn place_int(&self, value: &Value, out: &mut Vec<u8>) -> Place {
        let start = out.len();
        match (self.value.encode_ascending(value, out), value) {
            (Ok(()), _) => Place::At,
            (Err(_), Value::Int(v)) if *v < 0 => {
                out.truncate(start);
                Place::BelowAll
            }
            (Err(_), _) => {
                out.truncate(start);
                Place::AboveAll
            }
        }
    }

    fn place_decimal(&self, d: Decimal, out: &mut Vec<u8>) -> Place {
        if self.beyond_nullable_desc(d) {
            return Place::AboveAll;
        }
        let negative = d.is_negative();
        match decimal::write(d, out) {
            Ok(()) => Place::At,
            Err(Magnitude::TooLarge) if negative => Place::BelowAll,
            Err(Magnitude::TooLarge) => Place::AboveAll,
            Err(Magnitude::TooSmall) => {
                // Zero always has a form; the number lies right beside it.
                let _ = decimal::write(Decimal::ZERO, out);
                if negative { Place::Below } else { Place::Above }
            }
        }
    }

    /// A text with a NUL byte where there can be none sorts right after its
    /// part before the NUL: any other text that begins so goes on with a larger byte.
    fn place_varchar(&self, text: &[u8], out: &mut Vec<u8>) -> Place {
        let nul = text.iter().position(|byte| *byte == 0);
        match nul {
            Some(0) if self.nullable => Place::BelowAll,
            Some(nul) if !self.holds_nul() => {
                out.extend_from_slice(text.get(..nul).unwrap_or_default());
                Place::Above
            }
            _ => {
                out.extend_from_slice(text);
                Place::At
            }
        }
    }
}

/// Characters of several bytes need no care: all their bytes are larger than
/// any that CHAR holds, so the bytes stand where the text does.
fn place_char(text: &[u8], width: usize, out: &mut Vec<u8>) -> Place {
    let (kept, beyond) = text.split_at_checked(width).unwrap_or((text, &[]));
    let end = out.len() + width;
    out.extend_from_slice(kept);
    out.resize(end, b' ');
    match beyond.iter().find(|byte| **byte != b' ').map(|byte| byte.cmp(&b' ')) {
        Some(Ordering::Less) => Place::Below,
        Some(_) => Place::Above,
        None => Place::At,
    }
}

fn place_binary(bytes: &[u8], width: usize, out: &mut Vec<u8>) -> Place {
    let (kept, beyond) = bytes.split_at_checked(width).unwrap_or((bytes, &[]));
    let end = out.len() + width;
    out.extend_from_slice(kept);
    out.resize(end, 0);
    if beyond.is_empty() { Place::At } else { Place::Above }
}
