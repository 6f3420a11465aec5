//! Faults in writes and reads of the store, wherever in a fixed history they come.
//!
//! Each run takes some of all places; `LAYOUT_FAULTS=all` takes every one, which takes minutes.

use std::sync::Arc;

use saltwing_access::{Budget, ScanContext};
use saltwing_store::MemoryStore;
use saltwing_store::conformance::fault::{Call, Counts, Failure, Fault, FaultStore, Faults, Lasting, Outcome};
use saltwing_table::LayoutOptions;
use saltwing_types::Value;

use crate::history::Step;
use crate::world::{Rows, World, plain_row, run_options, table, thread_options};

/// A fixed history over so many keys that fills, merges, compacts, empties and reopens; it goes on after errors.
fn history(keys: u64) -> Vec<Step> {
    let mut seed = 7u64;
    let mut next = move |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut steps = Vec::new();
    for round in 0..28 {
        let count = if round == 0 || round == 12 { keys } else { 4 };
        let changes = (0..count).map(|_| {
            let mut row = vec![Value::Null; 10];
            row[0] = Value::Int(next(keys) as i64);
            row[2] = Value::Int(next(100) as i64);
            row[3] = Value::text("t".repeat(next(30) as usize));
            row[7] = if next(3) == 0 { Value::Bytes(vec![1, 2]) } else { Value::Null };
            (row, next(4) != 0)
        });
        steps.push(Step::Commit(changes.collect()));
        match round % 9 {
            8 => steps.push(Step::Merge),
            4 => steps.push(Step::Compact),
            _ => {}
        }
        if round % 10 == 9 {
            steps.push(Step::Reopen);
        }
    }
    steps
}

/// Runs the history over a fault. What was acknowledged must read back at each step, and what is there after
/// opening the store below again must be what was acknowledged, or with the crash one step less.
fn survives(fault: Fault, keys: u64, options: LayoutOptions) -> (Counts, (u64, u64)) {
    let memory = MemoryStore::new();
    let faulty = FaultStore::new(memory.clone(), Fault::None);
    let mut world = World::open(Arc::new(faulty.clone()), options, table(100, 2, None)).unwrap();
    faulty.faults().set(fault);
    // What may be there after a crash, and after a commit of which nobody knows.
    let mut possible = vec![world.rows.clone()];
    for step in history(keys) {
        let crashed = faulty.crashed();
        let before = world.rows.clone();
        match step {
            Step::Commit(changes) => {
                let failed = world.commit(&changes).err();
                if failed.is_some_and(|error| error.code().as_str() == "commit_unknown") {
                    let mut rows = before.clone();
                    for (row, alive) in changes {
                        let key = world.logical(&row);
                        if alive {
                            rows.insert(key, row)
                        } else {
                            rows.remove(&key)
                        };
                    }
                    possible.push(rows);
                    return finish(world, keys, &faulty, memory, possible, before);
                }
            }
            Step::Merge => drop(world.store.merge()),
            Step::Compact => {
                let context = ScanContext::new(Budget::default());
                drop(world.store.compact(world.def.id, &context));
            }
            _ => {
                if world.reopen().is_err() {
                    world.reopen().unwrap();
                }
            }
        }
        if let Ok(rows) = world.read_all() {
            assert_eq!(rows, world.rows, "{fault:?}");
        }
        if !faulty.crashed() {
            possible = vec![world.rows.clone()];
        } else if !crashed {
            possible = vec![before, world.rows.clone()];
        }
    }
    let now = world.rows.clone();
    finish(world, keys, &faulty, memory, possible, now)
}

fn finish(
    world: World,
    keys: u64,
    faulty: &FaultStore<MemoryStore>,
    memory: MemoryStore,
    possible: Vec<Rows>,
    now: Rows,
) -> (Counts, (u64, u64)) {
    let counts = faulty.counts();
    // The fault may come only now.
    assert_eq!(world.read_all().or_else(|_| world.read_all()).unwrap(), now);
    let (work, options) = (world.run_work(), world.options.clone());
    drop(world);
    let mut world = World::open(Arc::new(memory), options, table(100, 2, None)).unwrap();
    let found = world.read_all().unwrap();
    assert!(possible.contains(&found), "rows after reopening are those of no commit");
    // The layout is whole: it goes on.
    world.rows = found;
    for step in history(keys) {
        if let Step::Commit(changes) = step {
            world.commit(&changes).unwrap();
        }
    }
    world.store.merge().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.assert_nothing_is_left_over();
    (counts, work)
}

#[test]
fn a_fault_leaves_what_was_acknowledged() {
    let takes_all = std::env::var_os("LAYOUT_FAULTS").is_some_and(|which| which == "all");
    let with_threads = LayoutOptions { merge_threads: 3, ..run_options() };
    for (options, keys, run_rows_min, step) in
        [(LayoutOptions::tiny(), 40, 1, 83), (run_options(), 100, 20, 149), (with_threads, 100, 20, 251)]
    {
        let (step, cut_step, get_step, commit_step) =
            if takes_all { (1, 1, 1, 1) } else { (step, 4 * step, 8 * step, step / 3) };
        let survives = |fault| survives(fault, keys, options.clone());
        let (counts, (run_rows, folds)) = survives(Fault::None);
        assert!(run_rows >= run_rows_min && folds > 0, "{run_rows} rows in runs, {folds} folds");
        println!("{counts:?}");
        for n in (0..counts.mutations).step_by(step) {
            survives(Fault::LoseMutation(n + 5));
        }
        for (call, step) in [(Call::Write, commit_step), (Call::Next, cut_step), (Call::Get, get_step)] {
            for n in (0..counts.of(call)).step_by(step) {
                survives(Fault::Fail(Failure::once(call, n)));
            }
        }
        assert_eq!(counts.of(Call::Reclaim), 3, "one a compaction");
        for call in [Call::Reclaim, Call::Clear] {
            for n in 0..counts.of(call) {
                survives(Fault::Fail(Failure::once(call, n)));
            }
        }
        for n in (0..counts.of(Call::Write)).step_by(commit_step) {
            let outcome = Outcome::Unknown { done: n % 2 == 0 };
            survives(Fault::Fail(Failure { outcome, ..Failure::once(Call::Write, n) }));
        }
    }
}

/// Writers wait for the thread that merges while they are ahead of it, but not where it comes to nothing.
#[test]
fn writers_go_on_beside_merges_that_fail() {
    let faults = Faults::new(Fault::None);
    let kv = Arc::new(faults.store(MemoryStore::new()));
    let mut world = World::open(kv, thread_options(), table(100, 0, None)).unwrap();
    world.store.start_merging().unwrap();
    let write = |world: &mut World, keys: std::ops::Range<i64>| {
        keys.for_each(|k| world.commit(&[(plain_row(k, k), true)]).unwrap());
    };
    let lasting = Failure { lasting: Lasting::UntilSet, ..Failure::once(Call::Clear, 0) };
    faults.set(Fault::Fail(lasting));
    write(&mut world, 0..100);
    assert!(faults.failed() > 0);
    assert_eq!(world.storage().blocks, 0, "no merge begins");
    let failure = world.store.storage_stats().last_failure.unwrap();
    assert_eq!((failure.task, failure.error.contains("injected")), ("merge", true), "{failure:?}");
    assert_eq!(world.read_all().unwrap(), world.rows);
    faults.set(Fault::None);
    write(&mut world, 100..200);
    assert!(world.storage().blocks > 0, "merges go on");
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}
