//! Filters: rows that are chosen before they are decoded are those that the evaluator chooses, one by one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use saltwing_access::{Direction, KeyRanges, ScanOrder, Table, TableStore};
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::LayoutOptions;
use saltwing_types::{ArithOp, ColumnRef, CompareOp, Decimal, Expr, SqlType, Value, eval, typing};

use crate::definitions::with_more_columns;
use crate::history::row;
use crate::world::{
    Request, World, compared, plain_row, put_all, read, read_values, request, run_options, table, thread_options,
    totals, totals_of,
};

/// Types of the value columns, from the third column on; the last three are added later, two of them with a default.
const TYPES: [SqlType; 11] = [
    SqlType::Integer,
    SqlType::Varchar(None),
    SqlType::Boolean,
    SqlType::Double,
    SqlType::Decimal(Some((10, 2))),
    SqlType::Varbinary,
    SqlType::Timestamp,
    SqlType::Date,
    SqlType::Integer,
    SqlType::Integer,
    SqlType::Integer,
];

fn column(index: usize) -> Expr {
    let (name, ty) = (format!("c{index}"), TYPES[index - 2]);
    Expr::Column(ColumnRef { index, name, ty, nullable: true, span: None })
}

fn literal(index: usize, value: Value) -> Expr {
    Expr::Literal(value, TYPES[index - 2])
}

/// A row of all columns.
fn wide_row() -> impl Strategy<Value = Vec<Value>> {
    let int = || prop_oneof![1 => Just(Value::Null), 3 => (5i64..9).prop_map(Value::Int)];
    (row(), int(), int(), int()).prop_map(|(mut row, a, b, c)| {
        row.extend([a, b, c]);
        row
    })
}

fn conjunct() -> impl Strategy<Value = Expr> {
    use CompareOp::*;
    let op = || prop::sample::select(vec![Eq, NotEq, Lt, LtEq, Gt, GtEq, Lt, Gt, Distinct, NotDistinct]);
    let place = || 2..13usize;
    let compared = (place(), op(), wide_row(), any::<bool>()).prop_map(|(index, op, row, is_swapped)| {
        let (column, literal) = (Box::new(column(index)), Box::new(literal(index, row[index].clone())));
        if is_swapped { Expr::Compare(op, literal, column) } else { Expr::Compare(op, column, literal) }
    });
    let listed = (place(), prop::collection::vec(wide_row(), 0..12)).prop_map(|(index, rows)| {
        let list = rows.into_iter().map(|row| literal(index, row[index].clone()));
        Expr::InList(Box::new(column(index)), list.collect())
    });
    let known = (place(), prop::collection::vec(wide_row(), 1..4)).prop_map(|(index, rows)| {
        let values = rows.into_iter().map(|row| row[index].clone()).filter(|value| !value.is_null());
        Expr::InList(Box::new(column(index)), values.map(|value| literal(index, value)).collect())
    });
    let between = (op(), -300i64..30_000, prop::sample::select(vec![2usize, 10, 6])).prop_map(|(op, digits, index)| {
        let value = Value::Decimal(Decimal::new(digits.into(), 3).unwrap());
        typing::compare(op, column(index), Expr::Literal(value, SqlType::Decimal(None))).unwrap()
    });
    let plain = prop_oneof![
        6 => compared,
        1 => listed,
        2 => known,
        1 => between,
        1 => place().prop_map(|index| typing::is_null(column(index))),
        1 => Just(column(4)),
    ];
    let plain = (plain, prop::bool::weighted(0.2)).prop_map(|(e, negated)| match negated {
        true => typing::not(e).unwrap(),
        false => e,
    });
    // Fails where the column has the number.
    let failing = (op(), 5i64..9, 10..13usize).prop_map(|(op, number, index)| {
        let literal = |value| Expr::Literal(Value::Int(value), SqlType::BigInt);
        let difference = typing::arith(ArithOp::Sub, column(index), literal(number)).unwrap();
        let divided = typing::arith(ArithOp::Div, literal(10), difference).unwrap();
        typing::compare(op, divided, literal(0)).unwrap()
    });
    let beside = (op(), prop::sample::select(vec![2usize, 10, 11]))
        .prop_map(|(op, index)| Expr::Compare(op, Box::new(column(index)), Box::new(column(12))));
    let like = Just(typing::like(column(3), typing::string("%a%"), Some('\\'), false, false).unwrap());
    let plain = plain.boxed();
    let either = prop::collection::vec(plain.clone(), 2).prop_map(|list| typing::or(list).unwrap());
    prop_oneof![8 => plain, 2 => failing, 1 => beside, 1 => like, 1 => either]
}

#[derive(Clone, Debug)]
struct Question {
    filter: Vec<Expr>,
    columns: Vec<usize>,
    reverse: bool,
    merged: bool,
    limit: Option<u64>,
    from: i64,
}

fn question() -> impl Strategy<Value = Question> {
    let columns = prop::sample::subsequence((0..14usize).collect::<Vec<_>>(), 0..=14).prop_shuffle();
    let filter = prop::collection::vec(conjunct(), 1..4);
    (filter, columns, any::<bool>(), any::<bool>(), prop::option::weighted(0.3, 0u64..9), -5i64..9).prop_map(
        |(filter, columns, reverse, merged, limit, from)| Question { filter, columns, reverse, merged, limit, from },
    )
}

/// What happens to a table, each step a commit. The columns that are added later are, before a step.
#[derive(Clone, Debug)]
struct Past {
    commits: Vec<Vec<(Vec<Value>, bool)>>,
    widened_at: usize,
    merged: Vec<bool>,
    /// Commits whose rows are too old.
    expired: usize,
}

fn past() -> impl Strategy<Value = Past> {
    let commit = prop::collection::vec((wide_row(), prop::bool::weighted(0.85)), 1..30);
    (prop::collection::vec((commit, prop::bool::weighted(0.6)), 1..6), 0..4usize, 0..3usize).prop_map(
        |(commits, widened_at, expired)| {
            let (commits, merged) = commits.into_iter().unzip();
            Past { commits, widened_at, merged, expired }
        },
    )
}

/// The table after its past; its model has no row that is too old.
fn world(past: Past, options: LayoutOptions, salt: u16) -> World {
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, salt, Some(10))).unwrap();
    let mut expired = BTreeSet::new();
    let steps = past.commits.len().max(past.widened_at + 1);
    for step in 0..steps {
        if step == past.widened_at {
            world.def = Arc::new(with_more_columns(&world.def));
            world.table = world.store.open_table(Table::new(world.def.clone()).unwrap());
            world.rows.values_mut().for_each(|row| row.extend([Value::Null, Value::Int(7), Value::Int(7)]));
        }
        let is_expired = step < past.expired;
        world.clock.0.store(if is_expired { 0 } else { 5_000 }, Ordering::Relaxed);
        let Some(commit) = past.commits.get(step) else { continue };
        let width = world.def.columns.len();
        let changes: Vec<_> = commit.iter().map(|(row, alive)| (row[..width].to_vec(), *alive)).collect();
        for (row, _) in &changes {
            let key = world.logical(row);
            if is_expired {
                expired.insert(key)
            } else {
                expired.remove(&key)
            };
        }
        world.commit(&changes).unwrap();
        if past.merged[step] {
            world.store.merge().unwrap();
        }
    }
    world.clock.0.store(12_000, Ordering::Relaxed);
    world.rows.retain(|key, _| !expired.contains(key));
    world
}

fn check_question(world: &World, question: &Question) -> Result<(), TestCaseError> {
    let Question { filter, columns, reverse, merged, limit, from } = question.clone();
    let start = world.logical(&[Value::Int(from), Value::Null]);
    let all = typing::and(filter.clone()).unwrap();
    let inside: Vec<&Vec<Value>> = world.rows.range(start.clone()..).map(|(_, row)| row).collect();
    let held: Result<Vec<bool>, _> = inside.iter().map(|row| eval::holds(&all, row)).collect();
    let request = |limit| Request {
        ranges: KeyRanges::from_iter(KeyRange::new(start.clone(), None)),
        filter: filter.clone(),
        direction: if reverse { Direction::Reverse } else { Direction::Forward },
        // By bucket, rows of several come in another order.
        order: if merged { ScanOrder::Merged } else { ScanOrder::ByBucket },
        limit,
        ..request(&world.table, columns.clone())
    };
    let view = world.store.snapshot().unwrap();
    let held = match held {
        Ok(held) => held,
        Err(error) => {
            let found = read(world, view.clone(), &request(None));
            prop_assert_eq!(found.unwrap_err().code(), error.code());
            prop_assert_eq!(totals(world, view, &request(None)).unwrap_err().code(), error.code());
            return Ok(());
        }
    };
    let request = request(limit);
    let mut found = read(world, view.clone(), &request).unwrap();
    prop_assert_eq!(read_values(world, view.clone(), &request).unwrap(), found.concat());
    prop_assert_eq!(totals(world, view, &request).unwrap(), totals_of(&world.table, &columns, &found));
    let shown = |row: &Vec<Value>| -> Vec<Value> {
        let physical = || Value::Bytes(world.physical(row));
        columns.iter().map(|&c| row.get(c).cloned().unwrap_or_else(physical)).collect()
    };
    let mut wanted: Vec<Vec<Value>> =
        inside.iter().zip(&held).filter(|(_, held)| **held).map(|(row, _)| shown(row)).collect();
    if reverse {
        wanted.reverse();
    }
    let keys_read = request.context.counters.keys_read.load(Ordering::Relaxed);
    prop_assert!(keys_read <= inside.len() as u64 && (limit.is_some() || keys_read == inside.len() as u64));
    let is_ordered = merged || world.def.key.salt.is_none();
    let count = limit.map_or(wanted.len(), |limit| wanted.len().min(limit as usize));
    prop_assert_eq!(found.len(), count);
    if is_ordered {
        wanted.truncate(count);
    } else if limit.is_none() {
        let text = |row: &Vec<Value>| format!("{row:?}");
        wanted.sort_by_key(text);
        found.sort_by_key(text);
    } else {
        return Ok(());
    }
    prop_assert_eq!(found, wanted);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(3), failure_persistence: None, ..ProptestConfig::default() })]

    /// The same rows, sums and errors as the evaluator's, whatever lies in deltas, runs or blocks, is older than a column, or too old.
    #[test]
    fn a_filter_leaves_what_the_evaluator_leaves(
        past in past(),
        questions in prop::collection::vec(question(), 1..12),
        salt in prop::sample::select(vec![0u16, 3]),
        options in prop::sample::select(vec![
            LayoutOptions::tiny(),
            run_options(),
            LayoutOptions { block_rows: 70, ..LayoutOptions::tiny() },
            LayoutOptions { delta_rows: 1 << 20, ..LayoutOptions::tiny() },
        ]),
    ) {
        let world = world(past, options, salt);
        for question in questions {
            check_question(&world, &question)?;
        }
    }
}

fn parts_looked_up(world: &World) -> u64 {
    world.storage().cache_hits + world.storage().cache_misses
}

/// Of a block without a row that is wanted only the columns of conditions are looked at, of the others what is put out.
#[test]
fn what_no_row_needs_is_not_read() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
        // Blocks of four, whose integers go from 0 to 99 each: no summary rules one out.
        let row = |k: i64| {
            let mut row = plain_row(k, [0, 10 + k, 60, 99][k as usize % 4]);
            row[3] = Value::text("text of some length");
            row[5] = Value::Double(1.0);
            (row, true)
        };
        world.commit(&(0..40).map(row).collect::<Vec<_>>()).unwrap();
        world.store.merge().unwrap();
        assert_eq!(world.storage().blocks, 10);
        let filter = |value| vec![compared(2, CompareOp::Eq, Value::Int(value))];
        let scan = |filter, columns: Vec<usize>| {
            let request = Request { filter, direction, ..request(&world.table, columns) };
            let before = parts_looked_up(&world);
            let rows = read(&world, world.store.snapshot().unwrap(), &request).unwrap();
            let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let counters = &request.context.counters;
            let counted = [&counters.keys_read, &counters.blocks_read, &counters.blocks_skipped].map(load);
            assert!(load(&counters.bytes_read) > 40 * 20, "rows that were looked at are read");
            assert_eq!(counted, [40, 10, 0]);
            (rows.len(), parts_looked_up(&world) - before)
        };
        // The integers stand in the fixed part of the first family: it is looked at once a block.
        assert_eq!(scan(filter(50), vec![3, 5]), (0, 10));
        // And of one block the fixed and the variable part that have the text, and the other family's.
        assert_eq!(scan(filter(21), vec![3, 5]), (0, 10));
        assert_eq!(scan(filter(19), vec![3]), (1, 12));
        assert_eq!(scan(filter(19), vec![3, 5]), (1, 13));
        // Texts are looked at where the integers leave a row, and where no summary says all.
        for (op, text, looked_up) in [(CompareOp::Gt, "text", 10), (CompareOp::Eq, "text of some length", 11)] {
            let mut both = vec![compared(3, op, Value::text(text))];
            both.extend(filter(19));
            assert_eq!(scan(both, vec![]), (1, looked_up));
        }
    }
}

/// Rows of batches are counted as they were read: a filter's batch is what that many rows leave.
#[test]
fn a_limit_reads_no_further_than_before() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..1000).map(|k| (k, k % 10)));
    world.store.merge().unwrap();
    let filter = vec![compared(2, CompareOp::Eq, Value::Int(9))];
    let request = Request { filter, limit: Some(2), ..request(&world.table, vec![0]) };
    let found = read(&world, world.store.snapshot().unwrap(), &request).unwrap();
    assert_eq!(found, [[Value::Int(9)], [Value::Int(19)]]);
    // Batches of 2, 4, 8 and 16 rows.
    assert_eq!(request.context.counters.keys_read.load(Ordering::Relaxed), 30);
    assert_eq!(request.context.counters.batches.load(Ordering::Relaxed), 2);
}
