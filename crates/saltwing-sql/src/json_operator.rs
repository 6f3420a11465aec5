//! `json ? 'a'`, `json ?| names` and `json ?& names`, whose sign is that of a parameter, too.
//!
//! A parameter is an operand, so no operand stands before it. The sign is an operator
//!
//! * if it is doubled, as drivers that take `?` for parameters write it: `json ?? 'a'`;
//! * after a closing bracket or a string, where no parameter can stand: `(json) ? key`, `f(x) ? $1`;
//! * after a word, if a literal, a parameter or a bracket follows: `json ? 'a'`, `json ? $1`, `json ? (key)`. `LIMIT ?` has none.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::words;

/// Makes operators of the signs that are no parameters.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    // Few statements without parameters have one.
    if !tokens.iter().any(|token| is_sign(Some(&token.token))) {
        return;
    }
    let (mut kept, mut kept_ranges): (Vec<TokenWithSpan>, Vec<Range<usize>>) = Default::default();
    let mut index = 0;
    while let (Some(token), Some(range)) = (tokens.get(index), ranges.get(index)) {
        let before = kept.last().map(|token| &token.token);
        let (token, count) = match operator_at(tokens, ranges, index, before) {
            Some((operator, count)) => (TokenWithSpan { token: operator, span: token.span }, count),
            None => (token.clone(), 1),
        };
        let end = ranges.get(index + count - 1).map_or(range.end, |last| last.end);
        kept.push(token);
        kept_ranges.push(range.start..end);
        index += count;
    }
    (*tokens, *ranges) = (kept, kept_ranges);
}

fn is_sign(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Placeholder(sign)) if sign == "?")
}

/// The operator at a token, and how many tokens it is; `None` of a parameter and of another token.
fn operator_at(
    tokens: &[TokenWithSpan],
    ranges: &[Range<usize>],
    index: usize,
    before: Option<&Token>,
) -> Option<(Token, usize)> {
    let token = |index: usize| tokens.get(index).map(|token| &token.token);
    // The tokens with nothing between them.
    let follows = |index: usize| {
        let ends = ranges.get(index.checked_sub(1)?)?.end;
        (ranges.get(index)?.start == ends).then(|| token(index)).flatten()
    };
    if !is_sign(token(index)) {
        return None;
    }
    let is_doubled = is_sign(follows(index + 1));
    let signs = if is_doubled { 2 } else { 1 };
    let (operator, count) = match follows(index + signs) {
        Some(Token::Pipe) => (Token::QuestionPipe, signs + 1),
        Some(Token::Ampersand) => (Token::QuestionAnd, signs + 1),
        _ => (Token::Question, signs),
    };
    let is_operator = match before {
        _ if is_doubled => true,
        Some(Token::RParen | Token::RBracket | Token::TripleSingleQuotedString(_) | Token::Placeholder(_)) => true,
        Some(Token::Word(word)) => {
            let is_name = word.quote_style.is_some() || !words::is_reserved(word.keyword);
            let after = token(index + count);
            // `n ?|4` would be one of bits.
            let is_of_arrays = operator != Token::Question && !matches!(after, Some(Token::Number(..)));
            is_name && (is_of_arrays || begins_operand(after))
        }
        _ => false,
    };
    is_operator.then_some((operator, count))
}

/// Whether a token begins an operand, and nothing that may follow one.
fn begins_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::TripleSingleQuotedString(_) | Token::LParen | Token::Number(..) | Token::Placeholder(_)) => true,
        Some(Token::Word(word)) => matches!(word.keyword, Keyword::CAST | Keyword::ARRAY),
        _ => false,
    }
}
