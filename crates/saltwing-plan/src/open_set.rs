//! Sets of one key column's values that are not known yet: a parameter or a subquery tells them at execution.
//!
//! Such a set has a [`Shape`], from which a plan takes what holds whatever the values are, and a form: how it is made of
//! conditions. By its form it is compared with other sets; there are no values to compare.
//!
//! ```text
//! k > ?1                 the test itself              from above a bound, without end
//! k > ?1 AND k <= ?2     all of two tests             one span between two bounds
//! k IN (?1, ?2, 3)       any of two tests and {3}     at most three points
//! LEFT(k, 1), k = ?1     the part of such a set       at most one point
//! ```

use std::hash::{Hash, Hasher};
use std::mem;

use saltwing_types::{CompareOp, Expr};

use crate::column_set::ColumnSet;
use crate::shape::Shape;

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
