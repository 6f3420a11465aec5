//! Other spellings of queries: `AS MATERIALIZED (..)` in WITH, and a statement that begins with FROM.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Leaves the words about materialization out: a query of WITH is computed once or copied by its cost. `FROM t ..` is
/// `SELECT * FROM t ..`.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    leave_out_materialized(tokens, ranges);
    let first = tokens.first().zip(ranges.first()).map(|(token, range)| (token.span, range.clone()));
    if let Some((span, range)) = first.filter(|_| begins_with_from(tokens)) {
        let written = [Token::make_keyword("SELECT"), Token::Mul];
        tokens.splice(..0, written.map(|token| TokenWithSpan { token, span }));
        ranges.splice(..0, std::iter::repeat_n(range, 2));
    }
}

fn keyword(token: Option<&TokenWithSpan>) -> Keyword {
    match token {
        Some(TokenWithSpan { token: Token::Word(word), .. }) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

/// Whether the first word is FROM, and no SELECT follows it outside of brackets.
fn begins_with_from(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0_usize;
    keyword(tokens.first()) == Keyword::FROM
        && !tokens.iter().any(|token| {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && keyword(Some(token)) == Keyword::SELECT
        })
}

fn leave_out_materialized(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    let is_it = |token: Option<&TokenWithSpan>| match token {
        Some(TokenWithSpan { token: Token::Word(word), .. }) => {
            word.quote_style.is_none() && word.value.eq_ignore_ascii_case("MATERIALIZED")
        }
        _ => false,
    };
    for index in (0..tokens.len()).rev() {
        let opens = matches!(tokens.get(index + 1), Some(TokenWithSpan { token: Token::LParen, .. }));
        if !(opens && is_it(tokens.get(index))) {
            continue;
        }
        let before = |n: usize| keyword(index.checked_sub(n).and_then(|place| tokens.get(place)));
        let count = match (before(1), before(2)) {
            (Keyword::AS, _) => 1,
            (Keyword::NOT, Keyword::AS) => 2,
            _ => continue,
        };
        let left_out = index + 1 - count..=index;
        tokens.drain(left_out.clone());
        ranges.drain(left_out);
    }
}
