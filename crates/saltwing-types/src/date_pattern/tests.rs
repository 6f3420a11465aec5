use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Timestamp {
    datetime::parse(text).unwrap()
}

fn format(pattern: &str, instant: &str) -> String {
    DatePattern::parse(pattern).unwrap().format(at(instant))
}

fn read(pattern: &str, text: &str) -> Result<String, String> {
    let ms = DatePattern::parse(pattern).unwrap().read(text, TimeZone::UTC);
    ms.map(datetime::format_date).map_err(|error| error.to_string())
}

/// Java's results.
#[test]
fn instants_are_written_as_java_writes_them() {
    for (pattern, text) in [
        ("yyyy-MM-dd HH:mm:ss.SSS", "2024-05-09 00:04:05.007"),
        ("yy/M/d", "24/5/9"),
        ("yyyyy", "02024"),
        ("MMM d, yyyy", "May 9, 2024"),
        ("EEEE, d MMMM", "Thursday, 9 May"),
        ("EEE u D DDDD", "Thu 4 130 0130"),
        ("h:mm a", "12:04 AM"),
        ("K k H", "0 24 0"),
        ("S", "7"),
        ("yyyy-MM-dd'T'HH:mm:ssX", "2024-05-09T00:04:05Z"),
        ("HH:mm z Z", "00:04 UTC +0000"),
        ("'day' d 'o''clock'", "day 9 o'clock"),
        ("''yyyy''", "'2024'"),
        ("", ""),
    ] {
        assert_eq!(format(pattern, "2024-05-09 00:04:05.007"), text, "{pattern}");
    }
    assert_eq!(format("h a, K k", "2024-05-09 12:00"), "12 PM, 0 12");
    assert_eq!(format("h a, K k", "2024-05-09 23:00"), "11 PM, 11 23");
    assert_eq!(format("yyyy yy", "-0044-03-15"), "-0044 56");
}

#[test]
fn instants_are_read() {
    for (pattern, text, instant) in [
        ("yyyy-MM-dd", "2024-5-9", "2024-05-09"),
        ("yyyyMMddHHmmss", "20240509000405", "2024-05-09 00:04:05"),
        ("d MMM yyyy", "9 september 2024", "2024-09-09"),
        ("EEE, d MMMM yyyy h:mm a", "Thu, 9 May 2024 12:30 am", "2024-05-09 00:30:00"),
        ("h a", "12 PM", "1970-01-01 12:00:00"),
        ("K a", "11 PM", "1970-01-01 23:00:00"),
        ("kk", "24", "1970-01-01"),
        ("yyyy D", "2024 60", "2024-02-29"),
        ("yy", "69", "2069-01-01"),
        ("yy", "70", "1970-01-01"),
        ("yy", "1999", "1999-01-01"),
        ("HH:mm:ss.SSS", "01:02:03.45", "1970-01-01 01:02:03.045"),
        ("yyyy-MM-dd HH:mm z", "2024-05-09 12:00 Europe/Berlin", "2024-05-09 10:00:00"),
        ("yyyy-MM-dd HH:mmX", "2024-05-09 12:00+02", "2024-05-09 10:00:00"),
        ("yyyy-MM-dd HH:mm Z", "2024-05-09 12:00 -0130", "2024-05-09 13:30:00"),
        ("'day' d", "day 9", "1970-01-09"),
    ] {
        assert_eq!(read(pattern, text).as_deref(), Ok(instant), "{pattern} of {text}");
    }
    let tokyo = TimeZone::by_name("Asia/Tokyo").unwrap();
    let ms = DatePattern::parse("yyyy-MM-dd HH").unwrap().read("2024-05-09 05", tokyo).unwrap();
    assert_eq!(datetime::format_date(ms), "2024-05-08 20:00:00");
}

#[test]
fn texts_of_other_patterns_are_refused() {
    for (pattern, text, why) in [
        ("yyyy-MM-dd", "2024/05/09", "'-' is missing"),
        ("yyyy-MM-dd", "2024-13-09", "13 for M is not 1 to 12"),
        ("yyyy-MM-dd", "2024-02-30", "no such day"),
        ("yyyy-MM-dd", "2024-02-03 10:00", "' 10:00' is left over"),
        ("yyyy-MM-dd", "2024-02-", "a number is missing for d"),
        ("yyyyMM", "2024", "a number is missing for M"),
        ("MMM", "Mai", "begins with no month"),
        ("h a", "5 XM", "begins with no AM or PM"),
        ("S", "1234", "1234 for S is not 0 to 999"),
        ("z", "Nowhere", "no time zone"),
        ("yyyy", "99999999999999999999", "a number is missing"),
        ("EEE", "é", "begins with no weekday"),
    ] {
        let error = read(pattern, text).unwrap_err();
        assert!(error.contains(why), "{pattern} of {text}: {error}");
    }
}

#[test]
fn other_patterns_are_refused() {
    for pattern in ["YYYY-MM-DD", "%Y-%m-%d", "HH24:MI", "yyyy-MM-ddTHH", "w", "'yyyy", "b"] {
        let error = DatePattern::parse(pattern).unwrap_err();
        assert!(error.to_string().contains("is no date pattern such as yyyy-MM-dd"), "{error}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(ms in -8_334_601_228_800_000i64..=8_210_266_876_799_999) {
        for pattern in ["yyyy-MM-dd HH:mm:ss.SSS", "EEEE d MMMM yyyy hh:mm:ss a SSS z", "D/yyyy kk:mm:ss,S X", "yyyy DDD K mm ss SSS a"] {
            let pattern = DatePattern::parse(pattern).unwrap();
            let text = pattern.format(Timestamp { ms, nanos: 0 });
            prop_assert_eq!(pattern.read(&text, TimeZone::UTC), Ok(ms), "{}", text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(pattern in "[yMdHhaESzXD '%.é-]{0,12}", text in "\\PC{0,12}|[0-9AMPTUC:+-]{0,12}") {
        if let Ok(pattern) = DatePattern::parse(&pattern) {
            let _ = pattern.read(&text, TimeZone::UTC);
            let _ = pattern.format(Timestamp { ms: i64::MIN, nanos: 0 });
        }
    }
}
