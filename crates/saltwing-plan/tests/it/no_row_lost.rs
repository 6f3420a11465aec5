//! The laws of a plan by brute force: random keys, random conditions, random rows
//! from small nasty domains, and the scalar evaluator as the judge.

use std::cmp::Ordering;
use std::sync::Arc;

use proptest::prelude::*;
use saltwing_plan::{
    Access, AccessKind, Buckets, CandidateKey, Condition, IndexTraits, Loss, OrderBy, OrderItem, OrderKind, Request,
    ScanRange, choose,
};
use saltwing_rowkey::{KeyRange, RowKeyCodec, RowsOfEntries};
use saltwing_types::{Direction, KeyColumn, KeySchema, Salt, SortOrder, Value};

use crate::support::brute_force::{Stored, check_rows, holds};
use crate::support::random::{self, Palette, Tape};
use crate::support::{self, Table};

pub fn rows(table: &Table, palette: &Palette, tape: &mut Tape, count: usize) -> Vec<Stored> {
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

pub fn check_order(
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

    /// An index keeps nullable columns of fixed width in other types, and NULL and '' as one; nothing is lost by that.
    #[test]
    fn an_index_loses_no_row(mut wish in random::tape(90), mut values in random::tape(300)) {
        let (table, index) = indexed(wish.below(6));
        let palette = random::palette(&table, &mut wish);
        let conditions = random::conditions(&table, &palette, &mut wish);
        let stored = index_rows(&table, &index, &palette, &mut values, |_| 0);
        let order = index_order(&index, &mut wish);
        let keys = [as_index(&index, IndexTraits::default())];
        let mut request = Request::new("t", &keys, conditions.clone());
        (request.order, request.nulls_apart) = (&order, wish.one_in(2));
        let access = choose(request).unwrap();
        let all = check_rows(&access, &conditions, &stored)
            .and_then(|()| check_order(&index, &access, &order, &conditions, &stored));
        if let Err(TestCaseError::Fail(reason)) = all {
            return Err(TestCaseError::fail(format!("{reason}\n{}\norder {order:?}\n{access:#?}", shown(&conditions))));
        }
    }

    /// A partial index is read only if all requested rows are among its rows; conditions that its predicate repeats
    /// are not checked again.
    #[test]
    fn a_partial_index_has_all_requested_rows(mut wish in random::tape(120), mut values in random::tape(300)) {
        let (table, index) = indexed(wish.below(6));
        let palette = random::palette(&table, &mut wish);
        let mut conditions = random::conditions(&table, &palette, &mut wish);
        let predicate = random::conditions(&table, &palette, &mut wish);
        let Some(first) = predicate.first() else { return Ok(()) };
        if wish.one_in(3) {
            conditions.push(first.clone());
        }
        let traits = IndexTraits { predicate: Some(&first.expr), hinted: true, ..IndexTraits::default() };
        let keys = [table.candidate(), as_index(&index, traits)];
        let access = choose(Request::new("t", &keys, conditions.clone())).unwrap();
        if access.key_index == 0 {
            prop_assert!(matches!(access.lost.as_slice(), [(1, Loss::NotImplied | Loss::NoKeyForm)]), "{:?}", access.lost);
            return Ok(());
        }
        // A row for which the predicate fails cannot be written.
        let mut stored = index_rows(&table, &index, &palette, &mut values, |_| 0);
        stored.retain(|stored| holds(std::slice::from_ref(first), &stored.row).is_some());
        let (own, others): (Vec<Stored>, Vec<Stored>) =
            stored.into_iter().partition(|stored| holds(std::slice::from_ref(first), &stored.row) == Some(true));
        for stored in others {
            prop_assert!(
                holds(&conditions, &stored.row) != Some(true), "{:?}\n{}\nin {}", stored.row, shown(&conditions), first.text
            );
        }
        if let Err(TestCaseError::Fail(reason)) = check_rows(&access, &conditions, &own) {
            return Err(TestCaseError::fail(format!("{reason}\n{}\nin {}\n{access:#?}", shown(&conditions), first.text)));
        }
    }

    /// The entries of a local index lie in the buckets of their rows, and so only the buckets are read that the conditions
    /// leave of the table.
    #[test]
    fn a_local_index_is_read_in_the_buckets_of_the_rows(mut wish in random::tape(90), mut values in random::tape(300)) {
        let (table, index) = indexed(wish.below(6));
        let salt = Some(Salt { buckets: 5, by: None });
        let table = Table::new("t", table.columns.clone(), KeySchema { salt, ..table.schema.clone() });
        let schema = KeySchema { salt, ..index.schema.clone() };
        // The last column of the index is the one of the table's key.
        let rows = RowsOfEntries::new(RowKeyCodec::clone(&table.codec), &schema, vec![schema.columns.len() - 1]).unwrap();
        let codec = Arc::new(RowKeyCodec::of_local_entries(&schema, &Arc::new(rows)).unwrap());
        let index = Table { schema, codec, ..index };
        let palette = random::palette(&table, &mut wish);
        let conditions = random::conditions(&table, &palette, &mut wish);
        let bucket = |row: &[Value]| {
            table.codec.bucket(&table.codec.encode_logical(&table.key_values(row).unwrap()).unwrap())
        };
        let stored = index_rows(&table, &index, &palette, &mut values, bucket);
        for stored in &stored {
            prop_assert_eq!(index.codec.bucket(&stored.key), stored.bucket);
        }
        let traits = IndexTraits { local: true, hinted: true, ..IndexTraits::default() };
        let keys = [table.candidate(), as_index(&index, traits)];
        let access = choose(Request::new("t", &keys, conditions.clone())).unwrap();
        let own = table.plan(conditions.clone());
        if access.key_index == 0 {
            prop_assert!(matches!(access.lost.as_slice(), [(1, Loss::NoKeyForm)]), "{:?}", access.lost);
            return Ok(());
        }
        if let Buckets::Some(known) = &own.buckets {
            let Buckets::Some(read) = &access.buckets else { panic!("{:?}", access.buckets) };
            prop_assert!(read.iter().all(|bucket| known.contains(bucket)), "{:?} of {:?}", read, known);
        }
        if let Err(TestCaseError::Fail(reason)) = check_rows(&access, &conditions, &stored) {
            return Err(TestCaseError::fail(format!("{reason}\n{}\n{access:#?}", shown(&conditions))));
        }
    }
}

pub fn shown(conditions: &[Condition]) -> String {
    conditions.iter().map(|condition| format!("where {}", condition.text)).collect::<Vec<_>>().join("\n")
}

pub fn as_index<'a>(index: &'a Table, traits: IndexTraits<'a>) -> CandidateKey<'a> {
    CandidateKey::of_index("i", &index.schema, &index.codec, traits)
}

/// Rows with the keys of their entries.
pub fn index_rows(
    table: &Table,
    index: &Table,
    palette: &Palette,
    tape: &mut Tape,
    bucket: impl Fn(&[Value]) -> u8,
) -> Vec<Stored> {
    let key_value = |row: &[Value], key: &KeyColumn| {
        let column = key.column().unwrap();
        in_index(&row[column], table.columns[column].ty, key.ty)
    };
    (0..40)
        .filter_map(|_| {
            let row = random::row(table, palette, tape)?;
            let key: Vec<Value> = index.schema.columns.iter().map(|key| key_value(&row, key)).collect();
            let key = index.codec.encode_logical(&key).ok()?;
            Some(Stored { bucket: bucket(&row), row, key })
        })
        .collect()
}

/// An order that the first columns of an index may have.
pub fn index_order(index: &Table, tape: &mut Tape) -> Vec<OrderItem> {
    let flip = tape.one_in(2);
    let columns = index.schema.columns.iter().skip(tape.below(2)).take(tape.below(4));
    columns
        .map(|key| {
            let order = if (key.order == SortOrder::Desc) != flip { SortOrder::Desc } else { SortOrder::Asc };
            OrderItem { by: OrderBy::Column(key.column().unwrap()), order, nulls_first: !tape.one_in(3) }
        })
        .collect()
}

/// A table, and an index over its columns v, c desc, d desc, b, t, s, of which that at `first` comes first.
pub fn indexed(first: usize) -> (Table, Table) {
    use SortOrder::{Asc, Desc};
    use saltwing_types::{KeySource, SqlType as T};
    let definitions = [
        ("id", T::Integer, T::Integer, Asc),
        ("v", T::Integer, T::Decimal(None), Asc),
        ("c", T::Char(3), T::Varchar(None), Desc),
        ("d", T::Date, T::Decimal(None), Desc),
        ("b", T::Boolean, T::Decimal(None), Asc),
        ("t", T::Timestamp, T::Decimal(None), Asc),
        ("s", T::Varchar(None), T::Varchar(None), Asc),
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
    let mut order = [1, 2, 3, 4, 5, 6, 0];
    order[..6].rotate_left(first);
    let keys = order.map(|column| key(column, true));
    (table, Table::new("i", columns, KeySchema { columns: keys.to_vec(), salt: None }))
}

/// A value as the index keeps it.
fn in_index(value: &Value, ty: saltwing_types::SqlType, index_ty: saltwing_types::SqlType) -> Value {
    use saltwing_types::{Decimal, SqlType as T};
    match (value, ty) {
        (Value::Int(i), _) if index_ty == T::Decimal(None) => Value::Decimal(Decimal::from(*i)),
        (Value::Text(text), T::Char(width)) => Value::Text(format!("{text:<width$}", width = width as usize)),
        (Value::Text(text), T::Varchar(_)) if text.is_empty() => Value::Null,
        (Value::Date(ms), _) => Value::Decimal(Decimal::from(*ms)),
        (Value::Bool(b), _) => Value::Decimal(Decimal::from(i64::from(*b))),
        (Value::Timestamp(at), _) => {
            Value::Decimal(Decimal::new(i128::from(at.ms) * 1_000_000 + i128::from(at.nanos), 6).unwrap())
        }
        _ => value.clone(),
    }
}

/// NULL and '' have one entry's bytes: a condition on one of them is checked for each row, a condition on both is not.
#[test]
fn an_index_has_null_and_empty_text_as_one() {
    use saltwing_types::{KeySource, SqlType as T};
    let table = support::parser::ranges("ranges key=(id int) values=(s varchar)").unwrap();
    let key = |column: usize, order| KeyColumn {
        source: KeySource::Column(column),
        name: table.columns[column].name.clone(),
        ty: table.columns[column].ty,
        order,
        nullable: column == 1,
    };
    assert_eq!(table.columns[1].ty, T::Varchar(None));
    for order in [SortOrder::Asc, SortOrder::Desc] {
        let schema = KeySchema { columns: vec![key(1, order), key(0, SortOrder::Asc)], salt: None };
        let index = Table::new("i", table.columns.clone(), schema);
        let values = [Value::Null, Value::text(""), Value::text("a"), Value::text("b"), Value::text("c")];
        let stored: Vec<Stored> = (0..3i64)
            .flat_map(|id| values.iter().map(move |s| vec![Value::Int(id), s.clone()]))
            .map(|row| {
                let s = in_index(&row[1], T::Varchar(None), T::Varchar(None));
                let key = index.codec.encode_logical(&[s, row[0].clone()]).unwrap();
                Stored { row, key, bucket: 0 }
            })
            .collect();
        for (text, is_exact) in [
            ("s = ''", false),
            ("s IS NULL", false),
            ("s IS NULL OR s = ''", true),
            ("s < 'b'", false),
            ("s <= ''", false),
            ("s < ''", true),
            ("s >= ''", false),
            ("s > ''", true),
            ("s <> ''", true),
            ("s <> 'a'", false),
            ("s IS NOT NULL", false),
            ("s IN ('', 'b')", false),
            ("s IN ('a', 'b')", true),
            ("NOT (s = 'a')", false),
            ("s = 'a' OR s IS NULL OR s = ''", true),
            ("(s, id) IN (('', 1), ('b', 2))", false),
            ("s BETWEEN '' AND 'a'", false),
            ("s = '' AND id = 1", false),
            ("s LIKE '%'", false),
            ("s LIKE 'a%'", true),
        ] {
            let conditions: Vec<Condition> = support::parser::condition(text, &table)
                .unwrap()
                .into_conjuncts()
                .into_iter()
                .map(Condition::new)
                .collect();
            let key = as_index(&index, IndexTraits::default());
            let access = choose(Request::new("t", &[key], conditions.clone())).unwrap();
            check_rows(&access, &conditions, &stored).unwrap_or_else(|error| panic!("{text} {order:?}: {error}"));
            assert_eq!(access.residual.is_empty(), is_exact, "{text} {order:?}: {:?}", access.residual);
        }
    }
}
