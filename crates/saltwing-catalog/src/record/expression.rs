//! Values in records, and the expressions that compute key parts.

use std::str::FromStr;

use saltwing_types::value::Timestamp;
use saltwing_types::{ArithOp, ColumnDef, ColumnRef, CompareOp, Decimal, Expr, Function, Interval, Value};
use serde::{Deserialize, Serialize};

use super::sql_type::TypeRecord;

/// A value, as in `{"int":7}`. Numbers that JSON cannot hold, such as NaN and long decimals, are texts.
#[derive(Serialize, Deserialize)]
pub(super) enum ValueRecord {
    #[serde(rename = "null", alias = "Null")]
    Null,
    #[serde(rename = "bool", alias = "Bool")]
    Bool(bool),
    #[serde(rename = "int", alias = "Int")]
    Int(i64),
    #[serde(rename = "float")]
    Float(String),
    #[serde(rename = "double")]
    Double(String),
    #[serde(rename = "decimal")]
    Decimal(String),
    /// Milliseconds since 1970.
    #[serde(rename = "date", alias = "Date")]
    Date(i64),
    /// Milliseconds since 1970, and nanoseconds below them.
    #[serde(rename = "timestamp", alias = "Timestamp")]
    Timestamp { ms: i64, nanos: u32 },
    #[serde(rename = "interval")]
    Interval { months: i32, days: i32, nanos: i64 },
    #[serde(rename = "text", alias = "Text")]
    Text(String),
    #[serde(rename = "bytes", alias = "Bytes")]
    Bytes(Vec<u8>),
    #[serde(rename = "array")]
    Array(Vec<ValueRecord>),
    #[serde(rename(deserialize = "Float"), skip_serializing)]
    EarlierFloat(f32),
    #[serde(rename(deserialize = "Double"), skip_serializing)]
    EarlierDouble(f64),
    #[serde(rename(deserialize = "Decimal"), skip_serializing)]
    EarlierDecimal { digits: i128, scale: i32 },
}

impl ValueRecord {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(number) => Self::Int(*number),
            Value::Float(number) => Self::Float(format!("{number:e}")),
            Value::Double(number) => Self::Double(format!("{number:e}")),
            Value::Decimal(number) => Self::Decimal(number.to_string()),
            Value::Date(ms) => Self::Date(*ms),
            Value::Timestamp(Timestamp { ms, nanos }) => Self::Timestamp { ms: *ms, nanos: *nanos },
            Value::Interval(Interval { months, days, nanos }) => {
                Self::Interval { months: *months, days: *days, nanos: *nanos }
            }
            Value::Text(text) => Self::Text(text.clone()),
            Value::Bytes(bytes) => Self::Bytes(bytes.clone()),
            Value::Array(elements) => Self::Array(elements.iter().map(Self::of).collect()),
        }
    }

    pub(super) fn into_value(self) -> Result<Value, String> {
        fn number<T: FromStr>(text: &str) -> Result<T, String> {
            text.parse().map_err(|_| format!("'{text}' is no number"))
        }
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(truth),
            Self::Int(number) => Value::Int(number),
            Self::Float(text) => Value::Float(number(&text)?),
            Self::Double(text) => Value::Double(number(&text)?),
            Self::Decimal(text) => Value::Decimal(number(&text)?),
            Self::Date(ms) => Value::Date(ms),
            Self::Timestamp { ms, nanos } => Value::Timestamp(Timestamp { ms, nanos }),
            Self::Interval { months, days, nanos } => Value::Interval(Interval { months, days, nanos }),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::Array(elements) => {
                Value::Array(elements.into_iter().map(Self::into_value).collect::<Result<_, _>>()?)
            }
            Self::EarlierFloat(number) => Value::Float(number),
            Self::EarlierDouble(number) => Value::Double(number),
            Self::EarlierDecimal { digits, scale } => {
                Value::Decimal(Decimal::new(digits, scale).map_err(|error| error.to_string())?)
            }
        })
    }
}

/// An expression over the columns of a row, as in `{"call":["MD5",[{"column":0}],"VARCHAR"]}`. It has the type of its result, unless
/// it is a condition.
#[derive(Serialize, Deserialize)]
pub(super) enum ExprRecord {
    #[serde(rename = "literal", alias = "Literal")]
    Literal(ValueRecord, TypeRecord),
    /// The index of a column of the table.
    #[serde(rename = "column")]
    Column(usize),
    /// The function's name in SQL.
    #[serde(rename = "call", alias = "Call")]
    Call(String, Vec<ExprRecord>, TypeRecord),
    #[serde(rename = "arith", alias = "Arith")]
    Arith(#[serde(with = "ArithRecord")] ArithOp, Box<ExprRecord>, Box<ExprRecord>, TypeRecord),
    #[serde(rename = "negate", alias = "Negate")]
    Negate(Box<ExprRecord>, TypeRecord),
    #[serde(rename = "cast", alias = "Cast")]
    Cast(Box<ExprRecord>, TypeRecord),
    #[serde(rename = "case")]
    Case(Vec<(ExprRecord, ExprRecord)>, Option<Box<ExprRecord>>, TypeRecord),
    #[serde(rename = "compare")]
    Compare(#[serde(with = "CompareRecord")] CompareOp, Box<ExprRecord>, Box<ExprRecord>),
    #[serde(rename = "compare_rows")]
    CompareRows(#[serde(with = "CompareRecord")] CompareOp, Vec<ExprRecord>, Vec<ExprRecord>),
    #[serde(rename = "and")]
    And(Vec<ExprRecord>),
    #[serde(rename = "or")]
    Or(Vec<ExprRecord>),
    #[serde(rename = "not")]
    Not(Box<ExprRecord>),
    #[serde(rename = "is_null")]
    IsNull(Box<ExprRecord>),
    /// IS TRUE, IS FALSE, and IS UNKNOWN, which has no truth value.
    #[serde(rename = "is_truth")]
    IsTruth(Box<ExprRecord>, Option<bool>),
    #[serde(rename = "in")]
    InList(Box<ExprRecord>, Vec<ExprRecord>),
    #[serde(rename = "rows_in")]
    RowInList(Vec<ExprRecord>, Vec<Vec<ExprRecord>>),
    #[serde(rename = "like")]
    Like { text: Box<ExprRecord>, pattern: Box<ExprRecord>, escape: Option<char>, ignore_case: bool },
    #[serde(rename(deserialize = "Column"), skip_serializing)]
    EarlierColumn { index: usize },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CompareOp")]
pub(super) enum CompareRecord {
    #[serde(rename = "=")]
    Eq,
    #[serde(rename = "<>")]
    NotEq,
    #[serde(rename = "<")]
    Lt,
    #[serde(rename = "<=")]
    LtEq,
    #[serde(rename = ">")]
    Gt,
    #[serde(rename = ">=")]
    GtEq,
    #[serde(rename = "IS DISTINCT FROM")]
    Distinct,
    #[serde(rename = "IS NOT DISTINCT FROM")]
    NotDistinct,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ArithOp")]
pub(super) enum ArithRecord {
    #[serde(rename = "+", alias = "Add")]
    Add,
    #[serde(rename = "-", alias = "Sub")]
    Sub,
    #[serde(rename = "*", alias = "Mul")]
    Mul,
    #[serde(rename = "/", alias = "Div")]
    Div,
    #[serde(rename = "%", alias = "Rem")]
    Rem,
}

impl ExprRecord {
    pub(super) fn of(expr: &Expr) -> Result<Self, String> {
        let boxed = |expr: &Expr| Self::of(expr).map(Box::new);
        let list = |exprs: &[Expr]| exprs.iter().map(Self::of).collect::<Result<Vec<_>, _>>();
        Ok(match expr {
            Expr::Literal(value, ty) => Self::Literal(ValueRecord::of(value), TypeRecord(*ty)),
            Expr::Column(column) => Self::Column(column.index),
            Expr::Call(function, args, ty) => Self::Call(function.name.into(), list(args)?, TypeRecord(*ty)),
            Expr::Arith(op, a, b, ty) => Self::Arith(*op, boxed(a)?, boxed(b)?, TypeRecord(*ty)),
            Expr::Negate(e, ty) => Self::Negate(boxed(e)?, TypeRecord(*ty)),
            Expr::Cast(e, ty) => Self::Cast(boxed(e)?, TypeRecord(*ty)),
            Expr::Case { whens, otherwise, ty } => {
                let whens = whens.iter().map(|(when, then)| Ok((Self::of(when)?, Self::of(then)?)));
                let otherwise = otherwise.as_deref().map(boxed).transpose()?;
                Self::Case(whens.collect::<Result<_, String>>()?, otherwise, TypeRecord(*ty))
            }
            Expr::Compare(op, a, b) => Self::Compare(*op, boxed(a)?, boxed(b)?),
            Expr::RowCompare(op, a, b) => Self::CompareRows(*op, list(a)?, list(b)?),
            Expr::And(parts) => Self::And(list(parts)?),
            Expr::Or(parts) => Self::Or(list(parts)?),
            Expr::Not(e) => Self::Not(boxed(e)?),
            Expr::IsNull(e) => Self::IsNull(boxed(e)?),
            Expr::IsTruth(e, truth) => Self::IsTruth(boxed(e)?, *truth),
            Expr::InList(e, values) => Self::InList(boxed(e)?, list(values)?),
            Expr::RowInList(row, rows) => {
                Self::RowInList(list(row)?, rows.iter().map(|row| list(row)).collect::<Result<_, _>>()?)
            }
            Expr::Like { text, pattern, escape, ignore_case } => {
                Self::Like { text: boxed(text)?, pattern: boxed(pattern)?, escape: *escape, ignore_case: *ignore_case }
            }
            Expr::Param(..) | Expr::Subquery(..) | Expr::Engine(_) => return Err(format!("it has no form for {expr}")),
        })
    }

    /// The expression over a table of these columns.
    pub(super) fn into_expr(self, columns: &[ColumnDef]) -> Result<Expr, String> {
        let boxed = |expr: Box<Self>| expr.into_expr(columns).map(Box::new);
        let list =
            |exprs: Vec<Self>| exprs.into_iter().map(|expr| expr.into_expr(columns)).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Self::Literal(value, ty) => Expr::Literal(value.into_value()?, ty.0),
            Self::Column(index) | Self::EarlierColumn { index } => {
                let column = columns.get(index).ok_or_else(|| format!("an expression names column {index}"))?;
                let (name, ty, nullable) = (column.name.clone(), column.ty, column.nullable);
                Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
            }
            Self::Call(name, args, ty) => Expr::Call(function(&name)?, list(args)?, ty.0),
            Self::Arith(op, a, b, ty) => Expr::Arith(op, boxed(a)?, boxed(b)?, ty.0),
            Self::Negate(e, ty) => Expr::Negate(boxed(e)?, ty.0),
            Self::Cast(e, ty) => Expr::Cast(boxed(e)?, ty.0),
            Self::Case(whens, otherwise, ty) => {
                let whens =
                    whens.into_iter().map(|(when, then)| Ok((when.into_expr(columns)?, then.into_expr(columns)?)));
                let otherwise = otherwise.map(boxed).transpose()?;
                Expr::Case { whens: whens.collect::<Result<_, String>>()?, otherwise, ty: ty.0 }
            }
            Self::Compare(op, a, b) => Expr::Compare(op, boxed(a)?, boxed(b)?),
            Self::CompareRows(op, a, b) => Expr::RowCompare(op, list(a)?, list(b)?),
            Self::And(parts) => Expr::And(list(parts)?),
            Self::Or(parts) => Expr::Or(list(parts)?),
            Self::Not(e) => Expr::Not(boxed(e)?),
            Self::IsNull(e) => Expr::IsNull(boxed(e)?),
            Self::IsTruth(e, truth) => Expr::IsTruth(boxed(e)?, truth),
            Self::InList(e, values) => Expr::InList(boxed(e)?, list(values)?),
            Self::RowInList(row, rows) => {
                Expr::RowInList(list(row)?, rows.into_iter().map(list).collect::<Result<_, _>>()?)
            }
            Self::Like { text, pattern, escape, ignore_case } => {
                Expr::Like { text: boxed(text)?, pattern: boxed(pattern)?, escape, ignore_case }
            }
        })
    }
}

fn function(name: &str) -> Result<Function, String> {
    // The formats 1 to 4 omit the underscore; only these two functions of keys have one.
    let name = match name {
        "DateBin" => "DATE_BIN",
        "DateTrunc" => "DATE_TRUNC",
        name => name,
    };
    Function::by_name(name).ok_or_else(|| format!("there is no function {name}"))
}
