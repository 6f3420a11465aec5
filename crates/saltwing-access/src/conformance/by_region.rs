//! Stores of less scope than all tables: each region is read when a scan comes there, and each row is written by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use saltwing_types::Value;

use super::fixture::{Open, context, empty, everything, key_of, put_all, read, row, table_def};
use crate::{Durability, OldRow, Projection, RowChange, Table, TableError, TableStore};

fn row_of(store: &dyn TableStore, table: &Arc<Table>, k: i64) -> Option<Vec<Value>> {
    store.snapshot().unwrap().get(&Projection::all(table), &key_of(table, k)).unwrap()
}

/// Commits changes of rows by what a statement has read of them.
fn commit(store: &dyn TableStore, table: &Arc<Table>, changes: &[(Vec<Value>, OldRow<'_>)]) -> Result<(), TableError> {
    let mut transaction = store.begin()?;
    for (new, old) in changes {
        transaction.apply(table, RowChange::Put { new, old: *old, written_ms: None }, None)?;
    }
    transaction.commit(Durability::Synced).map(drop)
}

/// Rows that are there all the time are read once each, however often they are written meanwhile, and no row is read in part.
pub(super) fn a_scan_reads_each_row_whole_and_once(open: Open<'_>) {
    const ROWS: i64 = 60;
    let (store, table) = empty(open, table_def(3, false, None));
    put_all(&*store, &table, 0..ROWS);
    let write = |k: i64, v: i64| {
        let mut batch = store.batch();
        batch.put(&table, row(k, None, Some(v), None, Some(v))).unwrap();
        batch.commit(Durability::Buffered).unwrap();
    };
    (0..ROWS).for_each(|k| write(k, 0));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for v in 0.. {
                if is_over.load(Relaxed) {
                    return;
                }
                write(v % ROWS, v);
            }
        });
        for _ in 0..20 {
            let rows = read(&*store, &table, &[0, 2, 4], everything(), &context());
            let keys: BTreeSet<i64> = rows.iter().map(|row| if let Value::Int(k) = row[0] { k } else { -1 }).collect();
            let is_whole = |row: &Vec<Value>| row[1] == row[2];
            let (is_complete, is_whole) =
                (keys.len() == rows.len() && keys.len() as i64 == ROWS, rows.iter().all(is_whole));
            if !is_complete || !is_whole {
                is_over.store(true, Relaxed);
            }
            assert!(is_complete && is_whole, "{rows:?}");
        }
        is_over.store(true, Relaxed);
    });
}

/// A row that is not as the statement has read it is not written.
pub(super) fn a_commit_compares_rows(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    let (first, second) = (row(1, None, Some(1), Some("a"), None), row(1, None, Some(2), None, None));
    let is_conflict = |done: Result<(), TableError>| matches!(done, Err(TableError::Conflict { .. }));
    assert!(is_conflict(commit(&*store, &table, &[(second.clone(), OldRow::Present(&first))])), "there is no row");
    commit(&*store, &table, &[(first.clone(), OldRow::Absent)]).unwrap();
    assert!(is_conflict(commit(&*store, &table, &[(second.clone(), OldRow::Absent)])));
    assert!(is_conflict(commit(&*store, &table, &[(second.clone(), OldRow::Present(&second))])));
    assert_eq!(row_of(&*store, &table, 1), Some(first.clone()));
    commit(&*store, &table, &[(second.clone(), OldRow::Present(&first))]).unwrap();
    let delete = |old: OldRow<'_>| {
        let mut transaction = store.begin().unwrap();
        transaction.apply(&table, RowChange::Delete { key: &key_of(&table, 1), old }, None).unwrap();
        transaction.commit(Durability::Synced).map(drop)
    };
    assert!(is_conflict(delete(OldRow::Present(&first))));
    assert_eq!(row_of(&*store, &table, 1), Some(second.clone()));
    delete(OldRow::Present(&second)).unwrap();
    assert_eq!(row_of(&*store, &table, 1), None);
}

/// The outcomes of rows are counted, and those that are written stay.
pub(super) fn a_commit_counts_its_rows(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    put_all(&*store, &table, 3..5);
    let news: Vec<_> = (0..6).map(|k| (row(k, None, Some(9), None, None), OldRow::Absent)).collect();
    match commit(&*store, &table, &news) {
        Err(TableError::PartlyWritten { written: 4, refused: 2, unknown: 0, first }) => {
            assert!(matches!(*first, TableError::Conflict { .. }), "{first}");
        }
        other => panic!("{other:?}"),
    }
    let of = |k: i64| row_of(&*store, &table, k).map(|row| row[2].clone());
    assert_eq!([0, 1, 2, 3, 4, 5].map(of), [9, 9, 9, 3, 4, 9].map(|v| Some(Value::Int(v))));
    // A commit that has written nothing says so: it may be tried again.
    assert!(matches!(commit(&*store, &table, &news), Err(TableError::Conflict { .. })));
}

/// A column that is not named keeps its value, and is NULL in a new row.
pub(super) fn columns_are_set_alone(open: Open<'_>) {
    let (store, table) = empty(open, table_def(3, false, None));
    let set = |columns: &[usize], values: &[Value]| {
        let mut batch = store.batch();
        let mut keys = Vec::new();
        batch.apply(&table, RowChange::Set { columns, values }, Some(&mut keys)).unwrap();
        assert_eq!(keys, [key_of(&table, 1)]);
        batch.commit(Durability::Synced).unwrap();
    };
    let (k, text) = (Value::Int(1), Value::text("a"));
    set(&[2, 0], &[Value::Int(5), k.clone()]);
    assert_eq!(row_of(&*store, &table, 1), Some(row(1, None, Some(5), None, None)));
    set(&[0, 3], &[k.clone(), text]);
    assert_eq!(row_of(&*store, &table, 1), Some(row(1, None, Some(5), Some("a"), None)));
    set(&[0, 2], &[k.clone(), Value::Null]);
    assert_eq!(row_of(&*store, &table, 1), Some(row(1, None, None, Some("a"), None)));
    // Several changes of a row in one batch.
    let mut batch = store.batch();
    batch.delete(&table, key_of(&table, 1)).unwrap();
    for (column, value) in [(2, 6), (4, 7), (2, 8)] {
        let set = RowChange::Set { columns: &[0, column], values: &[k.clone(), Value::Int(value)] };
        batch.apply(&table, set, None).unwrap();
    }
    batch.commit(Durability::Synced).unwrap();
    assert_eq!(row_of(&*store, &table, 1), Some(row(1, None, Some(8), None, Some(7))));
}

/// Threads that set columns of one row, each its own.
pub(super) fn columns_set_by_threads_are_all_there(open: Open<'_>) {
    const TIMES: i64 = 40;
    let (store, table) = empty(open, table_def(0, false, None));
    std::thread::scope(|scope| {
        for column in [2, 4] {
            let (store, table) = (&store, &table);
            scope.spawn(move || {
                for value in 1..=TIMES {
                    let mut batch = store.batch();
                    let set = RowChange::Set { columns: &[0, column], values: &[Value::Int(1), Value::Int(value)] };
                    batch.apply(table, set, None).unwrap();
                    batch.commit(Durability::Buffered).unwrap();
                    let read = row_of(&**store, table, 1).unwrap();
                    assert_eq!(read[column], Value::Int(value), "what a thread has written stays");
                }
            });
        }
    });
    assert_eq!(row_of(&*store, &table, 1), Some(row(1, None, Some(TIMES), None, Some(TIMES))));
}
