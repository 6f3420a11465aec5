//! Ascending fences by some of their bytes, as numbers.
//!
//! ```text
//! fences   "" | 5 186000 1 .. | 5 186000 2 .. | 5 186003 7 ..
//! shared      | 5 18600
//! heads     0 |         0 1 ..|         0 2 ..|         3 7 ..
//! ```
//! A fence is seldom in a cache, and neighbouring fences often begin with the same bytes. So a search compares the bytes after
//! those that all fences share, which are kept here as numbers. It reads a fence only if these bytes are equal.

use saltwing_store::Bytes;

/// Bytes of a fence that are compared as a number.
const HEAD_BYTES: usize = 16;
/// Fences of a group.
const GROUP: usize = 16;

/// The heads of ascending fences, in groups of neighbours. The first fence may be empty.
///
/// A search finds the group by its first fence, then the fence in the group. Groups have a prefix each, because neighbours
/// have more bytes in common than all fences.
#[derive(Default)]
pub(crate) struct FenceHeads {
    /// The shared bytes of the first fences of the groups, and the heads of these fences after them.
    shared: Shared,
    first_heads: Vec<u128>,
    /// The shared bytes of each group.
    groups: Vec<Shared>,
    /// The head of each fence after the shared bytes of its group.
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

/// The bytes with which some fences begin, except an empty one.
#[derive(Default)]
struct Shared {
    bytes: Bytes,
    /// The head of these bytes.
    head: u128,
    /// One bits for these bytes of a head.
    mask: u128,
}

impl Shared {
    /// The bytes that fences share, which ascend: the first and the last share them.
    fn of(fences: &[&Bytes]) -> Self {
        let first = fences.iter().find(|fence| !fence.is_empty());
        let Some((first, last)) = first.zip(fences.last()) else { return Self::default() };
        let shared = first.iter().zip(last.iter()).take_while(|(a, b)| a == b).count();
        let bytes = first.get(..shared).unwrap_or_default();
        let other_bits = 8 * HEAD_BYTES.saturating_sub(shared) as u32;
        Self { bytes: Bytes::from(bytes), head: head(bytes), mask: u128::MAX.checked_shl(other_bits).unwrap_or(0) }
    }

    /// The head of a fence after the shared bytes; that of the empty one is zero.
    fn head_of(&self, fence: &Bytes) -> u128 {
        head(fence.get(self.bytes.len()..).unwrap_or_default())
    }

    /// The head of a key after the shared bytes; `None` if it does not begin with them.
    #[inline]
    fn head_after(&self, key: FenceKey<'_>) -> Option<u128> {
        if (key.head ^ self.head) & self.mask != 0 {
            return None;
        }
        match self.bytes.len() {
            0 => Some(key.head),
            // The heads are the same up to here.
            shared if shared <= HEAD_BYTES => key.bytes.get(shared..).map(head),
            _ => key.bytes.strip_prefix(&*self.bytes).map(head),
        }
    }

    /// The number of fences with these heads for which `is_before` holds, as in [`FenceHeads::count_before`].
    #[inline]
    fn count_before(&self, heads: &[u128], key: FenceKey<'_>, is_before: impl Fn(usize) -> bool) -> usize {
        // A key without the shared bytes is before or after all fences that have them. Such keys are few, so fences are read.
        let (mut low, mut high) = (0, heads.len());
        if let Some(wanted) = self.head_after(key) {
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

impl FenceHeads {
    /// The heads of fences that ascend.
    pub(crate) fn new<'f>(fences: impl Iterator<Item = &'f Bytes>) -> Self {
        let fences: Vec<&Bytes> = fences.collect();
        let firsts: Vec<&Bytes> = fences.iter().copied().step_by(GROUP).collect();
        let shared = Shared::of(&firsts);
        let first_heads = firsts.iter().map(|fence| shared.head_of(fence)).collect();
        let (mut groups, mut heads) = (Vec::with_capacity(firsts.len()), Vec::with_capacity(fences.len()));
        for group in fences.chunks(GROUP) {
            let shared = Shared::of(group);
            heads.extend(group.iter().map(|fence| shared.head_of(fence)));
            groups.push(shared);
        }
        Self { shared, first_heads, groups, heads }
    }

    /// The number of fences for which `is_before` holds. It takes the place of a fence, and must compare that fence with `key`:
    /// it holds for the fences below the key, or for those not above it.
    #[inline]
    pub(crate) fn count_before(&self, key: FenceKey<'_>, is_before: impl Fn(usize) -> bool) -> usize {
        let groups = self.shared.count_before(&self.first_heads, key, |group| is_before(group * GROUP));
        let Some(group) = groups.checked_sub(1) else { return 0 };
        let (Some(shared), start) = (self.groups.get(group), group * GROUP) else { return 0 };
        let heads = self.heads.get(start..self.heads.len().min(start + GROUP)).unwrap_or_default();
        start + shared.count_before(heads, key, |at| is_before(start + at))
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
            fences in prop::collection::btree_set("[a-c]{0,3}([xyz]{18})?[a-c]{0,2}", 0..60),
            has_empty: bool,
            others in prop::collection::vec("[a-c]{0,4}", 8),
        ) {
            let full = fences.iter().map(|fence| format!("{prefix}{fence}")).filter(|fence| !fence.is_empty());
            let fences: Vec<Bytes> = has_empty.then(String::new).into_iter().chain(full).map(|fence| Bytes::from(fence.as_bytes())).collect();
            let heads = FenceHeads::new(fences.iter());
            let near = fences.iter().map(|fence| fence.to_vec());
            let after = fences.iter().map(|fence| [&**fence, b"a"].concat());
            let within = others.iter().map(|key| format!("{prefix}{key}").into_bytes());
            for key in near.chain(after).chain(within).chain(others.iter().map(|key| key.clone().into_bytes())) {
                let up_to = heads.count_before(FenceKey::new(&key), |at| *fences[at] <= *key);
                prop_assert_eq!(up_to, fences.iter().filter(|fence| ***fence <= *key).count(), "{:?}", key);
                let below = heads.count_before(FenceKey::new(&key), |at| *fences[at] < *key);
                prop_assert_eq!(below, fences.iter().filter(|fence| ***fence < *key).count(), "{:?}", key);
            }
        }
    }
}
