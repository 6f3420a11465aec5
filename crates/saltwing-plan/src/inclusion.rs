//! Whether boxes are inside a cover.

use std::borrow::Cow;
use std::collections::HashMap;

use saltwing_types::Value;

use crate::column_set::ColumnSet;
use crate::cover::Cover;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;

/// A cover whose boxes are found by the values of their leading column, so that
/// a list of 10,000 row values is held against itself in linear time.
pub(crate) struct Inclusion<'c> {
    cover: &'c Cover,
    space: &'c KeySpace<'c>,
    /// Boxes by each value of a leading list.
    by_value: HashMap<&'c Value, Vec<&'c KeyBox>>,
    /// Boxes without a leading list.
    others: Vec<&'c KeyBox>,
}

/// Covers of so few boxes are looked through one by one.
const UNINDEXED_MAX: usize = 8;

impl<'c> Inclusion<'c> {
    /// An index of the boxes of `cover`.
    pub(crate) fn new(cover: &'c Cover, space: &'c KeySpace<'c>) -> Self {
        let mut index = Self { cover, space, by_value: HashMap::new(), others: Vec::new() };
        if cover.boxes.len() <= UNINDEXED_MAX {
            index.others = cover.boxes.iter().collect();
            return index;
        }
        for key_box in &cover.boxes {
            let set = key_box.get(0).and_then(ColumnSet::known).filter(|set| !set.has_null());
            match set.and_then(|set| set.as_points(space.domain(0))) {
                Some(points) => {
                    points.into_iter().for_each(|value| index.by_value.entry(value).or_default().push(key_box));
                }
                None => index.others.push(key_box),
            }
        }
        index
    }

    /// Most boxes of the cover that one box is held against.
    pub(crate) fn candidates_max(&self) -> usize {
        self.others.len() + self.by_value.values().map(Vec::len).max().unwrap_or_default()
    }

    /// Whether each of `boxes` is inside one box of the cover.
    ///
    /// `true` is right; it is also `false` for a box that only several boxes hold together.
    pub(crate) fn holds_all(&self, boxes: &[Cow<'_, KeyBox>]) -> bool {
        boxes.iter().all(|key_box| self.holds(key_box))
    }

    fn holds(&self, key_box: &KeyBox) -> bool {
        if self.cover.is_full() {
            return true;
        }
        let domain = self.space.domain(0);
        let leading = key_box.get(0).and_then(ColumnSet::known).and_then(|set| set.as_points(domain));
        let leading = leading.and_then(|points| points.first().copied());
        let indexed = leading.and_then(|value| self.by_value.get(value));
        let candidates = indexed.into_iter().flatten().chain(&self.others);
        candidates.copied().any(|candidate| key_box.is_within(candidate, self.space))
    }
}
