//! What all elements of an array say together: the functions by which aggregates of the same names are computed.

use std::collections::HashMap;

use super::signature::of_kind;
use super::{Args, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::{SqlType, Value, ValueError, number};

pub(super) static ALL: &[&ScalarFunction] =
    &[&ARRAY_ENTROPY, &ARRAY_KURTOSIS, &ARRAY_MODE, &ARRAY_PRODUCT, &ARRAY_SKEWNESS];

const OF_ARRAY: &[Signature] =
    &[Signature::new(&[of_kind("array", ParameterKind::Array)], ResultType::Is(SqlType::Double))];

static ARRAY_ENTROPY: ScalarFunction = ScalarFunction::new("ARRAY_ENTROPY", OF_ARRAY, |args| {
    let known = known(args)?;
    let (counts, all) = (counts(known.iter().copied()), known.len() as f64);
    let of_share = |count: usize| {
        let share = count as f64 / all;
        share * share.log2()
    };
    // A sum in the order of the counts is the same for each order of the elements.
    let mut counts: Vec<usize> = counts.into_iter().map(|(_, count)| count).collect();
    counts.sort_unstable();
    Ok(if counts.is_empty() {
        Value::Null
    } else {
        Value::Double(-counts.into_iter().map(of_share).sum::<f64>() + 0.0)
    })
})
.aliases(&["LIST_ENTROPY"])
.gives("The bits of information in which of its values an element is, as in DuckDB; NULLs do not count.")
.example("ARRAY_ENTROPY(ARRAY['a', 'a', 'b', 'b'])", "1.0");

static ARRAY_KURTOSIS: ScalarFunction = ScalarFunction::new("ARRAY_KURTOSIS", OF_ARRAY, |args| {
    let numbers = numbers(args)?;
    let (n, [second, _, fourth]) = (numbers.len() as f64, central_moments(&numbers));
    if numbers.len() <= 3 || second <= 0.0 {
        return Ok(Value::Null);
    }
    let excess = (n + 1.0) * fourth / (second * second) - 3.0 * (n - 1.0);
    Ok(Value::Double((n - 1.0) * excess / ((n - 2.0) * (n - 3.0))))
})
.aliases(&["LIST_KURTOSIS"])
.gives("The excess kurtosis of the numbers as a sample, as in DuckDB; NULL of fewer than four, and of equal ones.")
.example("ARRAY_KURTOSIS(ARRAY[1, 2, 3, 4])", "-1.200000000000001");

static ARRAY_MODE: ScalarFunction = ScalarFunction::new(
    "ARRAY_MODE",
    &[Signature::new(&[of_kind("array", ParameterKind::Array)], ResultType::Common)],
    |args| {
        let counts = counts(known(args)?.into_iter());
        let most = counts.iter().map(|(_, count)| *count).max();
        let first = counts.into_iter().find(|(_, count)| Some(*count) == most);
        Ok(first.map_or(Value::Null, |(value, _)| value.clone()))
    },
)
.aliases(&["LIST_MODE"])
.gives("The element that the array has most often, of several the first; NULLs do not count.")
.example("ARRAY_MODE(ARRAY[3, 1, 1, NULL])", "1");

static ARRAY_PRODUCT: ScalarFunction = ScalarFunction::new("ARRAY_PRODUCT", OF_ARRAY, |args| {
    let numbers = numbers(args)?;
    let product: f64 = numbers.iter().product();
    match numbers.as_slice() {
        [] => Ok(Value::Null),
        numbers if product.is_infinite() && numbers.iter().all(|number| number.is_finite()) => {
            Err(ValueError::OutOfRange { value: "the product".into(), target: args.ty().to_string() })
        }
        _ => Ok(Value::Double(product)),
    }
})
.aliases(&["LIST_PRODUCT"])
.gives("The product of the numbers as a DOUBLE; NULLs do not count.")
.example("ARRAY_PRODUCT(ARRAY[2, 3, 7])", "42.0");

static ARRAY_SKEWNESS: ScalarFunction = ScalarFunction::new("ARRAY_SKEWNESS", OF_ARRAY, |args| {
    let numbers = numbers(args)?;
    let (n, [second, third, _]) = (numbers.len() as f64, central_moments(&numbers));
    if numbers.len() <= 2 || second <= 0.0 {
        return Ok(Value::Null);
    }
    Ok(Value::Double((n * (n - 1.0)).sqrt() / (n - 2.0) * third / second.powf(1.5)))
})
.aliases(&["LIST_SKEWNESS"])
.gives("The skewness of the numbers as a sample, as in DuckDB; NULL of fewer than three, and of equal ones.")
.example("ARRAY_SKEWNESS(ARRAY[1, 2, 3])", "0.0");

/// The elements that are not NULL.
fn known<'a>(args: &Args<'a>) -> Result<Vec<&'a Value>, ValueError> {
    Ok(args.array(0)?.unwrap_or_default().iter().filter(|element| !element.is_null()).collect())
}

fn numbers(args: &Args<'_>) -> Result<Vec<f64>, ValueError> {
    let is_number =
        |value: &&Value| matches!(value, Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_));
    let known = known(args)?;
    match known.iter().all(is_number) {
        true => Ok(known.into_iter().map(number::to_f64).collect()),
        false => Err(args.refused("it takes numbers")),
    }
}

/// Each value with how often it comes, in the order in which they come first.
fn counts<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<(&'a Value, usize)> {
    let (mut counts, mut places): (Vec<(&Value, usize)>, HashMap<&Value, usize>) = Default::default();
    for value in values {
        let place = *places.entry(value).or_insert(counts.len());
        match counts.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    counts
}

/// The averages of the second, third and fourth powers of the distances from the average.
fn central_moments(numbers: &[f64]) -> [f64; 3] {
    let n = numbers.len() as f64;
    let average = numbers.iter().sum::<f64>() / n;
    [2, 3, 4].map(|power| numbers.iter().map(|number| (number - average).powi(power)).sum::<f64>() / n)
}
