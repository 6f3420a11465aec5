//! Types as text: Phoenix's, and the names that standard SQL and PostgreSQL have for them.
//!
//! | written | means |
//! |---|---|
//! | every name of Phoenix | itself |
//! | `INT`, `INT4`; `INT8`; `INT2` | `INTEGER`; `BIGINT`; `SMALLINT` |
//! | `REAL`, `FLOAT4`; `FLOAT8`, `DOUBLE PRECISION` | `FLOAT`; `DOUBLE` |
//! | `NUMERIC`, `DEC` | `DECIMAL` |
//! | `BOOL` | `BOOLEAN` |
//! | `TEXT`, `STRING`, `CHARACTER VARYING`, `CHAR VARYING` | `VARCHAR` |
//! | `CHARACTER` | `CHAR` |
//! | `BYTEA`, `BLOB` | `VARBINARY` |
//! | `DATETIME` | `TIMESTAMP` |
//! | bare `CHAR`, `BINARY` | refused: Phoenix asks for a length |
//! | `t ARRAY`, `t ARRAY[n]`, `t[]`, `t[n]` | an array of t; n is kept and not enforced |

use std::num::NonZeroU32;

use saltwing_types::sql_type::{DECIMAL_PRECISION_MAX, ELEMENT_LENGTH_MAX};
use saltwing_types::{Span, SqlType};
use sqlparser::tokenizer::Token;

use crate::cast_type::array_of;
use crate::cursor::Cursor;
use crate::error::SqlError;

/// The longest CHAR, BINARY or VARCHAR, in its own units.
pub const TYPE_LENGTH_MAX: u32 = 10_485_760;

/// The names of types, for advice.
const TYPE_NAMES: &str = "TINYINT SMALLINT INTEGER INT BIGINT INT2 INT4 INT8 UNSIGNED_TINYINT UNSIGNED_SMALLINT UNSIGNED_INT \
    UNSIGNED_LONG FLOAT DOUBLE REAL FLOAT4 FLOAT8 UNSIGNED_FLOAT UNSIGNED_DOUBLE DECIMAL NUMERIC DEC BOOLEAN BOOL DATE TIME TIMESTAMP \
    DATETIME UNSIGNED_DATE UNSIGNED_TIME UNSIGNED_TIMESTAMP CHAR CHARACTER VARCHAR TEXT STRING BINARY VARBINARY \
    VARBINARY_ENCODED UUID JSON BYTEA BLOB VARYING";

/// Whether a type may start with `word`.
pub(crate) fn is_type_name(word: &str) -> bool {
    TYPE_NAMES.split(' ').any(|name| word.eq_ignore_ascii_case(name))
}

/// What to write for an instant with a time zone.
pub const NO_TIMESTAMPTZ: &str = "all instants are UTC: a TIMESTAMP takes '2024-01-01 00:00:00+02' as that instant, AT TIME ZONE \
    tells what a zone's clocks show";

/// Takes a type from `cursor`; `column` is whose it is, for messages.
pub(crate) fn parse(cursor: &mut Cursor<'_>, column: &str) -> Result<(SqlType, Span), SqlError> {
    let start = cursor.index();
    let Some(word) = cursor.word(0).map(str::to_uppercase) else {
        return Err(cursor.expected(&format!("a type for column {column}")));
    };
    cursor.skip();
    let mut sql_type = named(cursor, &word, start, column)?;
    let span = cursor.span_from(start);
    if cursor.at(&["ARRAY"]) || *cursor.peek(0) == Token::LBracket {
        sql_type = array(cursor, sql_type, start, column)?;
    }
    if cursor.at(&["WITH", "TIME", "ZONE"]) {
        let what = format!("column {column}: {word} WITH TIME ZONE");
        return Err(SqlError::not_supported(what, span).with_help("all instants are UTC; leave WITH TIME ZONE out"));
    }
    cursor.eat(&["WITHOUT", "TIME", "ZONE"]);
    Ok((sql_type, cursor.span_from(start)))
}

fn named(cursor: &mut Cursor<'_>, word: &str, start: usize, column: &str) -> Result<SqlType, SqlError> {
    let plain = match word {
        "INT2" => SqlType::SmallInt,
        "INT" | "INT4" => SqlType::Integer,
        "INT8" => SqlType::BigInt,
        "REAL" | "FLOAT4" => SqlType::Float,
        "FLOAT8" => SqlType::Double,
        "DOUBLE" => {
            cursor.eat(&["PRECISION"]);
            SqlType::Double
        }
        "BOOL" => SqlType::Boolean,
        "DATETIME" => SqlType::Timestamp,
        "BYTEA" | "BLOB" => SqlType::Varbinary,
        "DECIMAL" | "NUMERIC" | "DEC" => return decimal(cursor, start, column),
        "TEXT" | "STRING" => SqlType::Varchar(None),
        "VARCHAR" => return Ok(SqlType::Varchar(length(cursor, word, start, column)?)),
        "CHAR" | "CHARACTER" if cursor.eat(&["VARYING"]) => {
            return Ok(SqlType::Varchar(length(cursor, word, start, column)?));
        }
        "CHAR" | "CHARACTER" => return fixed(cursor, "CHAR", start, column).map(SqlType::Char),
        "BINARY" => return fixed(cursor, "BINARY", start, column).map(SqlType::Binary),
        "BSON" | "JSONB" | "ARRAY" | "XML" | "CLOB" | "ENUM" | "SERIAL" | "BIGSERIAL" | "NCHAR" | "NVARCHAR"
        | "TIMESTAMPTZ" | "TIMETZ" | "STRUCT" | "MAP" => {
            let what = format!("column {column}: the type {word}");
            let error = SqlError::not_supported(what, cursor.span_from(start));
            return Err(match word {
                "TIMESTAMPTZ" => error.with_help(NO_TIMESTAMPTZ),
                _ => error,
            });
        }
        // Phoenix's own names, of which NULL is none.
        _ => match word.parse() {
            Ok(SqlType::Null) | Err(_) => return Err(unknown(cursor, word, start, column)),
            Ok(sql_type) => sql_type,
        },
    };
    if *cursor.peek(0) == Token::LParen {
        return Err(SqlError::invalid(format!("column {column}: {word} takes no length"), cursor.here()));
    }
    Ok(plain)
}

/// `ARRAY`, `ARRAY[n]`, `[]` or `[n]` after the type of the elements.
fn array(cursor: &mut Cursor<'_>, element: SqlType, start: usize, column: &str) -> Result<SqlType, SqlError> {
    let has_word = cursor.eat(&["ARRAY"]);
    let mut length = None;
    if cursor.eat_symbol(&Token::LBracket) && !cursor.eat_symbol(&Token::RBracket) {
        let at = cursor.here();
        let declared = number(cursor)?;
        cursor.expect_symbol(&Token::RBracket)?;
        length = u32::try_from(declared).ok().and_then(NonZeroU32::new);
        if length.is_none() {
            let message = format!("column {column}: the length of an array goes from 1 to {}", u32::MAX);
            return Err(SqlError::invalid(message, at));
        }
    }
    if *cursor.peek(0) == Token::LBracket || has_word && cursor.at(&["ARRAY"]) {
        return Err(SqlError::not_supported(format!("column {column}: an array of arrays"), cursor.here()));
    }
    array_of(element, length).ok_or_else(|| {
        let message = format!("column {column}: elements of an array are at most {ELEMENT_LENGTH_MAX} long");
        SqlError::invalid(message, cursor.span_from(start))
    })
}

fn unknown(cursor: &Cursor<'_>, word: &str, start: usize, column: &str) -> SqlError {
    let error = SqlError::invalid(format!("column {column}: unknown type {word}"), cursor.span_at(start));
    match saltwing_types::suggest(word, TYPE_NAMES.split(' ')) {
        Some(meant) => error.with_help(format!("did you mean {meant}?")),
        None => error,
    }
}

/// `(n)`, or nothing.
fn length(cursor: &mut Cursor<'_>, word: &str, start: usize, column: &str) -> Result<Option<u32>, SqlError> {
    if !cursor.eat_symbol(&Token::LParen) {
        return Ok(None);
    }
    let at = cursor.here();
    let length = number(cursor)?;
    cursor.expect_symbol(&Token::RParen)?;
    match u32::try_from(length) {
        Ok(length) if (1..=TYPE_LENGTH_MAX).contains(&length) => Ok(Some(length)),
        _ => {
            let text = cursor.text_from(start);
            let message = format!("column {column}: {text}: the length of {word} goes from 1 to {TYPE_LENGTH_MAX}");
            Err(SqlError::invalid(message, at))
        }
    }
}

fn fixed(cursor: &mut Cursor<'_>, word: &str, start: usize, column: &str) -> Result<u32, SqlError> {
    length(cursor, word, start, column)?.ok_or_else(|| {
        SqlError::invalid(format!("column {column}: {word} needs a length"), cursor.span_from(start))
            .with_help(format!("write {word}(n)"))
    })
}

fn decimal(cursor: &mut Cursor<'_>, start: usize, column: &str) -> Result<SqlType, SqlError> {
    if !cursor.eat_symbol(&Token::LParen) {
        return Ok(SqlType::Decimal(None));
    }
    let precision_at = cursor.here();
    let precision = number(cursor)?;
    let (scale, scale_at) = match cursor.eat_symbol(&Token::Comma) {
        true => {
            let at = cursor.here();
            (number(cursor)?, at)
        }
        false => (0, precision_at),
    };
    cursor.expect_symbol(&Token::RParen)?;
    let text = cursor.text_from(start);
    let precision = match u8::try_from(precision) {
        Ok(precision) if (1..=DECIMAL_PRECISION_MAX).contains(&precision) => precision,
        _ => {
            let message = format!("column {column}: {text}: the precision goes from 1 to {DECIMAL_PRECISION_MAX}");
            return Err(SqlError::invalid(message, precision_at));
        }
    };
    match u8::try_from(scale) {
        Ok(scale) if scale <= precision => Ok(SqlType::Decimal(Some((precision, scale)))),
        _ => {
            let message = format!("column {column}: {text}: the scale goes from 0 to the precision, {precision}");
            Err(SqlError::invalid(message, scale_at))
        }
    }
}

/// An unsigned integer; one beyond 64 bits is as wrong as the largest.
fn number(cursor: &mut Cursor<'_>) -> Result<u64, SqlError> {
    match cursor.peek(0) {
        Token::Number(digits, _) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let value = digits.parse().unwrap_or(u64::MAX);
            cursor.skip();
            Ok(value)
        }
        _ => Err(cursor.expected("a whole number")),
    }
}
