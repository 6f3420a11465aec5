//! Queries that differ in the literals of their conditions share a plan.
//!
//! Programs that write values into the text of a query send another text each time. To parse and plan it takes several times what reading a row by its
//! key takes. So the text is read once, word by word, and each literal that a column is compared with becomes a parameter: the plan of the template is
//! kept, and runs with the literals as values.
//!
//! # Laws
//! 1. The template with its values is the text: it has the same rows. A text of which that is not sure has no template (a literal anywhere but after a
//!    comparison of a column, a second SELECT, OR, brackets in conditions).
//! 2. Errors are those of the text: whoever runs a template runs the text if the template fails.

use saltwing_sql::{Lexeme, lexemes};
use saltwing_types::{SqlType, Value};

/// A query with parameters in place of literals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiteralTemplate {
    /// The text with `?` for each literal.
    pub(crate) text: String,
    /// The literals, in order.
    pub(crate) values: Vec<Value>,
}

/// The template of a text in the dialect of Saltwing; `None` if it has no literals of the kind, or if a literal could mean something else there.
pub(crate) fn literal_template(sql: &str) -> Option<LiteralTemplate> {
    let (mut text, mut values) = (String::with_capacity(sql.len()), Vec::new());
    let mut place = Place::Begin;
    for (kind, range) in lexemes(sql) {
        let part = sql.get(range)?;
        if matches!(kind, Lexeme::Blank | Lexeme::Comment) {
            text.push_str(part);
            continue;
        }
        let is_value = place == Place::Operand;
        place = place.after(kind, part)?;
        if is_value {
            values.push(literal(kind, part)?);
            text.push('?');
        } else {
            text.push_str(part);
        }
    }
    (place.may_end() && !values.is_empty()).then_some(LiteralTemplate { text, values })
}

/// Whether a literal means the same as a parameter that the query compares with a column of this type.
pub(crate) fn fits(value: &Value, ty: Option<SqlType>) -> bool {
    match (value, ty) {
        (Value::Int(_), Some(ty)) => ty.is_integer(),
        (Value::Text(_), Some(ty)) => {
            matches!(ty, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Date | SqlType::Timestamp)
        }
        _ => false,
    }
}

/// The place in a query after a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the first word.
    Begin,
    /// After SELECT and before WHERE.
    Head,
    /// Where a condition begins, or a name goes on after its point.
    Name,
    /// After the name of a column.
    Column,
    /// After a comparison.
    Operand,
    /// After a condition.
    Condition,
    /// After the conditions: ORDER BY, LIMIT.
    Tail,
    /// After LIMIT or OFFSET.
    Count,
    /// After a semicolon.
    End,
}

impl Place {
    /// The place after a lexeme; `None` if the text has no template.
    fn after(self, kind: Lexeme, part: &str) -> Option<Self> {
        let is = |word: &str| kind == Lexeme::Word && part.eq_ignore_ascii_case(word);
        match (self, kind) {
            (Self::Begin, _) => is("SELECT").then_some(Self::Head),
            (Self::Name, Lexeme::Word | Lexeme::QuotedName) => Some(Self::Column),
            (Self::Column, Lexeme::Symbol) => match part {
                "." => Some(Self::Name),
                "=" | "<" | ">" | "<=" | ">=" => Some(Self::Operand),
                _ => None,
            },
            (Self::Operand, Lexeme::Number | Lexeme::Text) => Some(Self::Condition),
            (Self::Condition, _) if is("AND") => Some(Self::Name),
            (Self::Condition, _) if is("ORDER") => Some(Self::Tail),
            (Self::Condition | Self::Tail, _) if is("LIMIT") || is("OFFSET") => Some(Self::Count),
            (Self::Count, Lexeme::Number) => Some(Self::Tail),
            (Self::Condition | Self::Head | Self::Tail, Lexeme::Symbol) if part == ";" => Some(Self::End),
            (Self::Head, _) if is("WHERE") => Some(Self::Name),
            (Self::Head | Self::Tail, Lexeme::Word) if !is("SELECT") && !is("VALUES") => Some(self),
            (Self::Head | Self::Tail, Lexeme::QuotedName | Lexeme::Symbol) => Some(self),
            _ => None,
        }
    }

    fn may_end(self) -> bool {
        matches!(self, Self::Condition | Self::Tail | Self::End)
    }
}

/// The value of a literal; `None` of one that is no integer and no plain text.
fn literal(kind: Lexeme, part: &str) -> Option<Value> {
    match kind {
        Lexeme::Number => part.parse().ok().map(Value::Int),
        Lexeme::Text => {
            let inner = part.strip_prefix('\'')?.strip_suffix('\'')?;
            Some(Value::Text(inner.replace("''", "'")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template(sql: &str) -> Option<(String, Vec<Value>)> {
        literal_template(sql).map(|template| (template.text, template.values))
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn literals_of_conditions_become_parameters() {
        for (sql, expected, values) in [
            ("SELECT a FROM t WHERE k = 5", "SELECT a FROM t WHERE k = ?", vec![Value::Int(5)]),
            (
                "select t.a, count(*) from t where t.k>='it''s' and \"B\"<7 order by a desc limit 10;",
                "select t.a, count(*) from t where t.k>=? and \"B\"<? order by a desc limit 10;",
                vec![text("it's"), Value::Int(7)],
            ),
            (
                "SELECT a -- one\nFROM t WHERE k = /* two */ 1",
                "SELECT a -- one\nFROM t WHERE k = /* two */ ?",
                vec![Value::Int(1)],
            ),
        ] {
            assert_eq!(template(sql), Some((expected.to_owned(), values)), "{sql}");
        }
    }

    #[test]
    fn other_literals_have_no_template() {
        for sql in [
            "SELECT 1 FROM t WHERE k = 5",
            "SELECT a FROM t WHERE k = 5 OR k = 6",
            "SELECT a FROM t WHERE NOT k = 5",
            "SELECT a FROM t WHERE k = -5",
            "SELECT a FROM t WHERE k = 5 + 1",
            "SELECT a FROM t WHERE k = 5::bigint",
            "SELECT a FROM t WHERE k = 5 ORDER BY 1",
            "SELECT a FROM t WHERE k = 5 GROUP BY a",
            "SELECT a FROM t WHERE k IN (5)",
            "SELECT a FROM t WHERE (k = 5)",
            "SELECT a FROM t WHERE k = 5.0",
            "SELECT a FROM t WHERE k = 99999999999999999999",
            "SELECT a FROM t WHERE k = E'x'",
            "SELECT a FROM t WHERE k = X'00'",
            "SELECT a FROM t WHERE k = DATE '2024-05-01'",
            "SELECT a FROM t WHERE k = ? AND a = 5",
            "SELECT a FROM t WHERE k = 5 AND a = b",
            "SELECT a FROM t WHERE 5 = k",
            "SELECT a FROM t WHERE k = 'a' 'b'",
            "SELECT a FROM t WHERE k BETWEEN 1 AND 5",
            "SELECT a FROM (SELECT a FROM t) WHERE k = 5",
            "SELECT /*+ FULL_SCAN */ a FROM t WHERE k = 5",
            "SELECT a FROM t WHERE k = 5 UNION SELECT a FROM t WHERE k = 6",
            "SELECT a FROM t WHERE k = 5 LIMIT 3 AFTER 'x'",
            "SELECT a FROM t WHERE k = 5; SELECT 1",
            "SELECT a FROM t",
            "DELETE FROM t WHERE k = 5",
            "",
        ] {
            assert_eq!(template(sql), None, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn a_template_with_its_literals_is_the_text(
            numbers in prop::collection::vec(any::<u32>(), 1..4),
            texts in prop::collection::vec("[a-z' ?;-]{0,6}", 1..4),
        ) {
            let quoted = |text: &String| format!("'{}'", text.replace('\'', "''"));
            let literals: Vec<String> = numbers.iter().map(u32::to_string).chain(texts.iter().map(quoted)).collect();
            let conditions: Vec<String> = literals.iter().map(|literal| format!("c >= {literal}")).collect();
            let found = literal_template(&format!("SELECT a FROM t WHERE {}", conditions.join(" AND "))).unwrap();
            let values: Vec<Value> = numbers.iter().map(|number| Value::Int((*number).into())).chain(texts.iter().map(|it| text(it))).collect();
            prop_assert_eq!(found.values, values);
            prop_assert_eq!(found.text, format!("SELECT a FROM t WHERE {}", vec!["c >= ?"; literals.len()].join(" AND ")));
        }

        #[test]
        fn no_text_makes_it_panic(sql in "\\PC{0,80}") {
            literal_template(&sql);
            literal_template(&format!("SELECT a FROM t WHERE {sql}"));
        }
    }
}
