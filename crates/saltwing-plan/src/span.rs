//! Spans: intervals of one key column's values, in value order.
//!
//! A span is between two **cuts**. A cut is a position between values, so "up to 5, included" and "up to 5, excluded"
//! are two different cuts and nothing else has to store which end is open:
//!
//! ```text
//!   Low   Before(4)  4  After(4)   Before(5)  5  After(5)   High
//!    |        |            |           |           |          |
//! ```
//!
//! DESC and NULL play no part here: values stand smallest first, and NULL is
//! [`ColumnSet`](crate::column_set::ColumnSet)'s. Both come in when spans become
//! key ranges.

use std::cmp::Ordering;

use saltwing_types::Value;

use crate::domain::Domain;

/// A place between the values of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cut {
    /// Below every value.
    Low,
    /// Just below this value.
    Before(Value),
    /// Just above this value.
    After(Value),
    /// Above every value.
    High,
}

impl Cut {
    /// Order of places; total, because the values of one column are.
    pub(crate) fn compare(&self, other: &Cut, domain: &Domain) -> Ordering {
        use Cut::{After, Before, High, Low};
        match (self, other) {
            (Low, Low) | (High, High) => Ordering::Equal,
            (Low, _) | (_, High) => Ordering::Less,
            (High, _) | (_, Low) => Ordering::Greater,
            (Before(a), Before(b)) | (After(a), After(b)) => domain.compare(a, b),
            (Before(a), After(b)) => domain.compare(a, b).then(Ordering::Less),
            (After(a), Before(b)) => domain.compare(a, b).then(Ordering::Greater),
        }
    }

    /// Whether the value is above the cut; otherwise it is below.
    fn is_below(&self, value: &Value, domain: &Domain) -> bool {
        match self {
            Cut::Low => true,
            Cut::Before(cut) => domain.compare(cut, value).is_le(),
            Cut::After(cut) => domain.compare(cut, value).is_lt(),
            Cut::High => false,
        }
    }
}

/// The values between two cuts; never empty, and in the column's normal form
/// (see [`Domain::span`]), so that two spans of the same values are `==` wherever
/// the type can tell one value's neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// Lower end.
    pub(crate) lo: Cut,
    /// Upper end.
    pub(crate) hi: Cut,
}

impl Span {
    /// Every value.
    pub(crate) const ALL: Span = Span { lo: Cut::Low, hi: Cut::High };

    /// The one value that is inside, when there is no more than that.
    ///
    /// Smallest and largest values of a type stand as `Low` and `High`, so a
    /// span that holds an extreme alone needs the domain to say which it is.
    pub(crate) fn as_point<'a>(&'a self, domain: &'a Domain) -> Option<&'a Value> {
        let (lo, hi) = domain.ends(self)?;
        domain.compare(lo, hi).is_eq().then_some(lo)
    }

    /// Whether the value is inside.
    pub(crate) fn contains(&self, value: &Value, domain: &Domain) -> bool {
        self.lo.is_below(value, domain) && !self.hi.is_below(value, domain)
    }

    /// Whether it reaches above a value.
    pub(crate) fn goes_above(&self, value: &Value, domain: &Domain) -> bool {
        match &self.hi {
            Cut::High => domain.max().is_none_or(|max| domain.compare(value, max).is_lt()),
            Cut::Before(hi) | Cut::After(hi) => domain.compare(value, hi).is_lt(),
            Cut::Low => false,
        }
    }

    /// Whether it reaches below a value.
    pub(crate) fn goes_below(&self, value: &Value, domain: &Domain) -> bool {
        match &self.lo {
            Cut::Low => domain.min().is_none_or(|min| domain.compare(value, min).is_gt()),
            Cut::Before(lo) | Cut::After(lo) => domain.compare(value, lo).is_gt(),
            Cut::High => false,
        }
    }

    /// The intersection.
    pub(crate) fn intersect(&self, other: &Span, domain: &Domain) -> Option<Span> {
        let lo = if self.lo.compare(&other.lo, domain).is_ge() { &self.lo } else { &other.lo };
        let hi = if self.hi.compare(&other.hi, domain).is_le() { &self.hi } else { &other.hi };
        lo.compare(hi, domain).is_lt().then(|| Span { lo: lo.clone(), hi: hi.clone() })
    }

    /// Whether every value inside `self` is inside `other`.
    pub(crate) fn is_within(&self, other: &Span, domain: &Domain) -> bool {
        self.lo.compare(&other.lo, domain).is_ge() && self.hi.compare(&other.hi, domain).is_le()
    }
}

impl Domain {
    /// The values between two cuts in normal form: closed ends where the type
    /// knows a value's neighbour, `Low` and `High` where nothing is left out.
    pub(crate) fn span(&self, lo: Cut, hi: Cut) -> Option<Span> {
        let lo = match lo {
            Cut::After(value) if self.is_discrete() => self.neighbour(&value, true).map_or(Cut::High, Cut::Before),
            other => other,
        };
        let hi = match hi {
            Cut::Before(value) if self.is_discrete() => self.neighbour(&value, false).map_or(Cut::Low, Cut::After),
            other => other,
        };
        let (lo, hi) = (self.outermost(lo), self.outermost(hi));
        lo.compare(&hi, self).is_lt().then_some(Span { lo, hi })
    }

    /// This value alone, in normal form.
    pub(crate) fn point(&self, value: Value) -> Span {
        Span { lo: self.outermost(Cut::Before(value.clone())), hi: self.outermost(Cut::After(value)) }
    }

    /// The cut in normal form: `Low` and `High` where no value is beyond it.
    fn outermost(&self, cut: Cut) -> Cut {
        match cut {
            Cut::Before(value) if self.is_extreme(&value, self.min()) => Cut::Low,
            Cut::After(value) if self.is_extreme(&value, self.max()) => Cut::High,
            other => other,
        }
    }

    /// Whether no value lies between the end of one span and the start of another, in normal form both.
    pub(crate) fn touches(&self, hi: &Cut, lo: &Cut) -> bool {
        match (hi, lo) {
            (Cut::After(a), Cut::Before(b)) if self.is_discrete() => {
                self.neighbour(a, true).is_some_and(|next| self.compare(&next, b).is_ge())
            }
            _ => hi.compare(lo, self).is_ge(),
        }
    }

    /// Number of values in a span, for the types whose values can be counted one by one.
    pub(crate) fn count(&self, span: &Span) -> Option<u64> {
        if span.as_point(self).is_some() {
            return Some(1);
        }
        match self.ends(span)? {
            (Value::Bool(a), Value::Bool(b)) => Some(1 + u64::from(a != b)),
            (Value::Int(a), Value::Int(b)) | (Value::Date(a), Value::Date(b)) => {
                u64::try_from(i128::from(*b) - i128::from(*a) + 1).ok()
            }
            _ => None,
        }
    }

    /// The values of a span one by one, in value order; for spans that [`Domain::count`] counts.
    pub(crate) fn values(&self, span: &Span) -> Vec<Value> {
        let Some((first, last)) = self.ends(span) else { return Vec::new() };
        let mut values = vec![first.clone()];
        let mut at = first.clone();
        while self.compare(&at, last).is_lt() {
            match self.neighbour(&at, true) {
                Some(next) => at = next,
                None => break,
            }
            values.push(at.clone());
        }
        values
    }

    /// First and last value of a span with closed ends.
    fn ends<'a>(&'a self, span: &'a Span) -> Option<(&'a Value, &'a Value)> {
        let first = match &span.lo {
            Cut::Low => self.min()?,
            Cut::Before(value) => value,
            _ => return None,
        };
        let last = match &span.hi {
            Cut::High => self.max()?,
            Cut::After(value) => value,
            _ => return None,
        };
        Some((first, last))
    }
}
