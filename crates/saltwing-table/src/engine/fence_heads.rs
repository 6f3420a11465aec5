//! Ascending fences by some of their bytes, as numbers.
//!
//! ```text
//! fences   "" | 5 186000 1 .. | 5 186000 2 .. | 5 186003 7 ..
//! shared      | 5 18600
//! heads     0 |         0 1 ..|         0 2 ..|         3 7 ..
//! ```
//! A fence is seldom in a cache, and neighbouring fences often begin with the same bytes. So a search compares the bytes behind
//! those that all fences share, which are kept here as numbers. It reads a fence only if these bytes are equal.

use saltwing_store::Bytes;

/// Bytes of a fence that are compared as a number.
const HEAD_BYTES: usize = 16;

/// The heads of ascending fences. The first fence may be empty.
#[derive(Default)]
pub(crate) struct FenceHeads {
    /// The bytes with which all fences begin, except an empty one, and the head of these bytes.
    shared: Bytes,
    shared_head: u128,
    /// One bits for the shared bytes of a head.
    shared_mask: u128,
    /// The bytes of each fence behind the shared ones.
    heads: Vec<u128>,
}

/// A key that is searched for among fences.
#[derive(Clone, Copy)]
pub(crate) struct FenceKey<'k> {
    pub(crate) bytes: &'k [u8],
    head: u128,
}

impl<'k> FenceKey<'k> {
    #[inline]
    pub(crate) fn new(bytes: &'k [u8]) -> Self {
        Self { bytes, head: head(bytes) }
    }
}

/// The first bytes of a key; missing bytes are zero, which keeps the order.
#[inline]
fn head(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(first) => u128::from_be_bytes(*first),
        None => {
            let mut bytes = [0; HEAD_BYTES];
            bytes.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
            u128::from_be_bytes(bytes)
        }
    }
}

impl FenceHeads {
    /// The heads of fences that ascend.
    pub(crate) fn new<'f>(fences: impl DoubleEndedIterator<Item = &'f Bytes> + Clone) -> Self {
        let mut full = fences.clone().filter(|fence| !fence.is_empty());
        let first = full.next();
        let ends = first.zip(full.next_back().or(first));
        let shared = ends.map_or(0, |(a, b)| a.iter().zip(b.iter()).take_while(|(a, b)| a == b).count());
        let heads = fences.map(|fence| head(fence.get(shared..).unwrap_or_default())).collect();
        let shared = first.and_then(|first| first.get(..shared)).unwrap_or_default();
        let other_bits = 8 * HEAD_BYTES.saturating_sub(shared.len()) as u32;
        let shared_mask = u128::MAX.checked_shl(other_bits).unwrap_or(0);
        Self { shared: Bytes::from(shared), shared_head: head(shared), shared_mask, heads }
    }

    /// The head of a key behind the shared bytes; `None` if it does not begin with them.
    #[inline]
    fn head_behind_shared(&self, key: FenceKey<'_>) -> Option<u128> {
        if (key.head ^ self.shared_head) & self.shared_mask != 0 {
            return None;
        }
        match self.shared.len() {
            0 => Some(key.head),
            // The heads are the same up to here.
            shared if shared <= HEAD_BYTES => key.bytes.get(shared..).map(head),
            _ => key.bytes.strip_prefix(&*self.shared).map(head),
        }
    }

    /// The number of fences for which `is_before` holds. It takes the place of a fence, and must compare that fence with `key`:
    /// it holds for the fences below the key, or for those not above it.
    #[inline]
    pub(crate) fn count_before(&self, key: FenceKey<'_>, is_before: impl Fn(usize) -> bool) -> usize {
        let heads = &self.heads;
        // A key without the shared bytes is before or behind all fences that have them. Such keys are few, so fences are read.
        let (mut low, mut high) = (0, heads.len());
        if let Some(wanted) = self.head_behind_shared(key) {
            low = heads.partition_point(|head| *head < wanted);
            let rest = heads.get(low..).unwrap_or_default();
            let is_same = |head: &u128| *head == wanted;
            high = if rest.first().is_some_and(is_same) { low + rest.partition_point(is_same) } else { low };
        }
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fences_before_a_key_are_counted(
            prefix in "[ab]{0,20}",
            fences in prop::collection::btree_set("[a-c]{0,3}([xyz]{18})?[a-c]{0,2}", 0..12),
            has_empty: bool,
            others in prop::collection::vec("[a-c]{0,4}", 8),
        ) {
            let full = fences.iter().map(|fence| format!("{prefix}{fence}")).filter(|fence| !fence.is_empty());
            let fences: Vec<Bytes> = has_empty.then(String::new).into_iter().chain(full).map(|fence| Bytes::from(fence.as_bytes())).collect();
            let heads = FenceHeads::new(fences.iter());
            let near = fences.iter().map(|fence| fence.to_vec());
            let behind = fences.iter().map(|fence| [&**fence, b"a"].concat());
            let within = others.iter().map(|key| format!("{prefix}{key}").into_bytes());
            for key in near.chain(behind).chain(within).chain(others.iter().map(|key| key.clone().into_bytes())) {
                let up_to = heads.count_before(FenceKey::new(&key), |at| *fences[at] <= *key);
                prop_assert_eq!(up_to, fences.iter().filter(|fence| ***fence <= *key).count(), "{:?}", key);
                let below = heads.count_before(FenceKey::new(&key), |at| *fences[at] < *key);
                prop_assert_eq!(below, fences.iter().filter(|fence| ***fence < *key).count(), "{:?}", key);
            }
        }
    }
}
