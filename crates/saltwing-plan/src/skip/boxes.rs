//! The boxes that matter at a row, found among many.
//!
//! ```text
//! (a, c) IN ((1, 7), (1, 8), (3, 2), (9, 4))     key (a, b, c)
//!
//!   groups       a = 1: c = 7, c = 8     a = 3: c = 2     a = 9: c = 4
//!   at a = 3     its own, the next one (9), and the first one (1), for when the columns before a go on
//! ```
//!
//! # Law
//! The nearest row of any box, and the box that holds a row, are among [`Boxes::around`].

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use saltwing_types::{Direction, Value};

use crate::domain::Domain;
use crate::row_list::compare_in_key;
use crate::value_set::ValueSet;

/// Most boxes that are checked one by one, and most boxes of a group.
const CHECKED_MAX: usize = 16;

/// A set for each key column, and how many of them say anything.
#[derive(Clone, Debug)]
pub(super) struct SkipBox {
    pub(super) sets: Vec<Arc<ValueSet>>,
    pub(super) reach: usize,
}

/// Boxes, in groups if they are many.
#[derive(Debug)]
pub(super) struct Boxes {
    all: Vec<SkipBox>,
    /// The first column in which they are not the same, and the groups by their values of it, in key order.
    groups: Option<(usize, Vec<Range<usize>>)>,
}

impl Boxes {
    /// `None` if too many of them would have to be checked at some row.
    pub(super) fn new(mut all: Vec<SkipBox>, domains: &[Domain]) -> Option<Self> {
        if Self::are_few(all.len()) {
            return Some(Self { all, groups: None });
        }
        let first = all.first()?;
        let differs = |column: &usize| all.iter().any(|b| b.sets.get(*column) != first.sets.get(*column));
        let column = (0..domains.len()).find(differs)?;
        let domain = domains.get(column)?;
        if !all.iter().all(|b| b.value(column, domain).is_some()) {
            return None;
        }
        let compare = |a: &SkipBox, b: &SkipBox| match (a.value(column, domain), b.value(column, domain)) {
            (Some(a), Some(b)) => compare_in_key(a, b, domain),
            _ => Ordering::Equal,
        };
        all.sort_by(compare);
        let mut groups = Vec::new();
        for group in all.chunk_by(|a, b| compare(a, b).is_eq()) {
            let start = groups.last().map_or(0, |before: &Range<usize>| before.end);
            groups.push(start..start + group.len());
            if group.len() > CHECKED_MAX {
                return None;
            }
        }
        Some(Self { all, groups: Some((column, groups)) })
    }

    /// Whether so few boxes are checked one by one.
    pub(super) fn are_few(count: usize) -> bool {
        count <= CHECKED_MAX
    }

    /// The boxes that matter at a row.
    pub(super) fn around<'a>(
        &'a self,
        row: &[Value],
        domains: &[Domain],
        direction: Direction,
    ) -> impl Iterator<Item = &'a SkipBox> + use<'a> {
        let ranges = match &self.groups {
            None => [Some(0..self.all.len()), None, None],
            Some((column, groups)) => {
                let value = row.get(*column).zip(domains.get(*column));
                // Groups whose value comes before the row's, in key order, and those that do not come after it.
                let place = |is_before: fn(Ordering) -> bool| {
                    let is_before = |group: &Range<usize>| {
                        value.zip(self.all.get(group.start)).is_some_and(|((value, domain), b)| {
                            b.value(*column, domain).is_some_and(|own| is_before(compare_in_key(own, value, domain)))
                        })
                    };
                    groups.partition_point(is_before)
                };
                let (before, after) = (place(Ordering::is_lt), place(Ordering::is_le));
                let (own, next, first) = match direction {
                    Direction::Forward => (before..after, Some(after), Some(0)),
                    Direction::Reverse => (before..after, before.checked_sub(1), groups.len().checked_sub(1)),
                };
                let group = |at: usize| groups.get(at).cloned();
                let own = own.into_iter().next().and_then(group);
                let next = next.and_then(group);
                let first =
                    first.and_then(group).filter(|first| Some(first) != own.as_ref() && Some(first) != next.as_ref());
                [own, next, first]
            }
        };
        ranges.into_iter().flatten().flat_map(|range| self.all.get(range).unwrap_or_default())
    }
}

impl SkipBox {
    /// The one value that a column has in it.
    fn value<'a>(&'a self, column: usize, domain: &'a Domain) -> Option<&'a Value> {
        self.sets.get(column)?.as_single(domain)
    }
}
