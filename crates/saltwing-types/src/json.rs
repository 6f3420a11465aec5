//! JSON texts: their check, and the parts that paths lead to.
//!
//! A JSON value is kept as it was written, so a part of it is a slice of its text: numbers keep all their digits, and objects
//! the order of their members. Nothing here recurses: a text may be as deep as it is long.

pub(crate) mod change;
pub(crate) mod containment;
pub(crate) mod shape;

use crate::array_text::{push_quoted, unquoted};
use crate::error::shorten;
use crate::{SqlType, ValueError};

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// The member of an object; of several members of one name the last.
    Member(String),
    /// The element of an array, from 0; negative from the end.
    Element(i64),
    /// A name in an array of names: a member of an object, or a number that counts an array's elements.
    Either(String),
}

/// Checks that a text is one JSON value, as RFC 8259 has it.
///
/// # Errors
/// [`ValueError::BadText`] with the wanted characters and their place.
pub(crate) fn check(text: &str) -> Result<(), ValueError> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_blanks();
    reader.skip_value()?;
    reader.skip_blanks();
    if reader.at == text.len() { Ok(()) } else { Err(reader.expected("the end")) }
}

/// The members of a JSON object in their order, with the texts of their values; `None` of a text that is no object.
///
/// # Errors
/// As for a text that is cast to JSON.
pub fn members(text: &str) -> Result<Option<Vec<(String, &str)>>, ValueError> {
    let mut reader = Reader { text: text.trim(), at: 0 };
    let mut members = Vec::new();
    let is_object = each_member(&mut reader, |key, value| {
        members.push((unquoted(key).map(|(key, _)| key).unwrap_or_default(), value));
    })?;
    match is_object && reader.at < reader.text.len() {
        true => Err(reader.expected("the end")),
        false => Ok(is_object.then_some(members)),
    }
}

/// The part of a JSON value that the steps lead to; `None` if there is none.
///
/// # Errors
/// [`ValueError::BadText`] at the first place that is no JSON.
pub(crate) fn part<'a>(json: &'a str, steps: &[Step]) -> Result<Option<&'a str>, ValueError> {
    let mut part = json.trim();
    for step in steps {
        let below = match step {
            Step::Member(name) => member(part, name)?,
            Step::Element(index) => element(part, *index)?,
            Step::Either(name) if part.starts_with('{') => member(part, name)?,
            Step::Either(name) => name.parse().map_or(Ok(None), |index| element(part, index))?,
        };
        let Some(below) = below else { return Ok(None) };
        part = below;
    }
    Ok(Some(part))
}

/// A JSON value with `new` in the place of the part at a path. The last step may be a member that its object does not have.
///
/// # Errors
/// [`ValueError::BadArgument`] if the path leads nowhere; as [`path`] and [`part`].
pub(crate) fn with_part(json: &str, path: &str, new: &str) -> Result<String, ValueError> {
    let (steps, new) = (self::path(path)?, new.trim());
    if let Some(old) = part(json, &steps)? {
        return spliced(json, old, &[new]);
    }
    if let Some((Step::Member(name), parents)) = steps.split_last()
        && let Some(object) = part(json, parents)?
        && let Some(inside) = object.strip_prefix('{').and_then(|inside| inside.strip_suffix('}'))
    {
        let mut member = String::from(if inside.trim().is_empty() { "" } else { ", " });
        push_quoted(&mut member, name);
        member.push_str(": ");
        let end = inside.trim_end().len();
        return spliced(json, inside.get(end..end).unwrap_or_default(), &[&member, new]);
    }
    Err(ValueError::BadArgument(format!("there is nothing at {} in {}", shorten(path), shorten(json))))
}

/// `json` with other text in the place of `part`, a slice of it.
fn spliced(json: &str, part: &str, new: &[&str]) -> Result<String, ValueError> {
    let start = (part.as_ptr() as usize).wrapping_sub(json.as_ptr() as usize);
    let around = json.get(..start).zip(json.get(start.saturating_add(part.len())..));
    let (first, last) = around.ok_or_else(|| ValueError::Internal("a part is not within its JSON value".to_owned()))?;
    Ok([first, &new.concat(), last].concat())
}

/// A JSON value as text: a string without its quotes and escapes; `None` for null.
///
/// # Errors
/// [`ValueError::BadText`] for a string that is none.
pub fn plain_text(json: &str) -> Result<Option<String>, ValueError> {
    match json.strip_prefix('"') {
        Some(quoted) => match unquoted(quoted) {
            Some((text, _)) => Ok(Some(text)),
            None => Err(Reader { text: json, at: 0 }.expected("a string")),
        },
        None if json == "null" => Ok(None),
        None => Ok(Some(json.to_owned())),
    }
}

/// Whether a value is neither an object nor an array.
pub(crate) fn is_scalar(json: &str) -> bool {
    !json.starts_with(['{', '['])
}

/// The steps of a path of SQL/JSON: `$`, then `.name`, `."name"` and `[index]`.
///
/// # Errors
/// [`ValueError::BadArgument`] for any other form.
pub(crate) fn path(text: &str) -> Result<Vec<Step>, ValueError> {
    let refused = |why: &str| ValueError::BadArgument(format!("'{}' is no path: {why}", shorten(text)));
    let mut rest = text.trim().strip_prefix('$').ok_or_else(|| refused("it begins with $"))?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        rest = if let Some(quoted) = rest.strip_prefix(".\"") {
            let (name, after) = unquoted(quoted).ok_or_else(|| refused("a quote is missing"))?;
            steps.push(Step::Member(name));
            after
        } else if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            if name.is_empty() {
                return Err(refused("a member is .name or .\"name\"; there are no wildcards"));
            }
            steps.push(Step::Member(name.to_owned()));
            after
        } else {
            let (index, after) = rest
                .strip_prefix('[')
                .and_then(|index| index.split_once(']'))
                .ok_or_else(|| refused("behind a step there is .name, .\"name\" or [index]"))?;
            let index: u32 = index.trim().parse().map_err(|_| refused("an index is a number from 0 on"))?;
            steps.push(Step::Element(index.into()));
            after
        };
    }
    Ok(steps)
}

fn member<'a>(json: &'a str, name: &str) -> Result<Option<&'a str>, ValueError> {
    let mut found = None;
    each_member(&mut Reader { text: json, at: 0 }, |key, value| {
        let is_named = match key.contains('\\') {
            true => unquoted(key).is_some_and(|(key, _)| key == name),
            false => key.strip_suffix('"') == Some(name),
        };
        found = if is_named { Some(value) } else { found };
    })?;
    Ok(found)
}

/// Calls `each` with the name of each member, as it stands after its opening quote, and its value. `false` if the value is no object.
fn each_member<'a>(reader: &mut Reader<'a>, mut each: impl FnMut(&'a str, &'a str)) -> Result<bool, ValueError> {
    if !reader.takes(b'{') {
        return Ok(false);
    }
    reader.skip_blanks();
    let mut has_another = !reader.takes(b'}');
    while has_another {
        let key = reader.key()?;
        each(key, reader.value()?);
        has_another = reader.has_another(b'}')?;
    }
    Ok(true)
}

/// The elements of a JSON array; `None` of a text that is none.
///
/// # Errors
/// [`ValueError::BadText`] at the first place that is no JSON.
pub(crate) fn elements(json: &str) -> Result<Option<Vec<&str>>, ValueError> {
    let mut reader = Reader { text: json.trim(), at: 0 };
    if !reader.takes(b'[') {
        return Ok(None);
    }
    let mut elements = Vec::new();
    reader.skip_blanks();
    let mut has_another = !reader.takes(b']');
    while has_another {
        elements.push(reader.value()?);
        has_another = reader.has_another(b']')?;
    }
    Ok(Some(elements))
}

/// The members of an object with their names, or the elements of an array with their numbers; none of any other value.
///
/// # Errors
/// [`ValueError::BadText`] at the first place that is no JSON.
pub(crate) fn parts(json: &str) -> Result<Vec<(String, &str)>, ValueError> {
    if let Some(members) = members(json)? {
        return Ok(members);
    }
    let elements = elements(json)?.unwrap_or_default();
    Ok(elements.into_iter().enumerate().map(|(place, element)| (place.to_string(), element)).collect())
}

fn element(json: &str, index: i64) -> Result<Option<&str>, ValueError> {
    let mut reader = Reader { text: json, at: 0 };
    if !reader.takes(b'[') {
        return Ok(None);
    }
    let mut elements = Vec::new();
    reader.skip_blanks();
    let mut has_another = !reader.takes(b']');
    while has_another {
        elements.push(reader.value()?);
        has_another = elements.len() as i64 - 1 != index && reader.has_another(b']')?;
    }
    let place = if index < 0 { index.checked_add(elements.len() as i64) } else { Some(index) };
    Ok(place.and_then(|place| elements.get(usize::try_from(place).ok()?)).copied())
}

/// Reads a JSON text from its beginning.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn expected(&self, what: &str) -> ValueError {
        let place = self.text.get(..self.at).map_or(0, |before| before.chars().count()) + 1;
        let target = format!("{}: {what} is expected at character {place}", SqlType::Json);
        ValueError::BadText { text: shorten(self.text), target }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_blanks(&mut self) {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Whether another member or element follows, instead of the closing bracket.
    fn has_another(&mut self, close: u8) -> Result<bool, ValueError> {
        self.skip_blanks();
        if self.takes(b',') {
            self.skip_blanks();
            return Ok(true);
        }
        if self.takes(close) { Ok(false) } else { Err(self.expected("',' or a closing bracket")) }
    }

    /// The text of a member's name after its opening quote; the reader is then at the member's value.
    fn key(&mut self) -> Result<&'a str, ValueError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member's name in quotes"));
        }
        self.skip_string()?;
        let key = self.text.get(start + 1..self.at).unwrap_or_default();
        self.skip_blanks();
        if !self.takes(b':') {
            return Err(self.expected("':'"));
        }
        self.skip_blanks();
        Ok(key)
    }

    fn value(&mut self) -> Result<&'a str, ValueError> {
        let start = self.at;
        self.skip_value()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn skip_value(&mut self) -> Result<(), ValueError> {
        // The closing brackets of the objects and arrays around the reader.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let close = match self.peek() {
                Some(b'{') => Some(b'}'),
                Some(b'[') => Some(b']'),
                _ => None,
            };
            if let Some(close) = close {
                self.at += 1;
                self.skip_blanks();
                if !self.takes(close) {
                    open.push(close);
                    if close == b'}' {
                        self.key()?;
                    }
                    continue;
                }
            } else {
                self.skip_scalar()?;
            }
            // A value has ended, and the objects and arrays that end with it.
            while let Some(close) = open.last().copied() {
                if self.has_another(close)? {
                    if close == b'}' {
                        self.key()?;
                    }
                    break;
                }
                open.pop();
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn skip_scalar(&mut self) -> Result<(), ValueError> {
        match self.peek() {
            Some(b'"') => return self.skip_string(),
            Some(b'-' | b'0'..=b'9') => return self.skip_number(),
            _ => {}
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
        self.at += word.ok_or_else(|| self.expected("a value"))?.len();
        Ok(())
    }

    fn skip_number(&mut self) -> Result<(), ValueError> {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        self.takes(b'-');
        if !self.takes(b'0') && self.skip_while(is_digit) == 0 {
            return Err(self.expected("a digit"));
        }
        if self.takes(b'.') && self.skip_while(is_digit) == 0 {
            return Err(self.expected("a digit"));
        }
        if self.takes(b'e') || self.takes(b'E') {
            let _ = self.takes(b'-') || self.takes(b'+');
            if self.skip_while(is_digit) == 0 {
                return Err(self.expected("a digit"));
            }
        }
        Ok(())
    }

    fn skip_string(&mut self) -> Result<(), ValueError> {
        let start = self.at;
        let mut has_unicode = false;
        self.at += 1;
        loop {
            self.skip_while(|byte| byte != b'"' && byte != b'\\' && byte >= b' ');
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    has_unicode |= self.peek() == Some(b'u');
                    if !self.peek().is_some_and(|byte| br#""\/bfnrtu"#.contains(&byte)) {
                        return Err(self.expected("an escape"));
                    }
                    self.at += 1;
                }
                _ => return Err(self.expected("the end of a string")),
            }
        }
        self.at += 1;
        let string = self.text.get(start + 1..self.at).unwrap_or_default();
        if has_unicode && unquoted(string).is_none() {
            self.at = start;
            return Err(self.expected("a string of whole \\u escapes"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        check(text).unwrap_err().to_string()
    }

    #[test]
    fn texts_of_the_grammar() {
        for text in [
            "null",
            " [ ] ",
            "{}",
            "-0.5e+10",
            "0",
            r#""a\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00""#,
            r#"{"a": [1, {"b": []}, "x"], "": {"c": true}}"#,
            "\t{\"a\"\n:\r1}",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,]",
            "[,1]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "nul",
            "nulls",
            "True",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud83d\"",
            "\"a\nb\"",
            "1 2",
            "[1}",
            "{\"a\":1]",
            "NaN",
            "'a'",
        ] {
            assert_eq!(check(text).unwrap_err().code().sqlstate(), "22P02", "{text}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(check(&deep), Ok(()));
    }

    #[test]
    fn errors_have_a_place() {
        assert_eq!(error(r#"{"ä" 1}"#), r#"'{"ä" 1}' is not a valid JSON: ':' is expected at character 6"#);
        assert_eq!(error("[1 2]"), "'[1 2]' is not a valid JSON: ',' or a closing bracket is expected at character 4");
        assert_eq!(error("[1"), "'[1' is not a valid JSON: ',' or a closing bracket is expected at character 3");
        assert_eq!(error("1 x"), "'1 x' is not a valid JSON: the end is expected at character 3");
    }

    #[test]
    fn parts() {
        let json = r#" {"a" : {"b c":[10, 2.50 ,[3]]}, "\u0061x": "q\"r", "d": 1, "d": null} "#;
        for (text, expected) in [
            ("$", Some(json.trim())),
            ("$.a.\"b c\"[1]", Some("2.50")),
            ("$.a.\"b c\"[2][0]", Some("3")),
            ("$.a.\"b c\"[3]", None),
            ("$.ax", Some(r#""q\"r""#)),
            ("$.d", Some("null")),
            ("$.a[0]", None),
            ("$.d.e", None),
            ("$.nothing", None),
        ] {
            assert_eq!(part(json, &path(text).unwrap()).unwrap(), expected, "{text}");
        }
        let last = [Step::Member("a".into()), Step::Either("b c".into()), Step::Either("-1".into()), Step::Element(-1)];
        assert_eq!(part(json, &last).unwrap(), Some("3"));
        assert_eq!(part("[1]", &[Step::Element(-2)]).unwrap(), None);
        assert_eq!(part("[1]", &[Step::Element(i64::MIN)]).unwrap(), None);
        assert_eq!(part("[1]", &[Step::Member("0".into())]).unwrap(), None);
        assert_eq!(plain_text(r#""q\"\u00e4""#).unwrap().as_deref(), Some("q\"ä"));
        assert_eq!((plain_text("null").unwrap(), plain_text("[1]").unwrap().as_deref()), (None, Some("[1]")));
    }

    #[test]
    fn parts_are_replaced_in_place() {
        let json = r#" {"a" : {"b c":[10, 2.50 ,[3]] }, "d": 1, "e": {} } "#;
        for (path, expected) in [
            ("$", " null "),
            ("$.a.\"b c\"[1]", r#" {"a" : {"b c":[10, null ,[3]] }, "d": 1, "e": {} } "#),
            ("$.d", r#" {"a" : {"b c":[10, 2.50 ,[3]] }, "d": null, "e": {} } "#),
            ("$.e.\"q\\\"r\"", r#" {"a" : {"b c":[10, 2.50 ,[3]] }, "d": 1, "e": {"q\"r": null} } "#),
            ("$.a.x", r#" {"a" : {"b c":[10, 2.50 ,[3]], "x": null }, "d": 1, "e": {} } "#),
        ] {
            let with_part = with_part(json, path, " null ").unwrap();
            assert_eq!((with_part.as_str(), check(&with_part)), (expected, Ok(())), "{path}");
        }
        for path in ["$.x.y", "$.d.x", "$[0]", "$.a.\"b c\"[3]", "$.a[0]"] {
            assert_eq!(with_part(json, path, "1").unwrap_err().code().as_str(), "bad_argument", "{path}");
        }
    }

    #[test]
    fn paths_of_other_languages() {
        for text in ["", "a", "$.", "$.*", "$[*]", "$[-1]", "$[a]", "$[1", "$..a", "$a", "strict $.a", "$.a b", "$.\"a"]
        {
            assert_eq!(path(text).unwrap_err().code().as_str(), "bad_argument", "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[\[\]{}:,"\\u0-9a-c.e+ -]{0,16}"#, name in "[ab]?", index in -2i64..3) {
            let _ = check(&text);
            let _ = part(&text, &[Step::Member(name.clone()), Step::Element(index), Step::Either(name)]);
            let _ = (path(&text), plain_text(&text), with_part("{\"a\": [{}]}", &text, "1"), with_part(&text, "$.a", "1"));
        }

        /// Each element is found at its index, and together they are the array.
        #[test]
        fn elements_are_slices(elements in prop::collection::vec(r#"[0-9]|"[a-c,\]]*"|\[[1,2]?\]|\{"a":\[1\]\}"#, 0..6)) {
            let elements: Vec<String> = elements.into_iter().filter(|element| check(element).is_ok()).collect();
            let json = format!("[{}]", elements.join(" ,"));
            check(&json).unwrap();
            for (index, element) in elements.iter().enumerate() {
                for index in [index as i64, index as i64 - elements.len() as i64] {
                    prop_assert_eq!(part(&json, &[Step::Element(index)]).unwrap(), Some(element.as_str()));
                }
            }
            prop_assert_eq!(part(&json, &[Step::Element(elements.len() as i64)]).unwrap(), None);
        }
    }
}
