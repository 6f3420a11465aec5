//! The functions that have a faster way over whole columns than one row after the other.
//!
//! A function without a line here runs through [`RowCall`]. So does a call of a shape that its kernel does not know.

use saltwing_types::function::Evaluation;
use saltwing_types::regexp::{Regexp, ignores_case};
use saltwing_types::{Function, Rounding, SqlType};

use crate::arithmetic::SignChange;
use crate::choice::Coalesce;
use crate::hash_call::HashCall;
use crate::instant_call::{InstantCall, Operation};
use crate::pattern::RegexpMatch;
use crate::rounding::RoundedNumber;
use crate::row_call::RowCall;
use crate::step::{Compute, Step};
use crate::text_call::{self, TextCall};

/// A call that becomes a step.
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) args: Vec<Step>,
    pub(crate) ty: SqlType,
}

/// The step's computation; gives back a call that the kernel does not know.
type Compiled = Result<Box<dyn Compute>, Call>;

/// By function, in alphabetical order.
static KERNELS: &[(&str, fn(Call) -> Compiled)] = &[
    ("ABS", |call| call.of_value(|value, ty| SignChange { value, ty, negative_only: true })),
    ("CEIL", |call| rounding(call, Rounding::Ceil)),
    ("COALESCE", |call| match call.args.iter().all(|part| part.gives(call.ty)) {
        true => Ok(Box::new(Coalesce { parts: call.args, ty: call.ty })),
        false => Err(call),
    }),
    ("CONCAT", |call| call.text(text_call::concat)),
    ("DATE_BIN", |call| call.instant(1, Operation::date_bin)),
    ("DATE_TRUNC", |call| call.instant(1, Operation::date_trunc)),
    ("FLOOR", |call| rounding(call, Rounding::Floor)),
    ("HASH", |call| call.of_value(|value, _| HashCall { value })),
    ("LEFT", |call| call.text(text_call::left)),
    ("LENGTH", |call| call.text(text_call::length)),
    ("LOWER", |call| call.text(text_call::lower)),
    ("REGEXP_LIKE", regexp_like),
    ("REVERSE", |call| call.text(text_call::reverse)),
    ("ROUND", |call| rounding(call, Rounding::Round)),
    ("STARTS_WITH", |call| call.text(text_call::starts_with)),
    ("SUBSTR", |call| call.text(text_call::substr)),
    ("TRIM", |call| if call.args.len() == 1 { call.text(text_call::trim) } else { Err(call) }),
    ("TRUNC", |call| rounding(call, Rounding::Trunc)),
    ("UPPER", |call| call.text(text_call::upper)),
];

impl Call {
    /// The computation of a call; `None` where only the row evaluator knows how.
    pub(crate) fn compiled(self) -> Option<Box<dyn Compute>> {
        let place = KERNELS.binary_search_by_key(&self.function.name, |(name, _)| name).ok();
        let compiled = match (self.function.evaluation, place.and_then(|place| KERNELS.get(place))) {
            (Evaluation::Field(field), _) => self.instant(0, |_| Some(Operation::Field(field))),
            (_, Some((_, kernel))) => kernel(self),
            (_, None) => Err(self),
        };
        compiled.or_else(|call| RowCall::boxed(call.function, call.args, call.ty).ok_or(())).ok()
    }

    /// A computation of the first argument, and of the call's type.
    fn of_value<C: Compute + 'static>(mut self, computation: impl FnOnce(Step, SqlType) -> C) -> Compiled {
        if self.args.is_empty() { Err(self) } else { Ok(Box::new(computation(self.args.swap_remove(0), self.ty))) }
    }

    fn text(self, kernel: text_call::Kernel) -> Compiled {
        Ok(Box::new(TextCall { kernel, args: self.args }))
    }

    /// An operation on the instant at an index; what else it takes must be constant.
    fn instant(mut self, index: usize, operation: impl Fn(&[Step]) -> Option<Operation>) -> Compiled {
        match operation(&self.args).filter(|_| index < self.args.len()) {
            Some(operation) => Ok(Box::new(InstantCall::new(self.args.swap_remove(index), self.ty, operation))),
            None => Err(self),
        }
    }
}

fn rounding(call: Call, rounding: Rounding) -> Compiled {
    match call.args.len() {
        1 => call.of_value(|value, ty| RoundedNumber { value, ty, rounding }),
        _ => call.instant(0, |args| Operation::units(rounding, args)),
    }
}

fn regexp_like(call: Call) -> Compiled {
    match constant_pattern(&call.args) {
        Some(regexp) => call.of_value(|text, _| RegexpMatch { text, regexp }),
        None => Err(call),
    }
}

/// The regular expression, where it is constant.
fn constant_pattern(args: &[Step]) -> Option<Regexp> {
    let flags = args.get(2).map_or(Some(""), Step::as_text)?;
    Regexp::parse(args.get(1)?.as_text()?, ignores_case(flags).ok()?).ok()
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
