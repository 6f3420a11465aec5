//! Statements with many values: work and memory are linear in the statement.

use std::collections::BTreeSet;

use saltwing_plan::{Access, AccessKind, Buckets, Condition, KeyRegion, ScanRange, Use};
use saltwing_types::{CompareOp, Direction, Expr, SqlType, Value, typing};

use crate::support::{Table, parser};

fn table(definition: &str) -> Table {
    parser::ranges(definition).unwrap()
}

fn int(value: i64) -> Expr {
    Expr::Literal(Value::Int(value), SqlType::BigInt)
}

fn plan(table: &Table, conditions: Vec<Expr>) -> Access {
    table.plan(conditions.into_iter().map(Condition::new).collect())
}

fn list(table: &Table, column: usize, values: impl Iterator<Item = i64>) -> Expr {
    typing::in_list(table.column(column), values.map(int).collect(), false).unwrap()
}

#[test]
fn ten_thousand_points() {
    let table = table("ranges key=(a bigint) buckets=8");
    let access = plan(&table, vec![list(&table, 0, (0..10_000).map(|i| i * 7 % 70_001))]);
    assert_eq!((access.kind, access.exact, access.residual.len()), (AccessKind::Point, true, 0));
    assert_eq!(access.ranges.total(), Some(10_000));
    assert_eq!(access.buckets, Buckets::Some((0..8).collect()));
    let ranges: Vec<ScanRange> = access.ranges.iter().collect();
    assert!(ranges.iter().all(|scan| scan.range.is_point() && scan.bucket.is_some()));
    assert!(ranges.is_sorted_by(|a, b| a.range.start() < b.range.start()));
    assert_eq!(access.spans().unwrap().len(), 1000);
}

#[test]
fn ten_thousand_rows_of_two() {
    let table = table("ranges key=(a varchar, b int desc)");
    let rows = (0..10_000).map(|i| vec![typing::string(format!("k{}", i % 3_000)), int(i)]).collect();
    let condition = typing::row_in_list(vec![table.column(0), table.column(1)], rows, false).unwrap();
    let access = plan(&table, vec![condition, typing::compare(CompareOp::GtEq, table.column(1), int(5_000)).unwrap()]);
    assert_eq!((access.kind, access.exact, access.residual.len()), (AccessKind::Point, true, 0));
    assert_eq!(access.ranges.total(), Some(5_000));
    assert!(access.ranges.contains(&table.codec.encode_logical(&[Value::text("k2000"), Value::Int(5_000)]).unwrap()));
    assert!(!access.ranges.contains(&table.codec.encode_logical(&[Value::text("k2000"), Value::Int(2_000)]).unwrap()));
}

/// Over columns that are not neighbours each row value skips for itself, and at a key few of them are checked.
#[test]
fn ten_thousand_rows_with_a_gap() {
    let table = table("ranges key=(a int, b int, c int)");
    let rows = (0..10_000).map(|i| vec![int(2 * i), int(i * 7_919 % 10_007)]).collect();
    let condition = typing::row_in_list(vec![table.column(0), table.column(2)], rows, false).unwrap();
    let access = plan(&table, vec![condition]);
    let skip = access.skip.unwrap();
    assert!(skip.text().len() < 200, "{}", skip.text());
    let key = |row: [i64; 3]| table.codec.encode_logical(&row.map(Value::Int)).unwrap();
    let (mut forward, mut reverse) = (skip.regions(Direction::Forward), skip.regions(Direction::Reverse));
    for i in (0..10_000).step_by(7) {
        let c = i * 7_919 % 10_007;
        let wanted = key([2 * i, 5, c]);
        assert_eq!(forward.at(&key([2 * i, 5, c - 1])), KeyRegion::Gap(Some(&wanted)));
        assert!(matches!(forward.at(&wanted), KeyRegion::Match(_)));
        assert_eq!(reverse.at(&key([2 * i, 6, c - 1])), KeyRegion::Gap(Some(&[wanted.as_slice(), &[0]].concat())));
    }
}

/// Three lists of 500: 125 million ranges, none of which is made before it is wanted.
#[test]
fn a_product_is_streamed() {
    let table = table("ranges key=(a int, b int desc, c int)");
    let lists = (0..3).map(|column| list(&table, column, (0..500).map(|i| i * 10))).collect();
    let access = plan(&table, lists);
    assert_eq!((access.kind, access.exact), (AccessKind::Point, true));
    assert_eq!(access.ranges.total(), Some(125_000_000));
    assert_eq!(access.spans().unwrap()[1], "[(0, 4990, 10) .. (0, 4990, 10)]");
    let last = access.ranges.walk(Direction::Reverse).next().unwrap().range;
    assert_eq!(last.start(), table.codec.encode_logical(&[4990, 0, 4990].map(Value::Int)).unwrap());

    // A scan seeks from one key that is there to the next range: it never walks through all of them.
    let keys: BTreeSet<Vec<u8>> = (0..3_000i64)
        .map(|i| [i * 3 % 5_000, i * 10 % 4_990, i % 7 * 5].map(Value::Int))
        .map(|row| table.codec.encode_logical(&row).unwrap())
        .collect();
    let wanted: Vec<&Vec<u8>> = keys.iter().filter(|key| access.ranges.contains(key)).collect();
    for reverse in [false, true] {
        let mut ranges = if reverse { access.ranges.walk(Direction::Reverse) } else { access.ranges.iter() };
        let (mut found, mut seeks) = (Vec::new(), 0);
        while let Some(ScanRange { range, .. }) = ranges.next() {
            seeks += 1;
            let next = match reverse {
                false => keys.range(range.start().to_vec()..).next(),
                true => keys.range(..range.end().unwrap().to_vec()).next_back(),
            };
            match next {
                None => break,
                Some(key) if range.contains(key) => found.push(key),
                Some(key) => ranges.skip_to(key),
            }
        }
        if reverse {
            found.reverse();
        }
        assert_eq!(found, wanted);
        assert!(seeks < 2 * keys.len(), "{seeks} seeks for {} keys", keys.len());
    }
}

#[test]
fn an_and_of_ors_is_capped_and_loses_no_row() {
    let table = table("ranges key=(a int, b int, c int, d int)");
    let pairs = |x: usize, y: usize, count: i64, shift: i64| {
        let pair = |i: i64| {
            let equal = |column: usize, v| typing::compare(CompareOp::Eq, table.column(column), int(v)).unwrap();
            typing::and(vec![equal(x, i), equal(y, (i * 31 + shift) % 1000)]).unwrap()
        };
        typing::or((0..count).map(pair).collect()).unwrap()
    };
    let access = plan(&table, vec![pairs(0, 1, 300, 1), pairs(2, 3, 300, 2)]);
    // The nearest boxes are those with the same (a, b): these pairs stay as they are.
    assert!(!access.exact);
    let uses: Vec<(Use, bool)> = access.predicates.iter().map(|p| (p.use_, p.why.contains("not fully"))).collect();
    assert_eq!(uses, [(Use::Key, false), (Use::Both, true)]);
    assert_eq!(access.residual.len(), 1);
    assert!(access.ranges.total().unwrap() <= 20_000_000);
    let other_pair = [7, 249, 7, 219].map(Value::Int);
    assert!(!access.ranges.contains(&table.codec.encode_logical(&other_pair).unwrap()));
    for i in (0..300).step_by(10) {
        let row = [i, (i * 31 + 1) % 1000, 299 - i, ((299 - i) * 31 + 2) % 1000].map(Value::Int);
        assert!(access.ranges.contains(&table.codec.encode_logical(&row).unwrap()), "{row:?}");
    }
}

#[test]
fn thirty_thousand_parts() {
    let table = table("ranges key=(a int, b int)");
    let differs = (0..30_000).map(|i| typing::compare(CompareOp::NotEq, table.column(0), int(i * 2)).unwrap());
    let access = plan(&table, vec![typing::and(differs.collect()).unwrap()]);
    assert_eq!(access.residual.len(), 0);
    assert!(access.verdict.is_refused());
    let equals = (0..30_000).map(|i| typing::compare(CompareOp::Eq, table.column(0), int(i * 2)).unwrap());
    let access = plan(&table, vec![typing::or(equals.collect()).unwrap()]);
    assert_eq!((access.ranges.total(), access.residual.len()), (Some(30_000), 0));
}

/// A computed part follows its input: as many ranges as phones, whatever else is multiplied with them.
#[test]
fn a_computed_part_is_no_factor_of_the_product() {
    let table = table("ranges key=(phone varchar not null, day int, hour int) parts=(0 SUBSTR(MD5(phone), 1, 2))");
    let phones = (0..10_000).map(|i| typing::string(i.to_string())).collect();
    let phones = typing::in_list(table.column(0), phones, false).unwrap();
    let access = plan(&table, vec![phones.clone()]);
    assert_eq!((access.kind, access.exact, access.residual.len()), (AccessKind::SkipScan, true, 0));
    assert_eq!(access.ranges.total(), Some(10_000));
    let days = list(&table, 1, (0..500).map(|i| i * 2));
    let hours = list(&table, 2, (0..20).map(|i| i * 3));
    let access = plan(&table, vec![phones, days, hours]);
    assert_eq!((access.kind, access.exact), (AccessKind::Point, true));
    assert_eq!(access.ranges.total(), Some(10_000 * 500 * 20));
    let key = |hash: &str| [Value::text(hash), Value::text("7"), Value::Int(4), Value::Int(6)];
    let eight = table.codec.encode_logical(&key("8f")).unwrap();
    assert!(access.ranges.contains(&eight));
    assert!(!access.ranges.contains(&table.codec.encode_logical(&key("8e")).unwrap()));
    let mut ranges = access.ranges.iter();
    ranges.skip_to(&eight);
    assert!(ranges.next().unwrap().range.contains(&eight));
}

/// A part of two inputs is computed for 10,000 combinations of their values at most, and the refusal says so.
#[test]
fn a_part_of_too_many_combinations_is_not_fixed() {
    let table = table("ranges key=(a int, b int, c int) parts=(0 (a * 7 + b) % 1000)");
    let lists = |a: i64, b: i64| vec![list(&table, 0, (0..a).map(|i| i * 3)), list(&table, 1, (0..b).map(|i| i * 3))];
    let access = plan(&table, lists(100, 100));
    assert_eq!((access.verdict.allowed, access.ranges.total()), (Some(true), Some(10_000)));
    let access = plan(&table, lists(101, 100));
    let why = "(a * 7 + b) % 1000 would follow from 10100 combinations of a and b, and no more than 10000 are computed";
    let refusal = access.verdict.refusal.unwrap();
    assert_eq!(refusal.others.len(), 2);
    assert!(refusal.others.iter().all(|(_, reason)| reason.ends_with(why)), "{:?}", refusal.others);
    assert!(access.predicates.iter().all(|p| p.why.ends_with(why)), "{:?}", access.predicates);
    // A single input has as many values as the statement names.
    let single = self::table("ranges key=(a int, b int) parts=(0 a % 7)");
    let access = plan(&single, vec![list(&single, 0, 0..20_000)]);
    assert_eq!((access.verdict.allowed, access.ranges.total()), (Some(true), Some(20_000)));
}

/// Each box of an OR goes with the rows of a list that it leaves, and with no copy of the list.
#[test]
fn a_list_of_rows_is_not_multiplied() {
    let table = table("ranges key=(a int, b int, c int, d int)");
    let rows = |count: i64| {
        let rows = (0..count).map(|i| vec![int(i), int(i * 7 % 1000)]).collect();
        typing::row_in_list(vec![table.column(0), table.column(1)], rows, false).unwrap()
    };
    let pairs = |x: usize, y: usize, count: i64| {
        let pair = |i: i64| {
            let equal = |column: usize, v| typing::compare(CompareOp::Eq, table.column(column), int(v)).unwrap();
            typing::and(vec![equal(x, i), equal(y, i * 7 % 1000)]).unwrap()
        };
        typing::or((0..count).map(pair).collect()).unwrap()
    };
    // Boxes that choose among the rows: exact, with these rows.
    let access = plan(&table, vec![rows(500), pairs(0, 2, 300)]);
    assert_eq!((access.exact, access.ranges.total(), access.residual.len()), (true, Some(300), 0));
    let access = plan(&table, vec![rows(500), rows(300)]);
    assert_eq!((access.exact, access.ranges.total(), access.residual.len()), (true, Some(300), 0));
    // Boxes that do not: 2,000 rows 1,000 times over would be two million; nearest boxes are merged.
    let access = plan(&table, vec![rows(2_000), pairs(2, 3, 1_000)]);
    assert_eq!((access.exact, access.residual.len()), (false, 1));
    let uses: Vec<Use> = access.predicates.iter().map(|p| p.use_).collect();
    assert_eq!(uses, [Use::Key, Use::Both]);
    for i in (0..1_000).step_by(37) {
        let row = [i + 900, (i + 900) * 7 % 1000, i, i * 7 % 1000].map(Value::Int);
        assert!(access.ranges.contains(&table.codec.encode_logical(&row).unwrap()), "{row:?}");
    }
}
