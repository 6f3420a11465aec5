//! The check finds each anomaly in a history that has it, and none in the same history without it.

use history_tests::{Answer, End, Index, Span, State, Statement, Table, Transaction, check};

const A: Table = Table::A;
const B: Table = Table::B;

fn point(table: Table, key: i64, value: Option<i64>) -> (Statement, Answer) {
    let row = value.map(|value| vec![Some(key), Some(value), Some(value)]);
    (Statement::Point { table, key }, Answer::Rows(row.into_iter().collect()))
}

/// Keys 1 to 9.
fn range(table: Table, rows: &[(i64, i64)]) -> (Statement, Answer) {
    let rows = rows.iter().map(|(key, value)| vec![Some(*key), Some(*value), Some(*value)]);
    (Statement::Range { table, from: 1, to: 9 }, Answer::Rows(rows.collect()))
}

fn total(table: Table, count: i64, sum: i64) -> (Statement, Answer) {
    let row = vec![Some(count), Some(sum), Some(sum), Some(1)];
    (Statement::Totals { table, from: 1, to: 9 }, Answer::Rows(vec![row]))
}

fn put(table: Table, key: i64, value: i64) -> (Statement, Answer) {
    (Statement::Upsert { table, key, row: [Some(value), Some(value)] }, Answer::Changed(1))
}

fn delete(table: Table, key: i64, count: u64) -> (Statement, Answer) {
    (Statement::Delete { table, from: key, to: key }, Answer::Changed(count))
}

fn add(table: Table, key: i64, value: i64) -> (Statement, Answer) {
    (Statement::Add { table, from: key, to: key, value }, Answer::Changed(1))
}

/// A transaction by the times of BEGIN and of its end, each of which takes one tick.
fn transaction(began: u64, ended: u64, end: End, statements: &[(Statement, Answer)]) -> Vec<Transaction> {
    let span = |sent| Span { sent, answered: sent + 1 };
    vec![Transaction { began: span(began), statements: statements.to_vec(), ended: span(ended), end }]
}

use End::{Committed, Conflict, RolledBack, Unknown};

/// Row 1 of both tables is 1.
fn start() -> State {
    let mut state = State::default();
    for table in Table::ALL {
        state.rows_mut(table).insert(1, [Some(1), Some(1)]);
    }
    state
}

/// Checks that only the first of two histories is explained. They differ in one anomaly.
#[track_caller]
fn explains_only_the_first(good: &[Vec<Transaction>], bad: &[Vec<Transaction>]) {
    if let Err(anomaly) = check(&start(), good) {
        panic!("{anomaly}");
    }
    let anomaly = check(&start(), bad).unwrap_err();
    assert!(!anomaly.reasons.is_empty(), "{anomaly}");
}

#[test]
fn a_lost_update() {
    let first = transaction(0, 20, Committed, &[point(A, 1, Some(1)), put(A, 1, 2)]);
    let second = |end| transaction(5, 30, end, &[point(A, 1, Some(1)), put(A, 1, 3)]);
    explains_only_the_first(&[first.clone(), second(Conflict)], &[first, second(Committed)]);
}

/// The first committer wins also if nothing was read, and if the other one deleted the row.
#[test]
fn a_lost_blind_write() {
    let first = transaction(0, 20, Committed, &[delete(A, 1, 1)]);
    let second = |began| transaction(began, 30, Committed, &[put(A, 1, 3)]);
    explains_only_the_first(&[first.clone(), second(25)], &[first, second(5)]);
}

#[test]
fn a_lost_increment_of_one_statement() {
    let add = |began, value| transaction(began, began, Committed, &[add(A, 1, value)]);
    let last = |value| transaction(9, 9, Committed, &[(Statement::Range { table: A, from: 1, to: 1 }, value)]);
    let rows = |v, w| Answer::Rows(vec![vec![Some(1), Some(v), Some(w)]]);
    explains_only_the_first(&[add(0, 10), add(0, 20), last(rows(31, 3))], &[add(0, 10), add(0, 20), last(rows(21, 2))]);
}

#[test]
fn a_dirty_read() {
    let writer = transaction(0, 20, RolledBack, &[put(A, 1, 2)]);
    let reader = |value| transaction(5, 9, Committed, &[point(A, 1, Some(value))]);
    explains_only_the_first(&[writer.clone(), reader(1)], &[writer, reader(2)]);
    // Neither is anything read of a transaction that commits later.
    let writer = transaction(0, 20, Committed, &[put(A, 1, 2)]);
    explains_only_the_first(&[writer.clone(), reader(1)], &[writer, reader(2)]);
}

#[test]
fn a_torn_read_of_two_tables() {
    let writer = transaction(0, 20, Committed, &[put(A, 1, 2), put(B, 1, 2)]);
    let reader = |a, b| transaction(20, 25, Committed, &[point(A, 1, Some(a)), point(B, 1, Some(b))]);
    explains_only_the_first(&[writer.clone(), reader(2, 2)], &[writer.clone(), reader(2, 1)]);
    explains_only_the_first(&[writer.clone(), reader(1, 1)], &[writer, reader(1, 2)]);
}

#[test]
fn a_torn_read_of_two_families() {
    let writer = transaction(0, 20, Committed, &[put(A, 1, 2)]);
    let read = |v, w| {
        let row = (Statement::Point { table: A, key: 1 }, Answer::Rows(vec![vec![Some(1), Some(v), Some(w)]]));
        transaction(20, 20, Committed, &[row])
    };
    explains_only_the_first(&[writer.clone(), read(2, 2)], &[writer, read(2, 1)]);
}

#[test]
fn a_phantom() {
    let writer = transaction(5, 6, Committed, &[put(A, 2, 2)]);
    let reader = |again: &[(i64, i64)]| transaction(0, 9, Committed, &[range(A, &[(1, 1)]), range(A, again)]);
    explains_only_the_first(&[writer.clone(), reader(&[(1, 1)])], &[writer.clone(), reader(&[(1, 1), (2, 2)])]);
    let totals = |sum| transaction(0, 9, Committed, &[range(A, &[(1, 1)]), total(A, 1, sum)]);
    explains_only_the_first(&[writer.clone(), totals(1)], &[writer, totals(3)]);
}

#[test]
fn an_own_write_that_is_not_read() {
    let own = |count: u64| {
        let statements = [put(A, 1, 2), range(A, &[(1, 2)]), delete(A, 1, count), range(A, &[])];
        vec![transaction(0, 9, Committed, &statements)]
    };
    explains_only_the_first(&own(1), &own(0));
    let savepoint = |value| {
        let (set, back) = ((Statement::Savepoint, Answer::Done), (Statement::RollbackTo, Answer::Done));
        vec![transaction(0, 9, RolledBack, &[put(A, 1, 2), set, put(A, 1, 3), back, point(A, 1, Some(value))])]
    };
    explains_only_the_first(&savepoint(2), &savepoint(3));
}

/// What was acknowledged is read from then on, and the first commit before the second.
#[test]
fn a_commit_that_appears_late_or_out_of_order() {
    let writer = transaction(0, 5, Committed, &[put(A, 1, 2)]);
    let reader = |value| transaction(7, 9, Committed, &[point(A, 1, Some(value))]);
    explains_only_the_first(&[writer.clone(), reader(2)], &[writer, reader(1)]);
    // Two readers do not agree about the order of two commits.
    let commits = [(A, 0), (B, 1)].map(|(table, at)| Transaction {
        ended: Span { sent: 5, answered: 30 },
        ..transaction(at, 5, Committed, &[put(table, 1, 2)]).remove(0)
    });
    let reader = |a, b| transaction(10, 12, Committed, &[point(A, 1, Some(a)), point(B, 1, Some(b))]);
    let history = |first, second| {
        let [one, other] = commits.clone();
        [vec![one], vec![other], first, second]
    };
    explains_only_the_first(&history(reader(1, 2), reader(2, 2)), &history(reader(1, 2), reader(2, 1)));
}

#[test]
fn an_unknown_commit_is_there_as_a_whole_or_not_at_all() {
    let writer = transaction(0, 5, Unknown, &[put(A, 1, 2), put(B, 1, 2)]);
    let reader = |at, a, b| transaction(at, at + 1, Committed, &[point(A, 1, Some(a)), point(B, 1, Some(b))]);
    explains_only_the_first(&[writer.clone(), reader(9, 1, 1)], &[writer.clone(), reader(9, 1, 2)]);
    explains_only_the_first(&[writer.clone(), reader(9, 2, 2)], &[writer.clone(), reader(9, 2, 1)]);
    // It does not go away once it was read.
    let both = |first, last| [reader(9, first, first), reader(20, last, last)].concat();
    explains_only_the_first(&[writer.clone(), both(1, 2)], &[writer, both(2, 1)]);
}

/// Snapshot isolation allows it.
#[test]
fn write_skew_is_no_anomaly() {
    let skew = |read, written, value| transaction(0, 9, Committed, &[point(read, 1, Some(1)), put(written, 1, value)]);
    check(&start(), &[skew(A, B, 2), skew(B, A, 3)]).unwrap();
}

/// Of two transactions that give one value to different rows, one may commit.
#[test]
fn a_value_that_two_rows_get() {
    let w = |key, answer| (Statement::UpsertOne { table: B, key, column: 1, value: 7 }, answer);
    let writer = |at, key, end, answer| transaction(at, at + 10, end, &[w(key, answer)]);
    let first = writer(0, 2, Committed, Answer::Changed(1));
    let good = [first.clone(), writer(5, 3, Conflict, Answer::Changed(1))];
    let bad = [first.clone(), writer(5, 3, Committed, Answer::Changed(1))];
    check(&start().indexed(), &good).unwrap();
    check(&start().indexed(), &bad).unwrap_err();
    // Later it is refused at once.
    check(&start().indexed(), &[first.clone(), writer(20, 3, Committed, Answer::Refused)]).unwrap();
    check(&start().indexed(), &[first, writer(20, 3, Committed, Answer::Changed(1))]).unwrap_err();
}

#[test]
fn an_entry_that_is_missing_or_left() {
    let writer = transaction(0, 5, Committed, &[put(A, 1, 4)]);
    let read = |from: i64, rows: &[i64]| {
        let rows = rows.iter().map(|value| vec![Some(1), Some(*value), Some(*value)]).collect();
        transaction(
            9,
            9,
            Committed,
            &[(Statement::ByIndex { index: Index::Global, from, to: from }, Answer::Rows(rows))],
        )
    };
    explains_only_the_first(&[writer.clone(), read(4, &[4])], &[writer.clone(), read(4, &[])]);
    explains_only_the_first(&[writer.clone(), read(1, &[])], &[writer, read(1, &[1])]);
}
