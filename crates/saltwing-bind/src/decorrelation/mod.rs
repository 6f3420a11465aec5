//! Decorrelation: a query with subqueries in expressions and with LATERAL becomes one with ordinary joins alone.
//!
//! ```text
//! filter EXISTS (subquery):14                      semi join on tk:7 = k:0
//!   apply [EXISTS (subquery):14 = exists]            scan t [k:0]
//!     scan t [k:0]                          ──►      scan u [tk:7]
//!     filter tk:7 = k:0
//!       scan u [tk:7]
//! ```
//!
//! A column is an outer one of a subquery if the subquery names it and the relation that it is applied to gives it: a question about ids. The
//! relations are visited from below, so that no subquery has a subquery in it when it is joined. There are two ways:
//!
//! 1. If conditions alone name outer columns, and these can stand above all that the subquery reads, they become the conditions of the
//!    join ([`pull`]). Nothing is read twice.
//! 2. Otherwise the subquery is computed once for each combination of values of the outer columns ([`keys`]). The relation that gives these
//!    values is a copy of the outer one, so that this is read twice. The conditions of WHERE that have no subquery stand below both.
//!
//! ```text
//! keys   = the distinct values of the outer columns
//! values = the subquery for each of the keys, with these beside its columns
//! rows   = the outer rows JOIN values ON each outer column is the same as its key, NULL included
//! ```
//!
//! * `EXISTS`, and `IN`, `ANY` and `ALL` as conditions: a semi or an anti join; below OR, and `EXISTS` as a value: a mark join ([`membership`]).
//! * `IN`, `ANY` and `ALL` as values, which may be unknown: aggregates of the comparisons, by a left join ([`membership`]).
//! * A scalar subquery: a left join with its value, or with the groups of its aggregates ([`scalar`]).
//! * `LATERAL`: an inner or a left join ([`lateral`]).
//!
//! # Invariants
//! 1. A decorrelated tree has neither [`Relation::Apply`] nor lateral joins: the relational engine plans none.
//! 2. Ids stay unique in the statement: a copy of a relation has new ones ([`ids`]).
//! 3. The columns that subqueries gave keep their ids, so that nothing above changes but conditions that became joins.

mod ids;
mod keyed_groups;
mod keys;
mod lateral;
mod membership;
mod outer_rows;
mod pull;
mod refusal;
mod scalar;

use std::borrow::Cow;
use std::collections::HashMap;

use saltwing_plan::Condition;
use saltwing_types::Expr;

use self::ids::FreshIds;
use self::outer_rows::OuterRows;
use crate::error::Result;
use crate::tree::{BoundQuery, Relation, SubqueryColumn, SubqueryKind};

impl BoundQuery {
    /// The query with joins in place of subqueries and of LATERAL; the same query if it has neither. Its output is the same.
    ///
    /// # Errors
    /// A subquery that cannot be decorrelated (0A000), and a query that grows too large (54000).
    pub fn decorrelated(&self) -> Result<Cow<'_, Self>> {
        let mut is_correlated = false;
        self.relation.for_each(&mut |relation| {
            is_correlated |= matches!(relation, Relation::Apply { .. } | Relation::Join { lateral: true, .. });
        });
        if !is_correlated {
            return Ok(Cow::Borrowed(self));
        }
        let decorrelation = Decorrelation { ids: FreshIds::after(self), uses: uses(self) };
        let relation = decorrelation.relation(self.relation.clone())?;
        Ok(Cow::Owned(Self { relation, output: self.output.clone() }))
    }
}

/// How often a query names each column, by id.
fn uses(query: &BoundQuery) -> HashMap<usize, usize> {
    let mut uses = HashMap::new();
    query.relation.for_each(&mut |relation| {
        relation.for_each_column(&mut |column| *uses.entry(column.index).or_insert(0) += 1);
    });
    query.output.iter().for_each(|output| *uses.entry(output.column.index).or_insert(0) += 1);
    uses
}

/// The work on one query.
struct Decorrelation {
    ids: FreshIds,
    uses: HashMap<usize, usize>,
}

impl Decorrelation {
    fn relation(&self, relation: Relation) -> Result<Relation> {
        match relation {
            Relation::Filter { input, conditions } => self.filtered(*input, conditions),
            Relation::Apply { input, subqueries } => self.applied(*input, subqueries, Vec::new()),
            Relation::Join { kind, left, right, lateral: true, conditions, .. } => {
                let (left, right) = (self.relation(*left)?, self.relation(*right)?);
                OuterRows::new(&self.ids, left).lateral(kind, right, conditions)
            }
            mut other => {
                for input in other.inputs_mut() {
                    *input = self.relation(std::mem::replace(input, Relation::one_row()))?;
                }
                Ok(other)
            }
        }
    }

    /// The rows that meet conditions. What bounds the rows that a subquery or a lateral side is computed for stands below it.
    fn filtered(&self, input: Relation, conditions: Vec<Condition>) -> Result<Relation> {
        match input {
            Relation::Apply { input, subqueries } => self.applied(*input, subqueries, conditions),
            Relation::Join { kind, left, right, lateral: true, same, conditions: on } => {
                let (below, above): (Vec<_>, Vec<_>) =
                    conditions.into_iter().partition(|condition| is_over(&condition.expr, &left));
                let left = Box::new(left.filtered(below));
                let join = Relation::Join { kind, left, right, lateral: true, same, conditions: on };
                Ok(self.relation(join)?.filtered(above))
            }
            other => Ok(self.relation(other)?.filtered(conditions)),
        }
    }

    /// The rows with the values of subqueries, if they meet conditions.
    fn applied(
        &self,
        input: Relation,
        subqueries: Vec<SubqueryColumn>,
        conditions: Vec<Condition>,
    ) -> Result<Relation> {
        let is_plain = |condition: &Condition| {
            let ids = condition.expr.columns();
            let names = |subquery: &SubqueryColumn| ids.contains(&subquery.column.index);
            !subqueries.iter().any(names) && !condition.expr.is_volatile()
        };
        let (below, mut above): (Vec<_>, Vec<_>) = conditions.into_iter().partition(is_plain);
        let input = match below.is_empty() {
            true => self.relation(input)?,
            false => self.filtered(input, below)?,
        };
        let mut rows = OuterRows::new(&self.ids, input);
        for mut subquery in subqueries {
            let query = &mut subquery.query.relation;
            *query = self.relation(std::mem::replace(query, Relation::one_row()))?;
            let id = subquery.column.index;
            let is_test = !matches!(subquery.kind, SubqueryKind::Scalar) && self.uses.get(&id) == Some(&1);
            let place = above.iter().position(|condition| is_test && tested(&condition.expr, id).is_some());
            match place.and_then(|place| Some((place, tested(&above.get(place)?.expr, id)?))) {
                Some((place, Tested { is_whole: true, negated })) => {
                    above.remove(place);
                    rows.choose(subquery, negated)?;
                }
                Some((place, Tested { is_whole: false, negated })) => {
                    let holds = rows.marked(subquery, negated)?;
                    if let Some(condition) = above.get_mut(place) {
                        put_test(&mut condition.expr, id, &holds);
                        *condition = Condition::new(std::mem::replace(&mut condition.expr, Expr::NULL));
                    }
                }
                None => match subquery.kind {
                    SubqueryKind::Scalar => rows.add_scalar(subquery)?,
                    SubqueryKind::Exists => rows.add_existence(subquery)?,
                    SubqueryKind::In { .. } | SubqueryKind::Quantified { .. } => rows.add_comparison(subquery)?,
                },
            }
        }
        Ok(rows.into_relation().filtered(above))
    }
}

/// Whether a condition is over columns of a relation alone, and is the same for each of its rows wherever it is computed.
fn is_over(condition: &Expr, relation: &Relation) -> bool {
    let columns = condition.columns();
    !columns.is_empty() && columns.iter().all(|id| relation.has_column(*id)) && !condition.is_volatile()
}

/// How a condition has the column of a test: false and unknown are one there.
struct Tested {
    /// Whether the test is the condition; else it stands below AND and OR.
    is_whole: bool,
    /// Whether NOT stands before it.
    negated: bool,
}

/// How a condition has the column with this id; `None` if it does not have it, or as a value.
fn tested(condition: &Expr, id: usize) -> Option<Tested> {
    match condition {
        Expr::And(list) | Expr::Or(list) => {
            let found = list.iter().find_map(|part| tested(part, id))?;
            Some(Tested { is_whole: false, ..found })
        }
        Expr::Not(inner) if is_column(inner, id) => Some(Tested { is_whole: true, negated: true }),
        other => is_column(other, id).then_some(Tested { is_whole: true, negated: false }),
    }
}

/// Puts a value in the place of the test, with the NOT before it.
fn put_test(condition: &mut Expr, id: usize, holds: &Expr) {
    match condition {
        Expr::And(list) | Expr::Or(list) => list.iter_mut().for_each(|part| put_test(part, id, holds)),
        other if tested(other, id).is_some() => *other = holds.clone(),
        _ => {}
    }
}

fn is_column(expr: &Expr, id: usize) -> bool {
    matches!(expr, Expr::Column(column) if column.index == id)
}
