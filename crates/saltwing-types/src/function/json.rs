//! Parts of JSON values, by keys and by paths.

use super::signature::{VARCHAR, of_kind};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::json::{self, Step};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[
    &JSON_EXISTS,
    &JSON_GET,
    &JSON_GET_PATH,
    &JSON_GET_PATH_TEXT,
    &JSON_GET_TEXT,
    &JSON_MODIFY,
    &JSON_QUERY,
    &JSON_VALUE,
];

const PART: ResultType = ResultType::Is(SqlType::Json);
const OF_JSON: Parameter = of_kind("json", ParameterKind::Json);
const KEY: Parameter = of_kind("key", ParameterKind::Any);
const KEYS: Parameter = of_kind("keys", ParameterKind::ArrayAsTexts);
const PATH: Parameter = of_kind("path", ParameterKind::JsonPath);

static JSON_EXISTS: ScalarFunction =
    ScalarFunction::new("JSON_EXISTS", &[Signature::new(&[OF_JSON, PATH], ResultType::Is(SqlType::Boolean))], |args| {
        Ok(Value::Bool(part_at(args)?.is_some()))
    })
    .gives("Whether there is a part at the path, be it null.")
    .example("JSON_EXISTS('{\"a\": [1]}', '$.a[0]')", "true");

pub(super) static JSON_GET: ScalarFunction =
    ScalarFunction::new("JSON_GET", &[Signature::new(&[OF_JSON, KEY], PART)], |args| as_json(part_below(args)?))
        .gives("The member of this name, or the element of this index from 0 (negative: from the end), as json -> key.")
        .example("JSON_GET('{\"a\": [1, 2.50]}', 'a')", "[1, 2.50]");

pub(super) static JSON_GET_PATH: ScalarFunction =
    ScalarFunction::new("JSON_GET_PATH", &[Signature::new(&[OF_JSON, KEYS], PART)], |args| as_json(nested_part(args)?))
        .gives("The part behind these keys, in which numbers count the elements of arrays, as json #> keys.")
        .example("JSON_GET_PATH('{\"a\": [1, 2.50]}', ARRAY['a', '1'])", "2.50");

pub(super) static JSON_GET_PATH_TEXT: ScalarFunction =
    ScalarFunction::new("JSON_GET_PATH_TEXT", &[Signature::new(&[OF_JSON, KEYS], VARCHAR)], |args| {
        as_text(nested_part(args)?)
    })
    .gives("The same as text, as json #>> keys: a string without its quotes, and NULL for null.")
    .example("JSON_GET_PATH_TEXT('{\"a\": [\"x\"]}', ARRAY['a', '0'])", "x");

pub(super) static JSON_GET_TEXT: ScalarFunction =
    ScalarFunction::new("JSON_GET_TEXT", &[Signature::new(&[OF_JSON, KEY], VARCHAR)], |args| {
        as_text(part_below(args)?)
    })
    .gives("As JSON_GET, but text, as json ->> key: a string without its quotes, and NULL for null.")
    .example("JSON_GET_TEXT('[\"x\", \"y\"]', -1)", "y");

static JSON_MODIFY: ScalarFunction = ScalarFunction::new(
    "JSON_MODIFY",
    &[Signature::new(&[OF_JSON, PATH, of_kind("new", ParameterKind::Json)], PART)],
    |args| Ok(Value::Text(json::with_part(args.text(0)?, args.text(1)?, args.text(2)?)?)),
)
.gives("The value with another part at the path; the last member of a path may be a new one.")
.example("JSON_MODIFY('{\"a\": [1, 2]}', '$.a[1]', '\"x\"')", "{\"a\": [1, \"x\"]}");

static JSON_QUERY: ScalarFunction =
    ScalarFunction::new("JSON_QUERY", &[Signature::new(&[OF_JSON, PATH], PART)], |args| as_json(part_at(args)?))
        .aliases(&["JSON_EXTRACT"])
        .gives("The part at the path, as JSON.")
        .example("JSON_QUERY('{\"a\": {\"b\": [1]}}', '$.a.b')", "[1]");

static JSON_VALUE: ScalarFunction =
    ScalarFunction::new("JSON_VALUE", &[Signature::new(&[OF_JSON, PATH], VARCHAR)], |args| {
        as_text(part_at(args)?.filter(|part| json::is_scalar(part)))
    })
    .gives("The string, number or truth value at the path, as text; NULL for objects, arrays and null.")
    .example("JSON_VALUE('{\"a\": {\"b\": [\"x\"]}}', '$.a.b[0]')", "x");

type Part<'a> = Result<Option<&'a str>, ValueError>;

/// The part below the one key.
fn part_below<'a>(args: &Args<'a>) -> Part<'a> {
    let step = match args.value(1)? {
        Value::Text(name) => Step::Member(name.clone()),
        Value::Int(index) => Step::Element(*index),
        _ => return Err(args.refused("a key is a text or an integer")),
    };
    json::part(args.text(0)?, &[step])
}

/// The part that the array of keys leads to; a NULL among them leads nowhere.
fn nested_part<'a>(args: &Args<'a>) -> Part<'a> {
    let keys = args.array(1)?.unwrap_or_default();
    let steps: Option<Vec<Step>> = keys.iter().map(|key| Some(Step::Either(key.as_text()?.to_owned()))).collect();
    steps.map_or(Ok(None), |steps| json::part(args.text(0)?, &steps))
}

/// The part at the path.
fn part_at<'a>(args: &Args<'a>) -> Part<'a> {
    json::part(args.text(0)?, &json::path(args.text(1)?)?)
}

fn as_json(part: Option<&str>) -> Result<Value, ValueError> {
    Ok(part.map_or(Value::Null, Value::text))
}

fn as_text(part: Option<&str>) -> Result<Value, ValueError> {
    Ok(part.map_or(Ok(None), json::plain_text)?.map_or(Value::Null, Value::Text))
}
