use proptest::prelude::*;
use saltwing_types::{KeyColumn, KeySource, SortOrder, SqlType};

use super::*;

fn domain(ty: SqlType, nullable: bool) -> Domain {
    let key = KeyColumn { source: KeySource::Column(0), name: "k".into(), ty, order: SortOrder::Asc, nullable };
    Domain::new(&key, ty, false)
}

/// Domains small enough to try every value, each with its values.
pub(crate) fn domains() -> Vec<(Domain, Vec<Value>)> {
    let texts = ["", "\u{1}", "a", "a\u{1}", "ab", "b", "é", "\u{10ffff}"].map(Value::text);
    let ints = [-128, -127, -1, 0, 1, 2, 3, 126, 127].map(Value::Int);
    let floats = [f64::NEG_INFINITY, -1.5, 0.0, 0.1, f64::INFINITY, f64::NAN].map(Value::Double);
    let texts_not_empty = texts.iter().skip(1).cloned().chain([Value::Null]).collect();
    vec![
        (domain(SqlType::TinyInt, false), ints.to_vec()),
        (domain(SqlType::Boolean, false), vec![Value::Bool(false), Value::Bool(true)]),
        (domain(SqlType::Varchar(None), false), texts.to_vec()),
        (domain(SqlType::Varchar(None), true), texts_not_empty),
        (domain(SqlType::Double, false), floats.to_vec()),
    ]
}

fn cut(values: &[Value], choice: usize) -> Cut {
    let value = values.iter().filter(|v| !v.is_null()).nth(choice / 4 % values.len()).unwrap_or(&values[0]).clone();
    match choice % 4 {
        0 => Cut::Before(value),
        1 => Cut::After(value),
        2 => Cut::Low,
        _ => Cut::High,
    }
}

/// A set made of ranges, points and perhaps NULL.
pub(crate) fn set(choices: &[usize], domain: &Domain, values: &[Value]) -> ValueSet {
    let parts = choices.chunks(3).map(|chunk| match chunk {
        [0..3, a, _] => ValueSet::points(vec![values[a % values.len()].clone()], domain),
        [3, ..] => ValueSet::null(domain),
        [_, a, b] => ValueSet::between(cut(values, *a), cut(values, *b), domain),
        _ => ValueSet::EMPTY,
    });
    let parts: Vec<ValueSet> = parts.collect();
    let parts: Vec<ValueSet> =
        parts.into_iter().filter(|part| !part.spans.iter().any(|s| s.contains(&Value::Null, domain))).collect();
    ValueSet::union(&parts, domain)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 2, ..ProptestConfig::default() })]

    #[test]
    fn sets_are_sets(
        which in 0usize..5,
        a in prop::collection::vec(0usize..40, 0..15),
        b in prop::collection::vec(0usize..40, 0..15),
    ) {
        let (domain, values) = domains().swap_remove(which);
        let values_not_null: Vec<Value> = values.iter().filter(|v| !v.is_null()).cloned().collect();
        let (a, b) = (set(&a, &domain, &values_not_null), set(&b, &domain, &values_not_null));
        let union = ValueSet::union([&a, &b], &domain);
        let both = a.intersect(&b, &domain);
        let rest = a.complement(&domain);
        for value in &values {
            let (in_a, in_b) = (a.contains(value, &domain), b.contains(value, &domain));
            prop_assert_eq!(union.contains(value, &domain), in_a || in_b, "{:?}", value);
            prop_assert_eq!(both.contains(value, &domain), in_a && in_b, "{:?}", value);
            prop_assert_eq!(rest.contains(value, &domain), !in_a, "{:?}", value);
            prop_assert!(!a.is_within(&b, &domain) || !in_a || in_b, "{:?}", value);
        }
        // Sets built from a and b are related as sets are, and the order shows it.
        prop_assert!(both.is_within(&a, &domain) && both.is_within(&b, &domain));
        prop_assert!(a.is_within(&union, &domain) && b.is_within(&union, &domain));
        prop_assert!(ValueSet::union([&a, &rest], &domain).is_full(&domain));
        prop_assert!(a.intersect(&rest, &domain).is_empty());
        for set in [&union, &both, &rest] {
            for pair in set.spans.windows(2) {
                let apart = !domain.touches(&pair[0].hi, &pair[1].lo);
                let points = pair.iter().all(|span| span.as_point(&domain).is_some());
                prop_assert!(pair[0].hi.compare(&pair[1].lo, &domain).is_le() && (apart || points), "{:?}", set);
            }
        }
    }
}

#[test]
fn points_stay_points_and_ranges_swallow_them() {
    let domain = domain(SqlType::Integer, false);
    let points = |list: &[i64]| ValueSet::points(list.iter().map(|v| Value::Int(*v)).collect(), &domain);
    let range = |lo, hi| ValueSet::between(Cut::Before(Value::Int(lo)), Cut::After(Value::Int(hi)), &domain);
    assert_eq!(points(&[2, 1, 2]).spans().len(), 2);
    assert_eq!(
        ValueSet::union([&points(&[1, 2, 9]), &range(3, 5)], &domain),
        ValueSet::union([&range(1, 5), &points(&[9])], &domain)
    );
    assert!(points(&[1, 2, 3]).is_within(&range(1, 3), &domain));
    assert!(range(1, 3).is_within(&points(&[1, 2, 3]), &domain));
    assert!(!range(1, 4).is_within(&points(&[1, 2, 3]), &domain));
    assert_eq!(range(1, 3).count(&domain, 10), Some(3));
    assert_eq!(range(1, 30).count(&domain, 10), None);
}

#[test]
fn extremes_leave_out_nothing() {
    let at_least = |ty, nullable, value: Value| {
        let domain = domain(ty, nullable);
        ValueSet::between(Cut::Before(value), Cut::High, &domain).leaves_out_an_end()
    };
    assert!(!at_least(SqlType::TinyInt, false, Value::Int(-128)));
    assert!(at_least(SqlType::TinyInt, false, Value::Int(-127)));
    assert!(!at_least(SqlType::Double, false, Value::Double(f64::NEG_INFINITY)));
    assert!(!at_least(SqlType::Varchar(None), false, Value::text("")));
    assert!(!at_least(SqlType::UnsignedDate, false, Value::Date(0)));
    assert!(!at_least(SqlType::Decimal(Some((4, 2))), true, Value::Decimal("-99.99".parse().unwrap())));
    assert!(at_least(SqlType::Decimal(Some((4, 2))), true, Value::Decimal("-99.98".parse().unwrap())));
    assert!(!at_least(SqlType::Binary(2), false, Value::Bytes(vec![0, 0])));
}
