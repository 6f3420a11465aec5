//! `ROW(a, b)` beside a comparison or in a list after IN: the row value `(a, b)`.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Leaves the word out.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    // Few statements have the word.
    if !tokens.iter().any(|token| is_word(Some(&token.token), Keyword::ROW)) {
        return;
    }
    let idle = idle_words(tokens);
    for &index in &idle {
        // The text of the row value begins with the word.
        if let Some(start) = ranges.get(index).map(|range| range.start)
            && let Some(bracket) = ranges.get_mut(index + 1)
        {
            bracket.start = start;
        }
    }
    let is_idle = |index: &mut usize| {
        let place = *index;
        *index += 1;
        idle.binary_search(&place).is_ok()
    };
    let (mut of_tokens, mut of_ranges) = (0, 0);
    tokens.retain(|_| !is_idle(&mut of_tokens));
    ranges.retain(|_| !is_idle(&mut of_ranges));
}

/// The places of the words, ascending.
fn idle_words(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let token = |index: usize| tokens.get(index).map(|token| &token.token);
    let before = |index: usize| index.checked_sub(1).and_then(token);
    let mut idle = Vec::new();
    // Of each open bracket, whether a list after IN is in it.
    let mut lists = Vec::new();
    for index in 0..tokens.len() {
        match token(index) {
            Some(Token::LParen) => lists.push(is_word(before(index), Keyword::IN)),
            Some(Token::RParen) => drop(lists.pop()),
            word if is_word(word, Keyword::ROW) && token(index + 1) == Some(&Token::LParen) => {
                let is_member =
                    lists.last() == Some(&true) && matches!(before(index), Some(Token::LParen | Token::Comma));
                let after = || token(after_brackets(tokens, index + 1));
                let is_left =
                    || is_comparison(after()) || is_word(after(), Keyword::IN) || is_word(after(), Keyword::NOT);
                if is_member || is_comparison(before(index)) || is_left() {
                    idle.push(index);
                }
            }
            _ => {}
        }
    }
    idle
}

fn is_word(token: Option<&Token>, keyword: Keyword) -> bool {
    matches!(token, Some(Token::Word(word)) if word.keyword == keyword && word.quote_style.is_none())
}

fn is_comparison(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Eq | Token::Neq | Token::Lt | Token::LtEq | Token::Gt | Token::GtEq))
}

/// The place after the brackets that open at `open`.
fn after_brackets(tokens: &[TokenWithSpan], open: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}
