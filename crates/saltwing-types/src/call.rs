//! Function calls, computed for one row.

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::calendar::{Bins, DateUnit, instant_of, nanos_of};
use crate::hash::hash;
use crate::regexp::Regexp;
use crate::value::Timestamp;
use crate::{Decimal, Function, SqlType, VALUE_BYTES_MAX, Value, ValueError, datetime, eval, number, text};

type Computed = Result<Value, ValueError>;

/// The value of a call whose arguments are computed; not of COALESCE, which computes no more than it needs, nor of
/// MOD, NULLIF and SIGN, which are other expressions.
pub(crate) fn call(function: Function, args: Vec<Value>, ty: SqlType) -> Computed {
    // Every function is NULL when an argument is.
    if args.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let text_at = |i: usize| match args.get(i) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let int_at = |i: usize| match args.get(i) {
        Some(Value::Int(n)) => Some(*n),
        _ => None,
    };
    let instant_at = |i: usize| args.get(i).and_then(text::instant);
    Ok(match function {
        Function::Abs => return abs(args.into_iter().next().unwrap_or(Value::Null), ty),
        Function::Coalesce | Function::Mod | Function::NullIf | Function::Sign => Value::Null,
        Function::Concat => {
            let bytes = (0..args.len()).map(|arg| text_at(arg).len()).fold(0, usize::saturating_add);
            if bytes > VALUE_BYTES_MAX {
                return Err(ValueError::ValueTooLarge { function: function.name(), bytes });
            }
            Value::Text((0..args.len()).map(text_at).collect())
        }
        Function::Ceil | Function::Floor | Function::Round | Function::Trunc => {
            return match (args.first(), instant_at(0)) {
                (_, Some(at)) => {
                    let unit = DateUnit::by_name(text_at(1))?;
                    round_instant(function, at, Bins::of_units(unit, int_at(2).unwrap_or(1))?, ty)
                }
                (Some(value), None) => round_number(function, value, int_at(1).unwrap_or(0)),
                (None, None) => Ok(Value::Null),
            };
        }
        Function::DateBin => {
            let bins = Bins::of_stride(text_at(0), instant_at(2).unwrap_or(Timestamp { ms: 0, nanos: 0 }))?;
            return instant_at(1).map_or(Ok(Value::Null), |at| round_instant(Function::Floor, at, bins, ty));
        }
        Function::DateTrunc => {
            let bins = Bins::of_unit(DateUnit::by_name(text_at(0))?);
            return instant_at(1).map_or(Ok(Value::Null), |at| round_instant(Function::Floor, at, bins, ty));
        }
        Function::Extract(field) => instant_at(0).map_or(Value::Null, |at| Value::Int(field.of(at))),
        Function::Hash => args.first().and_then(hash).map_or(Value::Null, Value::Int),
        Function::Left => Value::Text(left(text_at(0), int_at(1).unwrap_or(0))),
        Function::Length => Value::Int(match args.first() {
            Some(Value::Bytes(bytes)) => bytes.len() as i64,
            _ => text_at(0).chars().count() as i64,
        }),
        Function::Lower => Value::Text(text_at(0).to_lowercase()),
        Function::Upper => Value::Text(text_at(0).to_uppercase()),
        Function::Trim => Value::text(text_at(0).trim_matches(' ')),
        Function::Reverse => Value::Text(text_at(0).chars().rev().collect()),
        Function::Md5 => Value::Text(text::hex(&Md5::digest(text_at(0)))),
        Function::RegexpLike => {
            let ignore_case = Function::regexp_ignores_case(text_at(2))?;
            Value::Bool(Regexp::parse(text_at(1), ignore_case)?.matches(text_at(0)))
        }
        Function::Sha256 => Value::Text(text::hex(&Sha256::digest(text_at(0)))),
        Function::StartsWith => Value::Bool(text_at(0).starts_with(text_at(1))),
        Function::Substr => Value::Text(substr(text_at(0), int_at(1).unwrap_or(1), int_at(2))),
        Function::ToDate | Function::ToTime => text::parse(text_at(0), ty)?,
        Function::ToTimestamp => match text::parse(text_at(0), ty)? {
            Value::Timestamp(at) => Value::Timestamp(Timestamp { ms: at.ms, nanos: 0 }),
            other => other,
        },
    })
}

fn abs(value: Value, ty: SqlType) -> Computed {
    match value {
        Value::Int(i) if i < 0 => eval::negate(Value::Int(i), ty),
        Value::Decimal(d) if d.is_negative() => Ok(Value::Decimal(d.negated())),
        Value::Float(f) => Ok(Value::Double(f64::from(f).abs())),
        Value::Double(d) => Ok(Value::Double(d.abs())),
        other => Ok(other),
    }
}

/// Most decimal places, before or behind the point, that rounding tells apart: no value has more digits.
const PLACES_MAX: i64 = 200;

/// FLOOR, CEIL, ROUND and TRUNC of a number to decimal places; below 0 they count before the point.
///
/// A float is rounded as the decimal that it is written as, so 0.29 to 2 places is 0.29.
///
/// # Errors
/// [`ValueError::OutOfRange`] for an integer that rounds beyond its type.
pub fn round_number(function: Function, value: &Value, places: i64) -> Computed {
    let places = places.clamp(-PLACES_MAX, PLACES_MAX) as i32;
    match value {
        Value::Int(_) if places >= 0 => Ok(value.clone()),
        Value::Int(i) => {
            let rounded = round_decimal(function, Decimal::from(*i), places)?;
            number::assign(Value::Decimal(rounded), SqlType::BigInt)
        }
        Value::Decimal(d) => round_decimal(function, *d, places).map(Value::Decimal),
        other => {
            let float = number::to_f64(other);
            let rounded = match (function, places) {
                _ if !float.is_finite() => float,
                (Function::Floor, 0) => float.floor(),
                (Function::Ceil, 0) => float.ceil(),
                (Function::Round, 0) => float.round(),
                (_, 0) => float.trunc(),
                _ => round_decimal(function, number::to_decimal(other)?, places)?.to_f64(),
            };
            // Adding 0.0 turns -0.0 into 0.0.
            Ok(Value::Double(rounded + 0.0))
        }
    }
}

fn round_decimal(function: Function, value: Decimal, places: i32) -> Result<Decimal, ValueError> {
    match function {
        Function::Floor => value.floor(places),
        Function::Ceil => value.ceil(places),
        Function::Round => value.round(places),
        _ => Ok(value.truncate(places)),
    }
}

fn round_instant(function: Function, at: Timestamp, bins: Bins, ty: SqlType) -> Computed {
    let rounded = instant_of(bins.cut(function, nanos_of(at)))?;
    if !datetime::has_text(rounded.ms) {
        let value = format!("{} of {}", function.name(), datetime::format_date(at.ms));
        return Err(ValueError::DatetimeOverflow { value, target: ty.to_string() });
    }
    Ok(if ty.is_timestamp() { Value::Timestamp(rounded) } else { Value::Date(rounded.ms) })
}

/// The first `count` characters; a negative count leaves that many off at the end.
fn left(text: &str, count: i64) -> String {
    let length = text.chars().count() as i64;
    let count = if count < 0 { (length + count).max(0) } else { count };
    text.chars().take(count as usize).collect()
}

/// Characters from `from` (1 is the first, 0 too; a negative one counts from the end) on.
fn substr(text: &str, from: i64, count: Option<i64>) -> String {
    let length = text.chars().count() as i64;
    let skip = match from {
        0 => 0,
        from if from < 0 => match length.checked_add(from) {
            Some(skip) if skip >= 0 => skip,
            _ => return String::new(),
        },
        from => from - 1,
    };
    let count = count.unwrap_or(length).clamp(0, length);
    text.chars().skip(skip.min(length) as usize).take(count as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArithOp, Expr, typing};

    fn int(value: i64) -> Expr {
        Expr::Literal(Value::Int(value), SqlType::BigInt)
    }

    fn value(e: Result<Expr, ValueError>) -> Value {
        eval::eval(&e.unwrap(), &[]).unwrap()
    }

    #[test]
    fn functions() {
        let text = typing::string;
        let call = |f, args| value(typing::call(f, args));
        assert_eq!(call(Function::Md5, vec![text("abc")]), Value::text("900150983cd24fb0d6963f7d28e17f72"));
        assert_eq!(call(Function::Substr, vec![text("漢字x"), int(2), int(1)]), Value::text("字"));
        assert_eq!(call(Function::Substr, vec![text("abc"), int(-2)]), Value::text("bc"));
        assert_eq!(call(Function::Substr, vec![text("abc"), int(-9)]), Value::text(""));
        assert_eq!(call(Function::Left, vec![text("abc"), int(2)]), Value::text("ab"));
        assert_eq!(call(Function::Concat, vec![text("a"), int(1)]), Value::text("a1"));
        assert_eq!(call(Function::Concat, vec![text("a"), Expr::NULL]), Value::Null);
        assert_eq!(call(Function::Coalesce, vec![Expr::NULL, int(1)]), Value::Int(1));
        assert_eq!(call(Function::ToDate, vec![text("1970-01-02")]), Value::Date(86_400_000));
        let next =
            typing::arith(ArithOp::Add, Expr::Literal(Value::Date(0), SqlType::Date), typing::number("1.5").unwrap());
        assert_eq!(value(next), Value::Date(129_600_000));
    }

    #[test]
    fn rounding_of_numbers() {
        use Function::{Ceil, Floor, Round, Trunc};
        let call = |f, number: &str, places: Option<i64>| {
            let number = match number.strip_prefix('-') {
                Some(number) => typing::negate(typing::number(number).unwrap()),
                None => typing::number(number),
            };
            crate::text::literal(
                &value(typing::call(f, [number.unwrap()].into_iter().chain(places.map(int)).collect())),
                SqlType::Null,
            )
        };
        for (number, places, floor, ceil, round, trunc) in [
            ("2.5", None, "2", "3", "3", "2"),
            ("-2.5", None, "-3", "-2", "-3", "-2"),
            ("-2.55", Some(1), "-2.6", "-2.5", "-2.6", "-2.5"),
            ("1250", Some(-2), "1200", "1300", "1300", "1200"),
            ("-1250", Some(-2), "-1300", "-1200", "-1300", "-1200"),
            ("7", Some(3), "7", "7", "7", "7"),
            ("0.29e0", Some(2), "0.29", "0.29", "0.29", "0.29"),
            ("-0.5e0", None, "-1.0", "0.0", "-1.0", "0.0"),
            ("1250e0", Some(-2), "1200.0", "1300.0", "1300.0", "1200.0"),
        ] {
            let all = [Floor, Ceil, Round, Trunc].map(|f| call(f, number, places));
            assert_eq!(all, [floor, ceil, round, trunc], "{number} {places:?}");
        }
        let e = typing::call(Round, vec![int(i64::MAX), int(-1)]).unwrap();
        assert_eq!(eval::eval(&e, &[]).unwrap_err().code().as_str(), "out_of_range");
    }

    #[test]
    fn cuts_of_instants() {
        let at = |text| Expr::Literal(crate::text::parse(text, SqlType::Timestamp).unwrap(), SqlType::Timestamp);
        let shown = |f, args| crate::text::literal(&value(typing::call(f, args)), SqlType::Timestamp);
        let text = typing::string;
        let noon = || at("2024-05-15 12:34:56.5");
        for (function, args, expected) in [
            (Function::DateTrunc, vec![text("day"), noon()], "TIMESTAMP '2024-05-15 00:00:00'"),
            (Function::DateTrunc, vec![text("month"), text("2024-05-15")], "TIMESTAMP '2024-05-01 00:00:00'"),
            (Function::DateBin, vec![text("15 minutes"), noon()], "TIMESTAMP '2024-05-15 12:30:00'"),
            (
                Function::DateBin,
                vec![text("1 day"), noon(), at("2024-01-01 06:00:00")],
                "TIMESTAMP '2024-05-15 06:00:00'",
            ),
            (Function::Floor, vec![noon(), text("MINUTE"), int(15)], "TIMESTAMP '2024-05-15 12:30:00'"),
            (Function::Ceil, vec![noon(), text("year")], "TIMESTAMP '2025-01-01 00:00:00'"),
            (Function::Round, vec![noon(), text("DAY")], "TIMESTAMP '2024-05-16 00:00:00'"),
            (Function::Trunc, vec![noon(), text("hour")], "TIMESTAMP '2024-05-15 12:00:00'"),
        ] {
            assert_eq!(shown(function, args), expected, "{function:?}");
        }
        let last = Expr::Literal(Value::Date(i64::MIN), SqlType::Date);
        let e = typing::call(Function::DateTrunc, vec![text("day"), last]).unwrap();
        assert_eq!(eval::eval(&e, &[]).unwrap_err().code().sqlstate(), "22008");
        for (function, args, code) in [
            (Function::DateTrunc, vec![text("decade"), noon()], "bad_argument"),
            (Function::DateTrunc, vec![text("day"), int(1)], "type_mismatch"),
            (Function::Floor, vec![noon()], "no_such_function"),
            (Function::Floor, vec![text("a")], "type_mismatch"),
            (Function::DateBin, vec![text("1 month"), noon()], "bad_argument"),
            (Function::RegexpLike, vec![text("a"), text("(")], "bad_argument"),
            (Function::RegexpLike, vec![text("a"), text("a"), text("x")], "bad_argument"),
        ] {
            assert_eq!(typing::call(function, args).unwrap_err().code().as_str(), code, "{function:?}");
        }
    }
}
