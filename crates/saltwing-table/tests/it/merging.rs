//! Views, merges, sweeps and changes of tables, one case at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use saltwing_access::{Direction, Durability, ScanOrder, Table, TableStore};
use saltwing_store::{KeyBounds, MemoryStore, OrderedKv, Space, WriteBatch};
use saltwing_table::LayoutOptions;
use saltwing_types::table::{DefaultDef, DefaultKind};
use saltwing_types::{CompareOp, Expr, SqlType, TableId, Value};

use crate::world::{Request, World, compared, more_than, plain_row, put_all, read, request, table, thread_options};

#[test]
fn a_count_over_a_range_reads_no_values() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..100).map(|k| (k, k)));
    world.store.merge().unwrap();
    let request = request(&world.table, Vec::new());
    assert_eq!(read(&world, world.store.snapshot().unwrap(), &request).unwrap().len(), 100);
    let counters = &request.context.counters;
    assert_eq!(counters.keys_read.load(Ordering::Relaxed), 100);
    assert_eq!(counters.bytes_read.load(Ordering::Relaxed), 0);
}

#[test]
fn blocks_that_no_row_can_match_are_not_read() {
    for reverse in [false, true] {
        let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
        put_all(&mut world, (0..100).map(|k| (k, k)));
        world.store.merge().unwrap();
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let scan = |filter| {
            let request = Request { filter, direction, ..request(&world.table, vec![0]) };
            let rows = read(&world, world.store.snapshot().unwrap(), &request).unwrap().len();
            let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let counters = &request.context.counters;
            (rows, load(&counters.keys_read), load(&counters.blocks_read), load(&counters.blocks_skipped))
        };
        assert_eq!(scan(vec![more_than(-1)]), (100, 100, 25, 0));
        assert_eq!(scan(vec![more_than(89)]), (10, 100, 3, 22));
        assert_eq!(scan(vec![more_than(1000)]), (0, 100, 0, 25));
    }
    // A row of the delta is looked at, whatever the block's summary says.
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..100).map(|k| (k, k)));
    world.store.merge().unwrap();
    put_all(&mut world, [(0, 5000)].into_iter());
    let request = Request { filter: vec![more_than(1000)], ..request(&world.table, vec![0]) };
    assert_eq!(read(&world, world.store.snapshot().unwrap(), &request).unwrap(), [[Value::Int(0)]]);
}

#[test]
fn blocks_are_passed_over_by_values_of_many_types() {
    use saltwing_types::value::Timestamp;
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    let decimal = |k: i64| Value::Decimal(saltwing_types::Decimal::new(k.into(), 2).unwrap());
    let row = |k: i64| {
        let mut row = plain_row(k, k);
        // Every other one lies by itself; its first bytes are known all the same.
        row[3] = Value::text(format!("{k:04}{}", if k % 2 == 0 { " and some more text" } else { "" }));
        row[5] = Value::Double((k - 50) as f64 / 3.0);
        row[6] = decimal(k - 50);
        row[7] = Value::Bytes(vec![0, k as u8]);
        row[8] = Value::Timestamp(Timestamp { ms: k - 50, nanos: 7 });
        (row, true)
    };
    world.commit(&(0..100).map(row).collect::<Vec<_>>()).unwrap();
    world.store.merge().unwrap();
    let scan = |column, op, value| {
        let request = Request { filter: vec![compared(column, op, value)], ..request(&world.table, vec![0]) };
        let rows = read(&world, world.store.snapshot().unwrap(), &request).unwrap().len();
        (rows, request.context.counters.blocks_read.load(Ordering::Relaxed))
    };
    for (column, value) in [
        (2, Value::Int(90)),
        (3, Value::text("0090")),
        (5, Value::Double(40.0 / 3.0)),
        (6, decimal(40)),
        (7, Value::Bytes(vec![0, 90])),
        (8, Value::Timestamp(Timestamp { ms: 40, nanos: 7 })),
    ] {
        assert_eq!(scan(column, CompareOp::GtEq, value.clone()), (10, 3), "column {column}");
        let found = usize::from(column != 3);
        assert_eq!(scan(column, CompareOp::Eq, value.clone()), (found, 1), "column {column}");
        assert_eq!(scan(column, CompareOp::Lt, value), (90, 23), "column {column}");
    }
    // More digits than the column has, and a value of NaN's size.
    let between = Value::Decimal("-0.485".parse().unwrap());
    assert_eq!(scan(6, CompareOp::LtEq, between), (2, 1));
    assert_eq!(scan(5, CompareOp::Gt, Value::Double(f64::INFINITY)), (0, 0));
    // Text that differs only after its known prefix is looked at.
    let alike = |k: i64| {
        let mut row = plain_row(k, k);
        row[3] = Value::text(format!("sixteen letters {k:04}"));
        (row, true)
    };
    world.commit(&(0..100).map(alike).collect::<Vec<_>>()).unwrap();
    world.store.merge().unwrap();
    let request = Request {
        filter: vec![compared(3, CompareOp::GtEq, Value::text("sixteen letters 0090"))],
        ..request(&world.table, vec![0])
    };
    assert_eq!(read(&world, world.store.snapshot().unwrap(), &request).unwrap().len(), 10);
    let blocks = world.store.storage_stats().tables[0].blocks;
    assert_eq!(request.context.counters.blocks_read.load(Ordering::Relaxed), blocks);
}

/// An instant beyond what can be computed with is an error, whatever else is known of its block.
#[test]
fn no_summary_hides_an_instant_out_of_range() {
    use saltwing_types::value::Timestamp;
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    let mut row = plain_row(1, 1);
    row[8] = Value::Timestamp(Timestamp { ms: i64::MAX / 2, nanos: 0 });
    world.commit(&[(row, true)]).unwrap();
    world.store.merge().unwrap();
    let before = Value::Timestamp(Timestamp { ms: 0, nanos: 0 });
    let request = Request { filter: vec![compared(8, CompareOp::Lt, before)], ..request(&world.table, vec![0]) };
    let error = read(&world, world.store.snapshot().unwrap(), &request).unwrap_err();
    assert_eq!(error.code().as_str(), "bad_datetime");
}

/// Each commit gives all rows one value; whoever looks sees them with one value, while blocks are made below.
#[test]
fn readers_see_whole_commits_while_a_thread_merges() {
    let world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 3, None)).unwrap();
    world.store.start_merging().unwrap();
    let done = AtomicBool::new(false);
    let commit = |value: i64| {
        let mut writes = world.store.batch();
        for k in 0..30 {
            writes.put(&world.table, plain_row(k, value)).unwrap();
        }
        writes.commit(Durability::Buffered).unwrap();
    };
    commit(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (1..150).for_each(commit);
            done.store(true, Ordering::Relaxed);
        });
        let mut last = 0;
        while !done.load(Ordering::Relaxed) {
            let view = world.store.snapshot().unwrap();
            for order in [ScanOrder::Merged, ScanOrder::ByBucket] {
                let request = Request { order, ..request(&world.table, vec![2]) };
                let rows = read(&world, view.clone(), &request).unwrap();
                assert_eq!(rows.len(), 30);
                assert!(rows.iter().all(|row| row == &rows[0]));
                let Value::Int(value) = rows[0][0] else { panic!("not an integer") };
                assert!(value >= last);
                last = value;
            }
        }
    });
}

#[test]
fn a_view_keeps_its_blocks_and_they_go_with_it() {
    let memory = MemoryStore::new();
    let mut world = World::open(Arc::new(memory.clone()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 1)));
    world.store.merge().unwrap();
    let view = world.store.snapshot().unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 2)));
    world.store.merge().unwrap();
    let stored = || {
        let count = |space| {
            let mut cursor = memory.cursor(Space::new(space), KeyBounds::all(), Direction::Forward).unwrap();
            std::iter::from_fn(|| cursor.next().unwrap()).count()
        };
        // Deltas, directory, fixed parts, and replaced blocks.
        [2, 3, 4, 5, 7].map(count)
    };
    let [even, odd, directory, fixed, replaced] = stored();
    assert_eq!((even, odd), (0, 0), "merged generations are gone");
    assert_eq!((fixed, replaced), (2 * directory, directory), "blocks of the view are there");
    let rows = read(&world, view.clone(), &request(&world.table, vec![2])).unwrap();
    assert!(rows.len() == 50 && rows.iter().all(|row| row[0] == Value::Int(1)));
    drop(view);
    world.store.merge().unwrap();
    assert_eq!(stored(), [0, 0, directory, directory, 0]);
    // A crash while a view lived leaves blocks that the next opening knows of.
    let view = world.store.snapshot().unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 3)));
    world.store.merge().unwrap();
    let later = World::open(Arc::new(memory.clone()), thread_options(), table(100, 0, None)).unwrap();
    later.store.merge().unwrap();
    assert_eq!(stored(), [0, 0, directory, directory, 0]);
    drop(view);
}

#[test]
fn a_large_batch_and_large_values_go_through() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    world.store.start_merging().unwrap();
    let large = |k: i64, bytes: usize| {
        let mut row = plain_row(k, k);
        row[3] = Value::text("x".repeat(bytes));
        (row, true)
    };
    let changes: Vec<_> = (0..500).map(|k| large(k, if k % 100 == 0 { 200_000 } else { 3 })).collect();
    world.commit(&changes).unwrap();
    world.commit(&[large(501, 1_000_000)]).unwrap();
    world.store.merge().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.reopen().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
}

/// Small deltas would write blocks anew for a few rows each: they are an eighth of the rows in blocks, unless their bytes
/// are too many.
#[test]
fn deltas_grow_with_what_is_in_blocks() {
    for (delta_bytes, recent_most) in [(1 << 30, 199), (1000, 40)] {
        let options = LayoutOptions { block_rows: 64, delta_bytes, ..LayoutOptions::tiny() };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
        put_all(&mut world, (0..1600).map(|k| (k, k)));
        world.store.merge().unwrap();
        let (steps, mut recent) = (world.storage().merge_steps, 0);
        while world.storage().merge_steps == steps {
            recent = world.storage().delta_rows;
            assert!(recent <= recent_most, "{recent} rows of {delta_bytes} bytes");
            put_all(&mut world, [(recent as i64 * 7, 0)].into_iter());
        }
        assert!(recent > recent_most / 2, "merged at {recent} rows of {delta_bytes} bytes");
    }
}

#[test]
fn expired_rows_go_with_merges_and_sweeps() {
    let memory = MemoryStore::new();
    let mut world = World::open(Arc::new(memory), thread_options(), table(100, 0, Some(10))).unwrap();
    put_all(&mut world, (0..20).map(|k| (k, 1)));
    world.store.merge().unwrap();
    world.clock.0.store(5_000, Ordering::Relaxed);
    put_all(&mut world, (10..30).map(|k| (k, 2)));
    world.clock.0.store(10_000, Ordering::Relaxed);
    let count = |world: &World| {
        let request = request(&world.table, Vec::new());
        let rows = read(world, world.store.snapshot().unwrap(), &request).unwrap().len() as u64;
        assert_eq!(request.context.counters.keys_read.load(Ordering::Relaxed), rows);
        rows
    };
    assert_eq!(count(&world), 20);
    assert_eq!(world.store.sweep().unwrap(), 10, "without a write to the blocks");
    assert_eq!(world.store.sweep().unwrap(), 0);
    assert_eq!(count(&world), 20);
    world.store.merge().unwrap();
    assert_eq!(count(&world), 20);
    world.clock.0.store(15_000, Ordering::Relaxed);
    assert_eq!(count(&world), 0);
    assert_eq!(world.store.sweep().unwrap(), 20);
    assert_eq!(count(&world), 0);
}

/// Their newest write time says it.
#[test]
fn blocks_that_are_expired_as_a_whole_go_unread() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, Some(10))).unwrap();
    put_all(&mut world, (0..40).map(|k| (k, 1)));
    world.store.merge().unwrap();
    world.clock.0.store(5_000, Ordering::Relaxed);
    put_all(&mut world, (36..44).map(|k| (k, 2)));
    world.store.merge().unwrap();
    world.reopen().unwrap();
    world.clock.0.store(10_000, Ordering::Relaxed);
    let swept = |world: &World| {
        let swept = world.store.sweep().unwrap();
        let storage = world.storage();
        (swept, storage.block_rows, storage.cache_misses)
    };
    // A row that is newer counts for its key, so that of one block the keys are read.
    put_all(&mut world, [(3, 3)].into_iter());
    assert_eq!(swept(&world), (35, 8, 1));
    assert_eq!(swept(&world), (0, 8, 1));
    world.rows.retain(|_, row| row[2] != Value::Int(1));
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}

#[test]
fn a_purged_table_leaves_nothing() {
    let memory = MemoryStore::new();
    let mut world = World::open(Arc::new(memory.clone()), thread_options(), table(100, 0, None)).unwrap();
    let other = world.store.open_table(Table::new(Arc::new(table(101, 0, None))).unwrap());
    let mut writes = world.store.batch();
    writes.put(&other, plain_row(1, 1)).unwrap();
    writes.commit(Durability::Buffered).unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 1)));
    world.store.merge().unwrap();
    put_all(&mut world, (40..60).map(|k| (k, 2)));
    let view = world.store.snapshot().unwrap();
    world.store.close_table(TableId(100));
    world.store.purge(TableId(100)).unwrap();
    assert_eq!(read(&world, view.clone(), &request(&world.table, vec![0])).unwrap().len(), 60, "an old view goes on");
    drop(view);
    world.store.purge(TableId(100)).unwrap();
    for space in 0..=255 {
        let bounds = KeyBounds::prefix(&100u32.to_be_bytes());
        let mut cursor = memory.cursor(Space::new(space), bounds, Direction::Forward).unwrap();
        assert!(cursor.next().unwrap().is_none(), "space {space}");
    }
    assert!(world.read_all().unwrap().is_empty());
    world.table = other;
    assert_eq!(world.read_all().unwrap().len(), 1);
}

#[test]
fn a_column_added_later_reads_as_its_default_and_rewrites_nothing() {
    let memory = MemoryStore::new();
    let mut old = table(100, 0, None);
    old.columns.pop();
    let mut world = World::open(Arc::new(memory), thread_options(), old).unwrap();
    let row = |k: i64| {
        let mut row = plain_row(k, k);
        row.pop();
        (row, true)
    };
    let changes: Vec<_> = (0..12).map(row).collect();
    world.commit(&changes).unwrap();
    world.store.merge().unwrap();
    world.commit(&[row(12)]).unwrap();
    let mut new = table(100, 0, None);
    let column = new.columns.last_mut().unwrap();
    // In the first family, which all rows have.
    (column.family, column.slot) = (Some(0), 3);
    let default = Expr::Literal(Value::Date(7), SqlType::Date);
    column.default = Some(DefaultDef { text: "d".into(), expr: default, kind: DefaultKind::Constant });
    world.def = Arc::new(new);
    world.table = world.store.open_table(Table::new(world.def.clone()).unwrap());
    let days = |world: &World| read(world, world.store.snapshot().unwrap(), &request(&world.table, vec![9])).unwrap();
    assert_eq!(days(&world), vec![[Value::Date(7)]; 13]);
    let mut changed = plain_row(3, 3);
    changed[9] = Value::Date(9);
    let mut writes = world.store.batch();
    writes.put(&world.table, changed).unwrap();
    writes.commit(Durability::Buffered).unwrap();
    world.store.merge().unwrap();
    let found = days(&world);
    assert_eq!(found.iter().filter(|row| row[0] == Value::Date(9)).count(), 1);
    assert_eq!(found.iter().filter(|row| row[0] == Value::Date(7)).count(), 12);
}

#[test]
fn the_form_before_this_one_is_refused() {
    let memory = MemoryStore::new();
    let mut batch = WriteBatch::new();
    batch.put(Space::new(1), b"row", b"value");
    memory.write(batch, Durability::Buffered).unwrap();
    let error = World::open(Arc::new(memory), thread_options(), table(100, 0, None)).err().unwrap();
    assert_eq!(error.code().as_str(), "not_supported");
}

/// Closing leaves no more recent rows than a delta should have: each opening would read them all.
#[test]
fn closing_merges_what_is_above_the_limits_of_a_delta() {
    let memory = MemoryStore::new();
    // Nothing merges in the background: its thread is not started.
    let mut world = World::open(Arc::new(memory), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..10).map(|k| (k, k)));
    world.store.close().unwrap();
    assert_eq!(world.storage().delta_rows, 10, "below the limit they stay where they are");
    put_all(&mut world, (0..500).map(|k| (k, k)));
    world.store.close().unwrap();
    assert_eq!(world.storage().delta_rows, 0);
    world.reopen().unwrap();
    assert_eq!(world.storage().delta_rows, 0);
    assert_eq!(world.read_all().unwrap(), world.rows);
}
