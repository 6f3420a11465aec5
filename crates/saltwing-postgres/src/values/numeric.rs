//! Decimal numbers in the binary format: PostgreSQL's `numeric`.
//!
//! ```text
//! [groups] [weight] [sign] [places] [group 1] [group 2] ...
//!  u16      i16      u16    u16      u16: four decimal digits, 0 to 9999
//! ```
//!
//! The first group counts 10000^weight, the next one 10000 times less. `places` says how many digits of the fraction are shown.
//!
//! # Law
//! A number of up to 38 digits reads back as it was written.

use bytes::{BufMut, BytesMut};
use saltwing::{Decimal, ErrorCode};

use super::error::WireError;
use super::pg_type::BaseType::Numeric;

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
/// Not a number and the infinities, which a DECIMAL cannot be.
const SPECIAL: [(u16, &str); 3] = [(0xc000, "NaN"), (0xd000, "Infinity"), (0xf000, "-Infinity")];
/// PostgreSQL keeps 14 bits of `places`.
const PLACES_MAX: u16 = 0x3fff;
/// The bytes before the groups.
const HEADER_BYTES: usize = 8;
/// The decimal digits of a group.
const GROUP_DIGITS: usize = 4;
/// Groups that can change a number that is rounded to 38 digits, which looks at the 39th digit and no further.
const GROUPS_READ_MAX: usize = 16;
/// The digits of the largest number of 128 bits.
const DIGITS_MAX: usize = 39;
/// The largest power of ten in a text. It is far beyond every DECIMAL, so larger ones are never read as numbers.
const POWER_MAX: u32 = 4000;

/// Appends a number with the digits of the fraction that its type has, or with as many as it needs.
pub(super) fn push(out: &mut BytesMut, number: Decimal, places: Option<u8>) {
    let number = places.map_or(number, |places| number.truncate(places.into()));
    let shown = places.map_or_else(|| number.scale().max(0) as u16, u16::from);
    let (digits, count) = digits_of(number.digits().unsigned_abs());
    let digits = &digits[DIGITS_MAX - count..];
    if digits.is_empty() {
        return [0, 0, POSITIVE, shown].into_iter().for_each(|word| out.put_u16(word));
    }
    // The power of ten of the first digit. 123.45 is 2 + 1 digits, so its first group is `0123`: one zero is put before it.
    let power = i32::from(count as u8) - 1 - number.scale();
    let zeros_before = 3 - power.rem_euclid(4) as usize;
    let groups = (zeros_before + count).div_ceil(GROUP_DIGITS);
    out.put_u16(groups as u16);
    out.put_i16(power.div_euclid(4) as i16);
    out.put_u16(if number.is_negative() { NEGATIVE } else { POSITIVE });
    out.put_u16(shown);
    let padded = std::iter::repeat_n(0, zeros_before).chain(digits.iter().copied()).chain(std::iter::repeat(0));
    let mut group = 0;
    for (place, digit) in padded.take(groups * GROUP_DIGITS).enumerate() {
        group = group * 10 + u16::from(digit);
        if place % GROUP_DIGITS == GROUP_DIGITS - 1 {
            out.put_u16(group);
            group = 0;
        }
    }
}

/// The digits of a number at the end of an array, and how many there are; none of 0.
fn digits_of(mut number: u128) -> ([u8; DIGITS_MAX], usize) {
    let (mut digits, mut count) = ([0; DIGITS_MAX], 0);
    for digit in digits.iter_mut().rev() {
        if number == 0 {
            break;
        }
        *digit = (number % 10) as u8;
        number /= 10;
        count += 1;
    }
    (digits, count)
}

/// Reads a number; more than 38 digits are rounded half up, as those of a literal are.
///
/// # Errors
/// [`WireError::BadBinary`] for bytes of another form; [`WireError::OutOfRange`] for NaN, an infinity, and numbers beyond DECIMAL.
pub(super) fn read(bytes: &[u8]) -> Result<Decimal, WireError> {
    let bad = |reason: &str| WireError::bad_binary(Numeric, reason);
    let (header, groups) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(|| bad("the header is too short"))?;
    let mut header = words(header);
    let [Some(count), Some(weight), Some(sign), Some(places)] = [(); 4].map(|()| header.next()) else {
        return Err(bad("the header is too short"));
    };
    if groups.len() != usize::from(count) * size_of::<u16>() {
        return Err(bad("the number of digits is wrong"));
    }
    if let Some((_, word)) = SPECIAL.iter().find(|(special, _)| *special == sign) {
        return Err(WireError::out_of_range(Numeric, word));
    }
    if sign != POSITIVE && sign != NEGATIVE {
        return Err(bad("the sign is none"));
    }
    if places > PLACES_MAX {
        return Err(bad("the scale is too large"));
    }
    if words(groups).any(|group| group > 9999) {
        return Err(bad("a digit is too large"));
    }
    let leading_zeros = words(groups).take_while(|group| *group == 0).count();
    let kept = words(groups).skip(leading_zeros).take(GROUPS_READ_MAX);
    let mut text = String::from(if sign == NEGATIVE { "-0" } else { "0" });
    let mut power = (i32::from(weight.cast_signed()) + 1 - leading_zeros as i32) * 4;
    for group in kept {
        text.push_str(&format!("{group:04}"));
        power -= 4;
    }
    let number = read_text(&format!("{text}e{power}"))?;
    Ok(number.truncate(places.into()))
}

/// Reads a number as SQL has it: `-12.5`, `.5`, `1e10`; more than 38 digits are rounded half up.
///
/// # Errors
/// [`WireError::BadText`]; [`WireError::OutOfRange`] for NaN, an infinity, and numbers beyond DECIMAL.
pub(super) fn read_text(text: &str) -> Result<Decimal, WireError> {
    let number = text.trim_ascii();
    let word = number.trim_start_matches(['-', '+']);
    if ["nan", "inf", "infinity"].iter().any(|special| word.eq_ignore_ascii_case(special)) {
        return Err(WireError::out_of_range(Numeric, text));
    }
    // Of zero as well: its power of ten must be a number, and says nothing.
    let power = number.split_once(['e', 'E']).map(|(_, power)| power.strip_prefix(['-', '+']).unwrap_or(power));
    if let Some(power) = power
        && !power.is_empty()
        && power.bytes().all(|digit| digit.is_ascii_digit())
        && power.parse::<u32>().map_or(true, |power| power > POWER_MAX)
    {
        return Err(WireError::out_of_range(Numeric, text));
    }
    number.parse::<Decimal>().map_err(|error| match error.code() {
        ErrorCode::OutOfRange => WireError::out_of_range(Numeric, text),
        _ => WireError::bad_text(Numeric, text),
    })
}

/// The words of 16 bits of a run of bytes.
fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks_exact(size_of::<u16>()).filter_map(|word| word.try_into().ok()).map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: Decimal, places: Option<u8>) -> Vec<u8> {
        let mut out = BytesMut::new();
        push(&mut out, number, places);
        out.to_vec()
    }

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn hex(text: &str) -> Vec<u8> {
        saltwing::text::unhex(text).unwrap()
    }

    proptest! {
        #[test]
        fn numbers_read_back(digits in -10i128.pow(38)+1..10i128.pow(38), cut in 0u32..38, scale in -350i32..350) {
            let number = Decimal::new(digits / 10i128.pow(cut), scale).unwrap();
            prop_assert_eq!(read(&written(number, None)).unwrap(), number);
        }

        #[test]
        fn digits_beyond_38_are_rounded_as_those_of_a_literal(groups in prop::collection::vec(0u16..10_000, 1..40), weight in -20i16..20) {
            let mut bytes = Vec::new();
            for word in [groups.len() as u16, weight.cast_unsigned(), NEGATIVE, 0x3fff].iter().chain(&groups) {
                bytes.extend(word.to_be_bytes());
            }
            let digits: String = groups.iter().map(|group| format!("{group:04}")).collect();
            let power = (i32::from(weight) + 1) * 4 - digits.len() as i32;
            prop_assert_eq!(read(&bytes).unwrap(), decimal(&format!("-{digits}e{power}")));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+]?[0-9.]{0,5}[eE]?[-+]?[0-9]{0,12}") {
            let _ = read_text(&text);
        }
    }

    /// What `numeric_send` of PostgreSQL 15 gives.
    #[test]
    fn bytes_of_postgresql() {
        for (text, places, bytes) in [
            ("0", None, "0000000000000000"),
            ("1", None, "00010000000000000001"),
            ("-1", None, "00010000400000000001"),
            ("1.5", None, "000200000000000100011388"),
            ("1.5", Some(2), "000200000000000200011388"),
            ("0.0001", None, "0001ffff000000040001"),
            ("0.00001", None, "0001fffe0000000503e8"),
            ("10000", None, "00010001000000000001"),
            ("100000000", None, "00010002000000000001"),
            (
                "12345678901234567890123456789012345678",
                None,
                "000a000900000000000c0d801ed204d2162e23340d801ed204d2162e",
            ),
            ("-0.00000000000000000000000000000000000001", None, "0001fff6400000260064"),
            ("9999.9999", None, "0002000000000004270f270f"),
            ("123456.789", None, "0003000100000003000c0d801ed2"),
            ("100000000000000000000", None, "00010005000000000001"),
            ("0.12345", None, "0002ffff0000000504d21388"),
            ("-99999999.00000001", None, "0004000140000008270f270f00000001"),
            ("0", Some(2), "0000000000000002"),
            ("-999.99", Some(2), "000200004000000203e726ac"),
            ("0.01", Some(2), "0001ffff000000020064"),
        ] {
            assert_eq!(written(decimal(text), places), hex(bytes), "{text}");
            assert_eq!(read(&hex(bytes)).unwrap(), decimal(text), "{text}");
        }
        // Digits beyond those of the type are cut, on both ways.
        assert_eq!(written(decimal("1.559"), Some(2)), written(decimal("1.55"), Some(2)));
        assert_eq!(read(&hex("000200000000000100011388")).unwrap(), decimal("1.5"));
        assert_eq!(read(&hex("000200000000000000011388")).unwrap(), decimal("1"));
    }

    #[test]
    fn refuses() {
        for (bytes, state) in [
            ("", "22P03"),
            ("00000000000000", "22P03"),
            ("00010000000000", "22P03"),
            ("0001000000000000", "22P03"),
            ("000100000000000000010001", "22P03"),
            ("00010000000000002710", "22P03"),
            ("00010000000100000001", "22P03"),
            ("00010000000040000001", "22P03"),
            ("ffff7fff00000000", "22P03"),
            ("00000000c0000000", "22003"),
            ("00000000d0000020", "22003"),
            ("00000000f0000020", "22003"),
            ("00017fff000000000001", "22003"),
            ("00018000000000000001", "22003"),
        ] {
            assert_eq!(read(&hex(bytes)).unwrap_err().sqlstate(), state, "{bytes}");
        }
        for (text, state) in [
            ("", "22P02"),
            (".", "22P02"),
            ("x", "22P02"),
            ("1e", "22P02"),
            ("1e+", "22P02"),
            ("1_000", "22P02"),
            ("1 2", "22P02"),
            ("NaN", "22003"),
            ("-inf", "22003"),
            ("Infinity", "22003"),
            ("1e5000", "22003"),
            ("1e999999999999", "22003"),
            ("1e-2147483648", "22003"),
        ] {
            assert_eq!(read_text(text).unwrap_err().sqlstate(), state, "{text}");
        }
        for (text, expected) in [(" 1 ", "1"), (".5", "0.5"), ("5.", "5"), ("+1e-3", "0.001"), ("1E5", "100000")] {
            assert_eq!(read_text(text).unwrap(), decimal(expected));
        }
    }
}
