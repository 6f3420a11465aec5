//! `IN` and, under NOT, `NOT IN`.

use saltwing_types::{CompareOp, Expr, SqlType, Value};

use crate::column_set::ColumnSet;
use crate::cover::{Cover, Fit};
use crate::predicates::compare::bounds;
use crate::predicates::constant::Constant;
use crate::predicates::key_function::KeyFunction;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};
use crate::shape::Shape;
use crate::value_set::ValueSet;

impl CoverBuilder<'_> {
    /// `e IN (..)` is the OR of `e = item`. Over a key column, or a function of one, and constants it is
    /// one set, however long the list is.
    pub(super) fn in_list(&self, e: &Expr, list: &[Expr], want: TruthSet) -> Cover {
        if let Some(subject) = self.subject(e)
            && let Some(constants) = list.iter().map(Constant::of).collect::<Option<Vec<_>>>()
            && let Some(cover) = self.in_constants((e, &subject), list, &constants, want)
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

    /// `e = ANY(?)` is IN over the elements of an array that is not known yet. Over a known array it has become IN before.
    pub(super) fn any_element(&self, args: &[Expr], want: TruthSet) -> Cover {
        let [e, Expr::Literal(Value::Text(op), _), array @ Expr::Param(_, ty)] = args else { return Cover::unknown() };
        // An element may be NULL: then the test is FALSE for no value.
        if op != CompareOp::Eq.as_str() || want != TruthSet::TRUE {
            return Cover::unknown();
        }
        let element = Constant::Open(ty.and_then(SqlType::element));
        let Some(subject) = self.subject(e) else { return Cover::unknown() };
        let domain = self.space.domain(subject.position);
        let Some(one) = subject.open_comparison(CompareOp::Eq, &element, domain) else {
            return Cover::unknown();
        };
        let shape = match one.equal {
            Some(_) => Shape::points(usize::MAX),
            None => Shape::BETWEEN.or(Shape::BETWEEN),
        };
        let test = Expr::Compare(CompareOp::Eq, Box::new(e.clone()), Box::new(array.clone()));
        let fit = if one.failing.is_some() { Fit::Exact } else { Fit::Loose };
        Cover::column(subject.position, ColumnSet::of_test(test, shape), fit, self.space)
    }

    fn in_constants(
        &self,
        (e, subject): (&Expr, &KeyFunction),
        list: &[Expr],
        constants: &[Constant],
        want: TruthSet,
    ) -> Option<Cover> {
        let position = subject.position;
        let domain = self.space.domain(position);
        if !bounds(domain, CompareOp::Eq, want) {
            return None;
        }
        if constants.is_empty() {
            return Some(if want.no { Cover::everything() } else { Cover::nothing() });
        }
        let (mut values, mut others) = (Vec::with_capacity(constants.len()), Vec::new());
        let (mut open, mut has_null) = (Vec::new(), false);
        for (item, constant) in list.iter().zip(constants) {
            if matches!(constant, Constant::Null) {
                has_null = true;
                continue;
            }
            if let Some(comparison) = subject.open_comparison(CompareOp::Eq, constant, domain) {
                open.push((item, comparison));
                continue;
            }
            let located = subject.locate(CompareOp::Eq, constant, domain)?;
            match located.as_value() {
                Some(value) => values.push(value.clone()),
                None => others.push(located),
            }
        }
        let equal: Vec<ValueSet> = others.iter().map(|place| place.satisfying(CompareOp::Eq, domain)).collect();
        let points = ValueSet::points(values, domain);
        // With those that compare so with what is not known yet.
        let with_open = |known: ValueSet, op| {
            let open = open.iter().map(|(item, comparison)| comparison.satisfying(op, e, item, domain));
            std::iter::once(ColumnSet::from(known)).chain(open).collect::<Vec<_>>()
        };
        let found = || {
            let known = ValueSet::union(equal.iter().chain([&points]), domain);
            ColumnSet::union(&with_open(known, CompareOp::Eq), domain)
        };
        // Values that may be equal may also differ, if the position is approximate.
        let missing = || {
            let surely = equal.iter().zip(&others).filter(|(set, place)| {
                let doubt = place.doubt(CompareOp::Eq, &(*set).clone().into(), domain);
                doubt.is_some_and(|doubt| doubt.is_empty())
            });
            let surely = ValueSet::union(surely.map(|(set, _)| set).chain([&points]), domain);
            let known = surely.complement(domain).without_null();
            ColumnSet::intersect_all(&with_open(known, CompareOp::NotEq), domain)
        };
        let outcomes = Outcomes {
            yes: &found,
            no: &|| if has_null { ValueSet::EMPTY.into() } else { missing() },
            unknown: &|| {
                let null = ColumnSet::from(ValueSet::null(domain));
                if has_null { ColumnSet::union([&missing(), &null], domain) } else { null }
            },
            doubt: &|set| {
                let known = others.iter().map(|place| place.doubt(CompareOp::Eq, set, domain));
                let open = open.iter().map(|(_, comparison)| comparison.doubt(set, domain));
                Some(ValueSet::union(&known.chain(open).collect::<Option<Vec<_>>>()?, domain))
            },
        };
        Some(self.column_cover(position, want, outcomes))
    }
}
