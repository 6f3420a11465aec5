//! Bytes of DECIMAL: a sign and exponent byte, then digits in base 100
//! (Phoenix, PDataType.toBytes).
//!
//! ```text
//!   12345.678   c3  02 18 2e 44 51        80 | 65 + 2, then 1 23 45 67 80, each + 1
//!  -12345.678   3c  64 4e 38 22 15 66     NOT of that byte's low bits, 101 - each, then 66
//! ```
//!
//! The first pair of digits weighs 100^w, and 65 + w is the exponent. Zero is
//! the byte 80 alone. The 66 after a negative number is larger than every
//! digit byte, so that longer ones sort first; only at 20 pairs it is left
//! out, where nothing longer can follow.

use saltwing_types::Decimal;

use crate::BadBytes;

/// The byte of zero, and the bit of positive numbers.
const POSITIVE: u8 = 0x80;
/// Ends a negative number of fewer than [`PAIRS_MAX`] pairs.
const TERMINATOR: u8 = 0x66;
/// Exponent byte of the weight 100^0.
const BIAS: i32 = 65;
/// 38 digits that start and end inside a pair.
const PAIRS_MAX: usize = 20;
/// Weight of the first pair of the smallest number, 1E-126.
const WEIGHT_MIN: i32 = -63;
/// Weight of the first pair of the largest positive number, just below 1E126.
const WEIGHT_MAX: i32 = 62;
/// The same below zero, above -1E124: one more has the exponent byte 00, a separator.
const WEIGHT_MAX_NEGATIVE: i32 = 61;

/// Why a number has no key form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magnitude {
    /// Too far from zero.
    TooLarge,
    /// Too close to zero.
    TooSmall,
}

/// Appends the ascending bytes of a number.
pub(crate) fn write(value: Decimal, out: &mut Vec<u8>) -> Result<(), Magnitude> {
    let (digits, scale) = (value.digits(), value.scale());
    if digits == 0 {
        out.push(POSITIVE);
        return Ok(());
    }
    let mut buffer = [0u8; PAIRS_MAX];
    let pairs = to_pairs(digits.unsigned_abs(), scale, &mut buffer);
    // The last pair weighs 100^-(scale / 2), scale rounded up to an even number.
    let weight = -(scale + scale.rem_euclid(2)) / 2 + pairs.len() as i32 - 1;
    let negative = digits < 0;
    if weight < WEIGHT_MIN {
        return Err(Magnitude::TooSmall);
    }
    if weight > (if negative { WEIGHT_MAX_NEGATIVE } else { WEIGHT_MAX }) {
        return Err(Magnitude::TooLarge);
    }
    let exponent = (BIAS + weight) as u8;
    if negative {
        out.push(!exponent & !POSITIVE);
        out.extend(pairs.iter().map(|pair| 101 - pair));
        if pairs.len() < PAIRS_MAX {
            out.push(TERMINATOR);
        }
    } else {
        out.push(POSITIVE | exponent);
        out.extend(pairs.iter().map(|pair| pair + 1));
    }
    Ok(())
}

/// Digits of `magnitude` in base 100, aligned so that the decimal point stands
/// between two pairs: 1.5 (15, scale 1) is 1 | 50, and 15 (scale 0) is 15.
fn to_pairs(magnitude: u128, scale: i32, buffer: &mut [u8; PAIRS_MAX]) -> &[u8] {
    const CHUNK: u128 = 10u128.pow(18);
    let mut start = PAIRS_MAX;
    let mut push = |pair: u64| {
        start = start.saturating_sub(1);
        if let Some(slot) = buffer.get_mut(start) {
            *slot = pair as u8;
        }
    };
    let mut rest = magnitude;
    if scale.rem_euclid(2) == 1 {
        push((rest % 10 * 10) as u64);
        rest /= 10;
    }
    // Dividing 128 bits is slow: nine pairs at a time are split off first.
    while rest > u128::from(u64::MAX) {
        let mut chunk = (rest % CHUNK) as u64;
        rest /= CHUNK;
        for _ in 0..9 {
            push(chunk % 100);
            chunk /= 100;
        }
    }
    let mut rest = rest as u64;
    while rest > 0 {
        push(rest % 100);
        rest /= 100;
    }
    buffer.get(start..).unwrap_or_default()
}

/// Reads stored bytes as digits and scale (digits x 10^-scale), digits without
/// trailing zeros. Only the form that [`write`] gives is accepted.
pub(crate) fn read(stored: &[u8], mask: u8) -> Result<(i128, i32), BadBytes> {
    let Some((first, rest)) = stored.split_first() else {
        return Err(BadBytes("a DECIMAL of no bytes"));
    };
    let first = first ^ mask;
    if first == POSITIVE && rest.is_empty() {
        return Ok((0, 0));
    }
    if first & POSITIVE != 0 {
        let weight = i32::from(first & !POSITIVE) - BIAS;
        let (digits, scale) = from_pairs(rest, weight, |byte| (byte ^ mask).wrapping_sub(1))?;
        return Ok((digits as i128, scale));
    }
    let weight = i32::from(!first & !POSITIVE) - BIAS;
    let pairs = match rest.split_last() {
        Some((last, pairs)) if last ^ mask == TERMINATOR && rest.len() <= PAIRS_MAX => pairs,
        _ if rest.len() == PAIRS_MAX => rest,
        _ => return Err(BadBytes("a negative DECIMAL without its end")),
    };
    if weight > WEIGHT_MAX_NEGATIVE {
        return Err(BadBytes("the exponent of no DECIMAL"));
    }
    let (digits, scale) = from_pairs(pairs, weight, |byte| 101u8.wrapping_sub(byte ^ mask))?;
    Ok((-(digits as i128), scale))
}

fn from_pairs(bytes: &[u8], weight: i32, pair: impl Fn(u8) -> u8) -> Result<(u128, i32), BadBytes> {
    const BAD_DIGIT: BadBytes = BadBytes("a byte that is no DECIMAL digit");
    if !(WEIGHT_MIN..=WEIGHT_MAX).contains(&weight) {
        return Err(BadBytes("the exponent of no DECIMAL"));
    }
    let (Some((last, head)), Some(first)) = (bytes.split_last(), bytes.first()) else {
        return Err(BadBytes("a DECIMAL without digits"));
    };
    let last = pair(*last);
    if bytes.len() > PAIRS_MAX || last == 0 || last > 99 || pair(*first) == 0 {
        return Err(BAD_DIGIT);
    }
    let mut digits = 0u128;
    for byte in head {
        let pair = pair(*byte);
        if pair > 99 {
            return Err(BAD_DIGIT);
        }
        digits = digits * 100 + u128::from(pair);
    }
    let scale = 2 * (bytes.len() as i32 - 1 - weight);
    // 38 digits at most, and no step beyond what an u128 takes: twenty pairs may hold 39.
    match last % 10 {
        0 if digits < 10u128.pow(37) => Ok((digits * 10 + u128::from(last / 10), scale - 1)),
        1..=9 if bytes.len() < PAIRS_MAX => Ok((digits * 100 + u128::from(last), scale)),
        _ => Err(BadBytes("a DECIMAL of more than 38 digits")),
    }
}
