//! Sets of one key column's values: known ones, and those that only execution knows.
//!
//! # Laws
//! For sets `a` and `b` of one domain, any values of what is not known yet, and any value `v` of the domain, NULL too:
//! 1. `union([a, b])` holds `v` exactly when `a` or `b` does;
//! 2. `a.intersect(b)` holds `v` exactly when both do;
//! 3. `a.is_within(b)` implies that every `v` of `a` is in `b`;
//! 4. `a.is_empty()` implies that no `v` is in `a`, and `a.is_full()` that every `v` is.
//!
//! Of sets that are not known yet, `false` is the answer, too, where the values would decide.
//!
//! # Open sets
//! A parameter or a subquery tells the values of an open set at execution.
//! It has a [`Shape`], from which a plan takes what holds whatever the values are, and a form: how it is made of
//! conditions. By its form it is compared with other sets; there are no values to compare.
//!
//! ```text
//! k > ?1                 the test itself              from above a bound, without end
//! k > ?1 AND k <= ?2     all of two tests             one span between two bounds
//! k IN (?1, ?2, 3)       any of two tests and {3}     at most three points
//! LEFT(k, 1), k = ?1     the part of such a set       at most one point
//! ```

mod algebra;

use std::hash::{Hash, Hasher};
use std::mem;
use std::ops::Bound;
use std::sync::Arc;

use saltwing_types::{CompareOp, Expr, Value};

use crate::domain::Domain;
use crate::shape::{Shape, Spread};
use crate::span::Cut;
use crate::value_set::ValueSet;

/// Some values of a column, and perhaps NULL. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ColumnSet {
    /// These values.
    Known(Arc<ValueSet>),
    /// Values that are not known yet.
    Open(Arc<OpenSet>),
}

impl From<ValueSet> for ColumnSet {
    fn from(set: ValueSet) -> Self {
        Self::Known(Arc::new(set))
    }
}

impl ColumnSet {
    /// The values for which a condition holds, in which a value is not known yet.
    pub(crate) fn of_test(test: Expr, shape: Shape) -> Self {
        Self::open(Form::Test(Box::new(test)), shape)
    }

    /// A set that is not known yet.
    pub(crate) fn open(form: Form, shape: Shape) -> Self {
        Self::Open(Arc::new(OpenSet::new(form, shape)))
    }

    /// The values, if they are known.
    pub(crate) fn known(&self) -> Option<&ValueSet> {
        if let Self::Known(set) = self { Some(set) } else { None }
    }

    /// Whether only execution knows the values.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Whether both are one set in memory.
    pub(crate) fn is_same(&self, other: &ColumnSet) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => Arc::ptr_eq(a, b),
            (Self::Open(a), Self::Open(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether nothing is inside.
    pub(crate) fn is_empty(&self) -> bool {
        self.known().is_some_and(ValueSet::is_empty)
    }

    /// Whether everything that the column can hold is inside.
    pub(crate) fn is_full(&self, domain: &Domain) -> bool {
        self.known().is_some_and(|set| set.is_full(domain))
    }

    /// Whether every value but perhaps NULL is inside.
    pub(crate) fn holds_all_values(&self, domain: &Domain) -> bool {
        self.known().is_some_and(|set| set.holds_all_values(domain))
    }

    /// Whether NULL is, or may be, inside.
    pub(crate) fn has_null(&self) -> bool {
        match self {
            Self::Known(set) => set.has_null(),
            Self::Open(set) => set.shape().nulls,
        }
    }

    /// Whether a value, or NULL, is or may be inside.
    pub(crate) fn may_hold(&self, value: &Value, domain: &Domain) -> bool {
        match self {
            Self::Known(set) => set.contains(value, domain),
            Self::Open(set) if value.is_null() => set.shape().nulls,
            Self::Open(set) => set.shape().may_hold_least() || !domain.is_extreme(value, domain.min()),
        }
    }

    /// The most values inside, NULL counted, if they are a finite list.
    pub(crate) fn point_count(&self, domain: &Domain) -> Option<usize> {
        match self {
            Self::Known(set) => set.is_list(domain).then(|| set.spans().len() + usize::from(set.has_null())),
            Self::Open(set) => set.shape().point_count(),
        }
    }

    /// Whether one value, NULL perhaps, is inside at most.
    pub(crate) fn is_single(&self, domain: &Domain) -> bool {
        match self {
            Self::Known(set) => set.as_single(domain).is_some(),
            Self::Open(set) => set.shape().point_count() == Some(1),
        }
    }

    /// Whether the set bounds its column, as the guard demands it: a list, or values left out at an end.
    pub(crate) fn bounds(&self, domain: &Domain) -> bool {
        match self {
            Self::Known(set) => set.bounds(domain),
            Self::Open(set) => set.shape().bounds(),
        }
    }

    /// Its shape.
    pub(crate) fn shape(&self, domain: &Domain) -> Shape {
        let set = match self {
            Self::Known(set) => set,
            Self::Open(set) => return set.shape(),
        };
        if let Some(count) = self.point_count(domain) {
            return Shape::points(count).with_nulls(set.has_null());
        }
        let bound = |cut: Option<&Cut>, is_low: bool| match cut {
            Some(Cut::Before(_)) if is_low => Bound::Included(()),
            Some(Cut::After(_)) if !is_low => Bound::Included(()),
            Some(Cut::Before(_) | Cut::After(_)) => Bound::Excluded(()),
            Some(Cut::Low | Cut::High) | None => Bound::Unbounded,
        };
        let (low, high) = (set.spans().first().map(|span| &span.lo), set.spans().last().map(|span| &span.hi));
        let spread = Spread::Spans { low: bound(low, true), high: bound(high, false), is_one: set.spans().len() == 1 };
        Shape { nulls: set.has_null(), spread }
    }

    /// The end at which the key has its first values, or its last ones, NULL apart.
    pub(crate) fn end_in_key(&self, is_first: bool, domain: &Domain) -> Bound<()> {
        let (low, high, _) = self.shape(domain).spread.ends();
        match if is_first == domain.is_ascending() { low } else { high } {
            // The neighbour of the value is inside.
            Bound::Excluded(()) if domain.is_discrete() => Bound::Included(()),
            end => end,
        }
    }

    /// The set with NULL in the place of `empty`, the least value of `domain`: it holds NULL if it held one of the two. And
    /// whether it held both or neither. `empty` is no value of the result's domain.
    pub(crate) fn with_empty_as_null(&self, empty: &Value, domain: &Domain) -> (Self, bool) {
        match self {
            Self::Known(set) => {
                let (set, is_same) = set.with_empty_as_null(empty, domain);
                (set.into(), is_same)
            }
            Self::Open(set) => {
                let shape = set.shape();
                let may_change = shape.nulls || self.may_hold(empty, domain);
                (Self::open(Form::Entries(self.clone()), shape.with_nulls(may_change)), !may_change)
            }
        }
    }
}

/// A set whose values are not known yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpenSet {
    form: Form,
    shape: Shape,
}

/// How a set is made. Equal forms are equal sets, whatever the values are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// The values for which a condition on the column holds.
    Test(Box<Expr>),
    /// The values of the computed part at this place of the key, whose inputs have values in these sets.
    Part(usize, Vec<ColumnSet>),
    /// The values in the entries of an index, which have the same bytes for NULL and ''.
    Entries(ColumnSet),
    /// The values in all of these, which are no intersections themselves.
    All(Vec<ColumnSet>),
    /// The values in any of these, which are no unions themselves.
    Any(Vec<ColumnSet>),
}

// The numbers in an expression are equal by their total order.
impl Eq for Form {}

impl Hash for Form {
    fn hash<H: Hasher>(&self, state: &mut H) {
        mem::discriminant(self).hash(state);
        match self {
            Self::Test(test) => test.walk(&mut |e| match e {
                Expr::Param(index, _) | Expr::Subquery(index, _) => index.hash(state),
                _ => {}
            }),
            Self::Part(position, inputs) => (position, inputs).hash(state),
            Self::Entries(set) => set.hash(state),
            Self::All(sets) | Self::Any(sets) => sets.hash(state),
        }
    }
}

impl OpenSet {
    /// A set of this form and shape.
    pub(crate) fn new(form: Form, shape: Shape) -> Self {
        Self { form, shape }
    }

    /// Its form.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Its shape.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether it has the values beyond that of `point`, up to one end: `k > ?1`, where `point` is `k = ?1`.
    pub(crate) fn is_beyond(&self, point: &OpenSet) -> bool {
        match (&self.form, &point.form) {
            (Form::Test(beyond), Form::Test(equal)) => match (beyond.as_ref(), equal.as_ref()) {
                (Expr::Compare(CompareOp::Lt | CompareOp::Gt, a, b), Expr::Compare(CompareOp::Eq, c, d)) => {
                    a == c && b == d
                }
                _ => false,
            },
            (Form::Entries(ColumnSet::Open(beyond)), Form::Entries(ColumnSet::Open(equal))) => beyond.is_beyond(equal),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
