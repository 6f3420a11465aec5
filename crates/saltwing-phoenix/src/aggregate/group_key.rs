//! The keys of groups: the values of their columns, one after the other.

use saltwing_types::{SqlType, Value};

use super::expression::ScanExpression;
use crate::error::shown_bytes;
use crate::{CellCodec, PhoenixError};

/// Most bytes of the values of cells in the key of a group, which has at most 32 KiB.
const CELLS_BYTES_MAX: u64 = 24 << 10;
/// Most bytes of a character, of which a limit counts UTF-16 units.
const CHARACTER_BYTES: u64 = 3;

/// Where a value ends in the key of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// After so many bytes.
    Width(usize),
    /// Before a zero.
    Zero,
    /// With the key.
    Key,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// The place among the columns.
    place: usize,
    expression: ScanExpression,
    end: End,
    codec: CellCodec,
}

/// Columns by which a scan groups in any order, and their values in the keys of groups.
///
/// The server writes the values one after the other, with a zero after those that vary in width. One column may hold zeros, or be absent
/// with a fixed width: it is the last one. Integers that may be NULL are DECIMALs there, as Phoenix has them.
///
/// # Laws
/// 1. Any bytes are read as values or an error, never a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupKey {
    parts: Vec<Part>,
}

impl GroupKey {
    /// The key of groups of these columns.
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] for no columns, for descending key columns, for columns whose values cannot be told from each other in the
    /// key, and for values that may be longer than a key.
    pub fn new(columns: Vec<ScanExpression>) -> Result<Self, PhoenixError> {
        if columns.is_empty() {
            return Err(not_pushed("groups without columns".into()));
        }
        check_length(&columns)?;
        let mut parts = columns.into_iter().enumerate().map(part).collect::<Result<Vec<_>, _>>()?;
        // Those that need an end of their own come first.
        parts.sort_by_key(|part| (part.end == End::Key, !part.expression.ty.is_integer()));
        if let Some((_, others)) = parts.split_last_mut() {
            for part in others.iter_mut().filter(|part| part.end == End::Key) {
                let decimal = part.expression.as_decimal()?;
                part.codec = codec(decimal.ty)?;
                (part.expression, part.end) = (decimal, End::Zero);
            }
        }
        Ok(Self { parts })
    }

    /// The expressions, in the order of the server.
    pub fn expressions(&self) -> Vec<ScanExpression> {
        self.parts.iter().map(|part| part.expression.clone()).collect()
    }

    /// The values in a key, in the order of the columns.
    ///
    /// # Errors
    /// [`PhoenixError::CorruptAggregates`] for bytes that are no key of such groups.
    pub fn read(&self, key: &[u8]) -> Result<Vec<Value>, PhoenixError> {
        self.values(key).ok_or_else(|| PhoenixError::CorruptAggregates { cell: shown_bytes(key) })
    }

    fn values(&self, key: &[u8]) -> Option<Vec<Value>> {
        let mut values = vec![Value::Null; self.parts.len()];
        let mut rest = key;
        for (at, part) in self.parts.iter().enumerate() {
            let is_last = at + 1 == self.parts.len();
            let (stored, after) = match part.end {
                End::Width(width) => rest.split_at_checked(width)?,
                End::Zero if !is_last => {
                    let end = rest.iter().position(|byte| *byte == 0)?;
                    (rest.get(..end)?, rest.get(end + 1..)?)
                }
                End::Zero | End::Key => (rest, &[][..]),
            };
            let value = part.codec.decode(stored).ok()?;
            *values.get_mut(part.place)? = match value {
                Value::Decimal(number) if part.is_integer() => Value::Int(number.to_i64()?),
                value => value,
            };
            rest = after;
        }
        rest.is_empty().then_some(values)
    }
}

impl Part {
    /// Whether a DECIMAL stands for an integer.
    fn is_integer(&self) -> bool {
        self.expression.is_integer_as_decimal
    }
}

/// A column, with the end that its values have by themselves.
fn part((place, expression): (usize, ScanExpression)) -> Result<Part, PhoenixError> {
    let ty = expression.ty;
    if expression.is_descending || matches!(ty, SqlType::Array(..) | SqlType::Json) {
        return Err(not_pushed(format!(
            "groups of {ty}{}",
            if expression.is_descending { " in a descending key" } else { "" }
        )));
    }
    let end = match ty.fixed_key_bytes() {
        Some(width) if !expression.nullable => End::Width(width),
        None if expression.is_separated || matches!(ty, SqlType::Decimal(_)) => End::Zero,
        _ => End::Key,
    };
    Ok(Part { place, codec: codec(ty)?, expression, end })
}

fn codec(ty: SqlType) -> Result<CellCodec, PhoenixError> {
    CellCodec::new(ty).map_err(|_| not_pushed(format!("groups of {ty}")))
}

/// Checks that the values of cells leave room in a key of 32 KiB. Those of the columns of a row key are in a key already, and together with the
/// others they are beyond it only if a row key is nearly as long as HBase allows; then the server says so with an error.
fn check_length(columns: &[ScanExpression]) -> Result<(), PhoenixError> {
    let mut bytes: u64 = 0;
    for column in columns.iter().filter(|column| !column.is_key) {
        bytes += 1 + bytes_max(column.ty).ok_or_else(|| not_pushed(format!("groups of {}", column.ty)))?;
    }
    if bytes > CELLS_BYTES_MAX {
        return Err(not_pushed("groups whose values may be longer than a row key".into()));
    }
    Ok(())
}

/// Most bytes of a value; `None` without a limit.
fn bytes_max(ty: SqlType) -> Option<u64> {
    match ty {
        SqlType::Varchar(limit) => limit.map(|units| u64::from(units) * CHARACTER_BYTES),
        // 38 digits, sign and exponent.
        SqlType::Decimal(_) => Some(24),
        ty => ty.fixed_key_bytes().map(|bytes| bytes as u64),
    }
}

fn not_pushed(what: String) -> PhoenixError {
    PhoenixError::NotPushed { what }
}
