//! Keys of all spaces in one tree: the space's number, then the key.

use std::ops::Bound;

use saltwing_store::{Bytes, KEY_BYTES_MAX, KeyBounds, Space};

/// The tree's key for a space's key.
pub(crate) fn encode(space: Space, key: &[u8]) -> Bytes {
    Bytes::fused(&[space.id()], key)
}

/// The space's key of a tree's key.
pub(crate) fn decode(key: &[u8]) -> Bytes {
    debug_assert!(!key.is_empty(), "a key of the tree begins with its space");
    Bytes::new(key.get(1..).unwrap_or_default())
}

/// The tree's keys for the keys of `space` in `bounds`.
///
/// No key is empty, so the space's number alone is below all keys of the space,
/// and the next number above them; above space 255 there is nothing.
pub(crate) fn limits(space: Space, bounds: &KeyBounds) -> (Bound<Bytes>, Bound<Bytes>) {
    let (start, end) = bounds.limits(KEY_BYTES_MAX);
    let start = match start {
        Bound::Unbounded => Bound::Excluded(encode(space, &[])),
        limit => limit.map(|key| encode(space, key)),
    };
    let end = match (end, space.id().checked_add(1)) {
        (Bound::Unbounded, Some(next)) => Bound::Excluded(Bytes::from([next])),
        (Bound::Unbounded, None) => Bound::Unbounded,
        (limit, _) => limit.map(|key| encode(space, key)),
    };
    (start, end)
}
