//! Unions of boxes: what conditions become.
//!
//! # Laws
//! A [`Cover`] of a condition holds every row for which the condition has the
//! requested outcome; when it is exact, it holds no other row.
//! `intersect` and `union` of covers are covers of AND and OR.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::coalesce_boxes::merge_nearest;
use crate::column_set::ColumnSet;
use crate::key_box::{KeyBox, join};
use crate::key_space::{KeySpace, PAIRS_OF_BOX};
use crate::value_set::ValueSet;

/// Most boxes that an AND of ORs makes. Beyond it the nearest are merged, loosely;
/// a condition that has more boxes by itself, such as a list of 10,000 row values, keeps them.
pub(crate) const BOXES_MAX: usize = 1000;
/// Boxes that an AND holds before it merges them.
const BOXES_HELD_MAX: usize = 100_000;

/// Whether boxes hold other rows than the requested ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fit {
    /// None.
    Exact,
    /// None, but for the rows in these boxes, for which the condition may raise an error.
    ExactOutside(Vec<KeyBox>),
    /// They may.
    Loose,
}

/// Most boxes that [`Fit::ExactOutside`] keeps.
const OUTSIDE_MAX: usize = 16;

impl Fit {
    /// The properties of two covers together.
    fn and(self, other: &Fit) -> Self {
        match (self, other) {
            (Self::Exact, Self::Exact) => Self::Exact,
            (fit @ Self::ExactOutside(_), Self::Exact) => fit,
            (Self::Exact, fit @ Self::ExactOutside(_)) => fit.clone(),
            (Self::ExactOutside(a), Self::ExactOutside(b)) if a.len() + b.len() <= OUTSIDE_MAX => {
                Self::ExactOutside([a.as_slice(), b.as_slice()].concat())
            }
            _ => Self::Loose,
        }
    }
}

/// Boxes that hold every row with some outcome of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cover {
    /// The boxes; none: no row.
    pub(crate) boxes: Vec<KeyBox>,
    /// Whether they hold no other row.
    pub(crate) fit: Fit,
}

impl Cover {
    /// No row.
    pub(crate) fn nothing() -> Self {
        Self { boxes: Vec::new(), fit: Fit::Exact }
    }

    /// Every row, and rightly so.
    pub(crate) fn everything() -> Self {
        Self { boxes: vec![KeyBox::default()], fit: Fit::Exact }
    }

    /// Every row, for want of anything better.
    pub(crate) fn unknown() -> Self {
        Self { boxes: vec![KeyBox::default()], fit: Fit::Loose }
    }

    /// The rows in any of these boxes.
    pub(crate) fn of_boxes(boxes: Vec<KeyBox>, space: &KeySpace) -> Self {
        Self { boxes: join(boxes, space), fit: Fit::Exact }
    }

    /// The rows with one column in a set.
    pub(crate) fn column(position: usize, set: ColumnSet, fit: Fit, space: &KeySpace) -> Self {
        if set.is_empty() {
            return Self::nothing();
        }
        if set.is_full(space.domain(position)) {
            return Self { fit, ..Self::everything() };
        }
        Self { boxes: vec![KeyBox::column(position, set)], fit }
    }

    /// Whether the boxes hold no other row, and the condition never fails.
    pub(crate) fn is_exact(&self) -> bool {
        self.fit == Fit::Exact
    }

    /// Whether all rows of these boxes, which lie inside the cover, are among the requested ones.
    pub(crate) fn is_exact_in(&self, boxes: &[Cow<'_, KeyBox>], space: &KeySpace) -> bool {
        match &self.fit {
            Fit::Exact => true,
            Fit::ExactOutside(outside) => {
                boxes.iter().all(|inner| outside.iter().all(|key_box| inner.intersect(key_box, space).is_none()))
            }
            Fit::Loose => false,
        }
    }

    /// Whether no condition is left: every row is inside.
    pub(crate) fn is_full(&self) -> bool {
        self.boxes.iter().any(KeyBox::is_full)
    }

    /// A cover of OR.
    pub(crate) fn union(parts: impl IntoIterator<Item = Cover>, space: &KeySpace) -> Cover {
        let mut all = Cover::nothing();
        for part in parts {
            if part.is_exact() && part.is_full() {
                return Cover::everything();
            }
            all.fit = all.fit.and(&part.fit);
            all.boxes.extend(part.boxes);
        }
        all.boxes = join(all.boxes, space);
        all
    }

    /// A cover of AND over many parts. They are paired off round by round, so that
    /// 100,000 exclusions of one column take no square of steps.
    pub(crate) fn intersect_all(parts: impl IntoIterator<Item = Cover>, space: &KeySpace) -> Cover {
        let mut parts: Vec<Cover> = parts.into_iter().collect();
        if parts.iter().any(|part| part.boxes.is_empty()) {
            return Cover::nothing();
        }
        while parts.len() > 1 {
            parts = parts
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => a.intersect(b, space),
                    rest => rest.first().cloned().unwrap_or_else(Cover::everything),
                })
                .collect();
        }
        parts.pop().unwrap_or_else(Cover::everything)
    }

    /// A cover of AND.
    pub(crate) fn intersect(&self, other: &Cover, space: &KeySpace) -> Cover {
        let (own, others) = (self.weight(), other.weight());
        let pairs = own.saturating_mul(other.boxes.len()).max(others.saturating_mul(self.boxes.len()));
        let (mut small, mut large) = (Cow::Borrowed(self), Cow::Borrowed(other));
        if small.boxes.len() > large.boxes.len() {
            std::mem::swap(&mut small, &mut large);
        }
        let mut weight_max = BOXES_MAX.max(own).max(others);
        if pairs > space.pairs_max(0) {
            weight_max = PAIRS_OF_BOX.max(own).max(others);
            small = Cow::Owned(small.coarsened(PAIRS_OF_BOX, space).into_owned());
            let room = (space.pairs_max(own + others) / small.weight().max(1)).max(1);
            large = Cow::Owned(large.coarsened(room, space).into_owned());
        }
        let mut both = Cover { boxes: Vec::new(), fit: small.fit.clone().and(&large.fit) };
        for key_box in &small.boxes {
            if space.look_at(large.boxes.len().max(key_box.weight())).is_err() {
                return Cover::unknown();
            }
            both.boxes.extend(large.boxes.iter().filter_map(|other| key_box.intersect(other, space)));
            if both.boxes.len() > BOXES_HELD_MAX.max(2 * weight_max) {
                both = both.settled(weight_max, space);
            }
        }
        if both.boxes.is_empty() {
            return Cover::nothing();
        }
        if small.boxes.len() > 1 { both.settled(weight_max, space) } else { both.at_most(weight_max, space) }
    }

    /// The same rows in fewer boxes, if that is possible; of a greater weight than this the nearest are merged.
    fn settled(self, weight_max: usize, space: &KeySpace) -> Cover {
        Cover { boxes: join(self.boxes, space), fit: self.fit }.at_most(weight_max, space)
    }

    fn at_most(self, weight_max: usize, space: &KeySpace) -> Cover {
        if self.weight() <= weight_max {
            return self;
        }
        let heaviest = self.boxes.iter().map(KeyBox::weight).max().unwrap_or(1);
        self.coarsened(weight_max / heaviest.max(1), space).into_owned()
    }

    /// The entries of an index that the rows may have: of a column in which an entry has the same bytes for NULL and for ''
    /// both are inside, or neither. `apart` is the space of the cover, `space` that of the bytes.
    pub(crate) fn with_empty_as_null(self, apart: &KeySpace, space: &KeySpace) -> Cover {
        let mut doubtful = Some(BTreeSet::new());
        let boxes = self.boxes.into_iter().map(|key_box| {
            let (key_box, positions) = key_box.with_empty_as_null(apart, space);
            match (&mut doubtful, positions) {
                (Some(all), Some(positions)) => all.extend(positions),
                _ => doubtful = None,
            }
            key_box
        });
        let boxes = join(boxes.collect(), space);
        let of_bytes = match doubtful {
            None => Fit::Loose,
            Some(positions) if positions.is_empty() => Fit::Exact,
            Some(positions) if positions.len() > OUTSIDE_MAX => Fit::Loose,
            Some(positions) => {
                let doubt = |at| KeyBox::column(at, ValueSet::null(space.domain(at)).into());
                Fit::ExactOutside(positions.into_iter().map(doubt).collect())
            }
        };
        let fit = match self.fit {
            Fit::ExactOutside(boxes) => {
                Fit::ExactOutside(boxes.into_iter().map(|key_box| key_box.with_empty_as_null(apart, space).0).collect())
            }
            fit => fit,
        };
        Cover { boxes, fit: fit.and(&of_bytes) }
    }

    /// Boxes, or the rows that they list: what a cover takes in memory.
    fn weight(&self) -> usize {
        self.boxes.iter().map(KeyBox::weight).sum()
    }

    /// At most `count` boxes: the nearest are merged, which makes the cover loose.
    fn coarsened(&self, count: usize, space: &KeySpace) -> Cow<'_, Cover> {
        match self.boxes.len() <= count {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Cover { boxes: merge_nearest(&self.boxes, count, space), fit: Fit::Loose }),
        }
    }

    /// The union of the boxes in one column.
    pub(crate) fn projection(&self, position: usize, space: &KeySpace) -> Cow<'_, ColumnSet> {
        let domain = space.domain(position);
        if let [one] = self.boxes.as_slice() {
            return match one.get(position) {
                Some(set) => Cow::Borrowed(set),
                None => Cow::Owned(ValueSet::full(domain).into()),
            };
        }
        Cow::Owned(match self.boxes.iter().map(|b| b.get(position)).collect::<Option<Vec<_>>>() {
            Some(sets) => ColumnSet::union(sets, domain),
            None => ValueSet::full(domain).into(),
        })
    }

    /// Whether the boxes hold all that a column can hold.
    pub(crate) fn fills(&self, position: usize, space: &KeySpace) -> bool {
        // Sets in boxes are never full: so one box without a set there is, and one with a set alone is not.
        match self.boxes.iter().any(|b| b.get(position).is_none()) {
            true => true,
            false => self.boxes.len() > 1 && self.projection(position, space).is_full(space.domain(position)),
        }
    }
}
