//! The laws of a plan by brute force: random keys, random conditions, random rows
//! from small nasty domains, and the scalar evaluator as the judge.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::cmp::Ordering;

use proptest::prelude::*;
use saltwing_plan::{Access, AccessKind, Condition, OrderBy, OrderItem, OrderKind, Request, ScanRange, choose};
use saltwing_rowkey::KeyRange;
use saltwing_types::{Direction, SortOrder, Value};

use support::Table;
use support::brute_force::{Stored, check_rows, holds};
use support::random::{self, Palette, Tape};

fn rows(table: &Table, palette: &Palette, tape: &mut Tape, count: usize) -> Vec<Stored> {
    (0..count)
        .filter_map(|_| {
            let row = random::row(table, palette, tape)?;
            let key = table.codec.encode_logical(&table.key_values(&row)?).ok()?;
            let bucket = table.codec.bucket(&key);
            Some(Stored { row, key, bucket })
        })
        .collect()
}

fn check_ranges(access: &Access, keys: &[&[u8]]) -> Result<(), TestCaseError> {
    let ranges: Vec<ScanRange> = access.ranges.iter().collect();
    for pair in ranges.windows(2) {
        prop_assert!(pair[0].range.end().is_some_and(|end| end <= pair[1].range.start()), "{:?}", pair);
    }
    let mut reverse: Vec<ScanRange> = access.ranges.walk(Direction::Reverse).collect();
    reverse.reverse();
    prop_assert_eq!(&reverse, &ranges);
    let listed = access.ranges.first(usize::MAX).unwrap();
    prop_assert_eq!(access.ranges.total(), Some(listed.len() as u128));
    for key in keys {
        let holds = |range: &KeyRange| range.contains(key);
        prop_assert_eq!(listed.iter().any(holds), ranges.iter().any(|scan| holds(&scan.range)));
    }
    prop_assert_eq!(access.spans().unwrap().len(), listed.len().min(1000));
    let kind = match listed.as_slice() {
        [] => AccessKind::Empty,
        all if access.kind == AccessKind::Point && all.iter().all(KeyRange::is_point) => AccessKind::Point,
        [one] if one.is_all() => AccessKind::FullScan,
        // The first rows may be left out.
        [one] if access.kind == AccessKind::FullScan && one.end().is_none() => AccessKind::FullScan,
        [_] if access.skip.is_none() => AccessKind::Range,
        _ => AccessKind::SkipScan,
    };
    prop_assert_eq!(access.kind, kind);
    for key in keys {
        let from = KeyRange::new(key.to_vec(), None).unwrap();
        let to = KeyRange::new(Vec::new(), Some([*key, &[0]].concat())).unwrap();
        let clip = |scan: &ScanRange, half: &KeyRange| scan.range.intersect(half);
        let mut skipped = access.ranges.iter();
        skipped.next();
        skipped.skip_to(key);
        let found: Vec<_> = skipped.map(|s| clip(&s, &from)).collect();
        let expected: Vec<_> = ranges.iter().skip(1).map(|s| clip(s, &from)).filter(Option::is_some).collect();
        prop_assert_eq!(found, expected, "skip to {:02x?}", key);
        let mut skipped = access.ranges.walk(Direction::Reverse);
        skipped.skip_to(key);
        let found: Vec<_> = skipped.map(|s| clip(&s, &to)).collect();
        let expected: Vec<_> = ranges.iter().rev().map(|s| clip(s, &to)).filter(Option::is_some).collect();
        prop_assert_eq!(found, expected, "skip back to {:02x?}", key);
    }
    Ok(())
}

/// Order of two rows as ORDER BY has it.
fn compare(table: &Table, items: &[OrderItem], a: &[Value], b: &[Value]) -> Ordering {
    let one = |item: &OrderItem| {
        let (a, b, ty) = match item.by {
            OrderBy::Column(column) => (a[column].clone(), b[column].clone(), table.columns[column].ty),
            OrderBy::KeyPart(position) => {
                let part = &table.schema.columns[position];
                (part.value(a).unwrap(), part.value(b).unwrap(), part.ty)
            }
        };
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => {
                if item.nulls_first {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (false, true) => {
                if item.nulls_first {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (false, false) => {
                let order = a.compare_as(&b, ty).unwrap();
                if item.order == SortOrder::Desc { order.reverse() } else { order }
            }
        }
    };
    items.iter().map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn check_order(
    table: &Table,
    access: &Access,
    items: &[OrderItem],
    conditions: &[Condition],
    stored: &[Stored],
) -> Result<(), TestCaseError> {
    let mut rows: Vec<&Stored> = stored.iter().filter(|s| holds(conditions, &s.row) == Some(true)).collect();
    // Of one key there is one row.
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows.dedup_by(|a, b| a.key == b.key);
    match access.order {
        OrderKind::Key => {}
        OrderKind::Reverse => rows.reverse(),
        OrderKind::None => return Ok(()),
    }
    let wanted = match &access.in_turn {
        None => rows,
        Some([first, second]) => {
            let (before, after): (Vec<&Stored>, Vec<&Stored>) = rows.into_iter().partition(|s| first.contains(&s.key));
            prop_assert!(after.iter().all(|s| second.contains(&s.key)), "neither in {:?} nor in {:?}", first, second);
            prop_assert!(before.iter().all(|s| !second.contains(&s.key)), "in {:?} and in {:?}", first, second);
            [before, after].concat()
        }
    };
    for pair in wanted.windows(2) {
        prop_assert!(
            compare(table, items, &pair[0].row, &pair[1].row).is_le(),
            "{:?} before {:?}",
            pair[0].row,
            pair[1].row
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Reading too much is slow; losing a row is wrong.
    #[test]
    fn no_row_is_lost(mut shape in random::tape(48), mut wish in random::tape(90), mut values in random::tape(300)) {
        let table = random::table(&mut shape);
        let palette = random::palette(&table, &mut shape);
        let conditions = random::conditions(&table, &palette, &mut wish);
        let order = random::order(&table, &mut wish);
        let stored = rows(&table, &palette, &mut values, 40);
        let candidates = [table.candidate()];
        let mut request = Request::new("t", &candidates, conditions.clone());
        request.order = &order;
        request.nulls_apart = wish.one_in(2);
        let access = choose(request).unwrap();
        let text: Vec<&str> = conditions.iter().map(|c| c.text.as_str()).collect();
        let shown = format!("{}\n  where {}\n  {access:#?}", table.definition(), text.join("\n    and "));
        let keys: Vec<&[u8]> = stored.iter().map(|s| s.key.as_slice()).take(6).collect();
        let all = check_rows(&access, &conditions, &stored)
            .and_then(|()| check_ranges(&access, &keys))
            .and_then(|()| check_order(&table, &access, &order, &conditions, &stored));
        if let Err(TestCaseError::Fail(reason)) = all {
            return Err(TestCaseError::fail(format!("{reason}\n{shown}\norder {order:?}")));
        }
    }

    /// An index keeps nullable columns of fixed width in other types; nothing is lost by that.
    #[test]
    fn an_index_loses_no_row(mut wish in random::tape(90), mut values in random::tape(300)) {
        let (table, index) = indexed(wish.below(5));
        let palette = random::palette(&table, &mut wish);
        let conditions = random::conditions(&table, &palette, &mut wish);
        let stored: Vec<Stored> = (0..40)
            .filter_map(|_| {
                let row = random::row(&table, &palette, &mut values)?;
                let key: Vec<Value> = index.schema.columns.iter().map(|k| (k.column().unwrap(), k)).map(|(c, k)| in_index(&row[c], table.columns[c].ty, k.ty)).collect();
                let key = index.codec.encode_logical(&key).ok()?;
                Some(Stored { row, key, bucket: 0 })
            })
            .collect();
        let access = choose(Request::new("t", &[index.candidate()], conditions.clone())).unwrap();
        let text: Vec<&str> = conditions.iter().map(|c| c.text.as_str()).collect();
        if let Err(TestCaseError::Fail(reason)) = check_rows(&access, &conditions, &stored) {
            return Err(TestCaseError::fail(format!("{reason}\nwhere {}\n{access:#?}", text.join("\n  and "))));
        }
    }
}

/// A table, and an index over its columns v, c desc, d desc, b, t, of which that at `first` comes first.
fn indexed(first: usize) -> (Table, Table) {
    use SortOrder::{Asc, Desc};
    use saltwing_types::{KeyColumn, KeySchema, KeySource, SqlType as T};
    let definitions = [
        ("id", T::Integer, T::Integer, Asc),
        ("v", T::Integer, T::Decimal(None), Asc),
        ("c", T::Char(3), T::Varchar(None), Desc),
        ("d", T::Date, T::Decimal(None), Desc),
        ("b", T::Boolean, T::Decimal(None), Asc),
        ("t", T::Timestamp, T::Decimal(None), Asc),
    ];
    let columns: Vec<support::Column> = definitions
        .iter()
        .enumerate()
        .map(|(i, (name, ty, _, _))| support::Column { name: (*name).into(), ty: *ty, nullable: i > 0 })
        .collect();
    let key = |column: usize, index: bool| {
        let (name, ty, index_ty, order) = definitions[column];
        let (ty, nullable) = if index { (index_ty, column > 0) } else { (ty, false) };
        KeyColumn {
            source: KeySource::Column(column),
            name: name.into(),
            ty,
            order: if index { order } else { Asc },
            nullable,
        }
    };
    let table = Table::new("t", columns.clone(), KeySchema { columns: vec![key(0, false)], salt: None });
    let mut order = [1, 2, 3, 4, 5, 0];
    order[..5].rotate_left(first);
    let keys = order.map(|column| key(column, true));
    (table, Table::new("i", columns, KeySchema { columns: keys.to_vec(), salt: None }))
}

/// A value as the index keeps it.
fn in_index(value: &Value, ty: saltwing_types::SqlType, index_ty: saltwing_types::SqlType) -> Value {
    use saltwing_types::{Decimal, SqlType as T};
    match (value, ty) {
        (Value::Int(i), _) if index_ty == T::Decimal(None) => Value::Decimal(Decimal::from(*i)),
        (Value::Text(text), T::Char(width)) => Value::Text(format!("{text:<width$}", width = width as usize)),
        (Value::Date(ms), _) => Value::Decimal(Decimal::from(*ms)),
        (Value::Bool(b), _) => Value::Decimal(Decimal::from(i64::from(*b))),
        (Value::Timestamp(at), _) => {
            Value::Decimal(Decimal::new(i128::from(at.ms) * 1_000_000 + i128::from(at.nanos), 6).unwrap())
        }
        _ => value.clone(),
    }
}
