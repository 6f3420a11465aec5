//! Files in the place of tables: `FROM 'f.csv'`.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Whether a text names a file: a text that does not would be a table whose name was put in the quotes of a text.
pub(crate) fn is_path(text: &str) -> bool {
    text.contains(['.', '/', '*'])
}

/// Makes the names of files names: texts with a point, a slash or a star after the FROM or JOIN of a query. Other texts stay what they
/// are, so `FROM 't'` is an error, and so do those of `TRIM(.. FROM 'a.b')`, `IS DISTINCT FROM 'a.b'` and `COPY t FROM 'f.csv'`.
pub(crate) fn mark_files(tokens: &mut [TokenWithSpan]) {
    let keyword = |tokens: &[TokenWithSpan], index: usize| match tokens.get(index).map(|it| &it.token) {
        Some(Token::Word(word)) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let is_text = |it: &TokenWithSpan| matches!(it.token, Token::TripleSingleQuotedString(_));
    if !tokens.iter().any(is_text) {
        return;
    }
    // Whether a query is written here, and in the brackets around it.
    let is_copy =
        |it: &TokenWithSpan| matches!(&it.token, Token::Word(word) if word.value.eq_ignore_ascii_case("COPY"));
    // EXPLAIN may stand before it.
    let mut queries = vec![!tokens.iter().take(2).any(is_copy)];
    for index in 0..tokens.len() {
        match tokens.get(index).map(|it| &it.token) {
            Some(Token::LParen) => {
                queries.push(matches!(keyword(tokens, index + 1), Keyword::SELECT | Keyword::WITH));
            }
            Some(Token::RParen) if queries.len() > 1 => drop(queries.pop()),
            _ => {}
        }
        let is_from = match keyword(tokens, index) {
            Keyword::FROM => index == 0 || keyword(tokens, index - 1) != Keyword::DISTINCT,
            Keyword::JOIN => true,
            _ => false,
        };
        if !is_from || queries.last() != Some(&true) {
            continue;
        }
        if let Some(TokenWithSpan { token, .. }) = tokens.get_mut(index + 1)
            && let Token::TripleSingleQuotedString(text) = token
            && is_path(text)
        {
            *token = Token::SingleQuotedString(std::mem::take(text));
        }
    }
}
