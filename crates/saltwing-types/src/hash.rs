//! `HASH(value)`: a fast number that spreads values evenly, to put rows into parts by.
//!
//! It may stand in a primary key, so it never changes. It is made to be written again in any
//! language: FNV-1a of 64 bits over the value's bytes, then the finalizer of
//! MurmurHash3 (`fmix64`), so that every bit hangs on every byte; then the sign
//! bit is cleared.
//!
//! ```text
//! h = 0xcbf29ce484222325
//! for each byte b:  h = (h xor b) * 0x100000001b3
//! h = (h xor h >> 33) * 0xff51afd7ed558ccd
//! h = (h xor h >> 33) * 0xc4ceb9fe1a85ec53
//! h = (h xor h >> 33) and 0x7fffffffffffffff
//! ```
//!
//! | value | bytes |
//! |---|---|
//! | text | UTF-8; CHAR without its padding |
//! | whole number of 64 bits, of whatever type | 8, big-endian, two's complement |
//! | other number | its text: `2.5`, `NaN` |
//! | DATE, TIME, TIMESTAMP | milliseconds since 1970, 8 bytes as above; then, unless 0, the nanoseconds below, 4 bytes |
//! | binary | themselves |
//! | BOOLEAN | one, 0 or 1 |
//! | INTERVAL | its length in nanoseconds, 16 bytes, big-endian, two's complement |
//!
//! # Law
//! Values of one family that are equal have one hash, whatever their types: `HASH(1)`, `HASH(1.0)` and `HASH(1e0)`.

use crate::{Value, number, text};

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// The hash of a value, 0 or above; `None` for NULL.
pub fn hash(value: &Value) -> Option<i64> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(b) => hash_bytes(&[u8::from(*b)]),
        Value::Text(text) => hash_bytes(text.as_bytes()),
        Value::Bytes(bytes) => hash_bytes(bytes),
        Value::Int(i) => hash_int(*i),
        Value::Date(ms) => hash_int(*ms),
        Value::Timestamp(at) if at.nanos == 0 => hash_int(at.ms),
        Value::Timestamp(at) => hash_bytes(&[&at.ms.to_be_bytes()[..], &at.nanos.to_be_bytes()].concat()),
        Value::Interval(length) => hash_bytes(&length.span().to_be_bytes()),
        Value::Float(_) | Value::Double(_) | Value::Decimal(_) => hash_number(value),
        Value::Array(elements) => {
            let hashes = elements.iter().flat_map(|element| hash(element).unwrap_or(-1).to_be_bytes());
            hash_bytes(&hashes.collect::<Vec<u8>>())
        }
    })
}

/// The hash of bytes, 0 or above.
pub fn hash_bytes(bytes: &[u8]) -> i64 {
    let mut h = bytes.iter().fold(FNV_OFFSET, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
    h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^= h >> 33;
    (h & (u64::MAX >> 1)) as i64
}

/// The hash of a whole number.
pub fn hash_int(value: i64) -> i64 {
    hash_bytes(&value.to_be_bytes())
}

fn hash_number(value: &Value) -> i64 {
    match number::to_decimal(value) {
        Ok(decimal) => match decimal.to_i64().filter(|_| decimal.is_integer()) {
            Some(whole) => hash_int(whole),
            None => hash_bytes(decimal.to_string().as_bytes()),
        },
        // NaN and the infinities.
        Err(_) => hash_bytes(text::format_f64(number::to_f64(value)).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Timestamp;

    /// Keys are made of these: they stay.
    #[test]
    fn never_changes() {
        for (value, expected) in [
            (Value::text(""), 8_056_974_233_673_738_534),
            (Value::text("a"), 189_900_332_573_052_507),
            (Value::text("+49 30 1234567"), 6_177_775_160_228_627_334),
            (Value::Int(0), 8_922_497_616_986_557_598),
            (Value::Int(-1), 7_679_411_569_137_598_510),
            (Value::Decimal("2.5".parse().unwrap()), 1_037_419_616_133_267_763),
            (Value::Timestamp(Timestamp { ms: 1, nanos: 5 }), 2_183_262_678_019_547_032),
            (Value::Bool(true), 971_909_191_830_961_740),
        ] {
            assert_eq!(hash(&value), Some(expected), "{value:?}");
        }
        assert_eq!(hash(&Value::Null), None);
    }

    #[test]
    fn equal_values_have_one_hash() {
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        for (a, b) in [
            (Value::Int(1), decimal("1.0")),
            (Value::Int(1), Value::Double(1.0)),
            (Value::Float(1.0), Value::Double(1.0)),
            (decimal("0.1"), Value::Double(0.1)),
            (decimal("0.1"), Value::Float(0.1)),
            (decimal("1e30"), Value::Double(1e30)),
            (Value::Double(0.0), Value::Double(-0.0)),
            (Value::Double(f64::NAN), Value::Float(f32::NAN)),
            (Value::Date(5), Value::Timestamp(Timestamp { ms: 5, nanos: 0 })),
        ] {
            assert_eq!(hash(&a), hash(&b), "{a:?} {b:?}");
        }
    }

    /// 16 parts of 16,000 keys of each kind: none holds a tenth more or less than its share of 1,000.
    #[test]
    fn spreads_evenly() {
        let kinds: [fn(i64) -> Value; 3] =
            [Value::Int, |i| Value::Text(format!("+49 30 {i:07}")), |i| Value::Date(i * 86_400_000)];
        for kind in kinds {
            let mut parts = [0i64; 16];
            (0..16_000).for_each(|i| parts[(hash(&kind(i)).unwrap() % 16) as usize] += 1);
            assert!(parts.iter().all(|count| (900..=1_100).contains(count)), "{parts:?}");
        }
    }
}
