//! The part of a filter that is decided before a row is decoded.
//!
//! ```text
//! a < 5 AND t LIKE 'x%' AND 1/b > 0 AND c = 1
//! decided   left                                 c = 1 comes after 1/b > 0, which may fail
//! ```

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_types::{Expr, SqlType};

use crate::engine::block_ref::BlockRef;
use crate::engine::stored_table::StoredTable;
use crate::format::stored_column::StoredColumn;
use crate::format::stored_row::StoredRow;
use crate::format::summary::Summary;
use crate::scan::block_parts::{BlockParts, recent_slot};
use crate::scan::condition::{Condition, Truth};
use crate::scan::selection::Selection;

/// The [conditions](Condition) among a filter's conjuncts: only those before the first one that could fail, because
/// later ones are not reached after an error.
///
/// # Laws
/// 1. A block that is excluded has no row that meets the filter, and computing the filter over its rows is no error.
/// 2. The rows that are kept are those that the rest of the filter is to be computed for: of the others it is known that
///    the filter is false, or unknown without an error.
#[derive(Debug)]
pub(crate) struct Conditions {
    all: Vec<Condition>,
    /// Indexes of those that test rows; those that read texts last.
    of_rows: Vec<usize>,
    /// NULL meets no comparison, but it is not false either: a conjunct after it is computed, and may fail.
    unknown: Truth,
}

impl Conditions {
    /// Divides a filter: its conditions, `None` where there are none, and the conjuncts that are left, in their order.
    pub(crate) fn divide(table: &StoredTable, filter: Vec<Expr>) -> (Option<Self>, Vec<Expr>) {
        let (mut all, mut of_rows, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let mut may_have_failed = false;
        for conjunct in filter.into_iter().flat_map(Expr::into_conjuncts) {
            let condition = if may_have_failed { None } else { Condition::of(table, &conjunct) };
            let is_decided = condition.as_ref().is_some_and(Condition::is_of_rows);
            match condition {
                Some(condition) => {
                    if is_decided {
                        of_rows.push(all.len());
                    }
                    all.push(condition);
                }
                None => may_have_failed |= may_fail(&conjunct),
            }
            if !is_decided {
                rest.push(conjunct);
            }
        }
        of_rows.sort_by_key(|place| all.get(*place).is_some_and(Condition::reads_texts));
        let unknown = if may_have_failed { Truth::Unknown } else { Truth::False };
        ((!all.is_empty()).then_some(Self { all, of_rows, unknown }), rest)
    }

    /// Whether no row of the block can meet the filter.
    pub(crate) fn excludes(&self, block: &Summary) -> bool {
        self.all.iter().any(|condition| condition.of_summary(block, self.unknown) == Some(Truth::False))
    }

    /// Whether any of them tests rows.
    pub(crate) fn are_of_rows(&self) -> bool {
        !self.of_rows.is_empty()
    }

    fn of_rows(&self) -> impl Iterator<Item = &Condition> {
        self.of_rows.iter().filter_map(|place| self.all.get(*place))
    }

    /// The result for a row of a delta; [`Truth::False`] rows are dropped.
    pub(crate) fn of_row(&self, table: &StoredTable, key: &[u8], row: &StoredRow) -> Result<Truth, TableError> {
        let mut all = Truth::True;
        for condition in self.of_rows() {
            let place = (condition.family, condition.slot);
            match recent_slot(table, key, row, place, |slot| condition.of_slot(slot))? {
                Truth::True => {}
                Truth::Unknown if self.unknown == Truth::Unknown => all = Truth::Unknown,
                Truth::Unknown | Truth::False => return Ok(Truth::False),
            }
        }
        Ok(all)
    }

    /// Removes the rows that fail from a selection of a block's rows. Nothing is read for conditions that the summary
    /// decides.
    pub(crate) fn keep(
        &self,
        block: &Arc<BlockRef>,
        parts: &mut BlockParts,
        selection: &mut Selection,
    ) -> Result<(), TableError> {
        parts.turn_to(block);
        for condition in self.of_rows() {
            match condition.of_summary(&block.summary, self.unknown) {
                Some(Truth::True) => continue,
                Some(Truth::False) => selection.clear(),
                Some(Truth::Unknown) | None => {}
            }
            if selection.is_empty() {
                return Ok(());
            }
            let (fix, var) = parts.both(block, condition.family, condition.reads_texts())?;
            let Some(stored) = fix.and_then(|fix| StoredColumn::of(fix, var, condition.slot)) else {
                selection.keep_all_as(match condition.absent() {
                    Truth::Unknown => self.unknown,
                    known => known,
                });
                continue;
            };
            let kept =
                selection.keep_with(|rows, mask, scratch| condition.keep(&stored, rows, self.unknown, mask, scratch));
            kept.ok_or_else(|| block.damaged("a value"))?;
        }
        Ok(())
    }
}

/// Whether computing an expression over some row could be an error; may be true for one that never fails.
fn may_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(..) | Expr::Column(_) => false,
        Expr::Compare(_, a, b) => may_fail(a) || may_fail(b),
        Expr::And(list) | Expr::Or(list) => list.iter().any(may_fail),
        Expr::Not(inner) | Expr::IsNull(inner) | Expr::IsTruth(inner, _) => may_fail(inner),
        Expr::InList(value, list) => may_fail(value) || list.iter().any(may_fail),
        // A pattern that is a literal was read when the expression was built.
        Expr::Like { text, pattern, .. } => {
            may_fail(text) || !matches!(**pattern, Expr::Literal(_, SqlType::Char(_) | SqlType::Varchar(_)))
        }
        _ => true,
    }
}
