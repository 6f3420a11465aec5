//! Unions, intersections and inclusion of sets. Those of known sets are made by their values, those of open sets by their forms.

use std::collections::HashSet;
use std::sync::Arc;

use crate::column_set::{ColumnSet, Form};
use crate::domain::Domain;
use crate::shape::Shape;
use crate::value_set::ValueSet;

impl ColumnSet {
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
}
