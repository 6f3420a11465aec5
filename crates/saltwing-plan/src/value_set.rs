//! Sets of one key column's values, NULL included, whose values are known.
//!
//! # Laws
//! For sets `a` and `b` of one domain and any value `v` of it, NULL too:
//! 1. `union(a, b)` holds `v` exactly when `a` or `b` does;
//! 2. `a.intersect(b)` holds `v` exactly when both do;
//! 3. `a.complement()` holds `v` exactly when `a` does not;
//! 4. `a.is_within(b)` implies that every `v` of `a` is in `b`.
//!
//! Points stay points: `{1}` and `{2}` are kept as two spans although they
//! touch, because a list of points may become point lookups and a skip scan,
//! and a range may not.

use saltwing_types::Value;

use crate::domain::Domain;
use crate::span::{Cut, Span};

/// Some values of a column, and perhaps NULL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueSet {
    /// Whether NULL is inside; never for a column that cannot hold it.
    nulls: bool,
    /// Sorted and disjoint; touching only where both are points.
    spans: Vec<Span>,
}

impl ValueSet {
    /// Nothing.
    pub(crate) const EMPTY: ValueSet = ValueSet { nulls: false, spans: Vec::new() };

    /// Everything that the column can hold.
    pub(crate) fn full(domain: &Domain) -> Self {
        Self { nulls: domain.nullable(), spans: vec![Span::ALL] }
    }

    /// NULL alone; nothing, where the column cannot hold it.
    pub(crate) fn null(domain: &Domain) -> Self {
        Self { nulls: domain.nullable(), ..Self::EMPTY }
    }

    /// Every value but NULL.
    pub(crate) fn not_null() -> Self {
        Self { spans: vec![Span::ALL], ..Self::EMPTY }
    }

    /// The values between two cuts.
    pub(crate) fn between(lo: Cut, hi: Cut, domain: &Domain) -> Self {
        Self { spans: domain.span(lo, hi).into_iter().collect(), ..Self::EMPTY }
    }

    /// These values.
    pub(crate) fn points(values: Vec<Value>, domain: &Domain) -> Self {
        let mut values = values;
        // Points never join, so sorting them apart from each other is all there is to do.
        if !values.is_sorted_by(|a, b| domain.compare(a, b).is_lt()) {
            values.sort_by(|a, b| domain.compare(a, b));
            values.dedup_by(|a, b| domain.compare(a, b).is_eq());
        }
        let spans = values.into_iter().map(|value| domain.point(value)).collect();
        Self { nulls: false, spans }
    }

    /// Whether NULL is inside.
    pub(crate) fn has_null(&self) -> bool {
        self.nulls
    }

    /// The spans, in value order.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether nothing is inside.
    pub(crate) fn is_empty(&self) -> bool {
        !self.nulls && self.spans.is_empty()
    }

    /// Whether everything that the column can hold is inside.
    pub(crate) fn is_full(&self, domain: &Domain) -> bool {
        (self.nulls || !domain.nullable()) && self.holds_all_values(domain)
    }

    /// Whether every value but perhaps NULL is inside.
    pub(crate) fn holds_all_values(&self, domain: &Domain) -> bool {
        let (Some(first), Some(last)) = (self.spans.first(), self.spans.last()) else { return false };
        // Points may touch without being one span: {false}, {true}.
        first.lo == Cut::Low
            && last.hi == Cut::High
            && self.spans.windows(2).all(|pair| match pair {
                [a, b] => domain.touches(&a.hi, &b.lo),
                _ => true,
            })
    }

    /// The values, when they are a finite list of points; NULL, which is first, is not among them.
    pub(crate) fn as_points<'a>(&'a self, domain: &'a Domain) -> Option<Vec<&'a Value>> {
        self.spans.iter().map(|span| span.as_point(domain)).collect()
    }

    /// Whether this is a finite list, NULL counted.
    pub(crate) fn is_list(&self, domain: &Domain) -> bool {
        self.spans.iter().all(|span| span.as_point(domain).is_some())
    }

    /// The one value inside (NULL too), when there is exactly one.
    pub(crate) fn as_single<'a>(&'a self, domain: &'a Domain) -> Option<&'a Value> {
        match (self.nulls, self.spans.as_slice()) {
            (true, []) => Some(&Value::Null),
            (false, [span]) => span.as_point(domain),
            _ => None,
        }
    }

    /// Whether the value, or NULL, is inside.
    pub(crate) fn contains(&self, value: &Value, domain: &Domain) -> bool {
        if value.is_null() { self.nulls } else { self.span_of(value, domain).is_some() }
    }

    /// The span that contains the value, which is not NULL.
    pub(crate) fn span_of(&self, value: &Value, domain: &Domain) -> Option<&Span> {
        // The first span that does not end below the value is the only one that may hold it.
        let below = |span: &Span| match &span.hi {
            Cut::Low => true,
            Cut::After(hi) => domain.compare(hi, value).is_lt(),
            Cut::Before(hi) => domain.compare(hi, value).is_le(),
            Cut::High => false,
        };
        self.spans.get(self.spans.partition_point(below)).filter(|span| span.contains(value, domain))
    }

    /// The union of `sets`.
    pub(crate) fn union<'a>(sets: impl IntoIterator<Item = &'a ValueSet>, domain: &Domain) -> Self {
        let mut all = Self::EMPTY;
        let mut parts = 0;
        for set in sets {
            all.nulls |= set.nulls;
            all.spans.extend_from_slice(&set.spans);
            parts += usize::from(!set.spans.is_empty());
        }
        // The spans of one set are in order already.
        if parts > 1 {
            all.spans = normalize(all.spans, domain);
        }
        all
    }

    /// The intersection.
    pub(crate) fn intersect(&self, other: &ValueSet, domain: &Domain) -> Self {
        let mut spans = Vec::new();
        let (mut a, mut b) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            spans.extend(x.intersect(y, domain));
            if x.hi.compare(&y.hi, domain).is_le() {
                a.next();
            } else {
                b.next();
            }
        }
        Self { nulls: self.nulls && other.nulls, spans }
    }

    /// The complement.
    pub(crate) fn complement(&self, domain: &Domain) -> Self {
        let mut spans = Vec::with_capacity(self.spans.len() + 1);
        let mut from = Cut::Low;
        for span in &self.spans {
            spans.extend(domain.span(from, span.lo.clone()));
            from = span.hi.clone();
        }
        spans.extend(domain.span(from, Cut::High));
        Self { nulls: domain.nullable() && !self.nulls, spans }
    }

    /// The set with NULL in the place of `empty`, the least value of `domain`: it holds NULL if it held one of the two. And
    /// whether it held both or neither. `empty` is no value of the result's domain.
    pub(crate) fn with_empty_as_null(&self, empty: &Value, domain: &Domain) -> (Self, bool) {
        let has_empty = self.contains(empty, domain);
        let above = Span { lo: Cut::After(empty.clone()), hi: Cut::High };
        let mut spans: Vec<Span> = self.spans.iter().filter_map(|span| span.intersect(&above, domain)).collect();
        if let Some(first) = spans.first_mut().filter(|first| first.lo == above.lo) {
            first.lo = Cut::Low;
        }
        let set = Self { nulls: self.nulls || has_empty, spans };
        (set, self.nulls == has_empty)
    }

    /// Without NULL.
    pub(crate) fn without_null(self) -> Self {
        Self { nulls: false, ..self }
    }

    /// Whether all of `self` is inside `other`.
    pub(crate) fn is_within(&self, other: &ValueSet, domain: &Domain) -> bool {
        if self.nulls && !other.nulls {
            return false;
        }
        let mut others = other.spans.iter().peekable();
        self.spans.iter().all(|span| {
            // Points that touch in `other` may hold a span of `self` only together.
            let mut rest = span.clone();
            while let Some(candidate) = others.peek() {
                if rest.is_within(candidate, domain) {
                    return true;
                }
                if candidate.hi.compare(&rest.lo, domain).is_gt() {
                    if candidate.lo.compare(&rest.lo, domain).is_gt() {
                        return false;
                    }
                    match domain.span(candidate.hi.clone(), rest.hi.clone()) {
                        None => return true,
                        Some(left) => rest = left,
                    }
                }
                others.next();
            }
            false
        })
    }

    /// Whether values, NULL apart, are left out at the low or at the high end.
    pub(crate) fn leaves_out_an_end(&self) -> bool {
        match (self.spans.first(), self.spans.last()) {
            (Some(first), Some(last)) => first.lo != Cut::Low || last.hi != Cut::High,
            _ => true,
        }
    }

    /// Whether the set bounds its column, as the guard demands it: a list, or values left out at an end.
    pub(crate) fn bounds(&self, domain: &Domain) -> bool {
        !self.holds_all_values(domain) && (self.is_list(domain) || self.leaves_out_an_end())
    }

    /// Number of values inside, NULL included, if the domain is discrete and they are at most `limit`.
    pub(crate) fn count(&self, domain: &Domain, limit: u64) -> Option<u64> {
        let mut count = u64::from(self.nulls);
        for span in &self.spans {
            count = count.checked_add(domain.count(span)?)?;
            if count > limit {
                return None;
            }
        }
        Some(count)
    }
}

/// Sorts, drops spans inside others, and joins adjacent spans, but not points.
fn normalize(mut spans: Vec<Span>, domain: &Domain) -> Vec<Span> {
    spans.sort_by(|a, b| a.lo.compare(&b.lo, domain).then_with(|| b.hi.compare(&a.hi, domain)));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        let Some(last) = merged.last_mut() else {
            merged.push(span);
            continue;
        };
        let overlap = span.lo.compare(&last.hi, domain).is_lt();
        let joins = overlap
            || (domain.touches(&last.hi, &span.lo)
                && !(last.as_point(domain).is_some() && span.as_point(domain).is_some()));
        if !joins {
            merged.push(span);
            continue;
        }
        if span.hi.compare(&last.hi, domain).is_gt() {
            last.hi = span.hi;
        }
        join_backwards(&mut merged, domain);
    }
    merged
}

/// Joins the last span, once it is a range, with the points that it touches: {1}, {2}, [3..5] is one span.
fn join_backwards(merged: &mut Vec<Span>, domain: &Domain) {
    while let [.., before, last] = merged.as_mut_slice() {
        if last.as_point(domain).is_some() || !domain.touches(&before.hi, &last.lo) {
            return;
        }
        before.hi = last.hi.clone();
        merged.pop();
    }
}

#[cfg(test)]
pub(crate) mod tests;
