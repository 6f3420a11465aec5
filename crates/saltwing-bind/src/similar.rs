//! `text SIMILAR TO pattern` as a regular expression.

use saltwing_sql::expr_span;
use saltwing_types::{Expr, ValueError, typing};
use sqlparser::ast;

use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::escape_of;

/// `text SIMILAR TO pattern`.
///
/// # Errors
/// A pattern that is no literal, or is not well formed.
pub(crate) fn similar_to(
    text: Expr,
    pattern: &ast::Expr,
    escape: Option<&ast::ValueWithSpan>,
    negated: bool,
) -> Result<Expr> {
    let ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(literal), .. }) = pattern else {
        let error = BindErrorKind::NotSupported("SIMILAR TO with a pattern that is no literal".into());
        return Err(BindError::from(error).at(expr_span(pattern)).help("write ~ with a regular expression"));
    };
    let pattern = typing::string(as_regexp(literal, escape_of(escape)?)?);
    Ok(typing::regexp(text, pattern, false, negated)?)
}

/// The regular expression that matches the texts that a pattern of SQL's SIMILAR TO matches as a whole.
///
/// `%` stands for any text and `_` for any character; `| * + ? {m,n} ( ) [ ]` are as in regular expressions, all else
/// is itself.
///
/// # Errors
/// A pattern that ends after its escape character, or in a bracket.
fn as_regexp(pattern: &str, escape: Option<char>) -> std::result::Result<String, ValueError> {
    let bad = |what: &str| ValueError::BadArgument(format!("'{pattern}' is no pattern of SIMILAR TO: {what}"));
    let mut regexp = String::with_capacity(pattern.len() + 16);
    regexp.push_str("^(?s:");
    let mut characters = pattern.chars();
    let mut in_brackets = false;
    while let Some(c) = characters.next() {
        match c {
            c if Some(c) == escape => {
                push_plain(&mut regexp, characters.next().ok_or_else(|| bad("nothing follows the escape character"))?);
            }
            '[' if !in_brackets => {
                in_brackets = true;
                regexp.push('[');
            }
            ']' if in_brackets => {
                in_brackets = false;
                regexp.push(']');
            }
            '^' | '-' if in_brackets => regexp.push(c),
            // A class such as [:alpha:].
            '[' | ':' if in_brackets => regexp.push(c),
            c if in_brackets => push_plain(&mut regexp, c),
            '%' => regexp.push_str(".*"),
            '_' => regexp.push('.'),
            '|' | '*' | '+' | '?' | '{' | '}' | '(' | ')' => regexp.push(c),
            c => push_plain(&mut regexp, c),
        }
    }
    if in_brackets {
        return Err(bad("a bracket is open"));
    }
    regexp.push_str(")$");
    Ok(regexp)
}

/// A character that stands for itself.
fn push_plain(regexp: &mut String, c: char) {
    if r"\.+*?()|[]{}^$#&-~".contains(c) {
        regexp.push('\\');
    }
    regexp.push(c);
}

#[cfg(test)]
mod tests {
    use super::as_regexp;

    #[test]
    fn patterns_become_regular_expressions() {
        let regexp = |pattern: &str| as_regexp(pattern, Some('\\')).unwrap();
        assert_eq!(regexp("(a|b)%"), "^(?s:(a|b).*)$");
        assert_eq!(regexp("a.b_c"), "^(?s:a\\.b.c)$");
        assert_eq!(regexp("[^a-c.]{2,3}"), "^(?s:[^a-c\\.]{2,3})$");
        assert_eq!(regexp("100\\%^$"), "^(?s:100%\\^\\$)$");
        assert!(as_regexp("a\\", Some('\\')).is_err());
        assert!(as_regexp("[a", None).is_err());
    }
}
