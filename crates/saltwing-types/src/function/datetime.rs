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

static DATE_BIN: ScalarFunction = ScalarFunction {
    name: "DATE_BIN",
    signatures: &[Signature::new(
        &[
            of_kind("stride", ParameterKind::Stride),
            of_kind("at", ParameterKind::InstantOrString),
            of_kind("origin", ParameterKind::InstantOrString),
        ],
        ResultType::InstantAt(1),
    )
    .optional(1)],
    evaluation: Evaluation::Values(|args| {
        let origin = if args.values().len() > 2 { args.instant(2)? } else { Timestamp { ms: 0, nanos: 0 } };
        rounded_instant(args, Rounding::Floor, args.instant(1)?, Bins::of_stride(args.text(0)?, origin)?)
    }),
    key_property: KeyProperty::Increasing(1),
    key_part: KeyPart::Allowed,
    description: "The start of the bin that holds the instant; bins are as long as the stride says, and count from 1970 or the origin.",
    example: ("DATE_BIN('15 minutes', TIMESTAMP '2024-05-15 12:34:56')", "2024-05-15 12:30:00"),
    ..ScalarFunction::DEFAULT
};

static DATE_TRUNC: ScalarFunction = ScalarFunction {
    name: "DATE_TRUNC",
    signatures: &[Signature::new(
        &[of_kind("unit", ParameterKind::Unit), of_kind("at", ParameterKind::InstantOrString)],
        ResultType::InstantAt(1),
    )],
    evaluation: Evaluation::Values(|args| {
        let bins = Bins::of_unit(DateUnit::by_name(args.text(0)?)?);
        rounded_instant(args, Rounding::Floor, args.instant(1)?, bins)
    }),
    key_property: KeyProperty::Increasing(1),
    key_part: KeyPart::Allowed,
    description: "The start of the unit of time, microsecond to year, that holds the instant.",
    example: ("DATE_TRUNC('month', DATE '2024-05-15')", "2024-05-01"),
    ..ScalarFunction::DEFAULT
};

const OF_INSTANT: &[Signature] =
    &[Signature::new(&[of_kind("at", ParameterKind::InstantOrString)], ResultType::Is(SqlType::Integer))];

/// The entry of a date field: an integer of an instant.
const fn field(field: DateField, description: &'static str, example: (&'static str, &'static str)) -> ScalarFunction {
    ScalarFunction {
        name: field.function_name(),
        signatures: OF_INSTANT,
        evaluation: Evaluation::Field(field),
        // The other fields begin anew each year.
        key_property: if matches!(field, DateField::Year) { KeyProperty::Increasing(0) } else { KeyProperty::Unknown },
        description,
        example,
        ..ScalarFunction::DEFAULT
    }
}

static YEAR: ScalarFunction =
    field(DateField::Year, "The year of the instant, as EXTRACT(YEAR FROM ..).", ("YEAR(DATE '2024-05-15')", "2024"));

static QUARTER: ScalarFunction =
    field(DateField::Quarter, "The quarter of the year, 1 to 4.", ("QUARTER(DATE '2024-05-15')", "2"));

static MONTH: ScalarFunction =
    field(DateField::Month, "The month of the year, 1 to 12.", ("MONTH(DATE '2024-05-15')", "5"));

static WEEK: ScalarFunction =
    field(DateField::Week, "The week of the year by ISO 8601, 1 to 53.", ("WEEK(DATE '2024-05-15')", "20"));

static DAY_OF_MONTH: ScalarFunction = field(
    DateField::Day,
    "The day of the month, 1 to 31, as EXTRACT(DAY FROM ..).",
    ("DAYOFMONTH(DATE '2024-05-15')", "15"),
);

static DAY_OF_YEAR: ScalarFunction = field(
    DateField::DayOfYear,
    "The day of the year, 1 to 366, as EXTRACT(DOY FROM ..).",
    ("DAYOFYEAR(DATE '2024-05-15')", "136"),
);

static DAY_OF_WEEK: ScalarFunction = field(
    DateField::DayOfWeek,
    "The day of the week, 1 (Monday) to 7 (Sunday), as EXTRACT(ISODOW FROM ..).",
    ("DAYOFWEEK(DATE '2024-05-19')", "7"),
);

static DOW: ScalarFunction = field(
    DateField::Dow,
    "The day of the week, 0 (Sunday) to 6 (Saturday), as EXTRACT(DOW FROM ..).",
    ("DOW(DATE '2024-05-19')", "0"),
);

static HOUR: ScalarFunction =
    field(DateField::Hour, "The hour of the day, 0 to 23.", ("HOUR(TIMESTAMP '2024-05-15 12:34:56.7')", "12"));

static MINUTE: ScalarFunction =
    field(DateField::Minute, "The minute of the hour, 0 to 59.", ("MINUTE(TIMESTAMP '2024-05-15 12:34:56.7')", "34"));

static SECOND: ScalarFunction = field(
    DateField::Second,
    "The whole second of the minute, 0 to 59.",
    ("SECOND(TIMESTAMP '2024-05-15 12:34:56.7')", "56"),
);

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

static TO_DATE: ScalarFunction = ScalarFunction {
    name: "TO_DATE",
    signatures: &[Signature::new(&[text("text")], ResultType::Is(SqlType::Date))],
    evaluation: Evaluation::Values(|args| crate::text::parse(args.text(0)?, args.ty())),
    description: "The DATE that a text such as '2024-05-15' or '2024-05-15 12:34:56' is.",
    example: ("TO_DATE('2024-05-15')", "2024-05-15"),
    ..ScalarFunction::DEFAULT
};

static TO_TIME: ScalarFunction = ScalarFunction {
    name: "TO_TIME",
    signatures: &[Signature::new(&[text("text")], ResultType::Is(SqlType::Time))],
    evaluation: Evaluation::Values(|args| crate::text::parse(args.text(0)?, args.ty())),
    description: "The TIME that a text such as '12:34:56' is, on the first day of 1970.",
    example: ("TO_TIME('12:34:56')", "1970-01-01 12:34:56"),
    ..ScalarFunction::DEFAULT
};

static TO_TIMESTAMP: ScalarFunction = ScalarFunction {
    name: "TO_TIMESTAMP",
    signatures: &[Signature::new(&[text("text")], ResultType::Is(SqlType::Timestamp))],
    evaluation: Evaluation::Values(|args| {
        Ok(match crate::text::parse(args.text(0)?, args.ty())? {
            // As in Phoenix.
            Value::Timestamp(at) => Value::Timestamp(Timestamp { ms: at.ms, nanos: 0 }),
            other => other,
        })
    }),
    description: "The TIMESTAMP that a text is, to the millisecond.",
    example: ("TO_TIMESTAMP('2024-05-15 12:34:56.789')", "2024-05-15 12:34:56.789"),
    ..ScalarFunction::DEFAULT
};

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
