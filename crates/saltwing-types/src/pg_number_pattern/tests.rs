use proptest::prelude::*;

use super::*;
use crate::Decimal;

fn written(pattern: &str, number: &str) -> String {
    let pattern = PgNumberPattern::parse(pattern).unwrap().unwrap();
    pattern.format(number.parse().unwrap()).unwrap()
}

/// PostgreSQL's results.
#[test]
fn numbers_are_written_as_postgres_writes_them() {
    for (pattern, number, text) in [
        ("9,999.99", "1234.5", " 1,234.50"),
        ("9,999.99", "-1234.5", "-1,234.50"),
        ("9,999.99", "12.345", "    12.35"),
        ("FM9999.00", "12.3", "12.30"),
        ("FM9999.99", "12.3", "12.3"),
        ("FM9999.99", "12", "12."),
        ("999", "0", "   0"),
        ("999", "5", "   5"),
        ("990", "0", "   0"),
        ("999.99", "0", "    .00"),
        ("999.99", "0.5", "    .50"),
        ("FM999.99", "0.5", ".5"),
        ("990.99", "0.5", "   0.50"),
        ("S999", "12", " +12"),
        ("S999", "-12", " -12"),
        ("999S", "12", " 12+"),
        ("999S", "-12", " 12-"),
        ("MI999", "-12", "- 12"),
        ("MI999", "12", "  12"),
        ("999MI", "-12", " 12-"),
        ("999MI", "12", " 12 "),
        ("FM999MI", "12", "12"),
        ("FM999MI", "-12", "12-"),
        ("FMMI999", "12", "12"),
        ("PL999", "12", "+  12"),
        ("PL999", "-12", "  -12"),
        ("999PL", "12", "  12+"),
        ("999PL", "-12", " -12 "),
        ("SG999", "12", "+ 12"),
        ("SG999", "-12", "- 12"),
        ("999SG", "12", " 12+"),
        ("999SG", "-12", " 12-"),
        ("9SG99", "-12", " -12"),
        ("999PR", "-12", " <12>"),
        ("999PR", "12", "  12 "),
        ("FM999PR", "12", "12"),
        ("FM999PR", "-12", "<12>"),
        ("L999", "12", "   12"),
        ("L999", "-12", "  -12"),
        ("999L", "12", "  12 "),
        ("9.99EEEE", "12345", " 1.23e+04"),
        ("9.99EEEE", "-0.00012345", "-1.23e-04"),
        ("9.99EEEE", "0", " 0.00e+00"),
        ("99.9EEEE", "12345", " 1.2e+04"),
        ("9EEEE", "12345", " 1e+04"),
        ("999V99", "12.345", "  1235"),
        ("999V99", "-12.345", " -1235"),
        ("99V9", "1.25", "  13"),
        ("9V99", "12.3", " ###"),
        ("99V9S", "1.25", " +13"),
        ("RN", "485", "        CDLXXXV"),
        ("RN", "3999", "      MMMCMXCIX"),
        ("RN", "4000", "###############"),
        ("RN", "0", "###############"),
        ("RN", "-5", "###############"),
        ("FMRN", "485", "CDLXXXV"),
        ("rn", "485", "        cdlxxxv"),
        ("FMrn", "485", "cdlxxxv"),
        ("999th", "1", "   1st"),
        ("999TH", "2", "   2ND"),
        ("999th", "12", "  12th"),
        ("999th", "-3", "  -3"),
        ("FM999th", "112", "112th"),
        ("999th", "1.7", "   2nd"),
        ("9,999,999", "1234", "     1,234"),
        ("9,999,999", "1234567", " 1,234,567"),
        ("999", "1234", " ###"),
        ("999", "-1234", "-###"),
        ("99.99", "123.456", " ##.##"),
        ("FM99.99", "123.456", "##.##"),
        ("S99.99", "123.456", "+##.##"),
        ("99MI", "-123", "##-"),
        ("99PR", "-123", "<##>"),
        ("0999", "12", " 0012"),
        ("0,999", "12", " 0,012"),
        ("00999", "12", " 00012"),
        ("9909", "12", "   12"),
        ("9G999D99", "1234.5", " 1,234.50"),
        ("9G999D99", "12", "    12.00"),
        ("FM9G999D99", "12", "12."),
        ("099.99", "1.5", " 001.50"),
        ("FM099.99", "1.5", "001.5"),
        ("FM0.09", "0.5", "0.5"),
        (".99", "0.5", " .##"),
        (".99", "1.5", " .##"),
        ("9.", "5", " 5"),
        ("99.", "5", "  5"),
        ("D99", "0.12", " .##"),
        ("FM.99", "0.5", ".##"),
        ("\"Value: \"999", "12", "Value:   12"),
        ("999\" x\"", "12", "  12 x"),
        ("9 9 9", "123", " 1 2 3"),
        ("9-99", "123", " 1-23"),
        ("999-99", "12345", " 123-45"),
        ("$999", "12", "$  12"),
        ("999%", "12", "  12%"),
        ("9999", "0.5", "    1"),
        ("9999", "1.5", "    2"),
        ("9999", "2.5", "    3"),
        ("99", "-0.4", "  0"),
        ("99", "-0.5", " -1"),
        ("99.9", "-0.04", "   .0"),
        ("FM99.9", "-0.04", "0."),
        ("S9", "-0.2", "+0"),
        ("9999999999999999999999", "12345678901234567890", "   12345678901234567890"),
        ("FM9,999", "12", "12"),
        ("FM9,999", "1234", "1,234"),
        ("FM0,000", "12", "0,012"),
        ("S0,000", "12", "+0,012"),
        ("SG0,000", "-12", "-0,012"),
        ("9,9,9", "12", "   1,2"),
        (",999", "12", "   12"),
        ("999,", "12", "  12,"),
        ("9PR", "-5", "<5>"),
        ("9.9PR", "-5.5", "<5.5>"),
        ("MI9.9", "-5.5", "-5.5"),
        ("9.9MI", "-5.5", "5.5-"),
        ("9.9S", "-5.5", "5.5-"),
        ("9.9th", "5.5", " 5.5"),
        ("FM999.009", "1.5", "1.50"),
        ("FM999.990", "1.5", "1.500"),
        ("FM999.90", "1.5", "1.50"),
        ("FM000", "5", "005"),
        ("FM90", "0", "0"),
        ("FM99", "0", "0"),
        ("FM9.9", "0", "0."),
        ("FM9.", "0", "0"),
        ("FM9", "0.4", "0"),
        ("999.", "5", "   5"),
        ("\"a\\\"b\"99", "5", "a\"b  5"),
    ] {
        assert_eq!(written(pattern, number), text, "{pattern} of {number}");
    }
}

#[test]
fn powers_of_ten() {
    for (pattern, number, text) in [
        ("9.9EEEE", "1234567890123456789012345678901234567890", " 1.2e+39"),
        // PostgreSQL writes 10.0e+00.
        ("9.9EEEE", "9.96", " 1.0e+01"),
        ("9.9EEEE", "-1e-300", "-1.0e-300"),
    ] {
        assert_eq!(written(pattern, number), text, "{pattern} of {number}");
    }
}

#[test]
fn what_is_refused() {
    for (pattern, why) in [
        ("9.9.9", "two points"),
        ("9.9V9", "V and a point"),
        ("9V9.9", "V and a point"),
        ("9V9V9", "V twice"),
        ("99V0", "after V"),
        ("S99S", "exclude"),
        ("S99MI", "exclude"),
        ("MI99S", "exclude"),
        ("99PRMI", "exclude"),
        ("99PR9", "before PR"),
        ("9.9EEEE9", "EEEE"),
        ("FM9.9EEEE", "EEEE"),
        ("RN9", "RN stands alone"),
        ("RNRN", "RN twice"),
        ("FM", "needs digits"),
        ("MI", "needs digits"),
        ("999 x", "double quotes"),
        ("#99", "double quotes"),
        ("9\"x", "not closed"),
    ] {
        assert!(PgNumberPattern::parse(pattern).unwrap_err().contains(why), "{pattern}");
    }
    for pattern in ["", "0", "0.0.0", "abc", "0 0", "'x'0", "\"9\""] {
        assert_eq!(PgNumberPattern::parse(pattern), Ok(None), "{pattern}");
    }
    assert!(PgNumberPattern::parse(&"9".repeat(256)).is_err());
}

/// Patterns of a few signs, digits and words.
fn any_pattern() -> impl Strategy<Value = String> {
    let parts = ["9", "9", "0", ".", ",", "S", "MI", "PL", "SG", "PR", "V", "L", "D", "G", " ", "\"x\"", "-"];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 1..9).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 16))]

    /// Laws 1 and 3.
    #[test]
    fn texts_of_a_pattern_are_of_one_length(pattern in any_pattern(), digits in any::<[i64; 2]>(), scale in -3..40) {
        let Ok(Some(pattern)) = PgNumberPattern::parse(&pattern) else { return Ok(()) };
        let written = digits.map(|digits| pattern.format(Decimal::new(digits.into(), scale).unwrap()));
        if let [Ok(one), Ok(other)] = written {
            prop_assert_eq!(one.chars().count(), other.chars().count(), "{} {}", one, other);
        }
    }

    /// Laws 1 and 2.
    #[test]
    fn no_pattern_makes_a_panic(pattern in "\\PC{0,12}|[90.,SMIPLGRVDNTHFE\"# ]{0,12}", digits in any::<i64>(), scale in -300..300) {
        if let Ok(Some(pattern)) = PgNumberPattern::parse(&pattern) {
            prop_assert!(pattern.integer + pattern.fraction > 0 || pattern.items.iter().any(|item| matches!(item, Item::Roman(_))));
            let _ = pattern.format(Decimal::new(digits.into(), scale).unwrap());
        }
    }
}
