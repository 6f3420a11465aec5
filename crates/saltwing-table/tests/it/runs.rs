//! Runs: rows above the blocks of their entries.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use saltwing_access::{Budget, OldRow, Projection, RowChange, ScanContext, Table, TableError, TableStore};
use saltwing_store::{Direction, Durability, KeyBounds, MemoryStore, OrderedKv, Space, WriteBatch};
use saltwing_table::{LayoutOptions, Merging};
use saltwing_types::table::{DefaultDef, DefaultKind};
use saltwing_types::{ColumnDef, Expr, SqlType, TableDef, TableId, Value};

use crate::world::{Request, World, more_than, plain_row, put_all, read, request, run_options, table};

/// Numbers that look like chance, the same each time.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |most| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    }
}

/// A world of so many rows in blocks of 16, without a run.
fn merged(def: TableDef, rows: i64) -> World {
    let mut world = World::open(Arc::new(MemoryStore::new()), run_options(), def).unwrap();
    put_all(&mut world, (0..rows).map(|k| (2 * k, k)));
    world.store.compact(TableId(100), &unlimited()).unwrap();
    assert_eq!(world.storage().runs, 0);
    world
}

fn unlimited() -> ScanContext {
    ScanContext::new(Budget::default())
}

/// Writes rows, or deletes them, and merges: each goes into a run of its own.
fn merge(world: &mut World, changes: &[(i64, Option<i64>)]) {
    let changes: Vec<_> = changes.iter().map(|(k, i)| (plain_row(*k, i.unwrap_or(0)), i.is_some())).collect();
    world.commit(&changes).unwrap();
    world.store.merge().unwrap();
}

/// Rows and order of all scans, and all points, are those of the model.
fn assert_reads(world: &World) {
    let view = world.store.snapshot().unwrap();
    let wanted: Vec<Vec<Value>> = world.rows.values().map(|row| vec![row[2].clone(), row[0].clone()]).collect();
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut found = read(world, view.clone(), &Request { direction, ..request(&world.table, vec![2, 0]) }).unwrap();
        if direction == Direction::Reverse {
            found.reverse();
        }
        assert_eq!(found, wanted, "{direction:?}");
    }
    let count = request(&world.table, Vec::new());
    assert_eq!(read(world, view.clone(), &count).unwrap().len(), wanted.len());
    assert_eq!(count.context.counters.keys_read.load(Ordering::Relaxed), wanted.len() as u64);
    for k in -1..200 {
        let key = world.physical(&plain_row(k, 0));
        let wanted = world.rows.get(&world.logical(&plain_row(k, 0)));
        assert_eq!(view.get(&Projection::all(&world.table), &key).unwrap().as_ref(), wanted);
        assert_eq!(view.contains(&world.table, &key).unwrap(), wanted.is_some());
        let point = world.store.point(&Projection::new(&world.table, [2]), &key).unwrap();
        let point = point.map(|row| row.values.values().collect::<Vec<_>>());
        assert_eq!(point, wanted.map(|row| vec![row[2].clone()]));
    }
}

#[test]
fn few_rows_go_above_their_blocks() {
    let mut world = merged(table(100, 0, None), 64);
    let before = world.storage();
    // New between others, in the place of one, and one that goes: of three entries.
    merge(&mut world, &[(1, Some(1)), (40, Some(2)), (80, None)]);
    let stored = world.storage();
    assert_eq!((stored.runs, stored.run_rows, stored.folds), (1, 3, 0), "one run for its neighbours");
    assert_eq!(stored.block_rows_written - before.block_rows_written, 3);
    assert_eq!(stored.run_rows_written, 3);
    assert_eq!((stored.blocks, stored.block_rows), (before.blocks, 64));
    assert_reads(&world);
    // Newer ones of the same keys, in the run and out of it.
    merge(&mut world, &[(1, None), (40, Some(3)), (80, Some(4))]);
    merge(&mut world, &[(3, Some(5)), (42, None), (81, Some(6))]);
    assert_reads(&world);
    let before = (world.storage().runs, world.storage().run_rows);
    world.reopen().unwrap();
    assert_eq!((world.storage().runs, world.storage().run_rows), before);
    assert_reads(&world);
    // Rows of the delta above all of them.
    put_all(&mut world, [(1, 7), (43, 8)].into_iter());
    assert_reads(&world);
    // Enough of them: the blocks are written anew.
    for round in 0..12 {
        // By turns without one of the entries, so that a run is left by some of its entries.
        let keys = [4, 45, 85].into_iter().enumerate().filter(|(i, _)| (*i as i64) != round % 4);
        let rows: Vec<_> = keys.map(|(_, k)| (k + round, (round % 3 > 0).then_some(k))).collect();
        merge(&mut world, &rows);
        let before = (world.storage().runs, world.storage().run_rows, world.storage().block_rows);
        world.reopen().unwrap();
        assert_eq!((world.storage().runs, world.storage().run_rows, world.storage().block_rows), before);
        assert_reads(&world);
    }
    assert!(world.run_work().1 >= 3);
    world.assert_nothing_is_left_over();
}

#[test]
fn rows_are_written_a_few_times_whatever_their_keys_are() {
    // 50 blocks of 64 rows, and deltas of one row for each 190 of these.
    let written = |run_deltas, commits| {
        let options = LayoutOptions {
            block_rows: 64,
            block_bytes: 64 << 10,
            delta_bytes: 300,
            cache_bytes: 16 << 20,
            step_blocks: 64,
            run_deltas,
            ..run_options()
        };
        let mut def = table(100, 0, None);
        (def.columns[0].ty, def.key.columns[0].ty) = (SqlType::Integer, SqlType::Integer);
        let mut world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
        let mut next = numbers(7);
        let rows: Vec<(i64, i64)> = (0..3200).map(|i| (next(1 << 30) as i64, i)).collect();
        put_all(&mut world, rows.into_iter());
        world.store.compact(TableId(100), &unlimited()).unwrap();
        let before = world.storage();
        for _ in 0..commits {
            let rows: Vec<(i64, i64)> = (0..8).map(|i| (next(1 << 30) as i64, i)).collect();
            put_all(&mut world, rows.into_iter());
        }
        let after = world.storage();
        let bytes = (after.block_bytes_written - before.block_bytes_written) as f64
            / (after.bytes_written - before.bytes_written) as f64;
        let rows = (after.block_rows_written - before.block_rows_written) as f64
            / (after.rows_written - before.rows_written) as f64;
        let ratio = before.block_rows as f64 * (after.merge_steps - before.merge_steps) as f64
            / (after.rows_written - before.rows_written) as f64;
        assert!(ratio > 180.0, "{ratio} rows in blocks a row of a delta");
        assert_eq!(world.read_all().unwrap().len(), world.rows.len());
        (rows, 1.0 + bytes, after.folds)
    };
    let (rows, bytes, folds) = written(8, 360);
    assert!(rows < 9.0 && bytes < 10.0 && folds > 30, "{rows} rows, {bytes} bytes a row, {folds} folds");
    let (alone, ..) = written(u64::MAX, 60);
    assert!(alone > 3.0 * rows, "{alone} rows a row without runs, {rows} with them");
}

#[test]
fn keys_that_come_in_order_make_no_runs() {
    let mut world = merged(table(100, 0, None), 40);
    for k in 0..200 {
        merge(&mut world, &[(1000 + k, Some(k))]);
    }
    assert_eq!((world.storage().runs, world.storage().run_rows_written), (0, 0));
    assert_eq!(world.read_all().unwrap(), world.rows);
}

#[test]
fn small_tables_have_no_runs() {
    let options = LayoutOptions { run_deltas: 20, ..run_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
    put_all(&mut world, (0..64).map(|k| (2 * k, k)));
    world.store.merge().unwrap();
    merge(&mut world, &[(1, Some(1))]);
    assert_eq!(world.storage().runs, 0, "64 rows are 16 deltas");
    put_all(&mut world, (0..100).map(|k| (2 * k, k)));
    world.store.merge().unwrap();
    merge(&mut world, &[(3, Some(1))]);
    assert_eq!(world.storage().runs, 1);
}

/// Runs lie in memory as blocks do; which keys they may have is known without reading them.
#[test]
fn a_row_that_no_run_has_is_found_without_reading_them() {
    let mut world = merged(table(100, 0, None), 64);
    for k in [1, 3, 5] {
        merge(&mut world, &[(k, Some(k))]);
    }
    world.reopen().unwrap();
    assert!(world.storage().runs > 0);
    let view = world.store.snapshot().unwrap();
    let key = |k| world.physical(&plain_row(k, 0));
    let mut misses = Vec::new();
    for k in [8, 8, 20, 22] {
        let before = world.storage().cache_misses;
        assert!(view.contains(&world.table, &key(k)).unwrap());
        misses.push(world.storage().cache_misses - before);
    }
    assert_eq!(misses, [1, 0, 0, 0], "the block's keys");
}

/// Readers and writers go on while a thread makes and folds runs.
#[test]
fn runs_are_made_and_folded_beside_commits() {
    let options = LayoutOptions { merging: Merging::Background, ..run_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 3, None)).unwrap();
    world.store.start_merging().unwrap();
    put_all(&mut world, (0..200).map(|k| (2 * k, k)));
    let mut next = numbers(11);
    let mut views = Vec::new();
    for round in 0..300 {
        let change = |_| (plain_row(next(400) as i64, round), round % 5 > 0);
        let changes: Vec<_> = (0..4).map(change).collect();
        world.commit(&changes).unwrap();
        if round % 10 == 0 {
            assert_eq!(world.read_all().unwrap(), world.rows, "round {round}");
            views.push((world.store.snapshot().unwrap(), world.rows.clone()));
        }
        if views.len() > 3 {
            let (view, rows) = views.remove(0);
            let found = read(&world, view, &request(&world.table, vec![0, 2])).unwrap();
            assert!(
                found.iter().eq(rows
                    .values()
                    .map(|row| vec![row[0].clone(), row[2].clone()])
                    .collect::<Vec<_>>()
                    .iter())
            );
        }
    }
    views.clear();
    let (run_rows, folds) = world.run_work();
    assert!(run_rows > 20 && folds > 5, "{run_rows} rows in runs, {folds} folds");
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}

/// When nothing is written, blocks are written anew with runs of some size; those that are hardly there stay.
#[test]
fn runs_are_folded_while_nothing_is_written() {
    let options =
        LayoutOptions { block_rows: 64, idle: Duration::from_millis(1), merging: Merging::Background, ..run_options() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
    put_all(&mut world, (0..192).map(|k| (2 * k, k)));
    world.store.merge().unwrap();
    assert_eq!(world.storage().blocks, 3);
    // Of the first block five rows, of the last one.
    let changes = [1, 11, 21, 31, 41, 301].map(|k| (k, Some(k)));
    merge(&mut world, &changes);
    assert_eq!((world.storage().run_rows, world.storage().folds), (6, 0));
    let view = world.store.snapshot().unwrap();
    world.store.start_merging().unwrap();
    let started = Instant::now();
    while world.storage().run_rows > 1 {
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", world.storage());
        std::thread::yield_now();
    }
    assert_eq!((world.storage().folds, world.storage().runs), (1, 1));
    assert_eq!(read(&world, view, &request(&world.table, vec![0])).unwrap().len(), 198);
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}

#[test]
fn an_old_view_keeps_its_runs() {
    let mut world = merged(table(100, 0, None), 64);
    let mut next = numbers(3);
    let mut views = Vec::new();
    for round in 0..60 {
        merge(&mut world, &[(next(130) as i64, (round % 4 > 0).then_some(round)), (next(130) as i64, Some(-round))]);
        if round % 10 == 5 {
            views.push((world.store.snapshot().unwrap(), world.rows.clone()));
        }
    }
    assert!(world.storage().folds > 0 && world.storage().run_rows > 0);
    let columns: Vec<usize> = (0..world.def.columns.len()).collect();
    for (view, rows) in &views {
        let found = read(&world, view.clone(), &request(&world.table, columns.clone())).unwrap();
        assert!(found.iter().eq(rows.values()));
    }
    views.clear();
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}

#[test]
fn a_block_and_its_run_are_looked_up_once_though_their_rows_come_by_turns() {
    let mut world = merged(table(100, 0, None), 64);
    merge(&mut world, &[(1, Some(1)), (11, Some(2)), (21, Some(3))]);
    let stored = world.storage();
    assert_eq!((stored.runs, stored.run_rows, stored.blocks), (1, 3, 4));
    for direction in [Direction::Forward, Direction::Reverse] {
        let looked_up = |world: &World| world.storage().cache_hits + world.storage().cache_misses;
        let before = looked_up(&world);
        let request = Request { direction, ..request(&world.table, vec![2]) };
        assert_eq!(read(&world, world.store.snapshot().unwrap(), &request).unwrap().len(), 67);
        // Of three blocks their integers; of the other and the run their keys before.
        assert_eq!(looked_up(&world) - before, 3 + 2 * 2, "{direction:?}");
    }
}

/// What a filter rules out is passed over: of the block and of runs by themselves, never a row that took another's place.
#[test]
fn summaries_of_blocks_and_runs_count_for_their_own_rows() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut world = merged(table(100, 0, None), 64);
        // The first block's values end at 15.
        merge(&mut world, &[(2, Some(500)), (4, None)]);
        assert_eq!(world.storage().runs, 1);
        let scan = |filter| {
            let request = Request { filter, direction, ..request(&world.table, vec![0]) };
            let found = read(&world, world.store.snapshot().unwrap(), &request).unwrap();
            let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
            let counters = &request.context.counters;
            (found, [load(&counters.keys_read), load(&counters.blocks_read), load(&counters.blocks_skipped)])
        };
        let (found, counted) = scan(vec![more_than(400)]);
        assert_eq!(found, [[Value::Int(2)]]);
        assert_eq!(counted, [63, 1, 4], "the run alone");
        let (found, counted) = scan(vec![more_than(60)]);
        assert_eq!(found.len(), 4);
        assert_eq!(counted, [63, 2, 3]);
        let (found, counted) = scan(vec![more_than(600)]);
        assert!(found.is_empty());
        assert_eq!(counted, [63, 0, 5]);
        // The row of the block that had the value is hidden.
        merge(&mut world, &[(30, Some(-1))]);
        let request = Request { filter: vec![more_than(14)], direction, ..request(&world.table, vec![2]) };
        let found = read(&world, world.store.snapshot().unwrap(), &request).unwrap();
        assert!(!found.contains(&vec![Value::Int(15)]) && found.len() == 49, "{}", found.len());
    }
}

#[test]
fn expired_rows_of_runs_are_seen_by_nobody_and_swept() {
    let mut world = merged(table(100, 0, Some(10)), 32);
    world.clock.0.store(5_000, Ordering::Relaxed);
    merge(&mut world, &[(2, Some(1)), (5, Some(2)), (40, None)]);
    assert!(world.storage().runs > 0);
    let count = |world: &World| {
        let request = request(&world.table, Vec::new());
        read(world, world.store.snapshot().unwrap(), &request).unwrap().len()
    };
    assert_eq!(count(&world), 32);
    world.clock.0.store(10_000, Ordering::Relaxed);
    assert_eq!(count(&world), 2, "those in the run");
    // So many that their block is written anew, without what is expired.
    world.clock.0.store(12_000, Ordering::Relaxed);
    merge(&mut world, &(60..64).map(|k| (k, Some(k))).collect::<Vec<_>>());
    assert_eq!(world.store.sweep().unwrap(), 15, "of the other block, where one row was written anew");
    assert_eq!(count(&world), 6);
    world.clock.0.store(15_000, Ordering::Relaxed);
    assert_eq!(count(&world), 4);
    assert_eq!(world.store.sweep().unwrap(), 2);
    assert_eq!(world.store.sweep().unwrap(), 0);
    world.clock.0.store(30_000, Ordering::Relaxed);
    assert_eq!(world.store.sweep().unwrap(), 4);
    assert_eq!(world.storage().block_rows + world.storage().run_rows, 0);
}

/// The newest row of a key counts, even where a clock was put back.
#[test]
fn an_expired_row_of_a_run_hides_a_later_one_of_its_block() {
    let mut world = World::open(Arc::new(MemoryStore::new()), run_options(), table(100, 0, Some(10))).unwrap();
    world.clock.0.store(20_000, Ordering::Relaxed);
    put_all(&mut world, (0..32).map(|k| (2 * k, k)));
    world.store.compact(TableId(100), &unlimited()).unwrap();
    // It was written earlier, and comes later.
    let (row, mut writes) = (plain_row(4, 0), world.store.batch());
    let put = RowChange::Put { new: &row, old: OldRow::Unknown, written_ms: Some(5_000) };
    writes.apply(&world.table, put, None).unwrap();
    writes.commit(Durability::Buffered).unwrap();
    world.store.merge().unwrap();
    assert_eq!(world.storage().run_rows, 1);
    world.rows.remove(&world.logical(&plain_row(4, 0)));
    for swept in [false, true] {
        if swept {
            assert_eq!(world.store.sweep().unwrap(), 1);
        }
        assert_reads(&world);
    }
    assert_eq!((world.storage().run_rows, world.storage().block_rows), (0, 31));
}

#[test]
fn rows_of_an_older_definition_read_as_those_of_the_newest() {
    let mut world = merged(table(100, 0, None), 64);
    merge(&mut world, &[(1, Some(1)), (80, Some(2))]);
    let mut def = TableDef::clone(&world.def);
    def.columns.push(ColumnDef {
        name: "new".into(),
        ty: SqlType::Integer,
        nullable: true,
        default: Some(DefaultDef {
            text: "7".into(),
            expr: Expr::Literal(Value::Int(7), SqlType::Integer),
            kind: DefaultKind::Constant,
        }),
        family: Some(0),
        slot: def.slots(0).len() as u16,
        hidden: false,
        comment: None,
        absent: None,
    });
    def.history.version += 1;
    world.table = world.store.open_table(Table::new(Arc::new(def)).unwrap());
    let new_values = |world: &World| {
        let rows = read(world, world.store.snapshot().unwrap(), &request(&world.table, vec![0, 10])).unwrap();
        rows.into_iter().filter(|row| row[1] != Value::Int(7)).collect::<Vec<_>>()
    };
    assert!(new_values(&world).is_empty());
    // By and by: a run of both definitions, then blocks.
    for (k, value) in [(3, 30), (5, 50), (7, 70), (9, 90)] {
        let mut writes = world.store.batch();
        let mut row = plain_row(k, k);
        row.push(Value::Int(value));
        writes.put(&world.table, row).unwrap();
        writes.commit(Durability::Buffered).unwrap();
        world.store.merge().unwrap();
        assert!(new_values(&world).contains(&vec![Value::Int(k), Value::Int(value)]));
    }
    assert!(world.storage().run_rows > 0);
    assert_eq!(new_values(&world).len(), 4);
    world.store.compact(TableId(100), &unlimited()).unwrap();
    assert_eq!(world.storage().run_rows, 0);
    assert_eq!(new_values(&world).len(), 4);
    assert_eq!(world.storage().block_rows, 64 + 6 - 1, "one had the key of another");
}

#[test]
fn rows_with_long_values_stay_out_of_runs() {
    let mut world = merged(table(100, 0, None), 64);
    let long = |k: i64| {
        let mut row = plain_row(k, k);
        row[3] = Value::text("long ".repeat(9));
        (row, true)
    };
    world.commit(&[long(1)]).unwrap();
    world.store.merge().unwrap();
    assert_eq!((world.storage().runs, world.storage().block_rows), (0, 65));
    // A run hides the row, and its value goes when the block is written anew.
    merge(&mut world, &[(1, Some(5))]);
    assert_eq!(world.storage().runs, 1);
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.assert_nothing_is_left_over();
}

#[test]
fn a_purged_table_leaves_no_runs() {
    let mut world = merged(table(100, 0, None), 64);
    merge(&mut world, &[(1, Some(1)), (80, None)]);
    assert!(world.storage().runs > 0);
    world.store.close_table(TableId(100));
    world.store.purge(TableId(100)).unwrap();
    for space in (0..=255).filter(|space| *space != 8) {
        let mut cursor = world.kv.cursor(Space::new(space), KeyBounds::all(), Direction::Forward).unwrap();
        assert!(cursor.next().unwrap().is_none(), "space {space}");
    }
}

/// A store of the version before, which had no runs, is opened and goes on with them.
#[test]
fn a_store_without_runs_is_opened() {
    let mut world = merged(table(100, 0, None), 64);
    let (meta, key) = (Space::new(8), b"layout");
    let mut record = world.kv.get(meta, key).unwrap().unwrap().to_vec();
    let content = record.len() - 4;
    record[0] -= 1;
    let sum = crc32fast::hash(&record[..content]);
    record[content..].copy_from_slice(&sum.to_le_bytes());
    let mut batch = WriteBatch::new();
    batch.put(meta, key, record.clone());
    world.kv.write(batch, Durability::Buffered).unwrap();
    world.reopen().unwrap();
    assert_reads(&world);
    merge(&mut world, &[(1, Some(1))]);
    assert_eq!(world.storage().runs, 1);
    assert_reads(&world);
    let written = world.kv.get(meta, key).unwrap().unwrap();
    assert_eq!(written[0], record[0] + 1, "none of the version before opens it now");
}

#[test]
fn a_damaged_run_is_an_error() {
    let mut world = merged(table(100, 0, None), 64);
    merge(&mut world, &[(1, Some(1))]);
    let mut cursor = world.kv.cursor(Space::new(4), KeyBounds::prefix(&[0, 0, 0, 100, 1]), Direction::Forward).unwrap();
    let (key, record) = cursor.next().unwrap().unwrap();
    drop(cursor);
    let mut damaged = record.to_vec();
    damaged[20] ^= 1;
    let mut batch = WriteBatch::new();
    batch.put(Space::new(4), key, damaged);
    world.kv.write(batch, Durability::Buffered).unwrap();
    assert!(matches!(world.reopen(), Err(TableError::CorruptLayout(_))));
}
