//! The functions that have a faster way over whole columns than one row after the other.
//!
//! A function without a line here runs through [`RowCall`]. So does a call of a shape that its kernel does not know.

use saltwing_types::regexp::{Regexp, ignores_case};
use saltwing_types::{DateField, Expr, Function, Rounding, SqlType, Value};

use crate::arithmetic::SignChange;
use crate::choice::Coalesce;
use crate::compile::{compile, gives, literal};
use crate::hash_call::HashCall;
use crate::instant_call::{InstantCall, Operation};
use crate::pattern::RegexpMatch;
use crate::rounding::RoundedNumber;
use crate::row_call::RowCall;
use crate::step::{Compute, Step};
use crate::text_call::{self, TextCall};

/// A call that becomes a step.
pub(crate) struct Call<'a> {
    pub(crate) function: Function,
    pub(crate) args: &'a [Expr],
    pub(crate) ty: SqlType,
}

/// The step's computation; `None` for a call that the kernel does not know.
type Kernel = fn(&Call<'_>) -> Option<Box<dyn Compute>>;

/// By function, in alphabetical order.
static KERNELS: &[(&str, Kernel)] = &[
    ("ABS", |call| Some(Box::new(SignChange { value: compile(call.args.first()?), ty: call.ty, negative_only: true }))),
    ("CEIL", |call| rounding(call, Rounding::Ceil)),
    ("COALESCE", |call| {
        let parts = call.steps();
        let (fits, ty) = (parts.iter().all(|part| gives(part, call.ty)), call.ty);
        if fits { Some(Box::new(Coalesce { parts, ty })) } else { None }
    }),
    ("CONCAT", |call| call.text(text_call::concat)),
    ("DATE_BIN", |call| call.instant(1, Operation::date_bin)),
    ("DATE_TRUNC", |call| call.instant(1, Operation::date_trunc)),
    ("DAYOFMONTH", |call| field(call, DateField::Day)),
    ("DAYOFWEEK", |call| field(call, DateField::DayOfWeek)),
    ("DAYOFYEAR", |call| field(call, DateField::DayOfYear)),
    ("DOW", |call| field(call, DateField::Dow)),
    ("FLOOR", |call| rounding(call, Rounding::Floor)),
    ("HASH", |call| Some(Box::new(HashCall { value: compile(call.args.first()?) }))),
    ("HOUR", |call| field(call, DateField::Hour)),
    ("LEFT", |call| call.text(text_call::left)),
    ("LENGTH", |call| call.text(text_call::length)),
    ("LOWER", |call| call.text(text_call::lower)),
    ("MINUTE", |call| field(call, DateField::Minute)),
    ("MONTH", |call| field(call, DateField::Month)),
    ("QUARTER", |call| field(call, DateField::Quarter)),
    ("REGEXP_LIKE", regexp_like),
    ("REVERSE", |call| call.text(text_call::reverse)),
    ("ROUND", |call| rounding(call, Rounding::Round)),
    ("SECOND", |call| field(call, DateField::Second)),
    ("STARTS_WITH", |call| call.text(text_call::starts_with)),
    ("SUBSTR", |call| call.text(text_call::substr)),
    ("TRIM", |call| if call.args.len() == 1 { call.text(text_call::trim) } else { None }),
    ("TRUNC", |call| rounding(call, Rounding::Trunc)),
    ("UPPER", |call| call.text(text_call::upper)),
    ("WEEK", |call| field(call, DateField::Week)),
    ("YEAR", |call| field(call, DateField::Year)),
];

impl Call<'_> {
    /// The computation of a call; `None` where only the row evaluator knows how.
    pub(crate) fn compiled(&self) -> Option<Box<dyn Compute>> {
        let place = KERNELS.binary_search_by_key(&self.function.name, |(name, _)| name).ok();
        let kernel = place.and_then(|place| KERNELS.get(place)).map(|(_, kernel)| kernel);
        kernel.and_then(|kernel| kernel(self)).or_else(|| RowCall::boxed(self.function, self.steps(), self.ty))
    }

    fn steps(&self) -> Vec<Step> {
        self.args.iter().map(compile).collect()
    }

    fn text(&self, kernel: text_call::Kernel) -> Option<Box<dyn Compute>> {
        Some(Box::new(TextCall { kernel, args: self.steps() }))
    }

    /// An operation on the instant at an index; what else it takes must be constant.
    fn instant(&self, index: usize, operation: impl Fn(&[Step]) -> Option<Operation>) -> Option<Box<dyn Compute>> {
        let mut args = self.steps();
        let operation = operation(&args)?;
        (index < args.len()).then(|| Box::new(InstantCall::new(args.swap_remove(index), self.ty, operation)) as _)
    }
}

fn field(call: &Call<'_>, field: DateField) -> Option<Box<dyn Compute>> {
    call.instant(0, |_| Some(Operation::Field(field)))
}

fn rounding(call: &Call<'_>, rounding: Rounding) -> Option<Box<dyn Compute>> {
    match call.args {
        [value] => Some(Box::new(RoundedNumber { value: compile(value), ty: call.ty, rounding })),
        _ => call.instant(0, |args| Operation::units(rounding, args)),
    }
}

fn regexp_like(call: &Call<'_>) -> Option<Box<dyn Compute>> {
    let [text, pattern, flags @ ..] = call.args else { return None };
    let Value::Text(pattern) = literal(pattern)? else { return None };
    let Value::Text(flags) = flags.first().map_or(Some(Value::text("")), literal)? else { return None };
    let regexp = Regexp::parse(&pattern, ignores_case(&flags).ok()?).ok()?;
    Some(Box::new(RegexpMatch { text: compile(text), regexp }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_of_functions() {
        assert!(KERNELS.is_sorted_by_key(|(name, _)| *name));
        for (name, _) in KERNELS {
            assert_eq!(Function::by_name(name).map(|function| function.name), Some(*name));
        }
    }
}
