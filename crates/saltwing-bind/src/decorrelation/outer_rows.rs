//! The rows that subqueries are joined to.

use std::collections::BTreeMap;

use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, Span};

use super::ids::{FreshIds, foreign_columns};
use super::keys::{Keyed, Keys};
use super::pull::{Pulled, Puller};
use crate::error::{BindError, BindErrorKind, Result};
use crate::tree::{ComputedColumn, JoinKind, Relation};

/// The rows of a relation, and what was joined to them.
pub(super) struct OuterRows<'a> {
    pub(super) ids: &'a FreshIds,
    /// The relation. Copies are of this one if it has the outer columns, so that they do not grow with each subquery.
    input: Relation,
    /// The relation with what was joined to it. It has the columns of `input`, and no row twice.
    wide: Relation,
}

/// The rows of a subquery that belong to an outer row, by a join.
pub(super) struct Partners {
    pub(super) relation: Relation,
    /// Outer columns, each with the column that must be the same.
    pub(super) same: Vec<(ColumnRef, ColumnRef)>,
    pub(super) conditions: Vec<Condition>,
    /// Columns of the subquery that the relation does not give: expressions over its columns and those of the outer row.
    pub(super) values: Vec<ComputedColumn>,
}

impl<'a> OuterRows<'a> {
    pub(super) fn new(ids: &'a FreshIds, relation: Relation) -> Self {
        Self { ids, input: relation.clone(), wide: relation }
    }

    pub(super) fn into_relation(self) -> Relation {
        self.wide
    }

    pub(super) fn has_column(&self, id: usize) -> bool {
        self.wide.has_column(id)
    }

    /// The columns of the rows that a relation names, each once.
    pub(super) fn named_in(&self, relation: &Relation) -> Vec<ColumnRef> {
        let mut named: BTreeMap<usize, ColumnRef> = BTreeMap::new();
        relation.for_each(&mut |relation| {
            relation.for_each_column(&mut |column| {
                named.entry(column.index).or_insert_with(|| column.clone());
            });
        });
        named.into_values().filter(|column| self.has_column(column.index)).collect()
    }

    /// What a subquery has for these outer columns, for each combination of their values.
    ///
    /// # Errors
    /// Rows that are others when they are read again, and copies that grow too large.
    pub(super) fn keys(&self, columns: Vec<ColumnRef>, span: Option<Span>) -> Result<Keys<'_>> {
        let is_of_input = columns.iter().all(|column| self.input.has_column(column.index));
        let outer = if is_of_input { &self.input } else { &self.wide };
        if !columns.is_empty() && outer.is_volatile() {
            let error = BindErrorKind::NotSupported("a correlated subquery over rows with random values".to_owned());
            return Err(BindError::from(error).at(span));
        }
        Ok(Keys { ids: self.ids, outer, columns, span })
    }

    /// The rows of a relation that belong to an outer row. To EXISTS and IN it does not matter how often a row comes (`counts_rows`).
    ///
    /// # Errors
    /// As [`Self::keys`]; a relation that the keys cannot be carried through.
    pub(super) fn partners(&self, relation: Relation, counts_rows: bool, span: Option<Span>) -> Result<Partners> {
        let pulled = self.pulled(&relation, counts_rows).next();
        match pulled {
            Some(Pulled { relation, conditions, values }) => {
                Ok(Partners { relation, same: Vec::new(), conditions, values })
            }
            None => self.keyed(relation, span),
        }
    }

    /// The relation without what names the outer row, if that is conditions and computed columns alone: at best without what names any
    /// query around it, so that a table stands by itself where it is joined.
    pub(super) fn pulled(&self, relation: &Relation, counts_rows: bool) -> impl Iterator<Item = Pulled> {
        let foreign = foreign_columns(relation);
        let outer = foreign.iter().copied().filter(|id| self.has_column(*id)).collect();
        let pulled = move |outer| Puller { outer: &outer, counts_rows }.pull(relation.clone());
        [foreign, outer].into_iter().filter_map(pulled)
    }

    /// The rows of a relation for each combination of values of the outer columns.
    ///
    /// # Errors
    /// As [`Self::partners`].
    pub(super) fn keyed(&self, relation: Relation, span: Option<Span>) -> Result<Partners> {
        let outer = self.named_in(&relation);
        let Keyed { relation, keys } = match outer.is_empty() {
            true => Keyed { relation, keys: Vec::new() },
            false => self.keys(outer.clone(), span)?.through(relation)?,
        };
        let same = outer.into_iter().zip(keys).collect();
        Ok(Partners { relation, same, conditions: Vec::new(), values: Vec::new() })
    }

    /// Joins a relation to the rows. The join must give each of the rows once at most.
    pub(super) fn join(
        &mut self,
        kind: JoinKind,
        right: Relation,
        same: Vec<(ColumnRef, ColumnRef)>,
        conditions: Vec<Condition>,
    ) {
        self.change(|left| {
            let (left, right) = (Box::new(left), Box::new(right));
            Relation::Join { kind, left, right, lateral: false, same, conditions }
        });
    }

    /// Adds columns over those that are there.
    pub(super) fn compute(&mut self, columns: impl IntoIterator<Item = ComputedColumn>) {
        self.change(|rows| rows.projected(columns));
    }

    fn change(&mut self, change: impl FnOnce(Relation) -> Relation) {
        let wide = std::mem::replace(&mut self.wide, Relation::one_row());
        self.wide = change(wide);
    }
}
