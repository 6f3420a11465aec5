//! Columns that fill themselves: generated columns and identity columns.

use saltwing_types::{Span, SqlType};
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::sequence;
use crate::statement::{DefaultSpec, IdentitySpec, SequenceOptions};

/// What a column gets its values from, instead of statements.
pub(crate) enum Generated {
    /// `[GENERATED ALWAYS] AS (expression) [STORED]`.
    Stored(DefaultSpec),
    /// `GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY [(..)]`, `AUTO_INCREMENT`, `AUTOINCREMENT`.
    Identity(IdentitySpec),
}

/// Reads one of them, if it stands here.
pub(crate) fn generated(cursor: &mut Cursor<'_>) -> Result<Option<Generated>, SqlError> {
    let start = cursor.index();
    if cursor.eat(&["AUTO_INCREMENT"]) || cursor.eat(&["AUTOINCREMENT"]) {
        return Ok(Some(Generated::Identity(plain_identity(cursor.span_from(start)))));
    }
    let by_default = cursor.eat(&["GENERATED", "BY", "DEFAULT"]);
    let always = !by_default && cursor.eat(&["GENERATED", "ALWAYS"]);
    let is_short = cursor.word_is(0, "AS") && *cursor.peek(1) == Token::LParen;
    if !by_default && !always && !is_short {
        return Ok(None);
    }
    if by_default || cursor.at(&["AS", "IDENTITY"]) {
        cursor.expect(&["AS", "IDENTITY"])?;
        let (sequence, options) = sequence::identity_options(cursor)?;
        let identity = IdentitySpec { always, sequence, options, span: cursor.span_from(start) };
        return Ok(Some(Generated::Identity(identity)));
    }
    cursor.expect(&["AS"])?;
    cursor.expect_symbol(&Token::LParen)?;
    let from = cursor.index();
    let expr = cursor.expr()?;
    let generated = DefaultSpec { text: cursor.kept_text(from, &expr), expr, span: cursor.span_from(from) };
    cursor.expect_symbol(&Token::RParen)?;
    if cursor.at(&["VIRTUAL"]) {
        return Err(SqlError::not_supported("a VIRTUAL column", cursor.here())
            .with_help("STORED computes it when its row is written; a view computes it when it is read"));
    }
    cursor.eat(&["STORED"]);
    Ok(Some(Generated::Stored(generated)))
}

/// An identity column without options, whose values statements may give.
pub(crate) fn plain_identity(span: Span) -> IdentitySpec {
    IdentitySpec { always: false, sequence: None, options: SequenceOptions::default(), span }
}

/// Postgres' types of columns that count by themselves: the type of their numbers.
pub(crate) fn serial_type(cursor: &mut Cursor<'_>) -> Option<SqlType> {
    let types = [
        (["SERIAL", "SERIAL4"], SqlType::Integer),
        (["BIGSERIAL", "SERIAL8"], SqlType::BigInt),
        (["SMALLSERIAL", "SERIAL2"], SqlType::SmallInt),
    ];
    types.into_iter().find_map(|(names, ty)| names.iter().any(|name| cursor.eat(&[name])).then_some(ty))
}
