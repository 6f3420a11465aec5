//! The last part of a product: the spans of its first column that is no list, with ends closed by later columns.

use std::ops;

use saltwing_types::Value;

use crate::column_set::ColumnSet;
use crate::domain::Domain;
use crate::extent::reach_of_end;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::span::{Cut, Span};
use crate::value_set::ValueSet;

/// One end of a range in key order, over leading key columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct End {
    /// The values, logical ones, from the tail's column on.
    pub(crate) values: Vec<Value>,
    /// Whether the rows that begin with them are inside.
    pub(crate) included: bool,
}

/// A range of the tail's column, and of later columns at its closed ends.
#[derive(Clone, Debug)]
pub(crate) struct TailSpan {
    /// First end in key order.
    pub(crate) first: End,
    /// Last end in key order.
    pub(crate) last: End,
    /// The span in value order, for ends that are open; `None` for NULL alone.
    pub(crate) values: Option<(ops::Bound<Value>, ops::Bound<Value>)>,
    /// Whether NULL is inside.
    pub(crate) nulls: bool,
}

/// The spans of the first column that is no list.
pub(super) struct Tail {
    /// In key order; `None` if values that are not known yet have a say in them.
    pub(super) spans: Option<Vec<TailSpan>>,
    /// Whether there are any.
    pub(super) has_spans: bool,
    /// How many columns of the key have a say in the ranges.
    pub(super) reach: usize,
    /// Whether there is one span at most, or none.
    pub(super) is_one: bool,
}

impl Tail {
    fn of_spans(spans: Vec<TailSpan>, reach: usize) -> Self {
        Self { has_spans: !spans.is_empty(), reach, is_one: spans.len() <= 1, spans: Some(spans) }
    }
}

/// The tail of a box whose lists end before the column at `position`.
pub(super) fn tail(key_box: &KeyBox, position: usize, space: &KeySpace) -> Tail {
    match key_box.get(position) {
        Some(ColumnSet::Known(set)) => known_tail(key_box, position, set, space),
        Some(ColumnSet::Open(set)) => {
            let reach = [true, false].map(|is_first| reach_of_end(key_box, position, is_first, space));
            let (_, _, is_one) = set.shape().spread.ends();
            let reach = reach.into_iter().fold(position + 1, usize::max);
            Tail { spans: None, has_spans: true, reach, is_one }
        }
        None => Tail::of_spans(open_tail(key_box, position, space), position),
    }
}

/// The spans of a column whose values are known, with ends closed by later columns.
fn known_tail(key_box: &KeyBox, position: usize, set: &ValueSet, space: &KeySpace) -> Tail {
    let domain = space.domain(position);
    let (mut reach, mut is_open) = (position + 1, false);
    let mut closed = |mut first: End, mut last: End, values, nulls| {
        for (end, is_first) in [(&mut first, true), (&mut last, false)] {
            let (columns, meets_open) = extend(end, is_first, key_box, position, space);
            (reach, is_open) = (reach.max(columns), is_open || meets_open);
        }
        TailSpan { first, last, values, nulls }
    };
    let mut spans: Vec<TailSpan> = Vec::with_capacity(set.spans().len() + 1);
    let in_key_order: Vec<&Span> = match domain.is_ascending() {
        true => set.spans().iter().collect(),
        false => set.spans().iter().rev().collect(),
    };
    let mut nulls = set.has_null();
    let starts_open = in_key_order.first().is_some_and(|span| span_first(span, domain).is_none());
    if nulls && !starts_open {
        let null = || End { values: vec![Value::Null], included: true };
        spans.push(closed(null(), null(), None, true));
        nulls = false;
    }
    for span in in_key_order {
        // NULL is before an open start, and forms one range with it.
        let nulls = std::mem::take(&mut nulls);
        let (first, starts_open) = match span_first(span, domain) {
            Some(first) => (first, false),
            None => (open_start(nulls, domain), !nulls),
        };
        let last = span_last(span, domain).unwrap_or(End { values: Vec::new(), included: true });
        let values = Some((lower(&span.lo), upper(&span.hi)));
        let mut tail = closed(first, last, values, nulls);
        if let Some(first) = smallest_start(key_box, position, space).filter(|_| starts_open) {
            tail.first = first;
        }
        spans.push(tail);
    }
    let tail = Tail::of_spans(spans, reach);
    Tail { spans: tail.spans.filter(|_| !is_open), ..tail }
}

/// The tail of a column without a set that cannot be NULL, where later columns leave out some of its first rows.
fn open_tail(key_box: &KeyBox, position: usize, space: &KeySpace) -> Vec<TailSpan> {
    if position >= space.len() || space.domain(position).nullable() {
        return Vec::new();
    }
    let first = smallest_start(key_box, position, space);
    let last = End { values: Vec::new(), included: true };
    let values = Some((ops::Bound::Unbounded, ops::Bound::Unbounded));
    first.map(|first| TailSpan { first, last, values, nulls: false }).into_iter().collect()
}

/// Where later columns let a span without a first end start: at the column's smallest value, if there
/// is one, and theirs.
fn smallest_start(key_box: &KeyBox, position: usize, space: &KeySpace) -> Option<End> {
    let smallest = space.domain(position).first_text()?;
    if (position + 1..space.len()).any(|next| key_box.get(next).is_some_and(ColumnSet::is_open)) {
        return None;
    }
    let mut first = End { values: vec![smallest], included: true };
    extend(&mut first, true, key_box, position, space);
    (first.values.len() > 1).then_some(first)
}

/// Where a span without a first end starts: at NULL, after NULL, or where the prefix does.
fn open_start(nulls: bool, domain: &Domain) -> End {
    match (nulls, domain.nullable()) {
        (true, _) => End { values: vec![Value::Null], included: true },
        (false, true) => End { values: vec![Value::Null], included: false },
        (false, false) => End { values: Vec::new(), included: true },
    }
}

/// Extends a closed end by the bounds of the columns after it, up to a bound that is not known yet. Returns the number of
/// columns that have a say, and whether such a bound is among them.
fn extend(end: &mut End, is_first: bool, key_box: &KeyBox, position: usize, space: &KeySpace) -> (usize, bool) {
    let mut reach = position + 1;
    for next in position + 1..space.len() {
        let Some(set) = key_box.get(next) else { break };
        if !end.included || end.values.is_empty() {
            break;
        }
        let domain = space.domain(next);
        let ColumnSet::Known(set) = set else {
            let columns = reach_of_end(key_box, next, is_first, space);
            return (reach.max(columns), columns > next);
        };
        let place = if is_first { set_first(set, domain) } else { set_last(set, domain) };
        let Some(place) = place else { break };
        end.values.extend(place.values);
        end.included = place.included;
        reach = next + 1;
    }
    (reach, false)
}

/// The first value of a set in key order; `None` when it starts where the column does.
pub(crate) fn set_first(set: &ValueSet, domain: &Domain) -> Option<End> {
    if set.has_null() {
        return Some(End { values: vec![Value::Null], included: true });
    }
    let span = if domain.is_ascending() { set.spans().first() } else { set.spans().last() };
    span_first(span?, domain)
}

/// The last value of a set in key order; `None` when it ends where the column does.
pub(crate) fn set_last(set: &ValueSet, domain: &Domain) -> Option<End> {
    let span = if domain.is_ascending() { set.spans().last() } else { set.spans().first() };
    match span {
        Some(span) => span_last(span, domain),
        None => Some(End { values: vec![Value::Null], included: true }),
    }
}

/// The first value of a span in key order; `None` when it starts where the column does.
pub(crate) fn span_first(span: &Span, domain: &Domain) -> Option<End> {
    cut_place(if domain.is_ascending() { &span.lo } else { &span.hi }, domain.is_ascending())
}

/// The last value of a span in key order; `None` when it ends where the column does.
pub(crate) fn span_last(span: &Span, domain: &Domain) -> Option<End> {
    cut_place(if domain.is_ascending() { &span.hi } else { &span.lo }, !domain.is_ascending())
}

/// An end of a span by its cut: the value is inside where the cut is on its far side.
fn cut_place(cut: &Cut, is_low: bool) -> Option<End> {
    match cut {
        Cut::Before(value) => Some(End { values: vec![value.clone()], included: is_low }),
        Cut::After(value) => Some(End { values: vec![value.clone()], included: !is_low }),
        Cut::Low | Cut::High => None,
    }
}

fn lower(cut: &Cut) -> ops::Bound<Value> {
    match cut {
        Cut::Before(value) => ops::Bound::Included(value.clone()),
        Cut::After(value) => ops::Bound::Excluded(value.clone()),
        Cut::Low | Cut::High => ops::Bound::Unbounded,
    }
}

fn upper(cut: &Cut) -> ops::Bound<Value> {
    match cut {
        Cut::Before(value) => ops::Bound::Excluded(value.clone()),
        Cut::After(value) => ops::Bound::Included(value.clone()),
        Cut::Low | Cut::High => ops::Bound::Unbounded,
    }
}
