//! Conditions on the outer row, taken out of a subquery: they stand above all that it reads, or can be moved there.
//!
//! ```text
//! project [y:13 = v:10 + 1]                        project [y:13 = v:10 + 1]
//!   filter tk:7 = k:0, v:10 > 3        ──►           filter v:10 > 3                 and tk:7 = k:0
//!     scan u [tk:7, v:10]                              scan u [tk:7, v:10]
//! ```
//!
//! A relation passes the columns of its input on, so that a condition names the same columns above it. A computed column that
//! names the outer row becomes its expression wherever it is named. What is named below a join stays there: a table is looked up by keys
//! if these are joined to the table itself.

use std::collections::BTreeSet;

use saltwing_plan::Condition;
use saltwing_types::Expr;

use crate::tree::{ComputedColumn, Relation};

/// Most parts of an expression in which others have come in the place of columns.
const PARTS_MAX: usize = 10_000;

/// A relation that does not name the outer row, and what did.
pub(super) struct Pulled {
    pub(super) relation: Relation,
    /// The conditions that its rows must meet for the outer row.
    pub(super) conditions: Vec<Condition>,
    /// The computed columns that name the outer row: the relation does not give them.
    pub(super) values: Vec<ComputedColumn>,
}

/// Takes conditions out of relations.
pub(super) struct Puller<'a> {
    /// The outer columns.
    pub(super) outer: &'a BTreeSet<usize>,
    /// Whether it matters how often a row comes; to EXISTS and IN it does not.
    pub(super) counts_rows: bool,
}

impl Puller<'_> {
    /// The relation without what names the outer row; `None` if that is more than conditions and computed columns.
    pub(super) fn pull(&self, relation: Relation) -> Option<Pulled> {
        if !self.are_named_below(&relation) {
            return Some(Pulled { relation, conditions: Vec::new(), values: Vec::new() });
        }
        match relation {
            Relation::Filter { input, conditions } => {
                let mut pulled = self.pull(*input)?;
                let own = self.take_conditions(&mut pulled, conditions)?;
                pulled.relation = pulled.relation.filtered(own);
                Some(pulled)
            }
            Relation::Project { input, columns } => {
                let (mut pulled, mut own) = (self.pull(*input)?, Vec::new());
                for mut computed in columns {
                    put_values(&pulled.values, &mut computed.expr)?;
                    match self.are_named_in(&computed.expr) {
                        true if computed.expr.is_volatile() => return None,
                        true => pulled.values.push(computed),
                        false => own.push(computed),
                    }
                }
                pulled.relation = pulled.relation.projected(own);
                Some(pulled)
            }
            Relation::Sort { input, .. } => self.pull(*input),
            Relation::Distinct { input, .. } if !self.counts_rows => self.pull(*input),
            _ => None,
        }
    }

    /// The conditions that do not name the outer row; the others go to those that were pulled.
    fn take_conditions(&self, pulled: &mut Pulled, conditions: Vec<Condition>) -> Option<Vec<Condition>> {
        let mut own = Vec::new();
        for mut condition in conditions {
            if put_values(&pulled.values, &mut condition.expr)? {
                condition = Condition::new(condition.expr);
            }
            match self.are_named_in(&condition.expr) {
                true if condition.expr.is_volatile() => return None,
                true => pulled.conditions.push(condition),
                false => own.push(condition),
            }
        }
        Some(own)
    }

    fn are_named_in(&self, expr: &Expr) -> bool {
        expr.columns().iter().any(|id| self.outer.contains(id))
    }

    /// Whether a relation, or one that it reads, names an outer column.
    fn are_named_below(&self, relation: &Relation) -> bool {
        let mut found = false;
        relation.for_each(&mut |relation| {
            relation.for_each_column(&mut |column| found |= self.outer.contains(&column.index));
        });
        found
    }
}

/// Puts expressions in the places of columns that a relation does not give any more; whether there was one. `None` if the expression would
/// be too large.
pub(super) fn put_values(values: &[ComputedColumn], expr: &mut Expr) -> Option<bool> {
    let mut found = false;
    if !values.is_empty() {
        replace(values, expr, &mut found);
    }
    (!found || !expr.has_more_parts_than(PARTS_MAX)).then_some(found)
}

fn replace(values: &[ComputedColumn], expr: &mut Expr, found: &mut bool) {
    if let Expr::Column(column) = expr {
        if let Some(value) = values.iter().find(|value| value.column.index == column.index) {
            *expr = value.expr.clone();
            *found = true;
        }
        return;
    }
    expr.for_each_child_mut(&mut |child| replace(values, child, found));
}
