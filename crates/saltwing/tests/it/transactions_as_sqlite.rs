//! Random transactions answer, fail and end as in SQLite, statement by statement.
//!
//! Three differences are known, and the same on purpose: after an error SQLite's transaction goes on, and ours takes no more
//! statements before a rollback; SQLite judges clashes of updated keys row by row, and we the whole statement, so that it gets
//! such an UPDATE in two steps, by way of keys that nobody else has; and SAVEPOINT outside of BEGIN opens a transaction there.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use saltwing::{Database, ErrorCode, TransactionState, blocking::Connection};

use crate::{code, texts};

#[derive(Clone, Debug)]
enum Step {
    /// One statement of ours; the statements of SQLite that do the same; whether a savepoint saves the transaction from an error.
    Write {
        ours: String,
        sqlite: Vec<String>,
        is_saved: bool,
    },
    Read(String),
    Begin,
    Commit,
    Rollback,
    Savepoint(&'static str),
    RollbackTo(&'static str),
    Release(&'static str),
}

fn condition() -> impl Strategy<Value = String> {
    let (a, b) = (|| 0..8i64, || 0..4i64);
    prop_oneof![
        3 => (a(), b()).prop_map(|(a, b)| format!("a = {a} AND b = {b}")),
        2 => a().prop_map(|a| format!("a = {a}")),
        2 => (a(), 0..4i64).prop_map(|(a, more)| format!("a BETWEEN {a} AND {a} + {more}")),
        1 => b().prop_map(|b| format!("b < {b}")),
        1 => (a(), 0..90i64).prop_map(|(a, v)| format!("a >= {a} AND v > {v}")),
        1 => Just("v IS NULL".to_owned()),
        1 => (a(), b(), a(), b()).prop_map(|(a, b, c, d)| format!("(a, b) IN (({a}, {b}), ({c}, {d}))")),
    ]
}

fn row() -> impl Strategy<Value = String> {
    let v = prop_oneof![4 => (0..99i64).prop_map(|v| v.to_string()), 1 => Just("NULL".to_owned())];
    let s = prop_oneof!["'[x-z]'", Just("NULL".to_owned())];
    (0..8i64, 0..4i64, v, 0..9i64, s).prop_map(|(a, b, v, n, s)| format!("({a}, {b}, {v}, {n}, {s})"))
}

fn rows() -> impl Strategy<Value = String> {
    prop::collection::vec(row(), 1..4).prop_map(|rows| rows.join(", "))
}

/// Both take the same text.
fn same(sql: String) -> (String, Vec<String>) {
    (sql.clone(), vec![sql])
}

/// An UPDATE of keys: SQLite's first step takes the rows away to keys below -90000.
fn moved(table: &str, key: &str, to: &str, rest: &str, condition: &str) -> (String, Vec<String>) {
    let away = format!("UPDATE {table} SET {key} = -100000 - ({to}){rest} WHERE {condition}");
    let back = format!("UPDATE {table} SET {key} = -100000 - {key} WHERE {key} <= -90000");
    (format!("UPDATE {table} SET {key} = {to}{rest} WHERE {condition}"), vec![away, back])
}

fn write() -> impl Strategy<Value = (String, Vec<String>)> {
    let by = || -2..5i64;
    prop_oneof![
        4 => rows().prop_map(|rows| same(format!("INSERT INTO t VALUES {rows}"))),
        2 => rows().prop_map(|rows| same(format!("INSERT INTO t VALUES {rows} ON CONFLICT DO NOTHING"))),
        3 => rows().prop_map(|rows| {
            same(format!("INSERT INTO t VALUES {rows} ON CONFLICT (a, b) DO UPDATE SET v = t.v + excluded.v, s = excluded.s"))
        }),
        2 => (rows(), 0..9i64).prop_map(|(rows, n)| {
            let set = format!("n = excluded.n + 1, v = NULL WHERE t.n < {n}");
            same(format!("INSERT INTO t VALUES {rows} ON CONFLICT (a, b) DO UPDATE SET {set}"))
        }),
        4 => rows().prop_map(|rows| {
            (format!("UPSERT INTO t VALUES {rows}"), vec![format!("INSERT OR REPLACE INTO t VALUES {rows}")])
        }),
        2 => (0..8i64, 0..4i64, 0..99i64).prop_map(|(a, b, v)| {
            let into = format!("INTO t (a, b, v, n) VALUES ({a}, {b}, {v}, 1)");
            let sqlite = format!("INSERT {into} ON CONFLICT DO UPDATE SET v = excluded.v, n = excluded.n");
            (format!("UPSERT {into}"), vec![sqlite])
        }),
        4 => (condition(), by()).prop_map(|(c, by)| same(format!("UPDATE t SET v = v + {by}, s = 'u' WHERE {c}"))),
        1 => condition().prop_map(|c| same(format!("UPDATE t SET n = v WHERE {c}"))),
        3 => (condition(), by()).prop_map(|(c, by)| moved("t", "a", &format!("a + {by}"), "", &c)),
        2 => (condition(), by()).prop_map(|(c, by)| moved("t", "a", &format!("{by} - a"), ", n = n + 1", &c)),
        1 => condition().prop_map(|c| moved("t", "a", "b", ", b = a", &c)),
        1 => (0..30i64, by()).prop_map(|(k, by)| moved("u", "k", &format!("k + {by}"), ", v = k", &format!("k >= {k}"))),
        3 => condition().prop_map(|c| same(format!("DELETE FROM t WHERE {c}"))),
        1 => (0..30i64).prop_map(|k| same(format!("DELETE FROM u WHERE k BETWEEN {k} AND {k} + 9"))),
        2 => condition().prop_map(|c| {
            let rows = format!("INTO u SELECT a * 4 + b, v, n FROM t WHERE {c}");
            (format!("UPSERT {rows}"), vec![format!("INSERT OR REPLACE {rows}")])
        }),
        2 => (condition(), by()).prop_map(|(c, by)| same(format!("INSERT INTO t SELECT a + {by}, b, v, n, s FROM t WHERE {c}"))),
        1 => condition().prop_map(|c| same(format!("UPDATE t SET v = (SELECT MAX(k) FROM u WHERE k >= 0) WHERE {c}"))),
    ]
}

fn read() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "SELECT a, b, v, n, s FROM t WHERE a >= -999 ORDER BY a, b",
        "SELECT k, v, n FROM u WHERE k >= -999 ORDER BY k",
        "SELECT COUNT(*), SUM(v), MIN(a), MAX(a), MIN(s) FROM t WHERE a >= -999",
        "SELECT MAX(k), MIN(k) FROM u WHERE k < 20",
        "SELECT DISTINCT a FROM t WHERE a >= -999 ORDER BY a",
        "SELECT a, COUNT(*), SUM(n) FROM t WHERE a >= -999 GROUP BY a ORDER BY a",
        "SELECT s, COUNT(v) FROM t WHERE a >= -999 GROUP BY s ORDER BY s NULLS FIRST",
        "SELECT k, n FROM u WHERE k >= -999 ORDER BY k DESC LIMIT 3",
        "SELECT a, b FROM t WHERE a >= -999 AND b = 2 ORDER BY a DESC LIMIT 4",
        "SELECT t.a, t.b, u.v FROM t JOIN u ON u.k = t.a WHERE t.a >= -999 ORDER BY t.a, t.b",
        "SELECT a, b FROM t WHERE a >= -999 AND v = (SELECT MAX(v) FROM t WHERE a >= -9) ORDER BY a, b",
    ]);
    prop_oneof![
        2 => fixed.prop_map(str::to_owned),
        1 => condition().prop_map(|c| format!("SELECT a, b, v, n, s FROM t WHERE {c} ORDER BY a, b")),
        1 => condition().prop_map(|c| format!("SELECT COUNT(*), SUM(n) FROM t WHERE {c}")),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let name = || prop::sample::select(vec!["p", "q"]);
    prop_oneof![
        12 => (write(), prop::bool::weighted(0.8)).prop_map(|((ours, sqlite), is_saved)| {
            Step::Write { ours, sqlite, is_saved }
        }),
        8 => read().prop_map(Step::Read),
        3 => Just(Step::Begin),
        2 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        2 => name().prop_map(Step::Savepoint),
        2 => name().prop_map(Step::RollbackTo),
        1 => name().prop_map(Step::Release),
    ]
}

/// The two databases.
struct Pair {
    ours: Connection,
    sqlite: rusqlite::Connection,
}

/// The rows that a statement of SQLite changes, or its error as one of ours.
type Changed = Result<u64, ErrorCode>;

impl Pair {
    fn new(salt: u16, is_tiny: bool) -> Self {
        let builder = Database::memory_builder().default_salt_buckets(salt).full_scan("allow").unwrap();
        let builder = if is_tiny { builder.tiny_layout().threads_from_rows(4) } else { builder };
        let ours = builder.open().unwrap().connect().blocking();
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        for sql in [
            "CREATE TABLE t (a BIGINT NOT NULL, b BIGINT NOT NULL, v BIGINT, n BIGINT NOT NULL, s VARCHAR, PRIMARY KEY (a, b))",
            "CREATE TABLE u (k BIGINT NOT NULL, v BIGINT, n BIGINT, PRIMARY KEY (k DESC))",
        ] {
            ours.execute(sql, ()).unwrap();
            sqlite.execute(sql, ()).unwrap();
        }
        Self { ours, sqlite }
    }

    /// The last of the statements says how many rows are changed; all of them are, or none.
    fn in_sqlite(&self, statements: &[String]) -> Changed {
        let plain = |sql: &str| self.sqlite.execute_batch(sql).unwrap();
        plain("SAVEPOINT one_statement");
        let done = statements.iter().try_fold(0, |_, sql| self.sqlite.execute(sql, ()));
        if done.is_err() {
            plain("ROLLBACK TO one_statement");
        }
        plain("RELEASE one_statement");
        done.map(|rows| rows as u64).map_err(|error| match &error {
            rusqlite::Error::SqliteFailure(failure, _) => match failure.extended_code {
                rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY => ErrorCode::DuplicateKey,
                rusqlite::ffi::SQLITE_CONSTRAINT_NOTNULL => ErrorCode::NotNull,
                _ => panic!("{statements:?}: {error}"),
            },
            _ => panic!("{statements:?}: {error}"),
        })
    }

    fn state(&self) -> TransactionState {
        self.ours.transaction_state()
    }

    fn take(&self, step: &Step, executors: &[&str]) -> Result<(), TestCaseError> {
        let ours = |sql: &str| code(self.ours.execute(sql, ()));
        let sqlite = |sql: &str| self.sqlite.execute_batch(sql).is_ok();
        match step {
            Step::Write { ours: sql, .. } | Step::Read(sql) if self.state() == TransactionState::Failed => {
                prop_assert_eq!(ours(sql), "failed_transaction", "{}", sql);
            }
            Step::Write { ours, sqlite, is_saved } => self.write(ours, sqlite, *is_saved)?,
            Step::Read(sql) => self.read(sql, executors)?,
            Step::Begin if self.state() == TransactionState::None => {
                prop_assert_eq!((ours("BEGIN"), sqlite("BEGIN")), ("ok", true));
            }
            Step::Begin => prop_assert_eq!((ours("BEGIN"), sqlite("BEGIN")), ("active_transaction", false)),
            _ if self.state() == TransactionState::None => {
                let sql = text(step);
                prop_assert_eq!(ours(&sql), "no_transaction", "{}", sql);
            }
            Step::Commit if self.state() == TransactionState::Failed => {
                prop_assert_eq!((ours("COMMIT"), sqlite("ROLLBACK")), ("failed_transaction", true));
            }
            Step::Commit | Step::Rollback => {
                prop_assert_eq!((ours(&text(step)), sqlite(&text(step))), ("ok", true));
            }
            Step::Savepoint(_) | Step::Release(_) if self.state() == TransactionState::Failed => {
                prop_assert_eq!(ours(&text(step)), "failed_transaction");
            }
            Step::Savepoint(_) | Step::Release(_) | Step::RollbackTo(_) => {
                let code = ours(&text(step));
                let wanted = if sqlite(&text(step)) { "ok" } else { "no_such_savepoint" };
                prop_assert_eq!(code, wanted, "{:?}", step);
            }
        }
        let is_open = self.state() != TransactionState::None;
        prop_assert_eq!(is_open, !self.sqlite.is_autocommit(), "{:?}", step);
        Ok(())
    }

    fn write(&self, ours: &str, sqlite: &[String], is_saved: bool) -> Result<(), TestCaseError> {
        let is_saved = is_saved && self.state() == TransactionState::Open;
        let plain = |sql: &str| drop(self.ours.execute(sql, ()).unwrap());
        if is_saved {
            plain("SAVEPOINT before");
        }
        let done = self.ours.execute(ours, ());
        if is_saved {
            if done.is_err() {
                plain("ROLLBACK TO before");
            }
            plain("RELEASE before");
        }
        let found = done.as_ref().map(|done| done.rows_affected).map_err(|error| error.code());
        let is_refused = found == Err(ErrorCode::NotSupported) && !cfg!(feature = "datafusion");
        if is_refused {
            return Ok(());
        }
        prop_assert_eq!(found, self.in_sqlite(sqlite), "{}: {:?}", ours, done.err());
        Ok(())
    }

    fn read(&self, sql: &str, executors: &[&str]) -> Result<(), TestCaseError> {
        let wanted = sqlite_rows(&self.sqlite, sql);
        for executor in executors {
            self.ours.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
            match texts(&self.ours, sql) {
                Err(error) if error.code() == ErrorCode::NotSupported && !cfg!(feature = "datafusion") => {
                    let _ = self.ours.execute("ROLLBACK", ());
                    let _ = self.sqlite.execute_batch("ROLLBACK");
                }
                found => prop_assert_eq!(&found.unwrap(), &wanted, "{}: {}", executor, sql),
            }
        }
        self.ours.execute("SET executor = 'auto'", ()).unwrap();
        Ok(())
    }
}

/// The text of what both know by the same words.
fn text(step: &Step) -> String {
    match step {
        Step::Savepoint(name) => format!("SAVEPOINT {name}"),
        Step::RollbackTo(name) => format!("ROLLBACK TO {name}"),
        Step::Release(name) => format!("RELEASE {name}"),
        Step::Commit => "COMMIT".into(),
        Step::Rollback => "ROLLBACK".into(),
        Step::Begin => "BEGIN".into(),
        Step::Write { ours, .. } | Step::Read(ours) => ours.clone(),
    }
}

fn sqlite_rows(sqlite: &rusqlite::Connection, sql: &str) -> Vec<String> {
    use rusqlite::types::Value;
    let mut statement = sqlite.prepare(sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let columns = statement.column_count();
    let cell = |value: Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Text(text) => text,
        other => panic!("{other:?}"),
    };
    let row = |row: &rusqlite::Row<'_>| {
        let cells = (0..columns).map(|column| row.get(column).map(cell));
        Ok(cells.collect::<rusqlite::Result<Vec<String>>>()?.join("|"))
    };
    statement.query_map((), row).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn random_transactions_go_as_in_sqlite() {
    let executors: &[&str] = if cfg!(feature = "datafusion") { &["auto", "datafusion"] } else { &["auto"] };
    let config = Config { failure_persistence: None, ..Config::with_cases(Config::default().cases.div_ceil(4)) };
    let cases = (prop_oneof![Just(0u16), Just(3)], any::<bool>(), prop::collection::vec(step(), 10..60));
    let outcome = TestRunner::new(config).run(&cases, |(salt, is_tiny, steps)| {
        let pair = Pair::new(salt, is_tiny);
        steps.iter().try_for_each(|step| pair.take(step, executors))?;
        if pair.state() != TransactionState::None {
            pair.take(&Step::Commit, executors)?;
        }
        let all = [
            "SELECT a, b, v, n, s FROM t WHERE a >= -999 ORDER BY a, b",
            "SELECT k, v, n FROM u WHERE k >= -999 ORDER BY k",
        ];
        all.iter().try_for_each(|sql| pair.read(sql, executors))
    });
    outcome.unwrap();
}
