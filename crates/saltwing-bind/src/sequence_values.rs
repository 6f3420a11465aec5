//! The values that rows take from sequences.
//!
//! Values are taken when the rows are known, as in Phoenix: WHERE, ORDER BY and LIMIT come before. All values of one sequence
//! in one row are the same value.

use saltwing_sql::SequenceVerb;
use saltwing_types::{Expr, Value};
use sqlparser::ast;

use crate::engine::NoEngine;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{LowerError, Lowerer, Params, constant};
use crate::scope::Scope;
use crate::sequence_collector::{SequenceCollector, around_value, takes_values};
use crate::tree::{ColumnIds, SequenceUse, SequenceUses, set_beside_another};

/// What a row does to a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceAction {
    /// It gets the last value that the session took.
    Repeat,
    /// It takes this number of values.
    Take(u64),
    /// It sets the value, which counts as taken or not.
    Set(i64, bool),
}

impl SequenceUse {
    /// What each row does: of several calls that take values the largest number counts; 1 if a number is a parameter without
    /// a value.
    ///
    /// # Errors
    /// A count that is no number from 1 on; a value that is no whole number.
    pub fn action(&self, params: Params<'_>) -> Result<SequenceAction> {
        let mut action = SequenceAction::Repeat;
        for call in &self.calls {
            let number = call.number.as_ref().map(|number| constant(number, params));
            action = match (call.verb, number) {
                (SequenceVerb::Current, _) => continue,
                (SequenceVerb::Set, Some(Some(Value::Int(value)))) => SequenceAction::Set(value, call.is_taken),
                (SequenceVerb::Next, Some(Some(Value::Int(count)))) if count > 0 => {
                    taking(action, count.unsigned_abs())
                }
                (SequenceVerb::Next, None) => taking(action, 1),
                (_, Some(None)) if matches!(params, Params::Open(_)) => taking(action, 1),
                (verb, _) => {
                    let text = match verb {
                        SequenceVerb::Set => "SETVAL takes a whole number",
                        _ => "NEXT n VALUES FOR takes a whole number of values, at least 1",
                    };
                    let error = BindError::from(BindErrorKind::Syntax(text.to_owned()));
                    let error = error.at(call.number.as_ref().and_then(saltwing_sql::expr_span));
                    return Err(error.at(Some(self.name.span())).phoenix(1215));
                }
            };
        }
        Ok(action)
    }
}

impl SequenceAction {
    /// What a row does that does both, by two names of one sequence.
    ///
    /// # Errors
    /// One of them sets the value.
    pub fn and(self, other: Self) -> Result<Self> {
        match (self, other) {
            (Self::Set(..), _) | (_, Self::Set(..)) => Err(set_beside_another()),
            (Self::Repeat, action) | (action, Self::Repeat) => Ok(action),
            (Self::Take(_), Self::Take(count)) => Ok(taking(self, count)),
        }
    }
}

/// The larger of two numbers of values.
fn taking(action: SequenceAction, count: u64) -> SequenceAction {
    match action {
        SequenceAction::Take(other) => SequenceAction::Take(other.max(count)),
        _ => SequenceAction::Take(count),
    }
}

impl SequenceUses {
    /// The expression of a row that takes values of sequences; `None` if `expr` does not. Column `i` of the expression is
    /// the value of the sequence number `i`.
    ///
    /// # Errors
    /// Errors of types; an expression around the values that the language lacks.
    pub fn of_row(&mut self, expr: &ast::Expr, params: Params<'_>) -> Result<Option<Expr>> {
        if !takes_values(expr) {
            return Ok(None);
        }
        // Values of sequences are the only columns, so that the id of each is its position.
        let ids = ColumnIds::new(&NoEngine);
        ids.take(self.iter().count());
        let (scope, collector) = (Scope::empty(), SequenceCollector::new(&ids, std::mem::take(self)));
        let lowered = Lowerer { sequences: Some(&collector), ..Lowerer::new(&scope, params) }.lower(expr);
        *self = collector.into_uses();
        lowered.map(Some).map_err(|error| match error {
            LowerError::Invalid(error) => error,
            LowerError::Unsupported(what, span) => around_value(&what).at(span),
        })
    }
}
