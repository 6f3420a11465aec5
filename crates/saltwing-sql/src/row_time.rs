//! `PHOENIX_ROW_TIMESTAMP()`: when a row was written. `ROWKEY_BYTES_STRING()`: its key as text.
//!
//! In the tree the first is the hidden column `_row_time`; with the name of a table as its argument, that of this table.
//! The second gets the hidden column `_row_key` as its argument.

use std::ops::Range;

use saltwing_types::table::{ROW_KEY_COLUMN, ROW_TIME_COLUMN};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

const ROW_TIME: &str = "PHOENIX_ROW_TIMESTAMP";
const ROW_KEY: &str = "ROWKEY_BYTES_STRING";

/// Puts the columns in the places of calls.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    let mut index = 0;
    while index < tokens.len() {
        if let Some(call) = call_at(tokens, index)
            && let (Some(parts), Some(places)) = (tokens.get(call.clone()), ranges.get(call.clone()))
            && let ([first, _, table @ .., last], [start, .., end]) = (parts, places)
        {
            let (span, range) = (first.span.union(&last.span), start.start..end.end);
            let mut written = table.to_vec();
            if !written.is_empty() {
                written.push(TokenWithSpan { token: Token::Period, span });
            }
            written.push(column(ROW_TIME_COLUMN, span));
            let count = written.len();
            tokens.splice(call.clone(), written);
            ranges.splice(call, std::iter::repeat_n(range, count));
        } else if is_call(tokens, index, ROW_KEY)
            && let (Some(close), Some(range)) = (tokens.get(index + 2), ranges.get(index + 2).cloned())
            && close.token == Token::RParen
        {
            let span = close.span;
            tokens.insert(index + 2, column(ROW_KEY_COLUMN, span));
            ranges.insert(index + 2, range);
        }
        index += 1;
    }
}

fn column(name: &str, span: Span) -> TokenWithSpan {
    let word = Word { value: name.to_owned(), quote_style: None, keyword: Keyword::NoKeyword };
    TokenWithSpan { token: Token::Word(word), span }
}

/// Whether a call of a function begins here.
fn is_call(tokens: &[TokenWithSpan], at: usize, function: &str) -> bool {
    let is_name = matches!(tokens.get(at).map(|token| &token.token),
        Some(Token::Word(Word { value, quote_style: None, .. })) if value.eq_ignore_ascii_case(function));
    is_name && tokens.get(at + 1).is_some_and(|token| token.token == Token::LParen)
}

/// The tokens of a call that begins here: `PHOENIX_ROW_TIMESTAMP([[schema.] table])`.
fn call_at(tokens: &[TokenWithSpan], at: usize) -> Option<Range<usize>> {
    let token = |at: usize| tokens.get(at).map(|token| &token.token);
    let is_word = |at: usize| matches!(token(at), Some(Token::Word(_)));
    if !is_call(tokens, at, ROW_TIME) {
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
