//! Other spellings of queries: `AS MATERIALIZED (..)` in WITH, and a statement that begins with FROM.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::left_out::LeftOut;
use crate::words;

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
    let mut left_out = LeftOut::default();
    for index in (0..tokens.len()).filter(|index| is_it(tokens.get(*index)) && begins_query(tokens, index + 1)) {
        let before = |n: usize| keyword(index.checked_sub(n).and_then(|place| tokens.get(place)));
        match (before(1), before(2)) {
            (Keyword::AS, _) => left_out.add(index..index + 1),
            (Keyword::NOT, Keyword::AS) => left_out.add(index - 1..index + 1),
            _ => {}
        }
    }
    left_out.apply(tokens, ranges);
}

/// Whether a query in brackets stands at a token, and not the columns of an alias.
fn begins_query(tokens: &[TokenWithSpan], index: usize) -> bool {
    let is_bracket = |token: Option<&TokenWithSpan>| matches!(token, Some(TokenWithSpan { token: Token::LParen, .. }));
    let inside = tokens.get(index + 1);
    is_bracket(tokens.get(index)) && (is_bracket(inside) || words::is_reserved(keyword(inside)))
}
