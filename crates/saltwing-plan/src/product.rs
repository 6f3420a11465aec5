//! From a box to key ranges: lists of values for leading columns, then at most one
//! column of spans.
//!
//! ```text
//!            a          b            c
//!   box     {1, 2}    [3 .. 7]      {9}
//!   lists    1, 2                               multiplied out one at a time
//!   tail              (3, 9) .. (7, 9)          c closes the ends of b's span; it is checked inside
//! ```
//!
//! Keys that share values up to a span lie together, keys that share a value behind one
//! do not. So columns behind the first span only tighten its closed ends. A span of few
//! values becomes a list if the column behind it is bounded: BOOLEAN, TINYINT
//! confined to a range, a handful of integers.

use std::cmp::Ordering;
use std::ops;
use std::sync::Arc;

use saltwing_types::{SqlType, Value};

use crate::column_set::ColumnSet;
use crate::computed::Tie;
use crate::domain::Domain;
use crate::key_box::KeyBox;
use crate::key_form::key_form;
use crate::key_space::KeySpace;
use crate::row_list::compare_in_key;
use crate::span::{Cut, Span};
use crate::{PlanError, guard};

/// Most values of a BOOLEAN or TINYINT span that are stepped through one by one: all that it can have.
const STEPS_MAX: u64 = 256;
/// The same of any other type that counts its values.
const STEPS_MAX_WIDE: u64 = 16;
/// Most ranges that stepping makes of one, over all columns of a key.
const STEPPED_RANGES_MAX: u64 = 1024;

/// One end of a range in key order, over leading key columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct End {
    /// The values, logical ones, from the tail's column on.
    pub(crate) values: Vec<Value>,
    /// Whether the rows that begin with them are inside.
    pub(crate) included: bool,
}

/// A range of the tail's column, and of those behind it at its closed ends.
#[derive(Clone, Debug)]
pub(crate) struct TailSpan {
    /// First end in key order.
    pub(crate) first: End,
    /// Last end in key order.
    pub(crate) last: End,
    /// The span in value order, for ends that are open; `None` for NULL alone.
    pub(crate) values: Option<(ops::Bound<Value>, ops::Bound<Value>)>,
    /// Whether NULL lies inside.
    pub(crate) nulls: bool,
}

/// The values of one leading column.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// All of them; of a tied list one group after the other.
    values: Arc<[Value]>,
    follows: Option<Follows>,
}

/// A tied list has a group of values for each value of an earlier list.
#[derive(Clone, Debug)]
struct Follows {
    /// The earlier list.
    level: usize,
    /// Where the group of each of its values starts, and where the last one ends.
    starts: Arc<[usize]>,
}

/// The ranges of one box: each combination of the lists, with each span of the tail.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    /// Values of the leading columns, in key order, never empty.
    pub(crate) lists: Vec<List>,
    /// Spans of the next column, in key order; none: each combination is a prefix, or a whole key.
    pub(crate) tail: Vec<TailSpan>,
    /// Key columns that have a say in the ranges.
    pub(crate) reach: usize,
}

impl Product {
    /// The ranges of a box, some columns of which may be tied.
    pub(crate) fn new(key_box: &KeyBox, ties: &[Tie], space: &KeySpace) -> Self {
        let mut lists = bucket_lists(key_box, space).unwrap_or_default();
        let mut steps_left = STEPPED_RANGES_MAX;
        while lists.len() < space.len() {
            let position = lists.len();
            match points(key_box, position, space).or_else(|| steps(key_box, position, space, &mut steps_left)) {
                Some(values) => lists.push(List { values, follows: None }),
                None => break,
            }
        }
        if let Some(rows) = key_box.rows() {
            let positions: Vec<usize> = (0..rows.width()).collect();
            tie_lists(&mut lists, &positions, rows.rows(), space);
        }
        ties.iter().for_each(|tie| tie_lists(&mut lists, &tie.positions, &tie.combinations, space));
        let position = lists.len();
        let (tail, reach) = match key_box.get(position) {
            Some(set) if position < space.len() => tail(key_box, position, set, space),
            _ => (open_tail(key_box, position, space), position),
        };
        Self { lists, tail, reach }
    }

    /// Combinations of values alone.
    pub(crate) fn of_lists(lists: Vec<List>) -> Self {
        let reach = lists.len();
        Self { lists, tail: Vec::new(), reach }
    }

    /// Key columns whose sets the ranges hold exactly: the lists and the tail.
    pub(crate) fn columns(&self) -> usize {
        self.lists.len() + usize::from(!self.tail.is_empty())
    }

    /// Number of ranges, touching ones counted apart.
    pub(crate) fn size(&self) -> u128 {
        // The last of tied lists has a value for each combination of them.
        let is_last = |level: &usize| self.lists.iter().flat_map(|list| &list.follows).all(|f| f.level != *level);
        let lists = self.lists.iter().enumerate().filter(|(level, _)| is_last(level));
        let lists = lists.map(|(_, list)| list.values.len() as u128);
        lists.chain([self.tail.len().max(1) as u128]).fold(1, u128::saturating_mul)
    }

    /// The values of the list at `level` where the lists before it stand `at` these choices.
    pub(crate) fn choices(&self, level: usize, at: &[usize]) -> &[Value] {
        let Some(list) = self.lists.get(level) else { return &[] };
        let range = list.follows.as_ref().map(|follows| follows.group(self.choice(follows.level, at)));
        list.values.get(range.unwrap_or(0..list.values.len())).unwrap_or_default()
    }

    /// The number, among all values of the list at `level`, of the one chosen.
    fn choice(&self, level: usize, at: &[usize]) -> usize {
        let chosen = at.get(level).copied().unwrap_or_default();
        match self.lists.get(level).and_then(|list| list.follows.as_ref()) {
            Some(follows) => follows.group(self.choice(follows.level, at)).start + chosen,
            None => chosen,
        }
    }

    /// Checks once that every value has a key form, so that ranges can be made later without fail.
    pub(crate) fn check(&self, space: &KeySpace) -> Result<(), PlanError> {
        let check = |position: usize, value: &Value| {
            if position >= space.len() {
                return Ok(());
            }
            key_form(value, space.domain(position).ty(), space.column(position).ty).map(drop)
        };
        for (position, list) in self.lists.iter().enumerate() {
            list.values.iter().try_for_each(|value| check(position, value))?;
        }
        for span in &self.tail {
            for end in [&span.first, &span.last] {
                end.values.iter().enumerate().try_for_each(|(i, value)| check(self.lists.len() + i, value))?;
            }
        }
        Ok(())
    }
}

/// Lists of the columns that the salt covers, where small integer ranges among them can be told one by one and all
/// are fewer than the buckets: then fewer buckets are read.
///
/// ```text
/// key (a, b) in 16 buckets by a:   a BETWEEN 1 AND 3   reads a = 1, 2, 3 in at most 3 buckets, not a range in 16
/// ```
fn bucket_lists(key_box: &KeyBox, space: &KeySpace) -> Option<Vec<List>> {
    let salt = space.schema().salt.as_ref()?;
    let salted = salt.by.unwrap_or(space.len());
    let mut left = u64::from(salt.buckets).saturating_sub(1);
    let mut lists = Vec::with_capacity(salted);
    for position in 0..salted {
        let (set, domain) = (key_box.get(position)?, space.domain(position));
        // Of what a parameter bounds the size is not known yet.
        if set.is_unknown() && !set.is_list(domain) {
            return None;
        }
        let count = set.count(domain, left)?.max(1);
        left /= count;
        let values = set.spans().iter().flat_map(|span| domain.values(span)).collect();
        lists.push(List { values: in_key_order(values, set.has_null(), domain), follows: None });
    }
    Some(lists)
}

impl Follows {
    fn group(&self, choice: usize) -> ops::Range<usize> {
        let start = |at| self.starts.get(at).copied().unwrap_or_default();
        start(choice)..start(choice + 1)
    }
}

/// Makes the lists of tied columns follow each other: after a value of the one come only
/// those of the next that go with it.
///
/// ```text
///   combinations   ('1ff', '139')  ('eb1', '138')  ('eb1', '141')
///   lists          '1ff' 'eb1'
///                    │     └────┐
///                  '139' │ '138' '141'
/// ```
fn tie_lists(lists: &mut [List], positions: &[usize], combinations: &[Vec<Value>], space: &KeySpace) {
    let reached = positions.iter().take_while(|position| **position < lists.len()).count();
    let order = |a: &Vec<Value>, b: &Vec<Value>| {
        let pairs = positions.iter().zip(a.iter().zip(b)).take(reached);
        let mut orders = pairs.map(|(position, (a, b))| compare_in_key(a, b, space.domain(*position)));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut sorted: Vec<&Vec<Value>> = combinations.iter().collect();
    sorted.sort_by(|a, b| order(a, b));
    // Which value of the list before each combination goes with: all with one, before the first.
    let mut parents = vec![0; sorted.len()];
    let mut earlier: Option<usize> = None;
    for (depth, position) in positions.iter().enumerate().take(reached) {
        let (mut values, mut starts) = (Vec::new(), Vec::new());
        let mut last: Option<(usize, &Value)> = None;
        for (combination, parent) in sorted.iter().zip(&mut parents) {
            let Some(value) = combination.get(depth) else { continue };
            if last.is_none_or(|(of, _)| of != *parent) {
                starts.push(values.len());
            }
            if last.is_none_or(|(of, at)| of != *parent || compare_in_key(at, value, space.domain(*position)).is_ne()) {
                values.push(value.clone());
            }
            last = Some((*parent, value));
            *parent = values.len() - 1;
        }
        starts.push(values.len());
        let follows = earlier.map(|level| Follows { level, starts: starts.into() });
        if let Some(list) = lists.get_mut(*position) {
            *list = List { values: values.into(), follows };
        }
        earlier = Some(*position);
    }
}

/// The values of a column in key order, if they are a list.
fn points(key_box: &KeyBox, position: usize, space: &KeySpace) -> Option<Arc<[Value]>> {
    let set = key_box.get(position)?;
    let values = set.as_points(space.domain(position))?.into_iter().cloned().collect();
    Some(in_key_order(values, set.has_null(), space.domain(position)))
}

/// The values of a column in key order, if they are few and the next column is bounded.
fn steps(key_box: &KeyBox, position: usize, space: &KeySpace, steps_left: &mut u64) -> Option<Arc<[Value]>> {
    let domain = space.domain(position);
    if position + 1 >= space.len() || !guard::box_bounds(key_box, position + 1, space) {
        return None;
    }
    let full = ColumnSet::full(domain);
    let (set, limit) = match (key_box.get(position), domain.ty()) {
        (None, SqlType::Boolean) => (&full, STEPS_MAX),
        (None, _) => return None,
        (Some(set), SqlType::Boolean | SqlType::TinyInt | SqlType::UnsignedTinyInt) => (set.as_ref(), STEPS_MAX),
        (Some(set), _) => (set.as_ref(), STEPS_MAX_WIDE),
    };
    let count = set.count(domain, limit.min(*steps_left))?;
    *steps_left /= count.max(1);
    let values = set.spans().iter().flat_map(|span| domain.values(span)).collect();
    Some(in_key_order(values, set.has_null(), domain))
}

fn in_key_order(mut values: Vec<Value>, nulls: bool, domain: &Domain) -> Arc<[Value]> {
    if !domain.is_ascending() {
        values.reverse();
    }
    if nulls {
        values.insert(0, Value::Null);
    }
    values.into()
}

fn tail(key_box: &KeyBox, position: usize, set: &ColumnSet, space: &KeySpace) -> (Vec<TailSpan>, usize) {
    let domain = space.domain(position);
    let mut reach = position + 1;
    let mut closed = |mut first: End, mut last: End, values, nulls| {
        reach = reach.max(extend(&mut first, true, key_box, position, space));
        reach = reach.max(extend(&mut last, false, key_box, position, space));
        TailSpan { first, last, values, nulls }
    };
    let mut spans: Vec<TailSpan> = Vec::with_capacity(set.spans().len() + 1);
    let in_key_order: Vec<&Span> = match domain.is_ascending() {
        true => set.spans().iter().collect(),
        false => set.spans().iter().rev().collect(),
    };
    let mut nulls = set.has_null();
    let starts_open = in_key_order.first().is_some_and(|span| first_place(span, domain).is_none());
    if nulls && !starts_open {
        let null = || End { values: vec![Value::Null], included: true };
        spans.push(closed(null(), null(), None, true));
        nulls = false;
    }
    for span in in_key_order {
        // NULL stands before an open start, and is one range with it.
        let nulls = std::mem::take(&mut nulls);
        let (first, starts_open) = match first_place(span, domain) {
            Some(first) => (first, false),
            None => (open_start(nulls, domain), !nulls),
        };
        let last = last_place(span, domain).unwrap_or(End { values: Vec::new(), included: true });
        let values = Some((lower(&span.lo), upper(&span.hi)));
        let mut tail = closed(first, last, values, nulls);
        if let Some(first) = smallest_start(key_box, position, space).filter(|_| starts_open) {
            tail.first = first;
        }
        spans.push(tail);
    }
    (spans, reach)
}

/// The tail of a column without a set that cannot be NULL, where the columns behind it leave out some of its first rows.
fn open_tail(key_box: &KeyBox, position: usize, space: &KeySpace) -> Vec<TailSpan> {
    if position >= space.len() || space.domain(position).nullable() {
        return Vec::new();
    }
    let first = smallest_start(key_box, position, space);
    let last = End { values: Vec::new(), included: true };
    let values = Some((ops::Bound::Unbounded, ops::Bound::Unbounded));
    first.map(|first| TailSpan { first, last, values, nulls: false }).into_iter().collect()
}

/// Where a span without a first end starts as the columns behind it have it: at the column's smallest
/// value, if there is one, and theirs.
fn smallest_start(key_box: &KeyBox, position: usize, space: &KeySpace) -> Option<End> {
    let smallest = space.domain(position).first_text()?;
    // What a parameter bounds is not known yet.
    if (position + 1..space.len()).any(|next| key_box.get(next).is_some_and(|set| set.is_unknown())) {
        return None;
    }
    let mut first = End { values: vec![smallest], included: true };
    extend(&mut first, true, key_box, position, space);
    (first.values.len() > 1).then_some(first)
}

/// Where a span without a first end starts: at NULL, behind NULL, or where the prefix does.
fn open_start(nulls: bool, domain: &Domain) -> End {
    match (nulls, domain.nullable()) {
        (true, _) => End { values: vec![Value::Null], included: true },
        (false, true) => End { values: vec![Value::Null], included: false },
        (false, false) => End { values: Vec::new(), included: true },
    }
}

/// Adds to a closed end what the columns behind allow there; gives how many columns have a say then.
fn extend(end: &mut End, is_first: bool, key_box: &KeyBox, position: usize, space: &KeySpace) -> usize {
    let mut reach = position + 1;
    for next in position + 1..space.len() {
        let Some(set) = key_box.get(next) else { break };
        if !end.included || end.values.is_empty() {
            break;
        }
        let domain = space.domain(next);
        let place = if is_first { set_first(set, domain) } else { set_last(set, domain) };
        let Some(place) = place else { break };
        end.values.extend(place.values);
        end.included = place.included;
        reach = next + 1;
    }
    reach
}

/// The first value of a set in key order; `None` when it starts where the column does.
fn set_first(set: &ColumnSet, domain: &Domain) -> Option<End> {
    if set.has_null() {
        return Some(End { values: vec![Value::Null], included: true });
    }
    let span = if domain.is_ascending() { set.spans().first() } else { set.spans().last() };
    first_place(span?, domain)
}

/// The last value of a set in key order; `None` when it ends where the column does.
fn set_last(set: &ColumnSet, domain: &Domain) -> Option<End> {
    let span = if domain.is_ascending() { set.spans().last() } else { set.spans().first() };
    match span {
        Some(span) => last_place(span, domain),
        None => Some(End { values: vec![Value::Null], included: true }),
    }
}

fn first_place(span: &Span, domain: &Domain) -> Option<End> {
    cut_place(if domain.is_ascending() { &span.lo } else { &span.hi }, domain.is_ascending())
}

fn last_place(span: &Span, domain: &Domain) -> Option<End> {
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
