//! What is counted, how large blocks are, and merging on demand.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use saltwing_access::{Budget, KeyRanges, ScanContext, Table, TableError, TableStore, Total};
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::{EmbeddedTables, LayoutOptions, TableStorage};
use saltwing_types::table::{BLOCK_BYTES, BLOCK_ROWS, TableOption};
use saltwing_types::{SqlType, TableDef, TableId, Value};

use crate::world::{Request, World, put_all, read, request, table, thread_options, totals_in};

fn with_options(def: TableDef, options: &[(&str, i64)]) -> TableDef {
    let option = |(name, value): &(&str, i64)| TableOption {
        name: (*name).to_owned(),
        value: Value::Int(*value),
        honoured: true,
    };
    TableDef { options: options.iter().map(option).collect(), ..def }
}

fn unlimited() -> ScanContext {
    ScanContext::new(Budget::default())
}

fn stored(store: &EmbeddedTables) -> TableStorage {
    let stats = store.storage_stats();
    assert_eq!(stats.tables.len(), 1);
    stats.tables[0].clone()
}

#[test]
fn what_lies_where_is_counted() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    let empty = stored(&world.store);
    assert_eq!((empty.rows_written, empty.delta_rows, empty.blocks), (0, 0, 0));
    assert_eq!(empty.write_amplification(), None);
    put_all(&mut world, (0..40).map(|k| (k, k)));
    let recent = stored(&world.store);
    assert_eq!((recent.rows_written, recent.delta_rows, recent.block_rows), (40, 40, 0));
    assert!(recent.delta_bytes > 40 * 3 && recent.delta_bytes <= recent.bytes_written);
    world.store.merge().unwrap();
    let merged = stored(&world.store);
    assert_eq!((merged.delta_rows, merged.delta_bytes, merged.block_rows, merged.blocks), (0, 0, 40, 10));
    assert_eq!((merged.block_bytes, merged.block_rows_written), (recent.delta_bytes, 40));
    assert_eq!(merged.merge_steps, 1, "one entry owned all keys");
    assert_eq!(world.store.storage_stats().merges, 1);
    let wanted = 1.0 + merged.block_bytes_written as f64 / merged.bytes_written as f64;
    assert!((merged.write_amplification().unwrap() - wanted).abs() < 1e-9);
    // One row of a block: the block is written anew.
    put_all(&mut world, [(7, 8)].into_iter());
    world.store.merge().unwrap();
    let again = stored(&world.store);
    assert_eq!((again.rows_written, again.block_rows, again.block_rows_written, again.merge_steps), (41, 40, 44, 2));
    world.reopen().unwrap();
    let reopened = stored(&world.store);
    assert_eq!((reopened.block_rows, reopened.block_bytes, reopened.rows_written), (40, again.block_bytes, 0));
}

#[test]
fn parts_in_memory_are_hits() {
    let options = LayoutOptions { cache_bytes: 1 << 20, ..thread_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
    put_all(&mut world, (0..40).map(|k| (k, k)));
    world.store.merge().unwrap();
    let scan = |world: &World| {
        read(world, world.store.snapshot().unwrap(), &request(&world.table, vec![2])).unwrap();
        let stored = stored(&world.store);
        (stored.cache_hits, stored.cache_misses)
    };
    assert_eq!(scan(&world), (10, 0), "the integers of ten new blocks");
    world.reopen().unwrap();
    assert_eq!(scan(&world), (0, 10));
    assert_eq!(scan(&world), (10, 10));
    assert!(world.store.storage_stats().cache_bytes > 0);
}

/// What whole blocks add up to is known without reading them, unless it is more than a directory keeps.
#[test]
fn sums_of_whole_blocks_are_not_read() {
    let mut def = table(100, 0, None);
    def.columns[2].ty = SqlType::BigInt;
    let options = LayoutOptions { cache_bytes: 1 << 20, ..thread_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
    // Blocks of four values, of values and NULLs, of NULLs, and of what 64 bits cannot add up.
    let value = |k: i64| match k {
        ..16 => Some(1000 * k),
        16..32 if k % 3 == 0 => Some(-k),
        16..40 => None,
        _ => Some(i64::MAX),
    };
    let row = |k: i64| {
        [vec![Value::Int(k), Value::Null, value(k).map_or(Value::Null, Value::Int)], vec![Value::Null; 7]].concat()
    };
    world.commit(&(0..44).map(|k| (row(k), true)).collect::<Vec<_>>()).unwrap();
    world.store.merge().unwrap();
    world.reopen().unwrap();
    let blocks_read = |from: i64, to: i64| {
        let before = stored(&world.store).cache_misses;
        let logical = |k| world.logical(&[Value::Int(k), Value::Null]);
        let ranges = KeyRanges::from_iter(KeyRange::new(logical(from), Some(logical(to))));
        let request = Request { ranges, ..request(&world.table, vec![2]) };
        let found = totals_in(&world, world.store.snapshot().unwrap(), &request, &request.context).unwrap();
        let counted = request.context.counters.blocks_read.load(Ordering::Relaxed);
        let values = || (from..to).filter_map(value);
        let wanted = Total { known: values().count() as u64, sum: values().map(i128::from).sum() };
        assert_eq!((found.rows, found.columns[0]), ((to - from) as u64, wanted), "{from}..{to}");
        let read = stored(&world.store).cache_misses - before;
        assert_eq!(counted, read, "{from}..{to}");
        read
    };
    assert_eq!(blocks_read(4, 40), 0);
    assert_eq!(blocks_read(8, 36), 0, "from one block's first row to another one's last");
    assert_eq!(blocks_read(9, 31), 2, "the blocks at both ends");
    assert_eq!(blocks_read(36, 44), 1, "the sum that is not kept");
}

#[test]
fn blocks_are_as_large_as_their_table_says() {
    let def = with_options(table(100, 0, None), &[(BLOCK_ROWS, 8)]);
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), def.clone()).unwrap();
    put_all(&mut world, (0..40).map(|k| (k, k)));
    world.store.compact(TableId(100), &unlimited()).unwrap();
    assert_eq!(stored(&world.store).blocks, 5);
    // Other limits hold for what is merged from then on, and for all by demand.
    for (options, blocks) in [
        // Each block of 8 is cut in two; ten of 4 could not stand in much fewer of 5.
        (&[(BLOCK_ROWS, 5)][..], 10),
        (&[(BLOCK_ROWS, 20)], 2),
        (&[(BLOCK_ROWS, 20), (BLOCK_BYTES, 1)], 40),
        (&[(BLOCK_ROWS, i64::MAX), (BLOCK_BYTES, i64::MAX)], 1),
        (&[(BLOCK_ROWS, -1)], 40),
    ] {
        let steps = stored(&world.store).merge_steps;
        world.table = world.store.open_table(Table::new(Arc::new(with_options(def.clone(), options))).unwrap());
        world.store.merge().unwrap();
        assert_eq!(stored(&world.store).merge_steps, steps, "a merge alone leaves blocks as they are");
        world.store.compact(TableId(100), &unlimited()).unwrap();
        assert_eq!(stored(&world.store).blocks, blocks, "{options:?}");
        assert_eq!(world.read_all().unwrap(), world.rows);
        let steps = stored(&world.store).merge_steps;
        world.store.compact(TableId(100), &unlimited()).unwrap();
        assert_eq!(stored(&world.store).merge_steps, steps, "what fits is left alone");
    }
}

#[test]
fn compacting_waits_for_a_merge_that_is_under_way() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    world.store.start_merging().unwrap();
    for round in 0..20 {
        put_all(&mut world, (0..40).map(|k| (k, round)));
        if round % 5 == 4 {
            world.store.compact(TableId(100), &unlimited()).unwrap();
            let stored = stored(&world.store);
            assert_eq!((stored.delta_rows, stored.block_rows), (0, 40));
        }
    }
    assert!(matches!(world.store.compact(TableId(7), &unlimited()), Err(TableError::NoSuchTable(7))));
}

/// A compaction that is cancelled leaves all rows where a reader finds them, and the next one ends it.
#[test]
fn a_compaction_is_stopped_between_its_steps() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..40).map(|k| (k, k)));
    let context = unlimited();
    context.cancel();
    assert!(matches!(world.store.compact(TableId(100), &context), Err(TableError::Cancelled)));
    assert_eq!(stored(&world.store).block_rows, 0);
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.store.compact(TableId(100), &unlimited()).unwrap();
    assert_eq!((stored(&world.store).block_rows, stored(&world.store).delta_rows), (40, 0));
}

#[test]
fn blocks_stay_full_while_rows_come_among_theirs() {
    let options = LayoutOptions { block_rows: 16, delta_rows: 1000, step_blocks: 64, ..thread_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
    // Each merge brings a sixth more rows to every block.
    let later = |k: &i64| (k % 7).max(1);
    for round in 1..=6 {
        put_all(&mut world, (0..3000).filter(|k| later(k) == round).map(|k| (k, k)));
        world.store.merge().unwrap();
        let TableStorage { blocks, block_rows, .. } = world.storage();
        assert!(5 * block_rows >= 4 * 16 * blocks, "round {round}: {block_rows} rows in {blocks} blocks");
    }
    assert_eq!(world.read_all().unwrap(), world.rows);
}

/// Rows that go leave blocks half full, which a compaction puts together: where nothing is to be gained it does nothing.
#[test]
fn compacting_fills_blocks() {
    let options = LayoutOptions { block_rows: 16, delta_rows: 10_000, step_blocks: 64, ..thread_options() };
    for (kept_of_ten, blocks_before, blocks) in [(10, 63, 63), (9, 63, 63), (7, 63, 47), (6, 62, 39), (5, 50, 34)] {
        let mut world = World::open(Arc::new(MemoryStore::new()), options.clone(), table(100, 0, None)).unwrap();
        put_all(&mut world, (0..1000).map(|k| (k, k)));
        world.store.merge().unwrap();
        // Each merge sees changes of blocks that are no neighbours.
        for round in 0..4 {
            let is_gone = |row: &&Vec<Value>| matches!(row[0], Value::Int(k) if (k / 16) % 4 == round && (k * 7) % 10 >= kept_of_ten);
            let gone: Vec<_> = world.rows.values().filter(is_gone).map(|row| (row.clone(), false)).collect();
            world.commit(&gone).unwrap();
            world.store.merge().unwrap();
        }
        let before = world.storage().blocks;
        world.compact();
        let compacted = world.storage();
        assert_eq!((before, compacted.blocks), (blocks_before, blocks), "{kept_of_ten} of 10 kept");
        world.compact();
        assert_eq!(world.storage().merge_steps, compacted.merge_steps);
        assert_eq!(world.read_all().unwrap(), world.rows);
        world.reopen().unwrap();
        world.compact();
        assert_eq!((world.storage().blocks, world.storage().merge_steps), (blocks, 0));
    }
}
