//! Scans along random routes, against a model: all orders, directions, limits and filters, while regions split.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use fake_hbase::{Kind, Schedule};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use saltwing_access::keys::RangeList;
use saltwing_access::{Direction, KeySet, Projection, ScanOrder, ScanRange, ScanRoute, ScanSpec, Table};
use saltwing_expr::RowValues;
use saltwing_phoenix::{RowCodec, StorageScheme};
use saltwing_rowkey::{KeyRange, merge_ranges};
use saltwing_types::{CompareOp, Expr, Value};

use crate::golden::definitions;
use crate::world::{World, cells_of, context, rows_of};

/// What a scan is asked for.
#[derive(Clone, Debug)]
struct Asked {
    /// Bounds of ranges among the logical keys of the rows: the places of two keys, and whether the second one is read as well.
    ranges: Vec<(usize, usize, bool)>,
    /// Single keys, in their buckets.
    are_points: bool,
    /// The last range reaches to the end of the table.
    is_open: bool,
    is_reversed: bool,
    is_merged: bool,
    limit: Option<u64>,
    first_batch: Option<u64>,
    /// A column, and the least value that is wanted in it.
    filter: Option<i64>,
    columns: BTreeSet<usize>,
    /// A row at whose key a region splits before the scan.
    split: Option<usize>,
}

fn asked(rows: usize, columns: usize) -> impl Strategy<Value = Asked> {
    let ranges = prop::collection::vec((0..rows, 0..rows, any::<bool>()), 0..6);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let few = (prop::option::of(0..40u64), prop::option::of(1..40u64), prop::option::of(-50..50i64));
    let columns = prop::collection::btree_set(0..columns, 0..4);
    (ranges, flags, few, columns, prop::option::weighted(0.1, 0..rows)).prop_map(
        |(ranges, (are_points, is_open, is_reversed, is_merged), (limit, first_batch, filter), columns, split)| Asked {
            ranges,
            are_points,
            is_open,
            is_reversed,
            is_merged,
            limit,
            first_batch,
            filter,
            columns,
            split,
        },
    )
}

/// A table with rows, and the rows by physical key: a value for each column and the key.
struct Scanned {
    table: Arc<Table>,
    physical: String,
    rows: BTreeMap<Vec<u8>, Vec<Value>>,
    /// An INTEGER column for filters.
    number: usize,
}

impl Scanned {
    fn logical<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        &key[self.table.codec().bucket_bytes()..]
    }

    /// The key set that is asked for, and whether it has a physical key.
    fn keys(&self, asked: &Asked) -> (KeySet, Vec<ScanRange>) {
        let keys: Vec<&Vec<u8>> = self.rows.keys().collect();
        let bucket = |key: &[u8]| (self.table.codec().bucket_bytes() == 1).then(|| key[0]);
        if asked.are_points {
            let point = |(at, _, _): &(usize, usize, bool)| ScanRange {
                range: KeyRange::point(self.logical(keys[*at]).to_vec()),
                bucket: bucket(keys[*at]),
            };
            let mut points: Vec<ScanRange> = asked.ranges.iter().map(point).collect();
            points.sort_by(|a, b| (a.bucket, a.range.start()).cmp(&(b.bucket, b.range.start())));
            points.dedup();
            return (RangeList::new(points.clone()).into(), points);
        }
        let range = |(a, b, is_last): &(usize, usize, bool)| {
            let (a, b) = (self.logical(keys[*a]), self.logical(keys[*b]));
            let (start, mut end) = (a.min(b).to_vec(), a.max(b).to_vec());
            if *is_last {
                end.push(0);
            }
            KeyRange::new(start, Some(end))
        };
        let mut ranges = merge_ranges(asked.ranges.iter().filter_map(range).collect());
        if asked.is_open {
            let start = ranges.pop().map_or_else(Vec::new, |last| last.into_bounds().0);
            ranges.push(KeyRange::new(start, None).unwrap());
        }
        let all = ranges.iter().map(|range| ScanRange { range: range.clone(), bucket: None }).collect();
        (KeySet::everywhere(saltwing_access::KeyRanges::from_iter(ranges)), all)
    }

    /// The rows of the ranges in the order that is asked for, before filter and limit.
    fn in_order(&self, asked: &Asked, ranges: &[ScanRange]) -> Vec<&Vec<Value>> {
        let is_read = |key: &Vec<u8>| {
            let bucket = (self.table.codec().bucket_bytes() == 1).then(|| key[0]);
            let is_own = |range: &ScanRange| range.bucket.is_none() || range.bucket == bucket;
            ranges.iter().any(|range| is_own(range) && range.range.contains(self.logical(key)))
        };
        let mut rows: Vec<(&Vec<u8>, &Vec<Value>)> = self.rows.iter().filter(|(key, _)| is_read(key)).collect();
        let bucket_bytes = self.table.codec().bucket_bytes();
        rows.sort_by(|(a, _), (b, _)| {
            let logical = self.logical(a).cmp(self.logical(b));
            let logical = if asked.is_reversed { logical.reverse() } else { logical };
            if asked.is_merged { logical } else { a[..bucket_bytes].cmp(&b[..bucket_bytes]).then(logical) }
        });
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

fn check(world: &World, scanned: &Scanned, asked: &Asked) {
    let Scanned { table, number, .. } = scanned;
    if let Some(key) = asked.split.and_then(|at| scanned.rows.keys().nth(at)) {
        // A region that begins there is not split again.
        let _ = world.cluster.split(&scanned.physical, key);
    }
    let (keys, ranges) = scanned.keys(asked);
    let at_least = |value: i64| {
        let (column, literal) =
            (table.column_ref(*number, None).unwrap(), Expr::Literal(Value::Int(value), table.column_type(*number)));
        Expr::Compare(CompareOp::GtEq, Box::new(Expr::Column(column)), Box::new(literal))
    };
    let columns: Vec<usize> = asked.columns.iter().copied().collect();
    let filter: Vec<Expr> = asked.filter.into_iter().map(at_least).collect();
    let route = ScanRoute {
        keys,
        direction: if asked.is_reversed { Direction::Reverse } else { Direction::Forward },
        order: if asked.is_merged { ScanOrder::Merged } else { ScanOrder::ByBucket },
        limit: asked.limit,
        first_batch: asked.first_batch,
    };
    let in_order = scanned.in_order(asked, &ranges);
    let meets = |row: &&&Vec<Value>| match (asked.filter, &row[*number]) {
        (None, _) => true,
        (Some(least), Value::Int(value)) => *value >= least,
        (Some(_), _) => false,
    };
    let limit = asked.limit.map_or(usize::MAX, |limit| limit as usize);
    let pick = |row: &&Vec<Value>| columns.iter().map(|column| row[*column].clone()).collect::<Vec<_>>();
    let expected: Vec<Vec<Value>> = in_order.iter().filter(meets).take(limit).map(pick).collect();
    let snapshot = world.store.snapshot().unwrap();
    let spec = ScanSpec::new(table, columns.clone(), filter).unwrap();
    let of_scan = context();
    let mut scan = snapshot.scan(&spec, route.clone(), of_scan.clone()).unwrap();
    assert_eq!(rows_of(&mut *scan, table, &columns), expected);
    assert!(scan.next_columns().unwrap().is_none(), "the end is the end");
    let (read, out) = (of_scan.counters.keys_read.load(Relaxed), of_scan.counters.rows_out.load(Relaxed));
    assert_eq!(out, expected.len() as u64);
    assert!(read >= out && read <= in_order.len() as u64, "{read} keys read for {out} of {}", in_order.len());
    if asked.limit.is_none() {
        assert_eq!(read, in_order.len() as u64, "all rows of the ranges are read once");
    }
    let projection = Projection::new(table, columns.clone());
    let mut values = RowValues::new(columns.len());
    let mut scan = snapshot.scan(&spec, route.clone(), context()).unwrap();
    while scan.next_values(&projection, &mut values).unwrap() {}
    assert_eq!(values.values().collect::<Vec<_>>(), expected.concat());
    let totals = snapshot.scan(&spec, route, context()).unwrap().totals().unwrap();
    assert_eq!(totals.rows, expected.len() as u64);
}

/// Rows whose keys are texts and numbers that lie close together.
fn scanned(world: &World, name: &str, splits: &[&[u8]], key: impl Fn(usize) -> Vec<Value>, number: usize) -> Scanned {
    const ROWS: usize = 300;
    let definition = world.define(&definitions()[name], splits);
    let codec = RowCodec::new(definition.row_format().unwrap()).unwrap();
    let table = world.table(definition.schema.as_deref(), &definition.name);
    let mut written = Vec::new();
    let mut rows = BTreeMap::new();
    for at in 0..ROWS {
        let key = key(at);
        let value = |(place, column): (usize, &saltwing_phoenix::ValueColumn)| match (at + place) % 5 {
            0 => Value::Null,
            _ if matches!(column.ty, saltwing_types::SqlType::Integer) => Value::Int(at as i64 % 101 - 50),
            _ if matches!(column.ty, saltwing_types::SqlType::Varchar(_) | saltwing_types::SqlType::Char(_)) => {
                Value::text(format!("v{}", at % 7))
            }
            _ => Value::Null,
        };
        let values: Vec<Value> = codec.format().columns.iter().enumerate().map(value).collect();
        let row = cells_of(&codec, &key, &values);
        let all = key.into_iter().chain(values).chain([Value::Bytes(row.0.clone())]);
        rows.insert(row.0.clone(), all.collect());
        written.push(row);
    }
    assert_eq!(rows.len(), ROWS);
    world.write(&definition.physical_name, &written);
    Scanned { table, physical: definition.physical_name, rows, number }
}

fn text_and_number(at: usize) -> Vec<Value> {
    vec![Value::text(["", "a", "a\u{1}", "b", "b\u{10ffff}"][1 + at % 4]), Value::Int(at as i64 / 4 - 30)]
}

fn run(world: &World, scanned: &Scanned) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let asked = asked(scanned.rows.len(), scanned.table.row_key_index() + 1);
    let outcome = runner.run(&asked, |asked| {
        check(world, scanned, &asked);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(world.cluster.regions(&scanned.physical).unwrap().len() > 5, "regions were split");
}

#[test]
fn salted_tables_with_families_are_scanned() {
    let world = World::new();
    run(&world, &scanned(&world, "X2", &[b"\x01", b"\x02", b"\x03"], text_and_number, 4));
}

#[test]
fn tables_without_salt_are_scanned() {
    let world = World::new();
    let key = |at: usize| vec![Value::text(format!("k{at:03}"))];
    run(&world, &scanned(&world, "CA1", &[b"k100"], key, 2));
}

#[test]
fn packed_cells_are_scanned() {
    let world = World::new();
    let key = |at: usize| vec![Value::text(format!("k{at:03}"))];
    let scanned = scanned(&world, "CA18", &[], key, 2);
    assert_eq!(crate::golden::definition("CA18").storage, StorageScheme::CellPerFamily);
    run(&world, &scanned);
}

#[test]
fn many_keys_are_few_calls() {
    let world = World::new();
    let key = |at: usize| vec![Value::text(format!("k{at:03}"))];
    let scanned = scanned(&world, "CA1", &[b"k100", b"k200"], key, 2);
    let table = &scanned.table;
    let keys: Vec<Vec<u8>> = scanned.rows.keys().step_by(3).rev().cloned().chain([b"missing".to_vec()]).collect();
    let columns = Projection::new(table, [table.row_key_index()]);
    let snapshot = world.store.snapshot().unwrap();
    assert!(!snapshot.contains(table, b"warm").unwrap());
    world.cluster.take_calls();
    let mut values = RowValues::new(1);
    assert_eq!(snapshot.get_all(&columns, &keys, &mut values, None).unwrap(), 100);
    let found: Vec<Value> = values.values().collect();
    let expected: Vec<Value> = keys.iter().take(100).cloned().map(Value::Bytes).collect();
    assert_eq!(found, expected, "in the order of the keys");
    let calls = world.cluster.take_calls().into_iter().filter(|call| !call.is_meta()).count();
    assert!(calls <= 3, "{calls} calls for 3 regions");
    let points = scanned.rows.keys().step_by(3).map(|key| KeyRange::point(key.clone()));
    let route = ScanRoute::of(KeySet::everywhere(saltwing_access::KeyRanges::from_iter(points)));
    let spec = ScanSpec::new(table, vec![0], Vec::new()).unwrap();
    let mut scan = snapshot.scan(&spec, route, context()).unwrap();
    assert_eq!(rows_of(&mut *scan, table, &[0]).len(), 100);
    let calls = world.cluster.take_calls().into_iter().filter(|call| !call.is_meta()).count();
    assert!(calls <= 9, "{calls} calls for 3 regions");
}

/// Rows that are there all the time are read once each, whatever happens to regions and servers meanwhile.
#[test]
fn no_row_is_lost_while_regions_change() {
    const SCANS: usize = 20;
    let world = World::new();
    let scanned = scanned(&world, "X2", &[b"\x01", b"\x02", b"\x03"], text_and_number, 4);
    let table = &scanned.table;
    let column = table.row_key_index();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let kinds = [Kind::Split, Kind::Merge, Kind::Move, Kind::Lease];
    std::thread::scope(|scope| {
        let changes = scope.spawn(|| {
            let _entered = world.enter();
            let mut schedule = Schedule::new(11, &scanned.physical, &kinds);
            let mut steps = 0;
            while !is_over.load(Relaxed) {
                schedule.step(&world.cluster);
                steps += 1;
                std::thread::sleep(std::time::Duration::from_millis(8));
            }
            schedule.settle(&world.cluster).unwrap();
            steps
        });
        for scan in 0..SCANS {
            let route = ScanRoute {
                order: if scan % 2 == 0 { ScanOrder::Merged } else { ScanOrder::ByBucket },
                direction: if scan % 3 == 0 { Direction::Reverse } else { Direction::Forward },
                ..ScanRoute::of(KeySet::all())
            };
            let spec = ScanSpec::new(table, vec![column], Vec::new()).unwrap();
            let read = world.store.snapshot().unwrap().scan(&spec, route, context());
            let read = read.and_then(|mut scan| {
                let mut keys = Vec::new();
                while let Some((arrays, rows)) = scan.next_columns()? {
                    keys.extend(
                        (0..rows)
                            .map(|row| saltwing_expr::value_at(&arrays[0], row, table.column_type(column)).unwrap()),
                    );
                }
                Ok(keys)
            });
            let Ok(mut keys) = read else {
                is_over.store(true, Relaxed);
                panic!("{:?}", read.err());
            };
            if scan % 2 == 0 && scan % 3 == 0 {
                keys.reverse();
            }
            let logical = |key: &Value| match key {
                Value::Bytes(key) => scanned.logical(key).to_vec(),
                other => panic!("{other:?}"),
            };
            if scan % 2 == 0 && !keys.is_sorted_by_key(logical) {
                is_over.store(true, Relaxed);
                panic!("merged rows are in key order");
            }
            keys.sort_by_key(|key| format!("{key:?}"));
            let mut expected: Vec<Value> = scanned.rows.keys().cloned().map(Value::Bytes).collect();
            expected.sort_by_key(|key| format!("{key:?}"));
            if keys != expected {
                is_over.store(true, Relaxed);
                panic!("{} rows instead of {}", keys.len(), expected.len());
            }
        }
        is_over.store(true, Relaxed);
        let steps = changes.join().unwrap();
        assert!(steps > 5, "{steps} changes");
    });
}
