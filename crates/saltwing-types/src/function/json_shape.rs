//! What a JSON value is, and holds.

use std::collections::BTreeSet;

use super::array::TEXTS;
use super::signature::{VARCHAR, of_kind, text};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::json::{self, containment, shape, shape::Kind};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[
    &JSON_ARRAY_LENGTH,
    &JSON_CONTAINS,
    &JSON_HAS,
    &JSON_HAS_ALL,
    &JSON_HAS_ANY,
    &JSON_KEYS,
    &JSON_PARTS,
    &JSON_PART_NAMES,
    &JSON_PART_TEXTS,
    &JSON_PRETTY,
    &JSON_TYPE,
    &JSON_TYPEOF,
    &JSON_VALID,
];

const BOOLEAN: ResultType = ResultType::Is(SqlType::Boolean);
const OF_JSON: Parameter = of_kind("json", ParameterKind::Json);
const WITH_PATH: &[Parameter] = &[OF_JSON, of_kind("path", ParameterKind::JsonPath)];

static JSON_ARRAY_LENGTH: ScalarFunction = ScalarFunction::new(
    "JSON_ARRAY_LENGTH",
    &[Signature::new(WITH_PATH, ResultType::Is(SqlType::BigInt)).optional(1)],
    |args| {
        let Some(part) = part(args)? else { return Ok(Value::Null) };
        match json::elements(part)? {
            Some(elements) => Ok(Value::Int(elements.len() as i64)),
            None => Err(args.refused("it is of arrays; JSON_TYPE tells what a value is")),
        }
    },
)
.gives("How many elements a JSON array has.")
.example("JSON_ARRAY_LENGTH('{\"a\": [1, 2]}', '$.a')", "2");

pub(super) static JSON_CONTAINS: ScalarFunction = ScalarFunction::new(
    "JSON_CONTAINS",
    &[Signature::new(&[OF_JSON, of_kind("other", ParameterKind::Json)], BOOLEAN)],
    |args| containment::contains(args.text(0)?, args.text(1)?).map(Value::Bool),
)
.gives(
    "Whether the second value is in the first, as json @> other in PostgreSQL: each member in the member of its name, each element \
     in some element.",
)
.example("JSON_CONTAINS('{\"a\": [1, 2], \"b\": 3}', '{\"a\": [2]}')", "true");

static JSON_HAS: ScalarFunction = ScalarFunction::new(
    "JSON_HAS",
    &[Signature::new(&[OF_JSON, text("name")], BOOLEAN)],
    |args| Ok(Value::Bool(names(args)?.contains(args.text(1)?))),
)
.gives("Whether the value is an object with a member of this name, an array with this string, or this string, as json ? name in PostgreSQL.")
.example("JSON_HAS('{\"a\": null}', 'a')", "true");

const NAMES: &[Parameter] = &[OF_JSON, of_kind("names", ParameterKind::ArrayAsTexts)];

static JSON_HAS_ALL: ScalarFunction = ScalarFunction::new("JSON_HAS_ALL", &[Signature::new(NAMES, BOOLEAN)], |args| {
    let (known, mut wanted) = (names(args)?, wanted(args)?);
    Ok(Value::Bool(wanted.all(|name| known.contains(name))))
})
.gives("Whether JSON_HAS holds for all of these names, as json ?& names; NULLs do not count.")
.example("JSON_HAS_ALL('{\"a\": 1, \"b\": 2}', ARRAY['a', 'c'])", "false");

static JSON_HAS_ANY: ScalarFunction = ScalarFunction::new("JSON_HAS_ANY", &[Signature::new(NAMES, BOOLEAN)], |args| {
    let (known, mut wanted) = (names(args)?, wanted(args)?);
    Ok(Value::Bool(wanted.any(|name| known.contains(name))))
})
.gives("Whether JSON_HAS holds for one of these names, as json ?| names; NULLs do not count.")
.example("JSON_HAS_ANY('[\"a\", 1]', ARRAY['a', 'c'])", "true");

/// The names that a value has.
fn names(args: &Args<'_>) -> Result<BTreeSet<String>, ValueError> {
    let json = args.text(0)?.trim();
    if let Some(members) = json::members(json)? {
        return Ok(members.into_iter().map(|(name, _)| name).collect());
    }
    let strings = json::elements(json)?.unwrap_or_else(|| vec![json]).into_iter().filter(|part| part.starts_with('"'));
    strings.filter_map(|string| json::plain_text(string).transpose()).collect()
}

/// The names of the second argument.
fn wanted<'a>(args: &Args<'a>) -> Result<impl Iterator<Item = &'a str>, ValueError> {
    Ok(args.array(1)?.unwrap_or_default().iter().filter_map(Value::as_text))
}

static JSON_KEYS: ScalarFunction =
    ScalarFunction::new("JSON_KEYS", &[Signature::new(WITH_PATH, TEXTS).optional(1)], |args| {
        let Some(part) = part(args)? else { return Ok(Value::Null) };
        let members = json::members(part)?.unwrap_or_default();
        Ok(Value::Array(members.into_iter().map(|(name, _)| Value::Text(name)).collect()))
    })
    .size(SizeBound {
        // The shortest member is `"":0`.
        bytes: |args| Ok(args.text(0)?.len() * (1 + size_of::<Value>() / 4)),
        multiplies: true,
    })
    .gives("The names of an object's members; none of any other value, as in DuckDB.")
    .example("JSON_KEYS('{\"a\": 1, \"b\": 2}')", "[\"a\",\"b\"]");

/// The shortest element is `0,`.
const OF_PARTS: SizeBound =
    SizeBound { bytes: |args| Ok(args.text(0)?.len() * (1 + size_of::<Value>() / 2)), multiplies: true };

static JSON_PARTS: ScalarFunction = ScalarFunction::new("JSON_PARTS", &[Signature::new(&[OF_JSON], TEXTS)], |args| {
    Ok(Value::Array(json::parts(args.text(0)?)?.into_iter().map(|(_, part)| Value::text(part)).collect()))
})
.size(OF_PARTS)
.gives("The elements of an array, or the values of an object's members, as JSON; none of any other value.")
.example("JSON_PARTS('{\"a\": \"x\", \"b\": [1]}')", "[\"\\\"x\\\"\",\"[1]\"]");

static JSON_PART_NAMES: ScalarFunction =
    ScalarFunction::new("JSON_PART_NAMES", &[Signature::new(&[OF_JSON], TEXTS)], |args| {
        Ok(Value::Array(json::parts(args.text(0)?)?.into_iter().map(|(name, _)| Value::Text(name)).collect()))
    })
    .size(OF_PARTS)
    .gives("The names of an object's members, or the numbers of an array's elements from 0, as texts.")
    .example("JSON_PART_NAMES('[7, 8]')", "[\"0\",\"1\"]");

static JSON_PART_TEXTS: ScalarFunction =
    ScalarFunction::new("JSON_PART_TEXTS", &[Signature::new(&[OF_JSON], TEXTS)], |args| {
        let text = |(_, part)| Ok(json::plain_text(part)?.map_or(Value::Null, Value::Text));
        json::parts(args.text(0)?)?.into_iter().map(text).collect::<Result<_, _>>().map(Value::Array)
    })
    .size(OF_PARTS)
    .gives("As JSON_PARTS, but texts: strings without their quotes, and NULL for null.")
    .example("JSON_PART_TEXTS('[\"x\", 1, null]')", "[\"x\",\"1\",null]");

static JSON_PRETTY: ScalarFunction =
    ScalarFunction::new("JSON_PRETTY", &[Signature::new(&[OF_JSON], VARCHAR)], |args| {
        let text = args.text(0)?;
        let bytes = shape::pretty_bytes(text);
        if bytes > crate::VALUE_BYTES_MAX {
            return Err(ValueError::ValueTooLarge { function: "JSON_PRETTY", bytes });
        }
        Ok(Value::Text(shape::pretty(text)))
    })
    .size(SizeBound { bytes: |args| Ok(shape::pretty_bytes(args.text(0)?)), multiplies: true })
    .gives("The value with a line for each member and element, each level four blanks further in.")
    .example("JSON_PRETTY('[]')", "[]");

static JSON_TYPE: ScalarFunction =
    ScalarFunction::new("JSON_TYPE", &[Signature::new(WITH_PATH, VARCHAR).optional(1)], |args| {
        Ok(part(args)?.map_or(Value::Null, |part| {
            Value::text(match shape::kind(part) {
                Kind::Object => "object",
                Kind::Array => "array",
                Kind::Text => "text",
                Kind::Number if part.contains(['.', 'e', 'E']) => "real",
                Kind::Number => "integer",
                Kind::True => "true",
                Kind::False => "false",
                Kind::Null => "null",
            })
        }))
    })
    .gives("What the value, or its part at the path, is, in SQLite's words: object, array, text, integer, real, true, false or null.")
    .example("JSON_TYPE('{\"a\": 1.5}', '$.a')", "real");

static JSON_TYPEOF: ScalarFunction =
    ScalarFunction::new("JSON_TYPEOF", &[Signature::new(&[OF_JSON], VARCHAR)], |args| {
        Ok(Value::text(match shape::kind(args.text(0)?.trim()) {
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::Text => "string",
            Kind::Number => "number",
            Kind::True | Kind::False => "boolean",
            Kind::Null => "null",
        }))
    })
    .aliases(&["JSONB_TYPEOF"])
    .gives("What the value is, in PostgreSQL's words: object, array, string, number, boolean or null.")
    .example("JSON_TYPEOF('[1]')", "array");

pub(super) static JSON_VALID: ScalarFunction =
    ScalarFunction::new("JSON_VALID", &[Signature::new(&[text("text")], BOOLEAN)], |args| {
        Ok(Value::Bool(json::check(args.text(0)?).is_ok()))
    })
    .gives("Whether the text is JSON, as text IS JSON.")
    .example("JSON_VALID('{\"a\": 1}')", "true");

/// The part at the path, the whole without one.
fn part<'a>(args: &Args<'a>) -> Result<Option<&'a str>, ValueError> {
    let path = args.optional_text(1)?.map_or(Ok(Vec::new()), json::path)?;
    json::part(args.text(0)?, &path)
}
