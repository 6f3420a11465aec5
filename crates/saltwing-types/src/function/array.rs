//! Arrays: their elements are counted from 1.

use std::collections::HashSet;

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, KeyProperty, Parameter, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::{CompareOp, SqlType, Value, ValueError, comparison};

pub(super) static ALL: &[&ScalarFunction] = &[
    &ARRAY_ALL,
    &ARRAY_ANY,
    &ARRAY_APPEND,
    &ARRAY_CAT,
    &ARRAY_CONTAINS,
    &ARRAY_CONTAINS_ALL,
    &ARRAY_ELEM,
    &ARRAY_FILL,
    &ARRAY_LENGTH,
    &ARRAY_OVERLAPS,
    &ARRAY_PREPEND,
    &ARRAY_REMOVE,
    &ARRAY_TO_STRING,
    &MAKE_ARRAY,
    &STRING_TO_ARRAY,
];

const ARRAY: Parameter = of_kind("array", ParameterKind::Array);
const ELEMENT: Parameter = of_kind("element", ParameterKind::Common);
const BOOLEAN: ResultType = ResultType::Is(SqlType::Boolean);
/// The type of arrays of texts.
pub(super) const TEXTS: ResultType = ResultType::ArrayOf(SqlType::Varchar(None));

/// The signature of a comparison with the elements of an array.
const QUANTIFIED: &[Signature] =
    &[Signature::new(&[of_kind("value", ParameterKind::Common), text("operator"), ARRAY], BOOLEAN)];

pub(super) static ARRAY_ALL: ScalarFunction =
    ScalarFunction::new("ARRAY_ALL", QUANTIFIED, |args| quantified(args, true))
        .with_own_nulls()
        .checked_by(check_operator)
        .gives("Whether the value compares so with all elements, as value < ALL(array); unknown if a NULL decides.")
        .example("ARRAY_ALL(0, '<', ARRAY[1, 2])", "true");

pub(super) static ARRAY_ANY: ScalarFunction =
    ScalarFunction::new("ARRAY_ANY", QUANTIFIED, |args| quantified(args, false))
        .with_own_nulls()
        .checked_by(check_operator)
        .key_property(KeyProperty::ComparesWithAny)
        .gives("Whether the value compares so with an element, as value = ANY(array); unknown if a NULL decides.")
        .example("ARRAY_ANY(2, '=', ARRAY[1, 2])", "true");

pub(super) static ARRAY_APPEND: ScalarFunction =
    ScalarFunction::new("ARRAY_APPEND", &[Signature::new(&[ARRAY, ELEMENT], ResultType::Array)], |args| {
        joined(args.array(0)?, args.values().get(1..))
    })
    .with_own_nulls()
    .gives("The array and the element behind it; NULL counts as an empty array.")
    .example("ARRAY_APPEND(ARRAY[1, 2], 3)", "[1,2,3]");

pub(super) static ARRAY_CAT: ScalarFunction = ScalarFunction::new(
    "ARRAY_CAT",
    &[Signature::new(&[ARRAY, of_kind("other", ParameterKind::Array)], ResultType::Array)],
    |args| match (args.array(0)?, args.array(1)?) {
        (None, None) => Ok(Value::Null),
        (first, second) => joined(first, second),
    },
)
.aliases(&["ARRAY_CONCAT"])
.with_own_nulls()
.gives("The elements of both arrays; NULL counts as an empty array, and two of them give NULL.")
.example("ARRAY_CAT(ARRAY[1, 2], ARRAY[3])", "[1,2,3]");

static ARRAY_CONTAINS: ScalarFunction =
    ScalarFunction::new("ARRAY_CONTAINS", &[Signature::new(&[ARRAY, ELEMENT], BOOLEAN)], |args| {
        Ok(Value::Bool(args.array(0)?.unwrap_or_default().contains(args.value(1)?)))
    })
    .gives("Whether the element is one of the array's.")
    .example("ARRAY_CONTAINS(ARRAY['a', 'b'], 'b')", "true");

pub(super) static ARRAY_CONTAINS_ALL: ScalarFunction = ScalarFunction::new(
    "ARRAY_CONTAINS_ALL",
    &[Signature::new(&[ARRAY, of_kind("other", ParameterKind::Array)], BOOLEAN)],
    |args| {
        let (elements, others) = (args.array(0)?.unwrap_or_default(), args.array(1)?.unwrap_or_default());
        let known: HashSet<&Value> = elements.iter().collect();
        Ok(Value::Bool(others.iter().all(|other| !other.is_null() && known.contains(other))))
    },
)
.gives("Whether the first array has all elements of the second, as array @> other; no array has a NULL.")
.example("ARRAY_CONTAINS_ALL(ARRAY[1, 2, 3], ARRAY[3, 1])", "true");

pub(super) static ARRAY_OVERLAPS: ScalarFunction = ScalarFunction::new(
    "ARRAY_OVERLAPS",
    &[Signature::new(&[ARRAY, of_kind("other", ParameterKind::Array)], BOOLEAN)],
    |args| {
        let (elements, others) = (args.array(0)?.unwrap_or_default(), args.array(1)?.unwrap_or_default());
        let known: HashSet<&Value> = elements.iter().collect();
        Ok(Value::Bool(others.iter().any(|other| !other.is_null() && known.contains(other))))
    },
)
.gives("Whether an element of the second array is in the first, as array && other; no array has a NULL.")
.example("ARRAY_OVERLAPS(ARRAY[1, 2], ARRAY[2, 3])", "true");

pub(super) static ARRAY_ELEM: ScalarFunction =
    ScalarFunction::new("ARRAY_ELEM", &[Signature::new(&[ARRAY, integer("index")], ResultType::Common)], |args| {
        let place = args.int(1)?.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        let elements = args.array(0)?.unwrap_or_default();
        Ok(place.and_then(|place| elements.get(place)).cloned().unwrap_or(Value::Null))
    })
    .gives("The element at this place, from 1, as array[index]; NULL if there is none.")
    .example("ARRAY_ELEM(ARRAY['a', 'b'], 2)", "b");

static ARRAY_FILL: ScalarFunction =
    ScalarFunction::new("ARRAY_FILL", &[Signature::new(&[ELEMENT, integer("length")], ResultType::Array)], |args| {
        let element = args.value(0)?;
        Ok(length(args, 1)?.map_or(Value::Null, |length| Value::Array(vec![element.clone(); length])))
    })
    .with_own_nulls()
    .size(SizeBound {
        bytes: |args| {
            let element = args.value(0)?;
            let length = length(args, 1)?.unwrap_or_default();
            Ok(length.saturating_mul(Value::bytes_of_row(std::slice::from_ref(element))))
        },
        multiplies: true,
    })
    .gives("An array that holds the element `length` times; NULL if the length is NULL.")
    .example("ARRAY_FILL('a', 3)", "[\"a\",\"a\",\"a\"]");

static ARRAY_LENGTH: ScalarFunction = ScalarFunction::new(
    "ARRAY_LENGTH",
    &[Signature::new(&[ARRAY, integer("dimension")], ResultType::Is(SqlType::Integer)).optional(1)],
    |args| match args.optional_int(1)? {
        None | Some(1) => Ok(Value::Int(args.array(0)?.unwrap_or_default().len() as i64)),
        Some(_) => Ok(Value::Null),
    },
)
.gives("How many elements the array has; NULL in any dimension but the first.")
.example("ARRAY_LENGTH(ARRAY[1, 2])", "2");

pub(super) static ARRAY_PREPEND: ScalarFunction =
    ScalarFunction::new("ARRAY_PREPEND", &[Signature::new(&[ELEMENT, ARRAY], ResultType::Array)], |args| {
        joined(args.values().get(..1), args.array(1)?)
    })
    .with_own_nulls()
    .gives("The element and the array behind it; NULL counts as an empty array.")
    .example("ARRAY_PREPEND(0, ARRAY[1, 2])", "[0,1,2]");

static ARRAY_REMOVE: ScalarFunction =
    ScalarFunction::new("ARRAY_REMOVE", &[Signature::new(&[ARRAY, ELEMENT], ResultType::Array)], |args| {
        let (elements, removed) = (args.array(0)?, args.value(1)?);
        let kept = |elements: &[Value]| elements.iter().filter(|element| *element != removed).cloned().collect();
        Ok(elements.map_or(Value::Null, |elements| Value::Array(kept(elements))))
    })
    .with_own_nulls()
    .gives("The array without the elements that equal this one, or that are NULL if it is NULL.")
    .example("ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", "[2]");

static ARRAY_TO_STRING: ScalarFunction = ScalarFunction::new(
    "ARRAY_TO_STRING",
    &[Signature::new(&[of_kind("array", ParameterKind::ArrayAsTexts), text("separator"), text("null_text")], VARCHAR)
        .optional(1)],
    |args| {
        let (elements, null) = (args.array(0)?.unwrap_or_default(), args.optional_text(2)?);
        let texts: Vec<&str> = elements.iter().filter_map(|element| element.as_text().or(null)).collect();
        Ok(Value::Text(texts.join(args.text(1)?)))
    },
)
.size(SizeBound {
    bytes: |args| {
        let elements = args.array(0)?.unwrap_or_default();
        let between = args.bytes(1)?.len() + args.optional_text(2)?.map_or(0, str::len);
        Ok(elements.iter().map(|element| element.heap_bytes() + between).sum())
    },
    multiplies: true,
})
.gives(
    "The texts of the elements with the separator between them; NULLs are left out, or written as the third argument.",
)
.example("ARRAY_TO_STRING(ARRAY[1, NULL, 3], '-', '?')", "1-?-3");

pub(super) static MAKE_ARRAY: ScalarFunction = ScalarFunction::new(
    "MAKE_ARRAY",
    &[Signature::new(&[ELEMENT], ResultType::Array).repeated().optional(1)],
    |args| Ok(Value::Array(args.values().to_vec())),
)
.with_own_nulls()
.gives("The array of the elements, as ARRAY[1, 2].")
.example("MAKE_ARRAY(1, 2)", "[1,2]");

static STRING_TO_ARRAY: ScalarFunction = ScalarFunction::new(
    "STRING_TO_ARRAY",
    &[Signature::new(&[text("text"), text("separator"), text("null_text")], TEXTS).optional(1)],
    |args| {
        let null = args.optional_text(2)?;
        let element = |part: &str| if Some(part) == null { Value::Null } else { Value::text(part) };
        Ok(Value::Array(match (args.text(0)?, args.text(1)?) {
            ("", _) => Vec::new(),
            (text, "") => vec![element(text)],
            (text, separator) => text.split(separator).map(element).collect(),
        }))
    },
)
.size(SizeBound {
    bytes: |args| match (args.text(0)?, args.text(1)?) {
        (text, "") => Ok(texts_bytes(text, 1)),
        (text, separator) => Ok(texts_bytes(text, text.matches(separator).count() + 1)),
    },
    multiplies: true,
})
.gives("The parts of the text between separators; parts that equal the third argument are NULL.")
.example("STRING_TO_ARRAY('a,b', ',')", "[\"a\",\"b\"]");

/// Bytes of an array that holds `parts` parts of a text.
pub(super) fn texts_bytes(text: &str, parts: usize) -> usize {
    text.len() + parts * size_of::<Value>()
}

/// One array: the first one's elements, then the second one's.
fn joined(first: Option<&[Value]>, second: Option<&[Value]>) -> Result<Value, ValueError> {
    Ok(Value::Array([first.unwrap_or_default(), second.unwrap_or_default()].concat()))
}

/// The length of an array; `None` for NULL.
fn length(args: &Args<'_>, index: usize) -> Result<Option<usize>, ValueError> {
    if args.value(index)?.is_null() {
        return Ok(None);
    }
    let length = args.int(index)?;
    let refused = |_| args.refused(format_args!("{length} is no length of an array"));
    usize::try_from(length).map(Some).map_err(refused)
}

fn quantified(args: &Args<'_>, all: bool) -> Result<Value, ValueError> {
    if args.value(1)?.is_null() {
        return Ok(Value::Null);
    }
    let (value, op) = (args.value(0)?, args.text(1)?);
    let op = operator(op).ok_or_else(|| args.refused(format_args!("'{op}' is no comparison")))?;
    let Some(elements) = args.array(2)? else { return Ok(Value::Null) };
    let compared = |element: &Value| Ok(comparison::compare(op, value, element, SqlType::Null));
    comparison::decided(elements.iter().map(compared), !all)
}

fn operator(text: &str) -> Option<CompareOp> {
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    [Eq, NotEq, Lt, LtEq, Gt, GtEq].into_iter().find(|op| op.as_str() == text)
}

fn check_operator(literals: &[Option<&Value>]) -> Result<(), ValueError> {
    match literals.get(1) {
        Some(Some(Value::Text(text))) if operator(text).is_none() => {
            Err(ValueError::BadArgument(format!("'{text}' is no comparison; there are = <> < <= > >=")))
        }
        _ => Ok(()),
    }
}
