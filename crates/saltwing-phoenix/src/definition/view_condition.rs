//! The conditions of views, as far as they are equalities.
//!
//! ```text
//! SELECT * FROM "T" WHERE ((K = 'a' AND M = (8 * -1)) AND F.D IS NULL AND B)
//! ```
//! Phoenix writes such texts itself: names in quotes where they need them, a negative number as a product, and the conditions of a view below with
//! those of the view.

use std::iter::Peekable;
use std::str::CharIndices;

use saltwing_types::{SqlType, Value};

use super::column::ColumnDefinition;
use super::literal::literal_value;

/// Most parentheses in each other.
const DEPTH_MAX: usize = 64;
const WHERE: &str = " WHERE ";

/// The values that the rows of a view have: a column by its place, and its value.
///
/// # Errors
/// What is not understood, as part of a sentence.
pub(super) fn constants(statement: &str, columns: &[ColumnDefinition]) -> Result<Vec<(usize, Value)>, String> {
    let Some((_, condition)) = statement.split_once(WHERE) else { return Ok(Vec::new()) };
    let tokens = tokens(condition).ok_or_else(|| unknown(condition))?;
    let mut parser = Parser { tokens: &tokens, columns, constants: Vec::new() };
    parser.conditions(0).filter(|()| parser.tokens.is_empty()).ok_or_else(|| unknown(condition))?;
    Ok(parser.constants)
}

fn unknown(condition: &str) -> String {
    format!("a view whose condition is not one of equalities with literals alone, {condition}")
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name without quotes, as it is written.
    Word(String),
    /// A name in quotes.
    Name(String),
    /// A text with its quotes, or a number.
    Literal(String),
    Symbol(char),
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut rest = |is_part: fn(char) -> bool| {
            while chars.next_if(|(_, c)| is_part(*c)).is_some() {}
            chars.peek().map_or(text.len(), |(end, _)| *end)
        };
        match c {
            c if c.is_whitespace() => {}
            '"' | '\'' => {
                let end = after_quotes(&mut chars, c)?;
                let written = text.get(at..end)?;
                tokens.push(match c {
                    '"' => Token::Name(written.trim_matches('"').replace("\"\"", "\"")),
                    _ => Token::Literal(written.to_owned()),
                });
            }
            c if c.is_alphabetic() || c == '_' => {
                let end = rest(|c| c.is_alphanumeric() || c == '_');
                tokens.push(Token::Word(text.get(at..end)?.to_owned()));
            }
            c if c.is_ascii_digit() => {
                let end = rest(|c| c.is_ascii_alphanumeric() || c == '.');
                tokens.push(Token::Literal(text.get(at..end)?.to_owned()));
            }
            '(' | ')' | '=' | '*' | '-' | '.' => tokens.push(Token::Symbol(c)),
            _ => return None,
        }
    }
    Some(tokens)
}

/// The place after a closing quote; two of them are one in the text.
fn after_quotes(chars: &mut Peekable<CharIndices<'_>>, quote: char) -> Option<usize> {
    loop {
        let (at, c) = chars.next()?;
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + quote.len_utf8());
        }
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    columns: &'t [ColumnDefinition],
    constants: Vec<(usize, Value)>,
}

impl Parser<'_> {
    fn take(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn take_if(&mut self, is_wanted: bool) -> Option<()> {
        is_wanted.then(|| self.take()).map(|_| ())
    }

    fn take_symbol(&mut self, symbol: char) -> Option<()> {
        let is_symbol = self.tokens.first() == Some(&Token::Symbol(symbol));
        self.take_if(is_symbol)
    }

    fn take_word(&mut self, word: &str) -> Option<()> {
        let is_word = matches!(self.tokens.first(), Some(Token::Word(next)) if next.eq_ignore_ascii_case(word));
        self.take_if(is_word)
    }

    /// Conditions joined by AND.
    fn conditions(&mut self, depth: usize) -> Option<()> {
        loop {
            if self.take_symbol('(').is_some() {
                (depth < DEPTH_MAX).then_some(())?;
                self.conditions(depth + 1)?;
                self.take_symbol(')')?;
            } else {
                self.condition()?;
            }
            if self.take_word("AND").is_none() {
                return Some(());
            }
        }
    }

    /// `column = literal`, `column IS NULL`, or a column of truth values.
    fn condition(&mut self) -> Option<()> {
        let column = self.column()?;
        let ty = self.columns.get(column)?.ty;
        let value = if self.take_symbol('=').is_some() {
            literal_value(&self.literal()?, ty).ok().filter(|value| !value.is_null())?
        } else if self.take_word("IS").is_some() {
            self.take_word("NULL")?;
            Value::Null
        } else if ty == SqlType::Boolean {
            Value::Bool(true)
        } else {
            return None;
        };
        self.constants.push((column, value));
        Some(())
    }

    fn column(&mut self) -> Option<usize> {
        let first = self.name()?;
        let (family, name) = match self.take_symbol('.') {
            Some(()) => (Some(first), self.name()?),
            None => (None, first),
        };
        let is_named = |(_, column): &(usize, &ColumnDefinition)| {
            column.name == name && (family.is_none() || column.family == family)
        };
        let mut named = self.columns.iter().enumerate().filter(is_named);
        let (column, _) = named.next()?;
        named.next().is_none().then_some(column)
    }

    fn name(&mut self) -> Option<String> {
        match self.take()? {
            Token::Word(word) => Some(word.to_uppercase()),
            Token::Name(name) => Some(name.clone()),
            Token::Literal(_) | Token::Symbol(_) => None,
        }
    }

    /// A literal; a negative number may be `(8 * -1)`.
    fn literal(&mut self) -> Option<String> {
        if self.take_symbol('(').is_some() {
            let Token::Literal(number) = self.take()? else { return None };
            let negative = format!("-{number}");
            self.take_symbol('*')?;
            self.take_symbol('-')?;
            (self.take()? == &Token::Literal("1".to_owned())).then_some(())?;
            self.take_symbol(')')?;
            return Some(negative);
        }
        let sign = if self.take_symbol('-').is_some() { "-" } else { "" };
        match self.take()? {
            Token::Literal(literal) => Some(format!("{sign}{literal}")),
            Token::Word(word) => Some(format!("{sign}{word}")),
            Token::Name(_) | Token::Symbol(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use saltwing_types::SortOrder;

    use super::*;

    fn columns() -> Vec<ColumnDefinition> {
        let column = |(name, family, ty): &(&str, Option<&str>, SqlType)| ColumnDefinition {
            name: (*name).to_owned(),
            family: family.map(str::to_owned),
            ty: *ty,
            nullable: true,
            order: SortOrder::Asc,
            expression: None,
            qualifier: None,
            view_constant: None,
            is_row_timestamp: false,
        };
        let all = [
            ("K", None, SqlType::Varchar(None)),
            ("M", None, SqlType::Integer),
            ("low", Some("0"), SqlType::BigInt),
            ("D", Some("F"), SqlType::Date),
            ("B", Some("0"), SqlType::Boolean),
            ("X", Some("F"), SqlType::Integer),
            ("X", Some("G"), SqlType::Integer),
        ];
        all.iter().map(column).collect()
    }

    /// Texts of a live Phoenix.
    #[test]
    fn equalities_are_constants() {
        for (condition, constants) in [
            ("K = 'ant'", vec![(0, Value::text("ant"))]),
            ("(K = 'it''s' AND M = 7)", vec![(0, Value::text("it's")), (1, Value::Int(7))]),
            ("M = (8 * -1)", vec![(1, Value::Int(-8))]),
            (
                "((\"low\" = (5 * -1) AND B = true) AND K = 'x')",
                vec![(2, Value::Int(-5)), (4, Value::Bool(true)), (0, Value::text("x"))],
            ),
            ("F.D IS NULL ", vec![(3, Value::Null)]),
            (
                "((K = ' WHERE ' AND M = 7) AND B)",
                vec![(0, Value::text(" WHERE ")), (1, Value::Int(7)), (4, Value::Bool(true))],
            ),
            ("G.X = 3", vec![(6, Value::Int(3))]),
        ] {
            let statement = format!("SELECT * FROM \"T\" WHERE {condition}");
            assert_eq!(super::constants(&statement, &columns()), Ok(constants), "{condition}");
        }
        assert_eq!(super::constants("SELECT * FROM \"T\"", &columns()), Ok(Vec::new()));
    }

    #[test]
    fn other_conditions_are_named() {
        let deep = format!("{}B{}", "(".repeat(100), ")".repeat(100));
        for condition in [
            "(M > 3 OR K = 'k3')",
            "F.D =  TO_DATE('2020-01-02')",
            "K = 'a' OR M = 1",
            "K = M",
            "K = ",
            "K = NULL",
            "NOT B",
            "K",
            "X = 3",
            "NOBODY = 3",
            "low = 3",
            "M = 'a'",
            "M = 99999999999",
            "K = 'a",
            "(K = 'a'",
            "K = 'a')",
            "K LIKE 'a'",
            "M = (8 * -2)",
            &deep,
            "",
        ] {
            let refused = super::constants(&format!("SELECT * FROM \"T\" WHERE {condition}"), &columns()).unwrap_err();
            assert!(refused.ends_with(condition), "{refused}");
        }
    }
}
