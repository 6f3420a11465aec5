//! Tokens from lexemes.
//!
//! The tokens are sqlparser's, so that its parser can take them; the lexer is
//! ours, because sqlparser's reads several things wrong in silence (`12abc` as
//! `12 AS abc`, `/*! .. */` as code) and knows `//` only together with `#`.
//! Three choices close whole classes of wrong readings:
//!
//! * **Only the dialect's own words are keywords** ([`words`]).
//!   sqlparser knows a thousand from fifteen dialects; here `top`, `pivot` and
//!   `member` are names like any other.
//! * **A string is no name.** Strings travel as `TripleSingleQuotedString`, which
//!   no name of sqlparser's grammar can be; the dialect makes them plain string
//!   values again. So `FROM 't'` and `SELECT 1 'x'` are errors. The name of a file is one ([`crate::file_name`]).
//! * **Blanks, comments and hints are left out** and hints kept apart, so the
//!   index of a token is the same for us and for sqlparser.

use std::ops::Range;

use saltwing_types::Span;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span as TokenSpan, Token, TokenWithSpan, Word};

use crate::error::SqlError;
use crate::file_name::mark_files;
use crate::phoenix::{self, Dialect};
use crate::place;
use crate::scanner::{self, Lexeme, Open, Scanner};
use crate::words;

/// A text as tokens.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// The tokens; placeholders as they were written.
    pub(crate) tokens: Vec<TokenWithSpan>,
    /// The bytes of each token.
    pub(crate) ranges: Vec<Range<usize>>,
    /// The hints, in text order.
    pub(crate) hints: Vec<RawHint>,
}

/// A `/*+ .. */` and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct RawHint {
    /// Index of the token that follows.
    pub(crate) before: usize,
    /// The text between `/*+` and `*/`, as bytes of the source.
    pub(crate) inside: Range<usize>,
    /// Where the text between the marks starts.
    pub(crate) start: Location,
}

/// Reads the piece of `sql` that starts at byte `offset`, which is `start`.
pub(crate) fn lex(piece: &str, offset: usize, start: Location, dialect: Dialect) -> Result<Lexed, SqlError> {
    let mut lexed = Lexed::default();
    let mut at = start;
    for (kind, in_piece) in Scanner::new(piece, dialect) {
        let text = piece.get(in_piece.clone()).unwrap_or("");
        let range = offset + in_piece.start..offset + in_piece.end;
        let end = advance(at, text);
        let span = TokenSpan::new(at, end);
        match kind {
            Lexeme::Blank | Lexeme::Comment => {}
            Lexeme::Hint => lexed.hints.push(RawHint {
                before: lexed.tokens.len(),
                inside: range.start + 3..range.end - 2,
                start: Location::new(at.line, at.column + 3),
            }),
            _ => {
                if matches!(kind, Lexeme::Text) {
                    refuse_prefix(piece, in_piece.start, ours(span))?;
                }
                let token = match dialect {
                    Dialect::Saltwing => token(kind, text, ours(span))?,
                    Dialect::Phoenix => phoenix_token(kind, text, ours(span))?,
                };
                lexed.tokens.push(TokenWithSpan { token, span });
                lexed.ranges.push(range);
            }
        }
        at = end;
    }
    demote_keywords(&mut lexed.tokens);
    mark_files(&mut lexed.tokens);
    Ok(lexed)
}

/// Refuses `N'..'`, `B'..'` and their kin, whose prefix would be a name.
fn refuse_prefix(piece: &str, quote_at: usize, span: Span) -> Result<(), SqlError> {
    let before = piece.get(..quote_at).unwrap_or("");
    let prefix = ["N", "B", "R", "Q", "NQ"].into_iter().find(|prefix| {
        before
            .len()
            .checked_sub(prefix.len())
            .and_then(|start| before.split_at_checked(start))
            .is_some_and(|(head, tail)| tail.eq_ignore_ascii_case(prefix) && !head.ends_with(scanner::is_name_part))
    });
    match prefix {
        Some(prefix) => Err(SqlError::not_supported(format!("{prefix}'..' strings"), span)
            .with_help("write '..', or E'..' for one with escapes")),
        None => Ok(()),
    }
}

/// Where `text` ends, if it starts at `from`.
pub(crate) fn advance(from: Location, text: &str) -> Location {
    match text.rfind('\n') {
        None => Location::new(from.line, from.column + text.chars().count() as u64),
        Some(last) => {
            let lines = text.bytes().filter(|b| *b == b'\n').count() as u64;
            let column = text.get(last + 1..).unwrap_or("").chars().count() as u64;
            Location::new(from.line + lines, column + 1)
        }
    }
}

fn ours(span: TokenSpan) -> Span {
    place::span_of(span).unwrap_or_else(place::origin)
}

fn token(kind: Lexeme, text: &str, span: Span) -> Result<Token, SqlError> {
    Ok(match kind {
        Lexeme::Word => word(text, None),
        Lexeme::QuotedName => word(&quoted_name(text, span)?, Some('"')),
        Lexeme::Text => Token::TripleSingleQuotedString(inner(text, 1).replace("''", "'")),
        Lexeme::EscapedText => Token::TripleSingleQuotedString(unescape(inner(text, 2), span)?),
        Lexeme::UnicodeText => Token::TripleSingleQuotedString(unicode_text(inner(text, 3), span)?),
        Lexeme::DollarText => Token::TripleSingleQuotedString(dollar_text(text).to_owned()),
        Lexeme::Hex => Token::HexStringLiteral(hex(inner(text, 2), span)?),
        Lexeme::Number => Token::Number(plain_number(text, span)?, false),
        Lexeme::Parameter => Token::Placeholder(text.to_owned()),
        Lexeme::Symbol => symbol(text, span)?,
        Lexeme::Stray => return Err(stray(text, span)),
        Lexeme::BadNumber => {
            let message = format!("\"{text}\" is neither a number nor a name");
            return Err(SqlError::syntax(message, span)
                .with_help(format!("put a blank or an operator after the number, or quote the name: \"{text}\"")));
        }
        Lexeme::Unterminated(open) => return Err(unterminated(open, span)),
        // Left out by the caller.
        Lexeme::Blank | Lexeme::Comment | Lexeme::Hint => return Err(SqlError::syntax("unexpected blank", span)),
    })
}

/// Names without quotes are in upper case, and strings have escapes.
fn phoenix_token(kind: Lexeme, text: &str, span: Span) -> Result<Token, SqlError> {
    Ok(match kind {
        Lexeme::Word => word(&text.to_uppercase(), None),
        Lexeme::Text => Token::TripleSingleQuotedString(phoenix::unescape(inner(text, 1))),
        _ => token(kind, text, span)?,
    })
}

fn word(text: &str, quote: Option<char>) -> Token {
    match Token::make_word(text, quote) {
        Token::Word(Word { value, quote_style, keyword }) if !words::is_keyword(keyword) => {
            Token::Word(Word { value, quote_style, keyword: Keyword::NoKeyword })
        }
        token => token,
    }
}

/// The text without `open` characters in front and the closing quote.
fn inner(text: &str, open: usize) -> &str {
    text.get(open..text.len().saturating_sub(1)).unwrap_or("")
}

fn quoted_name(text: &str, span: Span) -> Result<String, SqlError> {
    let name = inner(text, 1).replace("\"\"", "\"");
    if name.is_empty() {
        return Err(SqlError::syntax("a quoted name is empty", span));
    }
    if name.contains('\0') {
        return Err(SqlError::syntax("a name holds a NUL character", span));
    }
    // sqlparser prints such names as other names than they are.
    if name.contains("\"\"") || name.contains("\\\"") {
        return Err(SqlError::not_supported("a name with two quotes in a row, or a quote after a backslash", span));
    }
    Ok(name)
}

fn hex(digits: &str, span: Span) -> Result<String, SqlError> {
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(SqlError::syntax("X'..' takes hexadecimal digits only", span));
    }
    if digits.len() % 2 == 1 {
        return Err(SqlError::syntax("X'..' takes two hexadecimal digits for each byte", span));
    }
    Ok(digits.to_owned())
}

fn symbol(text: &str, span: Span) -> Result<Token, SqlError> {
    Ok(match text {
        "!~~*" => Token::ExclamationMarkDoubleTildeAsterisk,
        "!~~" => Token::ExclamationMarkDoubleTilde,
        "!~*" => Token::ExclamationMarkTildeAsterisk,
        "!~" => Token::ExclamationMarkTilde,
        "~~*" => Token::DoubleTildeAsterisk,
        "~~" => Token::DoubleTilde,
        "~*" => Token::TildeAsterisk,
        "~" => Token::Tilde,
        "->" => Token::Arrow,
        "->>" => Token::LongArrow,
        "#>" => Token::HashArrow,
        "#>>" => Token::HashLongArrow,
        "@>" => Token::AtArrow,
        "<@" => Token::ArrowAt,
        "&&" => Token::Overlap,
        "#" => Token::Sharp,
        ":" => Token::Colon,
        "::" => Token::DoubleColon,
        "<=" => Token::LtEq,
        "<>" | "!=" => Token::Neq,
        "<<" => Token::ShiftLeft,
        ">=" => Token::GtEq,
        ">>" => Token::ShiftRight,
        "||" => Token::StringConcat,
        "=>" => Token::RArrow,
        "==" => Token::DoubleEq,
        "=" => Token::Eq,
        "<" => Token::Lt,
        ">" => Token::Gt,
        "+" => Token::Plus,
        "-" => Token::Minus,
        "*" => Token::Mul,
        "/" => Token::Div,
        "%" => Token::Mod,
        "(" => Token::LParen,
        ")" => Token::RParen,
        "[" => Token::LBracket,
        "]" => Token::RBracket,
        "," => Token::Comma,
        "." => Token::Period,
        ";" => Token::SemiColon,
        "|" => Token::Pipe,
        "&" => Token::Ampersand,
        "^" => Token::Caret,
        _ => return Err(stray(text, span)),
    })
}

fn stray(text: &str, span: Span) -> SqlError {
    let error = SqlError::syntax(format!("unexpected character {text:?}"), span);
    match text {
        "`" | "´" => error.with_help("quote names with double quotes: \"name\""),
        "‘" | "’" | "“" | "”" => error.with_help("quote strings with ' and names with \""),
        "{" | "}" => error.with_help("there are no structs and maps: JSON_OBJECT('a', 1) makes JSON of values"),
        "，" | "；" | "（" | "）" => error.with_help("this is a full-width character; write the plain one"),
        "\\" => error.with_help("a backslash means something only inside a string"),
        _ => error,
    }
}

fn unterminated(open: Open, span: Span) -> SqlError {
    let first = Span { start: span.start, end: span.start };
    match open {
        Open::Comment => SqlError::syntax("a comment is not closed", first).with_help("close it with */"),
        Open::Text => SqlError::syntax("a string is not closed", first)
            .with_help("close it with '; a ' inside a string is written ''"),
        Open::DollarText => SqlError::syntax("a string in dollars is not closed", first)
            .with_help("close it with the same dollars, and the same tag between them"),
        Open::QuotedName => SqlError::syntax("a quoted name is not closed", first).with_help("close it with \""),
    }
}

/// A number as digits of base 10, without marks.
fn plain_number(text: &str, span: Span) -> Result<String, SqlError> {
    let digits = text.replace('_', "");
    let base = match digits.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => return Ok(digits),
    };
    let number = u64::from_str_radix(digits.get(2..).unwrap_or_default(), base);
    number.map(|number| number.to_string()).map_err(|_| {
        SqlError::syntax(format!("{text} has more than 64 bits"), span).with_help("write it as a decimal number")
    })
}

/// The inside of `$tag$..$tag$`.
fn dollar_text(text: &str) -> &str {
    let tag = text.get(1..).and_then(|rest| rest.find('$')).map_or(0, |end| end + 2);
    text.get(tag..text.len().saturating_sub(tag)).unwrap_or_default()
}

/// The meaning of the inside of `U&'..'`: `\\00e4` and `\\+01f600` are characters, two backslashes are one.
fn unicode_text(text: &str, span: Span) -> Result<String, SqlError> {
    let (mut out, mut chars) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\'', _) => {
                // The second of a doubled quote.
                chars.next();
                out.push('\'');
            }
            ('\\', Some('\\')) => {
                chars.next();
                out.push('\\');
            }
            ('\\', Some('+')) => {
                chars.next();
                out.push(code_point(&mut chars, 6, 6, 16, span)?);
            }
            ('\\', _) => out.push(code_point(&mut chars, 4, 4, 16, span)?),
            (c, _) => out.push(c),
        }
    }
    Ok(out)
}

/// The meaning of the inside of `E'..'`, by PostgreSQL's rules.
fn unescape(text: &str, span: Span) -> Result<String, SqlError> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                // The second of a doubled quote.
                chars.next();
                out.push('\'');
            }
            '\\' => match chars.next() {
                Some('x') => out.push(code_point(&mut chars, 1, 2, 16, span)?),
                Some('u') => out.push(code_point(&mut chars, 4, 4, 16, span)?),
                Some('U') => out.push(code_point(&mut chars, 8, 8, 16, span)?),
                Some(digit @ '0'..='7') => {
                    let first = digit.to_digit(8).unwrap_or(0);
                    let (value, count) = digits(&mut chars, 2, 8);
                    out.push(char_of(first * 8_u32.pow(count) + value, span)?);
                }
                Some(other) => out.push(phoenix::control_character(other).unwrap_or(other)),
                None => {}
            },
            c => out.push(c),
        }
    }
    Ok(out)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Up to `most` digits as a number, and how many there were.
fn digits(chars: &mut Chars<'_>, most: u32, radix: u32) -> (u32, u32) {
    let (mut value, mut count) = (0_u32, 0);
    while count < most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value.saturating_mul(radix).saturating_add(digit);
        count += 1;
        chars.next();
    }
    (value, count)
}

fn code_point(chars: &mut Chars<'_>, least: u32, most: u32, radix: u32, span: Span) -> Result<char, SqlError> {
    let (value, count) = digits(chars, most, radix);
    if count < least {
        return Err(SqlError::syntax(format!("an escape in a string takes {most} hexadecimal digits"), span));
    }
    char_of(value, span)
}

fn char_of(value: u32, span: Span) -> Result<char, SqlError> {
    char::from_u32(value).ok_or_else(|| SqlError::syntax(format!("{value:x} is no Unicode character"), span))
}

/// Takes the keyword from words that are one only before certain others.
///
/// `SELECT count(*) filter FROM t` would lose its alias in silence: sqlparser
/// eats the word and then finds no bracket.
fn demote_keywords(tokens: &mut [TokenWithSpan]) {
    let keyword_at = |tokens: &[TokenWithSpan], index: Option<usize>| match index.and_then(|i| tokens.get(i)) {
        Some(TokenWithSpan { token: Token::Word(word), .. }) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    for index in 0..tokens.len() {
        let next = keyword_at(tokens, Some(index + 1));
        let previous = keyword_at(tokens, index.checked_sub(1));
        let bracket = matches!(tokens.get(index + 1), Some(TokenWithSpan { token: Token::LParen, .. }));
        let keep = match keyword_at(tokens, Some(index)) {
            Keyword::FILTER => bracket,
            Keyword::WITHIN => next == Keyword::GROUP,
            Keyword::IGNORE | Keyword::RESPECT => next == Keyword::NULLS,
            Keyword::SEMI | Keyword::ANTI => {
                matches!(previous, Keyword::LEFT | Keyword::RIGHT) || next == Keyword::JOIN
            }
            Keyword::SIMILAR => next == Keyword::TO,
            // UNION BY NAME.
            Keyword::NAME => {
                let before = keyword_at(tokens, index.checked_sub(2));
                let is_set = matches!(before, Keyword::UNION | Keyword::ALL | Keyword::DISTINCT);
                previous == Keyword::BY && is_set
            }
            Keyword::AT => next == Keyword::TIME,
            Keyword::ORDINALITY => previous == Keyword::WITH,
            Keyword::RECURSIVE => previous == Keyword::WITH,
            Keyword::ONLY => matches!(previous, Keyword::ROW | Keyword::ROWS),
            Keyword::PERCENT => matches!(next, Keyword::ROW | Keyword::ROWS),
            _ => true,
        };
        if let (false, Some(TokenWithSpan { token: Token::Word(word), .. })) = (keep, tokens.get_mut(index)) {
            word.keyword = Keyword::NoKeyword;
        }
    }
}
