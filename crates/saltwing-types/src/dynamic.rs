//! Dynamic columns: values that a row has beside the columns of its table.
//!
//! They are kept in a hidden column of the table as JSON, `{"extra":["VARCHAR","x"],"n":["INTEGER","5"]}`: for each name, in
//! lower case, the type and the text of the value. NULL is not kept, and a row without dynamic columns has NULL there.
//!
//! # Law
//! What is put in under a name and a type is found under this name in any case, as a value of this type.

use crate::array_text::push_quoted;
use crate::json::{self, Step};
use crate::{SqlType, Value, ValueError, text};

/// The name of the hidden column that keeps them. A table gets it with its first dynamic column.
pub const DYNAMIC_COLUMNS: &str = "_dynamic";

/// A dynamic column of a row: the type that it was written with, and its value.
pub type Entry = (SqlType, Value);

/// The value of this name in a row; `None` if it has none.
///
/// # Errors
/// [`ValueError::BadText`] for a text that is none of a row's dynamic columns.
pub fn find(row: &str, name: &str) -> Result<Option<Entry>, ValueError> {
    match json::part(row, &[Step::Member(name.to_lowercase())])? {
        None => Ok(None),
        Some(pair) => entry(pair).map(Some),
    }
}

/// All dynamic columns of a row, by name.
///
/// # Errors
/// As [`find`].
pub fn entries(row: &str) -> Result<Vec<(String, Entry)>, ValueError> {
    let members = json::members(row)?.ok_or_else(|| bad(row))?;
    members.into_iter().map(|(name, pair)| Ok((name, entry(pair)?))).collect()
}

/// The row with these values in the place of those of the same names; NULL takes a value away.
///
/// # Errors
/// As [`find`].
pub fn with<'n>(
    row: Option<&str>,
    values: impl IntoIterator<Item = (&'n str, SqlType, &'n Value)>,
) -> Result<Option<String>, ValueError> {
    let known = row.map_or(Ok(None), json::members)?.unwrap_or_default();
    let mut pairs: Vec<(String, String)> = known.into_iter().map(|(name, pair)| (name, pair.to_owned())).collect();
    for (name, ty, value) in values {
        let name = name.to_lowercase();
        let pair = text::format(value, ty).map(|text| {
            let mut pair = String::from("[");
            push_quoted(&mut pair, &ty.to_string());
            pair.push(',');
            push_quoted(&mut pair, &text);
            pair.push(']');
            pair
        });
        match (pairs.iter_mut().find(|(known, _)| *known == name), pair) {
            (Some((_, old)), Some(pair)) => *old = pair,
            (None, Some(pair)) => pairs.push((name, pair)),
            (_, None) => pairs.retain(|(known, _)| *known != name),
        }
    }
    if pairs.is_empty() {
        return Ok(None);
    }
    let mut row = String::new();
    for (name, pair) in &pairs {
        row.push(if row.is_empty() { '{' } else { ',' });
        push_quoted(&mut row, name);
        row.push(':');
        row.push_str(pair);
    }
    row.push('}');
    Ok(Some(row))
}

/// The type and the value of `["TYPE","text"]`.
fn entry(pair: &str) -> Result<Entry, ValueError> {
    let part = |index| json::part(pair, &[Step::Element(index)])?.map_or(Ok(None), json::plain_text);
    let (Some(ty), Some(value)) = (part(0)?, part(1)?) else { return Err(bad(pair)) };
    let ty: SqlType = ty.parse()?;
    Ok((ty, text::parse(&value, ty)?))
}

fn bad(text: &str) -> ValueError {
    ValueError::BadText { text: crate::error::shorten(text), target: "dynamic columns".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_under_their_names() {
        let values = [
            ("Extra", SqlType::Varchar(None), Value::text("a \"b\"\n\\")),
            ("f.n", SqlType::Integer, Value::Int(-5)),
            ("b", SqlType::Varbinary, Value::Bytes(vec![0, 255])),
            ("d", SqlType::Date, Value::Date(1)),
            ("x", SqlType::Double, Value::Double(1e300)),
            ("e", SqlType::Varchar(Some(3)), Value::text("")),
        ];
        let row = with(None, values.iter().map(|(name, ty, value)| (*name, *ty, value))).unwrap().unwrap();
        for (name, ty, value) in &values {
            for name in [name.to_uppercase(), name.to_lowercase()] {
                assert_eq!(find(&row, &name).unwrap(), Some((*ty, value.clone())), "{name}");
            }
        }
        assert_eq!(entries(&row).unwrap().len(), values.len());
        assert_eq!(find(&row, "n").unwrap(), None);
    }

    #[test]
    fn later_values_take_the_place_of_earlier_ones() {
        let put = |row: Option<&str>, name, value: Value| with(row, [(name, SqlType::Integer, &value)]).unwrap();
        let one = put(None, "a", Value::Int(1)).unwrap();
        let two = put(Some(&one), "B", Value::Int(2)).unwrap();
        assert_eq!(two, r#"{"a":["INTEGER","1"],"b":["INTEGER","2"]}"#);
        let three = put(Some(&two), "A", Value::Int(3)).unwrap();
        assert_eq!(three, r#"{"a":["INTEGER","3"],"b":["INTEGER","2"]}"#);
        let four = put(Some(&three), "a", Value::Null).unwrap();
        assert_eq!(four, r#"{"b":["INTEGER","2"]}"#);
        assert_eq!(put(Some(&four), "b", Value::Null), None);
        assert_eq!(put(None, "b", Value::Null), None);
    }

    #[test]
    fn other_texts_are_errors() {
        for bad in ["[1]", "{\"a\":1}", "{\"a\":[\"INT\",\"1\"]}", "{\"a\":[\"INTEGER\",\"x\"]}", "{\"a\":[null,null]}"]
        {
            assert!(find(bad, "a").is_err() || entries(bad).is_err(), "{bad}");
        }
    }
}
