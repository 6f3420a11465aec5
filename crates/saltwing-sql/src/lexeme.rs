//! The pieces that statements are written in, for what shows or completes SQL.

use std::ops::Range;

use crate::scanner::{Kind, Scanner};

/// The kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexeme {
    /// Blanks and line ends.
    Blank,
    /// A comment of any kind.
    Comment,
    /// `/*+ .. */`.
    Hint,
    /// A keyword or a name.
    Word,
    /// `".."`.
    QuotedName,
    /// A string or bytes.
    Text,
    /// A number.
    Number,
    /// `?`, `?1`, `$1`, `:name`.
    Parameter,
    /// An operator, a bracket, a comma, a `;`.
    Symbol,
    /// A character that no statement may contain.
    Stray,
    /// A string, name or comment that the text ends in.
    Open,
}

/// The lexemes of `sql`, in order, each with its place in bytes.
///
/// They are the parser's own, follow each other without gaps and cover the text.
pub fn lexemes(sql: &str) -> impl Iterator<Item = (Lexeme, Range<usize>)> {
    Scanner::new(sql).map(|(kind, range)| (lexeme(kind), range))
}

fn lexeme(kind: Kind) -> Lexeme {
    match kind {
        Kind::Blank => Lexeme::Blank,
        Kind::Comment => Lexeme::Comment,
        Kind::Hint => Lexeme::Hint,
        Kind::Word => Lexeme::Word,
        Kind::QuotedName => Lexeme::QuotedName,
        Kind::Text | Kind::EscapedText | Kind::Hex => Lexeme::Text,
        Kind::Number => Lexeme::Number,
        Kind::Parameter => Lexeme::Parameter,
        Kind::Symbol => Lexeme::Symbol,
        Kind::BadNumber | Kind::Stray => Lexeme::Stray,
        Kind::Unterminated(_) => Lexeme::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_the_text_without_gaps() {
        let sql = "SELECT /*+ h */ \"a\", 1.5, 'x' -- c\nFROM t WHERE é = ? AND b = 'open";
        let all: Vec<_> = lexemes(sql).collect();
        assert_eq!(all.iter().map(|(_, r)| &sql[r.clone()]).collect::<String>(), sql);
        let shown = |l| all.iter().filter(|(k, _)| *k == l).map(|(_, r)| &sql[r.clone()]).collect::<Vec<_>>();
        assert_eq!(shown(Lexeme::Hint), ["/*+ h */"]);
        assert_eq!(shown(Lexeme::Comment), ["-- c"]);
        assert_eq!(shown(Lexeme::Text), ["'x'"]);
        assert_eq!(shown(Lexeme::Open), ["'open"]);
        assert_eq!(shown(Lexeme::Word), ["SELECT", "FROM", "t", "WHERE", "é", "AND", "b"]);
    }
}
