//! Hints: `/*+ FULL_SCAN(t), NO_CACHE */`.
//!
//! A hint follows SELECT, UPSERT, INSERT, UPDATE, DELETE or MERGE; anywhere else the text is a comment. Hints never reach the
//! relational engine, which ignores them on SELECT and refuses them elsewhere.

use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan, Word};

use crate::lexer::{self, RawHint};
use crate::name::Name;
use crate::phoenix::Dialect;
use crate::place;
use crate::scanner::{Lexeme, Scanner};
use crate::statement::Hint;

/// The hints of `raw` that stand where hints stand, read from `sql`.
pub(crate) fn collect(sql: &str, raw: &[RawHint], tokens: &[TokenWithSpan]) -> Vec<Hint> {
    raw.iter().filter(|hint| follows_verb(tokens, hint.before)).flat_map(|hint| read(sql, hint)).collect()
}

fn follows_verb(tokens: &[TokenWithSpan], before: usize) -> bool {
    const VERBS: [&str; 6] = ["SELECT", "UPSERT", "INSERT", "UPDATE", "DELETE", "MERGE"];
    let previous = before.checked_sub(1).and_then(|index| tokens.get(index));
    match previous.map(|token| &token.token) {
        Some(Token::Word(Word { value, quote_style: None, .. })) => {
            VERBS.iter().any(|verb| value.eq_ignore_ascii_case(verb))
        }
        _ => false,
    }
}

/// Words with optional brackets; other text is skipped, as in Phoenix.
fn read(sql: &str, raw: &RawHint) -> Vec<Hint> {
    let inside = sql.get(raw.inside.clone()).unwrap_or("");
    let mut hints: Vec<Hint> = Vec::new();
    let (mut at, mut in_args, mut qualified) = (raw.start, false, false);
    for (kind, range) in Scanner::new(inside, Dialect::Saltwing) {
        let text = inside.get(range).unwrap_or("");
        let end = lexer::advance(at, text);
        let span = place::span_of(TokenSpan::new(at, end)).unwrap_or_else(place::origin);
        at = end;
        let name = match kind {
            Lexeme::Word => Some(Name { text: text.to_owned(), quoted: false, span }),
            Lexeme::QuotedName => {
                let inner = text.get(1..text.len() - 1).unwrap_or("").replace("\"\"", "\"");
                Some(Name { text: inner, quoted: true, span })
            }
            _ => None,
        };
        match (name, in_args, hints.last_mut()) {
            (Some(name), true, Some(hint)) => {
                hint.span = hint.span.union(name.span);
                match hint.args.last_mut().filter(|_| qualified) {
                    Some(schema) => *schema = qualified_name(schema, &name),
                    None => hint.args.push(name),
                }
                qualified = false;
            }
            (Some(name), ..) => hints.push(Hint { span: name.span, name, args: Vec::new() }),
            (None, _, Some(hint)) if text == "(" || text == ")" => {
                in_args = text == "(";
                hint.span = hint.span.union(span);
            }
            (None, true, Some(hint)) if text == "." => qualified = !hint.args.is_empty(),
            _ => {}
        }
    }
    hints
}

/// `schema.table` as one name.
fn qualified_name(schema: &Name, name: &Name) -> Name {
    let text = format!("{}.{}", schema.text, name.text);
    Name { text, quoted: schema.quoted || name.quoted, span: schema.span.union(name.span) }
}
