//! One value as bytes and back: its type and direction are chosen once.

use std::cmp::Ordering;

use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, SortOrder, SqlType, Value};

use crate::decimal::Magnitude;
use crate::error::shown;
use crate::{BadBytes, KeyValueError, array, decimal, escape, scalar};

/// Largest count of nanoseconds below the millisecond.
const NANOS_MAX: u32 = 999_999;

/// Encodes and decodes the values of one type in one direction.
///
/// *Value bytes* are what stands in the key for a value that is not NULL,
/// without any separator. The typed readers (`read_i64` and kin) take stored
/// value bytes and allocate nothing; each refuses types that are not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCodec {
    ty: SqlType,
    /// 00 for ASC, FF for DESC: what stored bytes are combined with.
    mask: u8,
}

impl ValueCodec {
    /// A codec of one type and direction.
    pub fn new(ty: SqlType, order: SortOrder) -> Self {
        let ty = if ty == SqlType::Uuid { SqlType::Binary(16) } else { ty };
        Self { ty, mask: if order == SortOrder::Desc { 0xff } else { 0 } }
    }

    /// The type.
    pub fn sql_type(&self) -> SqlType {
        self.ty
    }

    /// The direction.
    pub fn order(&self) -> SortOrder {
        if self.is_desc() { SortOrder::Desc } else { SortOrder::Asc }
    }

    /// The stored bytes of a value, for comparisons; `None` if it has no key form.
    pub fn stored(&self, value: &Value) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.encode(value, &mut out).ok().map(|()| out)
    }

    /// The order of two arrays in a key, whose last column they are: that of their stored bytes with the terminator that
    /// ends a DESC column. Arrays without a key form come first.
    pub fn compare_arrays(&self, a: &Value, b: &Value) -> Ordering {
        let [a, b] = [a, b].map(|array| {
            let mut bytes = self.stored(array)?;
            if self.is_desc() {
                bytes.push(0xff);
            }
            Some(bytes)
        });
        a.cmp(&b)
    }

    /// The codec of an array's elements, in the same direction.
    pub(crate) fn elements(&self) -> Option<Self> {
        self.ty.element().map(|ty| Self::new(ty, self.order()))
    }

    pub(crate) fn is_desc(&self) -> bool {
        self.mask != 0
    }

    pub(crate) fn mask(&self) -> u8 {
        self.mask
    }

    /// Appends value bytes, no separator. After an error `out` may hold a part of them.
    ///
    /// # Errors
    /// [`KeyValueError`]: NULL, a value of another kind, or one outside the type. What
    /// only the place in a key forbids (NUL bytes, empty values) is
    /// [`crate::RowKeyCodec`]'s to refuse.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        let start = out.len();
        self.encode_ascending(value, out)?;
        self.invert(start, out);
        Ok(())
    }

    /// Turns the bytes of `encode_ascending` from `start` on into stored ones.
    pub(crate) fn invert(&self, start: usize, out: &mut [u8]) {
        if self.is_desc() && !matches!(self.ty, SqlType::Array(..)) {
            out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
        }
    }

    /// Appends the bytes that an ascending column stores. Those of an array are stored ones already, because a descending
    /// array inverts its elements and not all of its bytes.
    pub(crate) fn encode_ascending(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        use SqlType as T;
        let signed = !self.ty.is_unsigned();
        match (value, self.ty) {
            (Value::Null, _) => return Err(KeyValueError::Null),
            (Value::Int(i), ty) => match (ty.integer_range(), ty.fixed_key_bytes()) {
                (Some((low, high)), Some(width)) => {
                    if !(low..=high).contains(i) {
                        return Err(self.out_of_range(value, &format!("{low} to {high}")));
                    }
                    scalar::write_int(*i, width, signed, out);
                }
                _ => return Err(self.wrong_kind(value)),
            },
            (Value::Bool(b), T::Boolean) => out.push((*b).into()),
            (Value::Float(f), T::Float | T::UnsignedFloat) => {
                self.check_sign(value, *f < 0.0)?;
                scalar::write_f32(*f, signed, out);
            }
            (Value::Double(f), T::Double | T::UnsignedDouble) => {
                self.check_sign(value, *f < 0.0)?;
                scalar::write_f64(*f, signed, out);
            }
            (Value::Date(ms), T::Date | T::Time | T::UnsignedDate | T::UnsignedTime) => {
                self.check_sign(value, *ms < 0)?;
                scalar::write_int(*ms, 8, signed, out);
            }
            (Value::Timestamp(at), T::Timestamp | T::UnsignedTimestamp) => {
                self.check_sign(value, at.ms < 0)?;
                if at.nanos > NANOS_MAX {
                    return Err(self.out_of_range(value, "0 to 999999 nanoseconds below the millisecond"));
                }
                scalar::write_int(at.ms, 8, signed, out);
                out.extend_from_slice(&at.nanos.to_be_bytes());
            }
            (Value::Decimal(d), T::Decimal(limits)) => self.encode_decimal(*d, limits, out)?,
            (Value::Text(text), T::Varchar(limit)) => self.encode_varchar(text, limit, out)?,
            (Value::Text(text), T::Char(width)) => self.encode_char(text, width, out)?,
            (Value::Bytes(bytes), T::Binary(width)) => self.encode_binary(bytes, width, out)?,
            (Value::Bytes(bytes), T::Varbinary) => out.extend_from_slice(bytes),
            (Value::Bytes(bytes), T::VarbinaryEncoded) => escape::write(bytes, out),
            (Value::Array(elements), T::Array(..)) => {
                let codec = self.elements().ok_or_else(|| self.wrong_kind(&Value::Null))?;
                array::write(elements, &codec, out)?;
            }
            _ => return Err(self.wrong_kind(value)),
        }
        Ok(())
    }

    fn encode_decimal(&self, d: Decimal, limits: Option<(u8, u8)>, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        if let Some((precision, scale)) = limits {
            let whole = i32::from(precision) - i32::from(scale);
            if d.integer_digits() > whole || d.scale() > i32::from(scale) {
                let limit = format!("{whole} digits before the decimal point, {scale} after it");
                return Err(self.out_of_range(&Value::Decimal(d), &limit));
            }
        }
        decimal::write(d, out).map_err(|magnitude| {
            let limit = match (magnitude, d.is_negative()) {
                (Magnitude::TooSmall, _) => "zero, or at least 1E-126 from it",
                (Magnitude::TooLarge, true) => "above -1E124",
                (Magnitude::TooLarge, false) => "below 1E126",
            };
            self.out_of_range(&Value::Decimal(d), limit)
        })
    }

    fn encode_varchar(&self, text: &str, limit: Option<u32>, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        // A text never has more UTF-16 units than bytes.
        if let Some(limit) = limit.filter(|limit| text.len() > *limit as usize) {
            let length = text.encode_utf16().count();
            if length > limit as usize {
                return Err(self.too_long(&Value::text(text), length, limit));
            }
        }
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn encode_char(&self, text: &str, width: u32, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        let text = text.trim_end_matches(' ');
        if let Some(character) = text.chars().find(|c| !c.is_ascii()) {
            let value = shown(&Value::text(text), self.ty);
            return Err(KeyValueError::WideCharacter { value, ty: self.ty, character });
        }
        if text.len() > width as usize {
            return Err(self.too_long(&Value::text(text), text.len(), width));
        }
        let end = out.len() + width as usize;
        out.extend_from_slice(text.as_bytes());
        out.resize(end, b' ');
        Ok(())
    }

    fn encode_binary(&self, bytes: &[u8], width: u32, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        if bytes.len() > width as usize {
            return Err(self.too_long(&Value::Bytes(bytes.to_vec()), bytes.len(), width));
        }
        let end = out.len() + width as usize;
        out.extend_from_slice(bytes);
        out.resize(end, 0);
        Ok(())
    }

    fn check_sign(&self, value: &Value, negative: bool) -> Result<(), KeyValueError> {
        if negative && self.ty.is_unsigned() {
            let limit =
                if matches!(value, Value::Date(_) | Value::Timestamp(_)) { "from 1970 on" } else { "from 0 on" };
            return Err(self.out_of_range(value, limit));
        }
        Ok(())
    }

    pub(crate) fn out_of_range(&self, value: &Value, limit: &str) -> KeyValueError {
        KeyValueError::OutOfRange { value: shown(value, SqlType::Null), ty: self.ty, limit: limit.to_owned() }
    }

    pub(crate) fn wrong_kind(&self, value: &Value) -> KeyValueError {
        KeyValueError::WrongKind { value: shown(value, SqlType::Null), ty: self.ty }
    }

    fn too_long(&self, value: &Value, length: usize, limit: u32) -> KeyValueError {
        KeyValueError::TooLong { value: shown(value, self.ty), ty: self.ty, length, limit }
    }
}

impl array::ElementCodec for ValueCodec {
    fn sql_type(&self) -> SqlType {
        self.ty
    }

    fn separator(&self) -> u8 {
        self.mask
    }

    fn encode(&self, element: &Value, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
        ValueCodec::encode(self, element, out)
    }

    fn decode(&self, stored: &[u8]) -> Result<Value, BadBytes> {
        ValueCodec::decode(self, stored)
    }
}

/// Reads integers of one type whose value bytes come as the numbers that they are in big endian.
#[derive(Clone, Copy, Debug)]
pub struct IntegerReader {
    mask: u64,
    sign: u64,
    signed: bool,
}

impl IntegerReader {
    /// The integer, or the milliseconds of a DATE or TIME.
    ///
    /// # Errors
    /// [`BadBytes`] for a negative value in an unsigned type.
    #[inline]
    pub fn read(&self, stored: u64) -> Result<i64, BadBytes> {
        let raw = stored ^ self.mask;
        match self.signed {
            true => Ok((raw as i64).wrapping_sub(self.sign as i64)),
            false if raw & self.sign == 0 => Ok(raw as i64),
            false => Err(scalar::NEGATIVE),
        }
    }
}

/// Typed readers of stored value bytes.
impl ValueCodec {
    /// The value.
    ///
    /// # Errors
    /// [`BadBytes`] when the bytes stand for no value of the type.
    pub fn decode(&self, stored: &[u8]) -> Result<Value, BadBytes> {
        use SqlType as T;
        Ok(match self.ty {
            T::Null => return Err(BadBytes("a column without a type")),
            T::Boolean => Value::Bool(scalar::read_bool(stored, self.mask)?),
            T::Float | T::UnsignedFloat => Value::Float(self.read_f32(stored)?),
            T::Double | T::UnsignedDouble => Value::Double(self.read_f64(stored)?),
            T::Date | T::Time | T::UnsignedDate | T::UnsignedTime => Value::Date(self.read_i64(stored)?),
            T::Timestamp | T::UnsignedTimestamp => Value::Timestamp(self.read_timestamp(stored)?),
            T::Decimal(_) => {
                let (digits, scale) = self.read_decimal(stored)?;
                Value::Decimal(Decimal::new(digits, scale).map_err(|_| BadBytes("no DECIMAL"))?)
            }
            T::Char(_) | T::Varchar(_) => {
                let mut scratch = Vec::new();
                Value::text(self.read_text(stored, &mut scratch)?)
            }
            T::Binary(_) | T::Varbinary | T::VarbinaryEncoded => {
                let mut scratch = Vec::new();
                Value::Bytes(self.read_bytes(stored, &mut scratch)?.to_vec())
            }
            T::Array(..) => Value::Array(array::read(stored, &self.elements().ok_or(array::BAD)?)?),
            _ => Value::Int(self.read_i64(stored)?),
        })
    }

    /// An integer, or the milliseconds of a DATE or TIME.
    ///
    /// # Errors
    /// [`BadBytes`] for a wrong width, another type, a negative value in an unsigned type.
    #[inline]
    pub fn read_i64(&self, stored: &[u8]) -> Result<i64, BadBytes> {
        use SqlType as T;
        let (width, signed) = match self.ty {
            T::TinyInt => (1, true),
            T::SmallInt => (2, true),
            T::Integer => (4, true),
            T::BigInt | T::Date | T::Time => (8, true),
            T::UnsignedTinyInt => (1, false),
            T::UnsignedSmallInt => (2, false),
            T::UnsignedInt => (4, false),
            T::UnsignedLong | T::UnsignedDate | T::UnsignedTime => (8, false),
            _ => return Err(BadBytes("not an integer column")),
        };
        if stored.len() != width {
            return Err(BadBytes("wrong number of bytes"));
        }
        scalar::read_int(stored, signed, self.mask)
    }

    /// Reads as [`ValueCodec::read_i64`] does, from value bytes that come as numbers; `None` where that reads nothing.
    pub fn integers(&self) -> Option<IntegerReader> {
        let bits = match self.ty {
            SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime => 64,
            ty if ty.is_integer() => 8 * ty.fixed_key_bytes()? as u32,
            _ => return None,
        };
        let mask = if self.is_desc() { u64::MAX >> (64 - bits) } else { 0 };
        Some(IntegerReader { mask, sign: 1 << (bits - 1), signed: !self.ty.is_unsigned() })
    }

    /// A FLOAT or UNSIGNED_FLOAT.
    ///
    /// # Errors
    /// [`BadBytes`] for a wrong width, another type, a negative value in an unsigned type.
    #[inline]
    pub fn read_f32(&self, stored: &[u8]) -> Result<f32, BadBytes> {
        match self.ty {
            SqlType::Float | SqlType::UnsignedFloat => scalar::read_f32(stored, !self.ty.is_unsigned(), self.mask),
            _ => Err(BadBytes("not a FLOAT column")),
        }
    }

    /// A DOUBLE or UNSIGNED_DOUBLE.
    ///
    /// # Errors
    /// [`BadBytes`] for a wrong width, another type, a negative value in an unsigned type.
    #[inline]
    pub fn read_f64(&self, stored: &[u8]) -> Result<f64, BadBytes> {
        match self.ty {
            SqlType::Double | SqlType::UnsignedDouble => scalar::read_f64(stored, !self.ty.is_unsigned(), self.mask),
            _ => Err(BadBytes("not a DOUBLE column")),
        }
    }

    /// A TIMESTAMP or UNSIGNED_TIMESTAMP.
    ///
    /// # Errors
    /// [`BadBytes`] for a wrong width, another type, nanoseconds of a millisecond or more.
    #[inline]
    fn read_timestamp(&self, stored: &[u8]) -> Result<Timestamp, BadBytes> {
        let Some((ms, nanos)) = stored.split_first_chunk::<8>().filter(|_| self.ty.is_timestamp()) else {
            return Err(BadBytes("not the bytes of a TIMESTAMP"));
        };
        let ms = scalar::read_int(ms, !self.ty.is_unsigned(), self.mask)?;
        // Plain, not sign flipped: read as unsigned, which also refuses a set top bit.
        match (nanos.len(), scalar::read_int(nanos, false, self.mask)) {
            (4, Ok(nanos)) if nanos <= NANOS_MAX.into() => Ok(Timestamp { ms, nanos: nanos as u32 }),
            _ => Err(BadBytes("not the nanoseconds of a TIMESTAMP")),
        }
    }

    /// A DECIMAL as digits and scale, digits x 10^-scale, digits without trailing zeros.
    ///
    /// # Errors
    /// [`BadBytes`] for another type, and for bytes that are not the one form of a number.
    #[inline]
    pub fn read_decimal(&self, stored: &[u8]) -> Result<(i128, i32), BadBytes> {
        match self.ty {
            SqlType::Decimal(_) => decimal::read(stored, self.mask),
            _ => Err(BadBytes("not a DECIMAL column")),
        }
    }

    /// A CHAR (without its padding) or VARCHAR; ascending it borrows `stored`,
    /// descending it is put into `scratch`, whose content goes.
    ///
    /// # Errors
    /// [`BadBytes`] for another type, a wrong width, and invalid UTF-8.
    pub fn read_text<'a>(&self, stored: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<&'a str, BadBytes> {
        let plain = self.invert_into(stored, scratch);
        let text = match self.ty {
            SqlType::Varchar(_) => plain,
            SqlType::Char(width) if plain.len() == width as usize => {
                let end = plain.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
                plain.get(..end).unwrap_or_default()
            }
            SqlType::Char(_) => return Err(BadBytes("wrong number of bytes")),
            _ => return Err(BadBytes("not a text column")),
        };
        std::str::from_utf8(text).map_err(|_| BadBytes("text that is not UTF-8"))
    }

    /// A BINARY (with its padding), VARBINARY or VARBINARY_ENCODED; borrows
    /// `stored` where it can, else puts the bytes into `scratch`, whose content goes.
    ///
    /// # Errors
    /// [`BadBytes`] for another type, a wrong width, and a broken escape.
    pub fn read_bytes<'a>(&self, stored: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], BadBytes> {
        match self.ty {
            SqlType::Varbinary => Ok(self.invert_into(stored, scratch)),
            SqlType::Binary(width) if stored.len() == width as usize => Ok(self.invert_into(stored, scratch)),
            SqlType::Binary(_) => Err(BadBytes("wrong number of bytes")),
            SqlType::VarbinaryEncoded if !stored.contains(&self.mask) => Ok(self.invert_into(stored, scratch)),
            SqlType::VarbinaryEncoded => {
                scratch.clear();
                escape::read(stored, self.mask, scratch)?;
                Ok(scratch)
            }
            _ => Err(BadBytes("not a binary column")),
        }
    }

    fn invert_into<'a>(&self, stored: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        if !self.is_desc() {
            return stored;
        }
        scratch.clear();
        scratch.extend(stored.iter().map(|byte| !byte));
        scratch
    }
}
