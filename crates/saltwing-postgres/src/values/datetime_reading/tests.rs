use proptest::prelude::*;
use saltwing::{SqlType, Value, text};

use super::*;

fn timestamp(text: &str) -> Result<Timestamp, Fault> {
    Reading::of(text)?.timestamp()
}

/// An instant by the library's text for it.
fn at(text: &str) -> Timestamp {
    let Value::Timestamp(at) = text::parse(text, SqlType::Timestamp).unwrap() else { panic!("{text}") };
    at
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[-+:. TZ0-9bcéx]{0,30}", other: String) {
        for text in [text, other] {
            if let Ok(reading) = Reading::of(&text) {
                let _ = (reading.timestamp(), reading.zoned_timestamp(), reading.midnight(), reading.time());
            }
        }
    }

    #[test]
    fn the_library_s_texts_are_read(ms in -62_135_596_800_000i64..253_402_300_800_000, nanos in 0u32..1_000_000) {
        let at = Timestamp { ms, nanos };
        prop_assert_eq!(timestamp(&text::format(&Value::Timestamp(at), SqlType::Timestamp).unwrap()), Ok(at));
    }
}

/// What PostgreSQL 15 reads.
#[test]
fn timestamps_of_postgresql() {
    for (text, expected) in [
        ("2024-05-01", "2024-05-01 00:00:00"),
        (" 2024-05-01 12:30 ", "2024-05-01 12:30:00"),
        ("2024-05-01T12:30:00Z", "2024-05-01 12:30:00"),
        ("2024-05-01 12:30:00+02", "2024-05-01 12:30:00"),
        ("2024-05-01 12:30:00 +0530", "2024-05-01 12:30:00"),
        ("2024-05-01 12:30:00.", "2024-05-01 12:30:00"),
        ("2024-05-01 12:30:00.123456789", "2024-05-01 12:30:00.123456789"),
        ("2024-05-01 12:30:00.1234567899", "2024-05-01 12:30:00.123456789"),
        ("2024-05-01  12:30:00 GMT", "2024-05-01 12:30:00"),
        ("2024-5-1 1:2:3", "2024-05-01 01:02:03"),
        ("2024-05-01 AD", "2024-05-01"),
        ("2024-05-01 24:00:00", "2024-05-02"),
        ("2024-05-01 23:59:60", "2024-05-02"),
        ("12345-01-01", "12345-01-01"),
        ("0001-01-01 BC", "0000-01-01"),
        ("0044-03-15BC", "-0043-03-15"),
        ("0044-03-15 12:00:00+01 BC", "-0043-03-15 12:00:00"),
    ] {
        assert_eq!(timestamp(text), Ok(at(expected)), "{text}");
    }
}

#[test]
fn zones_count_for_timestamps_with_time_zone() {
    for (text, expected) in [
        ("2024-05-01 12:30:00", "2024-05-01 12:30:00"),
        ("2024-05-01 12:30:00+02", "2024-05-01 10:30:00"),
        ("2024-05-01 12:30:00+2", "2024-05-01 10:30:00"),
        ("2024-05-01 12:30:00-0330", "2024-05-01 16:00:00"),
        ("2024-05-01 12:30:00+153", "2024-05-01 10:37:00"),
        ("2024-05-01 12:30:00+05:30:15", "2024-05-01 06:59:45"),
        ("2024-05-01 12:30:00+15:59:59", "2024-04-30 20:30:01"),
        ("2024-05-01 12:30:00 z", "2024-05-01 12:30:00"),
        ("2024-05-01+02", "2024-04-30 22:00:00"),
        ("0044-03-15 12:00:00+01 BC", "-0043-03-15 11:00:00"),
    ] {
        assert_eq!(Reading::of(text).and_then(Reading::zoned_timestamp), Ok(at(expected)), "{text}");
    }
}

#[test]
fn dates_and_times() {
    let time = |text: &str| Reading::of(text)?.time();
    for (text, expected) in [
        ("12:30", "1970-01-01 12:30:00"),
        ("1:02:03.5", "1970-01-01 01:02:03.5"),
        ("12:30+02", "1970-01-01 12:30:00"),
        ("2024-05-01 12:30", "1970-01-01 12:30:00"),
        ("24:00:00", "1970-01-02"),
    ] {
        assert_eq!(time(text), Ok(at(expected)), "{text}");
    }
    assert_eq!(Reading::of("2024-05-01 12:30+02").and_then(Reading::midnight), Ok(at("2024-05-01")));
    assert_eq!([time("2024-05-01"), timestamp("12:30")], [Err(Fault::Syntax); 2]);
}

#[test]
fn refuses() {
    use Fault::{Range, Syntax};
    for (text, fault) in [
        ("", Syntax),
        ("abc", Syntax),
        ("BC", Syntax),
        ("2024-05", Syntax),
        ("24-05-01", Syntax),
        ("-2024-05-01", Syntax),
        ("2024-05-01 12", Syntax),
        ("2024-05-01T", Syntax),
        ("2024-05-01x", Syntax),
        ("2024-05-01 12:30 pm", Syntax),
        ("2024-05-01 12:30:00+", Syntax),
        ("2024-05-01 12:30:00+02 : 00", Syntax),
        ("2024-05-01 12:30:00 Europe/Berlin", Syntax),
        ("9999999999999999999999-01-01", Syntax),
        ("2024-05-01 12:30:00+99999999999999999999999", Syntax),
        ("0000-01-01", Range),
        ("2024-02-30", Range),
        ("2024-13-01", Range),
        ("2024-05-01 25:00", Range),
        ("2024-05-01 24:00:01", Range),
        ("2024-05-01 12:60", Range),
        ("2024-05-01 12:30:61", Range),
        ("2024-05-01 12:30:00+16", Range),
        ("2024-05-01 12:30:00+99999999", Range),
        ("2024-05-01 12:30:00+05:60", Range),
        ("262143-01-01", Range),
        ("999999-01-01 BC", Range),
        ("infinity", Range),
        ("-Infinity", Range),
    ] {
        assert_eq!(timestamp(text), Err(fault), "{text}");
    }
}
