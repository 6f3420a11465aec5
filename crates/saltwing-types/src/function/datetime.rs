//! Functions of instants, and instants from text.

use super::signature::{of_kind, text};
use super::{Args, Evaluation, KeyPart, KeyProperty, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::calendar::{Bins, DateField, DateUnit, instant_of, nanos_of};
use crate::rounding::Rounding;
use crate::value::Timestamp;
use crate::{SqlType, Value, ValueError, datetime};

pub(super) static ALL: &[&ScalarFunction] = &[
    &DATE_BIN,
    &DATE_TRUNC,
    &DAY_OF_MONTH,
    &DAY_OF_WEEK,
    &DAY_OF_YEAR,
    &DOW,
    &HOUR,
    &MINUTE,
    &MONTH,
    &QUARTER,
    &SECOND,
    &TO_DATE,
    &TO_TIME,
    &TO_TIMESTAMP,
    &WEEK,
    &YEAR,
];

static DATE_BIN: ScalarFunction = ScalarFunction::new("DATE_BIN", &[Signature::new(
        &[
            of_kind("stride", ParameterKind::Stride),
            of_kind("at", ParameterKind::InstantOrString),
            of_kind("origin", ParameterKind::InstantOrString),
        ],
        ResultType::InstantAt(1),
    )
    .optional(1)], |args| {
        let origin = if args.values().len() > 2 { args.instant(2)? } else { Timestamp { ms: 0, nanos: 0 } };
        rounded_instant(args, Rounding::Floor, args.instant(1)?, Bins::of_stride(args.text(0)?, origin)?)
    })
    .key_property(KeyProperty::Increasing(1))
    .key_part(KeyPart::Allowed)
    .gives("The start of the bin that holds the instant; bins are as long as the stride says, and count from 1970 or the origin.")
    .example("DATE_BIN('15 minutes', TIMESTAMP '2024-05-15 12:34:56')", "2024-05-15 12:30:00");

static DATE_TRUNC: ScalarFunction = ScalarFunction::new(
    "DATE_TRUNC",
    &[Signature::new(
        &[of_kind("unit", ParameterKind::Unit), of_kind("at", ParameterKind::InstantOrString)],
        ResultType::InstantAt(1),
    )],
    |args| {
        let bins = Bins::of_unit(DateUnit::by_name(args.text(0)?)?);
        rounded_instant(args, Rounding::Floor, args.instant(1)?, bins)
    },
)
.key_property(KeyProperty::Increasing(1))
.key_part(KeyPart::Allowed)
.gives("The start of the unit of time, microsecond to year, that holds the instant.")
.example("DATE_TRUNC('month', DATE '2024-05-15')", "2024-05-01");

const OF_INSTANT: &[Signature] =
    &[Signature::new(&[of_kind("at", ParameterKind::InstantOrString)], ResultType::Is(SqlType::Integer))];

/// The entry of a date field: an integer of an instant.
const fn field(field: DateField) -> ScalarFunction {
    // Of these fields only the year grows with time: months, days and hours start again from their first value.
    let key_property = if matches!(field, DateField::Year) { KeyProperty::Increasing(0) } else { KeyProperty::Unknown };
    let entry = ScalarFunction::evaluated_by(field.function_name(), OF_INSTANT, Evaluation::Field(field));
    entry.key_property(key_property)
}

static YEAR: ScalarFunction = field(DateField::Year)
    .gives("The year of the instant, as EXTRACT(YEAR FROM ..).")
    .example("YEAR(DATE '2024-05-15')", "2024");

static QUARTER: ScalarFunction =
    field(DateField::Quarter).gives("The quarter of the year, 1 to 4.").example("QUARTER(DATE '2024-05-15')", "2");

static MONTH: ScalarFunction =
    field(DateField::Month).gives("The month of the year, 1 to 12.").example("MONTH(DATE '2024-05-15')", "5");

static WEEK: ScalarFunction =
    field(DateField::Week).gives("The week of the year by ISO 8601, 1 to 53.").example("WEEK(DATE '2024-05-15')", "20");

static DAY_OF_MONTH: ScalarFunction = field(DateField::Day)
    .gives("The day of the month, 1 to 31, as EXTRACT(DAY FROM ..).")
    .example("DAYOFMONTH(DATE '2024-05-15')", "15");

static DAY_OF_YEAR: ScalarFunction = field(DateField::DayOfYear)
    .gives("The day of the year, 1 to 366, as EXTRACT(DOY FROM ..).")
    .example("DAYOFYEAR(DATE '2024-05-15')", "136");

static DAY_OF_WEEK: ScalarFunction = field(DateField::DayOfWeek)
    .gives("The day of the week, 1 (Monday) to 7 (Sunday), as EXTRACT(ISODOW FROM ..).")
    .example("DAYOFWEEK(DATE '2024-05-19')", "7");

static DOW: ScalarFunction = field(DateField::Dow)
    .gives("The day of the week, 0 (Sunday) to 6 (Saturday), as EXTRACT(DOW FROM ..).")
    .example("DOW(DATE '2024-05-19')", "0");

static HOUR: ScalarFunction = field(DateField::Hour)
    .gives("The hour of the day, 0 to 23.")
    .example("HOUR(TIMESTAMP '2024-05-15 12:34:56.7')", "12");

static MINUTE: ScalarFunction = field(DateField::Minute)
    .gives("The minute of the hour, 0 to 59.")
    .example("MINUTE(TIMESTAMP '2024-05-15 12:34:56.7')", "34");

static SECOND: ScalarFunction = field(DateField::Second)
    .gives("The whole second of the minute, 0 to 59.")
    .example("SECOND(TIMESTAMP '2024-05-15 12:34:56.7')", "56");

/// The function of a date field.
pub(super) fn of_field(field: DateField) -> &'static ScalarFunction {
    match field {
        DateField::Year => &YEAR,
        DateField::Quarter => &QUARTER,
        DateField::Month => &MONTH,
        DateField::Week => &WEEK,
        DateField::Day => &DAY_OF_MONTH,
        DateField::DayOfYear => &DAY_OF_YEAR,
        DateField::DayOfWeek => &DAY_OF_WEEK,
        DateField::Dow => &DOW,
        DateField::Hour => &HOUR,
        DateField::Minute => &MINUTE,
        DateField::Second => &SECOND,
    }
}

static TO_DATE: ScalarFunction =
    ScalarFunction::new("TO_DATE", &[Signature::new(&[text("text")], ResultType::Is(SqlType::Date))], |args| {
        crate::text::parse(args.text(0)?, args.ty())
    })
    .gives("The DATE that a text such as '2024-05-15' or '2024-05-15 12:34:56' is.")
    .example("TO_DATE('2024-05-15')", "2024-05-15");

static TO_TIME: ScalarFunction =
    ScalarFunction::new("TO_TIME", &[Signature::new(&[text("text")], ResultType::Is(SqlType::Time))], |args| {
        crate::text::parse(args.text(0)?, args.ty())
    })
    .gives("The TIME that a text such as '12:34:56' is, on the first day of 1970.")
    .example("TO_TIME('12:34:56')", "1970-01-01 12:34:56");

static TO_TIMESTAMP: ScalarFunction = ScalarFunction::new(
    "TO_TIMESTAMP",
    &[Signature::new(&[text("text")], ResultType::Is(SqlType::Timestamp))],
    |args| {
        Ok(match crate::text::parse(args.text(0)?, args.ty())? {
            // As in Phoenix.
            Value::Timestamp(at) => Value::Timestamp(Timestamp { ms: at.ms, nanos: 0 }),
            other => other,
        })
    },
)
.gives("The TIMESTAMP that a text is, to the millisecond.")
.example("TO_TIMESTAMP('2024-05-15 12:34:56.789')", "2024-05-15 12:34:56.789");

/// An instant brought to the start of a bin, in the type of the call.
pub(super) fn rounded_instant(
    args: &Args<'_>,
    rounding: Rounding,
    at: Timestamp,
    bins: Bins,
) -> Result<Value, ValueError> {
    let rounded = instant_of(bins.cut(rounding, nanos_of(at)))?;
    if !datetime::has_text(rounded.ms) {
        let value = format!("{} of {}", rounding.as_str(), datetime::format_date(at.ms));
        return Err(ValueError::DatetimeOverflow { value, target: args.ty().to_string() });
    }
    Ok(if args.ty().is_timestamp() { Value::Timestamp(rounded) } else { Value::Date(rounded.ms) })
}
