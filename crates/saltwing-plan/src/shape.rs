//! The shape of a set: what a plan takes from it without its values.
//!
//! # Laws
//! Whatever the values that are not known yet, as long as none of them is NULL or stands at an end of its type:
//! 1. `and` is a shape of the intersection of sets with these shapes, and `or` one of their union;
//! 2. a set of [`Spread::Points`] holds at most so many values;
//! 3. a set of [`Spread::Spans`] leaves out values at an end that is bounded, and holds none that equals a bound that is
//!    excluded.
//!
//! At the ends of a type a bound leaves out nothing: no INTEGER is below the smallest one. A plan with values sees that; one
//! without them takes a bound for a bound.

use std::ops::Bound;

/// How the values of a set lie, and whether NULL may be among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// Whether NULL may be inside.
    pub(crate) nulls: bool,
    /// How its values lie.
    pub(crate) spread: Spread,
}

/// How the values of a set lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spread {
    /// At most so many values, NULL counted.
    Points(usize),
    /// Values between bounds.
    Spans {
        /// Whether values are left out at the low end.
        low: Bound<()>,
        /// Whether values are left out at the high end.
        high: Bound<()>,
        /// Whether there is one span at most: no value between the bounds is left out.
        is_one: bool,
    },
}

impl Shape {
    /// One span that leaves out values at both ends, NULL not among them.
    pub(crate) const BETWEEN: Self = Self::span(Bound::Included(()), Bound::Included(()));
    /// Values left out in the middle.
    pub(crate) const EXCLUSION: Self =
        Self { nulls: false, spread: Spread::Spans { low: Bound::Unbounded, high: Bound::Unbounded, is_one: false } };

    /// At most so many values.
    pub(crate) const fn points(count: usize) -> Self {
        Self { nulls: false, spread: Spread::Points(count) }
    }

    /// One span.
    pub(crate) const fn span(low: Bound<()>, high: Bound<()>) -> Self {
        Self { nulls: false, spread: Spread::Spans { low, high, is_one: true } }
    }

    /// The same shape, perhaps with NULL inside.
    pub(crate) fn with_nulls(self, nulls: bool) -> Self {
        Self { nulls, ..self }
    }

    /// The shape of an intersection: a list before spans, bounds at both ends before one.
    pub(crate) fn and(self, other: Self) -> Self {
        let spread = match (self.spread, other.spread) {
            (Spread::Points(a), Spread::Points(b)) => Spread::Points(a.min(b)),
            (points @ Spread::Points(_), _) | (_, points @ Spread::Points(_)) => points,
            (Spread::Spans { low, high, is_one }, Spread::Spans { low: low_2, high: high_2, is_one: is_one_2 }) => {
                Spread::Spans { low: tighter(low, low_2), high: tighter(high, high_2), is_one: is_one && is_one_2 }
            }
        };
        Self { nulls: self.nulls && other.nulls, spread }
    }

    /// The shape of a union.
    pub(crate) fn or(self, other: Self) -> Self {
        let spread = match (self.spread, other.spread) {
            (Spread::Points(a), Spread::Points(b)) => Spread::Points(a.saturating_add(b)),
            (a, b) => {
                let ((low, high, is_one), (low_2, high_2, is_one_2)) = (a.ends(), b.ends());
                let open = |a, b| a == Bound::Unbounded && b == Bound::Unbounded;
                // Two spans that both go up without end are one.
                let is_one = is_one && is_one_2 && (open(low, low_2) || open(high, high_2));
                Spread::Spans { low: wider(low, low_2), high: wider(high, high_2), is_one }
            }
        };
        Self { nulls: self.nulls || other.nulls, spread }
    }

    /// Whether it bounds its column, as the guard demands it: a list, or values left out at an end.
    pub(crate) fn bounds(self) -> bool {
        !matches!(self.spread, Spread::Spans { low: Bound::Unbounded, high: Bound::Unbounded, .. })
    }

    /// The most values of a list.
    pub(crate) fn point_count(self) -> Option<usize> {
        if let Spread::Points(count) = self.spread { Some(count) } else { None }
    }

    /// Whether the least value of the column may be inside.
    pub(crate) fn may_hold_least(self) -> bool {
        !matches!(self.spread, Spread::Spans { low: Bound::Excluded(()), .. })
    }
}

impl Spread {
    /// Low end, high end, and whether there is one span at most. Points leave out values at both ends.
    pub(crate) fn ends(self) -> (Bound<()>, Bound<()>, bool) {
        match self {
            Self::Points(count) => (Bound::Included(()), Bound::Included(()), count <= 1),
            Self::Spans { low, high, is_one } => (low, high, is_one),
        }
    }
}

/// The bound of an intersection.
fn tighter(a: Bound<()>, b: Bound<()>) -> Bound<()> {
    match (a, b) {
        (Bound::Unbounded, other) | (other, Bound::Unbounded) => other,
        (Bound::Included(()), Bound::Included(())) => Bound::Included(()),
        _ => Bound::Excluded(()),
    }
}

/// The bound of a union.
fn wider(a: Bound<()>, b: Bound<()>) -> Bound<()> {
    match (a, b) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => Bound::Unbounded,
        (Bound::Excluded(()), Bound::Excluded(())) => Bound::Excluded(()),
        _ => Bound::Included(()),
    }
}
