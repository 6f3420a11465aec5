use proptest::prelude::*;

use super::*;

#[test]
fn reads_what_it_writes_and_iso() {
    for (text, ms, nanos, date) in [
        ("1970-01-01", 0, 0, "1970-01-01"),
        ("2013-01-01 00:00:00.123456789", 1_356_998_400_123, 456_789, "2013-01-01 00:00:00.123"),
        ("2013-01-01T10:00:00Z", 1_357_034_400_000, 0, "2013-01-01 10:00:00"),
        ("2013-01-01T00:30:00+01:00", 1_356_996_600_000, 0, "2012-12-31 23:30:00"),
        ("1969-12-31 23:59:59.999", -1, 0, "1969-12-31 23:59:59.999"),
        ("0001-11-24", -62_107_344_000_000, 0, "0001-11-24"),
        ("2020-02-29 7:05", 1_582_959_900_000, 0, "2020-02-29 07:05:00"),
    ] {
        assert_eq!(parse(text), Some(Timestamp { ms, nanos }), "{text}");
        assert_eq!(format_date(ms), date);
    }
    assert_eq!(format_timestamp(Timestamp { ms: -1, nanos: 999_999 }), "1969-12-31 23:59:59.999999999");
    assert_eq!(format_timestamp(Timestamp { ms: 1, nanos: 1_000 }), "1970-01-01 00:00:00.001001");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    /// Each form of a day and of a time is the same instant.
    #[test]
    fn all_forms_are_one_instant(ms in 0_i64..253_402_300_799_000) {
        let at = Timestamp { ms: ms - ms % 1000, nanos: 0 };
        let civil = civil(at.ms).unwrap();
        let expected = parse_iso(&format_timestamp(at));
        prop_assert_eq!(expected, Some(at));
        for day in ["%Y-%m-%d", "%Y%m%d", "%B %-d, %Y", "%b %d %Y", "%-d %B %Y", "%d-%b-%Y", "%b-%d-%Y", "%Y-%b-%d"] {
            for time in ["%H:%M:%S", "%H%M%S", "%I:%M:%S %p", "%I%M%S %P"] {
                let text = civil.format(&format!("{day} {time}")).to_string();
                prop_assert_eq!(parse(&text), expected, "{}", text);
            }
        }
    }

    /// No text makes a panic.
    #[test]
    fn every_text_has_an_answer(text in "\\PC{0,16}|[0-9JanPM:,. /-]{0,20}") {
        let is_read = parse(&text).is_some();
        prop_assert!(!is_read || missing_part(&text, false).is_none());
        prop_assert!(!is_read || ambiguity(&text).is_none());
        parse_clock(&text);
    }
}

/// PostgreSQL's values.
#[test]
fn reads_months_as_words_and_halves_of_days() {
    for (text, iso) in [
        ("January 8, 1999", "1999-01-08"),
        ("january 8 1999", "1999-01-08"),
        ("January 8,1999", "1999-01-08"),
        ("8 January 1999", "1999-01-08"),
        ("8 Jan, 1999", "1999-01-08"),
        ("Jan-08-1999", "1999-01-08"),
        ("November 8, 1999", "1999-11-08"),
        ("08-Jan-1999", "1999-01-08"),
        ("1999-Jan-08", "1999-01-08"),
        ("1999 Jan 8", "1999-01-08"),
        ("19990108", "1999-01-08"),
        ("19990108 040506", "1999-01-08 04:05:06"),
        ("19990108T040506", "1999-01-08 04:05:06"),
        ("19990108 04:05", "1999-01-08 04:05"),
        ("January 8, 1999 04:05 PM", "1999-01-08 16:05"),
        ("08 Jan 1999 04:05:06.789", "1999-01-08 04:05:06.789"),
        ("1999-01-08 4:05:06 am", "1999-01-08 04:05:06"),
        ("1999-01-08 04:05PM", "1999-01-08 16:05"),
        ("1999-01-08 00:05 PM", "1999-01-08 12:05"),
        ("1999-01-08 12:05 AM", "1999-01-08 00:05"),
        ("1999-01-08 12:05 PM", "1999-01-08 12:05"),
        ("1999-01-08 040506.5", "1999-01-08 04:05:06.5"),
        ("1999-01-08 04:05 PM Z", "1999-01-08 16:05"),
        ("1999-01-08 04:05:06.5 PM +02", "1999-01-08 14:05:06.5"),
    ] {
        let expected = parse_iso(iso);
        assert!(expected.is_some(), "{iso}");
        assert_eq!(parse(text), expected, "{text}");
    }
    for (text, iso) in
        [("04:05 PM", "16:05"), ("4:05:06 am", "04:05:06"), ("040506", "04:05:06"), ("12:00 am", "00:00")]
    {
        assert_eq!(parse_clock(text), parse_iso(&format!("1970-01-01 {iso}")), "{text}");
    }
}

#[test]
fn says_what_is_not_certain() {
    for (text, is_ambiguous) in [
        ("1/8/1999", true),
        ("01-02-03", true),
        ("08.01.1999 10:00", true),
        ("08-Jan-99", true),
        ("1999/01/08", false),
        ("noon", false),
    ] {
        assert_eq!(parse(text), None, "{text}");
        assert_eq!(ambiguity(text).is_some(), is_ambiguous, "{text}");
    }
}

#[test]
fn the_calendar_ends_where_text_does() {
    for ms in [*CALENDAR_MS.start(), *CALENDAR_MS.end()] {
        assert_eq!(parse(&format_date(ms)), Some(Timestamp { ms, nanos: 0 }));
    }
    for ms in [CALENDAR_MS.start() - 1, CALENDAR_MS.end() + 1, i64::MIN, i64::MAX] {
        assert!(!has_text(ms) && civil(ms).is_none());
    }
    assert_eq!(parse("262142-12-31 23:00:00-02:00"), None);
}

#[test]
fn says_which_part_there_is_not() {
    for (text, part) in [
        ("2024-02-30", Some(DAY)),
        ("2024-13-01 10:00:00", Some(DAY)),
        ("-0044-02-30", Some(DAY)),
        ("2024-02-29 24:00:00", Some(TIME_OF_DAY)),
        ("2024-02-29T10:61Z", Some(TIME_OF_DAY)),
        ("25:00", Some(TIME_OF_DAY)),
        ("January 32, 1999", Some(DAY)),
        ("19990132", Some(DAY)),
        ("8 Jan 1999 13:00 PM", Some(TIME_OF_DAY)),
        ("13:00 PM", Some(TIME_OF_DAY)),
        ("245959", Some(TIME_OF_DAY)),
        ("10:00:60.5", Some(TIME_OF_DAY)),
        ("2024-02-29", None),
        ("10:00", None),
        ("24-02-30", None),
        ("30.02.2024", None),
        ("2024-02", None),
        ("10:00:00:00", None),
        ("", None),
        ("é", None),
    ] {
        assert_eq!(missing_part(text, true), part, "{text}");
    }
}

#[test]
fn refuses() {
    for bad in [
        "",
        "garbage",
        "Jan 8",
        "Jan 8 99",
        "Jan-08 1999",
        "Jan 8, 1999x",
        "Smarch 8, 1999",
        "8 8 1999",
        "Jan 1999 8",
        "January 32, 1999",
        "199901081",
        "19990108.5",
        "990108",
        "2020-01-01 13:00 PM",
        "2020-01-01 4 PM",
        "2020-01-01 10:00.5",
        "2020-01-01 10:00 PMx",
        "2020-02-30",
        "20-01-01",
        "2020-1-",
        "2020-01-01 25:00:00",
        "2020-01-01 10",
        "10:11:12",
        "2020-01-01x",
        "2020-01-01 10:00:00+1",
        "é",
    ] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}
