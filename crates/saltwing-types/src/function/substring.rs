//! Functions of parts of a text, which are counted in characters.

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{KeyPart, KeyProperty, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] =
    &[&ENDS_WITH, &LEFT, &LENGTH, &LOCATE, &RIGHT, &SPLIT_PART, &STARTS_WITH, &STRPOS, &SUBSTR];

static ENDS_WITH: ScalarFunction = ScalarFunction::new(
    "ENDS_WITH",
    &[Signature::new(&[text("text"), text("suffix")], ResultType::Is(SqlType::Boolean))],
    |args| Ok(Value::Bool(args.text(0)?.ends_with(args.text(1)?))),
)
.aliases(&["SUFFIX"])
.gives("Whether the text ends with the suffix.")
.example("ENDS_WITH('abc', 'bc')", "true");

static LEFT: ScalarFunction =
    ScalarFunction::new("LEFT", &[Signature::new(&[text("text"), integer("count")], VARCHAR)], |args| {
        Ok(Value::Text(left(args.text(0)?, args.int(1)?)))
    })
    .key_property(KeyProperty::Prefix)
    .key_part(KeyPart::Allowed)
    .gives("The first characters of the text; a negative count leaves that many off at the end.")
    .example("LEFT('abcde', 2)", "ab");

static LENGTH: ScalarFunction = ScalarFunction::new(
    "LENGTH",
    &[
        Signature::new(&[text("text")], ResultType::Is(SqlType::Integer)),
        Signature::new(&[of_kind("binary", ParameterKind::Bytes)], ResultType::Is(SqlType::Integer)),
        Signature::new(&[of_kind("array", ParameterKind::Array)], ResultType::Is(SqlType::Integer)),
    ],
    |args| {
        Ok(Value::Int(match args.value(0)? {
            Value::Bytes(bytes) => bytes.len() as i64,
            Value::Array(elements) => elements.len() as i64,
            _ => args.text(0)?.chars().count() as i64,
        }))
    },
)
.aliases(&["CHAR_LENGTH", "CHARACTER_LENGTH", "LEN"])
.gives("How many characters a text has, bytes a binary value, or elements an array.")
.example("LENGTH('Äpfel')", "5");

static LOCATE: ScalarFunction = ScalarFunction::new(
    "LOCATE",
    &[Signature::new(&[text("part"), text("text"), integer("start")], ResultType::Is(SqlType::Integer)).optional(1)],
    |args| {
        let (part, text, start) = (args.text(0)?, args.text(1)?, args.optional_int(2)?.unwrap_or(1));
        let Some(skipped) = start.checked_sub(1).and_then(|skipped| usize::try_from(skipped).ok()) else {
            return Ok(Value::Int(0));
        };
        let mut ends = text.char_indices().map(|(index, _)| index).chain([text.len()]);
        let rest = ends.nth(skipped).and_then(|from| text.get(from..)).unwrap_or_default();
        if rest.is_empty() && skipped > text.chars().count() {
            return Ok(Value::Int(0));
        }
        let before = rest.find(part).and_then(|at| rest.get(..at));
        Ok(Value::Int(before.map_or(0, |before| (skipped + before.chars().count()) as i64 + 1)))
    },
)
.gives("As STRPOS with the part first and a place to begin at, as in MySQL.")
.example("LOCATE('cd', 'abcde')", "3");

static RIGHT: ScalarFunction =
    ScalarFunction::new("RIGHT", &[Signature::new(&[text("text"), integer("count")], VARCHAR)], |args| {
        let (text, count) = (args.text(0)?, args.int(1)?);
        let length = text.chars().count() as i64;
        let skipped = if count < 0 { count.saturating_neg() } else { length.saturating_sub(count).max(0) };
        Ok(Value::Text(text.chars().skip(skipped.min(length) as usize).collect()))
    })
    .gives("The last characters of the text; a negative count leaves that many off at the start.")
    .example("RIGHT('abcde', 2)", "de");

static SPLIT_PART: ScalarFunction = ScalarFunction::new(
    "SPLIT_PART",
    &[Signature::new(&[text("text"), text("separator"), integer("number")], VARCHAR)],
    |args| {
        let (text, separator, number) = (args.text(0)?, args.text(1)?, args.int(2)?);
        let parts: Vec<&str> = if separator.is_empty() { vec![text] } else { text.split(separator).collect() };
        let index = match number {
            0 => return Err(args.refused("parts are counted from 1, or from -1 at the end")),
            number if number > 0 => usize::try_from(number - 1).ok(),
            number => usize::try_from(number.unsigned_abs()).ok().and_then(|back| parts.len().checked_sub(back)),
        };
        Ok(Value::text(index.and_then(|index| parts.get(index)).copied().unwrap_or_default()))
    },
)
.gives("The part of this number between separators, from 1, or from -1 at the end; empty if there are fewer.")
.example("SPLIT_PART('a,b,c', ',', 2)", "b");

static STARTS_WITH: ScalarFunction = ScalarFunction::new(
    "STARTS_WITH",
    &[Signature::new(&[text("text"), text("prefix")], ResultType::Is(SqlType::Boolean))],
    |args| Ok(Value::Bool(args.text(0)?.starts_with(args.text(1)?))),
)
.aliases(&["PREFIX"])
.key_property(KeyProperty::StartsWith)
.gives("Whether the text begins with the prefix.")
.example("STARTS_WITH('abc', 'ab')", "true");

pub(super) static STRPOS: ScalarFunction = ScalarFunction::new(
    "STRPOS",
    &[Signature::new(&[text("text"), text("part")], ResultType::Is(SqlType::Integer))],
    |args| {
        let text = args.text(0)?;
        let before = text.find(args.text(1)?).and_then(|at| text.get(..at));
        Ok(Value::Int(before.map_or(0, |before| before.chars().count() as i64 + 1)))
    },
)
.aliases(&["INSTR"])
.gives("The place of the first character of the part in the text, from 1; 0 if it is not there.")
.example("STRPOS('abcde', 'cd')", "3");

pub(super) static SUBSTR: ScalarFunction = ScalarFunction::new(
    "SUBSTR",
    &[Signature::new(&[text("text"), integer("start"), integer("count")], VARCHAR).optional(1)],
    |args| Ok(Value::Text(substr(args.text(0)?, args.int(1)?, args.optional_int(2)?))),
)
.aliases(&["SUBSTRING"])
.key_property(KeyProperty::Substring)
.key_part(KeyPart::Allowed)
.gives("The characters from a place on, at most so many: 1 is the first, a negative start counts from the end.")
.example("SUBSTR('abcde', 2, 3)", "bcd");

/// The first `count` characters; a negative count leaves that many off at the end.
fn left(text: &str, count: i64) -> String {
    let length = text.chars().count() as i64;
    let count = if count < 0 { (length + count).max(0) } else { count };
    text.chars().take(count as usize).collect()
}

/// Characters from `from` (1 is the first, 0 too; a negative one counts from the end) on.
fn substr(text: &str, from: i64, count: Option<i64>) -> String {
    let length = text.chars().count() as i64;
    let skip = match from {
        0 => 0,
        from if from < 0 => match length.checked_add(from) {
            Some(skip) if skip >= 0 => skip,
            _ => return String::new(),
        },
        from => from - 1,
    };
    let count = count.unwrap_or(length).clamp(0, length);
    text.chars().skip(skip.min(length) as usize).take(count as usize).collect()
}
