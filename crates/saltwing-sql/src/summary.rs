//! `SUMMARIZE [TABLE] t`, `SUMMARIZE 'file'` and `SUMMARIZE query`: the query whose columns are summarized, and the one that does it.

use std::ops::Range;

use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::derived;
use crate::file_name::is_path;
use crate::statement::QueryStatement;

const VERB: &str = "SUMMARIZE";

/// Writes `SUMMARIZE t` as `SUMMARIZE SELECT * FROM t`.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    let explained = ["EXPLAIN", "ANALYZE", "ADVISE"];
    let is_word = |index: usize, words: &[&str]| match tokens.get(index).map(|token| &token.token) {
        Some(Token::Word(word)) => {
            word.quote_style.is_none() && words.iter().any(|it| word.value.eq_ignore_ascii_case(it))
        }
        _ => false,
    };
    let Some(verb) = (0..3).find(|index| !is_word(*index, &explained)).filter(|verb| is_word(*verb, &[VERB])) else {
        return;
    };
    let is_table = is_word(verb + 1, &["TABLE"]);
    let names = match tokens.get(verb + 1).map(|token| &token.token) {
        Some(Token::Word(_)) => !is_word(verb + 1, &["SELECT", "WITH", "VALUES", "FROM"]),
        Some(Token::TripleSingleQuotedString(text)) => is_path(text),
        _ => false,
    };
    if !names {
        return;
    }
    let (Some(TokenWithSpan { span, .. }), Some(range)) = (tokens.get(verb + 1), ranges.get(verb + 1).cloned()) else {
        return;
    };
    let span = *span;
    if let Some(TokenWithSpan { token, .. }) = tokens.get_mut(verb + 1)
        && let Token::TripleSingleQuotedString(path) = token
    {
        // As the lexer marks the name of a file after FROM.
        *token = Token::SingleQuotedString(std::mem::take(path));
    }
    let written = [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")];
    let replaced = verb + 1..verb + 1 + usize::from(is_table);
    tokens.splice(replaced.clone(), written.map(|token| TokenWithSpan { token, span }));
    ranges.splice(replaced, std::iter::repeat_n(range, 3));
}

impl QueryStatement {
    /// The query of these items over the rows of this one, whose columns have the names `c1`, `c2` and so on there. `None` if an item is no
    /// expression.
    pub fn items_over(&self, items: &[String], columns: usize) -> Option<Self> {
        let names: Vec<String> = (1..=columns).map(|number| format!("c{number}")).collect();
        let text = format!("SELECT {} FROM (SELECT 1) AS q ({})", items.join(", "), names.join(", "));
        let query = derived::around(&text, &self.query)?;
        Some(Self { query, hints: self.hints.clone(), items: Vec::new(), after: None, span: self.span })
    }
}

#[cfg(test)]
mod tests {
    use crate::Statement;
    use crate::parse_one;

    #[test]
    fn items_stand_over_the_query() {
        let Statement::Summarize(query) = parse_one("SUMMARIZE SELECT a, b FROM t WHERE a > ?").unwrap().statement
        else {
            panic!("no SUMMARIZE");
        };
        let over = query.items_over(&["COUNT(*)".into(), "MAX(c2)".into()], 2).unwrap();
        let text = "SELECT COUNT(*), MAX(c2) FROM (SELECT a, b FROM t WHERE a > $1) AS q (c1, c2)";
        assert_eq!(over.query.to_string(), text);
        assert!(query.items_over(&["1 +".into()], 2).is_none());
    }
}
