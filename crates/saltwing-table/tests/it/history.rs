//! Random histories against a map.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use saltwing_access::keys::KeyList;
use saltwing_access::{
    Budget, Direction, KeyRanges, Projection, ScanContext, ScanOrder, Snapshot, TableError, TableStore,
};
use saltwing_rowkey::{BucketRange, KeyRange};
use saltwing_store::{Access, MemoryStore, OpenOptions};
use saltwing_table::{LayoutOptions, Merging};
use saltwing_types::value::Timestamp;
use saltwing_types::{CompareOp, Value, eval};

use crate::few::few;
use crate::world::{
    OpenFiles, Request, Rows, World, compared, is_tailed, plain_row, read, read_values, request, run_options, table,
    tailed, totals, totals_of,
};

/// Texts of keys, and of values.
const TEXTS: [&str; 3] = ["a", "ab", "b"];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Commit(Vec<(Vec<Value>, bool)>),
    /// All rows of some keys go, as one commit.
    DeleteRange {
        from: i64,
        to: i64,
    },
    TakeView,
    DropView,
    Merge,
    Compact,
    Reopen,
    Read {
        view: usize,
        keys: Wanted,
        reverse: bool,
        is_merged: bool,
        columns: Vec<usize>,
        limit: Option<u64>,
        filter: Option<(usize, CompareOp, Value)>,
    },
    Get {
        view: usize,
        k: i64,
        s: Option<String>,
    },
}

/// The keys that a step reads.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Between(i64, i64),
    /// Each by itself, in one scan: more than it looks for at a time.
    Each {
        keys: Vec<[Value; 2]>,
        /// Whether they are taken as keys, or as ranges.
        as_keys: bool,
    },
}

pub(crate) fn row() -> impl Strategy<Value = Vec<Value>> {
    let text = || prop_oneof![prop::sample::select(&TEXTS[..]).prop_map(str::to_owned), Just("long ".repeat(9))];
    let null = |values: BoxedStrategy<Value>| prop_oneof![1 => Just(Value::Null), 4 => values].boxed();
    (
        -4i64..9,
        proptest::option::of(text()),
        null((-2i64..300).prop_map(Value::Int).boxed()),
        null(prop_oneof![Just(Value::text("")), text().prop_map(Value::text)].boxed()),
        null(any::<bool>().prop_map(Value::Bool).boxed()),
        null((-3i32..3).prop_map(|v| Value::Double(f64::from(v) / 4.0)).boxed()),
        null((-3i64..1000).prop_map(|v| Value::Decimal(saltwing_types::Decimal::new(v.into(), 2).unwrap())).boxed()),
        null(prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes).boxed()),
        null((-3i64..3).prop_map(|ms| Value::Timestamp(Timestamp { ms, nanos: 5 })).boxed()),
        null((-3i64..3).prop_map(|day| Value::Date(day * 86_400_000)).boxed()),
    )
        .prop_map(|(k, s, i, t, b, d, n, x, at, day)| {
            vec![Value::Int(k), s.map_or(Value::Null, Value::text), i, t, b, d, n, x, at, day]
        })
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::collection::vec((row(), prop::bool::weighted(0.75)), 1..12).prop_map(Step::Commit),
        2 => (-5i64..9, 0i64..6).prop_map(|(from, width)| Step::DeleteRange { from, to: from + width }),
        1 => Just(Step::Reopen),
        24 => quiet_step(),
    ]
}

/// A step that changes no row and keeps the store open.
pub(crate) fn quiet_step() -> impl Strategy<Value = Step> {
    let text = || proptest::option::of(prop::sample::select(&TEXTS[..]).prop_map(str::to_owned));
    let columns = proptest::sample::subsequence((0..11usize).collect::<Vec<_>>(), 0..=11).prop_shuffle();
    let limit = proptest::option::of(0u64..9);
    let op = proptest::sample::select(vec![
        CompareOp::Eq,
        CompareOp::NotEq,
        CompareOp::Lt,
        CompareOp::LtEq,
        CompareOp::Gt,
        CompareOp::GtEq,
    ]);
    // Compared with what a row may have there.
    let filter =
        proptest::option::of((2..10usize, op, row()).prop_map(|(column, op, row)| (column, op, row[column].clone())));
    let filter = filter.prop_map(|filter| filter.filter(|(_, _, value)| !value.is_null()));
    let between = (-5i64..9, 0i64..9).prop_map(|(from, width)| Wanted::Between(from, from + width));
    let each = prop::sample::subsequence(all_keys(-5..10), 33..=60);
    let each = (each, any::<bool>()).prop_map(|(keys, as_keys)| Wanted::Each { keys, as_keys });
    let keys = prop_oneof![2 => between, 1 => each];
    let read = (0..4usize, keys, any::<bool>(), any::<bool>(), columns, limit, filter).prop_map(
        |(view, keys, reverse, is_merged, columns, limit, filter)| Step::Read {
            view,
            keys,
            reverse,
            is_merged,
            columns,
            limit,
            filter,
        },
    );
    prop_oneof![
        3 => Just(Step::TakeView),
        1 => Just(Step::DropView),
        2 => Just(Step::Merge),
        1 => Just(Step::Compact),
        12 => read,
        5 => (0..4usize, -4i64..9, text()).prop_map(|(view, k, s)| Step::Get { view, k, s }),
    ]
}

/// A view, and the rows that it must show: the newest one for a number beyond those taken.
fn view_of(world: &World, index: usize) -> (Arc<dyn Snapshot>, Rows) {
    match world.views.get(index) {
        Some((view, rows)) => (view.clone(), rows.clone()),
        None => (world.store.snapshot().unwrap(), world.rows.clone()),
    }
}

/// Does a step, and holds what it shows to the model. After an error of a store the model is as before.
pub(crate) fn run(world: &mut World, step: Step) -> Result<(), TableError> {
    match step {
        Step::Commit(changes) => world.commit(&changes)?,
        Step::DeleteRange { from, to } => {
            let is_inside = |row: &&Vec<Value>| matches!(row[0], Value::Int(k) if (from..to).contains(&k));
            let gone: Vec<_> = world.rows.values().filter(is_inside).map(|row| (row.clone(), false)).collect();
            world.commit(&gone)?;
        }
        Step::TakeView => world.views.push((world.store.snapshot()?, world.rows.clone())),
        Step::DropView => drop((!world.views.is_empty()).then(|| world.views.remove(0))),
        Step::Merge => world.store.merge()?,
        Step::Compact => world.store.compact(world.def.id, &ScanContext::new(Budget::default()))?,
        Step::Reopen => {
            let held = |world: &World| {
                let storage = world.storage();
                (storage.block_rows, storage.block_bytes, storage.runs, storage.run_rows, storage.run_bytes)
            };
            let before = held(world);
            world.reopen()?;
            match world.options.merging {
                Merging::WithCommits => assert_eq!(held(world), before),
                Merging::Background => world.store.start_merging()?,
            }
        }
        Step::Get { view, k, s } => {
            let (view, rows) = view_of(world, view);
            let key = [Value::Int(k), s.map_or(Value::Null, Value::text)];
            let physical = world.physical(&key);
            let found = view.get(&Projection::all(&world.table), &physical)?;
            assert_eq!(found.as_ref(), rows.get(&world.logical(&key)));
            assert_eq!(view.contains(&world.table, &physical)?, found.is_some());
        }
        Step::Read { view, keys, reverse, is_merged, columns, limit, filter } => {
            let (view, rows) = view_of(world, view);
            let logical = |k| world.logical(&[Value::Int(k), Value::Null]);
            let (ranges, mut inside): (KeyRanges, Vec<&Vec<Value>>) = match keys {
                Wanted::Between(from, to) => {
                    let range = match is_tailed(&world.def) {
                        true => KeyRange::new(vec![b'a'], None),
                        false => KeyRange::new(logical(from), Some(logical(to))),
                    };
                    let Some(range) = range else { return Ok(()) };
                    let inside: Vec<_> =
                        rows.iter().filter(|(key, _)| range.contains(key)).map(|(_, row)| row).collect();
                    few_are_those_inside(world, &*view, &columns, &range, (reverse, limit), &inside)?;
                    (KeyRanges::from_iter([range]), inside)
                }
                Wanted::Each { keys, as_keys } => {
                    let all: BTreeSet<Vec<u8>> = keys.iter().map(|key| world.logical(key)).collect();
                    let inside = all.iter().filter_map(|key| rows.get(key)).collect();
                    let ranges = match as_keys {
                        false => all.into_iter().map(KeyRange::point).collect(),
                        true => {
                            let write = |key: &[Value; 2], out: &mut Vec<u8>| {
                                out.extend(world.physical(key));
                                Some(())
                            };
                            KeyList::new(world.table.codec().bucket_bytes(), keys.iter(), write).unwrap().into()
                        }
                    };
                    (ranges, inside)
                }
            };
            if reverse {
                inside.reverse();
            }
            if !is_merged && world.def.key.salt.is_some() {
                inside.sort_by_key(|row| world.physical(row)[0]);
            }
            let request = Request {
                ranges,
                filter: filter.iter().map(|(column, op, value)| compared(*column, *op, value.clone())).collect(),
                direction: if reverse { Direction::Reverse } else { Direction::Forward },
                order: if is_merged { ScanOrder::Merged } else { ScanOrder::ByBucket },
                limit,
                ..request(&world.table, columns.clone())
            };
            let found = read(world, view.clone(), &request)?;
            assert_eq!(read_values(world, view.clone(), &request)?, found.concat());
            assert_eq!(totals(world, view, &request)?, totals_of(&world.table, &columns, &found));
            let holds = |row: &&&Vec<Value>| {
                filter.as_ref().is_none_or(|(column, op, value)| {
                    eval::compare(*op, &row[*column], value, world.table.column_type(*column)) == Some(true)
                })
            };
            let physical = |row: &[Value]| Value::Bytes(world.physical(row));
            let shown = |row: &&Vec<Value>| -> Vec<Value> {
                columns.iter().map(|&c| row.get(c).cloned().unwrap_or_else(|| physical(row))).collect()
            };
            let most = limit.map_or(usize::MAX, |n| n as usize);
            let wanted: Vec<Vec<Value>> = inside.iter().filter(holds).take(most).map(shown).collect();
            assert_eq!(found, wanted);
            let keys_read = request.context.counters.keys_read.load(Ordering::Relaxed);
            let inside = inside.len() as u64;
            match (limit, filter) {
                (None, _) => assert_eq!(keys_read, inside),
                (Some(n), None) => assert_eq!(keys_read, inside.min(n)),
                (Some(_), Some(_)) => assert!(keys_read <= inside),
            }
        }
    }
    Ok(())
}

/// Reads of few rows of a range give what the model has inside, or leave it to a scan.
fn few_are_those_inside(
    world: &World,
    view: &dyn Snapshot,
    columns: &[usize],
    range: &KeyRange,
    (reverse, limit): (bool, Option<u64>),
    inside: &[&Vec<Value>],
) -> Result<(), TableError> {
    let direction = if reverse { Direction::Reverse } else { Direction::Forward };
    let buckets = world.def.key.salt.map_or(vec![None], |salt| (0..salt.buckets as u8).map(Some).collect());
    for bucket in buckets {
        let keys = BucketRange { bucket, range: range.in_bucket(bucket) };
        let Some(found) = few(world, view, columns, &keys, (direction, limit))? else { continue };
        let is_own = |row: &&&Vec<Value>| bucket.is_none_or(|bucket| world.physical(row)[0] == bucket);
        let mut own: Vec<&Vec<Value>> = inside.iter().filter(is_own).copied().collect();
        if reverse {
            own.reverse();
        }
        own.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        let value = |row: &Vec<Value>, column: usize| {
            row.get(column).cloned().unwrap_or_else(|| Value::Bytes(world.physical(row)))
        };
        let wanted: Vec<Value> = own.iter().flat_map(|row| columns.iter().map(|&c| value(row, c))).collect();
        assert_eq!(found, wanted);
    }
    Ok(())
}

/// The keys of some numbers, with each of the texts that a row may have.
fn all_keys(numbers: Range<i64>) -> Vec<[Value; 2]> {
    let texts = || std::iter::once(Value::Null).chain(TEXTS.map(Value::text));
    numbers.flat_map(|k| texts().map(move |text| [Value::Int(k), text])).collect()
}

/// A row of each key that a step may write.
fn all_rows() -> Vec<(Vec<Value>, bool)> {
    let row = |[k, text]: [Value; 2]| {
        let mut row = plain_row(0, 0);
        row[2] = k.clone();
        (row[0], row[1]) = (k, text);
        (row, true)
    };
    all_keys(-4..9).into_iter().map(row).collect()
}

/// A history leaves its rows, when they are merged and when they are opened anew, and nothing else.
pub(crate) fn assert_whole(mut world: World) {
    world.views.clear();
    world.store.merge().unwrap();
    assert_eq!(&world.read_all().unwrap(), &world.rows);
    world.reopen().unwrap();
    assert_eq!(&world.read_all().unwrap(), &world.rows);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}

/// Whatever is merged, reopened and still looked at by older views: a table is a map.
#[test]
fn a_history_reads_as_that_of_a_map() {
    let (run_rows, folds) = (AtomicU64::new(0), AtomicU64::new(0));
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)), |(
        steps in prop::collection::vec(step(), 1..60),
        salt in prop_oneof![Just(0u16), Just(3)],
        is_tailed: bool,
        is_full: bool,
        options in prop_oneof![Just(LayoutOptions::tiny()), Just(run_options())],
        merge_threads in 1usize..4,
    )| {
        let options = LayoutOptions { merge_threads, ..options };
        let def = table(100, salt, None);
        let def = if is_tailed { tailed(def) } else { def };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
        if is_full {
            world.commit(&all_rows()).unwrap();
            world.store.merge().unwrap();
        }
        for step in steps {
            run(&mut world, step).unwrap();
        }
        let work = world.run_work();
        run_rows.fetch_add(work.0, Ordering::Relaxed);
        folds.fetch_add(work.1, Ordering::Relaxed);
        assert_whole(world);
    });
    println!("{run_rows:?} rows into runs, {folds:?} folds");
    assert!(run_rows.into_inner() > 100 && folds.into_inner() > 30, "runs were made and folded");
}

/// The same beside the thread that merges: the progress of the merge does not change the rows that are read.
#[test]
fn a_history_reads_as_that_of_a_map_while_a_thread_merges() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(6)), |(
        steps in prop::collection::vec(step(), 20..120),
        salt in prop_oneof![Just(0u16), Just(3)],
        options in prop_oneof![Just(LayoutOptions::tiny()), Just(run_options())],
        merge_threads in 1usize..4,
    )| {
        let idle = Duration::from_millis(1);
        let options = LayoutOptions { merging: Merging::Background, idle, merge_threads, ..options };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, salt, None)).unwrap();
        world.store.start_merging().unwrap();
        for step in steps {
            run(&mut world, step).unwrap();
        }
        assert_whole(world);
    });
}

/// The same on the stores that have files, which are closed and opened.
#[test]
fn a_history_reads_as_that_of_a_map_on_every_store() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(20)), |(
        steps in prop::collection::vec(step(), 20..60),
        salt in prop_oneof![Just(0u16), Just(3)],
        options in prop_oneof![Just(LayoutOptions::tiny()), Just(run_options())],
        merging in prop_oneof![Just(Merging::WithCommits), Just(Merging::Background)],
    )| {
        for store in ["redb", "sled"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(store);
            let open: OpenFiles = Box::new(move || {
                let options = OpenOptions { access: Access::Create, cache_bytes: 8 << 20, trace: None };
                match store {
                    "redb" => Arc::new(saltwing_redb::open(&path, options).unwrap()),
                    _ => Arc::new(saltwing_sled::open(&path, options).unwrap()),
                }
            });
            let options = LayoutOptions { merging, idle: Duration::from_millis(1), ..options.clone() };
            let mut world = World::open_files(open, options, table(100, salt, None)).unwrap();
            if merging == Merging::Background {
                world.store.start_merging().unwrap();
            }
            for step in steps.clone() {
                run(&mut world, step).unwrap();
            }
            assert_whole(world);
        }
    });
}
