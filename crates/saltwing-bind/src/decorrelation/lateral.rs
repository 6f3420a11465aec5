//! LATERAL: a relation for each row of the left side.

use saltwing_plan::Condition;
use saltwing_types::Expr;

use super::outer_rows::{OuterRows, Partners};
use super::pull::put_values;
use super::scalar::Totals;
use crate::error::Result;
use crate::tree::{ComputedColumn, JoinKind, Relation, Rows};

impl OuterRows<'_> {
    /// The join with a relation that may name columns of the rows.
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn lateral(mut self, kind: JoinKind, right: Relation, on: Vec<Condition>) -> Result<Relation> {
        let is_inner = kind == JoinKind::Inner;
        // Each row has one partner. Groups of a join are not looked up.
        if (is_inner || on.iter().all(|condition| condition.expr == Expr::boolean(true)))
            && let Some(Rows { relation: Relation::Aggregate { input, keys, calls, sets: None }, conditions, computed }) =
                right.clone().into_rows()
            && keys.is_empty()
            && conditions.is_empty()
            && !has_join(&input)
        {
            self.join_totals(Totals { input: *input, calls }, None)?;
            self.compute(computed);
            return Ok(self.into_relation().filtered(on));
        }
        let partners = self.partners(right.clone(), true, None)?;
        // Beside a row without a partner a computed column is NULL. Inner joins find an order in which their tables are looked up.
        let is_keyed = !partners.same.is_empty();
        let is_one_join = is_inner || is_keyed || partners.values.is_empty() && !has_join(&partners.relation);
        let (Partners { relation, same, mut conditions, values }, on) = match with_values(&on, &partners.values) {
            Some(on) if is_one_join => (partners, on),
            _ => (self.keyed(right, None)?, on),
        };
        conditions.extend(on);
        if is_inner && relation.is_one_row() {
            return Ok(self.into_relation().projected(values).filtered(conditions));
        }
        self.join(kind, relation, same, conditions);
        self.compute(values);
        Ok(self.into_relation())
    }
}

/// Conditions with these values in the places of their columns; `None` if they would be too large.
fn with_values(conditions: &[Condition], values: &[ComputedColumn]) -> Option<Vec<Condition>> {
    let with_values = |condition: &Condition| {
        let mut expr = condition.expr.clone();
        Some(if put_values(values, &mut expr)? { Condition::new(expr) } else { condition.clone() })
    };
    conditions.iter().map(with_values).collect()
}

/// Whether tables are joined in a relation: it is not looked up by keys that are joined to it.
fn has_join(relation: &Relation) -> bool {
    let mut found = false;
    relation.for_each(&mut |relation| found |= matches!(relation, Relation::Join { .. }));
    found
}
