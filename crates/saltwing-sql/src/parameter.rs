//! Parameters: placeholders of a statement, numbered.
//!
//! Placeholders of all styles reach the tree as `$1`, `$2`, ..:
//!
//! | style | number |
//! |---|---|
//! | `?` | the first is 1, and so on in text order |
//! | `?3`, `$3`, `:3` | as written |
//! | `:name` | the first name is 1, the next new one 2; equal names share a number |
//!
//! Names match exactly. A statement uses one style.

use saltwing_types::Span;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::SqlError;
use crate::place;

/// The largest parameter number, as in PostgreSQL.
pub const PARAMETERS_MAX: u32 = 65_535;

/// One placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its number, from 1: the `n` of the `$n` in the tree.
    pub number: u32,
    /// Its name, without the colon, where it has one.
    pub name: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// How many values a statement with these placeholders takes: the largest number.
pub fn parameter_count(parameters: &[Parameter]) -> usize {
    parameters.iter().map(|parameter| parameter.number as usize).max().unwrap_or(0)
}

/// Where a placeholder of the tree finds its value, from 0: `$1` has the first one.
pub fn parameter_place(placeholder: &str) -> Option<usize> {
    placeholder.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Positional,
    Numbered,
    Named,
}

impl Style {
    fn example(self) -> &'static str {
        match self {
            Self::Positional => "?",
            Self::Numbered => "$1",
            Self::Named => ":name",
        }
    }
}

/// Numbers the placeholders among `tokens`, and writes each as `$n`.
pub(crate) fn number(tokens: &mut [TokenWithSpan]) -> Result<Vec<Parameter>, SqlError> {
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut used: Option<Style> = None;
    let mut names: Vec<String> = Vec::new();
    for TokenWithSpan { token, span } in tokens {
        let Token::Placeholder(text) = token else { continue };
        let span = place::span_of(*span).unwrap_or_else(place::origin);
        let style = match text.as_bytes() {
            [b'?'] => Style::Positional,
            [b':', first, ..] if !first.is_ascii_digit() => Style::Named,
            _ => Style::Numbered,
        };
        if let Some(used) = used
            && used != style
        {
            let message = format!("parameters of two styles: {text} after {}", used.example());
            return Err(SqlError::bad_parameter(message, span)
                .with_help("use one style: all ?, all ?1, $1 or :1, or all :name"));
        }
        used = Some(style);
        let name = text.strip_prefix(':').filter(|_| style == Style::Named).map(str::to_owned);
        let number = match (style, &name) {
            (Style::Positional, _) => u32::try_from(parameters.len()).unwrap_or(u32::MAX).saturating_add(1),
            (_, Some(name)) => number_of(name, &mut names),
            _ => text.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX),
        };
        if number == 0 || number > PARAMETERS_MAX {
            let message = format!("parameter {text}: numbers go from 1 to {PARAMETERS_MAX}");
            return Err(SqlError::bad_parameter(message, span));
        }
        *token = Token::Placeholder(format!("${number}"));
        parameters.push(Parameter { number, name, span });
    }
    Ok(parameters)
}

fn number_of(name: &str, names: &mut Vec<String>) -> u32 {
    let index = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}
