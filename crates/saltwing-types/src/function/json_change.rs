//! JSON values with other parts, as in SQLite.

use super::signature::{of_kind, text};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::json::{self, change, change::Change};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&JSON_INSERT, &JSON_REMOVE, &JSON_REPLACE, &JSON_SET];

const JSON: ResultType = ResultType::Is(SqlType::Json);
const OF_JSON: Parameter = of_kind("json", ParameterKind::Json);
const CHANGES: &[Signature] = &[Signature::new(
    &[OF_JSON, of_kind("path", ParameterKind::AnyAsJson), of_kind("value", ParameterKind::AnyAsJson)],
    JSON,
)
.repeated()];
const GROWN: SizeBound = SizeBound {
    bytes: |args| Ok(args.values().iter().map(|value| value.heap_bytes() * 2 + 16).fold(0, usize::saturating_add)),
    multiplies: false,
};

static JSON_INSERT: ScalarFunction =
    ScalarFunction::new("JSON_INSERT", CHANGES, |args| changed(args, Change { replaces: false, adds: true }))
        .with_own_nulls()
        .checked_by(check_pairs)
        .size(GROWN)
        .gives("The value with a part at each path where there is none, as JSON_SET.")
        .example("JSON_INSERT('{\"a\":1}', '$.a', 2, '$.b', 3)", "{\"a\":1, \"b\": 3}");

static JSON_REPLACE: ScalarFunction =
    ScalarFunction::new("JSON_REPLACE", CHANGES, |args| changed(args, Change { replaces: true, adds: false }))
        .with_own_nulls()
        .checked_by(check_pairs)
        .size(GROWN)
        .gives("The value with another part at each path where there is one, as JSON_SET.")
        .example("JSON_REPLACE('{\"a\":1}', '$.a', 2, '$.b', 3)", "{\"a\":2}");

static JSON_SET: ScalarFunction =
    ScalarFunction::new("JSON_SET", CHANGES, |args| changed(args, Change { replaces: true, adds: true }))
        .with_own_nulls()
        .checked_by(check_pairs)
        .size(GROWN)
        .gives(
            "The value with other parts at paths, as in SQLite: a member that is missing is added, and the element after the last one, \
             with the objects and arrays on the way to the part; a path through another value changes nothing.",
        )
        .example("JSON_SET('{\"a\":[1]}', '$.a[1]', 2, '$.b', 'x')", "{\"a\":[1, 2], \"b\": \"x\"}");

static JSON_REMOVE: ScalarFunction =
    ScalarFunction::new("JSON_REMOVE", &[Signature::new(&[OF_JSON, text("path")], JSON).repeated()], |args| {
        let mut json = args.text(0)?.to_owned();
        for path in args.texts_from(1)? {
            match change::without_part(&json, &json::path(path)?)? {
                Some(rest) => json = rest,
                None => return Ok(Value::Null),
            }
        }
        Ok(Value::Text(json))
    })
    .gives("The value without the parts at paths; NULL without the whole.")
    .example("JSON_REMOVE('{\"a\":1,\"b\":[1,2]}', '$.a', '$.b[0]')", "{\"b\":[2]}");

/// The value after all changes; NULL if it or a path is NULL.
fn changed(args: &Args<'_>, kind: Change) -> Result<Value, ValueError> {
    let Value::Text(json) = args.value(0)? else { return Ok(Value::Null) };
    let mut json = json.clone();
    for pair in args.values().get(1..).unwrap_or_default().chunks(2) {
        let [path, value] = pair else { return Err(args.refused(ODD)) };
        let Some(path) = path.as_text() else { return Ok(Value::Null) };
        let path = json::plain_text(path)?.unwrap_or_default();
        json = change::changed(&json, &json::path(&path)?, value.as_text().unwrap_or("null"), kind)?;
    }
    Ok(Value::Text(json))
}

const ODD: &str = "each path has a value after it";

fn check_pairs(literals: &[Option<&Value>]) -> Result<(), ValueError> {
    if literals.len() % 2 == 1 { Ok(()) } else { Err(ValueError::BadArgument(ODD.to_owned())) }
}
