use std::ops::Bound;

use proptest::prelude::*;
use saltwing_types::{ColumnRef, CompareOp, SqlType};

use super::*;
use crate::literal_position::LiteralPosition;
use crate::predicates::{OpenComparison, satisfying};
use crate::value_set::tests::{domains, set};

const OPS: [CompareOp; 8] = [
    CompareOp::Eq,
    CompareOp::NotEq,
    CompareOp::Lt,
    CompareOp::LtEq,
    CompareOp::Gt,
    CompareOp::GtEq,
    CompareOp::Distinct,
    CompareOp::NotDistinct,
];

/// A set with parameters, and what it is with these values for them.
fn opened(choices: &[usize], domain: &Domain, values: &[Value]) -> (ColumnSet, ValueSet) {
    let column = ColumnRef { index: 0, name: "k".into(), ty: domain.ty(), nullable: true, span: None };
    let mut all = (ColumnSet::from(ValueSet::full(domain)), ValueSet::full(domain));
    for chunk in choices.chunks(4) {
        let [kind, a, b, c] = *chunk else { continue };
        let part = match kind % 4 {
            0 => {
                let known = set(&[a, b, c], domain, values);
                (known.clone().into(), known)
            }
            _ => {
                let (op, index) = (OPS[a % OPS.len()], b % values.len());
                let side = Expr::Column(column.clone());
                let open = OpenComparison::POINT.satisfying(op, &side, &Expr::Param(index, None), domain);
                (open, satisfying(op, &LiteralPosition::At(values[index].clone()), domain))
            }
        };
        all = match c % 3 {
            0 => (ColumnSet::union([&all.0, &part.0], domain), ValueSet::union([&all.1, &part.1], domain)),
            _ => (all.0.intersect(&part.0, domain), all.1.intersect(&part.1, domain)),
        };
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 8, ..ProptestConfig::default() })]

    /// The laws of shapes, and those of sets that are not known yet.
    #[test]
    fn values_keep_to_the_shape(
        which in 0usize..5,
        a in prop::collection::vec(0usize..40, 0..20),
        b in prop::collection::vec(0usize..40, 0..20),
    ) {
        let (domain, values) = domains().swap_remove(which);
        let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
        let is_end = |value: &&Value| {
            domain.is_extreme(value, domain.min()) || domain.is_extreme(value, domain.max())
        };
        let inner: Vec<Value> = values.iter().filter(|value| !is_end(value)).cloned().collect();
        // Of BOOLEAN all values are at an end.
        let has_inner = !inner.is_empty();
        let params = if has_inner { &inner } else { &values };
        let (a, b) = (opened(&a, &domain, params), opened(&b, &domain, params));
        let is_within = |a: &ValueSet, b: &ValueSet| a.is_within(b, &domain);
        prop_assert!(!a.0.is_within(&b.0, &domain) || is_within(&a.1, &b.1), "{:?} in {:?}", a, b);
        prop_assert!(a.0.is_within(&a.0, &domain));
        let both = a.0.intersect(&b.0, &domain);
        if both.is_open() && a.0.is_open() {
            prop_assert!(both.is_within(&a.0, &domain), "{:?} in {:?}", both, a.0);
        }
        let (open, known) = a;
        let shown = format!("{open:?}\n{known:?}");
        prop_assert!(!open.is_empty() || known.is_empty(), "{}", shown);
        prop_assert!(!open.is_full(&domain) || known.is_full(&domain), "{}", shown);
        prop_assert!(open.has_null() || !known.has_null(), "{}", shown);
        for value in &values {
            prop_assert!(open.may_hold(value, &domain) || !known.contains(value, &domain), "{:?}: {}", value, shown);
        }
        let count = known.is_list(&domain).then(|| known.spans().len() + usize::from(known.has_null()));
        if let Some(most) = open.point_count(&domain) {
            prop_assert!(count.is_some_and(|count| count <= most), "{}", shown);
        }
        if has_inner && !known.is_empty() {
            prop_assert!(!open.bounds(&domain) || known.bounds(&domain), "{}", shown);
            let (low, high, is_one) = open.shape(&domain).spread.ends();
            let (first, last) = (known.spans().first(), known.spans().last());
            prop_assert!(low == Bound::Unbounded || first.is_none_or(|span| span.lo != Cut::Low), "{}", shown);
            prop_assert!(high == Bound::Unbounded || last.is_none_or(|span| span.hi != Cut::High), "{}", shown);
            prop_assert!(!is_one || known.spans().len() <= 1 || open.point_count(&domain).is_some(), "{}", shown);
        }
    }

    #[test]
    fn an_entry_has_the_bytes_of_null_for_empty_texts(a in prop::collection::vec(0usize..40, 0..20)) {
        let key = saltwing_types::KeyColumn {
            source: saltwing_types::KeySource::Column(0),
            name: "k".into(),
            ty: SqlType::Varchar(None),
            order: saltwing_types::SortOrder::Asc,
            nullable: true,
        };
        let (apart, empty) = (Domain::of_index(&key, key.ty, false), Value::text(""));
        let values = ["", "a", "ab", "b"].map(Value::text);
        let (open, known) = opened(&a, &apart, &values);
        let ((open, is_same), (known, known_is_same)) =
            (open.with_empty_as_null(&empty, &apart), known.with_empty_as_null(&empty, &apart));
        prop_assert!(!is_same || known_is_same, "{:?}\n{:?}", open, known);
        prop_assert!(open.has_null() || !known.has_null(), "{:?}\n{:?}", open, known);
    }
}

/// What was made of made-up values before: contradictions and equals among them say nothing of the real ones.
#[test]
fn different_parameters_are_different_values() {
    let (domain, _) = domains().swap_remove(0);
    let column = Expr::Column(ColumnRef { index: 0, name: "k".into(), ty: domain.ty(), nullable: false, span: None });
    let of = |op, index| OpenComparison::POINT.satisfying(op, &column, &Expr::Param(index, None), &domain);
    let between = of(CompareOp::Gt, 0).intersect(&of(CompareOp::LtEq, 1), &domain);
    assert!(!between.is_single(&domain) && !between.is_empty() && between.bounds(&domain));
    assert!(between.is_within(&of(CompareOp::Gt, 0), &domain) && !between.is_within(&of(CompareOp::Gt, 1), &domain));
    let (one, other) = (of(CompareOp::Eq, 0), of(CompareOp::Eq, 1));
    assert_eq!(ColumnSet::union([&one, &other], &domain).point_count(&domain), Some(2));
    assert_eq!(ColumnSet::union([&one, &of(CompareOp::Eq, 0)], &domain).point_count(&domain), Some(1));
    assert!(one.intersect(&other, &domain).is_within(&other, &domain));
    assert!(ColumnSet::from(ValueSet::null(&domain)).intersect(&one, &domain).is_empty());
}
