//! Expressions read as conditions: where literals stand among a column's values.

use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, Value};

use crate::engine::stored_table::StoredTable;
use crate::format::number_ranges::NumberRanges;
use crate::format::zone::{decimal_number, float_number, int_number, timestamp_number};
use crate::scan::condition::{Condition, Test};

/// The position of a literal among the sort numbers of a column.
enum Place {
    /// It is the value with this number.
    At(u128),
    /// Above the value with this number, and below the next one.
    Above(u128),
}

impl Condition {
    /// The condition that an expression is, if it is one.
    pub(crate) fn of(table: &StoredTable, expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Not(inner) => Self::of(table, inner).map(Self::negated),
            Expr::IsNull(inner) => Self::new(table, column_of(inner)?, Test::Null, true),
            Expr::Column(column) if column.ty == SqlType::Boolean => {
                let is_true = int_number(1);
                Self::new(table, column, numbers(column.ty, vec![(is_true, is_true)]), true)
            }
            Expr::Compare(op, left, right) => {
                let (op, column, literal) = match (&**left, &**right) {
                    (Expr::Column(column), literal) => (*op, column, literal),
                    (literal, Expr::Column(column)) => (op.swapped(), column, literal),
                    _ => return None,
                };
                let value = value_of(literal)?;
                let (test, wanted) = match text_of(column.ty, value) {
                    Some(text) => text_test(op, text)?,
                    None => number_test(column.ty, op, place(column.ty, value)?)?,
                };
                Self::new(table, column, test, wanted)
            }
            Expr::InList(value, list) if !list.is_empty() => {
                let column = column_of(value)?;
                let values: Vec<&Value> = list.iter().map(value_of).collect::<Option<_>>()?;
                let texts: Option<Vec<&[u8]>> = values.iter().map(|value| text_of(column.ty, value)).collect();
                let test = match texts {
                    Some(mut texts) => {
                        texts.sort_unstable();
                        texts.dedup();
                        Test::OneOf(texts.into_iter().map(Box::from).collect())
                    }
                    None => {
                        let places: Vec<Place> =
                            values.iter().map(|value| place(column.ty, value)).collect::<Option<_>>()?;
                        let points = places.into_iter().filter_map(|place| match place {
                            Place::At(number) => Some((number, number)),
                            Place::Above(_) => None,
                        });
                        numbers(column.ty, points.collect())
                    }
                };
                Self::new(table, column, test, true)
            }
            _ => None,
        }
    }
}

fn column_of(expr: &Expr) -> Option<&ColumnRef> {
    if let Expr::Column(column) = expr { Some(column) } else { None }
}

/// A literal's value; not NULL, which a comparison meets in ways of its own, and not CHAR, which is compared as if padded.
fn value_of(expr: &Expr) -> Option<&Value> {
    match expr {
        Expr::Literal(Value::Null, _) | Expr::Literal(_, SqlType::Char(_)) => None,
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
}

fn text_of(ty: SqlType, value: &Value) -> Option<&[u8]> {
    use SqlType::*;
    match (ty, value) {
        (Varchar(_) | Json, Value::Text(text)) => Some(text.as_bytes()),
        (Binary(_) | Varbinary | VarbinaryEncoded | Uuid, Value::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// The test of a comparison with a text, and its wanted result.
fn text_test(op: CompareOp, text: &[u8]) -> Option<(Test, bool)> {
    Some(match op {
        CompareOp::Eq | CompareOp::NotEq => (Test::OneOf([text.into()].into()), op == CompareOp::Eq),
        CompareOp::Lt | CompareOp::LtEq | CompareOp::Gt | CompareOp::GtEq => (Test::Order(op, text.into()), true),
        CompareOp::Distinct | CompareOp::NotDistinct => return None,
    })
}

/// The test of a comparison with a number or an instant, and its wanted result.
fn number_test(ty: SqlType, op: CompareOp, place: Place) -> Option<(Test, bool)> {
    let (number, is_there) = match place {
        Place::At(number) => (number, true),
        Place::Above(number) => (number, false),
    };
    let below = number.checked_sub(u128::from(is_there)).map(|high| (0, high));
    let above = number.checked_add(1).map(|low| (low, u128::MAX));
    let range = match op {
        CompareOp::Eq | CompareOp::NotEq => is_there.then_some((number, number)),
        CompareOp::Lt => below,
        CompareOp::LtEq => Some((0, number)),
        CompareOp::Gt => above,
        CompareOp::GtEq if is_there => Some((number, u128::MAX)),
        CompareOp::GtEq => above,
        CompareOp::Distinct | CompareOp::NotDistinct => return None,
    };
    Some((numbers(ty, range.into_iter().collect()), op != CompareOp::NotEq))
}

fn numbers(ty: SqlType, ranges: Vec<(u128, u128)>) -> Test {
    let ranges = NumberRanges::new(ranges);
    if ty.is_timestamp() || matches!(ty, SqlType::Decimal(_)) {
        Test::Wide(ranges)
    } else {
        Test::Narrow(ranges.narrow())
    }
}

/// The position of a value among those of a column; `None` if it is not simple.
fn place(ty: SqlType, value: &Value) -> Option<Place> {
    use SqlType::*;
    Some(match (ty, value) {
        (Boolean, Value::Bool(value)) => Place::At(int_number((*value).into())),
        (
            TinyInt | UnsignedTinyInt | SmallInt | UnsignedSmallInt | Integer | UnsignedInt | BigInt | UnsignedLong,
            value,
        ) => match value {
            Value::Int(value) => Place::At(int_number(*value)),
            Value::Decimal(decimal) => {
                let below = decimal.floor(0).ok()?;
                let number = int_number(below.to_i64()?);
                if below == *decimal { Place::At(number) } else { Place::Above(number) }
            }
            _ => return None,
        },
        (Date | Time | UnsignedDate | UnsignedTime, Value::Date(ms)) => Place::At(int_number(*ms)),
        (Float | UnsignedFloat | Double | UnsignedDouble, Value::Float(value)) => {
            Place::At(float_number((*value).into()))
        }
        (Float | UnsignedFloat | Double | UnsignedDouble, Value::Double(value)) => Place::At(float_number(*value)),
        (Timestamp | UnsignedTimestamp, Value::Timestamp(at)) => Place::At(timestamp_number(*at)),
        (Decimal(Some((_, scale))), Value::Decimal(value)) => {
            let below = value.floor(scale.into()).ok()?;
            let number = decimal_number(below.unscaled_at(scale.into())?);
            if below == *value { Place::At(number) } else { Place::Above(number) }
        }
        _ => return None,
    })
}
