//! Row values: `(a, b) > (1, 2)`, `(a, b) = (1, 2)`, `(a, b) IN ((1, 2), (3, 4))`.
//!
//! An order on rows is lexicographic in *values*, regardless of the directions of the key columns, so it becomes one
//! box for each column that may decide:
//!
//! ```text
//! (a, b, c) > (1, 2, 3)   =   a > 1   or   a = 1 and b > 2   or   a = 1 and b = 2 and c > 3
//! ```
//!
//! Their byte ranges touch where directions agree, and are merged there. A pair
//! that has no key column in it ends the expansion, loosely: `(a, v) > (1, 2)` is covered by `a >= 1`.

use saltwing_types::{CompareOp, Expr, Value};

use crate::cover::{Cover, Fit};
use crate::key_box::KeyBox;
use crate::literal_position::LiteralPosition;
use crate::predicates::constant::Constant;
use crate::predicates::{CoverBuilder, TruthSet};
use crate::row_list::RowList;

impl CoverBuilder<'_> {
    pub(super) fn row_compare(&self, op: CompareOp, a: &[Expr], b: &[Expr], want: TruthSet) -> Cover {
        let pairs: Vec<(&Expr, &Expr)> = a.iter().zip(b).collect();
        if op.is_ordering() {
            let mut parts = Vec::new();
            if want.yes {
                parts.push(self.row_order(op, &pairs));
            }
            // FALSE where the opposite order is TRUE: an unknown pair makes both unknown.
            if want.no {
                parts.push(self.row_order(op.negated(), &pairs));
            }
            if want.unknown {
                parts.push(self.row_order_unknown(&pairs));
            }
            return Cover::union(parts, self.space);
        }
        match op {
            CompareOp::Eq => self.row_equal(&pairs, want),
            CompareOp::NotEq => self.row_equal(&pairs, want.swapped()),
            _ => Cover::unknown(),
        }
    }

    pub(super) fn row_in_list(&self, row: &[Expr], rows: &[Vec<Expr>], want: TruthSet) -> Cover {
        if want == TruthSet::TRUE
            && let Some(cover) = self.row_in_constants(row, rows)
        {
            return cover;
        }
        self.any_of(rows, want, &|other, want| {
            let pairs: Vec<(&Expr, &Expr)> = row.iter().zip(other).collect();
            self.row_equal(&pairs, want)
        })
    }

    /// The short way for key columns in rows of constants that are values of them, which lists of many rows are.
    fn row_in_constants(&self, row: &[Expr], rows: &[Vec<Expr>]) -> Option<Cover> {
        let columns: Vec<usize> = row.iter().map(|e| self.key_column(e)).collect::<Option<_>>()?;
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|i| columns.get(*i));
        if order.windows(2).any(|pair| matches!(pair, [a, b] if columns.get(*a) == columns.get(*b))) {
            return None;
        }
        let mut found = Vec::with_capacity(rows.len());
        for other in rows {
            let mut values = Vec::with_capacity(columns.len());
            for i in &order {
                let (position, constant) = (*columns.get(*i)?, Constant::of(other.get(*i)?)?);
                match constant.place(self.space.domain(position))? {
                    LiteralPosition::At(value) => values.push(value),
                    LiteralPosition::Gap(_) => {}
                    _ => return None,
                }
            }
            // A constant in a gap equals no value, and its row none.
            if values.len() == columns.len() {
                found.push(values);
            }
        }
        let positions: Vec<usize> = order.iter().filter_map(|i| columns.get(*i).copied()).collect();
        Some(self.rows_cover(&positions, found))
    }

    /// The rows whose columns at these positions, ascending, have one of these rows of values.
    fn rows_cover(&self, positions: &[usize], rows: Vec<Vec<Value>>) -> Cover {
        // Computed parts follow single boxes; and columns further back may be no lists in the end, where boxes are closer.
        let leads = positions.iter().copied().eq(0..positions.len()) && self.space.parts().is_empty();
        let rows = match leads && rows.len() > 1 {
            true => match KeyBox::of_rows(RowList::new(rows, self.space), self.space) {
                Ok(key_box) => return Cover { boxes: vec![key_box], fit: Fit::Exact },
                Err(list) => list.into_rows(),
            },
            false => rows,
        };
        let point = |row: Vec<Value>| KeyBox::point(positions.iter().copied().zip(row).collect(), self.space);
        Cover::of_boxes(rows.into_iter().map(point).collect(), self.space)
    }

    /// Equality of rows is the AND of the equality of their pairs.
    fn row_equal(&self, pairs: &[(&Expr, &Expr)], want: TruthSet) -> Cover {
        if want == TruthSet::FALSE {
            return self.row_differs(pairs);
        }
        let differs = |pair: &(&Expr, &Expr), want| self.pair(CompareOp::NotEq, *pair, want);
        self.any_of(pairs, want.swapped(), &differs)
    }

    /// The rows with a pair that is known to differ, each by its first such pair, so that the boxes are disjoint.
    ///
    /// ```text
    /// (a, b) <> (1, 2)   =   a <> 1   or   a = 1 (or NULL) and b <> 2
    /// ```
    fn row_differs(&self, pairs: &[(&Expr, &Expr)]) -> Cover {
        self.by_first_pair(
            pairs,
            |_| (CompareOp::NotEq, TruthSet::TRUE),
            (CompareOp::NotEq, TruthSet::TRUE.complement()),
        )
    }

    /// The rows for which the order holds.
    fn row_order(&self, op: CompareOp, pairs: &[(&Expr, &Expr)]) -> Cover {
        let last = pairs.len().saturating_sub(1);
        let test = |pair| (if pair == last { op } else { op.strict() }, TruthSet::TRUE);
        self.by_first_pair(pairs, test, (CompareOp::Eq, TruthSet::TRUE))
    }

    /// The rows for which an order is unknown: the first pair that is not equal is.
    fn row_order_unknown(&self, pairs: &[(&Expr, &Expr)]) -> Cover {
        self.by_first_pair(pairs, |_| (CompareOp::Eq, TruthSet::UNKNOWN), (CompareOp::Eq, TruthSet::TRUE))
    }

    /// The rows with a pair that passes its test, where all pairs before it pass the test `before`.
    fn by_first_pair(
        &self,
        pairs: &[(&Expr, &Expr)],
        test: impl Fn(usize) -> (CompareOp, TruthSet),
        before: (CompareOp, TruthSet),
    ) -> Cover {
        let mut rows_before = Cover::everything();
        let mut terms = Vec::with_capacity(pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let (op, want) = test(index);
            let passed = self.pair(op, *pair, want);
            let opaque = passed.fit == Fit::Loose && passed.is_full();
            terms.push(rows_before.intersect(&passed, self.space));
            // An opaque pair holds all that the later pairs could add.
            if opaque || rows_before.boxes.is_empty() {
                break;
            }
            rows_before = rows_before.intersect(&self.pair(before.0, *pair, before.1), self.space);
        }
        Cover::union(terms, self.space)
    }

    /// A comparison of one pair; pairs of constants are decided here.
    fn pair(&self, op: CompareOp, (a, b): (&Expr, &Expr), want: TruthSet) -> Cover {
        if a.is_constant() && b.is_constant() {
            return self.cover(&Expr::Compare(op, Box::new(a.clone()), Box::new(b.clone())), want);
        }
        self.compare(op, a, b, want)
    }
}
