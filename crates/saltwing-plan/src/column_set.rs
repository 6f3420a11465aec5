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

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use saltwing_types::{Expr, Value};

use crate::domain::Domain;
use crate::open_set::{Form, OpenSet};
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

    /// The union of `sets`.
    pub(crate) fn union<'a>(sets: impl IntoIterator<Item = &'a ColumnSet>, domain: &Domain) -> Self {
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for set in sets {
            match set {
                Self::Known(set) => known.push(set.as_ref()),
                Self::Open(set) => match set.form() {
                    Form::Any(parts) => {
                        known.extend(parts.iter().filter_map(Self::known));
                        open.extend(parts.iter().filter(|part| part.is_open()).cloned());
                    }
                    _ => open.push(Self::Open(Arc::clone(set))),
                },
            }
        }
        let known = Self::from(ValueSet::union(known, domain));
        if known.holds_all_values(domain) && (known.has_null() || !open.iter().any(Self::has_null)) {
            return known;
        }
        let known = Some(known).filter(|set| !set.is_empty() || open.is_empty());
        Self::of_parts(open, known, Form::Any, Shape::or, domain)
    }

    /// The intersection.
    pub(crate) fn intersect(&self, other: &ColumnSet, domain: &Domain) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.intersect(b, domain).into(),
            _ => Self::intersect_all([self, other], domain),
        }
    }

    /// The intersection of `sets`.
    pub(crate) fn intersect_all<'a>(sets: impl IntoIterator<Item = &'a ColumnSet>, domain: &Domain) -> Self {
        let (mut known, mut open) = (ValueSet::full(domain), Vec::new());
        let mut add = |set: &ColumnSet| match set {
            Self::Known(set) => known = known.intersect(set, domain),
            Self::Open(_) => open.push(set.clone()),
        };
        for set in sets {
            match set {
                Self::Open(all) if let Form::All(parts) = all.form() => parts.iter().for_each(&mut add),
                set => add(set),
            }
        }
        if open.iter().any(|set| !set.has_null()) {
            known = known.without_null();
        }
        let nulls = open.iter().all(Self::has_null);
        let leaves_out_nothing = known.holds_all_values(domain) && (known.has_null() || !nulls);
        let known = Some(known).filter(|_| open.is_empty() || !leaves_out_nothing).map(Self::from);
        match known {
            Some(set) if set.is_empty() => set,
            known => Self::of_parts(open, known, Form::All, Shape::and, domain),
        }
    }

    /// A set of open parts, and perhaps a known one.
    fn of_parts(
        mut open: Vec<ColumnSet>,
        known: Option<ColumnSet>,
        form: fn(Vec<ColumnSet>) -> Form,
        together: fn(Shape, Shape) -> Shape,
        domain: &Domain,
    ) -> Self {
        if open.len() > 1 {
            let mut seen = HashSet::with_capacity(open.len());
            open.retain(|set| seen.insert(set.clone()));
        }
        open.extend(known);
        let shape = open.iter().map(|set| set.shape(domain)).reduce(together);
        match (<[ColumnSet; 1]>::try_from(open), shape) {
            (Ok([one]), _) => one,
            (Err(parts), Some(shape)) => Self::open(form(parts), shape),
            (Err(_), None) => ValueSet::EMPTY.into(),
        }
    }

    /// Whether all of `self` is inside `other`.
    pub(crate) fn is_within(&self, other: &ColumnSet, domain: &Domain) -> bool {
        let (ours, theirs) = match (self, other) {
            (Self::Known(a), Self::Known(b)) => return Arc::ptr_eq(a, b) || a.is_within(b, domain),
            (Self::Open(a), Self::Open(b)) => (Some(a), Some(b)),
            (Self::Open(a), Self::Known(b)) if b.holds_all_values(domain) && (b.has_null() || !a.shape().nulls) => {
                return true;
            }
            (Self::Open(a), Self::Known(_)) => (Some(a), None),
            (Self::Known(_), Self::Open(b)) => (None, Some(b)),
        };
        let (ours, theirs) = (ours.map(|set| set.form()), theirs.map(|set| set.form()));
        if self == other {
            return true;
        }
        match (ours, theirs) {
            (_, Some(Form::All(parts))) => parts.iter().all(|part| self.is_within(part, domain)),
            (Some(Form::Any(parts)), _) => parts.iter().all(|part| part.is_within(other, domain)),
            (Some(Form::All(parts)), _) if parts.iter().any(|part| part.is_within(other, domain)) => true,
            (_, Some(Form::Any(parts))) => parts.iter().any(|part| self.is_within(part, domain)),
            _ => false,
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

#[cfg(test)]
mod tests;
