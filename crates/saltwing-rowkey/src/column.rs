//! One column at its position in the key: framing, NULL, and the values that the position forbids.

use saltwing_types::{Decimal, KeyColumn, SortOrder, SqlType, Value};

use crate::error::shown;
use crate::{BadBytes, KeyValueError, RowKeyError, ValueCodec, escape};

/// First value that a nullable DECIMAL DESC column refuses, 1E122, as a power of ten.
///
/// From 1E124 on inverted bytes would begin with 00, as NULL's do; from 1E122
/// on with 01, and Phoenix's scans for `> x` start after them, at `01 FF`.
pub(crate) const NULLABLE_DESC_DECIMAL_DIGITS_MAX: i32 = 122;

/// How a column's end is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes.
    Fixed(usize),
    /// Up to a separator: 00, or FF after a DESC value.
    Separated,
    /// Up to a separator of two bytes: 00 01, or FF FE after a DESC value.
    Escaped,
    /// To the end of the key.
    Rest,
    /// To the end of the key; a DESC value has the terminator FF there.
    Array,
}

/// A key column and its place.
#[derive(Clone, Debug)]
pub(crate) struct ColumnCodec {
    pub(crate) name: String,
    pub(crate) value: ValueCodec,
    pub(crate) framing: Framing,
    pub(crate) nullable: bool,
    /// Whether no column follows in the key.
    pub(crate) last: bool,
}

/// Whether arrays of this type have one: elements of variable width are separated, so none may hold a separator.
fn has_key_form(element: SqlType) -> bool {
    match element {
        SqlType::Varchar(_) | SqlType::Decimal(_) => true,
        other => other.fixed_key_bytes().is_some_and(|width| width > 0),
    }
}

/// The piece of a key that one column takes.
pub(crate) enum KeyPart {
    /// NULL, written as a separator of this many bytes.
    Null { separator: usize },
    /// A value of `len` bytes, then `separator` bytes, after which more must
    /// follow if `promises_more`.
    Value { len: usize, separator: usize, promises_more: bool },
    /// A value that extends to the end of the key, without a separator.
    Final { len: usize },
}

impl ColumnCodec {
    /// Whether it writes each value as the other one does, whatever their names are.
    pub(crate) fn has_bytes_of(&self, other: &Self) -> bool {
        let Self { name: _, value, framing, nullable, last } = self;
        (*value, *framing, *nullable, *last) == (other.value, other.framing, other.nullable, other.last)
    }

    pub(crate) fn new(column: &KeyColumn, last: bool) -> Result<Self, RowKeyError> {
        let refuse = |reason| Err(RowKeyError::Definition { column: column.name.clone(), ty: column.ty, reason });
        let framing = match (column.ty, column.ty.fixed_key_bytes()) {
            (SqlType::Null, _) => return refuse("a key column needs a type"),
            (SqlType::Json, _) => return refuse("JSON has no key form"),
            (SqlType::Interval, _) => return refuse("INTERVAL has no key form"),
            (_, Some(0)) => return refuse("a key column needs a width of at least 1"),
            (_, Some(_)) if column.nullable => return refuse("a fixed-width key column has no form for NULL"),
            (_, Some(width)) => Framing::Fixed(width),
            (SqlType::Varbinary, _) if !last => return refuse("only the last key column can be VARBINARY"),
            (SqlType::Varbinary, _) if column.order == SortOrder::Desc => {
                return refuse("a VARBINARY key column cannot be descending");
            }
            (SqlType::Varbinary, _) => Framing::Rest,
            (SqlType::VarbinaryEncoded, _) => Framing::Escaped,
            (SqlType::Array(..), _) if !last => return refuse("only the last key column can be an array"),
            (SqlType::Array(element, _), _) if !has_key_form(element.sql_type()) => {
                return refuse("arrays of this type have no key form");
            }
            (SqlType::Array(..), _) => Framing::Array,
            _ => Framing::Separated,
        };
        let value = ValueCodec::new(column.ty, column.order);
        Ok(Self { name: column.name.clone(), value, framing, nullable: column.nullable, last })
    }

    pub(crate) fn error(&self, error: KeyValueError) -> RowKeyError {
        RowKeyError::Value { column: self.name.clone(), error }
    }

    pub(crate) fn is_desc(&self) -> bool {
        self.value.is_desc()
    }

    /// Appends the value bytes; refuses what this place in the key cannot hold.
    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        let start = out.len();
        let encoded = self.value.encode(value, out).and_then(|()| match self.framing {
            Framing::Fixed(_) => Ok(()),
            _ => self.check_place(value, out.get(start..).unwrap_or_default()),
        });
        encoded.map_err(|error| self.error(error))
    }

    fn check_place(&self, value: &Value, stored: &[u8]) -> Result<(), KeyValueError> {
        let ty = self.value.sql_type();
        if self.nullable && stored.is_empty() {
            return Err(KeyValueError::EmptyNullable { ty });
        }
        match value {
            Value::Text(text) => match text.bytes().position(|byte| byte == 0) {
                Some(offset) if !self.holds_nul() || (self.nullable && offset == 0) => {
                    Err(KeyValueError::NulByte { value: shown(value, ty), offset })
                }
                _ => Ok(()),
            },
            Value::Bytes(data) if self.reserves_ff() && data.first() == Some(&0xff) => {
                Err(KeyValueError::BeginsLikeNull { value: shown(value, ty), ty })
            }
            Value::Decimal(d) if self.beyond_nullable_desc(*d) => {
                Err(self.value.out_of_range(value, "below 1E122, as it is nullable and descending"))
            }
            _ => Ok(()),
        }
    }

    /// Whether text may hold NUL bytes (none in front if it is nullable).
    pub(crate) fn holds_nul(&self) -> bool {
        self.last && !self.is_desc()
    }

    /// Whether values that begin with FF are refused: inverted and escaped
    /// they begin with 00, as NULL does.
    pub(crate) fn reserves_ff(&self) -> bool {
        self.framing == Framing::Escaped && self.nullable && self.is_desc() && !self.last
    }

    /// Whether a number is refused because the column is nullable and descending.
    pub(crate) fn beyond_nullable_desc(&self, d: Decimal) -> bool {
        self.nullable && self.is_desc() && !d.is_negative() && d.integer_digits() > NULLABLE_DESC_DECIMAL_DIGITS_MAX
    }

    /// Appends the terminator of a DESC value.
    pub(crate) fn write_terminator(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.terminator());
    }

    /// The terminator of a DESC value; nothing for others.
    pub(crate) fn terminator(&self) -> &'static [u8] {
        match self.framing {
            Framing::Separated | Framing::Array if self.is_desc() => &[0xff],
            Framing::Escaped if self.is_desc() => &[0xff, 0xfe],
            _ => &[],
        }
    }

    /// Appends the separator of an ASC value, if another column follows.
    pub(crate) fn write_separator(&self, out: &mut Vec<u8>) {
        if !self.is_desc() {
            self.write_null(out);
        }
    }

    /// Appends a NULL that another column follows.
    pub(crate) fn write_null(&self, out: &mut Vec<u8>) {
        match self.framing {
            Framing::Separated => out.push(0),
            Framing::Escaped => out.extend_from_slice(&[0, 1]),
            Framing::Fixed(_) | Framing::Rest | Framing::Array => {}
        }
    }

    /// Whether a value may have no bytes at all, not even a terminator.
    pub(crate) fn may_be_empty(&self) -> bool {
        match self.framing {
            Framing::Fixed(_) => false,
            Framing::Rest => true,
            Framing::Separated | Framing::Escaped | Framing::Array => !self.is_desc(),
        }
    }

    /// Finds this column at the front of `key`, which is not empty.
    #[inline]
    pub(crate) fn split(&self, key: &[u8]) -> Result<KeyPart, BadBytes> {
        match self.framing {
            Framing::Fixed(width) if key.len() >= width => {
                Ok(KeyPart::Value { len: width, separator: 0, promises_more: false })
            }
            Framing::Fixed(_) => Err(BadBytes("the key ends inside the column")),
            Framing::Rest => Ok(KeyPart::Final { len: key.len() }),
            Framing::Separated if self.nullable && !self.last && key.first() == Some(&0) => {
                Ok(KeyPart::Null { separator: 1 })
            }
            Framing::Escaped if self.nullable && !self.last && key.starts_with(&[0, 1]) => {
                Ok(KeyPart::Null { separator: 2 })
            }
            _ if self.last && !self.is_desc() => Ok(KeyPart::Final { len: key.len() }),
            Framing::Separated => {
                let separator = self.value.mask();
                self.until(key, key.iter().position(|byte| *byte == separator), 1)
            }
            Framing::Array => match key.split_last() {
                Some((0xff, value)) => self.until(key, Some(value.len()), 1),
                _ => self.until(key, None, 1),
            },
            Framing::Escaped => self.until(key, escape::find_separator(key, self.value.mask())?, 2),
        }
    }

    fn until(&self, key: &[u8], end: Option<usize>, separator: usize) -> Result<KeyPart, BadBytes> {
        match (end, self.is_desc()) {
            (Some(0), _) if self.nullable => Err(BadBytes("an empty value in a nullable column")),
            (Some(len), desc) => Ok(KeyPart::Value { len, separator, promises_more: !desc }),
            (None, false) => Ok(KeyPart::Final { len: key.len() }),
            (None, true) => Err(BadBytes("a descending value without its terminator")),
        }
    }
}
