//! Keys and values as stores hand them out: immutable, cheap to clone.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, RangeBounds};

use byteview::ByteView;

/// A key or a value: bytes that never change, shared instead of copied.
///
/// 24 bytes: up to 20 bytes of content inline, longer content on the heap with a reference count. A slice of a block keeps the whole block in memory: copy it
/// (`to_vec`) to keep it for long.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(ByteView);

impl Bytes {
    /// A copy of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        Self(ByteView::new(bytes))
    }

    /// The content of `left` and then of `right`, in one allocation.
    pub fn fused(left: &[u8], right: &[u8]) -> Self {
        Self(ByteView::fused(left, right))
    }

    /// The part of these bytes in `range`, sharing their memory.
    ///
    /// # Panics
    /// When `range` runs past the end, as indexing does.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Self {
        Self(self.0.slice(range))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

// `Ord` and `Hash` are those of the slice, as `Borrow` asks: a test holds it.
impl Borrow<[u8]> for Bytes {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x'")?;
        for byte in self.iter() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("'")
    }
}

impl From<ByteView> for Bytes {
    fn from(view: ByteView) -> Self {
        Self(view)
    }
}

impl From<Bytes> for ByteView {
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes)
    }
}

impl From<&Vec<u8>> for Bytes {
    fn from(bytes: &Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(&bytes)
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    fn from(bytes: &[u8; N]) -> Self {
        Self::new(bytes)
    }
}

impl<const N: usize> From<[u8; N]> for Bytes {
    fn from(bytes: [u8; N]) -> Self {
        Self::new(&bytes)
    }
}

impl PartialEq<[u8]> for Bytes {
    fn eq(&self, other: &[u8]) -> bool {
        **self == *other
    }
}

impl PartialEq<&[u8]> for Bytes {
    fn eq(&self, other: &&[u8]) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialEq<&[u8; N]> for Bytes {
    fn eq(&self, other: &&[u8; N]) -> bool {
        **self == other[..]
    }
}

impl PartialEq<Vec<u8>> for Bytes {
    fn eq(&self, other: &Vec<u8>) -> bool {
        **self == other[..]
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::Bytes;

    fn nasty_bytes() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0u8), Just(0xff), Just(b'a')], 0..40)
    }

    proptest! {
        #[test]
        fn order_and_hash_are_the_slices(a in nasty_bytes(), b in nasty_bytes()) {
            let (x, y) = (Bytes::from(&a), Bytes::from(&b));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x == y, a == b);
            let state = RandomState::new();
            prop_assert_eq!(state.hash_one(&x), state.hash_one(&a[..]));
        }

        #[test]
        fn fused_is_concatenation(a in nasty_bytes(), b in nasty_bytes()) {
            prop_assert_eq!(Bytes::fused(&a, &b).to_vec(), [a, b].concat());
        }
    }
}
