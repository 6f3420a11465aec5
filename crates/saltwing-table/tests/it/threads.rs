//! Merges by several threads.

use std::sync::Arc;

use saltwing_store::MemoryStore;
use saltwing_table::{LayoutOptions, Merging};

use crate::world::{World, put_all, run_options, table, thread_options};

/// Blocks, and above them one row in so many: the steps and the rows written that bringing these down took.
fn merged(options: LayoutOptions, one_in: i64) -> (u64, u64) {
    let has_runs = options.run_deltas == 0;
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
    put_all(&mut world, (0..600).map(|k| (k, k)));
    world.store.merge().unwrap();
    let before = world.storage();
    put_all(&mut world, (0..600 / one_in).map(|k| (k * one_in, k)));
    world.store.merge().unwrap();
    let after = world.storage();
    assert_eq!(after.runs > 0, has_runs);
    // What went into runs that entries of two parts share comes down by both.
    for keys in [60..600, 0..60] {
        put_all(&mut world, keys.map(|k| (k, 2 * k)));
        world.store.merge().unwrap();
    }
    assert_eq!(world.read_all().unwrap(), world.rows);
    assert_eq!(world.storage().runs, 0);
    world.assert_nothing_is_left_over();
    world.reopen().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
    (after.merge_steps - before.merge_steps, after.block_rows_written - before.block_rows_written)
}

#[test]
fn a_step_by_threads_does_what_as_many_steps_do() {
    let with_runs = LayoutOptions { merging: Merging::Background, ..run_options() };
    for (options, one_in) in [(thread_options(), 3), (with_runs, 8)] {
        let by = |merge_threads| merged(LayoutOptions { merge_threads, ..options.clone() }, one_in);
        let (alone, rows) = by(1);
        for threads in 2..4 {
            let (steps, rows_by_threads) = by(threads);
            assert!(
                steps > 0 && steps * threads as u64 <= alone + 2 * threads as u64,
                "{steps} steps, {alone} by one thread"
            );
            let most = rows + rows / 4;
            assert!((rows..=most).contains(&rows_by_threads), "{rows_by_threads} rows written, {rows} by one thread");
        }
    }
}
