//! Passwords in texts of statements: where they are, for those who show or keep such texts.

use std::ops::Range;

use crate::scanner::{Lexeme, Open, Scanner};
use crate::{Dialect, split_statements_in};

/// The text with a star in the place of each character of a password, so that all places stay the same; `None` if there is none in it.
///
/// The text need not be one that can be read: all after the place where a password begins is taken for it, up to the end of its
/// statement. So a quote too few shows nothing.
pub fn without_passwords(sql: &str) -> Option<String> {
    // Most texts have none of these words, and need no scan.
    if !contains_word(sql, "password") && !contains_word(sql, "user") && !contains_word(sql, "role") {
        return None;
    }
    let secrets = [Dialect::Saltwing, Dialect::Phoenix].into_iter().flat_map(|dialect| secrets(sql, dialect));
    let secrets: Vec<Range<usize>> = secrets.collect();
    if secrets.is_empty() {
        return None;
    }
    let is_secret = |at: usize| secrets.iter().any(|secret| secret.contains(&at));
    let shown = |(at, c): (usize, char)| if is_secret(at) && !c.is_whitespace() { '*' } else { c };
    Some(sql.char_indices().map(shown).collect())
}

/// Whether the text has these ASCII letters, in any case.
fn contains_word(sql: &str, word: &str) -> bool {
    sql.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// The passwords of each statement, with what follows them in it.
fn secrets(sql: &str, dialect: Dialect) -> Vec<Range<usize>> {
    let statements = split_statements_in(sql, dialect);
    let secret = |source: crate::StatementText<'_>| {
        let start = source.offset + secret_start(source.text, dialect)?;
        let end = source.offset + source.text.len() - usize::from(source.complete);
        (start < end).then_some(start..end)
    };
    statements.filter_map(secret).collect()
}

/// Where a password begins: the text after the word PASSWORD, or in a statement on users what stands after that word, or its first text.
fn secret_start(statement: &str, dialect: Dialect) -> Option<usize> {
    let (mut before, mut is_on_user, mut is_after) = (String::new(), false, false);
    for (kind, range) in Scanner::new(statement, dialect) {
        let text = statement.get(range.clone()).unwrap_or("");
        let is_text = matches!(
            kind,
            Lexeme::Text
                | Lexeme::EscapedText
                | Lexeme::UnicodeText
                | Lexeme::DollarText
                | Lexeme::Hex
                | Lexeme::Unterminated(Open::Text | Open::QuotedName | Open::DollarText)
        );
        match kind {
            Lexeme::Blank | Lexeme::Comment | Lexeme::Hint => continue,
            Lexeme::Symbol if is_after && text == "=" => continue,
            _ if is_text && (is_after || is_on_user) => return Some(range.start),
            _ if is_after && is_on_user => return Some(range.start),
            Lexeme::Word => {
                let word = text.to_ascii_uppercase();
                let makes = matches!(before.as_str(), "CREATE" | "ALTER");
                is_on_user |= makes && matches!(word.as_str(), "USER" | "ROLE");
                (is_after, before) = (word == "PASSWORD", word);
            }
            _ => (is_after, before) = (false, String::new()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_passwords_and_what_may_be_one() {
        for (sql, shown) in [
            ("CREATE USER u PASSWORD 'secret'", "CREATE USER u PASSWORD ********"),
            ("alter user u with password 'é' ;SELECT 'a'", "alter user u with password *** ;SELECT 'a'"),
            ("EXPLAIN CREATE USER u PASSWORD 'it''s'", "EXPLAIN CREATE USER u PASSWORD *******"),
            // A quote too few, or too many.
            ("CREATE USER u PASSWORD 'it's secret'", "CREATE USER u PASSWORD ***** *******"),
            ("CREATE USER u PASSWORD 'open\n;SELECT 1", "CREATE USER u PASSWORD *****\n******* *"),
            ("CREATE USER u PASSWORD secret words;", "CREATE USER u PASSWORD ****** *****;"),
            // Slips of the pen.
            ("CREATE USER u PASWORD 'secret'", "CREATE USER u PASWORD ********"),
            ("CREATE USR u PASSWORD 'secret'", "CREATE USR u PASSWORD ********"),
            ("CREATE USER u 'secret'", "CREATE USER u ********"),
            ("CREATE ROLE r LOGIN PASSWORD /* c */ 'secret'", "CREATE ROLE r LOGIN PASSWORD /* c */ ********"),
            ("SET PASSWORD = 'secret'", "SET PASSWORD = ********"),
            ("CREATE USER u PASSWORD \"secret", "CREATE USER u PASSWORD *******"),
        ] {
            assert_eq!(without_passwords(sql).as_deref(), Some(shown), "{sql}");
            assert_eq!(shown.chars().count(), sql.chars().count());
        }
    }

    #[test]
    fn other_texts_have_none() {
        for sql in [
            "SELECT password FROM users WHERE name = 'x'",
            "CREATE TABLE users (password VARCHAR DEFAULT 'x')",
            "SELECT 'CREATE USER u PASSWORD'",
            "DROP USER u",
            "GRANT SELECT ON t TO u",
            "CREATE USER u PASSWORD",
        ] {
            assert_eq!(without_passwords(sql), None, "{sql}");
        }
    }
}
