//! The calls with several rows in the list of one SELECT.

use sqlparser::ast::{BinaryOperator, Expr, Select, TableWithJoins};

use super::build::{alias, and, binary, call, column, table_factor};
use crate::relations::{Relation, relation_named};

pub(super) const INTERNAL: &str = "internal";

/// The name of the relation of numbers.
const NUMBERS: &str = "numbers";

/// The calls with several rows in one list.
pub(super) struct Expansion {
    pub(super) alias: String,
    /// How many rows each call gives.
    pub(super) lengths: Vec<Expr>,
}

impl Expansion {
    pub(super) fn new(made_up: &mut u32) -> Self {
        *made_up = made_up.saturating_add(1);
        Self { alias: format!("made up {made_up}"), lengths: Vec::new() }
    }

    pub(super) fn is_used(&self) -> bool {
        !self.lengths.is_empty()
    }

    /// Joins the numbers to a SELECT.
    pub(super) fn join(self, select: &mut Select) {
        let Self { alias: of, lengths } = self;
        let relation = table_factor(&table_name(), Some(alias(&of)));
        select.from.push(TableWithJoins { relation, joins: Vec::new() });
        let mut lengths = lengths.into_iter();
        let Some(first) = lengths.next() else { return };
        let others: Vec<Expr> = lengths.filter(|length| *length != first).collect();
        let longest = match others.is_empty() {
            true => first,
            false => call("greatest", std::iter::once(first).chain(others).collect()),
        };
        and(&mut select.selection, binary(column(&of, "n"), BinaryOperator::LtEq, longest));
    }
}

/// The table of numbers.
pub(super) fn table_name() -> String {
    relation_named(INTERNAL, NUMBERS).map_or_else(|| NUMBERS.to_owned(), Relation::table_name)
}
