//! A transaction that reads its own writes: random histories compared with a map.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use saltwing_plan::{CandidateKey, Condition, Request, choose};
use saltwing_rowkey::KeyRange;
use saltwing_types::{ColumnRef, Expr, SqlType, Value, typing};

use super::fixture::{Open, context, empty, everything, row, rows_of, table_def};
use crate::keys::KeyList;
use crate::{
    Direction, Durability, KeyRanges, KeySet, Projection, RowChange, Savepoint, ScanRoute, ScanSpec, Snapshot,
    SplitTarget, Table, TableError, TableStore, Totals, Transaction,
};

/// Rows by their logical keys.
type Model = BTreeMap<Vec<u8>, Vec<Value>>;

const TEXTS: [Option<&str>; 4] = [None, Some("a"), Some("ab"), Some("b")];

#[derive(Clone, Debug)]
enum Change {
    Put(Vec<Value>),
    Delete(i64, Option<&'static str>),
}

#[derive(Clone, Debug)]
enum Step {
    /// The transaction changes rows.
    Apply(Vec<Change>),
    /// Another commit, which no view has.
    Beside(Change),
    Read(Read),
    /// The view is kept, and read at the end.
    Keep,
    Savepoint,
    /// Back to a savepoint: the number says which of those that there are.
    RollbackTo(usize),
    Release(usize),
}

#[derive(Clone, Debug)]
struct Read {
    keys: Keys,
    direction: Direction,
    limit: Option<u64>,
}

#[derive(Clone, Debug)]
enum Keys {
    All,
    Between(i64, i64),
    Listed(Vec<(i64, Option<&'static str>)>),
    /// Those with one of these texts, wherever they lie: rows between them are skipped.
    WithText(Vec<&'static str>),
}

fn change() -> impl Strategy<Value = Change> {
    let text = || prop::sample::select(&TEXTS[..]);
    let int = || prop::option::of(0i64..3);
    let put = (-6i64..7, text(), int(), text(), int()).prop_map(|(k, s, v, a, b)| Change::Put(row(k, s, v, a, b)));
    prop_oneof![3 => put, 1 => (-6i64..7, text()).prop_map(|(k, s)| Change::Delete(k, s))]
}

fn read() -> impl Strategy<Value = Read> {
    let keys = prop_oneof![
        Just(Keys::All),
        (-6i64..7, -6i64..7).prop_map(|(a, b)| Keys::Between(a.min(b), a.max(b) + 1)),
        vec((-6i64..7, prop::sample::select(&TEXTS[..])), 1..8).prop_map(Keys::Listed),
        prop::sample::subsequence(vec!["a", "ab", "b"], 1..3).prop_map(Keys::WithText),
    ];
    let direction = prop::sample::select(vec![Direction::Forward, Direction::Reverse]);
    (keys, direction, prop::option::of(0u64..9)).prop_map(|(keys, direction, limit)| Read { keys, direction, limit })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec(change(), 1..6).prop_map(Step::Apply),
        1 => change().prop_map(Step::Beside),
        4 => read().prop_map(Step::Read),
        1 => Just(Step::Keep),
        2 => Just(Step::Savepoint),
        1 => (0usize..4).prop_map(Step::RollbackTo),
        1 => (0usize..4).prop_map(Step::Release),
    ]
}

pub(super) fn a_transaction_reads_its_own_writes(open: Open<'_>) {
    let config = Config::with_cases(Config::default().cases.div_ceil(4));
    let histories = (vec(change(), 0..40), vec(step(), 1..25), prop_oneof![Just(0u16), Just(3)], any::<bool>());
    let outcome = TestRunner::new(config).run(&histories, |(before, steps, salt, desc)| {
        let (store, table) = empty(open, table_def(salt, desc, None));
        let mut committed = Model::new();
        for change in &before {
            commit(&*store, &table, change, &mut committed);
        }
        let mut transaction = store.begin().unwrap();
        let (mut own, mut kept) = (committed.clone(), Vec::new());
        let (mut own_keys, mut keys_beside) = (BTreeSet::new(), BTreeSet::new());
        let mut savepoints: Vec<(Savepoint, Model, BTreeSet<Vec<u8>>)> = Vec::new();
        for step in steps {
            match step {
                Step::Apply(changes) => {
                    for change in changes {
                        apply(&mut *transaction, &table, &change);
                        own_keys.insert(change.put_into(&table, &mut own));
                    }
                }
                Step::Beside(change) => {
                    commit(&*store, &table, &change, &mut committed);
                    keys_beside.insert(change.key(&table));
                }
                Step::Read(read) => looks_right(&*transaction.view().unwrap(), &table, &own, &read)?,
                Step::Keep => kept.push((transaction.view().unwrap(), own.clone())),
                Step::Savepoint => savepoints.push((transaction.savepoint(), own.clone(), own_keys.clone())),
                Step::RollbackTo(which) if which < savepoints.len() => {
                    savepoints.truncate(which + 1);
                    let (savepoint, own_then, keys_then) = &savepoints[which];
                    transaction.rollback_to(*savepoint).unwrap();
                    (own, own_keys) = (own_then.clone(), keys_then.clone());
                }
                Step::Release(which) if which < savepoints.len() => {
                    transaction.release(savepoints[which].0);
                    savepoints.truncate(which);
                }
                Step::RollbackTo(which) | Step::Release(which) => {
                    prop_assert!(matches!(transaction.rollback_to(Savepoint(which)), Err(TableError::NoSavepoint(_))));
                }
            }
        }
        let all = Read { keys: Keys::All, direction: Direction::Forward, limit: None };
        for (view, own) in kept {
            looks_right(&*view, &table, &own, &all)?;
        }
        match transaction.commit(Durability::Buffered) {
            Ok(_) => {
                prop_assert!(own_keys.is_disjoint(&keys_beside));
                for key in own_keys {
                    match own.remove(&key) {
                        Some(row) => committed.insert(key, row),
                        None => committed.remove(&key),
                    };
                }
            }
            Err(TableError::Conflict { .. }) => prop_assert!(!own_keys.is_disjoint(&keys_beside)),
            Err(error) => prop_assert!(false, "{error}"),
        }
        looks_right(&*store.snapshot().unwrap(), &table, &committed, &all)
    });
    outcome.unwrap();
}

impl Change {
    /// The logical key.
    fn key(&self, table: &Table) -> Vec<u8> {
        match self {
            Self::Put(row) => table.codec().encode_logical(&row[..2]).unwrap(),
            Self::Delete(k, s) => logical(table, *k, *s),
        }
    }

    /// Makes the change in a map, too; its logical key.
    fn put_into(&self, table: &Table, rows: &mut Model) -> Vec<u8> {
        let key = self.key(table);
        match self {
            Self::Put(row) => rows.insert(key.clone(), row.clone()),
            Self::Delete(..) => rows.remove(&key),
        };
        key
    }
}

fn key_values(k: i64, s: Option<&str>) -> [Value; 2] {
    [Value::Int(k), s.map_or(Value::Null, Value::text)]
}

fn logical(table: &Table, k: i64, s: Option<&str>) -> Vec<u8> {
    table.codec().encode_logical(&key_values(k, s)).unwrap()
}

fn physical(table: &Table, k: i64, s: Option<&str>) -> Vec<u8> {
    table.codec().encode(&key_values(k, s)).unwrap()
}

fn apply(transaction: &mut dyn Transaction, table: &Arc<Table>, change: &Change) {
    match change {
        Change::Put(row) => transaction.apply(table, RowChange::put(row), None),
        Change::Delete(k, s) => transaction.apply(table, RowChange::delete(&physical(table, *k, *s)), None),
    }
    .unwrap();
}

fn commit(store: &dyn TableStore, table: &Arc<Table>, change: &Change, rows: &mut Model) {
    let mut transaction = store.begin().unwrap();
    apply(&mut *transaction, table, change);
    transaction.commit(Durability::Buffered).unwrap();
    change.put_into(table, rows);
}

/// Whether a row of the map is wanted, by its logical key and its values.
type IsWanted = Box<dyn Fn(&[u8], &[Value]) -> bool>;

/// The keys to be read as the border has them, the filter of the rows, and the rows of the map that are wanted.
fn request_of(table: &Arc<Table>, keys: &Keys) -> (KeySet, Vec<Expr>, IsWanted) {
    match keys {
        Keys::All => (KeySet::all(), Vec::new(), Box::new(|_, _| true)),
        Keys::Between(from, to) => {
            let (a, b) = (logical(table, *from, None), logical(table, *to, None));
            let range = KeyRange::new(a.clone().min(b.clone()), Some(a.max(b))).unwrap();
            let set = KeySet::everywhere(KeyRanges::from_iter([range.clone()]));
            (set, Vec::new(), Box::new(move |key, _| range.contains(key)))
        }
        Keys::Listed(list) => {
            let write = |(k, s): &(i64, Option<&'static str>), out: &mut Vec<u8>| {
                out.extend(physical(table, *k, *s));
                Some(())
            };
            let keys = KeyList::new(table.codec().bucket_bytes(), list.iter(), write).unwrap();
            let wanted: BTreeSet<Vec<u8>> = list.iter().map(|(k, s)| logical(table, *k, *s)).collect();
            (KeySet::everywhere(keys), Vec::new(), Box::new(move |key, _| wanted.contains(key)))
        }
        Keys::WithText(texts) => {
            let column =
                ColumnRef { index: 1, name: "s".into(), ty: SqlType::Varchar(None), nullable: true, span: None };
            let list = texts.iter().map(|text| typing::string(*text)).collect();
            let condition = typing::in_list(Expr::Column(column), list, false).unwrap();
            let key = CandidateKey::of_table("t", &table.def().key, table.codec());
            let keys = [key];
            let access = choose(Request::new("t", &keys, vec![Condition::new(condition.clone())])).unwrap();
            assert!(access.skip.is_some());
            let set = KeySet::everywhere(KeyRanges::planned(&access.ranges).skipping(access.skip));
            let texts = texts.clone();
            (set, vec![condition], Box::new(move |_, row| texts.iter().any(|text| row[1] == Value::text(*text))))
        }
    }
}

/// Every read of a snapshot equals the map.
fn looks_right(view: &dyn Snapshot, table: &Arc<Table>, model: &Model, read: &Read) -> Result<(), TestCaseError> {
    let (keys, filter, is_wanted) = request_of(table, &read.keys);
    let columns = [0, 1, 2, 3, 4];
    let mut wanted: Vec<Vec<Value>> =
        model.iter().filter(|(key, row)| is_wanted(key, row)).map(|(_, row)| row.clone()).collect();
    let all = wanted.len();
    if read.direction == Direction::Reverse {
        wanted.reverse();
    }
    wanted.truncate(read.limit.map_or(all, |limit| limit as usize));

    let spec = ScanSpec::new(table, columns.to_vec(), filter.clone()).unwrap();
    let route = ScanRoute { keys: keys.clone(), direction: read.direction, limit: read.limit, ..everything() };
    let of_route = |route: ScanRoute| rows_of(&mut *view.scan(&spec, route, context()).unwrap(), table, &columns);
    let rows = of_route(route);
    prop_assert_eq!(&rows, &wanted, "{:?}", read);

    let whole = ScanRoute::of(keys.clone());
    let parts = view.split(table, &whole, SplitTarget { rows_each: 2, rows_min: 0 }).unwrap();
    let parts = parts.iter().filter_map(|part| whole.within(&table.def().key, part));
    let in_parts: Vec<Vec<Value>> = parts.flat_map(of_route).collect();
    prop_assert_eq!(in_parts.len(), all);
    prop_assert_eq!(in_parts, of_route(whole.clone()));

    let spec = ScanSpec::new(table, vec![2, 4], filter.clone()).unwrap();
    let limited = ScanRoute { limit: read.limit, direction: read.direction, ..everything() };
    let totals = view.scan(&spec, ScanRoute { keys: keys.clone(), ..limited }, context()).unwrap().totals().unwrap();
    prop_assert_eq!(totals, totals_of(&wanted));
    let estimate = view.estimate(table, &keys).unwrap();
    prop_assert!(!estimate.is_exact || !filter.is_empty() || estimate.rows == all as u64, "{:?}", estimate);

    for k in [-6, 0, 3] {
        for s in TEXTS {
            let (key, row) = (physical(table, k, s), model.get(&logical(table, k, s)));
            let found = view.get(&Projection::all(table), &key).unwrap();
            prop_assert_eq!(found.as_ref(), row);
            prop_assert_eq!(view.contains(table, &key).unwrap(), row.is_some());
        }
    }
    Ok(())
}

/// What rows have together in columns 2 and 4.
fn totals_of(rows: &[Vec<Value>]) -> Totals {
    let columns = [2, 4].map(|column| rows.iter().fold(crate::Total::default(), |sum, row| sum.with(&row[column], 1)));
    Totals { rows: rows.len() as u64, columns: columns.to_vec() }
}
