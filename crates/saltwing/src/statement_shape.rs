//! The shape of a statement: its text without its values.

use saltwing_sql::{Dialect, Lexeme, lexemes_in};

/// Most characters of a shape.
const CHARS_MAX: usize = 2000;

/// The text with `?` in place of each literal and parameter, one `?` in place of a list after IN, one blank in place of blanks and comments, and at
/// most [`CHARS_MAX`] characters.
///
/// # Laws
/// 1. No character of a literal is in the shape.
/// 2. Texts that differ in literals, blanks and comments alone have one shape.
pub(crate) fn statement_shape(sql: &str, dialect: Dialect) -> Shape {
    let mut shape = String::new();
    let (mut is_blank_before, mut list) = (false, List::Outside);
    for (kind, range) in lexemes_in(sql, dialect) {
        let text = sql.get(range).unwrap_or_default();
        let text = match kind {
            Lexeme::Blank | Lexeme::Comment => {
                is_blank_before = true;
                continue;
            }
            Lexeme::Text
            | Lexeme::EscapedText
            | Lexeme::UnicodeText
            | Lexeme::DollarText
            | Lexeme::Hex
            | Lexeme::Number
            | Lexeme::BadNumber => "?",
            Lexeme::Parameter | Lexeme::Unterminated(_) => "?",
            _ => text,
        };
        list = list.after(text);
        let is_left_out = matches!(list, List::Comma | List::More);
        // A comma of a list is left out only if a literal follows it.
        if list == List::No(true) {
            shape.push(',');
            list = List::Outside;
        }
        if is_left_out {
            is_blank_before = false;
            continue;
        }
        if is_blank_before && !shape.is_empty() {
            shape.push(' ');
        }
        is_blank_before = false;
        shape.push_str(text);
    }
    let is_whole = shape.chars().nth(CHARS_MAX).is_none();
    if !is_whole {
        shape = shape.chars().take(CHARS_MAX - 1).chain(['…']).collect();
    }
    Shape { text: shape, is_whole }
}

/// A shape, and whether it is all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) text: String,
    pub(crate) is_whole: bool,
}

/// The place in a list of literals after IN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Outside,
    /// After IN.
    In,
    /// After its bracket.
    Open,
    /// After the first literal.
    First,
    /// After a comma that a literal may follow.
    Comma,
    /// After a further literal.
    More,
    /// After something else; whether a comma was left out before it.
    No(bool),
}

impl List {
    fn after(self, text: &str) -> Self {
        match (self, text) {
            (_, word) if word.eq_ignore_ascii_case("IN") => Self::In,
            (Self::In, "(") => Self::Open,
            (Self::Open, "?") => Self::First,
            (Self::First | Self::More, ",") => Self::Comma,
            (Self::Comma, "?") => Self::More,
            (Self::Comma, _) => Self::No(true),
            _ => Self::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape(sql: &str) -> String {
        statement_shape(sql, Dialect::Saltwing).text
    }

    #[test]
    fn values_are_left_out() {
        for (sql, expected) in [
            ("SELECT a FROM t WHERE b = 'secret' AND c > 12.5", "SELECT a FROM t WHERE b = ? AND c > ?"),
            ("SELECT  a -- why\nFROM t /* b */ WHERE c=X'00ff'", "SELECT a FROM t WHERE c=?"),
            ("SELECT a FROM t WHERE b = :name OR c = $1 OR d = ?2", "SELECT a FROM t WHERE b = ? OR c = ? OR d = ?"),
            ("SELECT a FROM t WHERE b IN (1, 2,3)", "SELECT a FROM t WHERE b IN (?)"),
            ("SELECT a FROM t WHERE b IN (1, c, 3)", "SELECT a FROM t WHERE b IN (?, c, ?)"),
            ("SELECT a FROM t WHERE (b, c) IN ((1, 2), (3, 4))", "SELECT a FROM t WHERE (b, c) IN ((?, ?), (?, ?))"),
            (
                "SELECT /*+ NO_INDEX */ \"a 1\" FROM t WHERE b = E'x\\n'",
                "SELECT /*+ NO_INDEX */ \"a 1\" FROM t WHERE b = ?",
            ),
            ("SELECT a FROM t WHERE b = 'no end", "SELECT a FROM t WHERE b = ?"),
            ("", ""),
        ] {
            assert_eq!(shape(sql), expected, "{sql}");
        }
    }

    #[test]
    fn a_shape_is_bounded() {
        let long = format!("SELECT a FROM t WHERE {}", "é = 1 OR ".repeat(1000));
        let shape = statement_shape(&long, Dialect::Saltwing);
        assert_eq!((shape.text.chars().count(), shape.is_whole), (CHARS_MAX, false));
    }

    proptest! {
        #[test]
        fn values_blanks_and_comments_make_no_difference(
            texts in prop::collection::vec("[a-z' é;()?,-]{0,12}", 1..5),
            numbers in prop::collection::vec(any::<u32>(), 1..5),
            blanks in "[ \n]{1,4}",
        ) {
            let text = |text: &String| format!("'{}'", text.replace('\'', "''"));
            let literals: Vec<String> = texts.iter().map(text).chain(numbers.iter().map(u32::to_string)).collect();
            let sql = |literals: &[String], blanks: &str| {
                let conditions: Vec<String> = literals.iter().map(|literal| format!("c ={blanks}{literal}")).collect();
                format!("SELECT a FROM t WHERE{blanks}{} AND d IN ({})", conditions.join(" AND "), literals.join(", "))
            };
            let plain = vec!["1".to_owned(); literals.len()];
            prop_assert_eq!(shape(&sql(&literals, &blanks)), shape(&sql(&plain, " /* c */ ")));
        }

        #[test]
        fn no_text_makes_it_panic(sql in "\\PC{0,80}") {
            statement_shape(&sql, Dialect::Saltwing);
            statement_shape(&sql, Dialect::Phoenix);
        }
    }
}
