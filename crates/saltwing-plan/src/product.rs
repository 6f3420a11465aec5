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
//! Keys that share the values before a span are adjacent; keys that share a value after a span are not. So columns
//! after the first span only tighten its closed ends. A span of few values becomes a list if the next column is
//! bounded: BOOLEAN, TINYINT confined to a range, a handful of integers.

mod tail;

use std::cmp::Ordering;
use std::ops;
use std::sync::Arc;

use saltwing_types::key_form::key_form;
use saltwing_types::{SqlType, Value};

use crate::column_set::ColumnSet;
use crate::computed::Tie;
use crate::domain::Domain;
use crate::extent::Extent;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::product::tail::tail;
use crate::row_list::compare_in_key;
use crate::value_set::ValueSet;
use crate::{PlanError, guard};

pub(crate) use tail::{End, TailSpan, set_first, set_last, span_first, span_last};

/// Most values of a BOOLEAN or TINYINT span that are stepped through one by one: all that it can have.
const STEPS_MAX: u64 = 256;
/// The same of any other type that counts its values.
const STEPS_MAX_WIDE: u64 = 16;
/// Most ranges that stepping makes of one, over all columns of a key.
const STEPPED_RANGES_MAX: u64 = 1024;

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
}

/// The values of one leading column, or how many there are at most before they are known.
enum Level {
    Known(List),
    Open(usize),
}

impl Level {
    fn of_values(values: Arc<[Value]>) -> Self {
        Self::Known(List { values, follows: None })
    }

    fn is_one(&self) -> bool {
        match self {
            Self::Known(list) => list.values.len() <= 1,
            Self::Open(count) => *count <= 1,
        }
    }

    fn into_list(self) -> Option<List> {
        if let Self::Known(list) = self { Some(list) } else { None }
    }
}

/// How far the ranges of boxes reach, whose columns may be tied, and the ranges themselves; `None` if values that are not
/// known yet have a say in those of any box.
pub(crate) fn products(boxes: &[KeyBox], ties: &[Vec<Tie>], space: &KeySpace) -> (Vec<Extent>, Option<Arc<[Product]>>) {
    let each = boxes.iter().zip(ties).map(|(key_box, ties)| product(key_box, ties, space));
    let (extents, products): (Vec<Extent>, Vec<Option<Product>>) = each.unzip();
    (extents, products.into_iter().collect())
}

/// The ranges of a box, whose columns may be tied.
fn product(key_box: &KeyBox, ties: &[Tie], space: &KeySpace) -> (Extent, Option<Product>) {
    let levels = levels(key_box, space);
    let (lists, is_one) = (levels.len(), levels.iter().all(Level::is_one));
    let tail = tail(key_box, lists, space);
    let is_one = is_one && tail.is_one;
    let extent = Extent { lists, columns: lists + usize::from(tail.has_spans), reach: tail.reach, is_one };
    let lists = levels.into_iter().map(Level::into_list).collect::<Option<Vec<_>>>();
    let product = lists.zip(tail.spans).map(|(mut lists, tail)| {
        if let Some(rows) = key_box.rows() {
            let positions: Vec<usize> = (0..rows.width()).collect();
            tie_lists(&mut lists, &positions, rows.rows(), space);
        }
        ties.iter().for_each(|tie| tie_lists(&mut lists, &tie.positions, &tie.combinations, space));
        Product { lists, tail }
    });
    (extent, product)
}

/// The leading columns that are lists.
fn levels(key_box: &KeyBox, space: &KeySpace) -> Vec<Level> {
    let mut levels = bucket_lists(key_box, space).unwrap_or_default();
    let mut steps_left = STEPPED_RANGES_MAX;
    while levels.len() < space.len() {
        let position = levels.len();
        let level = match key_box.get(position) {
            Some(ColumnSet::Open(set)) => set.shape().point_count().map(Level::Open),
            _ => points(key_box, position, space)
                .or_else(|| steps(key_box, position, space, &mut steps_left))
                .map(Level::of_values),
        };
        match level {
            Some(level) => levels.push(level),
            None => break,
        }
    }
    levels
}

impl Product {
    /// Combinations of values alone.
    pub(crate) fn of_lists(lists: Vec<List>) -> Self {
        Self { lists, tail: Vec::new() }
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
            let (ty, key_ty) = (space.domain(position).ty(), space.column(position).ty);
            key_form(value, ty, key_ty).map(drop).map_err(|_| PlanError::NoKeyForm { ty, key_ty })
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

/// Lists of the columns that the salt covers, if small integer ranges among them can be enumerated and give fewer
/// values than buckets: then fewer buckets are read.
///
/// ```text
/// key (a, b) in 16 buckets by a:   a BETWEEN 1 AND 3   reads a = 1, 2, 3 in at most 3 buckets, not a range in 16
/// ```
fn bucket_lists(key_box: &KeyBox, space: &KeySpace) -> Option<Vec<Level>> {
    let salt = space.schema().salt.as_ref()?;
    let salted = salt.by.unwrap_or(space.len());
    let mut left = u64::from(salt.buckets).saturating_sub(1);
    let mut levels = Vec::with_capacity(salted);
    for position in 0..salted {
        let domain = space.domain(position);
        let (count, level) = match key_box.get(position)? {
            ColumnSet::Known(set) => (set.count(domain, left)?, Level::of_values(values_in_key_order(set, domain))),
            ColumnSet::Open(set) => {
                let count = set.shape().point_count()?;
                (u64::try_from(count).ok().filter(|count| *count <= left)?, Level::Open(count))
            }
        };
        left /= count.max(1);
        levels.push(level);
    }
    Some(levels)
}

impl Follows {
    fn group(&self, choice: usize) -> ops::Range<usize> {
        debug_assert!(choice + 1 < self.starts.len(), "choice {choice} has no group among {:?}", self.starts);
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
    let (set, domain) = (key_box.get(position)?.known()?, space.domain(position));
    let values = set.as_points(domain)?.into_iter().cloned().collect();
    Some(in_key_order(values, set.has_null(), domain))
}

/// The values of a column in key order, if they are few and the next column is bounded.
fn steps(key_box: &KeyBox, position: usize, space: &KeySpace, steps_left: &mut u64) -> Option<Arc<[Value]>> {
    let domain = space.domain(position);
    if position + 1 >= space.len() || !guard::box_bounds(key_box, position + 1, space) {
        return None;
    }
    let full = ValueSet::full(domain);
    let (set, limit) = match (key_box.get(position), domain.ty()) {
        (None, SqlType::Boolean) => (&full, STEPS_MAX),
        (None, _) => return None,
        (Some(set), SqlType::Boolean | SqlType::TinyInt | SqlType::UnsignedTinyInt) => (set.known()?, STEPS_MAX),
        (Some(set), _) => (set.known()?, STEPS_MAX_WIDE),
    };
    let count = set.count(domain, limit.min(*steps_left))?;
    *steps_left /= count.max(1);
    Some(values_in_key_order(set, domain))
}

/// The values of a set that can be counted, in key order.
fn values_in_key_order(set: &ValueSet, domain: &Domain) -> Arc<[Value]> {
    in_key_order(set.spans().iter().flat_map(|span| domain.values(span)).collect(), set.has_null(), domain)
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
