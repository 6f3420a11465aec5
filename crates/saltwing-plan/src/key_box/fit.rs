//! How closely boxes hold the rows that are asked for.

use crate::key_box::KeyBox;

/// Whether boxes hold other rows than those that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fit {
    /// None.
    Exact,
    /// None, but for the rows in these boxes, for which the condition may raise an error.
    ExactOutside(Vec<KeyBox>),
    /// They may.
    Loose,
}

/// Most boxes that [`Fit::ExactOutside`] keeps.
const OUTSIDE_MAX: usize = 16;

impl Fit {
    /// What holds of two covers together.
    pub(super) fn and(self, other: &Fit) -> Self {
        match (self, other) {
            (Self::Exact, Self::Exact) => Self::Exact,
            (fit @ Self::ExactOutside(_), Self::Exact) => fit,
            (Self::Exact, fit @ Self::ExactOutside(_)) => fit.clone(),
            (Self::ExactOutside(a), Self::ExactOutside(b)) if a.len() + b.len() <= OUTSIDE_MAX => {
                Self::ExactOutside([a.as_slice(), b.as_slice()].concat())
            }
            _ => Self::Loose,
        }
    }
}
