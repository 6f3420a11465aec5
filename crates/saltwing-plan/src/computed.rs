//! Computed key parts: what their inputs say about them.
//!
//! ```text
//! key (SUBSTR(MD5(phone), 1, 3), phone, day)
//!
//!   phone = '138'            ->  part {'eb1'}, phone {'138'}
//!   phone IN ('138', '139')  ->  part {'1ff', 'eb1'}, phone {'138', '139'}, tied: 'eb1' goes with '138' alone
//! ```
//!
//! A row's part is a function of its inputs. If the inputs of a box are lists, the part has a list; if an input is a
//! range and the part is monotone in it, the part has a range. So it is with the shapes of inputs that are not known yet:
//! of single values a single one follows.
//!
//! # Laws
//! 1. [`derive()`] changes no box's rows: what it adds is implied by the inputs.
//! 2. Of tied columns a box holds the rows with one of the tie's combinations, and no other row.

use std::collections::BTreeSet;
use std::ops::Bound;

use saltwing_types::{Expr, KeyColumn, SqlType, Value, interrupt};

use crate::column_set::{ColumnSet, Form};
use crate::cover::Cover;
use crate::key_box::KeyBox;
use crate::key_space::{KeySpace, Part};
use crate::literal_position::LiteralPosition;
use crate::monotonicity::{Direction, monotonicity};
use crate::predicates::TextPrefix;
use crate::shape::{Shape, Spread};
use crate::span::{Cut, Span};
use crate::value_set::ValueSet;

/// Most combinations of values of several inputs that are computed for one box. The values
/// of a single input are as many as the statement names.
pub(crate) const COMBINATIONS_MAX: usize = 10_000;
/// Units of work that computing the parts of a combination counts for: a hash, perhaps.
const UNITS_OF_COMBINATION: usize = 4;
/// Most values of a span that count as a list.
const COUNTED_VALUES_MAX: u64 = 16;

/// Columns of a box whose values go together: a part, and inputs of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tie {
    /// Their places in the key, ascending.
    pub(crate) positions: Vec<usize>,
    /// The combinations that rows can have, each with a value for each place, in no order.
    pub(crate) combinations: Vec<Vec<Value>>,
}

/// How many combinations of its inputs' values a part would follow, where they are more than are computed.
pub(crate) fn too_many(part: &Part<'_>, cover: &Cover, space: &KeySpace) -> Option<usize> {
    let of_box = |key_box: &KeyBox| {
        let counts = part.inputs.iter().map(|at| list_count(key_box, *at, space)).collect::<Option<Vec<_>>>()?;
        let varying = counts.iter().filter(|count| **count > 1).count();
        let product = counts.into_iter().fold(1, usize::saturating_mul);
        (varying > 1 && product > COMBINATIONS_MAX).then_some(product)
    };
    cover.boxes.iter().filter_map(of_box).max()
}

/// Adds to each box the sets of the computed parts that its columns imply, and drops boxes without rows.
///
/// Gives the ties of each box that is left.
pub(crate) fn derive(cover: Cover, space: &KeySpace) -> (Cover, Vec<Vec<Tie>>) {
    if space.parts().is_empty() {
        let boxes: Vec<KeyBox> = cover.boxes.into_iter().filter_map(|key_box| key_box.settled(space)).collect();
        let ties = vec![Vec::new(); boxes.len()];
        return (Cover { boxes, fit: cover.fit }, ties);
    }
    let (boxes, ties) = cover.boxes.into_iter().filter_map(|key_box| derive_box(key_box, space)).unzip();
    (Cover { boxes, fit: cover.fit }, ties)
}

fn derive_box(mut key_box: KeyBox, space: &KeySpace) -> Option<(KeyBox, Vec<Tie>)> {
    let mut ties = Vec::new();
    for group in groups(&key_box, space) {
        match combine(&group, &key_box, space) {
            Some(combined) => ties.extend(combined.apply(&group, &mut key_box, space)?),
            // Together they are too many, each part alone perhaps not.
            None => {
                for part in &group {
                    if let Some(combined) = combine(&[part], &key_box, space) {
                        combined.apply(&[part], &mut key_box, space)?;
                    }
                }
            }
        }
    }
    for part in space.parts() {
        if let Some(set) = open_part(part, &key_box, space).or_else(|| image(part, &key_box, space)) {
            key_box.restrict(part.position, set, space).then_some(())?;
        }
    }
    Some((key_box, ties))
}

/// The parts whose inputs are lists of known values; those that share an input of several values are one group.
fn groups<'s>(key_box: &KeyBox, space: &'s KeySpace<'_>) -> Vec<Vec<&'s Part<'s>>> {
    let mut groups: Vec<(BTreeSet<usize>, Vec<&Part<'_>>)> = Vec::new();
    for part in space.parts() {
        let is_known = |at: &usize| key_box.get(*at).is_some_and(|set| !set.is_open());
        let counts = part.inputs.iter().map(|at| list_count(key_box, *at, space)).collect::<Option<Vec<_>>>();
        let Some(counts) = counts.filter(|_| part.inputs.iter().all(is_known)) else { continue };
        let varying = part.inputs.iter().zip(counts).filter(|(_, count)| *count > 1);
        let (mut inputs, mut members) = (varying.map(|(at, _)| *at).collect::<BTreeSet<usize>>(), vec![part]);
        groups.retain_mut(|(others, parts)| {
            let apart = others.is_disjoint(&inputs);
            if !apart {
                inputs.append(others);
                members.append(parts);
            }
            apart
        });
        groups.push((inputs, members));
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Number of values of a column at most, if they are a list.
fn list_count(key_box: &KeyBox, position: usize, space: &KeySpace) -> Option<usize> {
    let (set, domain) = (key_box.get(position)?, space.domain(position));
    let counted = || usize::try_from(set.known()?.count(domain, COUNTED_VALUES_MAX)?).ok();
    // Two values of BOOLEAN may turn out to be all: then the column tells nothing.
    let may_be_all = |count: &usize| set.is_open() && *count > 1 && domain.ty() == SqlType::Boolean;
    set.point_count(domain).filter(|count| !may_be_all(count)).or_else(counted)
}

/// The values of a column that [`list_count`] counts.
fn list(key_box: &KeyBox, position: usize, space: &KeySpace) -> Option<Vec<Value>> {
    let (set, domain) = (key_box.get(position)?.known()?, space.domain(position));
    let mut values: Vec<Value> = match set.as_points(domain) {
        Some(points) => points.into_iter().cloned().collect(),
        None => set.spans().iter().flat_map(|span| domain.values(span)).collect(),
    };
    if set.has_null() {
        values.push(Value::Null);
    }
    Some(values)
}

/// The combinations of some parts and their inputs.
struct Combined {
    tie: Tie,
    /// How many of the inputs have several values.
    varying: usize,
}

/// The combinations of the values of the parts' inputs, with the parts computed; `None` when they are too many.
fn combine(group: &[&Part<'_>], key_box: &KeyBox, space: &KeySpace) -> Option<Combined> {
    let inputs: BTreeSet<usize> = group.iter().flat_map(|part| &part.inputs).copied().collect();
    let lists = inputs
        .iter()
        .map(|at| Some((*at, list(key_box, *at, space)?)))
        .collect::<Option<Vec<(usize, Vec<Value>)>>>()?;
    let varying = lists.iter().filter(|(_, values)| values.len() > 1).count();
    let count = lists.iter().map(|(_, values)| values.len()).fold(1, usize::saturating_mul);
    if varying > 1 && count > COMBINATIONS_MAX {
        return None;
    }
    let mut positions: Vec<usize> = inputs.into_iter().chain(group.iter().map(|part| part.position)).collect();
    positions.sort_unstable();
    let mut row = Row::new(space);
    let mut combinations = Vec::with_capacity(count);
    let mut at = vec![0; lists.len()];
    loop {
        // What is not computed is not known.
        interrupt::spend(UNITS_OF_COMBINATION).ok()?;
        for ((position, values), index) in lists.iter().zip(&at) {
            row.set(*position, values.get(*index).unwrap_or(&Value::Null).clone());
        }
        if row.compute(group, key_box) {
            combinations.push(positions.iter().map(|position| row.value(*position).clone()).collect());
        }
        if !advance(&mut at, &lists) {
            return Some(Combined { tie: Tie { positions, combinations }, varying });
        }
    }
}

/// Steps to the next combination of indexes.
fn advance(at: &mut [usize], lists: &[(usize, Vec<Value>)]) -> bool {
    for (index, (_, values)) in at.iter_mut().zip(lists).rev() {
        *index += 1;
        if *index < values.len() {
            return true;
        }
        *index = 0;
    }
    false
}

impl Combined {
    /// Gives the parts their values in the box; the outer `None` tells that no row can be in it.
    fn apply(self, group: &[&Part<'_>], key_box: &mut KeyBox, space: &KeySpace) -> Option<Option<Tie>> {
        let Self { tie, varying } = self;
        if tie.combinations.is_empty() {
            return None;
        }
        for part in group {
            let domain = space.domain(part.position);
            let Some(place) = tie.positions.iter().position(|at| *at == part.position) else {
                // Another column's values would leave out rows; without any, the part is read whole.
                debug_assert!(false, "the part at {} is not among {:?}", part.position, tie.positions);
                continue;
            };
            let values = tie.combinations.iter().filter_map(|values| values.get(place));
            let (nulls, values): (Vec<&Value>, Vec<&Value>) = values.partition(|value| value.is_null());
            let mut set = ValueSet::points(values.into_iter().cloned().collect(), domain);
            if !nulls.is_empty() {
                set = ValueSet::union([&set, &ValueSet::null(domain)], domain);
            }
            if !key_box.restrict(part.position, set.into(), space) {
                return None;
            }
        }
        if varying == 0 {
            return Some(None);
        }
        // A few neighbours each have a part of their own: from now on they are points.
        for position in &tie.positions {
            let domain = space.domain(*position);
            let is_span = key_box.get(*position).is_some_and(|set| set.point_count(domain).is_none());
            if let (true, Some(values)) = (is_span, list(key_box, *position, space)) {
                let values = values.into_iter().filter(|value| !value.is_null()).collect();
                let nulls = ValueSet::null(domain);
                let points = ValueSet::union([&ValueSet::points(values, domain), &nulls], domain);
                key_box.restrict(*position, points.into(), space);
            }
        }
        Some(Some(tie))
    }
}

/// A row whose key columns used by a part are known.
struct Row<'s> {
    space: &'s KeySpace<'s>,
    /// By place in the key.
    key: Vec<Value>,
    /// By column of the table.
    columns: Vec<Value>,
}

impl<'s> Row<'s> {
    fn new(space: &'s KeySpace<'_>) -> Self {
        let last = space.schema().columns.iter().filter_map(KeyColumn::column).max();
        let count = last.map_or(0, |last| last + 1);
        Self { space, key: vec![Value::Null; space.len()], columns: vec![Value::Null; count] }
    }

    fn set(&mut self, position: usize, value: Value) {
        if let Some(place) = self.space.column(position).column().and_then(|column| self.columns.get_mut(column)) {
            place.clone_from(&value);
        }
        if let Some(place) = self.key.get_mut(position) {
            *place = value;
        }
    }

    fn value(&self, position: usize) -> &Value {
        self.key.get(position).unwrap_or(&Value::Null)
    }

    /// Computes the parts; whether a row can have such values, and the box has room for them.
    fn compute(&mut self, group: &[&Part<'_>], key_box: &KeyBox) -> bool {
        group.iter().all(|part| {
            let Some(value) = self.part(part) else { return false };
            let domain = self.space.domain(part.position);
            let has_room = key_box.get(part.position).is_none_or(|set| set.may_hold(&value, domain));
            if let Some(place) = self.key.get_mut(part.position) {
                *place = value;
            }
            has_room
        })
    }

    /// The part's value; `None` where a row with such inputs cannot be stored.
    fn part(&self, part: &Part<'_>) -> Option<Value> {
        let domain = self.space.domain(part.position);
        match self.space.column(part.position).value(&self.columns).ok()? {
            Value::Null => domain.nullable().then_some(Value::Null),
            value => match domain.locate(&value, false)? {
                LiteralPosition::At(value) => Some(value),
                _ => None,
            },
        }
    }
}

/// The values of a part of which an input is not known yet: a list if all inputs are, and a range if the part is monotone in
/// its one input.
fn open_part(part: &Part<'_>, key_box: &KeyBox, space: &KeySpace) -> Option<ColumnSet> {
    let inputs: Vec<&ColumnSet> = part.inputs.iter().map(|at| key_box.get(*at)).collect::<Option<_>>()?;
    if !inputs.iter().any(|set| set.is_open()) {
        return None;
    }
    let counts = part.inputs.iter().map(|at| list_count(key_box, *at, space)).collect::<Option<Vec<_>>>();
    let shape = match (counts, inputs.as_slice()) {
        (Some(counts), _) => Shape::points(counts.into_iter().fold(1, usize::saturating_mul)),
        (None, [ColumnSet::Open(input)]) if input.shape().point_count().is_none() => {
            let (low, high, is_one) = input.shape().spread.ends();
            // Values that are outside may have the part of the bound.
            let included = |bound: Bound<()>| if bound == Bound::Unbounded { bound } else { Bound::Included(()) };
            let (low, high) = match direction(part.expr)? {
                Direction::Up => (included(low), included(high)),
                Direction::Down => (included(high), included(low)),
            };
            Shape { nulls: false, spread: Spread::Spans { low, high, is_one } }
        }
        _ => return None,
    };
    let shape = shape.with_nulls(space.domain(part.position).nullable());
    let form = Form::Part(part.position, inputs.into_iter().cloned().collect());
    shape.bounds().then(|| ColumnSet::open(form, shape))
}

/// The values of a part that is monotone in its one input, whose values are ranges. Loose: a value between the ends may
/// be the part of no input.
fn image(part: &Part<'_>, key_box: &KeyBox, space: &KeySpace) -> Option<ColumnSet> {
    let [input] = part.inputs.as_slice() else { return None };
    let set = key_box.get(*input)?.known()?;
    if list_count(key_box, *input, space).is_some() || set.holds_all_values(space.domain(*input)) {
        return None;
    }
    let direction = direction(part.expr)?;
    let domain = space.domain(part.position);
    let mut row = Row::new(space);
    let mut end = |cut: &Cut, is_low: bool| {
        let at = match cut {
            Cut::Before(value) | Cut::After(value) => {
                row.set(*input, value.clone());
                space.column(part.position).value(&row.columns).ok().and_then(|value| domain.locate(&value, false))
            }
            Cut::Low | Cut::High => None,
        };
        match (at, is_low) {
            (Some(place), true) => place.before(),
            (Some(place), false) => place.after(),
            // Unbounded, or no row has this value: the part is open there.
            (None, true) => Cut::Low,
            (None, false) => Cut::High,
        }
    };
    let mut spans: Vec<ValueSet> = Vec::with_capacity(set.spans().len() + 1);
    for Span { lo, hi } in set.spans() {
        let (lo, hi) = if direction == Direction::Up { (lo, hi) } else { (hi, lo) };
        spans.push(ValueSet::between(end(lo, true), end(hi, false), domain));
    }
    if set.has_null() {
        spans.push(ValueSet::null(domain));
    }
    Some(ValueSet::union(&spans, domain).into())
}

/// The direction of a part with its input, if it is monotone.
fn direction(expr: &Expr) -> Option<Direction> {
    if let Some((text, Some(_))) = TextPrefix::of(expr) {
        // CHAR is padded in its order, but prefixes of it are not.
        let is_varchar = matches!(text, Expr::Column(column) if !matches!(column.ty, SqlType::Char(_)));
        return is_varchar.then_some(Direction::Up);
    }
    let (_, monotonicity) = monotonicity(expr)?;
    let monotonicity = monotonicity?;
    (monotonicity.below == monotonicity.above && !monotonicity.in_floats).then_some(monotonicity.below)
}

/// The effect of a condition on a computed part through its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It makes a list of it.
    Fixes,
    /// It makes a range of it.
    Bounds,
    /// It does so together with other conditions on its inputs.
    Helps,
}

impl Effect {
    /// The effect of a condition with this cover on a part, if `all` of them together narrow the part.
    pub(crate) fn of(part: &Part<'_>, cover: &Cover, all: &Cover, space: &KeySpace) -> Option<Self> {
        let narrows = |at: &usize| !cover.boxes.is_empty() && cover.boxes.iter().all(|b| b.get(*at).is_some());
        let is_list = |of: &Cover, at: &usize| of.boxes.iter().all(|b| list_count(b, *at, space).is_some());
        let named: Vec<usize> = part.inputs.iter().copied().filter(narrows).collect();
        if named.is_empty() || all.projection(part.position, space).is_full(space.domain(part.position)) {
            return None;
        }
        if part.inputs.iter().all(|at| is_list(all, at)) {
            let alone = named.len() == part.inputs.len() && named.iter().all(|at| is_list(cover, at));
            return Some(if alone { Self::Fixes } else { Self::Helps });
        }
        direction(part.expr).map(|_| Self::Bounds)
    }
}
