//! `JSON_OBJECT('a': 1, 'b' VALUE 2)`: what stands between a name and its value becomes a comma.

use std::ops::Range;

use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::words;

const FUNCTIONS: [&str; 2] = ["JSON_OBJECT", "JSON_OBJECTAGG"];

/// An open bracket.
struct Bracket {
    /// Whether it has names and values.
    has_pairs: bool,
    /// Tokens of the name that is read; `None` in a value.
    name: Option<usize>,
}

/// Writes commas between names and values. `KEY` before a name, and `NULL ON NULL` at the end, say what holds anyway.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    // Few statements have such a call.
    if !tokens.iter().any(|token| is_function(Some(&token.token))) {
        return;
    }
    let mut rewriting = Rewriting::default();
    let mut index = 0;
    while index < tokens.len() {
        index += rewriting.take(tokens, ranges, index);
    }
    (*tokens, *ranges) = (rewriting.tokens, rewriting.ranges);
}

/// The tokens so far, and the brackets around the next one.
#[derive(Default)]
struct Rewriting {
    tokens: Vec<TokenWithSpan>,
    ranges: Vec<Range<usize>>,
    brackets: Vec<Bracket>,
}

impl Rewriting {
    /// Takes a token, and those that belong to it; how many.
    fn take(&mut self, tokens: &[TokenWithSpan], ranges: &[Range<usize>], index: usize) -> usize {
        let (Some(read), Some(range)) = (tokens.get(index), ranges.get(index)) else { return 1 };
        let token = |n: usize| tokens.get(index + n).map(|token| &token.token);
        let before = self.tokens.last().map(|token| &token.token);
        let is_call = is_function(before);
        // Between a name and its value.
        let may_end_name = self.name().is_some_and(|read| read > 0) && ends_operand(before);
        let push = |this: &mut Self, token: Token, range: Range<usize>| {
            this.tokens.push(TokenWithSpan { token, span: read.span });
            this.ranges.push(range);
        };
        match &read.token {
            Token::LParen | Token::LBracket => {
                self.count();
                self.brackets.push(Bracket { has_pairs: is_call && read.token == Token::LParen, name: Some(0) });
            }
            Token::RParen | Token::RBracket => drop(self.brackets.pop()),
            Token::Comma => self.set_name(Some(0)),
            Token::Word(_) if self.name() == Some(0) && is_word(token(0), "KEY") && begins_name(token(1)) => return 1,
            Token::Word(_) if self.has_pairs() && is_null_on_null(&[token(0), token(1), token(2), token(3)]) => {
                return 3;
            }
            between if may_end_name && (*between == Token::Colon || is_word(Some(between), "VALUE")) => {
                self.set_name(None);
                push(self, Token::Comma, range.clone());
                return 1;
            }
            // `'a':1` and `'a':b`, which are read as parameters.
            Token::Placeholder(text) if may_end_name && text.starts_with(':') => {
                let rest = text.get(1..).unwrap_or_default();
                let is_number = rest.bytes().all(|byte| byte.is_ascii_digit());
                let value =
                    if is_number { Token::Number(rest.to_owned(), false) } else { Token::make_word(rest, None) };
                self.set_name(None);
                push(self, Token::Comma, range.start..range.start + 1);
                push(self, value, range.start + 1..range.end);
                return 1;
            }
            _ => self.count(),
        }
        push(self, read.token.clone(), range.clone());
        1
    }

    fn has_pairs(&self) -> bool {
        self.brackets.last().is_some_and(|bracket| bracket.has_pairs)
    }

    /// How many tokens of a name were read; `None` where none is read.
    fn name(&self) -> Option<usize> {
        self.brackets.last().filter(|bracket| bracket.has_pairs)?.name
    }

    fn set_name(&mut self, name: Option<usize>) {
        if let Some(bracket) = self.brackets.last_mut() {
            bracket.name = name;
        }
    }

    /// Counts a token of a name.
    fn count(&mut self) {
        let name = self.brackets.last().and_then(|bracket| bracket.name);
        self.set_name(name.map(|read| read + 1));
    }
}

/// Whether these are NULL ON NULL and a bracket.
fn is_null_on_null(tokens: &[Option<&Token>; 4]) -> bool {
    let [null, on, what, end] = *tokens;
    is_word(null, "NULL") && is_word(on, "ON") && is_word(what, "NULL") && end == Some(&Token::RParen)
}

fn is_function(token: Option<&Token>) -> bool {
    FUNCTIONS.iter().any(|name| is_word(token, name))
}

fn is_word(token: Option<&Token>, text: &str) -> bool {
    matches!(token, Some(Token::Word(word)) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

fn begins_name(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Word(word)) => !word.value.eq_ignore_ascii_case("VALUE"),
        Some(Token::TripleSingleQuotedString(_)) => true,
        _ => false,
    }
}

fn ends_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Word(word)) => word.quote_style.is_some() || !words::is_reserved(word.keyword),
        Some(
            Token::RParen
            | Token::RBracket
            | Token::Number(..)
            | Token::Placeholder(_)
            | Token::TripleSingleQuotedString(_),
        ) => true,
        _ => false,
    }
}
