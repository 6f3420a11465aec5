//! Ways to call a function, as data: for typing, errors, `SHOW FUNCTIONS` and the docs.

use std::fmt;

use crate::calendar::{Bins, DateUnit};
use crate::date_format::DateFormat;
use crate::date_pattern::DatePattern;
use crate::normal_form::NormalForm;
use crate::number_format::NumberFormat;
use crate::number_pattern::NumberPattern;
use crate::time_zone::TimeZone;
use crate::value::Timestamp;
use crate::{ArithOp, SqlType, ValueError, json};

/// One way to call a function.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The parameters in order.
    pub parameters: &'static [Parameter],
    /// How many of them a call must have.
    pub required: usize,
    /// Whether the last one may be repeated.
    pub repeats: bool,
    /// The type of the call.
    pub result: ResultType,
    /// The expression that a call of this kind becomes, if it is computed in another way than the function's others.
    pub rewritten: Option<Rewrite>,
}

/// A parameter: its name and what it takes.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Only for messages and documentation: arguments are positional.
    pub name: &'static str,
    /// The accepted arguments.
    pub kind: ParameterKind,
}

/// The arguments that a parameter accepts. Literals, NULL and statement parameters take the requested type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Text.
    Text,
    /// Binary.
    Bytes,
    /// A value of any type, as its text.
    AnyAsText,
    /// A value of any type.
    Any,
    /// A value of the type that all arguments of this kind, and the elements of those of kind `Array`, have in common.
    Common,
    /// An array of the same type's values.
    Array,
    /// An array of values of any type, as their texts.
    ArrayAsTexts,
    /// TRUE or FALSE.
    Boolean,
    /// An integer.
    Integer,
    /// A number, as it is.
    Number,
    /// A number, as a DECIMAL.
    Decimal,
    /// A number, as a DOUBLE.
    Double,
    /// An instant; no text.
    Instant,
    /// An instant, or a string literal that is one.
    InstantOrString,
    /// An interval, or a string literal that is one.
    Interval,
    /// A unit of time by name.
    Unit,
    /// A length of time: text such as '15 minutes', or an INTERVAL.
    Stride,
    /// A pattern of Java's `SimpleDateFormat`.
    DatePattern,
    /// The same, or a pattern of PostgreSQL's `to_char`.
    DateFormat,
    /// A pattern of Java's `DecimalFormat`.
    NumberPattern,
    /// The same, or a pattern of PostgreSQL's `to_char`.
    NumberFormat,
    /// A time zone by name.
    TimeZone,
    /// A JSON value, or a text that is one.
    Json,
    /// A value of any type, as JSON.
    AnyAsJson,
    /// A value of any type in the form of which JSON is made: a number, a truth value, a text, or an array of these.
    JsonSource,
    /// A path of SQL/JSON.
    JsonPath,
    /// A normal form of Unicode by name, also as a word without quotes.
    NormalForm,
}

impl ParameterKind {
    /// With an article, for errors.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            kind if kind.is_text() => "text",
            Self::Bytes => "binary",
            Self::AnyAsText | Self::Any | Self::Common | Self::AnyAsJson | Self::JsonSource => "a value",
            Self::Boolean => "a truth value",
            Self::Integer => "an integer",
            Self::Number | Self::Decimal | Self::Double => "a number",
            Self::Array | Self::ArrayAsTexts => "an array",
            Self::Json => "JSON",
            Self::Interval => "an interval",
            _ => "an instant",
        }
    }

    /// Whether arguments are text, of any meaning.
    pub(crate) fn is_text(self) -> bool {
        use ParameterKind::*;
        matches!(
            self,
            Text | Unit
                | Stride
                | DatePattern
                | DateFormat
                | NumberPattern
                | NumberFormat
                | TimeZone
                | JsonPath
                | NormalForm
        )
    }

    /// Checks the text of an argument for its meaning.
    pub(crate) fn check_text(self, text: &str) -> Result<(), ValueError> {
        match self {
            Self::Unit => DateUnit::by_name(text).map(drop),
            Self::Stride => Bins::of_stride(text, Timestamp { ms: 0, nanos: 0 }).map(drop),
            Self::DatePattern => DatePattern::parse(text).map(drop),
            Self::DateFormat => DateFormat::parse(text).map(drop),
            Self::NumberPattern => NumberPattern::parse(text).map(drop),
            Self::NumberFormat => NumberFormat::parse(text).map(drop),
            Self::TimeZone => TimeZone::by_name(text).map(drop),
            Self::JsonPath => json::path(text).map(drop),
            Self::NormalForm => NormalForm::by_name(text).map(drop),
            _ => Ok(()),
        }
    }

    fn type_name(self) -> &'static str {
        match self {
            kind if kind.is_text() => "VARCHAR",
            Self::Bytes => "VARBINARY",
            Self::AnyAsText | Self::Any | Self::Common | Self::AnyAsJson | Self::JsonSource => "any",
            Self::Boolean => "BOOLEAN",
            Self::Integer => "BIGINT",
            Self::Number => "number",
            Self::Decimal => "DECIMAL",
            Self::Double => "DOUBLE",
            Self::Array | Self::ArrayAsTexts => "array",
            Self::Json => "JSON",
            Self::Interval => "INTERVAL",
            _ => "instant",
        }
    }
}

/// The expression that a call becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// `CASE WHEN a = b THEN NULL ELSE a END`.
    NullIf,
    /// `CASE WHEN condition THEN a ELSE b END`.
    If,
    /// The name of the argument's type.
    TypeName,
    /// `a % b`.
    Remainder,
    /// `at + length` or `at - length`.
    Moved(ArithOp),
    /// `CASE WHEN n > 0 THEN 1 WHEN n < 0 THEN -1 WHEN n = 0 THEN 0 END`.
    Sign,
    /// `CASE WHEN a IS NOT DISTINCT FROM b THEN c .. ELSE d END`.
    Decode,
}

/// The type of a call, by those of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// Always this.
    Is(SqlType),
    /// The first argument's as arithmetic has it: BIGINT, DECIMAL or DOUBLE.
    Arithmetic,
    /// That of the instant at this index, signed.
    InstantAt(usize),
    /// That of the argument at this index.
    At(usize),
    /// That of the arguments of kind [`ParameterKind::Common`].
    Common,
    /// An array of values of the common type.
    Array,
    /// An array of values of this type.
    ArrayOf(SqlType),
}

/// The text type of results.
pub(super) const VARCHAR: ResultType = ResultType::Is(SqlType::Varchar(None));

pub(super) const fn text(name: &'static str) -> Parameter {
    of_kind(name, ParameterKind::Text)
}

pub(super) const fn integer(name: &'static str) -> Parameter {
    of_kind(name, ParameterKind::Integer)
}

pub(super) const fn of_kind(name: &'static str, kind: ParameterKind) -> Parameter {
    Parameter { name, kind }
}

impl Signature {
    /// A signature whose parameters are all required.
    pub(super) const fn new(parameters: &'static [Parameter], result: ResultType) -> Self {
        Self { parameters, required: parameters.len(), repeats: false, result, rewritten: None }
    }

    /// With the last `count` parameters left out at will.
    pub(super) const fn optional(mut self, count: usize) -> Self {
        self.required -= count;
        self
    }

    /// With the last parameter any number of times, at least once.
    pub(super) const fn repeated(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Of calls that become another expression.
    pub(super) const fn rewritten(mut self, rewrite: Rewrite) -> Self {
        self.rewritten = Some(rewrite);
        self
    }

    /// Whether a call may have `count` arguments.
    pub(crate) fn takes_count(&self, count: usize) -> bool {
        count >= self.required && (self.repeats || count <= self.parameters.len())
    }

    /// The kind of the argument at an index.
    pub fn kind(&self, index: usize) -> Option<ParameterKind> {
        let last = if self.repeats { self.parameters.last() } else { None };
        self.parameters.get(index).or(last).map(|parameter| parameter.kind)
    }
}

impl Signature {
    /// `text VARCHAR, start BIGINT [, count BIGINT]`
    pub(super) fn write_parameters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, parameter) in self.parameters.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match index < self.required {
                true => write!(f, "{comma}{parameter}")?,
                false => write!(f, " [{comma}{parameter}]")?,
            }
        }
        f.write_str(if self.repeats { ", .." } else { "" })
    }

    /// ` -> VARCHAR`
    pub(super) fn write_result(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(" -> ")?;
        match self.result {
            ResultType::Is(ty) => write!(f, "{ty}"),
            ResultType::Arithmetic => f.write_str("number"),
            ResultType::InstantAt(_) => f.write_str("instant"),
            ResultType::Common => f.write_str("any"),
            ResultType::At(index) => f.write_str(self.kind(index).map_or("any", ParameterKind::type_name)),
            ResultType::Array => f.write_str("array"),
            ResultType::ArrayOf(ty) => write!(f, "{ty} ARRAY"),
        }
    }
}

impl fmt::Display for Parameter {
    /// `start BIGINT`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.kind.type_name())
    }
}

impl fmt::Display for Signature {
    /// `(text VARCHAR, start BIGINT [, count BIGINT]) -> VARCHAR`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        self.write_parameters(f)?;
        f.write_str(")")?;
        self.write_result(f)
    }
}
