//! The sequences of which the rows of a statement take values.

use saltwing_sql::{SequenceCall, SequenceVerb, TableRef};
use saltwing_types::{ColumnRef, SqlType};

use super::ColumnIds;
use crate::error::{BindError, BindErrorKind, Result};

/// The sequences of which the rows of a statement take values, each once.
#[derive(Clone, Debug, Default)]
pub struct SequenceUses(Vec<SequenceUse>);

/// A sequence of which each row takes a value.
#[derive(Clone, Debug)]
pub struct SequenceUse {
    /// The sequence.
    pub name: TableRef,
    /// The value in a row.
    pub column: ColumnRef,
    /// The calls that name it: one that sets it, or any number of others.
    pub(crate) calls: Vec<SequenceCall>,
}

impl SequenceUses {
    /// The sequences, in the order of their values in a row.
    pub fn iter(&self) -> impl Iterator<Item = &SequenceUse> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a call; the column of its value.
    ///
    /// # Errors
    /// SETVAL beside another call for the same sequence.
    pub(crate) fn add(&mut self, call: SequenceCall, ids: &ColumnIds<'_>) -> Result<ColumnRef> {
        let key = |name: &TableRef| {
            (name.schema.as_ref().map(|schema| schema.text.to_lowercase()), name.name.text.to_lowercase())
        };
        let place = self.0.iter().position(|known| key(&known.name) == key(&call.name));
        let known = match place.and_then(|place| self.0.get_mut(place)) {
            Some(known) => known,
            None => {
                let (index, name) = (ids.take(1), call.name.to_string());
                let column = ColumnRef { index, name, ty: SqlType::BigInt, nullable: false, span: None };
                self.0.push_mut(SequenceUse { name: call.name.clone(), column, calls: Vec::new() })
            }
        };
        known.calls.push(call);
        let sets = known.calls.iter().any(|call| call.verb == SequenceVerb::Set);
        if sets && known.calls.len() > 1 {
            return Err(set_beside_another().at(Some(known.name.span())));
        }
        Ok(known.column.clone())
    }
}

/// The error of SETVAL beside another use of its sequence.
pub(crate) fn set_beside_another() -> BindError {
    BindErrorKind::Syntax("SETVAL is the only use of its sequence in a statement".to_owned()).into()
}
