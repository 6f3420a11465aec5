//! Buckets: Phoenix's hash of a row key (SaltingUtil).

/// Phoenix's hash of a key without its bucket byte, `java.util.Arrays.hashCode(byte[])`:
/// from 1, for each byte 31 x hash + byte, bytes signed, 32 bits, wrapping.
pub fn hash(key: &[u8]) -> i32 {
    key.iter().fold(1i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8)))
}

/// The bucket of a logical key in a table of `buckets` buckets (1..=256).
///
/// The remainder is taken before the absolute value, as Phoenix does: the
/// smallest 32-bit hash has no absolute value.
pub fn bucket(key: &[u8], buckets: u16) -> u8 {
    (hash(key) % i32::from(buckets.clamp(1, 256))).unsigned_abs() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_hash_has_a_bucket() {
        let key = [0x96, 0x00, 0xf6, 0x00, 0x13, 0xfe];
        assert_eq!(hash(&key), i32::MIN);
        assert_eq!((bucket(&key, 3), bucket(&key, 4)), (2, 0));
    }

    #[test]
    fn all_256_buckets_are_bytes() {
        assert_eq!(bucket(b"a", 256), 128);
        assert_eq!(bucket(b"a", 1), 0);
        assert_eq!(bucket(&[], 20), 1);
    }
}
