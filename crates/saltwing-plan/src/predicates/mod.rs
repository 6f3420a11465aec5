//! Forms of conditions, one file each: what boxes of key values a condition means.
//!
//! Every form answers one question about an expression and a [`TruthSet`]: which boxes hold all the rows for which it has
//! one of the wanted outcomes? WHERE wants TRUE; NOT exchanges TRUE and FALSE on the way down, so three-valued logic is
//! right by construction: a row for which `NOT (a = 5)` is unknown is in no box of its FALSE.
//!
//! A form that is not here (or has no key column in it) is covered by
//! everything, loosely: it stays in the residual filter. Adding a form is adding a file and
//! one arm in [`CoverBuilder::cover`].

mod boolean;
mod branches;
mod compare;
mod constant;
mod in_list;
mod key_function;
mod like;
mod null;
mod open_comparison;
mod prefix;
mod regexp;
mod row_value;
mod text_of_key;
mod truth_set;

use std::cell::Cell;

pub use compare::compared_column;
pub(crate) use prefix::TextPrefix;
use saltwing_types::function::KeyProperty;
use saltwing_types::{Expr, interrupt};
pub(crate) use truth_set::TruthSet;
#[cfg(test)]
pub(crate) use {compare::satisfying, open_comparison::OpenComparison};

use crate::column_set::ColumnSet;
use crate::cover::{Cover, Fit};
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::value_set::ValueSet;

/// Steps of reading a condition that are not counted against its size.
const STEPS_FREE: usize = 1_000;

/// Most steps for each part of a larger condition.
const STEPS_OF_PART_MAX: usize = 8;

/// Reads a condition as boxes over the columns of one key.
pub(crate) struct CoverBuilder<'a> {
    space: &'a KeySpace<'a>,
    condition: &'a Expr,
    steps: Cell<usize>,
    steps_max: Cell<usize>,
}

impl<'a> CoverBuilder<'a> {
    /// The boxes in which the condition is TRUE.
    pub(crate) fn holds(condition: &'a Expr, space: &'a KeySpace<'a>) -> Cover {
        let builder = Self { space, condition, steps: Cell::new(0), steps_max: Cell::new(STEPS_FREE) };
        builder.cover(condition, TruthSet::TRUE)
    }

    /// Counts a step; whether there may be another one. Some forms ask their operands several times, so conditions inside each
    /// other would take exponential time.
    fn may_go_on(&self) -> bool {
        if interrupt::spend(1).is_err() {
            return false;
        }
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps > STEPS_FREE && self.steps_max.get() == STEPS_FREE {
            let mut parts = 0;
            self.condition.walk(&mut |_| parts += 1);
            self.steps_max.set(STEPS_FREE + parts * STEPS_OF_PART_MAX);
        }
        steps <= self.steps_max.get()
    }

    /// The boxes in which `expr` has a wanted outcome.
    fn cover(&self, expr: &Expr, want: TruthSet) -> Cover {
        match (want.yes, want.no, want.unknown) {
            (true, true, true) => return Cover::everything(),
            (false, false, false) => return Cover::nothing(),
            _ if !self.may_go_on() => return Cover::unknown(),
            _ => {}
        }
        if let Some(cover) = constant::cover(expr, want) {
            return cover;
        }
        match expr {
            Expr::And(list) => self.and(list, want),
            Expr::Or(list) => self.or(list, want),
            Expr::Not(inner) => self.cover(inner, want.swapped()),
            Expr::IsTruth(inner, truth) => self.is_truth(inner, *truth, want),
            Expr::IsNull(inner) => self.is_null(inner, want),
            Expr::Column(column) => self.boolean_column(column, want),
            Expr::Compare(op, a, b) => self.compare(*op, a, b, want),
            Expr::RowCompare(op, a, b) => self.row_compare(*op, a, b, want),
            Expr::InList(e, list) => self.in_list(e, list, want),
            Expr::RowInList(row, rows) => self.row_in_list(row, rows, want),
            Expr::Like { .. } => self.like(expr, want),
            Expr::Call(function, args, _) => match function.key_property {
                KeyProperty::StartsWith => self.starts_with(expr, args, want),
                KeyProperty::Matches => self.regexp(expr, args, want),
                KeyProperty::ComparesWithAny => self.any_element(args, want),
                _ => self.over_branches(expr, want, &Expr::clone).unwrap_or_else(Cover::unknown),
            },
            Expr::Case { .. } => self.over_branches(expr, want, &Expr::clone).unwrap_or_else(Cover::unknown),
            _ => Cover::unknown(),
        }
    }

    /// A cover of a test on one key column: the union of the sets that are wanted.
    fn column_cover(&self, position: usize, want: TruthSet, outcomes: Outcomes<'_>) -> Cover {
        let domain = self.space.domain(position);
        let mut sets = Vec::with_capacity(2);
        if want.yes {
            sets.push((outcomes.yes)());
        }
        if want.no {
            sets.push((outcomes.no)());
        }
        if want.unknown {
            sets.push((outcomes.unknown)());
        }
        let all = match <[ColumnSet; 1]>::try_from(sets) {
            Ok([one]) => one,
            Err(sets) => ColumnSet::union(&sets, domain),
        };
        let fit = match (outcomes.doubt)(&all) {
            None => Fit::Loose,
            Some(doubt) if doubt.is_empty() => Fit::Exact,
            Some(doubt) if doubt.is_full(domain) => Fit::Loose,
            Some(doubt) => Fit::ExactOutside(vec![KeyBox::column(position, doubt.into())]),
        };
        Cover::column(position, all, fit, self.space)
    }
}

/// The sets of one column's values, NULL too, for which a test is TRUE, FALSE
/// and unknown; each is made when it is wanted.
struct Outcomes<'f> {
    yes: &'f dyn Fn() -> ColumnSet,
    no: &'f dyn Fn() -> ColumnSet,
    unknown: &'f dyn Fn() -> ColumnSet,
    /// Of the set made of the wanted ones those values for which the test may fail; `None`
    /// where any of them may have another outcome.
    doubt: &'f dyn Fn(&ColumnSet) -> Option<ValueSet>,
}
