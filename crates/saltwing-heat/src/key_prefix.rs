//! The first bytes of a key.

use std::fmt;

/// Bytes that are kept of a key.
pub const KEY_BYTES_MAX: usize = 32;

/// The first bytes of a key, at most [`KEY_BYTES_MAX`], without an allocation.
///
/// # Law
/// The order of prefixes is the order of their bytes, and so never contradicts the order of the keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPrefix {
    /// Zeros after the end. Compared before the length: of two keys that differ in zeros at the end the shorter one is less.
    bytes: [u8; KEY_BYTES_MAX],
    len: u8,
}

impl KeyPrefix {
    /// The prefix of a key.
    pub fn of(key: &[u8]) -> Self {
        let mut bytes = [0; KEY_BYTES_MAX];
        let len = key.len().min(KEY_BYTES_MAX);
        for (to, from) in bytes.iter_mut().zip(key) {
            *to = *from;
        }
        Self { bytes, len: len as u8 }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }
}

impl fmt::Debug for KeyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn prefixes_are_in_the_order_of_keys(
            a in prop::collection::vec(0u8..3, 0..40),
            b in prop::collection::vec(0u8..3, 0..40),
        ) {
            let cut = |key: &[u8]| key[..key.len().min(KEY_BYTES_MAX)].to_vec();
            let (pa, pb) = (KeyPrefix::of(&a), KeyPrefix::of(&b));
            prop_assert_eq!(pa.as_bytes(), &cut(&a)[..]);
            prop_assert_eq!(pa.cmp(&pb), cut(&a).cmp(&cut(&b)));
            prop_assert!(a > b || pa <= pb);
        }
    }
}
