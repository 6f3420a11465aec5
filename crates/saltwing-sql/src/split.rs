//! Finds where statements end.

use crate::phoenix::Dialect;
use crate::scanner::{Lexeme, Scanner};

/// One statement's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementText<'a> {
    /// From the end of the statement before it to its `;`, which is included.
    pub text: &'a str,
    /// Where `text` starts in the source, in bytes.
    pub offset: usize,
    /// Whether a `;` ends it. A shell reads on while the last text has none.
    pub complete: bool,
}

/// The statements of `sql`, in order.
///
/// A `;` ends a statement unless it stands in a string, a quoted name or a
/// comment. Texts of nothing but blanks are left out; texts of comments are
/// left out too, unless `sql` ends inside the comment. Nothing is checked: a
/// text need not be a statement that can be read.
///
/// # Laws
/// 1. Each text is `&sql[offset..offset + text.len()]`, and they do not overlap.
/// 2. What lies between the texts is blank or comment, or a lone `;`.
/// 3. Only the last text can be incomplete.
pub fn split_statements(sql: &str) -> impl Iterator<Item = StatementText<'_>> {
    split_statements_in(sql, Dialect::Saltwing)
}

/// The same of a text in a dialect.
pub fn split_statements_in(sql: &str, dialect: Dialect) -> impl Iterator<Item = StatementText<'_>> {
    let mut scanner = Scanner::new(sql, dialect);
    let mut start = 0;
    std::iter::from_fn(move || {
        let mut blank = true;
        let mut open = false;
        for (kind, range) in scanner.by_ref() {
            match kind {
                Lexeme::Blank | Lexeme::Comment => {}
                Lexeme::Symbol if sql.get(range.clone()) == Some(";") => {
                    let (from, was_blank) = (start, blank);
                    start = range.end;
                    blank = true;
                    if !was_blank {
                        return sql.get(from..range.end).map(|text| StatementText {
                            text,
                            offset: from,
                            complete: true,
                        });
                    }
                }
                Lexeme::Unterminated(_) => (blank, open) = (false, true),
                _ => blank = false,
            }
        }
        let (from, text) = (start, sql.get(start..).unwrap_or(""));
        start = sql.len();
        (!text.is_empty() && (!blank || open)).then_some(StatementText { text, offset: from, complete: false })
    })
}
