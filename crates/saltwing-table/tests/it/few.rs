//! Reads of few rows at once, and the reads that are left to a scan.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use saltwing_access::{
    Budget, Projection, SHORT_RANGE_ROWS, ScanContext, ShortRange, Snapshot, TableError, TableStore,
};
use saltwing_expr::RowValues;
use saltwing_rowkey::{BucketRange, KeyRange};
use saltwing_store::{Direction, MemoryStore};
use saltwing_table::LayoutOptions;
use saltwing_types::{TableDef, TableId, Value};

use crate::world::{World, plain_row, put_all, run_options, table};

/// The values of these columns that a read of few rows gives; `None` if a scan is to read them.
pub(crate) fn few(
    world: &World,
    view: &dyn Snapshot,
    columns: &[usize],
    keys: &BucketRange,
    (direction, limit): (Direction, Option<u64>),
) -> Result<Option<Vec<Value>>, TableError> {
    let columns = Projection::new(&world.table, columns.iter().copied());
    let (mut values, mut each_key) = (RowValues::new(columns.columns().len()), Vec::new());
    let range = ShortRange { keys, direction, limit };
    let rows = view.get_range(&columns, range, &mut values)?;
    assert!(rows.is_some() || values.rows() == 0, "rows that are left to a scan are not added");
    let are_keys_read = view.get_range_keys(&world.table, range, &mut |key| {
        each_key.push(Value::Bytes(key.to_vec()));
        Ok(())
    })?;
    let keys_alone = Projection::new(&world.table, [world.table.row_key_index()]);
    let mut as_values = RowValues::new(1);
    let as_values = view.get_range(&keys_alone, range, &mut as_values)?.map(|_| as_values.values().collect::<Vec<_>>());
    // The cache may have dropped the block between two of these reads.
    if let (true, Some(as_values)) = (are_keys_read, as_values) {
        assert_eq!(each_key, as_values);
    }
    Ok(rows.map(|_| values.values().collect()))
}

/// A world with the rows 0, 2, 4 .. 126, merged into blocks of `block_rows` rows.
fn world_of(block_rows: usize, def: TableDef) -> World {
    let options = LayoutOptions { block_rows, ..run_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
    put_all(&mut world, (0..64).map(|k| (2 * k, k)));
    compact(&world);
    world
}

fn compact(world: &World) {
    world.store.compact(TableId(100), &ScanContext::new(Budget::default())).unwrap();
}

/// What a read of few rows gives for the rows from number `from` up to `to`: their numbers.
fn numbers(world: &World, from: i64, to: i64, order: (Direction, Option<u64>)) -> Option<Vec<i64>> {
    let logical = |k| world.logical(&plain_row(k, 0));
    let keys = BucketRange { bucket: None, range: KeyRange::new(logical(from), Some(logical(to))).unwrap() };
    let view = world.store.snapshot().unwrap();
    let number = |value: &Value| if let Value::Int(number) = value { *number } else { panic!("{value:?}") };
    few(world, &*view, &[0], &keys, order).unwrap().map(|values| values.iter().map(number).collect())
}

const FORWARD: (Direction, Option<u64>) = (Direction::Forward, None);
const REVERSE: (Direction, Option<u64>) = (Direction::Reverse, None);

#[test]
fn rows_of_one_block_are_read_at_once() {
    let world = world_of(16, table(100, 0, None));
    assert_eq!(numbers(&world, 4, 9, FORWARD), Some(vec![4, 6, 8]));
    assert_eq!(numbers(&world, 4, 9, REVERSE), Some(vec![8, 6, 4]));
    assert_eq!(numbers(&world, 4, 9, (Direction::Forward, Some(2))), Some(vec![4, 6]));
    assert_eq!(numbers(&world, 4, 9, (Direction::Reverse, Some(2))), Some(vec![8, 6]));
    assert_eq!(numbers(&world, 5, 6, FORWARD), Some(vec![]), "no row is one of few");
    assert_eq!(numbers(&world, 120, 1000, FORWARD), Some(vec![120, 122, 124, 126]), "no block follows");
}

#[test]
fn a_range_beyond_its_first_block_is_scanned() {
    let world = world_of(16, table(100, 0, None));
    assert_eq!(numbers(&world, 24, 40, FORWARD), None);
    assert_eq!(numbers(&world, 24, 40, REVERSE), None);
    assert_eq!(numbers(&world, 24, 40, (Direction::Reverse, Some(1))), None);
    let all_in_the_first = (Direction::Forward, Some(4));
    assert_eq!(numbers(&world, 24, 40, all_in_the_first), Some(vec![24, 26, 28, 30]));
}

#[test]
fn many_rows_are_scanned() {
    let world = world_of(64, table(100, 0, None));
    let most: Vec<i64> = (0..SHORT_RANGE_ROWS as i64).map(|k| 2 * k).collect();
    let end = 2 * SHORT_RANGE_ROWS as i64;
    assert_eq!(numbers(&world, 0, end - 1, FORWARD), Some(most));
    for order in [FORWARD, REVERSE] {
        assert_eq!(numbers(&world, 0, end + 1, order), None);
    }
}

#[test]
fn recent_rows_of_the_range_are_scanned() {
    let mut world = world_of(16, table(100, 0, None));
    put_all(&mut world, [(5, 0)].into_iter());
    assert_eq!(numbers(&world, 4, 9, FORWARD), None);
    assert_eq!(numbers(&world, 10, 15, FORWARD), Some(vec![10, 12, 14]), "those of the same block beside it are not");
    // In a run, it is above all of the block's rows.
    world.store.merge().unwrap();
    assert_eq!(world.storage().runs, 1);
    assert_eq!(numbers(&world, 10, 15, FORWARD), None);
    compact(&world);
    assert_eq!(numbers(&world, 4, 9, FORWARD), Some(vec![4, 5, 6, 8]));
}

#[test]
fn rows_that_may_be_expired_are_scanned() {
    let world = world_of(16, table(100, 0, Some(10)));
    assert_eq!(numbers(&world, 4, 9, FORWARD), Some(vec![4, 6, 8]));
    world.clock.0.fetch_add(20_000, Ordering::Relaxed);
    assert_eq!(numbers(&world, 4, 9, FORWARD), None);
}
