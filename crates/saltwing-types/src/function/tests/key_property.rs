//! Law 3 of the registry: the results of each entry are as its [`KeyProperty`] says.

use std::cmp::Ordering;
use std::collections::HashMap;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::value::Timestamp;

const UNITS: &[&str] = &["microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "year"];
const STRIDES: &[&str] = &["1 millisecond", "7 seconds", "15 minutes", "36 hours", "10 days"];

/// The values that the arguments of a call are made of.
#[derive(Clone, Debug)]
struct Draw {
    ints: Vec<i64>,
    floats: Vec<f64>,
    /// Which of the types of a parameter its argument has.
    type_index: usize,
    /// Decimal places, a count of units, a number of characters.
    small: i64,
    unit: &'static str,
    stride: &'static str,
    text: String,
    part: String,
    blanks: usize,
}

prop_compose! {
    fn draw()(
        ints in prop::collection::vec(prop_oneof![any::<i64>(), -2_000i64..2_000, 0i64..4_000_000_000_000], 2..40),
        floats in prop::collection::vec(prop_oneof![any::<f64>(), -100.0f64..100.0], 2..40),
        type_index in 0usize..6,
        small in -8i64..20,
        unit in select(UNITS),
        stride in select(STRIDES),
        text in "[a-cé ]{0,6}",
        part in "[a-cé]{0,2}",
        blanks in 0usize..3,
    ) -> Draw {
        let floats = floats.into_iter().filter(|float| !float.is_nan()).collect();
        Draw { ints, floats, type_index, small, unit, stride, text, part, blanks }
    }
}

impl Draw {
    /// Values of one type that the parameter takes, in ascending order.
    fn ascending(&self, kind: ParameterKind) -> (Vec<Value>, SqlType) {
        let ints = self.ints.iter();
        let types: [(Vec<Value>, SqlType); 5] = [
            (ints.clone().map(|i| Value::Int(*i)).collect(), SqlType::BigInt),
            (
                ints.clone()
                    .map(|i| Value::Decimal(format!("{}.{:03}", i / 1000, (i % 1000).abs()).parse().unwrap()))
                    .collect(),
                SqlType::Decimal(None),
            ),
            (self.floats.iter().map(|f| Value::Double(*f)).collect(), SqlType::Double),
            (ints.clone().map(|ms| Value::Date(*ms)).collect(), SqlType::Date),
            (ints.map(|ms| Value::Timestamp(Timestamp { ms: *ms, nanos: 1000 })).collect(), SqlType::Timestamp),
        ];
        let fitting = match kind {
            ParameterKind::Number => &types[..3],
            ParameterKind::Double => &types[2..3],
            ParameterKind::Instant | ParameterKind::InstantOrString => &types[3..],
            other => panic!("no values for {other:?}"),
        };
        let (mut values, ty) = fitting[self.type_index % fitting.len()].clone();
        values.sort_by(Value::sort_cmp);
        (values, ty)
    }

    /// An argument that stays the same.
    fn fixed(&self, kind: ParameterKind) -> Expr {
        match kind {
            ParameterKind::Integer => int(self.small),
            ParameterKind::Unit => typing::string(self.unit),
            ParameterKind::Stride => typing::string(self.stride),
            ParameterKind::Instant | ParameterKind::InstantOrString => {
                Expr::Literal(Value::Date(self.small * 3_600_000), SqlType::Date)
            }
            other => panic!("no argument for {other:?}"),
        }
    }

    /// The results of the function for ascending values of the argument `moving`, for each way to call it.
    fn along(&self, function: Function, moving: usize) -> Vec<Vec<(Value, Result<Value, ValueError>)>> {
        let mut curves = Vec::new();
        for signature in function.signatures {
            // What holds of instants in keys need not hold of intervals: these are in no key.
            if signature.parameters[moving].kind == ParameterKind::Interval {
                continue;
            }
            for count in signature.required..=signature.parameters.len() {
                let (values, ty) = self.ascending(signature.parameters[moving].kind);
                let result = |value: Value| {
                    let argument = |(index, parameter): (usize, &Parameter)| match index == moving {
                        true => Expr::Literal(value.clone(), ty),
                        false => self.fixed(parameter.kind),
                    };
                    let args = signature.parameters[..count].iter().enumerate().map(argument).collect();
                    let result = typing::call_named(function.name, args).and_then(|call| eval::eval(&call, &[]));
                    (value, result)
                };
                curves.push(values.into_iter().map(result).collect());
            }
        }
        curves
    }
}

/// The number of steps on which the results grow.
///
/// # Errors
/// A result falls, or the function fails between two values for which it does not.
fn never_falls<'a>(
    curve: impl Iterator<Item = &'a (Value, Result<Value, ValueError>)>,
) -> Result<usize, TestCaseError> {
    let (mut last, mut failed, mut grown) = (None::<(&Value, &Value)>, false, 0);
    for (value, result) in curve {
        let Ok(result) = result else {
            failed = last.is_some();
            continue;
        };
        prop_assert!(!failed, "fails below {value:?}");
        if let Some((earlier, less)) = last {
            match less.compare(result) {
                Some(Ordering::Less) => grown += 1,
                Some(Ordering::Equal) => {}
                _ => prop_assert!(false, "{less:?} of {earlier:?}, then {result:?} of {value:?}"),
            }
        }
        last = Some((value, result));
    }
    Ok(grown)
}

/// The number of results that tell something: that are not empty, false, or equal to the one before.
fn check(function: Function, draw: &Draw) -> Result<usize, TestCaseError> {
    let Draw { text, part, small, .. } = draw;
    let of = |args: Vec<Expr>| value(typing::call_named(function.name, args));
    let chars: Vec<char> = text.chars().collect();
    let (result, expected) = match function.key_property {
        // `ANY` over a constant array becomes IN, and over a parameter the key is only judged.
        KeyProperty::Unknown | KeyProperty::ComparesWithAny => return Ok(1),
        KeyProperty::Increasing(moving) => {
            return draw.along(function, moving).iter().map(|curve| never_falls(curve.iter())).sum();
        }
        KeyProperty::Folded => {
            let curve = draw.along(function, 0).remove(0);
            let zero = curve.iter().take_while(|(value, _)| value.compare(&Value::Int(0)).is_some_and(Ordering::is_lt));
            let (below, above) = curve.split_at(zero.count());
            return Ok(never_falls(below.iter().rev())? + never_falls(above.iter())?);
        }
        KeyProperty::Prefix => {
            let kept = if *small < 0 { chars.len() as i64 + small } else { *small };
            let kept = kept.clamp(0, chars.len() as i64) as usize;
            (of(vec![typing::string(text), int(*small)]), Value::Text(chars[..kept].iter().collect()))
        }
        KeyProperty::Substring => {
            let (start, length) = (draw.ints[0] % 8, draw.ints[1].rem_euclid(8));
            let from = match start {
                start if start < 0 => chars.len().checked_sub(start.unsigned_abs() as usize).unwrap_or(chars.len()),
                start => (start.max(1) as usize - 1).min(chars.len()),
            };
            let end = (from + length as usize).min(chars.len());
            let args = vec![typing::string(text), int(start), int(length)];
            (of(args), Value::Text(chars[from..end].iter().collect()))
        }
        KeyProperty::TrimmedEnd => {
            let padded = format!("{text}c{}", " ".repeat(draw.blanks));
            (of(vec![typing::string(&padded)]), Value::text(&padded[..=text.len()]))
        }
        KeyProperty::StartsWith => {
            let parts: Vec<char> = part.chars().collect();
            let expected = chars.len() >= parts.len() && chars.iter().zip(&parts).all(|(a, b)| a == b);
            (of(vec![typing::string(text), typing::string(part)]), Value::Bool(expected))
        }
        KeyProperty::Matches => {
            let pattern = if draw.blanks == 0 { format!("^{part}") } else { part.clone() };
            let expected = if draw.blanks == 0 { text.starts_with(part) } else { text.contains(part) };
            (of(vec![typing::string(text), typing::string(&pattern)]), Value::Bool(expected))
        }
    };
    prop_assert_eq!(&result, &expected);
    Ok(usize::from(result != Value::text("") && result != Value::Bool(false)))
}

#[test]
fn results_are_as_the_key_property_says() {
    let mut telling: HashMap<&str, usize> = HashMap::new();
    let config = ProptestConfig::default();
    let mut runner = proptest::test_runner::TestRunner::new(config.clone());
    let telling_of = std::cell::RefCell::new(&mut telling);
    let checked = runner.run(&draw(), |draw| {
        for function in Function::all() {
            let found =
                check(function, &draw).map_err(|error| TestCaseError::fail(format!("{function:?}: {error}")))?;
            *telling_of.borrow_mut().entry(function.name).or_default() += found;
        }
        Ok(())
    });
    assert!(checked.is_ok(), "{}", checked.unwrap_err());
    let at_least = config.cases as usize / 16;
    assert!(telling.values().all(|count| *count >= at_least), "{telling:?}");
}
