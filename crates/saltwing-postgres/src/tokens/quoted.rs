//! The characters that strings and quoted names stand for.

use saltwing::Dialect;
use saltwing::syntax::Lexeme;

/// The text of a string or of a quoted name; the reason if it has none.
///
/// Strings follow the dialect as statements of the library do: a backslash in a plain string is itself, except in Phoenix's.
pub(super) fn text_of(lexeme: Lexeme, written: &str, dialect: Dialect) -> Result<String, &'static str> {
    let text = match lexeme {
        Lexeme::QuotedName => match inside(written, 1).replace("\"\"", "\"") {
            name if name.is_empty() => return Err("a quoted name is empty"),
            name => name,
        },
        Lexeme::EscapedText => unescape(inside(written, 2), Escapes::Postgres)?,
        Lexeme::Text if dialect == Dialect::Phoenix => unescape(inside(written, 1), Escapes::Phoenix)?,
        Lexeme::Text => inside(written, 1).replace("''", "'"),
        _ => return Err("a string is expected"),
    };
    // The messages of the protocol end a text with it.
    if text.contains('\0') { Err("a text holds a NUL character") } else { Ok(text) }
}

/// The text without the `open` characters at its beginning, and without the closing quote.
fn inside(written: &str, open: usize) -> &str {
    written.get(open..written.len().saturating_sub(1)).unwrap_or("")
}

/// The escapes of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Those of `E'..'`.
    Postgres,
    /// Those of a string in Phoenix's dialect: `\_` and `\%` stay as they are, for LIKE.
    Phoenix,
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn unescape(inside: &str, escapes: Escapes) -> Result<String, &'static str> {
    let mut text = String::with_capacity(inside.len());
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                // The second of a doubled quote.
                chars.next();
                text.push('\'');
            }
            '\\' => match chars.next() {
                Some(wildcard @ ('_' | '%')) if escapes == Escapes::Phoenix => text.extend(['\\', wildcard]),
                Some(letter) if escapes == Escapes::Postgres => text.push(escaped(letter, &mut chars)?),
                Some(letter) => text.push(control_character(letter).unwrap_or(letter)),
                None => {}
            },
            c => text.push(c),
        }
    }
    Ok(text)
}

/// The character of an escape of `E'..'` that begins with `letter`.
fn escaped(letter: char, chars: &mut Chars<'_>) -> Result<char, &'static str> {
    let code = match letter {
        'x' => number(chars, None, 16, 1, 2)?,
        'u' => number(chars, None, 16, 4, 4)?,
        'U' => number(chars, None, 16, 8, 8)?,
        '0'..='7' => number(chars, letter.to_digit(8), 8, 0, 2)?,
        other => return Ok(control_character(other).unwrap_or(other)),
    };
    char::from_u32(code).ok_or("an escape in E'..' is no Unicode character")
}

/// The number of `least` to `most` digits, after a first digit that was read.
fn number(chars: &mut Chars<'_>, first: Option<u32>, radix: u32, least: u32, most: u32) -> Result<u32, &'static str> {
    let (mut value, mut count) = (first.unwrap_or(0), 0);
    while count < most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        // Eight hexadecimal digits fit.
        value = value.saturating_mul(radix).saturating_add(digit);
        count += 1;
        chars.next();
    }
    if count < least { Err("an escape in E'..' has too few digits") } else { Ok(value) }
}

/// The control character that a backslash and this letter stand for.
fn control_character(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use saltwing::syntax::lexemes_in;

    use super::*;

    fn text(written: &str, dialect: Dialect) -> Result<String, &'static str> {
        let (lexeme, range) = lexemes_in(written, dialect).next().unwrap();
        assert_eq!(range.len(), written.len(), "{written} is one lexeme");
        text_of(lexeme, written, dialect)
    }

    #[test]
    fn strings_follow_the_dialect() {
        for (written, saltwing, phoenix) in [
            ("''", "", ""),
            ("'it''s'", "it's", "it's"),
            (r"'a\\b'", r"a\\b", r"a\b"),
            (r"'\_\n'", r"\_\n", "\\_\n"),
            (r"E'\x41\102\u00e9\t\q'", "AB\u{e9}\tq", "AB\u{e9}\tq"),
            (r"E'it\'s'", "it's", "it's"),
            ("\"a\"\"B\"", "a\"B", "a\"B"),
        ] {
            assert_eq!(text(written, Dialect::Saltwing).as_deref(), Ok(saltwing), "{written}");
            assert_eq!(text(written, Dialect::Phoenix).as_deref(), Ok(phoenix), "{written}");
        }
    }

    #[test]
    fn wrong_strings_have_a_reason() {
        for written in [r"E'\u12'", r"E'\ud800'", r"E'\Uffffffff'", r"E'\0'", r"E'\x'", "\"\""] {
            assert!(text(written, Dialect::Saltwing).is_err(), "{written}");
        }
    }

    /// The library reads strings of a statement by the same rules.
    #[test]
    fn the_library_reads_the_same() {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).unwrap();
        connection.execute("UPSERT INTO t VALUES (1)", ()).unwrap();
        for dialect in [Dialect::Saltwing, Dialect::Phoenix] {
            let name = if dialect == Dialect::Saltwing { "saltwing" } else { "phoenix" };
            connection.execute(&format!("SET dialect = '{name}'"), ()).unwrap();
            for written in [r"'a\\b''c'", r"'\_\%\n\q'", r"E'\x41\102\u00e9\t\q\'\7x'", r"E'\U0001f600'"] {
                let (read,) =
                    connection.query_one::<(String,)>(&format!("SELECT {written} FROM t WHERE k = 1"), ()).unwrap();
                assert_eq!(text(written, dialect), Ok(read), "{written}");
            }
        }
    }
}
