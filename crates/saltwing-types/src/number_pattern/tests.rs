use super::*;

fn format(pattern: &str, number: &str) -> String {
    NumberPattern::parse(pattern).unwrap().format(number.parse().unwrap()).unwrap()
}

fn read(pattern: &str, text: &str) -> Option<String> {
    NumberPattern::parse(pattern).unwrap().read(text).unwrap().map(|number| number.to_string())
}

/// Java's results.
#[test]
fn numbers_are_written_as_java_writes_them() {
    for (pattern, number, text) in [
        ("#,##0.###", "1234567.8915", "1,234,567.892"),
        ("#,##0.###", "10", "10"),
        ("#,##0.00", "100", "100.00"),
        ("#,##0.00", "-2.25", "-2.25"),
        ("0.0", "0.25", "0.2"),
        ("0.0", "0.35", "0.4"),
        ("0.0", "-0.25", "-0.2"),
        ("0.0", "0.2500001", "0.3"),
        ("0", "2.5", "2"),
        ("0", "3.5", "4"),
        ("0", "-0.4", "-0"),
        ("#", "0", "0"),
        ("#.##", "0.5", "0.5"),
        ("#.00", "0.5", ".50"),
        (".##", "0.5", ".5"),
        (".##", "0", ".0"),
        ("000", "7", "007"),
        ("000", "12345", "12345"),
        ("##,##", "1234567", "1,23,45,67"),
        ("0.##%", "0.12345", "12.34%"),
        ("0‰", "0.0125", "12‰"),
        ("#,##0.00;(#)", "-1234.5", "(1,234.50)"),
        ("$0.00", "-3", "-$3.00"),
        ("'#'0", "5", "#5"),
        ("0 'o''clock'", "5", "5 o'clock"),
        ("0.###", "1e20", "100000000000000000000"),
        ("0.000", "1e-30", "0.000"),
    ] {
        assert_eq!(format(pattern, number), text, "{pattern} of {number}");
    }
}

#[test]
fn numbers_are_read() {
    for (pattern, text, number) in [
        ("#,##0.##", "1,234.5", Some("1234.5")),
        ("#,##0.##", "-1,234.5", Some("-1234.5")),
        ("#", "1,234", Some("1")),
        ("#", "12abc", Some("12")),
        ("#", "abc", None),
        ("#", ".", None),
        ("0.0", "1.", Some("1")),
        ("0.0", ".5", Some("0.5")),
        ("$0", "$5", Some("5")),
        ("$0", "-$5", Some("-5")),
        ("$0", "5", None),
        ("0;(0)", "(5)", Some("-5")),
        ("0;(0)", "(5", None),
        ("0%", "12%", Some("0.12")),
    ] {
        assert_eq!(read(pattern, text).as_deref(), number, "{pattern} of {text}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    for pattern in ["#,##0.######", "0.000000", "#", "0.######;(#)", "0.####%", "'n' 0.000000 'x'"] {
        for number in ["0", "1", "-1", "1234567", "-1234567"] {
            assert_eq!(read(pattern, &format(pattern, number)).as_deref(), Some(number), "{pattern}");
        }
    }
}

#[test]
fn other_texts_are_refused() {
    for (pattern, why) in [
        ("", "needs digits"),
        ("abc", "needs digits"),
        ("999.9", "others stand in quotes"),
        ("0#", "needs digits"),
        ("0.#0", "needs digits"),
        ("0,", "a comma"),
        ("0.0,0", "a comma"),
        ("0.0.0", "needs digits"),
        ("0 0", "stand together"),
        ("'0", "not closed"),
        ("0E0", "exponents"),
        ("¤0", "currency"),
        ("0;0", "look like positive"),
    ] {
        let error = NumberPattern::parse(pattern).unwrap_err().to_string();
        assert!(error.contains(why), "{pattern}: {error}");
    }
    let long = "0".repeat(256);
    assert!(NumberPattern::parse(&long).is_err());
}
