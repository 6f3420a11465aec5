//! What a registry is asked for.

/// What a registry is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Meta,
    Master,
}

impl Wanted {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Meta => "hbase:meta",
            Self::Master => "the active master",
        }
    }
}
