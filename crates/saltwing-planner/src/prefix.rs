//! Groups whose rows follow each other, because they share leading key columns.

use saltwing_bind::BoundSelect;
use saltwing_plan::{OrderBy, OrderItem};
use saltwing_types::{CompareOp, Expr, KeySchema, SortOrder};

use crate::access::TableAccess;
use crate::error::Result;
use crate::request::SelectRequest;

/// Columns that are, with those that conditions fix to one value, the first ones of the key.
pub(crate) struct Prefix {
    /// How many leading key columns.
    pub(crate) columns: usize,
    /// Those of them that vary, in key order.
    open: Vec<usize>,
}

impl Prefix {
    pub(crate) fn of(bound: &BoundSelect, columns: &[usize]) -> Option<Self> {
        let key = &bound.table.def().key;
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
        Some(Self { columns: reach, open })
    }

    /// Whether no two rows share the prefix: it is the whole key.
    pub(crate) fn is_whole_key(&self, key: &KeySchema) -> bool {
        self.columns == key.columns.len()
    }

    /// An access whose rows of equal prefix follow each other, and whether these come in the order of `wanted`. Buckets over
    /// which the rows of a prefix are spread are merged; `None` if they cannot be.
    pub(crate) fn access(&self, bound: &BoundSelect, wanted: &[OrderItem]) -> Result<Option<(TableAccess, bool)>> {
        // Whether all rows of a prefix lie in one bucket.
        let undivided = bound.table.codec().salt_column_count() <= self.columns;
        if !wanted.is_empty() || !undivided {
            let order = self.order(&bound.table.def().key, wanted);
            let access = SelectRequest { order: &order, ..SelectRequest::of_groups() }.plan(bound)?;
            if access.is_ordered() {
                return Ok(Some((access, true)));
            }
        }
        if !undivided {
            return Ok(None);
        }
        Ok(Some((SelectRequest::of_groups().plan(bound)?, wanted.is_empty())))
    }

    /// The order wanted, then the open columns that it does not name, the same way.
    fn order(&self, key: &KeySchema, wanted: &[OrderItem]) -> Vec<OrderItem> {
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

/// The column that a condition fixes to one value.
pub(crate) fn fixed_column(condition: &Expr) -> Option<usize> {
    let is_value = |e: &Expr| matches!(e, Expr::Literal(..) | Expr::Param(..));
    match condition {
        Expr::Compare(CompareOp::Eq | CompareOp::NotDistinct, a, b) => match (&**a, &**b) {
            (Expr::Column(column), value) | (value, Expr::Column(column)) if is_value(value) => Some(column.index),
            _ => None,
        },
        Expr::IsNull(inner) => {
            if let Expr::Column(column) = &**inner {
                Some(column.index)
            } else {
                None
            }
        }
        _ => None,
    }
}
