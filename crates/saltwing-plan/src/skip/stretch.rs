//! Where regions of one box begin and end, as values.

use std::sync::Arc;

use saltwing_types::{Direction, Value};

use crate::domain::Domain;
use crate::product::{End, set_first, set_last, span_first, span_last};
use crate::span::Span;
use crate::value_set::ValueSet;

/// A place among the rows in key order: before, or after, those that begin with some values.
#[derive(Debug, PartialEq)]
pub(super) struct Typed {
    pub(super) values: Vec<Value>,
    pub(super) after: bool,
}

/// A row compared with the sets of a box.
pub(super) struct Places<'a> {
    pub(super) sets: &'a [Arc<ValueSet>],
    pub(super) domains: &'a [Domain],
    /// The values of the columns that have a say.
    pub(super) row: &'a [Value],
    pub(super) direction: Direction,
}

impl Places<'_> {
    /// The first column before `reach` whose value is outside its set.
    pub(super) fn outside(&self, reach: usize) -> Option<usize> {
        let columns = self.row.iter().zip(self.sets).zip(self.domains).take(reach);
        columns.enumerate().find(|(_, ((value, set), domain))| !set.contains(value, domain)).map(|(column, _)| column)
    }

    /// The end of the rows that share all columns before the last of `reach` with this one, which is in the box, and
    /// the span of that column. `None`: the end of the keys.
    pub(super) fn end_of_stretch(&self, reach: usize) -> Option<Typed> {
        let column = reach.checked_sub(1)?;
        let (set, domain, value) = (self.sets.get(column)?, self.domains.get(column)?, self.row.get(column)?);
        let last = match value {
            Value::Null => Some(End { values: vec![Value::Null], included: true }),
            value => set.span_of(value, domain).and_then(|span| self.last(span, domain)),
        };
        let last = match last {
            // NULLs come after all values in reverse, and do not belong to these.
            None if self.direction == Direction::Reverse && domain.nullable() && !set.has_null() => {
                End { values: vec![Value::Null], included: false }
            }
            None => End { values: Vec::new(), included: true },
            Some(last) => last,
        };
        let values = self.prefix(column).chain(last.values).collect();
        Some(Typed { values, after: last.included == (self.direction == Direction::Forward) })
    }

    /// The nearest row of the box after this one, which is outside because of `column`; `None` if there is none.
    pub(super) fn next_from(&self, column: usize) -> Option<Typed> {
        // If a column has no further value, the one before it advances.
        (0..=column).rev().find_map(|column| {
            let (set, domain, value) = (self.sets.get(column)?, self.domains.get(column)?, self.row.get(column)?);
            let mut end = self.following(set, value, domain)?;
            self.extend(&mut end, column + 1);
            let values = self.prefix(column).chain(end.values).collect();
            Some(Typed { values, after: end.included != (self.direction == Direction::Forward) })
        })
    }

    fn prefix(&self, columns: usize) -> impl Iterator<Item = Value> {
        self.row.iter().take(columns).cloned()
    }

    /// The next element of a set after a value: a value of it, or a span that starts right after the value.
    fn following(&self, set: &ValueSet, value: &Value, domain: &Domain) -> Option<End> {
        let up = self.goes_up(domain);
        if value.is_null() {
            // NULL is the first in the key, and so the last in reverse.
            let next = if up { set.spans().first() } else { set.spans().last() };
            let next = next.filter(|_| self.direction == Direction::Forward)?;
            return Some(self.first(next, domain).unwrap_or(End { values: vec![Value::Null], included: false }));
        }
        let spans = set.spans();
        let next = match up {
            true => spans.get(spans.partition_point(|span| !span.goes_above(value, domain))),
            false => spans.get(..spans.partition_point(|span| span.goes_below(value, domain))).and_then(<[_]>::last),
        };
        match next {
            Some(span) if span.contains(value, domain) => Some(match domain.neighbour(value, up) {
                Some(neighbour) => End { values: vec![neighbour], included: true },
                None => End { values: vec![value.clone()], included: false },
            }),
            Some(span) => self.first(span, domain),
            None if self.direction == Direction::Reverse && set.has_null() => {
                Some(End { values: vec![Value::Null], included: true })
            }
            None => None,
        }
    }

    /// Adds to a closed end where the columns after it begin.
    fn extend(&self, end: &mut End, from: usize) {
        for (set, domain) in self.sets.iter().zip(self.domains).skip(from) {
            let place = match self.direction {
                _ if !end.included => None,
                Direction::Forward => set_first(set, domain),
                Direction::Reverse => set_last(set, domain),
            };
            let Some(place) = place else { return };
            end.values.extend(place.values);
            end.included = place.included;
        }
    }

    /// Whether values grow in the direction of travel.
    fn goes_up(&self, domain: &Domain) -> bool {
        domain.is_ascending() == (self.direction == Direction::Forward)
    }

    fn first(&self, span: &Span, domain: &Domain) -> Option<End> {
        if self.direction == Direction::Forward { span_first(span, domain) } else { span_last(span, domain) }
    }

    fn last(&self, span: &Span, domain: &Domain) -> Option<End> {
        if self.direction == Direction::Forward { span_last(span, domain) } else { span_first(span, domain) }
    }
}
