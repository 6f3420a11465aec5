//! Comparisons of a side that the key bounds with a value that is not known yet: their sets have shapes alone.
//!
//! ```text
//! k = ?               at most one point
//! k > ?, k <= ?       one bound
//! k <> ?              values left out in the middle
//! LEFT(k, 2) = ?      one span between two bounds
//! k * ? > 5           one bound; the condition stays a filter, as 0 would make it TRUE for all values, or for none
//! ```

use std::ops::Bound;

use saltwing_types::{CompareOp, Expr, SqlType};

use crate::column_set::ColumnSet;
use crate::cover::Cover;
use crate::domain::Domain;
use crate::monotonicity::Direction;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};
use crate::shape::{Shape, Spread};
use crate::value_set::ValueSet;

/// What is known of the values that compare in some way with one that is not known yet.
pub(crate) struct OpenComparison {
    /// How many values are equal to it at most; `None`: those between two bounds.
    pub(super) equal: Option<usize>,
    /// The direction of the side that is compared, below 0 and from there on.
    pub(super) moves: (Direction, Direction),
    /// The values for which the comparison may fail; `None` if others may be between those that are equal, too.
    pub(super) failing: Option<ValueSet>,
}

impl OpenComparison {
    /// Of a side that goes up; at most one value is equal.
    pub(crate) const POINT: Self = Self { equal: Some(1), moves: UP, failing: Some(ValueSet::EMPTY) };
    /// Of a side that goes up; values between two bounds are equal.
    pub(super) const SPAN: Self = Self { equal: None, moves: UP, failing: Some(ValueSet::EMPTY) };
    /// As [`OpenComparison::SPAN`], with other values among those that are equal. A side of which not even the direction is
    /// known is taken for such a one.
    pub(super) const LOOSE: Self = Self { equal: None, moves: UP, failing: None };

    /// The values for which `side op value` holds; NULL only for IS [NOT] DISTINCT FROM.
    pub(crate) fn satisfying(&self, op: CompareOp, side: &Expr, value: &Expr, domain: &Domain) -> ColumnSet {
        if self.failing.is_none() && matches!(op, CompareOp::NotEq | CompareOp::Distinct) {
            // Those that may be equal may differ as well.
            let nulls = if op == CompareOp::Distinct { ValueSet::null(domain) } else { ValueSet::EMPTY };
            return ValueSet::union([&ValueSet::not_null(), &nulls], domain).into();
        }
        let is_distinction = matches!(op, CompareOp::Distinct | CompareOp::NotDistinct);
        let shape = self.shape(op, domain).with_nulls(is_distinction && domain.nullable());
        ColumnSet::of_test(Expr::Compare(op, Box::new(side.clone()), Box::new(value.clone())), shape)
    }

    fn shape(&self, op: CompareOp, domain: &Domain) -> Shape {
        let folds = self.moves.0 != self.moves.1;
        let is_binary = domain.ty() == SqlType::Boolean && self.equal == Some(1);
        match op {
            // What is not the one of two values is the other.
            CompareOp::NotEq | CompareOp::Lt | CompareOp::Gt if is_binary => Shape::points(1),
            CompareOp::Eq | CompareOp::NotDistinct => match self.equal {
                Some(count) => Shape::points(count),
                None if folds => Shape { spread: Spread::Spans { low: IN, high: IN, is_one: false }, ..Shape::BETWEEN },
                None => Shape::BETWEEN,
            },
            CompareOp::NotEq | CompareOp::Distinct => Shape::EXCLUSION,
            CompareOp::Lt | CompareOp::LtEq if folds => Shape::BETWEEN,
            CompareOp::Gt | CompareOp::GtEq if folds => Shape::EXCLUSION,
            op => {
                // A function may give the same for values beyond the bound.
                let bound = if self.equal == Some(1) && op == op.strict() { Bound::Excluded(()) } else { IN };
                let is_low = matches!(op, CompareOp::Gt | CompareOp::GtEq) == (self.moves.1 == Direction::Up);
                if is_low { Shape::span(bound, Bound::Unbounded) } else { Shape::span(Bound::Unbounded, bound) }
            }
        }
    }

    /// Of a set made by [`OpenComparison::satisfying`] the values for which the comparison is false; `None` if the set may have
    /// others.
    pub(super) fn doubt(&self, set: &ColumnSet, domain: &Domain) -> Option<ValueSet> {
        let failing = self.failing.as_ref()?;
        // What fails is taken for beyond all values, and equals none.
        let (low, high, _) = set.shape(domain).spread.ends();
        let is_between = low != Bound::Unbounded && high != Bound::Unbounded;
        Some(if is_between { ValueSet::EMPTY } else { failing.clone() })
    }
}

const IN: Bound<()> = Bound::Included(());
const UP: (Direction, Direction) = (Direction::Up, Direction::Up);

impl CoverBuilder<'_> {
    /// A comparison of a side, which is the key column at `position` or a function of it, with a value that is not known yet, or
    /// of a function with such a value in it.
    pub(super) fn compare_open(
        &self,
        op: CompareOp,
        (side, position): (&Expr, usize),
        (value, open): (&Expr, &OpenComparison),
        want: TruthSet,
    ) -> Cover {
        let domain = self.space.domain(position);
        let is_distinction = matches!(op, CompareOp::Distinct | CompareOp::NotDistinct);
        let outcomes = Outcomes {
            yes: &|| open.satisfying(op, side, value, domain),
            no: &|| open.satisfying(op.negated(), side, value, domain),
            unknown: &|| if is_distinction { ValueSet::EMPTY } else { ValueSet::null(domain) }.into(),
            doubt: &|set| open.doubt(set, domain),
        };
        self.column_cover(position, want, outcomes)
    }

    /// A test of a text that begins with one that is not known yet. It is exact if all texts between the bounds meet it.
    pub(super) fn open_text_test(&self, position: usize, test: Expr, is_exact: bool, want: TruthSet) -> Cover {
        let domain = self.space.domain(position);
        let outcomes = Outcomes {
            yes: &|| ColumnSet::of_test(test.clone(), Shape::span(IN, Bound::Excluded(()))),
            no: &|| match is_exact {
                true => ColumnSet::of_test(Expr::Not(Box::new(test.clone())), Shape::EXCLUSION),
                false => ValueSet::not_null().into(),
            },
            unknown: &|| ValueSet::null(domain).into(),
            doubt: &|_| is_exact.then_some(ValueSet::EMPTY),
        };
        self.column_cover(position, want, outcomes)
    }
}
