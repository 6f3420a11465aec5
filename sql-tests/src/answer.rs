//! A query's rows as the files write them.

use md5::{Digest, Md5};
use saltwing::blocking::Connection;
use saltwing::{SqlType, Value, text};
use sqllogictest::{ResultMode, SortMode};

use crate::script::TypeLetter;

/// Rows of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    rows: Vec<Vec<String>>,
}

/// Why a query gave no answer that can be compared.
pub(crate) enum NoAnswer {
    /// It failed.
    Failed(saltwing::Error),
    /// It has this many columns, and the file says another number.
    Columns(usize),
}

impl Answer {
    /// Runs a query and writes its rows down as `types` say; no types are any.
    pub(crate) fn to(connection: &Connection, sql: &str, types: &[TypeLetter]) -> Result<Self, NoAnswer> {
        let rows = connection.query(sql, ()).map_err(NoAnswer::Failed)?;
        let columns: Vec<SqlType> = rows.columns().iter().map(|c| c.ty).collect();
        if !types.is_empty() && types.len() != columns.len() {
            return Err(NoAnswer::Columns(columns.len()));
        }
        let letter = |i: usize| types.get(i).map_or('?', |t| t.0);
        let mut written = Vec::new();
        for row in rows {
            let values = row.and_then(|row| row.values()).map_err(NoAnswer::Failed)?;
            let texts = values.iter().zip(&columns).enumerate();
            written.push(texts.map(|(i, (value, ty))| value_text(value, *ty, letter(i))).collect());
        }
        Ok(Self { rows: written })
    }

    /// Brings the rows, or all values, in order.
    pub(crate) fn sort(&mut self, mode: SortMode) {
        match mode {
            SortMode::NoSort => {}
            SortMode::RowSort => self.rows.sort(),
            SortMode::ValueSort => {
                let mut values: Vec<String> = self.rows.drain(..).flatten().collect();
                values.sort();
                self.rows = values.into_iter().map(|value| vec![value]).collect();
            }
        }
    }

    /// Whether this is what the file expects.
    pub(crate) fn is(&self, expected: &[String], mode: Option<ResultMode>) -> bool {
        if let [line] = expected
            && line.contains(" values hashing to ")
        {
            return *line == self.hashed();
        }
        let expected = expected.iter().map(|line| spaced(line));
        let by_row = mode != Some(ResultMode::ValueWise) && expected.clone().eq(self.lines());
        by_row || mode != Some(ResultMode::RowWise) && expected.eq(self.rows.iter().flatten().map(|v| spaced(v)))
    }

    /// One line a row, as an update writes them.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| spaced(&row.join(" ")))
    }

    /// sqlite's short form of a long answer.
    pub(crate) fn hashed(&self) -> String {
        let mut hash = Md5::new();
        for value in self.rows.iter().flatten() {
            hash.update(value);
            hash.update("\n");
        }
        let count: usize = self.rows.iter().map(Vec::len).sum();
        format!("{count} values hashing to {}", text::hex(&hash.finalize()))
    }
}

/// Blanks count once, and none at the ends: they part values, and editors change them.
fn spaced(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn value_text(value: &Value, ty: SqlType, letter: char) -> String {
    let shown = match (letter, value) {
        (_, Value::Null) => return "NULL".into(),
        ('I', Value::Bool(b)) => i64::from(*b).to_string(),
        ('I', Value::Decimal(d)) => {
            text::format(&Value::Decimal(d.truncate(0)), SqlType::Decimal(None)).unwrap_or_default()
        }
        // Adding 0.0 turns the -0.0 of a fraction into 0.0.
        ('I', Value::Float(_) | Value::Double(_)) => format!("{:.0}", number(value).trunc() + 0.0),
        ('I', Value::Text(text)) => leading_integer(text).into(),
        ('R', Value::Int(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_)) => three_decimals(number(value)),
        _ => text::format(value, ty).unwrap_or_default(),
    };
    if shown.is_empty() {
        return "(empty)".into();
    }
    shown.chars().map(|c| if c.is_control() { '@' } else { c }).collect()
}

/// The integer at the front of a text, 0 where there is none: what sqlite's harness prints, and its answers hold.
fn leading_integer(text: &str) -> &str {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let end = text.len() - unsigned.len() + digits;
    let number = text.get(..end).unwrap_or_default();
    if digits == 0 { "0" } else { number.strip_prefix('+').unwrap_or(number) }
}

fn three_decimals(number: f64) -> String {
    match number.is_finite() {
        true => format!("{number:.3}"),
        false => text::format_f64(number),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(i) => *i as f64,
        Value::Decimal(d) => d.to_f64(),
        Value::Float(f) => f64::from(*f),
        Value::Double(d) => *d,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_by_their_columns_letter() {
        let decimal = |t: &str| Value::Decimal(t.parse().unwrap());
        for (value, letter, text) in [
            (Value::Null, 'I', "NULL"),
            (Value::text(""), 'T', "(empty)"),
            (Value::text("a\nb"), 'T', "a@b"),
            (Value::text("猫"), 'T', "猫"),
            (Value::Int(7), 'I', "7"),
            (Value::Int(7), 'R', "7.000"),
            (Value::Int(7), 'T', "7"),
            (Value::Bool(true), 'I', "1"),
            (Value::Bool(true), 'T', "true"),
            (Value::Double(-2.75), 'I', "-2"),
            (Value::Double(-0.75), 'I', "0"),
            (Value::Float(-0.5), 'I', "0"),
            (decimal("-0.75"), 'I', "0"),
            (Value::text("apdbu"), 'I', "0"),
            (Value::text(""), 'I', "0"),
            (Value::text("-"), 'I', "0"),
            (Value::text(" -12abc"), 'I', "-12"),
            (Value::text("+7"), 'I', "7"),
            (Value::Double(-2.75), 'R', "-2.750"),
            (Value::Double(2.0), 'T', "2.0"),
            (Value::Double(f64::INFINITY), 'R', "Infinity"),
            (decimal("12345678901234567890.9"), 'I', "12345678901234567890"),
            (decimal("0.5"), 'R', "0.500"),
        ] {
            assert_eq!(value_text(&value, saltwing::SqlType::Null, letter), text, "{value:?} {letter}");
        }
    }

    #[test]
    fn an_answer_is_expected_by_row_by_value_or_hashed() {
        let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let mut answer = Answer { rows: vec![row("2", "b  c"), row("10", "a")] };
        let lines = |list: &[&str]| list.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
        assert!(answer.is(&lines(&["2\tb c", "10 a"]), None));
        assert!(answer.is(&lines(&["2", "b c", "10", "a"]), None));
        assert!(!answer.is(&lines(&["2", "b c", "10", "a"]), Some(ResultMode::RowWise)));
        assert!(!answer.is(&lines(&["2 b c", "10 a"]), Some(ResultMode::ValueWise)));
        assert!(!answer.is(&lines(&["10 a", "2 b c"]), None));
        answer.sort(SortMode::RowSort);
        assert!(answer.is(&lines(&["10 a", "2 b c"]), None));
        answer.sort(SortMode::ValueSort);
        assert!(answer.is(&lines(&["10", "2", "a", "b c"]), None));
        assert!(!answer.is(&[], None));
        // md5 of "1\n2\n".
        let numbers = Answer { rows: vec![vec!["1".into()], vec!["2".into()]] };
        assert!(numbers.is(&lines(&["2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0"]), None));
    }
}
