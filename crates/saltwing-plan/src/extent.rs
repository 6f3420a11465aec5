//! How far the ranges of a box reach into its key columns, by the shapes of its sets: what a plan tells of ranges that are
//! made only when all values are known.

use std::ops::Bound;

use crate::column_set::ColumnSet;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;

/// How far the ranges of one box reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Leading columns that are lists of values.
    pub(crate) lists: usize,
    /// Leading columns whose sets the ranges hold exactly: the lists, and the spans of the next column.
    pub(crate) columns: usize,
    /// Key columns that have a say in the ranges.
    pub(crate) reach: usize,
    /// Whether there is one range at most.
    pub(crate) is_one: bool,
}

/// The key columns that close one end of the ranges: those from `position` on, up to the first that is open there.
pub(crate) fn reach_of_end(key_box: &KeyBox, position: usize, is_first: bool, space: &KeySpace) -> usize {
    let mut reach = position;
    for at in position..space.len() {
        match key_box.get(at).map(|set| set.end_in_key(is_first, space.domain(at))) {
            None | Some(Bound::Unbounded) => break,
            Some(Bound::Included(())) => reach = at + 1,
            Some(Bound::Excluded(())) => return at + 1,
        }
    }
    reach
}

/// Whether the boxes have one range together, whatever the values are that are not known yet.
///
/// ```text
/// (a, b) > (?1, ?2)     a > ?1, and a = ?1 with b > ?2: the one goes on where the other ends
/// ```
pub(crate) fn is_one_range(boxes: &[KeyBox], extents: &[Extent], space: &KeySpace) -> bool {
    let touches = |pair: &[KeyBox]| match pair {
        [a, b] => goes_on(a, b, space) || goes_on(b, a, space),
        _ => true,
    };
    extents.iter().all(|extent| extent.is_one) && boxes.windows(2).all(touches)
}

/// Whether no key lies between the range of `beyond` and that of `from`, which are the same up to a column that has one value
/// in `from`, and what is beyond that value in the other.
fn goes_on(beyond: &KeyBox, from: &KeyBox, space: &KeySpace) -> bool {
    let Some(at) = (0..space.len()).find(|at| beyond.get(*at) != from.get(*at)) else { return true };
    let is_single = |position| beyond.get(position).is_some_and(|set| set.is_single(space.domain(position)));
    let (Some(ColumnSet::Open(ray)), Some(ColumnSet::Open(point))) = (beyond.get(at), from.get(at)) else {
        return false;
    };
    if !ray.is_beyond(point) || !(0..at).all(is_single) || beyond.columns().any(|(position, _)| position > at) {
        return false;
    }
    let goes_up = ray.shape().spread.ends().0 != Bound::Unbounded;
    let is_after = goes_up == space.domain(at).is_ascending();
    // The keys with the value must go up to the end that the others begin at.
    let next = at + 1;
    from.get(next).is_none_or(|set| {
        let is_open = set.end_in_key(!is_after, space.domain(next)) == Bound::Unbounded;
        // NULL is the first in the key.
        is_open && (is_after || !space.domain(next).nullable() || set.has_null())
    })
}
