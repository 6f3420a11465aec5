//! Values too long for a block.

use std::sync::Arc;

use saltwing_access::{Direction, Projection, Table, TableError, TableStore};
use saltwing_store::{Durability, KeyBounds, MemoryStore, OrderedKv, Space, WriteBatch};
use saltwing_table::LayoutOptions;
use saltwing_types::Value;

use crate::world::{Request, World, plain_row, read, request, table, thread_options};

const OVERFLOW: Space = Space::new(9);

/// Values of more than 16 KB lie by themselves.
fn options() -> LayoutOptions {
    LayoutOptions { value_bytes: (16 << 10) + 1, block_bytes: 64 << 10, ..thread_options() }
}

fn row(k: i64, text: String) -> (Vec<Value>, bool) {
    let mut row = plain_row(k, k);
    row[3] = Value::Text(text);
    (row, true)
}

/// Text that does not get smaller, of so many bytes.
fn noise(bytes: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + (state >> 58) as u8)
    };
    (0..bytes).map(|_| next()).collect()
}

fn far_keys(world: &World) -> Vec<Vec<u8>> {
    let mut cursor = world.kv.cursor(OVERFLOW, KeyBounds::all(), Direction::Forward).unwrap();
    std::iter::from_fn(|| cursor.next().unwrap()).map(|(key, _)| key.to_vec()).collect()
}

fn merged(sizes: &[usize]) -> World {
    let mut world = World::open(Arc::new(MemoryStore::new()), options(), table(100, 0, None)).unwrap();
    let text = |k: usize, bytes| if k.is_multiple_of(2) { noise(bytes, k as u64) } else { "long ".repeat(bytes / 5) };
    let rows: Vec<_> = sizes.iter().enumerate().map(|(k, bytes)| row(k as i64, text(k, *bytes))).collect();
    world.commit(&rows).unwrap();
    world.store.merge().unwrap();
    world
}

#[test]
fn values_of_all_sizes_read_as_they_were_written() {
    let world = merged(&[3, 100_000, 16_384, 16_385, 16_386, 16_390, 0, 1_000_000, 20, 99_999, 5, 16_380]);
    assert_eq!(far_keys(&world).len(), 6);
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.assert_nothing_is_left_over();
    let view = world.store.snapshot().unwrap();
    for row in world.rows.values() {
        let found = view.get(&Projection::all(&world.table), &world.physical(row)).unwrap();
        assert_eq!(found.as_ref(), Some(row));
    }
    for (direction, columns) in
        [(Direction::Forward, vec![3, 0]), (Direction::Reverse, vec![3]), (Direction::Reverse, vec![0, 2])]
    {
        let found =
            read(&world, view.clone(), &Request { direction, ..request(&world.table, columns.clone()) }).unwrap();
        let mut wanted: Vec<Vec<Value>> =
            world.rows.values().map(|row| columns.iter().map(|&c| row[c].clone()).collect()).collect();
        if direction == Direction::Reverse {
            wanted.reverse();
        }
        assert!(found == wanted, "{direction:?} {columns:?}");
    }
}

#[test]
fn a_block_of_rows_with_long_values_is_no_smaller_than_others() {
    let world = merged(&[100_000; 40]);
    assert_eq!(world.store.storage_stats().tables[0].blocks, 10, "four rows a block");
}

#[test]
fn a_merge_leaves_long_values_where_they_are() {
    let mut world = merged(&[20_000; 8]);
    let before = far_keys(&world);
    assert_eq!(before.len(), 8);
    // Each block has a row that changes, and its others are written anew.
    let misses = world.store.storage_stats().tables[0].cache_misses;
    world.commit(&[row(1, "short".into()), row(5, noise(30_000, 5))]).unwrap();
    world.store.merge().unwrap();
    let after = far_keys(&world);
    assert_eq!(after.iter().filter(|key| before.contains(key)).count(), 6, "those of the rows that stayed");
    assert_eq!(after.len(), 7);
    let read = world.store.storage_stats().tables[0].cache_misses - misses;
    assert!(read <= 2 * 6, "{read} parts of two blocks with three families, and no value");
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.reopen().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.assert_nothing_is_left_over();
}

#[test]
fn an_old_view_keeps_its_long_values_through_many_merges() {
    let mut world = merged(&[20_000; 4]);
    let rows = world.rows.clone();
    let view = world.store.snapshot().unwrap();
    // First a neighbour goes, so that another block names the values; then they go, and that block with them.
    world.commit(&[row(0, "short".into())]).unwrap();
    world.store.merge().unwrap();
    let changes: Vec<_> = (0..4).map(|k| row(k, "short".into())).collect();
    world.commit(&changes).unwrap();
    world.store.merge().unwrap();
    world.store.merge().unwrap();
    assert_eq!(far_keys(&world).len(), 4);
    let columns: Vec<usize> = (0..world.def.columns.len()).collect();
    let found = read(&world, view.clone(), &request(&world.table, columns)).unwrap();
    assert!(found.iter().eq(rows.values()));
    drop(view);
    world.store.merge().unwrap();
    assert!(far_keys(&world).is_empty());
    world.assert_nothing_is_left_over();
}

#[test]
fn long_values_of_a_dropped_column_and_of_a_purged_table_go() {
    let mut world = merged(&[20_000; 4]);
    let mut def = table(100, 0, None);
    def.columns[3].family = None;
    def.columns.remove(3);
    world.table = world.store.open_table(Table::new(Arc::new(def)).unwrap());
    assert_eq!(far_keys(&world).len(), 4, "dropping a column writes nothing");
    let mut writes = world.store.batch();
    let mut changed = plain_row(1, 9);
    changed.remove(3);
    writes.put(&world.table, changed).unwrap();
    writes.commit(Durability::Buffered).unwrap();
    world.store.merge().unwrap();
    assert!(far_keys(&world).is_empty(), "the block was written anew without it");

    let world = merged(&[20_000; 4]);
    world.store.close_table(world.def.id);
    world.store.purge(world.def.id).unwrap();
    assert!(far_keys(&world).is_empty());
}

#[test]
fn a_missing_or_damaged_long_value_is_an_error() {
    for value in [None, Some(b"damaged")] {
        let world = merged(&[20_000; 4]);
        let mut batch = WriteBatch::new();
        let key = far_keys(&world).remove(2);
        match value {
            None => batch.delete(OVERFLOW, key),
            Some(value) => batch.put(OVERFLOW, key, value),
        }
        world.kv.write(batch, Durability::Buffered).unwrap();
        let view = world.store.snapshot().unwrap();
        let get = |k: i64| {
            let key = world.physical(&plain_row(k, 0));
            view.get(&Projection::all(&world.table), &key)
        };
        assert!(get(1).unwrap().is_some(), "others can be read");
        assert!(matches!(get(2), Err(TableError::CorruptBlock { .. })));
        assert!(matches!(world.read_all(), Err(TableError::CorruptBlock { .. })));
        let ints = read(&world, view.clone(), &request(&world.table, vec![2])).unwrap();
        assert_eq!(ints.len(), 4, "and other columns");
    }
}
