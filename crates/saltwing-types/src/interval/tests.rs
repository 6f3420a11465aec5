use proptest::prelude::*;

use super::*;

fn interval(text: &str) -> Interval {
    Interval::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn instant(text: &str) -> Timestamp {
    datetime::parse(text).unwrap()
}

/// Texts and what PostgreSQL 16 prints for them.
#[test]
fn reads_and_writes_as_postgresql() {
    for (text, printed) in [
        ("1 day 02:03:04", "1 day 02:03:04"),
        ("1 year 2 months 3 days 4 hours 5 minutes 6.789 seconds", "1 year 2 mons 3 days 04:05:06.789"),
        ("-1 year -2 mons +3 days -04:05:06", "-1 years -2 mons +3 days -04:05:06"),
        ("1 day -1 hour", "1 day -01:00:00"),
        ("-1 day 1 hour", "-1 days +01:00:00"),
        ("@ 3 weeks ago", "-21 days"),
        ("P1Y2M3DT4H5M6.7S", "1 year 2 mons 3 days 04:05:06.7"),
        ("-P1DT1S", "-1 days -00:00:01"),
        ("P2W", "14 days"),
        ("PT36H", "36:00:00"),
        ("1-2", "1 year 2 mons"),
        ("-1-2", "-1 years -2 mons"),
        ("1 2:03:04", "1 day 02:03:04"),
        ("90", "00:01:30"),
        ("1.5 days", "1 day 12:00:00"),
        ("1.5 months", "1 mon 15 days"),
        ("1.5 years", "1 year 6 mons"),
        ("0.1 mons", "3 days"),
        ("2h30m", "02:30:00"),
        ("1 century 2 decades", "120 years"),
        ("100 ms 20 us 3 ns", "00:00:00.100020003"),
        ("0", "00:00:00"),
        ("12 months", "1 year"),
        (".5 hour", "00:30:00"),
    ] {
        assert_eq!(interval(text).to_string(), printed, "{text}");
        assert_eq!(interval(printed), interval(text), "{text}");
    }
}

#[test]
fn refuses_other_texts() {
    for text in [
        "",
        "day",
        "1 dya",
        "1 day 2",
        "1 2 days x",
        "1:60",
        "1:2:60",
        "P",
        "P1",
        "PT",
        "1-12",
        "ago",
        "1 day ago 1",
        "--1 day",
        "1.2.3 days",
        "é",
    ] {
        let code = Interval::parse(text).map(|found| found.to_string()).map_err(|error| error.code().sqlstate());
        let bare = matches!(text, "1 day 2");
        assert!(bare || code == Err("22007"), "{text}: {code:?}");
    }
    for text in ["3000000 hours", "200000000 years", "999999999999999999 weeks", "999999999999999999:00"] {
        assert_eq!(Interval::parse(text).unwrap_err().code().sqlstate(), "22003", "{text}");
    }
}

#[test]
fn months_end_where_the_month_does() {
    for (at, length, expected) in [
        ("2024-01-31", "1 month", "2024-02-29 00:00:00"),
        ("2023-01-31 10:00:00", "1 month", "2023-02-28 10:00:00"),
        ("2024-02-29", "-1 year", "2023-02-28 00:00:00"),
        ("2024-12-31", "2 months 1 day", "2025-03-01 00:00:00"),
        ("2024-03-31", "-1 month", "2024-02-29 00:00:00"),
        ("1970-01-01", "-1 ns", "1969-12-31 23:59:59.999999999"),
    ] {
        assert_eq!(
            datetime::format_timestamp(interval(length).after(instant(at)).unwrap()),
            expected,
            "{at} + {length}"
        );
    }
    let before = interval("1 month").before(instant("2024-03-31")).unwrap();
    assert_eq!(datetime::format_timestamp(before), "2024-02-29 00:00:00");
    assert!(interval("178000000 years").after(instant("2024-01-01")).is_err());
}

/// PostgreSQL's examples.
#[test]
fn ages_and_justified_intervals() {
    for (to, from, age) in [
        ("2001-04-10", "1957-06-13", "43 years 9 mons 27 days"),
        ("1957-06-13", "2001-04-10", "-43 years -9 mons -27 days"),
        ("2024-03-01", "2024-01-31", "1 mon 1 day"),
        ("2024-01-02", "2024-01-01 12:00:00", "12:00:00"),
    ] {
        assert_eq!(Interval::between(instant(from), instant(to)).unwrap().to_string(), age);
    }
    assert_eq!(interval("1 year 65 days").with_whole_months().unwrap().to_string(), "1 year 2 mons 5 days");
    assert_eq!(interval("50 hours 10 minutes").with_whole_days().unwrap().to_string(), "2 days 02:10:00");
    assert_eq!(interval("1 mon -1 hour").justified().unwrap().to_string(), "29 days 23:00:00");
}

#[test]
fn products_carry_fractions_downwards() {
    let scaled = |text, factor: &str| {
        let factor: Decimal = factor.parse().unwrap();
        interval(text).scaled(|part| part.checked_mul(factor)).unwrap().to_string()
    };
    assert_eq!(scaled("1 month", "0.5"), "15 days");
    assert_eq!(scaled("1 day", "1.5"), "1 day 12:00:00");
    assert_eq!(scaled("1 year 1 day", "2"), "2 years 2 days");
    assert_eq!(scaled("00:00:01", "0.001"), "00:00:00.001");
    assert_eq!(scaled("-1 month", "0.05"), "-1 days -12:00:00");
    let third = |text| interval(text).scaled(|part| part.checked_div(3.into())).unwrap().to_string();
    assert_eq!([third("1 month"), third("1 day"), third("1 year 1 day")], ["10 days", "08:00:00", "4 mons 08:00:00"]);
}

fn any_interval() -> impl Strategy<Value = Interval> {
    (any::<i32>(), any::<i32>(), any::<i64>()).prop_map(|(months, days, nanos)| Interval { months, days, nanos })
}

proptest! {
    /// Law 1.
    #[test]
    fn texts_are_read_back(interval in any_interval()) {
        prop_assert_eq!(Interval::parse(&interval.to_string()), Ok(interval));
    }

    #[test]
    fn no_text_panics(text in "[-+0-9PTYMWDHSpt.: a-f]{0,14}") {
        if let Ok(read) = Interval::parse(&text) {
            prop_assert_eq!(Interval::parse(&read.to_string()), Ok(read));
        }
    }

    /// Law 3.
    #[test]
    fn justified_intervals_keep_their_span(months in -1000i32..1000, days in -1000i32..1000, nanos: i64, moved in -30i32..30) {
        let one = Interval { months, days, nanos };
        let same = Interval { months: months + moved, days: days - 30 * moved, nanos };
        prop_assert_eq!(one.justified().unwrap().span(), one.span());
        prop_assert_eq!(one.justified(), same.justified());
        prop_assert_eq!(one.with_whole_days().unwrap().span(), one.span());
        prop_assert_eq!(one.with_whole_months().unwrap().span(), one.span());
    }

    /// An age leads from the one instant to the other.
    #[test]
    fn ages_lead_there(from in -4_000_000_000_000i64..4_000_000_000_000, length in 0i64..4_000_000_000_000, nanos in 0u32..1_000_000) {
        let (from, to) = (Timestamp { ms: from, nanos: 0 }, Timestamp { ms: from + length, nanos });
        let age = Interval::between(from, to).unwrap();
        prop_assert!(age.months >= 0 && (0..31).contains(&age.days) && (0..86_400_000_000_000).contains(&age.nanos));
        // A day that the month does not have is its last one.
        let there = age.after(from).unwrap();
        prop_assert!((nanos_of(there) - nanos_of(to)).abs() <= 3 * NANOS_PER_DAY, "{:?} {:?}", there, to);
    }
}
