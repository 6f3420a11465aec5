//! Instants and numbers as text by a pattern, and back.

use super::datetime::written_instant;
use super::epoch::from_seconds;
use super::signature::{VARCHAR, of_kind, text};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::date_format::DateFormat;
use crate::date_pattern::DatePattern;
use crate::number_format::NumberFormat;
use crate::number_pattern::NumberPattern;
use crate::time_zone::TimeZone;
use crate::value::Timestamp;
use crate::{Decimal, SqlType, Value, ValueError, number};

pub(super) static ALL: &[&ScalarFunction] = &[&TO_CHAR, &TO_DATE, &TO_NUMBER, &TO_TIME, &TO_TIMESTAMP];

const DATE_PATTERN: Parameter = of_kind("pattern", ParameterKind::DatePattern);
const NUMBER_PATTERN: Parameter = of_kind("pattern", ParameterKind::NumberPattern);

static TO_CHAR: ScalarFunction = ScalarFunction::new(
    "TO_CHAR",
    &[
        Signature::new(
            &[of_kind("at", ParameterKind::Instant), of_kind("pattern", ParameterKind::DateFormat)],
            VARCHAR,
        )
        .optional(1),
        Signature::new(
            &[of_kind("value", ParameterKind::Number), of_kind("pattern", ParameterKind::NumberFormat)],
            VARCHAR,
        )
        .optional(1),
    ],
    |args| {
        let (value, pattern) = (args.value(0)?, args.optional_text(1)?);
        Ok(Value::Text(match crate::text::instant(value) {
            Some(at) => DateFormat::parse(pattern.unwrap_or(DatePattern::DEFAULT))?.format(at),
            None => {
                let pattern = NumberFormat::parse(pattern.unwrap_or(NumberPattern::DEFAULT))?;
                pattern.format(number::to_decimal(value)?)?
            }
        }))
    },
)
.gives(
    "The instant or number as text, by a pattern of Java's SimpleDateFormat or DecimalFormat, as in Phoenix; a pattern that is \
     none of Java's is PostgreSQL's, such as YYYY-MM-DD HH24:MI:SS or 9,999.99, and a date pattern that means two things, such as \
     MM/DD, is refused.",
)
.example("TO_CHAR(TIMESTAMP '2024-05-15 12:34:56', 'dd MMM yyyy, HH:mm')", "15 May 2024, 12:34");

/// The signature of a function that reads an instant.
const fn reading(ty: SqlType) -> Signature {
    const PARAMETERS: &[Parameter] = &[text("text"), DATE_PATTERN, of_kind("zone", ParameterKind::TimeZone)];
    Signature::new(PARAMETERS, ResultType::Is(ty)).optional(2)
}

static TO_DATE: ScalarFunction = ScalarFunction::new("TO_DATE", &[reading(SqlType::Date)], read_instant)
    .gives("The DATE that a text such as '2024-05-15 12:34:56' is, or a text of a pattern of Java's SimpleDateFormat; in a time zone or UTC.")
    .example("TO_DATE('15.5.2024', 'dd.MM.yyyy')", "2024-05-15");

static TO_TIME: ScalarFunction = ScalarFunction::new("TO_TIME", &[reading(SqlType::Time)], read_instant)
    .gives("The TIME that a text is, as TO_DATE; without a date it is on the first day of 1970.")
    .example("TO_TIME('12:34:56')", "1970-01-01 12:34:56");

static TO_TIMESTAMP: ScalarFunction = ScalarFunction::new(
    "TO_TIMESTAMP",
    &[
        reading(SqlType::Timestamp),
        Signature::new(&[of_kind("seconds", ParameterKind::Double)], ResultType::Is(SqlType::Timestamp)),
    ],
    |args| match args.value(0)? {
        Value::Double(seconds) => from_seconds(args, *seconds),
        _ => read_instant(args),
    },
)
    .gives("The TIMESTAMP that a text is, as TO_DATE, to the millisecond; of a number that of so many seconds since 1970, as in PostgreSQL.")
    .example("TO_TIMESTAMP('2024-05-15 12:34:56.789')", "2024-05-15 12:34:56.789");

fn read_instant(args: &Args<'_>) -> Result<Value, ValueError> {
    let text = args.text(0)?;
    let Some(pattern) = args.optional_text(1)? else {
        return Ok(match crate::text::parse(text, args.ty())? {
            // As in Phoenix.
            Value::Timestamp(at) => Value::Timestamp(Timestamp { nanos: 0, ..at }),
            other => other,
        });
    };
    let zone = args.optional_text(2)?.map_or(Ok(TimeZone::UTC), TimeZone::by_name)?;
    written_instant(args, Timestamp { ms: DatePattern::parse(pattern)?.read(text, zone)?, nanos: 0 })
}

const DECIMAL: ResultType = ResultType::Is(SqlType::Decimal(None));

static TO_NUMBER: ScalarFunction = ScalarFunction::new(
    "TO_NUMBER",
    &[
        Signature::new(&[text("text"), NUMBER_PATTERN], DECIMAL).optional(1),
        Signature::new(&[of_kind("at", ParameterKind::Instant)], DECIMAL),
    ],
    |args| {
        if let Some(at) = crate::text::instant(args.value(0)?) {
            return Ok(Value::Decimal(Decimal::from(at.ms)));
        }
        let text = args.text(0)?.trim();
        match args.optional_text(1)? {
            None => crate::text::parse(text, args.ty()),
            // As in Phoenix, NULL if the text is no number of the pattern.
            Some(pattern) => Ok(NumberPattern::parse(pattern)?.read(text)?.map_or(Value::Null, Value::Decimal)),
        }
    },
)
.gives("The number that a text is, or that it begins with by a pattern of Java's DecimalFormat. An instant gives its milliseconds since 1970.")
.example("TO_NUMBER('-1,234.5', '#,##0.0')", "-1234.5");
