//! Quoted names in Phoenix's dialect: there they are exact.
//!
//! In our own language every name matches in any case, and nothing after the parser knows another rule. So the parser collects
//! the quoted names that refer to objects, and those that the statement gives to new ones. The binder compares the former with
//! the catalog before it binds the statement.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::column_type::is_type_name;
use crate::name::Name;
use crate::place;

/// The quoted names by which a statement refers to something, and what they may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactNames {
    /// The names.
    pub references: Vec<Name>,
    /// The names that the statement itself gives: aliases, queries of WITH, new columns.
    pub given: Vec<String>,
    /// The words that may be tables, each with its schema.
    pub tables: Vec<(Option<String>, String)>,
}

impl ExactNames {
    /// Those of a statement; `None` if it refers to nothing in quotes.
    pub(crate) fn of(tokens: &[TokenWithSpan]) -> Option<Box<Self>> {
        let mut names = Self { references: Vec::new(), given: Vec::new(), tables: Vec::new() };
        for (at, token) in tokens.iter().enumerate() {
            let Token::Word(word) = &token.token else { continue };
            let is_quoted = word.quote_style.is_some();
            if gives_name(tokens, at) {
                names.given.push(word.value.clone());
            } else if is_quoted && let Some(span) = place::span_of(token.span) {
                names.references.push(Name { text: word.value.clone(), quoted: true, span });
            }
            if is_quoted || word.keyword == Keyword::NoKeyword {
                names.tables.push((schema_before(tokens, at), word.value.clone()));
            }
        }
        (!names.references.is_empty()).then(|| Box::new(names))
    }
}

fn token_at(tokens: &[TokenWithSpan], at: Option<usize>) -> Option<&Token> {
    tokens.get(at?).map(|token| &token.token)
}

/// The word before a dot before this one.
fn schema_before(tokens: &[TokenWithSpan], at: usize) -> Option<String> {
    match (token_at(tokens, at.checked_sub(2)), token_at(tokens, at.checked_sub(1))) {
        (Some(Token::Word(schema)), Some(Token::Period)) => Some(schema.value.clone()),
        _ => None,
    }
}

/// Whether the word here is the new name of something.
fn gives_name(tokens: &[TokenWithSpan], at: usize) -> bool {
    if is_keyword(tokens, at) {
        return false;
    }
    let (before, after) = (token_at(tokens, at.checked_sub(1)), token_at(tokens, Some(at + 1)));
    let is_followed_by = |token| token_at(tokens, Some(at + 2)) == Some(&token);
    match after {
        Some(Token::Word(Word { keyword: Keyword::AS, .. })) if is_followed_by(Token::LParen) => return true,
        Some(Token::Word(Word { value, quote_style: None, .. })) if is_type_name(value) => return true,
        _ => {}
    }
    match before {
        Some(Token::Word(Word { keyword: Keyword::AS | Keyword::CONSTRAINT | Keyword::TO, .. })) => true,
        // An alias follows a whole expression or a table.
        Some(Token::RParen | Token::RBracket | Token::Number(..) | Token::TripleSingleQuotedString(_)) => true,
        Some(Token::Word(_)) if at > 1 && !is_keyword(tokens, at - 1) => true,
        _ => is_created(tokens, at),
    }
}

/// Whether the word is one of SQL, and hardly a name.
fn is_keyword(tokens: &[TokenWithSpan], at: usize) -> bool {
    let Some(Token::Word(Word { value, quote_style: None, .. })) = token_at(tokens, Some(at)) else { return false };
    matches!(Token::make_keyword(value), Token::Word(word) if word.keyword != Keyword::NoKeyword)
}

/// Whether the word is the name of what a CREATE makes.
fn is_created(tokens: &[TokenWithSpan], at: usize) -> bool {
    let is_head = |token: &Token| match token {
        Token::Word(word) => word.keyword != Keyword::AS,
        Token::Period => true,
        _ => false,
    };
    let mut head = tokens.iter().take(at).map(|token| &token.token);
    matches!(head.clone().next(), Some(Token::Word(Word { value, quote_style: None, .. })) if value == "CREATE")
        && head.all(is_head)
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, parse_one_in};

    /// The names that a statement refers to, and those that it gives.
    fn names(sql: &str) -> (Vec<String>, Vec<String>) {
        let exact = parse_one_in(sql, Dialect::Phoenix).unwrap().exact;
        exact.map_or_else(Default::default, |exact| {
            (exact.references.into_iter().map(|name| name.text).collect(), exact.given)
        })
    }

    #[test]
    fn references_and_new_names_are_separated() {
        for (sql, references, given) in [
            ("SELECT k FROM t", "", ""),
            ("SELECT \"a\", x.\"b\" AS \"c\", k \"d\" FROM \"t\" AS \"x\" WHERE \"e\" = 1", "a b t e", "c d x"),
            ("SELECT COUNT(*) \"n\" FROM t u ORDER BY \"n\"", "n", "n U"),
            ("WITH \"w\" AS (SELECT 1 AS \"k\") SELECT \"k\" FROM \"w\"", "k w", "w k"),
            ("UPSERT INTO \"s\".\"t\" (\"k\", \"e\" VARCHAR) VALUES (1, 'x')", "s t k", "e"),
            ("UPDATE \"t\" SET \"a\" = 1 WHERE \"k\" = 2", "t a k", ""),
            ("DELETE FROM \"t\" WHERE \"k\" = 2", "t k", ""),
            ("DROP TABLE IF EXISTS \"t\"", "t", ""),
            ("CREATE TABLE \"t\" (\"k\" INTEGER NOT NULL, CONSTRAINT \"pk\" PRIMARY KEY (\"k\"))", "k", "t k pk"),
            ("CREATE VIEW \"v\" AS SELECT \"k\" FROM \"t\"", "k t", "v"),
            ("ALTER TABLE \"t\" RENAME COLUMN \"a\" TO \"b\"", "t a", "b"),
            ("ALTER TABLE \"t\" ADD \"a\" VARCHAR", "t", "a"),
            ("SELECT NEXT VALUE FOR \"q\" FROM t", "q", ""),
        ] {
            let (found, new) = names(sql);
            assert_eq!((found.join(" "), new.join(" ")), (references.to_owned(), given.to_owned()), "{sql}");
        }
    }
}
