//! Functions of single characters.

use super::signature::{VARCHAR, integer, text};
use super::text::OF_TEXT;
use super::{ResultType, ScalarFunction, Signature, SizeBound};
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] = &[&ASCII, &CHAR, &CHR, &INITCAP, &TRANSLATE, &UNICODE];

static ASCII: ScalarFunction =
    ScalarFunction::new("ASCII", &[Signature::new(&[text("text")], ResultType::Is(SqlType::Integer))], |args| {
        Ok(Value::Int(args.text(0)?.chars().next().map_or(0, |first| i64::from(u32::from(first)))))
    })
    .gives("The number of the first character in Unicode; 0 of an empty text.")
    .example("ASCII('abc')", "97");

static CHAR: ScalarFunction =
    ScalarFunction::new("CHAR", &[Signature::new(&[integer("number")], VARCHAR).repeated()], |args| {
        let character = |index| {
            let number = args.int(index)?;
            let character = u32::try_from(number).ok().filter(|number| *number != 0).and_then(char::from_u32);
            character.ok_or_else(|| args.refused(format_args!("{number} is the number of no character")))
        };
        (0..args.values().len()).map(character).collect::<Result<String, _>>().map(Value::Text)
    })
    .size(SizeBound { bytes: |args| Ok(args.values().len() * char::MAX_LEN_UTF8), multiplies: false })
    .gives("The text of the characters of these numbers in Unicode, as in SQLite.")
    .example("CHAR(72, 105)", "Hi");

static CHR: ScalarFunction = ScalarFunction::new("CHR", &[Signature::new(&[integer("number")], VARCHAR)], |args| {
    let number = args.int(0)?;
    let character = u32::try_from(number).ok().filter(|number| *number != 0).and_then(char::from_u32);
    let character = character.ok_or_else(|| args.refused(format!("{number} is the number of no character")))?;
    Ok(Value::text(character))
})
.gives("The character of this number in Unicode, not 0.")
.example("CHR(228)", "ä");

static INITCAP: ScalarFunction = ScalarFunction::new("INITCAP", OF_TEXT, |args| {
    let (mut capitalized, mut in_word) = (String::new(), false);
    for c in args.text(0)?.chars() {
        if in_word {
            capitalized.extend(c.to_lowercase());
        } else {
            capitalized.extend(c.to_uppercase());
        }
        in_word = c.is_alphanumeric();
    }
    Ok(Value::Text(capitalized))
})
.gives("The text with each word's first letter in upper case and its others in lower case.")
.example("INITCAP('hello WORLD-wide')", "Hello World-Wide");

static TRANSLATE: ScalarFunction = ScalarFunction::new("TRANSLATE", &[Signature::new(&[text("text"), text("from"), text("to")], VARCHAR)], |args| {
        let to: Vec<char> = args.text(2)?.chars().collect();
        let mut replacements = std::collections::HashMap::new();
        for (place, c) in args.text(1)?.chars().enumerate() {
            // If a character occurs twice, its first position counts.
            replacements.entry(c).or_insert_with(|| to.get(place).copied());
        }
        let replaced = |c: char| replacements.get(&c).copied().unwrap_or(Some(c));
        Ok(Value::Text(args.text(0)?.chars().filter_map(replaced).collect()))
    })
    .size(SizeBound { bytes: |args| Ok(args.text(0)?.len().saturating_mul(char::MAX_LEN_UTF8)), multiplies: false })
    .gives("The text with each character of the second replaced by that at the same place of the third, or left out if that is shorter.")
    .example("TRANSLATE('12345', '143', 'ax')", "a2x5");

static UNICODE: ScalarFunction =
    ScalarFunction::new("UNICODE", &[Signature::new(&[text("text")], ResultType::Is(SqlType::Integer))], |args| {
        Ok(args.text(0)?.chars().next().map_or(Value::Null, |first| Value::Int(u32::from(first).into())))
    })
    .aliases(&["ORD"])
    .gives("The number of the first character in Unicode, as ASCII; NULL of an empty text, as in SQLite.")
    .example("UNICODE('ä')", "228");
