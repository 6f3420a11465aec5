//! Boxes: a set of values for each key column, and unions of boxes.
//!
//! ```text
//!            a          b           c
//!   box 1   {1, 2}     [3 .. 7]     *          a IN (1, 2) AND b BETWEEN 3 AND 7
//!   box 2   {9}         *          {NULL}      a = 9 AND c IS NULL
//! ```
//!
//! A box holds the rows whose key columns each lie in the box's set: a product
//! that is never multiplied out. AND intersects boxes pair by pair, OR appends
//! them; boxes that differ in one column only are joined into one.
//!
//! # Laws
//! A [`Cover`] of a condition holds every row for which the condition has the
//! outcome that was asked for; when it is exact, it holds no other row.
//! `intersect` and `union` of covers are covers of AND and OR.

mod fit;
mod join;

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_types::Value;

use crate::coalesce_boxes::merge_nearest;
use crate::column_set::ColumnSet;
use crate::key_box::join::join;
use crate::key_space::KeySpace;
use crate::row_list::RowList;

pub(crate) use fit::Fit;

/// Most boxes that an AND of ORs makes. Beyond it the nearest are merged, loosely;
/// a condition that has more boxes by itself, such as a list of 10,000 row values, keeps them.
pub(crate) const BOXES_MAX: usize = 1000;
/// Most pairs of boxes, or of boxes and listed rows, that an AND looks at before it merges the boxes of one side.
const PAIRS_MAX: usize = 1_000_000;

/// A product of sets, one for each key column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct KeyBox {
    /// The columns that are not full, by position; none of the sets is empty.
    sets: Vec<(usize, Arc<ColumnSet>)>,
    /// Rows that the first columns have, each of which has a set here; `None`: all combinations of the sets.
    rows: Option<Arc<RowList>>,
}

impl KeyBox {
    /// The rows whose columns at these positions, ascending, hold these values.
    pub(crate) fn point(values: Vec<(usize, Value)>, space: &KeySpace) -> Self {
        let set = |(position, value)| {
            let domain = space.domain(position);
            let set = ColumnSet::points(vec![value], domain);
            (!set.is_full(domain)).then(|| (position, Arc::new(set)))
        };
        Self { sets: values.into_iter().filter_map(set).collect(), rows: None }
    }

    /// The rows whose first columns have one of these rows of values; gives the list back where a column
    /// has all values that it can, so that there is no set to tell.
    pub(crate) fn of_rows(rows: RowList, space: &KeySpace) -> Result<Self, RowList> {
        let is_full = |(at, set): (usize, &Arc<ColumnSet>)| set.is_full(space.domain(at));
        if rows.rows().is_empty() || rows.sets().iter().enumerate().any(is_full) {
            return Err(rows);
        }
        Ok(Self { sets: rows.sets().iter().cloned().enumerate().collect(), rows: Some(Arc::new(rows)) })
    }

    /// The rows that the first columns have, where they do not have all combinations of their sets.
    pub(crate) fn rows(&self) -> Option<&RowList> {
        self.rows.as_deref()
    }

    /// One, or as many as the rows that it lists.
    fn weight(&self) -> usize {
        self.rows.as_ref().map_or(1, |rows| rows.rows().len())
    }

    /// The box with its list of rows and its sets brought in line; `None` when no row is left.
    pub(crate) fn settled(mut self, space: &KeySpace) -> Option<Self> {
        let Some(rows) = self.rows.clone() else { return Some(self) };
        let sets: Vec<&Arc<ColumnSet>> = (0..rows.width()).filter_map(|at| self.get(at)).collect();
        if sets.iter().zip(rows.sets()).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs)) {
            return Some(self);
        }
        if sets.iter().any(|set| set.is_unknown()) {
            // What is made up excludes none of the rows, and they do not exclude it.
            self.rows = None;
            return Some(self);
        }
        let holds = |row: &[Value]| {
            row.iter().zip(&sets).enumerate().all(|(at, (value, set))| set.contains(value, space.domain(at)))
        };
        let kept = rows.filtered(space, holds);
        self.with_rows(kept)
    }

    /// The box with these rows, which lie inside it; `None` when there are none.
    fn with_rows(mut self, rows: RowList) -> Option<Self> {
        for ((_, set), own) in self.sets.iter_mut().zip(rows.sets()) {
            *set = Arc::clone(own);
        }
        let count = rows.rows().len();
        self.rows = (count > 1).then(|| Arc::new(rows));
        (count > 0).then_some(self)
    }

    /// The rows with one column in a set, which is neither empty nor full.
    pub(crate) fn column(position: usize, set: ColumnSet) -> Self {
        Self { sets: vec![(position, Arc::new(set))], rows: None }
    }

    /// The set of the column at `position`; `None` when it is full.
    pub(crate) fn get(&self, position: usize) -> Option<&Arc<ColumnSet>> {
        self.sets.binary_search_by_key(&position, |(at, _)| *at).ok().and_then(|i| self.sets.get(i)).map(|(_, set)| set)
    }

    /// The columns that are not full.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, &Arc<ColumnSet>)> {
        self.sets.iter().map(|(position, set)| (*position, set))
    }

    /// The first `count` columns of the box, the others full.
    pub(crate) fn truncated(&self, count: usize) -> Cow<'_, Self> {
        let kept = self.sets.iter().take_while(|(position, _)| *position < count).count();
        match self.sets.get(..kept) {
            Some(sets) if kept < self.sets.len() => {
                let rows = self.rows.clone().filter(|rows| rows.width() <= count);
                Cow::Owned(Self { sets: sets.to_vec(), rows })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Keeps of one column only what is in `set`; `false` when nothing is.
    pub(crate) fn restrict(&mut self, position: usize, set: ColumnSet, space: &KeySpace) -> bool {
        let domain = space.domain(position);
        let at = self.sets.partition_point(|(other, _)| *other < position);
        match self.sets.get_mut(at).filter(|(other, _)| *other == position) {
            Some((_, ours)) => {
                let both = ours.intersect(&set, domain);
                let is_left = !both.is_empty();
                *ours = Arc::new(both);
                is_left
            }
            None if set.is_full(domain) => true,
            None => {
                let is_left = !set.is_empty();
                self.sets.insert(at, (position, Arc::new(set)));
                is_left
            }
        }
    }

    fn intersect(&self, other: &KeyBox, space: &KeySpace) -> Option<KeyBox> {
        let mut sets = Vec::with_capacity(self.sets.len() + other.sets.len());
        let (mut a, mut b) = (self.sets.iter().peekable(), other.sets.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some((i, x)), Some((j, y))) if i == j => {
                    let both =
                        if Arc::ptr_eq(x, y) { Arc::clone(x) } else { Arc::new(x.intersect(y, space.domain(*i))) };
                    if both.is_empty() {
                        return None;
                    }
                    b.next();
                    a.next().map(|(position, _)| (*position, both))
                }
                (Some((i, _)), Some((j, _))) if i > j => b.next().cloned(),
                (Some(_), _) => a.next().cloned(),
                (None, Some(_)) => b.next().cloned(),
                (None, None) => break,
            };
            sets.extend(next);
        }
        match (&self.rows, &other.rows) {
            (Some(a), Some(b)) if !Arc::ptr_eq(a, b) => {
                let both = a.intersect(b, space);
                let is_left = !both.rows().is_empty();
                is_left.then(|| KeyBox { sets, rows: Some(Arc::new(both)) }).and_then(|both| both.settled(space))
            }
            (None, None) => Some(KeyBox { sets, rows: None }),
            (rows @ Some(_), _) | (None, rows) => KeyBox { sets, rows: rows.clone() }.settled(space),
        }
    }

    /// Whether every row of `self` is in `other`.
    pub(crate) fn is_within(&self, other: &KeyBox, space: &KeySpace) -> bool {
        let in_sets = other.sets.iter().all(|(position, theirs)| {
            self.get(*position)
                .is_some_and(|ours| Arc::ptr_eq(ours, theirs) || ours.is_within(theirs, space.domain(*position)))
        });
        in_sets && other.rows.as_ref().is_none_or(|rows| self.has_rows_of(rows, space))
    }

    /// Whether a list of rows, or one row that the sets tell, is inside another list.
    fn has_rows_of(&self, rows: &Arc<RowList>, space: &KeySpace) -> bool {
        if let Some(own) = &self.rows {
            return Arc::ptr_eq(own, rows) || own.is_within(rows, space);
        }
        let value = |at: usize| self.get(at).and_then(|set| set.as_single(space.domain(at)).cloned());
        (0..rows.width()).map(value).collect::<Option<Vec<_>>>().is_some_and(|row| rows.holds(&row, space))
    }

    /// The smallest box around both.
    pub(crate) fn hull(&self, other: &KeyBox, space: &KeySpace) -> KeyBox {
        let mut sets = Vec::with_capacity(self.sets.len());
        for (position, ours) in self.columns() {
            let Some(theirs) = other.get(position) else { continue };
            let domain = space.domain(position);
            if Arc::ptr_eq(ours, theirs) || ours == theirs {
                sets.push((position, Arc::clone(ours)));
                continue;
            }
            let all = ColumnSet::union([ours.as_ref(), theirs.as_ref()], domain);
            if !all.is_full(domain) {
                sets.push((position, Arc::new(all)));
            }
        }
        let rows = self.rows.clone().filter(|rows| Some(rows) == other.rows.as_ref());
        KeyBox { sets, rows }
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

    /// Whether all rows of these boxes, which lie inside the cover, are among those that are asked for.
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
        self.boxes.iter().any(|b| b.sets.is_empty())
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
        let weight_max = BOXES_MAX.max(self.weight()).max(other.weight());
        let (small, large) = if self.boxes.len() <= other.boxes.len() { (self, other) } else { (other, self) };
        let steps = |a: &Cover, b: &Cover| a.weight().saturating_mul(b.boxes.len());
        if steps(small, large).max(steps(large, small)) > PAIRS_MAX {
            let room = (PAIRS_MAX / small.weight().max(1)).max(1);
            if small.boxes.len() > BOXES_MAX {
                return small.coarsened(BOXES_MAX, space).intersect(&large.coarsened(BOXES_MAX, space), space);
            } else if large.boxes.len() > room {
                return small.intersect(&large.coarsened(room, space), space);
            }
        }
        let boxes: Vec<KeyBox> =
            self.boxes.iter().flat_map(|a| other.boxes.iter().filter_map(move |b| a.intersect(b, space))).collect();
        let fit = if boxes.is_empty() { Fit::Exact } else { self.fit.clone().and(&other.fit) };
        let both = Cover {
            boxes: if self.boxes.len() > 1 && other.boxes.len() > 1 { join(boxes, space) } else { boxes },
            fit,
        };
        if both.weight() <= weight_max {
            return both;
        }
        let heaviest = both.boxes.iter().map(KeyBox::weight).max().unwrap_or(1);
        both.coarsened(weight_max / heaviest.max(1), space).into_owned()
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

    /// What the boxes hold of one column.
    pub(crate) fn projection(&self, position: usize, space: &KeySpace) -> Cow<'_, ColumnSet> {
        let domain = space.domain(position);
        if let [one] = self.boxes.as_slice() {
            return match one.get(position) {
                Some(set) => Cow::Borrowed(set.as_ref()),
                None => Cow::Owned(ColumnSet::full(domain)),
            };
        }
        Cow::Owned(match self.boxes.iter().map(|b| b.get(position)).collect::<Option<Vec<_>>>() {
            Some(sets) => ColumnSet::union(sets.into_iter().map(AsRef::as_ref), domain),
            None => ColumnSet::full(domain),
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
