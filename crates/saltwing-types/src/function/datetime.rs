//! Functions of instants.

use super::signature::of_kind;
use super::{Args, Evaluation, KeyPart, KeyProperty, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::calendar::{Bins, DateField, DateUnit, JULIAN_DAY_OF_1970, NANOS_PER_DAY, instant_of, nanos_of};
use crate::rounding::Rounding;
use crate::time_zone::TimeZone;
use crate::value::Timestamp;
use crate::{Decimal, SqlType, Value, ValueError, datetime};

pub(super) static ALL: &[&ScalarFunction] = &[
    &CENTURY,
    &CONVERT_TZ,
    &DATE_BIN,
    &DATE_DIFF,
    &DATE_TRUNC,
    &DAY_OF_MONTH,
    &DAY_OF_WEEK,
    &DAY_OF_YEAR,
    &DECADE,
    &DOW,
    &HOUR,
    &ISOYEAR,
    &JULIAN,
    &MILLENNIUM,
    &MINUTE,
    &MONTH,
    &QUARTER,
    &SECOND,
    &TIMEZONE_OFFSET,
    &WEEK,
    &YEAR,
];

static CONVERT_TZ: ScalarFunction = ScalarFunction::new(
    "CONVERT_TZ",
    &[Signature::new(
        &[
            of_kind("at", ParameterKind::InstantOrString),
            of_kind("from", ParameterKind::TimeZone),
            of_kind("to", ParameterKind::TimeZone),
        ],
        ResultType::InstantAt(0),
    )],
    |args| {
        let (at, from, to) = (args.instant(0)?, TimeZone::by_name(args.text(1)?)?, TimeZone::by_name(args.text(2)?)?);
        // As in Phoenix, both offsets are those at the instant itself.
        let shift_ms = to.offset_ms(at.ms)? - from.offset_ms(at.ms)?;
        written_instant(args, Timestamp { ms: at.ms.saturating_add(shift_ms), ..at })
    },
)
.gives("The instant moved by the difference of two time zones' offsets at that instant.")
.example("CONVERT_TZ(TIMESTAMP '2024-05-15 12:00:00', 'UTC', 'Asia/Tokyo')", "2024-05-15 21:00:00");

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

static DATE_DIFF: ScalarFunction = ScalarFunction::new(
    "DATE_DIFF",
    &[Signature::new(
        &[
            of_kind("unit", ParameterKind::Unit),
            of_kind("start", ParameterKind::InstantOrString),
            of_kind("end", ParameterKind::InstantOrString),
        ],
        ResultType::Is(SqlType::BigInt),
    )],
    |args| {
        let bins = Bins::of_unit(DateUnit::by_name(args.text(0)?)?);
        let index = |argument| Ok(bins.index(nanos_of(args.instant(argument)?)));
        let count = i64::try_from(index(2)? - index(1)?);
        count.map(Value::Int).map_err(|_| ValueError::OutOfRange { value: args.shown(), target: args.ty().to_string() })
    },
)
.aliases(&["DATEDIFF"])
.key_property(KeyProperty::Increasing(2))
.gives("How many times a unit of time begins after the start, up to the end; negative if the end is earlier.")
.example("DATE_DIFF('month', DATE '2024-01-31', DATE '2024-03-01')", "2");

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
.gives("The start of the unit of time, microsecond to millennium, that holds the instant.")
.example("DATE_TRUNC('month', DATE '2024-05-15')", "2024-05-01");

const OF_INSTANT: &[Signature] = &[
    Signature::new(&[of_kind("at", ParameterKind::InstantOrString)], ResultType::Is(SqlType::Integer)),
    Signature::new(&[of_kind("length", ParameterKind::Interval)], ResultType::Is(SqlType::Integer)),
];

/// The entry of a date field: an integer of an instant.
const fn field(field: DateField) -> ScalarFunction {
    let key_property = if field.grows() { KeyProperty::Increasing(0) } else { KeyProperty::Unknown };
    let entry = ScalarFunction::evaluated_by(field.function_name(), OF_INSTANT, Evaluation::Field(field));
    entry.key_property(key_property)
}

static MILLENNIUM: ScalarFunction = field(DateField::Millennium)
    .gives("The millennium: 3 from 2001 on; -1 comes before 1.")
    .example("MILLENNIUM(DATE '2000-12-31')", "2");

static CENTURY: ScalarFunction = field(DateField::Century)
    .gives("The century: 21 from 2001 on; -1 comes before 1.")
    .example("CENTURY(DATE '2000-12-31')", "20");

static DECADE: ScalarFunction = field(DateField::Decade)
    .gives("The year divided by ten, and rounded down.")
    .example("DECADE(DATE '2024-05-15')", "202");

static ISOYEAR: ScalarFunction = field(DateField::IsoYear)
    .gives("The year of the instant's week by ISO 8601, which WEEK counts.")
    .example("ISOYEAR(DATE '2021-01-03')", "2020");

pub(super) static JULIAN: ScalarFunction = ScalarFunction::new(
    "JULIAN",
    &[Signature::new(&[of_kind("at", ParameterKind::InstantOrString)], ResultType::Is(SqlType::Decimal(None)))],
    |args| {
        let nanos = Decimal::new(nanos_of(args.instant(0)?), 0)?;
        let days = nanos.checked_div(Decimal::new(NANOS_PER_DAY, 0)?)?;
        days.checked_add(Decimal::from(JULIAN_DAY_OF_1970)).map(Value::Decimal)
    },
)
.key_property(KeyProperty::Increasing(0))
.gives("The Julian day of the instant, from midnight to midnight, with the part of the day that is over.")
.example("JULIAN(TIMESTAMP '2024-05-15 12:00:00')", "2460446.5");

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
        DateField::Millennium => &MILLENNIUM,
        DateField::Century => &CENTURY,
        DateField::Decade => &DECADE,
        DateField::Year => &YEAR,
        DateField::IsoYear => &ISOYEAR,
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

static TIMEZONE_OFFSET: ScalarFunction = ScalarFunction::new(
    "TIMEZONE_OFFSET",
    &[Signature::new(
        &[of_kind("zone", ParameterKind::TimeZone), of_kind("at", ParameterKind::InstantOrString)],
        ResultType::Is(SqlType::Integer),
    )],
    |args| Ok(Value::Int(TimeZone::by_name(args.text(0)?)?.offset_ms(args.instant(1)?.ms)? / 60_000)),
)
.gives("The minutes by which a time zone's clocks are ahead of UTC at an instant.")
.example("TIMEZONE_OFFSET('Europe/Berlin', DATE '2024-05-15')", "120");

/// An instant brought to the start of a bin, in the type of the call.
pub(super) fn rounded_instant(
    args: &Args<'_>,
    rounding: Rounding,
    at: Timestamp,
    bins: Bins,
) -> Result<Value, ValueError> {
    written_instant(args, instant_of(bins.cut(rounding, nanos_of(at)))?)
}

/// An instant in the type of the call.
///
/// # Errors
/// [`ValueError::DatetimeOverflow`] for an instant that cannot be written.
pub(super) fn written_instant(args: &Args<'_>, at: Timestamp) -> Result<Value, ValueError> {
    if !datetime::has_text(at.ms) {
        return Err(ValueError::DatetimeOverflow { value: args.shown(), target: args.ty().to_string() });
    }
    Ok(if args.ty().is_timestamp() { Value::Timestamp(at) } else { Value::Date(at.ms) })
}
