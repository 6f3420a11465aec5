//! JSON of values.

use super::signature::of_kind;
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::text::push_quoted;
use crate::{SqlType, Value, ValueError, array_text, json, text};

pub(super) static ALL: &[&ScalarFunction] = &[&JSON_ARRAY, &JSON_OBJECT, &TO_JSON];

const JSON: ResultType = ResultType::Is(SqlType::Json);
const VALUE: Parameter = of_kind("value", ParameterKind::AnyAsJson);
const JOINED: SizeBound = SizeBound {
    bytes: |args| Ok(args.values().iter().map(|value| value.heap_bytes() + 8).fold(2, usize::saturating_add)),
    multiplies: false,
};

static JSON_ARRAY: ScalarFunction =
    ScalarFunction::new("JSON_ARRAY", &[Signature::new(&[VALUE], JSON).repeated().optional(1)], |args| {
        let values: Vec<&str> = args.values().iter().map(|value| value.as_text().unwrap_or("null")).collect();
        Ok(Value::Text(format!("[{}]", values.join(","))))
    })
    .aliases(&["JSON_BUILD_ARRAY"])
    .with_own_nulls()
    .size(JOINED)
    .gives("The JSON array of the values; NULL is null.")
    .example("JSON_ARRAY(1, 'a', NULL)", "[1,\"a\",null]");

static JSON_OBJECT: ScalarFunction = ScalarFunction::new(
    "JSON_OBJECT",
    &[Signature::new(&[of_kind("name", ParameterKind::AnyAsJson), VALUE], JSON).repeated().optional(2)],
    |args| {
        let mut object = String::from("{");
        for pair in args.values().chunks(2) {
            let [name, value] = pair else { return Err(args.refused(ODD)) };
            object.push_str(if object.len() > 1 { "," } else { "" });
            push_member(args, &mut object, name, value)?;
        }
        object.push('}');
        Ok(Value::Text(object))
    },
)
.aliases(&["JSON_BUILD_OBJECT"])
.checked_by(|literals| match literals.len() % 2 {
    0 => Ok(()),
    _ => Err(ValueError::BadArgument(format!("JSON_OBJECT: {ODD}"))),
})
.with_own_nulls()
.size(JOINED)
.gives("The JSON object of names and their values, one after the other; NULL is null.")
.example("JSON_OBJECT('a', 1, 'b', ARRAY[TRUE])", "{\"a\":1,\"b\":[true]}");

const ODD: &str = "each name has a value after it";

pub(super) static TO_JSON: ScalarFunction =
    ScalarFunction::new("TO_JSON", &[Signature::new(&[of_kind("value", ParameterKind::JsonSource)], JSON)], |args| {
        Ok(Value::Text(json_of(args.value(0)?)))
    })
    .aliases(&["JSON_QUOTE", "TO_JSONB"])
    .size(SizeBound {
        bytes: |args| Ok(args.value(0)?.heap_bytes().saturating_mul(6).saturating_add(64)),
        multiplies: false,
    })
    .gives(
        "The value as JSON: numbers and truth values as they are, arrays as arrays, all else as a string of its text.",
    )
    .example("TO_JSON('a \"b\"')", "\"a \\\"b\\\"\"");

/// JSON of a value that typing has prepared: a number, a truth value, a text or an array of these.
fn json_of(value: &Value) -> String {
    let quoted = |text: &str| {
        let mut quoted = String::with_capacity(text.len() + 2);
        push_quoted(&mut quoted, text);
        quoted
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Text(text) => quoted(text),
        Value::Array(elements) => array_text::format(elements, |element| text::format(element, SqlType::Null)),
        Value::Float(number) if !number.is_finite() => quoted(&text::format_f32(*number)),
        Value::Double(number) if !number.is_finite() => quoted(&text::format_f64(*number)),
        other => text::format(other, SqlType::Null).unwrap_or_default(),
    }
}

/// `"name":value`, both as JSON. A name that is no string is its text.
fn push_member(args: &Args<'_>, object: &mut String, name: &Value, value: &Value) -> Result<(), ValueError> {
    let name = name.as_text().ok_or_else(|| args.refused("NULL is no name of a member"))?;
    if !json::is_scalar(name) {
        return Err(args.refused("an object or array is no name of a member"));
    }
    match name.starts_with('"') {
        true => object.push_str(name),
        false => push_quoted(object, name),
    }
    object.push(':');
    object.push_str(value.as_text().unwrap_or("null"));
    Ok(())
}
