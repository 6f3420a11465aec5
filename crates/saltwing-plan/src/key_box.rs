//! Boxes: a set of values for each key column.
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

mod join;

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_types::Value;

use crate::column_set::ColumnSet;
use crate::key_space::KeySpace;
use crate::row_list::RowList;
use crate::value_set::ValueSet;

pub(crate) use join::join;

/// A product of sets, one for each key column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct KeyBox {
    /// The columns that are not full, by position; none of the sets is empty.
    sets: Vec<(usize, ColumnSet)>,
    /// The combinations of values of the first columns, each of which also has a set here; `None`: all combinations of
    /// the sets.
    rows: Option<Arc<RowList>>,
}

impl KeyBox {
    /// The rows whose columns at these positions, ascending, hold these values.
    pub(crate) fn point(values: Vec<(usize, Value)>, space: &KeySpace) -> Self {
        let set = |(position, value)| {
            let domain = space.domain(position);
            let set = ValueSet::points(vec![value], domain);
            (!set.is_full(domain)).then(|| (position, set.into()))
        };
        Self { sets: values.into_iter().filter_map(set).collect(), rows: None }
    }

    /// The rows whose first columns have one of these rows of values; gives the list back where a column
    /// has all values that it can, so that there is no set to tell.
    pub(crate) fn of_rows(rows: RowList, space: &KeySpace) -> Result<Self, RowList> {
        let is_full = |(at, set): (usize, &ColumnSet)| set.is_full(space.domain(at));
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
    pub(crate) fn weight(&self) -> usize {
        self.rows.as_ref().map_or(1, |rows| rows.rows().len())
    }

    /// The box with its list of rows and its sets brought in line; `None` when no row is left.
    pub(crate) fn settled(mut self, space: &KeySpace) -> Option<Self> {
        let Some(rows) = self.rows.clone() else { return Some(self) };
        let sets: Vec<&ColumnSet> = (0..rows.width()).filter_map(|at| self.get(at)).collect();
        if sets.iter().zip(rows.sets()).all(|(ours, theirs)| ours.is_same(theirs)) {
            return Some(self);
        }
        let Some(sets) = sets.into_iter().map(ColumnSet::known).collect::<Option<Vec<_>>>() else {
            // Which of the rows are left is not known yet.
            self.rows = None;
            return Some(self);
        };
        let holds = |row: &[Value]| {
            row.iter().zip(&sets).enumerate().all(|(at, (value, set))| set.contains(value, space.domain(at)))
        };
        let kept = rows.filtered(space, holds);
        self.with_rows(kept)
    }

    /// The box with these rows, which are inside it; `None` without rows.
    fn with_rows(mut self, rows: RowList) -> Option<Self> {
        for ((_, set), own) in self.sets.iter_mut().zip(rows.sets()) {
            set.clone_from(own);
        }
        let count = rows.rows().len();
        self.rows = (count > 1).then(|| Arc::new(rows));
        (count > 0).then_some(self)
    }

    /// The rows with one column in a set, which is neither empty nor full.
    pub(crate) fn column(position: usize, set: ColumnSet) -> Self {
        Self { sets: vec![(position, set)], rows: None }
    }

    /// The set of the column at `position`; `None` when it is full.
    pub(crate) fn get(&self, position: usize) -> Option<&ColumnSet> {
        self.sets.binary_search_by_key(&position, |(at, _)| *at).ok().and_then(|i| self.sets.get(i)).map(|(_, set)| set)
    }

    /// The columns that are not full.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, &ColumnSet)> {
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

    /// Intersects one column with `set`; `false` if the result is empty.
    pub(crate) fn restrict(&mut self, position: usize, set: ColumnSet, space: &KeySpace) -> bool {
        let domain = space.domain(position);
        let at = self.sets.partition_point(|(other, _)| *other < position);
        match self.sets.get_mut(at).filter(|(other, _)| *other == position) {
            Some((_, ours)) => {
                let both = ours.intersect(&set, domain);
                let is_left = !both.is_empty();
                *ours = both;
                is_left
            }
            None if set.is_full(domain) => true,
            None => {
                let is_left = !set.is_empty();
                self.sets.insert(at, (position, set));
                is_left
            }
        }
    }

    /// The rows that are in both; `None` when there are none.
    pub(crate) fn intersect(&self, other: &KeyBox, space: &KeySpace) -> Option<KeyBox> {
        let mut sets = Vec::with_capacity(self.sets.len() + other.sets.len());
        let (mut a, mut b) = (self.sets.iter().peekable(), other.sets.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some((i, x)), Some((j, y))) if i == j => {
                    let both = if x.is_same(y) { x.clone() } else { x.intersect(y, space.domain(*i)) };
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

    /// Whether every row is inside.
    pub(crate) fn is_full(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether every row of `self` is in `other`.
    pub(crate) fn is_within(&self, other: &KeyBox, space: &KeySpace) -> bool {
        let in_sets = other.sets.iter().all(|(position, theirs)| {
            self.get(*position).is_some_and(|ours| ours.is_within(theirs, space.domain(*position)))
        });
        in_sets && other.rows.as_ref().is_none_or(|rows| self.has_rows_of(rows, space))
    }

    /// Whether a list of rows, or one row that the sets tell, is inside another list.
    fn has_rows_of(&self, rows: &Arc<RowList>, space: &KeySpace) -> bool {
        if let Some(own) = &self.rows {
            return Arc::ptr_eq(own, rows) || own.is_within(rows, space);
        }
        let value = |at: usize| self.get(at)?.known()?.as_single(space.domain(at)).cloned();
        (0..rows.width()).map(value).collect::<Option<Vec<_>>>().is_some_and(|row| rows.holds(&row, space))
    }

    /// See [`Cover::with_empty_as_null`](crate::cover::Cover::with_empty_as_null). With it the columns in which only one of
    /// NULL and '' was inside: other rows are inside only where one of them has no value. `None` if others may be anywhere.
    pub(crate) fn with_empty_as_null(self, apart: &KeySpace, space: &KeySpace) -> (KeyBox, Option<Vec<usize>>) {
        let (mut sets, mut rows, mut doubtful) = (Vec::with_capacity(self.sets.len()), self.rows, Some(Vec::new()));
        for (position, set) in self.sets {
            let domain = space.domain(position);
            let Some(empty) = domain.empty() else {
                sets.push((position, set));
                continue;
            };
            let (of_bytes, is_same) = set.with_empty_as_null(&empty, apart.domain(position));
            if let Some(doubtful) = doubtful.as_mut().filter(|_| !is_same) {
                doubtful.push(position);
            }
            let names_empty =
                |rows: &Arc<RowList>| rows.sets().get(position).is_some_and(|set| set.may_hold(&empty, domain));
            if rows.as_ref().is_some_and(names_empty) {
                (rows, doubtful) = (None, None);
            }
            if !of_bytes.is_full(domain) {
                sets.push((position, of_bytes));
            }
        }
        let key_box = KeyBox { sets, rows };
        // A list of rows shares its sets with the box, or it is brought in line.
        match key_box.rows.is_some() {
            true => match key_box.clone().settled(space) {
                Some(settled) => (settled, doubtful),
                None => (KeyBox { rows: None, ..key_box }, None),
            },
            false => (key_box, doubtful),
        }
    }

    /// The smallest box around both.
    pub(crate) fn hull(&self, other: &KeyBox, space: &KeySpace) -> KeyBox {
        let mut sets = Vec::with_capacity(self.sets.len());
        for (position, ours) in self.columns() {
            let Some(theirs) = other.get(position) else { continue };
            let domain = space.domain(position);
            if ours == theirs {
                sets.push((position, ours.clone()));
                continue;
            }
            let all = ColumnSet::union([ours, theirs], domain);
            if !all.is_full(domain) {
                sets.push((position, all));
            }
        }
        let rows = self.rows.clone().filter(|rows| Some(rows) == other.rows.as_ref());
        KeyBox { sets, rows }
    }
}
