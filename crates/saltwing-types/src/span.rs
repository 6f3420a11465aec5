//! Where in a statement's text something stands.

/// A place in SQL text: line and column, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A piece of SQL text from `start` to `end`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First character.
    pub start: Position,
    /// Last character.
    pub end: Position,
}

impl Span {
    /// A span on one line, from column `from` to column `to`, both inclusive.
    pub fn on_line(line: u32, from: u32, to: u32) -> Self {
        let at = |column| Position { line, column };
        Self { start: at(from), end: at(to) }
    }

    /// The smallest span that holds both.
    pub fn union(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}
