//! Builds expression trees by SQL's typing rules.
//!
//! Both front ends (statements over one table, and relational plans) build
//! through here, so that a condition means the same on either path:
//! a literal takes the type of what it meets ([`crate::number::meet`]), types of
//! different families do not compare, integer arithmetic is BIGINT, decimal
//! arithmetic is DECIMAL, anything with a float is DOUBLE.

use crate::sql_type::TypeFamily;
use crate::{ArithOp, CompareOp, Decimal, Expr, SqlType, Value, ValueError, like, number};

mod array;
mod call;
mod rewrite;

pub use call::{call, call_named, regexp};

type Typed = Result<Expr, ValueError>;

/// A numeric literal: an integer is a BIGINT, or a DECIMAL beyond 64 bits; with
/// a point a DECIMAL; with an exponent a DOUBLE.
pub fn number(text: &str) -> Typed {
    if text.contains(['e', 'E']) {
        let value: f64 =
            text.parse().map_err(|_| ValueError::BadText { text: text.into(), target: "number".into() })?;
        if value.is_infinite() {
            return Err(ValueError::OutOfRange { value: text.into(), target: "DOUBLE".into() });
        }
        return Ok(Expr::Literal(Value::Double(value), SqlType::Double));
    }
    match text.parse::<i64>() {
        Ok(value) => Ok(Expr::Literal(Value::Int(value), SqlType::BigInt)),
        Err(_) => Ok(Expr::Literal(Value::Decimal(text.parse::<Decimal>()?), SqlType::Decimal(None))),
    }
}

/// A string literal.
pub fn string(text: impl Into<String>) -> Expr {
    Expr::Literal(Value::Text(text.into()), SqlType::Varchar(None))
}

/// All of `list`; an empty list is TRUE.
pub fn and(list: Vec<Expr>) -> Typed {
    let list = booleans(list, "AND")?;
    let mut flat: Vec<Expr> = list.into_iter().flat_map(Expr::into_conjuncts).collect();
    Ok(match flat.len() {
        0 => Expr::boolean(true),
        1 => flat.swap_remove(0),
        _ => Expr::And(flat),
    })
}

/// Any of `list`; an empty list is FALSE.
pub fn or(list: Vec<Expr>) -> Typed {
    let list = booleans(list, "OR")?;
    let mut flat = Vec::with_capacity(list.len());
    for e in list {
        match e {
            Expr::Or(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    Ok(match flat.len() {
        0 => Expr::boolean(false),
        1 => flat.swap_remove(0),
        _ => Expr::Or(flat),
    })
}

/// NOT.
pub fn not(e: Expr) -> Typed {
    let mut list = booleans(vec![e], "NOT")?;
    Ok(Expr::Not(Box::new(list.swap_remove(0))))
}

/// `IS NULL`.
pub fn is_null(e: Expr) -> Expr {
    Expr::IsNull(Box::new(e))
}

/// `IS TRUE`, `IS FALSE`, `IS UNKNOWN`.
pub fn is_truth(e: Expr, truth: Option<bool>) -> Typed {
    let mut list = booleans(vec![e], "IS")?;
    Ok(Expr::IsTruth(Box::new(list.swap_remove(0)), truth))
}

/// A condition of a clause.
///
/// # Errors
/// [`ValueError::TypeMismatch`] if it is no BOOLEAN.
pub fn condition(e: Expr) -> Typed {
    boolean(e, |e, ty| format!("a condition is BOOLEAN, and {e} is {ty}"))
}

fn booleans(list: Vec<Expr>, operator: &str) -> Result<Vec<Expr>, ValueError> {
    list.into_iter().map(|e| boolean(e, |e, ty| format!("{operator} takes conditions, and {e} is {ty}"))).collect()
}

/// A truth value; `refusal` is the text for another type.
fn boolean(e: Expr, refusal: impl Fn(&Expr, SqlType) -> String) -> Typed {
    match e.sql_type() {
        Some(SqlType::Boolean) => Ok(e),
        None | Some(SqlType::Null) => meet_type(e, SqlType::Boolean),
        Some(ty) => Err(ValueError::TypeMismatch(refusal(&e, ty))),
    }
}

/// A comparison.
pub fn compare(op: CompareOp, a: Expr, b: Expr) -> Typed {
    let (a, b) = meet(a, b)?;
    Ok(Expr::Compare(op, Box::new(a), Box::new(b)))
}

/// `e BETWEEN low AND high`.
pub fn between(e: Expr, low: Expr, high: Expr, negated: bool) -> Typed {
    let again = repeated(&e)?;
    if negated {
        return or(vec![compare(CompareOp::Lt, e, low)?, compare(CompareOp::Gt, again, high)?]);
    }
    and(vec![compare(CompareOp::GtEq, e, low)?, compare(CompareOp::LtEq, again, high)?])
}

/// Most parts of an operand that stands in the typed expression more than once.
pub const REPEATED_PARTS_MAX: usize = 10_000;

/// An operand once more. Operands of this kind inside each other double the expression each time, so there is a limit.
fn repeated(operand: &Expr) -> Typed {
    match operand.has_more_parts_than(REPEATED_PARTS_MAX) {
        true => Err(ValueError::TooManyParts(REPEATED_PARTS_MAX)),
        false => Ok(operand.clone()),
    }
}

/// A comparison of row values.
pub fn row_compare(op: CompareOp, a: Vec<Expr>, b: Vec<Expr>) -> Typed {
    let (a, b) = meet_rows(a, b)?;
    match (a.len(), op) {
        (1, _) => and(a.into_iter().zip(b).map(|(a, b)| compare(op, a, b)).collect::<Result<_, _>>()?),
        (_, CompareOp::Distinct | CompareOp::NotDistinct) => {
            let same =
                a.into_iter().zip(b).map(|(a, b)| compare(CompareOp::NotDistinct, a, b)).collect::<Result<_, _>>()?;
            if op == CompareOp::Distinct { not(and(same)?) } else { and(same) }
        }
        _ => Ok(Expr::RowCompare(op, a, b)),
    }
}

/// `e IN (..)`.
pub fn in_list(e: Expr, list: Vec<Expr>, negated: bool) -> Typed {
    let row = vec![e];
    row_in_list(row, list.into_iter().map(|item| vec![item]).collect(), negated)
}

/// `(a, b) IN ((1, 2), ..)`.
pub fn row_in_list(row: Vec<Expr>, rows: Vec<Vec<Expr>>, negated: bool) -> Typed {
    let is_fixed = row.iter().all(|e| !is_free(e));
    let (mut row, mut met) = meet_list(row, rows)?;
    // A literal takes the type of the other operands, and the last item may be the first that has one.
    if !is_fixed {
        (row, met) = meet_list(row, met)?;
    }
    let test = match row.len() {
        1 => Expr::InList(Box::new(row.swap_remove(0)), met.into_iter().flatten().collect()),
        _ => Expr::RowInList(row, met),
    };
    if negated { not(test) } else { Ok(test) }
}

fn meet_list(mut row: Vec<Expr>, rows: Vec<Vec<Expr>>) -> Result<(Vec<Expr>, Vec<Vec<Expr>>), ValueError> {
    let mut met = Vec::with_capacity(rows.len());
    for other in rows {
        let (left, right) = meet_rows(row, other)?;
        row = left;
        met.push(right);
    }
    Ok((row, met))
}

fn meet_rows(a: Vec<Expr>, b: Vec<Expr>) -> Result<(Vec<Expr>, Vec<Expr>), ValueError> {
    if a.len() != b.len() || a.is_empty() {
        return Err(ValueError::TypeMismatch(format!(
            "row values of {} and {} columns do not compare",
            a.len(),
            b.len()
        )));
    }
    let pairs: Vec<_> = a.into_iter().zip(b).map(|(a, b)| meet(a, b)).collect::<Result<_, _>>()?;
    Ok(pairs.into_iter().unzip())
}

/// `text [I]LIKE pattern [ESCAPE c]`.
pub fn like(text: Expr, pattern: Expr, escape: Option<char>, ignore_case: bool, negated: bool) -> Typed {
    let (text, pattern) = (as_text(text, "LIKE")?, as_text(pattern, "LIKE")?);
    if let Expr::Literal(Value::Text(pattern), _) = &pattern {
        like::LikePattern::parse(pattern, escape, ignore_case)?;
    }
    let test = Expr::Like { text: Box::new(text), pattern: Box::new(pattern), escape, ignore_case };
    if negated { not(test) } else { Ok(test) }
}

fn as_text(e: Expr, place: &str) -> Typed {
    match e.sql_type().map(SqlType::family) {
        None | Some(TypeFamily::Null) => meet_type(e, SqlType::Varchar(None)),
        Some(TypeFamily::Text) => Ok(e),
        Some(_) => Err(ValueError::TypeMismatch(format!("{place} takes text, and {e} is {}", type_name(&e)))),
    }
}

/// Whether an operand takes its type from the other operands.
fn is_free(e: &Expr) -> bool {
    matches!(e, Expr::Literal(..) | Expr::Param(_, None))
}

/// Brings two sides of a comparison together: literals and parameters take the other side's type.
fn meet(a: Expr, b: Expr) -> Result<(Expr, Expr), ValueError> {
    let (a, b) = match (is_free(&a), is_free(&b), a.sql_type(), b.sql_type()) {
        (true, false, _, Some(ty)) => (meet_type(a, ty)?, b),
        (false, true, Some(ty), _) => (a, meet_type(b, ty)?),
        // Of two literals the one that is no plain string gives the type.
        (true, true, Some(SqlType::Varchar(_) | SqlType::Null) | None, Some(ty)) => (meet_type(a, ty)?, b),
        (true, true, Some(ty), Some(SqlType::Varchar(_) | SqlType::Null) | None) => (a, meet_type(b, ty)?),
        _ => (a, b),
    };
    match (a.sql_type(), b.sql_type()) {
        (Some(x), Some(y)) if !x.compares_with(y) => Err(ValueError::TypeMismatch(format!(
            "{a} is {} and {b} is {}: they do not compare",
            type_name(&a),
            type_name(&b)
        ))),
        _ => Ok((a, b)),
    }
}

fn type_name(e: &Expr) -> String {
    e.sql_type().map_or_else(|| "a parameter".into(), |ty| ty.to_string())
}

/// A literal or parameter as `ty` sees it; anything else as it is.
fn meet_type(e: Expr, ty: SqlType) -> Typed {
    match e {
        Expr::Literal(value, own) => {
            let (value, ty) = number::meet(value, own, ty)?;
            let ty = if ty == SqlType::Null { natural_type(&value) } else { ty };
            Ok(Expr::Literal(value, ty))
        }
        Expr::Param(index, None) => Ok(Expr::Param(index, Some(ty))),
        other => Ok(other),
    }
}

/// The type of a value on its own.
pub fn natural_type(value: &Value) -> SqlType {
    match value {
        Value::Null => SqlType::Null,
        Value::Bool(_) => SqlType::Boolean,
        Value::Int(_) => SqlType::BigInt,
        Value::Float(_) => SqlType::Float,
        Value::Double(_) => SqlType::Double,
        Value::Decimal(_) => SqlType::Decimal(None),
        Value::Date(_) => SqlType::Date,
        Value::Timestamp(_) => SqlType::Timestamp,
        Value::Interval(_) => SqlType::Interval,
        Value::Text(_) => SqlType::Varchar(None),
        Value::Bytes(_) => SqlType::Varbinary,
        Value::Array(elements) => {
            let types = elements.iter().filter(|element| !element.is_null()).map(natural_type);
            let element = types.reduce(|a, b| common_of(a, b).unwrap_or(a)).unwrap_or(SqlType::Null);
            SqlType::array(element).unwrap_or(SqlType::Null)
        }
    }
}

/// A computed value of its type. Unlike a literal it never takes the type of another operand.
pub fn computed(value: Value, ty: SqlType) -> Expr {
    // A literal of these types compares with anything as the type itself does.
    let as_literal =
        !value.is_null() && (ty.is_integer() || ty == SqlType::Boolean || ty.family() == TypeFamily::Bytes);
    let literal = Expr::Literal(value, ty);
    if as_literal { literal } else { Expr::Cast(Box::new(literal), ty) }
}

/// Arithmetic; also an instant plus and minus days or an interval, the days between two instants, sums of intervals,
/// and multiples of an interval.
///
/// A parameter without a value is taken for the other side's type, beside an instant for days, and for the instant that an
/// interval is added to.
pub fn arith(op: ArithOp, a: Expr, b: Expr) -> Typed {
    let (x, y) = operand_types(op, a.sql_type(), b.sql_type());
    let ty = arith_type(op, x, y)
        .ok_or_else(|| ValueError::TypeMismatch(format!("{a} {} {b}: {x} and {y} do not meet", op.as_str())))?;
    Ok(Expr::Arith(op, Box::new(a), Box::new(b), ty))
}

fn operand_types(op: ArithOp, a: Option<SqlType>, b: Option<SqlType>) -> (SqlType, SqlType) {
    let beside = |known: SqlType| match (known.family(), op) {
        (TypeFamily::Instant, _) | (TypeFamily::Interval, ArithOp::Mul | ArithOp::Div) => SqlType::BigInt,
        (TypeFamily::Interval, _) => SqlType::Timestamp,
        _ => known,
    };
    match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (Some(a), None) if a == SqlType::Interval && op == ArithOp::Sub => (a, a),
        (Some(a), None) => (a, beside(a)),
        // Only the first operand of a difference may be an instant, and a number of days is no first operand.
        (None, Some(b)) if b.family() == TypeFamily::Instant => (b, b),
        (None, Some(b)) => (beside(b), b),
        (None, None) => (SqlType::BigInt, SqlType::BigInt),
    }
}

fn arith_type(op: ArithOp, a: SqlType, b: SqlType) -> Option<SqlType> {
    let (a, b) = match (a, b) {
        (SqlType::Null, SqlType::Null) => (SqlType::BigInt, SqlType::BigInt),
        // NULL beside an interval is one, or the number that multiplies it.
        (SqlType::Null, SqlType::Interval) if op == ArithOp::Mul => return Some(b),
        (SqlType::Interval, SqlType::Null) if matches!(op, ArithOp::Mul | ArithOp::Div) => return Some(a),
        (SqlType::Null, ty) | (ty, SqlType::Null) => (ty, ty),
        both => both,
    };
    match (a.family(), b.family()) {
        (TypeFamily::Number, TypeFamily::Number) if a.is_float() || b.is_float() => Some(SqlType::Double),
        (TypeFamily::Number, TypeFamily::Number) if a.is_integer() && b.is_integer() => Some(SqlType::BigInt),
        (TypeFamily::Number, TypeFamily::Number) => Some(SqlType::Decimal(None)),
        (TypeFamily::Instant, TypeFamily::Number) if matches!(op, ArithOp::Add | ArithOp::Sub) => {
            Some(signed_instant(a))
        }
        (TypeFamily::Number, TypeFamily::Instant) if op == ArithOp::Add => Some(signed_instant(b)),
        (TypeFamily::Instant, TypeFamily::Instant) if op == ArithOp::Sub => Some(SqlType::Decimal(None)),
        (TypeFamily::Instant, TypeFamily::Interval) if matches!(op, ArithOp::Add | ArithOp::Sub) => {
            Some(signed_instant(a))
        }
        (TypeFamily::Interval, TypeFamily::Instant) if op == ArithOp::Add => Some(signed_instant(b)),
        (TypeFamily::Interval, TypeFamily::Interval) if matches!(op, ArithOp::Add | ArithOp::Sub) => Some(a),
        (TypeFamily::Interval, TypeFamily::Number) if matches!(op, ArithOp::Mul | ArithOp::Div) => Some(a),
        (TypeFamily::Number, TypeFamily::Interval) if op == ArithOp::Mul => Some(b),
        _ => None,
    }
}

fn signed_instant(ty: SqlType) -> SqlType {
    match ty {
        SqlType::UnsignedDate => SqlType::Date,
        SqlType::UnsignedTime => SqlType::Time,
        SqlType::UnsignedTimestamp => SqlType::Timestamp,
        other => other,
    }
}

/// Unary minus. A negative literal stays a literal.
pub fn negate(e: Expr) -> Typed {
    match e {
        Expr::Literal(Value::Int(value), ty) if value != i64::MIN => Ok(Expr::Literal(Value::Int(-value), ty)),
        Expr::Literal(Value::Decimal(value), ty) => {
            Ok(retype_integer(Expr::Literal(smallest_bigint(value.negated()), ty)))
        }
        Expr::Literal(Value::Double(value), ty) => Ok(Expr::Literal(Value::Double(-value), ty)),
        Expr::Literal(Value::Null, ty) => Ok(Expr::Literal(Value::Null, ty)),
        Expr::Param(index, None) => {
            Ok(Expr::Negate(Box::new(Expr::Param(index, Some(SqlType::BigInt))), SqlType::BigInt))
        }
        e => match e.sql_type() {
            Some(ty) if ty.is_integer() => Ok(Expr::Negate(Box::new(e), SqlType::BigInt)),
            Some(ty) if ty.is_float() => Ok(Expr::Negate(Box::new(e), SqlType::Double)),
            Some(SqlType::Decimal(_)) => Ok(Expr::Negate(Box::new(e), SqlType::Decimal(None))),
            Some(SqlType::Interval) => Ok(Expr::Negate(Box::new(e), SqlType::Interval)),
            _ => Err(ValueError::TypeMismatch(format!("-({e}): {} has no negative", type_name(&e)))),
        },
    }
}

/// -9223372036854775808 is read as minus a number beyond BIGINT, and is a BIGINT.
fn smallest_bigint(value: Decimal) -> Value {
    if value == Decimal::from(i64::MIN) { Value::Int(i64::MIN) } else { Value::Decimal(value) }
}

fn retype_integer(e: Expr) -> Expr {
    match e {
        Expr::Literal(Value::Int(value), _) => Expr::Literal(Value::Int(value), SqlType::BigInt),
        other => other,
    }
}

/// `CAST(e AS ty)`.
///
/// # Errors
/// A type mismatch where no value of the one type is a value of the other.
pub fn cast(e: Expr, ty: SqlType) -> Typed {
    if let Expr::Param(index, None) = e {
        return Ok(Expr::Cast(Box::new(Expr::Param(index, Some(ty))), ty));
    }
    if !casts(e.sql_type().unwrap_or(SqlType::Null), ty) {
        return Err(ValueError::TypeMismatch(format!("{e} is {}, which does not cast to {ty}", type_name(&e))));
    }
    Ok(Expr::Cast(Box::new(e), ty))
}

/// Whether some values of the one type are values of the other.
fn casts(from: SqlType, to: SqlType) -> bool {
    use TypeFamily::*;
    if let (Some(from), Some(to)) = (from.element(), to.element()) {
        return casts(from, to);
    }
    match (from.family(), to.family()) {
        (a, b) if a == b => true,
        (Null, _) | (Text, _) | (_, Text) => true,
        (Number, Boolean) | (Boolean, Number) => from.is_integer() || to.is_integer(),
        (Instant, Number) | (Number, Instant) => !to.is_float() && !from.is_float(),
        _ => false,
    }
}

/// `CASE`. With an `operand`, each WHEN is compared with it.
pub fn case(operand: Option<Expr>, whens: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Typed {
    let results: Vec<&Expr> = whens.iter().map(|(_, v)| v).chain(&otherwise).collect();
    let ty = common_type(&results)?;
    let mut typed = Vec::with_capacity(whens.len());
    for (condition_or_value, result) in whens {
        let condition = match &operand {
            Some(operand) => compare(CompareOp::Eq, repeated(operand)?, condition_or_value)?,
            None => condition(condition_or_value)?,
        };
        typed.push((condition, as_type(result, ty)?));
    }
    let otherwise = otherwise.map(|e| as_type(e, ty)).transpose()?.map(Box::new);
    Ok(Expr::Case { whens: typed, otherwise, ty })
}

/// A value in this type: a literal or parameter takes it, anything else is cast to it.
///
/// # Errors
/// As [`cast`].
pub fn as_type(e: Expr, ty: SqlType) -> Typed {
    if e.sql_type() == Some(ty) {
        return Ok(e);
    }
    match meet_type(e, ty)? {
        e if e.sql_type() == Some(ty) => Ok(e),
        e => cast(e, ty),
    }
}

/// The one type that values of several expressions are brought to: those of one column, for example. [`SqlType::Null`] if all are NULL.
///
/// # Errors
/// [`ValueError::TypeMismatch`] for types that do not stand beside each other.
pub fn common_type(list: &[&Expr]) -> Result<SqlType, ValueError> {
    common_type_of(list.iter().filter_map(|e| Some((*e, e.sql_type()?))))
}

/// The one type of several types, each with the expression that has it, or whose elements have it.
fn common_type_of<'a>(list: impl Iterator<Item = (&'a Expr, SqlType)> + Clone) -> Result<SqlType, ValueError> {
    let mut common = SqlType::Null;
    // Plain string literals bend to the others.
    for strings in [false, true] {
        for (e, ty) in list.clone() {
            if strings != matches!(e, Expr::Literal(Value::Text(_), _)) {
                continue;
            }
            common = match (common, ty) {
                // A literal may have more digits than the type of the column.
                (a, b) if strings && a != b && !matches!(a.family(), TypeFamily::Null | TypeFamily::Text) => {
                    wider(a, a).unwrap_or(a)
                }
                (a, b) => common_of(a, b)
                    .ok_or_else(|| ValueError::TypeMismatch(format!("{e} is {b}, where {a} stands beside it")))?,
            };
        }
    }
    Ok(common)
}

/// The one type of values of two.
fn common_of(a: SqlType, b: SqlType) -> Option<SqlType> {
    match (a, b) {
        (SqlType::Null, ty) | (ty, SqlType::Null) => Some(ty),
        (a, b) if a == b => Some(a),
        (a, b) => wider(a, b),
    }
}

fn wider(a: SqlType, b: SqlType) -> Option<SqlType> {
    use TypeFamily::*;
    Some(match (a.family(), b.family()) {
        (Boolean, Boolean) => SqlType::Boolean,
        (Number, Number) if a.is_float() || b.is_float() => SqlType::Double,
        (Number, Number) if a.is_integer() && b.is_integer() => SqlType::BigInt,
        (Number, Number) => SqlType::Decimal(None),
        (Text, Text) => SqlType::Varchar(None),
        (Bytes, Bytes) => SqlType::Varbinary,
        (Instant, Instant) if a == SqlType::Time && b == a => a,
        (Instant, Instant) if a.is_timestamp() || b.is_timestamp() => SqlType::Timestamp,
        (Instant, Instant) => SqlType::Date,
        (Array, Array) => SqlType::array(common_of(a.element()?, b.element()?)?)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ColumnRef;

    fn column(ty: SqlType) -> Expr {
        Expr::Column(ColumnRef { index: 0, name: "c".into(), ty, nullable: true, span: None })
    }

    fn right(e: Expr) -> (Value, SqlType) {
        match e {
            Expr::Compare(_, _, b) => match *b {
                Expr::Literal(value, ty) => (value, ty),
                other => panic!("{other}"),
            },
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_was_computed_keeps_its_type() {
        let meets = |ty, value: Value, own| {
            let met = compare(CompareOp::Eq, column(ty), computed(value, own));
            met.map(|met| match met {
                Expr::Compare(_, _, b) => (crate::eval::eval(&b, &[]).unwrap(), b.sql_type().unwrap()),
                other => panic!("{other}"),
            })
        };
        assert_eq!(meets(SqlType::Integer, Value::Int(5), SqlType::BigInt).unwrap().0, Value::Int(5));
        let double = meets(SqlType::Float, Value::Double(0.1), SqlType::Double).unwrap();
        assert_eq!(double, (Value::Double(0.1), SqlType::Double));
        assert!(meets(SqlType::Date, Value::text("2014-01-01"), SqlType::Varchar(None)).is_err());
        assert!(meets(SqlType::Date, Value::Null, SqlType::Varchar(None)).is_err());
        assert_eq!(meets(SqlType::Integer, Value::Null, SqlType::BigInt).unwrap(), (Value::Null, SqlType::BigInt));
    }

    #[test]
    fn literals_take_the_columns_type() {
        let eq = |ty, literal| right(compare(CompareOp::Eq, column(ty), literal).unwrap());
        assert_eq!(eq(SqlType::Float, number("0.1").unwrap()), (Value::Float(0.1), SqlType::Float));
        assert_eq!(eq(SqlType::Integer, number("5.0").unwrap()), (Value::Int(5), SqlType::Integer));
        assert_eq!(eq(SqlType::Integer, number("2.5").unwrap()).1, SqlType::Decimal(None));
        assert_eq!(eq(SqlType::Integer, number("99999999999").unwrap()), (Value::Int(99_999_999_999), SqlType::BigInt));
        assert_eq!(eq(SqlType::Date, string("1970-01-02")), (Value::Date(86_400_000), SqlType::Date));
        assert_eq!(eq(SqlType::Char(5), string("ab  ")), (Value::text("ab"), SqlType::Char(5)));
        assert!(matches!(
            eq(SqlType::Date, string("1970-01-02 00:00:00.0000001")),
            (Value::Timestamp(_), SqlType::Timestamp)
        ));
        assert_eq!(eq(SqlType::Decimal(Some((5, 2))), string("1.555")).0, Value::Decimal("1.555".parse().unwrap()));
    }

    #[test]
    fn a_string_beside_a_column_keeps_its_digits() {
        for (ty, text, wide) in [
            (SqlType::Decimal(Some((5, 2))), "1.555", SqlType::Decimal(None)),
            (SqlType::TinyInt, "300", SqlType::BigInt),
            (SqlType::Boolean, "TRUE", SqlType::Boolean),
        ] {
            let Expr::Call(_, args, common) = call_named("COALESCE", vec![column(ty), string(text)]).unwrap() else {
                panic!("{ty}");
            };
            assert_eq!((args[1].to_string().trim_matches('\''), common), (text, wide));
            assert_eq!(args[0].sql_type(), Some(wide));
        }
    }

    #[test]
    fn nullif_has_the_first_arguments_type() {
        let null_if = |a, b| call_named("NULLIF", vec![a, b]).unwrap();
        let (int, dec) = (|| number("53").unwrap(), || number("80.0").unwrap());
        assert_eq!(null_if(int(), dec()).sql_type(), Some(SqlType::BigInt));
        assert_eq!(null_if(dec(), int()).sql_type(), Some(SqlType::Decimal(None)));
        assert_eq!(null_if(int(), Expr::NULL).sql_type(), Some(SqlType::BigInt));
        assert_eq!(null_if(column(SqlType::Char(3)), string("a")).sql_type(), Some(SqlType::Char(3)));
        assert_eq!(null_if(Expr::NULL, int()).sql_type(), Some(SqlType::BigInt));
        assert_eq!(null_if(Expr::Param(0, None), int()).sql_type(), Some(SqlType::BigInt));
        assert_eq!(null_if(string("53"), column(SqlType::Integer)).sql_type(), Some(SqlType::Integer));
        let value = |e: Expr| crate::eval::eval(&e, &[]).unwrap();
        assert_eq!(value(arith(ArithOp::Div, null_if(int(), dec()), number("-71").unwrap()).unwrap()), Value::Int(0));
        assert_eq!(value(null_if(number("80").unwrap(), dec())), Value::Null);
        assert!(call_named("NULLIF", vec![string("a"), column(SqlType::Date)]).is_err());
    }

    #[test]
    fn sign_and_mod_are_other_expressions() {
        let value = |e: Typed| crate::eval::eval(&e.unwrap(), &[]).unwrap();
        let sign = |e| value(call_named("SIGN", vec![e]));
        for (text, expected) in [("7", 1), ("0.00", 0), ("1e-300", 1)] {
            assert_eq!(sign(number(text).unwrap()), Value::Int(expected), "{text}");
            assert_eq!(sign(negate(number(text).unwrap()).unwrap()), Value::Int(-expected), "-{text}");
        }
        assert_eq!(sign(Expr::NULL), Value::Null);
        assert_eq!(call_named("SIGN", vec![column(SqlType::Double)]).unwrap().sql_type(), Some(SqlType::Integer));
        assert!(call_named("SIGN", vec![column(SqlType::Date)]).is_err());
        let modulo = |a, b| value(call_named("MOD", vec![number(a).unwrap(), number(b).unwrap()]));
        assert_eq!(modulo("7", "4"), Value::Int(3));
        assert_eq!(modulo("7.5", "2"), Value::Decimal("1.5".parse().unwrap()));
    }

    #[test]
    fn refuses_types_that_do_not_meet() {
        let eq = |ty, literal| compare(CompareOp::Eq, column(ty), literal).unwrap_err().code().as_str();
        assert_eq!(eq(SqlType::Integer, string("abc")), "bad_text");
        assert_eq!(eq(SqlType::Varchar(None), number("5").unwrap()), "type_mismatch");
        assert_eq!(eq(SqlType::Date, number("5").unwrap()), "type_mismatch");
        assert_eq!(eq(SqlType::Date, string("yesterday")), "bad_datetime");
        assert!(arith(ArithOp::Mul, column(SqlType::Date), number("2").unwrap()).is_err());
        assert!(and(vec![number("1").unwrap(), Expr::boolean(true)]).is_err());
        assert!(call_named("SUBSTR", vec![string("a")]).is_err());
    }

    #[test]
    fn numbers_are_typed_by_their_form() {
        let ty = |text| number(text).unwrap().sql_type().unwrap();
        assert_eq!(ty("1"), SqlType::BigInt);
        assert_eq!(ty("1.5"), SqlType::Decimal(None));
        assert_eq!(ty("1.5e0"), SqlType::Double);
        assert_eq!(ty("99999999999999999999"), SqlType::Decimal(None));
        let smallest = negate(number("9223372036854775808").unwrap()).unwrap();
        assert_eq!(smallest, Expr::Literal(Value::Int(i64::MIN), SqlType::BigInt));
    }
}
