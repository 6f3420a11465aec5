//! Sets of truth values.

/// A set of truth values: the requested outcomes of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TruthSet {
    /// TRUE.
    pub(crate) yes: bool,
    /// FALSE.
    pub(crate) no: bool,
    /// Unknown.
    pub(crate) unknown: bool,
}

impl TruthSet {
    /// The outcome that WHERE keeps.
    pub(crate) const TRUE: TruthSet = TruthSet { yes: true, no: false, unknown: false };
    /// FALSE alone.
    pub(crate) const FALSE: TruthSet = TruthSet { yes: false, no: true, unknown: false };
    /// Unknown alone.
    pub(crate) const UNKNOWN: TruthSet = TruthSet { yes: false, no: false, unknown: true };

    /// The outcomes wanted of `x` if these are wanted of `NOT x`.
    pub(crate) fn swapped(self) -> Self {
        Self { yes: self.no, no: self.yes, unknown: self.unknown }
    }

    /// The outcomes not wanted.
    pub(crate) fn complement(self) -> Self {
        Self { yes: !self.yes, no: !self.no, unknown: !self.unknown }
    }

    /// Whether this outcome, `None` for unknown, is wanted.
    pub(crate) fn has(self, outcome: Option<bool>) -> bool {
        match outcome {
            Some(true) => self.yes,
            Some(false) => self.no,
            None => self.unknown,
        }
    }
}
