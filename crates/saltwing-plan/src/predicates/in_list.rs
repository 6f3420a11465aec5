//! `IN` and, under NOT, `NOT IN`.

use saltwing_types::{CompareOp, Expr, Value};

use crate::column_set::ColumnSet;
use crate::cover::Cover;
use crate::predicates::compare::bounds;
use crate::predicates::constant::{Constant, marked};
use crate::predicates::key_function::KeyFunction;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};

impl CoverBuilder<'_> {
    /// `e IN (..)` is the OR of `e = item`. Over a key column, or a function of one, and constants it is
    /// one set, however long the list is.
    pub(super) fn in_list(&self, e: &Expr, list: &[Expr], want: TruthSet) -> Cover {
        if let Some(subject) = self.subject(e)
            && let Some(constants) = list.iter().map(Constant::of).collect::<Option<Vec<_>>>()
            && let Some(cover) = self.in_constants(&subject, &constants, want)
        {
            return cover;
        }
        let tested = |value: &Expr| Expr::InList(Box::new(value.clone()), list.to_vec());
        if list.iter().all(Expr::is_constant)
            && let Some(cover) = self.over_branches(e, want, &tested)
        {
            return cover;
        }
        self.any_of(list, want, &|item, want| self.compare(CompareOp::Eq, e, item, want))
    }

    /// `e = ANY(?)` is IN over the elements of an array that is not known yet; for judging, one unknown element is as good as
    /// several. Over a known array it has become IN before.
    pub(super) fn any_element(&self, args: &[Expr], want: TruthSet) -> Cover {
        match args {
            [e, Expr::Literal(Value::Text(op), _), array @ Expr::Param(..)] if op == CompareOp::Eq.as_str() => {
                self.in_list(e, std::slice::from_ref(array), want)
            }
            _ => Cover::unknown(),
        }
    }

    fn in_constants(&self, subject: &KeyFunction, constants: &[Constant], want: TruthSet) -> Option<Cover> {
        let position = subject.position;
        let domain = self.space.domain(position);
        if !bounds(domain, CompareOp::Eq, want) {
            return None;
        }
        if constants.is_empty() {
            return Some(if want.no { Cover::everything() } else { Cover::nothing() });
        }
        let (mut values, mut others) = (Vec::with_capacity(constants.len()), Vec::new());
        let (mut has_null, mut unknown) = (false, false);
        for constant in constants {
            if matches!(constant, Constant::Null) {
                has_null = true;
                continue;
            }
            let located = subject.locate(CompareOp::Eq, constant, domain)?;
            unknown |= located.made_up;
            match located.as_value() {
                Some(value) => values.push(value.clone()),
                None => others.push(located),
            }
        }
        let equal: Vec<ColumnSet> = others.iter().map(|place| place.satisfying(CompareOp::Eq, domain)).collect();
        let points = ColumnSet::points(values, domain);
        let found = || marked(ColumnSet::union(equal.iter().chain([&points]), domain), unknown);
        // Values that may be equal may also differ, if the position is approximate.
        let missing = || {
            let surely = equal
                .iter()
                .zip(&others)
                .filter(|(set, place)| place.doubt(CompareOp::Eq, set, domain).is_some_and(|doubt| doubt.is_empty()));
            let surely = ColumnSet::union(surely.map(|(set, _)| set).chain([&points]), domain);
            marked(surely.complement(domain).without_null(), unknown)
        };
        let outcomes = Outcomes {
            yes: &found,
            no: &|| if has_null { ColumnSet::EMPTY } else { missing() },
            unknown: &|| {
                let null = ColumnSet::null(domain);
                if has_null { ColumnSet::union([&missing(), &null], domain) } else { null }
            },
            doubt: &|set| {
                let doubts = others.iter().map(|place| place.doubt(CompareOp::Eq, set, domain));
                Some(ColumnSet::union(&doubts.collect::<Option<Vec<_>>>()?, domain))
            },
        };
        Some(self.column_cover(position, want, outcomes))
    }
}
