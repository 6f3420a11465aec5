//! The tables that a statement names, which may be unfinished.

use saltwing::syntax::{Lexeme, lexemes};

/// Words before a table.
pub(crate) const BEFORE_TABLES: &[&str] =
    &["COMPACT", "COPY", "DESCRIBE", "EXISTS", "FROM", "INTO", "JOIN", "SUMMARIZE", "TABLE", "TRUNCATE", "UPDATE"];

/// Words that are not the name or the alias of a table, at positions where one may follow.
const CLAUSES: &[&str] = &[
    "ADD",
    "AFTER",
    "AS",
    "CROSS",
    "DROP",
    "EXCEPT",
    "EXISTS",
    "FOR",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IF",
    "INNER",
    "INTERSECT",
    "IS",
    "JOIN",
    "LATERAL",
    "LEFT",
    "LIMIT",
    "NATURAL",
    "NOT",
    "OFFSET",
    "ON",
    "ORDER",
    "OVERRIDING",
    "QUALIFY",
    "RENAME",
    "RETURNING",
    "RIGHT",
    "SELECT",
    "SET",
    "TABLE",
    "TO",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// A lexeme other than blanks and comments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Lexeme,
    pub(crate) text: &'a str,
    pub(crate) end: usize,
}

impl Token<'_> {
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, Lexeme::Word | Lexeme::QuotedName)
    }

    /// Whether the token is one of these words.
    pub(crate) fn is_word(&self, words: &[&str]) -> bool {
        self.kind == Lexeme::Word && words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }
}

/// The lexemes of a text, without blanks and without closed comments and hints.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let all = lexemes(text).map(|(kind, range)| Token { kind, end: range.end, text: text.get(range).unwrap_or("") });
    all.filter(|token| match token.kind {
        Lexeme::Blank | Lexeme::Hint => false,
        // A comment to the end of the line may continue at the end of the text.
        Lexeme::Comment => token.end == text.len() && !token.text.ends_with("*/"),
        _ => true,
    })
    .collect()
}

/// A table that a statement names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTable {
    /// The name as written, with its schema.
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
}

impl NamedTable {
    /// Whether columns may be written after this word and a dot.
    pub(crate) fn is_named(&self, word: &str) -> bool {
        is_same(self.alias.as_deref().unwrap_or(&self.name), word)
    }
}

/// Whether two names are the same, in quotes or not.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    a.trim_matches('"').to_lowercase() == b.trim_matches('"').to_lowercase()
}

/// The tables after FROM, JOIN and the like.
pub(crate) fn tables_of(statement: &str) -> Vec<NamedTable> {
    let tokens = tokens(statement);
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if !first.is_word(BEFORE_TABLES) {
            continue;
        }
        while let Some((table, after)) = named(rest) {
            found.push(table);
            rest = after;
            match after {
                [comma, after @ ..] if comma.text == "," && first.is_word(&["FROM"]) => rest = after,
                _ => break,
            }
        }
    }
    found
}

/// A table with its alias, and the tokens after it.
fn named<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(NamedTable, &'t [Token<'a>])> {
    let (name, after) = match tokens {
        [schema, point, table, after @ ..] if schema.is_name() && point.text == "." && table.is_name() => {
            (format!("{}.{}", schema.text, table.text), after)
        }
        [table, after @ ..] if table.is_name() && !table.is_word(CLAUSES) => (table.text.to_owned(), after),
        _ => return None,
    };
    let after = match after {
        [word, after @ ..] if word.is_word(&["AS"]) => after,
        after => after,
    };
    match after {
        [alias, after @ ..] if alias.is_name() && !alias.is_word(CLAUSES) => {
            Some((NamedTable { name, alias: Some(alias.text.to_owned()) }, after))
        }
        after => Some((NamedTable { name, alias: None }, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_their_aliases() {
        let of = |sql| -> Vec<(String, Option<String>)> {
            tables_of(sql).into_iter().map(|table| (table.name, table.alias)).collect()
        };
        let table = |name: &str, alias: &str| (name.to_owned(), (!alias.is_empty()).then(|| alias.to_owned()));
        assert_eq!(
            of("SELECT a FROM s.t AS x, \"U\" JOIN v w ON 1 = 1 WHERE a IN (SELECT b FROM z)"),
            [table("s.t", "x"), table("\"U\"", ""), table("v", "w"), table("z", "")]
        );
        assert_eq!(of("UPDATE t SET a = 1"), [table("t", "")]);
        assert_eq!(of("INSERT INTO t (a, b) VALUES (1, 2)"), [table("t", "")]);
        assert_eq!(of("SELECT 1 FROM (SELECT 2) d, t"), []);
        assert_eq!(of("SELECT 1 FROM"), []);
    }
}
