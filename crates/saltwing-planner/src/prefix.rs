//! Groups whose rows follow each other, because they share leading key columns.

use saltwing_plan::{OrderBy, OrderItem};
use saltwing_types::{KeySchema, SortOrder};

use crate::access::{TableAccess, UsableKeys};
use crate::direct_query::DirectQuery;
use crate::error::Result;
use crate::fixed_column::fixed_column;
use crate::request::SelectRequest;

/// Columns that are, with those that conditions fix to one value, the first ones of a key.
pub(crate) struct Prefix<'a> {
    /// How many leading key columns.
    pub(crate) columns: usize,
    /// Those of them that vary, in key order.
    open: Vec<usize>,
    key: &'a KeySchema,
    /// How many leading key columns the salt covers.
    salted: usize,
    /// The place of the index whose key it is; `None` for the table's own.
    index: Option<usize>,
}

impl<'a> Prefix<'a> {
    /// A prefix of the key of the table.
    pub(crate) fn of(bound: &'a DirectQuery, columns: &[usize]) -> Option<Self> {
        let table = &bound.table;
        Self::of_key(bound, (&table.def().key, table.codec().salt_column_count()), None, columns)
    }

    /// A prefix of the key of the index at this place.
    pub(crate) fn of_index(bound: &'a DirectQuery, place: usize, columns: &[usize]) -> Option<Self> {
        let index = bound.table.indexes().get(place)?;
        Self::of_key(bound, (index.key(), index.codec().salt_column_count()), Some(place), columns)
    }

    fn of_key(
        bound: &DirectQuery,
        (key, salted): (&'a KeySchema, usize),
        index: Option<usize>,
        columns: &[usize],
    ) -> Option<Self> {
        let fixed: Vec<usize> = bound.conditions.iter().filter_map(|c| fixed_column(&c.expr)).collect();
        if columns.iter().any(|column| key.position(*column).is_none() && !fixed.contains(column)) {
            return None;
        }
        let is_known = |column: &usize| columns.contains(column) || fixed.contains(column);
        let is_open = |column: &usize| columns.contains(column) && !fixed.contains(column);
        let count = columns.iter().filter(|column| is_open(column)).count();
        let (mut open, mut reach) = (Vec::new(), 0);
        for (position, part) in key.columns.iter().enumerate() {
            if open.len() == count {
                break;
            }
            match part.column() {
                Some(column) if is_open(&column) => {
                    open.push(column);
                    reach = position + 1;
                }
                Some(column) if fixed.contains(&column) => {}
                // Rows that are equal in all that it is computed from are equal in it.
                None if part.computed().is_some_and(|e| e.columns().iter().all(is_known)) => {}
                _ => return None,
            }
        }
        Some(Self { columns: reach, open, key, salted, index })
    }

    /// Whether no two rows share the prefix: it is the whole key.
    pub(crate) fn is_whole_key(&self) -> bool {
        self.columns == self.key.columns.len()
    }

    /// An access whose rows of equal prefix follow each other, and whether these come in the order of `wanted`. Buckets over
    /// which the rows of a prefix are spread are merged; `None` if they cannot be.
    pub(crate) fn access(&self, bound: &DirectQuery, wanted: &[OrderItem]) -> Result<Option<(TableAccess, bool)>> {
        let keys = self.index.map_or(UsableKeys::Table, UsableKeys::Index);
        // Whether all rows of a prefix lie in one bucket.
        let undivided = self.salted <= self.columns;
        // In an index, NULL and '' may be one key, whose rows are no group: an order is given only if they are not.
        if !wanted.is_empty() || !undivided || self.index.is_some() {
            let order = self.order(wanted);
            let access = SelectRequest { order: &order, keys, ..SelectRequest::of_groups() }.plan(bound)?;
            if access.is_ordered() && access.index_place() == self.index {
                return Ok(Some((access, true)));
            }
        }
        if !undivided || self.index.is_some() {
            return Ok(None);
        }
        Ok(Some((SelectRequest { keys, ..SelectRequest::of_groups() }.plan(bound)?, wanted.is_empty())))
    }

    /// The order wanted, then the open columns that it does not name, the same way.
    fn order(&self, wanted: &[OrderItem]) -> Vec<OrderItem> {
        let key = self.key;
        let direction = |column: usize| key.position(column).and_then(|p| key.columns.get(p)).map(|part| part.order);
        let is_open = |item: &OrderItem| match item.by {
            OrderBy::Column(column) => self.open.contains(&column).then_some((column, item.order)),
            OrderBy::KeyPart(_) => None,
        };
        let first = wanted.iter().find_map(is_open);
        let reverse = first.is_some_and(|(column, order)| direction(column) != Some(order));
        let rest = self.open.iter().filter(|column| wanted.iter().all(|item| item.by != OrderBy::Column(**column)));
        let rest = rest.filter_map(|&column| {
            let order = match (direction(column)?, reverse) {
                (SortOrder::Asc, false) | (SortOrder::Desc, true) => SortOrder::Asc,
                _ => SortOrder::Desc,
            };
            Some(OrderItem { by: OrderBy::Column(column), order, nulls_first: !reverse })
        });
        wanted.iter().copied().chain(rest).collect()
    }
}
