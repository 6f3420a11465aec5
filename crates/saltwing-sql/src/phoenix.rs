//! Phoenix's language, read as ours.
//!
//! `SET dialect = 'phoenix'` is for statements that were written for Apache Phoenix and would mean something else here. The
//! dialect is known to this crate alone: what it reads becomes the tree of a statement in our own language. So both
//! executors, the guard and the planner know one language, and a definition (a view, a DEFAULT, a CHECK) is stored in
//! it: its meaning does not hang on the dialect of those who use it.
//!
//! | Phoenix | becomes |
//! |---|---|
//! | a name without quotes | the name in upper case (by the lexer) |
//! | a name in quotes | itself; it is compared before the statement is bound (`exact.rs`) |
//! | `\'`, `\n`, `\\` in a string | the character (by the lexer) |
//! | `''` | NULL |
//! | `UPSERT INTO t VALUES (a, b)` into more columns | the first two columns are written (`Upsert::takes_first_columns`) |
//! | `a LIKE b` | `a LIKE b ESCAPE '\'` |
//! | `a \|\| b` | `PHOENIX_CONCAT(a, b)`: NULL is no text, and no text is NULL |
//! | `a + b`, `a - b`, `a * b`, `a / b` | `WRAPPING_ADD(a, b)` and so on, except in a side of a comparison, which is exact |
//! | `SUM(a)` | `WRAPPING_SUM(a)` |
//! | `MD5(a)` | `CAST(DECODE(MD5(a), 'HEX') AS BINARY(16))` |
//! | a function whose result is a text | `EMPTY_AS_NULL(..)` around it, except as a side of a comparison: key columns are bounded by it |
//!
//! A part of a key is read as ours is: Phoenix has no computed ones. An item of a SELECT keeps its text as its label.

use std::ops::ControlFlow;

use saltwing_types::Function;
use saltwing_types::SqlType;
use saltwing_types::function::ResultType;
use saltwing_types::function::aggregate::AggregateFunction;
use sqlparser::ast::{
    self, BinaryOperator, CastKind, DataType, Expr, Ident, ObjectName, Select, SelectItem, Value, Visit, VisitMut,
    Visitor, VisitorMut,
};

use crate::call::{function_call, function_of};

/// The language that a text is read in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Saltwing's own.
    #[default]
    Saltwing,
    /// Apache Phoenix's, where ours reads the same text otherwise.
    Phoenix,
}

/// A tree that was read in the dialect, in our language.
pub(crate) fn translate<T: VisitMut>(tree: &mut T) {
    let _ = VisitMut::visit(tree, &mut Translation::default());
}

#[derive(Default)]
struct Translation {
    /// For each expression around the place: whether its parts are sides of a comparison, and computed for it alone.
    in_comparison: Vec<bool>,
}

impl VisitorMut for Translation {
    type Break = ();

    /// The label of an item is the text that it had.
    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && Visit::visit(&*expr, &mut Changes).is_break()
            {
                let alias = Ident::with_quote('"', expr.to_string());
                let expr = std::mem::replace(expr, Expr::value(Value::Null));
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let inherited = self.in_comparison.last().copied().unwrap_or(false);
        self.in_comparison.push(match expr {
            Expr::BinaryOp { op, .. } if is_comparison(op) => true,
            Expr::Between { .. } | Expr::InList { .. } | Expr::Like { .. } | Expr::ILike { .. } => true,
            Expr::BinaryOp { op, .. } if wrapping(op).is_some() => inherited,
            Expr::Nested(_) | Expr::UnaryOp { .. } | Expr::Tuple(_) => inherited,
            _ => false,
        });
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.in_comparison.pop();
        let is_side = self.in_comparison.last().copied().unwrap_or(false);
        match expr {
            Expr::Value(value) if value.value == Value::SingleQuotedString(String::new()) => value.value = Value::Null,
            Expr::BinaryOp { left, op, right } => {
                let name = match op {
                    BinaryOperator::StringConcat => Some("PHOENIX_CONCAT"),
                    _ if is_side => None,
                    op => wrapping(op),
                };
                if let Some(name) = name {
                    let null = || Box::new(Expr::value(Value::Null));
                    let (left, right) = (std::mem::replace(left, null()), std::mem::replace(right, null()));
                    *expr = call(name, vec![*left, *right]);
                }
            }
            Expr::Like { escape_char: escape @ None, .. } | Expr::ILike { escape_char: escape @ None, .. } => {
                *escape = Some(Value::SingleQuotedString("\\".into()).into());
            }
            Expr::Function(call) if is_sum(call) => {
                call.name = ObjectName::from(vec![Ident::new(AggregateFunction::WrappingSum.name())]);
            }
            call if is_md5(call) => take(call, |digest| {
                let bytes = self::call("DECODE", vec![digest, Expr::value(Value::SingleQuotedString("HEX".into()))]);
                Expr::Cast {
                    kind: CastKind::Cast,
                    expr: Box::new(bytes),
                    data_type: DataType::Binary(Some(16)),
                    array: false,
                    format: None,
                }
            }),
            call if !is_side && gives_text(call) => take(call, |text| self::call("EMPTY_AS_NULL", vec![text])),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Finds an expression that is another one in our language.
struct Changes;

impl Visitor for Changes {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let changes = match expr {
            Expr::BinaryOp { op, .. } => *op == BinaryOperator::StringConcat || wrapping(op).is_some(),
            Expr::Value(value) => value.value == Value::SingleQuotedString(String::new()),
            Expr::Like { escape_char, .. } | Expr::ILike { escape_char, .. } => escape_char.is_none(),
            Expr::Function(call) if is_sum(call) => true,
            call => is_md5(call) || gives_text(call),
        };
        if changes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn take(expr: &mut Expr, change: impl FnOnce(Expr) -> Expr) {
    let taken = std::mem::replace(expr, Expr::value(Value::Null));
    *expr = change(taken);
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// The function that computes as the operator does, and wraps where an integer overflows.
fn wrapping(op: &BinaryOperator) -> Option<&'static str> {
    match op {
        BinaryOperator::Plus => Some("WRAPPING_ADD"),
        BinaryOperator::Minus => Some("WRAPPING_SUBTRACT"),
        BinaryOperator::Multiply => Some("WRAPPING_MULTIPLY"),
        BinaryOperator::Divide => Some("WRAPPING_DIVIDE"),
        _ => None,
    }
}

fn is_sum(call: &ast::Function) -> bool {
    matches!(call.name.0.as_slice(), [part] if part.as_ident().is_some_and(|name| name.value == AggregateFunction::Sum.name()))
}

fn is_md5(expr: &Expr) -> bool {
    function_of(expr).is_some_and(|(function, _)| function.name == "MD5")
}

/// Whether a call gives text, and perhaps the empty one.
fn gives_text(expr: &Expr) -> bool {
    let is_text = |function: Function| {
        let mut results = function.signatures.iter().map(|signature| signature.result);
        results.all(|result| result == ResultType::Is(SqlType::Varchar(None))) && function.name != "PHOENIX_CONCAT"
    };
    function_of(expr).is_some_and(|(function, _)| is_text(function))
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    function_call(Ident::new(name), args)
}

/// The characters that a string of Phoenix's stands for: `inside` stands between its quotes.
///
/// As in Phoenix's grammar: `\n`, `\r`, `\t`, `\b` and `\f` are control characters, `\"`, `\'` and `\\` the second one; `\_`
/// and `\%` stay as they are, for LIKE; of any other escape the backslash is dropped.
pub(crate) fn unescape(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                // The second of a doubled quote.
                chars.next();
                out.push('\'');
            }
            '\\' => match chars.next() {
                Some(wildcard @ ('_' | '%')) => out.extend(['\\', wildcard]),
                Some(other) => out.push(control_character(other).unwrap_or(other)),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

/// The control character that a backslash and this letter stand for, in strings of Phoenix's as in `E'..'`.
pub(crate) fn control_character(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Statement, parse_one_in, tree_text};

    /// The query as text of our language.
    fn ours(sql: &str) -> String {
        match parse_one_in(sql, Dialect::Phoenix).unwrap().statement {
            Statement::Query(query) => tree_text(&*query.query),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn statements_become_ours() {
        for (phoenix, expected) in [
            ("select k, \"low\" from t where v = ''", "SELECT K, \"low\" FROM T WHERE V = NULL"),
            (r"SELECT 'it\'s; \n', 'a\_b' FROM t", "SELECT 'it''s; \n', 'a\\_b' FROM T"),
            ("SELECT a + b * 2 AS c FROM t", "SELECT WRAPPING_ADD(A, WRAPPING_MULTIPLY(B, 2)) AS C FROM T"),
            ("SELECT sum(a / 2) AS c FROM t", "SELECT WRAPPING_SUM(WRAPPING_DIVIDE(A, 2)) AS C FROM T"),
            (
                "SELECT sum(a) FROM t HAVING sum(a) > 1",
                "SELECT WRAPPING_SUM(A) AS \"SUM(A)\" FROM T HAVING WRAPPING_SUM(A) > 1",
            ),
            ("SELECT k FROM t WHERE a + 1 > b", "SELECT K FROM T WHERE A + 1 > B"),
            ("SELECT k FROM t WHERE UPPER(v) LIKE 'A%'", r"SELECT K FROM T WHERE UPPER(V) LIKE 'A%' ESCAPE '\'"),
            ("SELECT v NOT ILIKE 'a' FROM t", r#"SELECT V NOT ILIKE 'a' ESCAPE '\' AS "V NOT ILIKE 'a'" FROM T"#),
            ("SELECT k FROM t WHERE v LIKE 'a' ESCAPE '!'", "SELECT K FROM T WHERE V LIKE 'a' ESCAPE '!'"),
            ("SELECT k FROM t ORDER BY TRIM(v)", "SELECT K FROM T ORDER BY EMPTY_AS_NULL(TRIM(V))"),
            ("SELECT a || b AS c FROM t", "SELECT PHOENIX_CONCAT(A, B) AS C FROM T"),
            ("SELECT a || b FROM t", "SELECT PHOENIX_CONCAT(A, B) AS \"A || B\" FROM T"),
            ("SELECT md5(v) AS m FROM t", "SELECT CAST(DECODE(MD5(V), 'HEX') AS BINARY(16)) AS M FROM T"),
        ] {
            assert_eq!(ours(phoenix), expected, "{phoenix}");
        }
    }

    #[test]
    fn escapes_are_those_of_phoenix() {
        for (inside, text) in [(r"\\", r"\"), (r"\'", "'"), ("''", "'"), (r"\t\q", "\tq"), (r"\%\_", r"\%\_"), ("", "")]
        {
            assert_eq!(unescape(inside), text, "{inside}");
        }
    }
}
