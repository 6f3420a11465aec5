//! Whose memory a limit bounds.

use std::fmt;

/// Whose memory a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryScope {
    /// All running statements of a database together.
    Statements,
    /// One statement.
    Statement,
}

impl fmt::Display for MemoryScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Statements => "running statements use",
            Self::Statement => "it uses",
        })
    }
}

impl MemoryScope {
    /// The setting that has the limit.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Statements => "memory_limit",
            Self::Statement => "statement_memory_limit",
        }
    }
}
