//! Whole numbers as digits, without an allocation.

use bytes::{BufMut, BytesMut};

/// The digits of the largest number of 64 bits.
const DIGITS_MAX: usize = 20;

/// Appends a number without a sign, with zeros before it up to a number of digits, of which there are at most 20.
pub(super) fn push_unsigned(out: &mut BytesMut, number: u64, digits_min: usize) {
    let mut digits = [b'0'; DIGITS_MAX];
    let (mut rest, mut count) = (number, 0);
    for digit in digits.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit += (rest % 10) as u8;
        rest /= 10;
        count += 1;
    }
    let shown = count.max(digits_min).clamp(1, DIGITS_MAX);
    out.put_slice(&digits[DIGITS_MAX - shown..]);
}

/// Appends a number.
pub(super) fn push_signed(out: &mut BytesMut, number: i64) {
    if number < 0 {
        out.put_u8(b'-');
    }
    push_unsigned(out, number.unsigned_abs(), 1);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signed(number: i64) -> Vec<u8> {
        let mut out = BytesMut::new();
        push_signed(&mut out, number);
        out.to_vec()
    }

    proptest! {
        #[test]
        fn digits_are_those_of_the_number(number: i64, small in -1000i64..1000, size: u64, width in 0usize..20) {
            prop_assert_eq!(signed(number), number.to_string().into_bytes());
            prop_assert_eq!(signed(small), small.to_string().into_bytes());
            let mut out = BytesMut::new();
            push_unsigned(&mut out, size >> 40, width);
            prop_assert_eq!(out.to_vec(), format!("{:0width$}", size >> 40).into_bytes());
        }
    }

    #[test]
    fn the_ends() {
        for number in [0, i64::MIN, i64::MAX] {
            assert_eq!(signed(number), number.to_string().into_bytes());
        }
    }
}
