//! `COALESCE`, `CASE` and so `NULLIF`: a test of a value that is one of several.
//!
//! ```text
//! coalesce(a, 'x') = 'h'   is   (a IS NOT NULL AND a = 'h') OR (a IS NULL AND 'x' = 'h')
//! nullif(a, 'x') = 'h'     is   (a = 'x' is true AND NULL = 'h') OR (a = 'x' is not true AND a = 'h')
//! ```
//!
//! Exactly one branch is taken for each row, so the boxes of a test's outcome are the union over the branches of the
//! boxes in which the branch is taken and its own value has that outcome. This holds for each outcome, unknown too.

use saltwing_types::function::Evaluation;
use saltwing_types::{CompareOp, Expr, SqlType, Value};

use crate::cover::Cover;
use crate::predicates::constant::Constant;
use crate::predicates::{CoverBuilder, TruthSet};

/// Maximum of branches, nested values included: each costs an intersection with the earlier ones, and nesting
/// multiplies them.
const BRANCHES_MAX: usize = 8;
/// Most values of several branches inside each other or side by side.
const NESTED_MAX: usize = 3;

/// A branch: the tests before it with the outcomes that lead here, and the value.
struct Branch<'e> {
    taken: Vec<(Expr, TruthSet)>,
    value: &'e Expr,
}

impl CoverBuilder<'_> {
    /// The cover of a test on the value of `e`, where that is one of several; `None` where it is not, or of too many.
    pub(super) fn over_branches(&self, e: &Expr, want: TruthSet, test: &dyn Fn(&Expr) -> Expr) -> Option<Cover> {
        let branches = branches(e)?;
        let covers = branches.iter().map(|branch| {
            let taken = branch.taken.iter().map(|(condition, want)| self.cover(condition, *want));
            let own = std::iter::once(self.cover(&test(branch.value), want));
            Cover::intersect_all(taken.chain(own), self.space)
        });
        Some(Cover::union(covers, self.space))
    }

    /// A condition compared with TRUE, FALSE or NULL.
    pub(super) fn compare_condition(
        &self,
        op: CompareOp,
        e: &Expr,
        constant: &Constant,
        want: TruthSet,
    ) -> Option<Cover> {
        let is_condition = e.sql_type() == Some(SqlType::Boolean) && !matches!(e, Expr::Column(_) | Expr::Cast(..));
        let constant = match constant {
            Constant::Value { value: Value::Bool(value), .. } => Some(*value),
            Constant::Null => None,
            _ => return None,
        };
        let wanted = |outcome| want.has(compared(op, outcome, constant));
        let meant = TruthSet { yes: wanted(Some(true)), no: wanted(Some(false)), unknown: wanted(None) };
        is_condition.then(|| self.cover(e, meant))
    }
}

/// The outcome of a comparison of two conditions' outcomes.
fn compared(op: CompareOp, a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match op {
        CompareOp::NotDistinct => Some(a == b),
        CompareOp::Distinct => Some(a != b),
        _ => Some(op.holds(a?.cmp(&b?))),
    }
}

/// The values, of which the first one that is not NULL is taken.
fn alternatives(e: &Expr) -> Option<&[Expr]> {
    match e {
        Expr::Call(function, args, _) if matches!(function.evaluation, Evaluation::FirstNotNull) => Some(args),
        _ => None,
    }
}

/// The branches of a value, if it is one of several and they are few.
fn branches(e: &Expr) -> Option<Vec<Branch<'_>>> {
    let (mut nested, mut count) = (0, 0);
    let mut look = |e: &Expr| match e {
        Expr::Case { whens, .. } => (nested, count) = (nested + 1, count + whens.len() + 1),
        e => {
            if let Some(args) = alternatives(e) {
                (nested, count) = (nested + 1, count + args.len());
            }
        }
    };
    if !matches!(e, Expr::Case { .. }) && alternatives(e).is_none() {
        return None;
    }
    e.walk(&mut look);
    if nested > NESTED_MAX || count > BRANCHES_MAX {
        return None;
    }
    let mut taken: Vec<(Expr, TruthSet)> = Vec::new();
    let mut branches = Vec::with_capacity(count);
    let mut add = |condition: Expr, value| {
        let mut here = taken.clone();
        here.push((condition.clone(), TruthSet::TRUE));
        branches.push(Branch { taken: here, value });
        taken.push((condition, TruthSet::TRUE.complement()));
    };
    let last = match e {
        Expr::Case { whens, otherwise, .. } => {
            whens.iter().for_each(|(condition, value)| add(condition.clone(), value));
            otherwise.as_deref().unwrap_or(&Expr::NULL)
        }
        e => {
            let (last, before) = alternatives(e)?.split_last()?;
            before.iter().for_each(|arg| add(Expr::Not(Box::new(Expr::IsNull(Box::new(arg.clone())))), arg));
            last
        }
    };
    branches.push(Branch { taken, value: last });
    Some(branches)
}
