use chrono::{DateTime, Datelike, Timelike};
use proptest::prelude::*;

use super::*;

const UNITS: [DateUnit; 13] = [
    DateUnit::Microsecond,
    DateUnit::Millisecond,
    DateUnit::Second,
    DateUnit::Minute,
    DateUnit::Hour,
    DateUnit::Day,
    DateUnit::Week,
    DateUnit::Month,
    DateUnit::Quarter,
    DateUnit::Year,
    DateUnit::Decade,
    DateUnit::Century,
    DateUnit::Millennium,
];

fn any_bins() -> impl Strategy<Value = Bins> {
    let units = prop::sample::select(UNITS.to_vec()).prop_map(Bins::of_unit);
    let several = (prop::sample::select(UNITS[..7].to_vec()), 1i64..100)
        .prop_map(|(unit, count)| Bins::of_units(unit, count).unwrap());
    let strides = (1u32..5_000, -10_000_000i64..10_000_000).prop_map(|(minutes, ms)| {
        Bins::of_stride(&format!("{minutes} minutes 1 second"), Timestamp { ms, nanos: 7 }).unwrap()
    });
    prop_oneof![units, several, strides]
}

fn any_instant() -> impl Strategy<Value = i128> {
    let near = (-5_000_000_000_000i64..5_000_000_000_000).prop_map(i128::from);
    let ends = prop::sample::select(vec![i64::MIN, i64::MAX, 0, -1]).prop_map(|ms| i128::from(ms) * NANOS_PER_MS);
    let all = any::<i64>().prop_map(|ms| i128::from(ms) * NANOS_PER_MS + 5);
    let years = (-300_000_000_000_000i64..300_000_000_000_000).prop_map(|ms| i128::from(ms) * NANOS_PER_MS);
    prop_oneof![near, ends, all, years]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

    /// Law 1.
    #[test]
    fn an_instant_lies_in_its_bin(bins in any_bins(), at in any_instant()) {
        let (floor, ceil, next) = (bins.floor(at), bins.ceil(at), bins.next(at));
        prop_assert!(floor <= at && at <= ceil && at < next);
        prop_assert_eq!((bins.floor(floor), bins.floor(ceil), bins.floor(next)), (floor, ceil, next));
        prop_assert_eq!(bins.floor(next - 1), floor);
        prop_assert!(ceil == floor || ceil == next);
        let round = bins.round(at);
        prop_assert_eq!(round, if at - floor < next - at { floor } else { next });
    }

    /// Laws 2 and 3.
    #[test]
    fn time_goes_on(bins in any_bins(), a in any_instant(), b in any_instant()) {
        let (a, b) = (a.min(b), a.max(b));
        prop_assert!(bins.floor(a) <= bins.floor(b));
        prop_assert!(bins.ceil(a) <= bins.ceil(b));
        prop_assert!(bins.round(a) <= bins.round(b));
        if let (Ok(a), Ok(b)) = (instant_of(a), instant_of(b)) {
            for field in DateField::ALL.into_iter().filter(|field| field.grows()) {
                prop_assert!(field.of(a) <= field.of(b));
            }
        }
    }

    /// Where another calendar reaches, it is the same.
    #[test]
    fn fields_are_those_of_the_calendar(ms in -8_000_000_000_000_000i64..8_000_000_000_000_000) {
        let theirs = DateTime::from_timestamp_millis(ms).unwrap().naive_utc();
        let field = |field: DateField| field.of(Timestamp { ms, nanos: 3 });
        prop_assert_eq!(field(DateField::Year), i64::from(theirs.year()));
        prop_assert_eq!(field(DateField::IsoYear), i64::from(theirs.iso_week().year()));
        prop_assert_eq!(field(DateField::Month), i64::from(theirs.month()));
        prop_assert_eq!(field(DateField::Day), i64::from(theirs.day()));
        prop_assert_eq!(field(DateField::Week), i64::from(theirs.iso_week().week()));
        prop_assert_eq!(field(DateField::DayOfYear), i64::from(theirs.ordinal()));
        prop_assert_eq!(field(DateField::DayOfWeek), i64::from(theirs.weekday().number_from_monday()));
        prop_assert_eq!(field(DateField::Dow), i64::from(theirs.weekday().num_days_from_sunday()));
        prop_assert_eq!(field(DateField::Quarter), i64::from(theirs.month0() / 3 + 1));
        prop_assert_eq!(field(DateField::Hour), i64::from(theirs.hour()));
        prop_assert_eq!(field(DateField::Minute), i64::from(theirs.minute()));
        prop_assert_eq!(field(DateField::Second), i64::from(theirs.second()));
    }
}

fn shown(nanos: i128) -> String {
    crate::datetime::format_timestamp(instant_of(nanos).unwrap())
}

#[test]
fn bins_start_where_the_calendar_says() {
    let at = nanos_of(crate::datetime::parse("2024-05-15 12:34:56.789012345").unwrap());
    for (unit, floor, round) in [
        ("microseconds", "2024-05-15 12:34:56.789012", "2024-05-15 12:34:56.789012"),
        ("MILLISECOND", "2024-05-15 12:34:56.789", "2024-05-15 12:34:56.789"),
        ("second", "2024-05-15 12:34:56", "2024-05-15 12:34:57"),
        ("Minute", "2024-05-15 12:34:00", "2024-05-15 12:35:00"),
        ("hour", "2024-05-15 12:00:00", "2024-05-15 13:00:00"),
        ("day", "2024-05-15 00:00:00", "2024-05-16 00:00:00"),
        ("week", "2024-05-13 00:00:00", "2024-05-13 00:00:00"),
        ("month", "2024-05-01 00:00:00", "2024-05-01 00:00:00"),
        ("quarter", "2024-04-01 00:00:00", "2024-04-01 00:00:00"),
        ("year", "2024-01-01 00:00:00", "2024-01-01 00:00:00"),
    ] {
        let bins = Bins::of_unit(DateUnit::by_name(unit).unwrap());
        assert_eq!((shown(bins.floor(at)).as_str(), shown(bins.round(at)).as_str()), (floor, round), "{unit}");
    }
    let origin = crate::datetime::parse("2001-01-01 00:02:30").unwrap();
    let bins = Bins::of_stride("15 minutes", origin).unwrap();
    assert_eq!(shown(bins.floor(at)), "2024-05-15 12:32:30");
    assert_eq!(shown(Bins::of_units(DateUnit::Minute, 20).unwrap().ceil(at)), "2024-05-15 12:40:00");
}

#[test]
fn refuses_what_is_no_length() {
    for stride in ["", "15", "minutes", "1 month", "0 days", "-1 days", "1 fortnight", "1.5 days"] {
        assert!(Bins::of_stride(stride, Timestamp { ms: 0, nanos: 0 }).is_err(), "{stride}");
    }
    assert!(Bins::of_units(DateUnit::Year, 2).is_err());
    assert!(Bins::of_units(DateUnit::Day, 0).is_err());
    assert!(DateUnit::by_name("fortnight").is_err());
    assert!(instant_of(i128::from(i64::MAX) * 2_000_000).is_err());
}

/// PostgreSQL's values: the year 0 here is its year 1 before Christ.
#[test]
fn centuries_and_their_kin() {
    for (text, century, decade, millennium, start_of_century, start_of_decade, start_of_millennium) in [
        ("2024-05-15", 21, 202, 3, "2001-01-01", "2020-01-01", "2001-01-01"),
        ("2000-12-31", 20, 200, 2, "1901-01-01", "2000-01-01", "1001-01-01"),
        ("2001-01-01", 21, 200, 3, "2001-01-01", "2000-01-01", "2001-01-01"),
        ("1900-01-01", 19, 190, 2, "1801-01-01", "1900-01-01", "1001-01-01"),
        ("0001-01-01", 1, 0, 1, "0001-01-01", "0000-01-01", "0001-01-01"),
        ("0000-12-31", -1, 0, -1, "-0099-01-01", "0000-01-01", "-0999-01-01"),
        ("-0010-05-05", -1, -1, -1, "-0099-01-01", "-0010-01-01", "-0999-01-01"),
        ("-0100-06-01", -2, -10, -1, "-0199-01-01", "-0100-01-01", "-0999-01-01"),
        ("-1000-06-01", -11, -100, -2, "-1099-01-01", "-1000-01-01", "-1999-01-01"),
    ] {
        let at = crate::datetime::parse(text).unwrap();
        let fields = [DateField::Century, DateField::Decade, DateField::Millennium].map(|field| field.of(at));
        assert_eq!(fields, [century, decade, millennium], "{text}");
        let starts = [DateUnit::Century, DateUnit::Decade, DateUnit::Millennium]
            .map(|unit| crate::datetime::format_date(instant_of(Bins::of_unit(unit).floor(nanos_of(at))).unwrap().ms));
        assert_eq!(starts, [start_of_century, start_of_decade, start_of_millennium], "{text}");
    }
}
