//! `PHOENIX_ROW_TIMESTAMP()`: when a row was written.
//!
//! In the tree it is the hidden column `_row_time`; with the name of a table as its argument, that of this table.

use std::ops::Range;

use saltwing_types::table::ROW_TIME_COLUMN;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// The function.
const FUNCTION: &str = "PHOENIX_ROW_TIMESTAMP";

/// Puts the column in the place of each call.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    let mut index = 0;
    while index < tokens.len() {
        if let Some(call) = call_at(tokens, index)
            && let (Some(parts), Some(places)) = (tokens.get(call.clone()), ranges.get(call.clone()))
            && let ([first, _, table @ .., last], [start, .., end]) = (parts, places)
        {
            let (span, range) = (first.span.union(&last.span), start.start..end.end);
            let column = Word { value: ROW_TIME_COLUMN.to_owned(), quote_style: None, keyword: Keyword::NoKeyword };
            let mut written = table.to_vec();
            if !written.is_empty() {
                written.push(TokenWithSpan { token: Token::Period, span });
            }
            written.push(TokenWithSpan { token: Token::Word(column), span });
            let count = written.len();
            tokens.splice(call.clone(), written);
            ranges.splice(call, std::iter::repeat_n(range, count));
        }
        index += 1;
    }
}

/// The tokens of a call that begins here: `PHOENIX_ROW_TIMESTAMP([[schema.] table])`.
fn call_at(tokens: &[TokenWithSpan], at: usize) -> Option<Range<usize>> {
    let token = |at: usize| tokens.get(at).map(|token| &token.token);
    let is_word = |at: usize| matches!(token(at), Some(Token::Word(_)));
    match token(at) {
        Some(Token::Word(Word { value, quote_style: None, .. })) if value.eq_ignore_ascii_case(FUNCTION) => {}
        _ => return None,
    }
    if token(at + 1) != Some(&Token::LParen) {
        return None;
    }
    let mut close = at + 2;
    if is_word(close) {
        close += 1;
        if token(close) == Some(&Token::Period) && is_word(close + 1) {
            close += 2;
        }
    }
    (token(close) == Some(&Token::RParen)).then_some(at..close + 1)
}
