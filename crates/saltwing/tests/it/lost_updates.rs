//! Statements that read and write, on several threads: none of what was acknowledged is lost.

use std::io::Write as _;
use std::path::Path;

use saltwing::{Builder, Database, ErrorCode, StoreKind, blocking, params};

/// Databases on all stores of this build.
fn databases(directory: &Path) -> Vec<(&'static str, Database)> {
    let open = |builder: Builder| builder.full_scan("allow").unwrap().buffered().open().unwrap();
    let mut databases = vec![("memory", open(Database::memory_builder()))];
    let kinds = [(StoreKind::Redb, cfg!(feature = "redb")), (StoreKind::Sled, cfg!(feature = "sled"))];
    for (kind, _) in kinds.into_iter().filter(|(_, is_built_in)| *is_built_in) {
        let name = kind.as_str();
        databases.push((name, open(Database::builder(directory.join(name)).store(kind))));
    }
    databases.push(("tiny", open(Database::memory_builder().tiny_layout())));
    databases
}

fn count(connection: &blocking::Connection, sql: &str) -> i64 {
    connection.query(sql, ()).unwrap().next().unwrap().unwrap().get(0).unwrap()
}

/// Runs a statement until no other was first for too long a time, in vain; how many times it was acknowledged.
fn acknowledged(connection: &blocking::Connection, sql: &str, times: u32) -> i64 {
    let ran = |_: &u32| match connection.execute(sql, ()) {
        Ok(_) => true,
        Err(error) if error.code() == ErrorCode::Conflict => false,
        Err(error) => panic!("{sql}: {error}"),
    };
    i64::try_from((0..times).filter(ran).count()).unwrap()
}

const THREADS: usize = 4;

/// Statements that count one row up, each another way.
fn increments() -> Vec<&'static str> {
    let mut ways = vec![
        "UPSERT INTO c (k, n) SELECT k, n + 1 FROM c WHERE k = 0",
        "UPSERT INTO c SELECT k, n + 1, note FROM c WHERE k BETWEEN 0 AND 0",
        "UPSERT INTO c (n, k) SELECT n + 1, k FROM c WHERE note = 'x'",
        "UPSERT INTO c (k, n) VALUES (0, 1) ON DUPLICATE KEY UPDATE n = n + 1",
        "INSERT INTO c (k, n) VALUES (0, 1) ON CONFLICT (k) DO UPDATE SET n = c.n + excluded.n",
        "UPDATE c SET n = n + 1 WHERE k = 0",
    ];
    if cfg!(feature = "datafusion") {
        ways.extend([
            "UPSERT INTO c (k, n) SELECT 0, (SELECT n FROM c WHERE k = 0) + 1",
            "UPSERT INTO c (k, n) SELECT k, (SELECT max(n) FROM c WHERE k = 0) + 1 FROM c WHERE k = 0",
            "UPSERT INTO c (k, n) SELECT a.k, a.n + b.one FROM c a JOIN o b ON b.k = a.k WHERE a.k = 0",
            "UPSERT INTO c (k, n) SELECT k, sum(n) + 1 FROM c WHERE k = 0 GROUP BY k",
        ]);
    }
    ways
}

#[test]
fn increments_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    for (store, database) in databases(directory.path()) {
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE c (k INT NOT NULL PRIMARY KEY, n INT, note VARCHAR)", ()).unwrap();
        connection.execute("CREATE TABLE o (k INT NOT NULL PRIMARY KEY, one INT)", ()).unwrap();
        connection.execute("UPSERT INTO o VALUES (0, 1)", ()).unwrap();
        for sql in increments() {
            connection.execute("UPSERT INTO c VALUES (0, 0, 'x')", ()).unwrap();
            let run = || {
                let connection = database.connect().blocking();
                let sql = sql.to_owned();
                std::thread::spawn(move || acknowledged(&connection, &sql, 40))
            };
            let threads: Vec<_> = (0..THREADS).map(|_| run()).collect();
            let sum: i64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
            assert_eq!(count(&connection, "SELECT n FROM c WHERE k = 0"), sum, "{store}: {sql}");
            assert!(sum > 0, "{store}: {sql}");
        }
    }
}

/// Ways of counting up that do not look alike, at the same time.
#[test]
fn increments_of_all_ways_at_once_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    for (store, database) in databases(directory.path()) {
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE c (k INT NOT NULL PRIMARY KEY, n INT, note VARCHAR)", ()).unwrap();
        connection.execute("CREATE TABLE o (k INT NOT NULL PRIMARY KEY, one INT)", ()).unwrap();
        connection.execute("UPSERT INTO o VALUES (0, 1)", ()).unwrap();
        connection.execute("UPSERT INTO c VALUES (0, 0, 'x')", ()).unwrap();
        let run = |sql: &'static str| {
            let connection = database.connect().blocking();
            std::thread::spawn(move || acknowledged(&connection, sql, 30))
        };
        let threads: Vec<_> = increments().into_iter().map(run).collect();
        let sum: i64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(count(&connection, "SELECT n FROM c WHERE k = 0"), sum, "{store}");
    }
}

/// Two columns of the same rows, each written alone: by VALUES, by a query, by COPY.
#[test]
fn partial_writes_keep_the_other_column() {
    let directory = tempfile::tempdir().unwrap();
    let file = |column: &str| {
        let path = directory.path().join(format!("{column}.csv"));
        let mut file = std::fs::File::create(&path).unwrap();
        (0..50).for_each(|k| writeln!(file, "{k},30").unwrap());
        path.display().to_string()
    };
    let (a_file, b_file) = (file("a"), file("b"));
    for (store, database) in databases(directory.path()) {
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE p (k INT NOT NULL PRIMARY KEY, a INT, b INT)", ()).unwrap();
        let run = |column: &'static str, path: &str| {
            let (connection, path) = (database.connect().blocking(), path.to_owned());
            std::thread::spawn(move || {
                for value in 0..15 {
                    for k in 0..50 {
                        let sql = format!("UPSERT INTO p (k, {column}) VALUES (?, ?)");
                        connection.execute(&sql, params![k, value]).unwrap();
                    }
                    let sql = format!("UPSERT INTO p (k, {column}) SELECT k, {column} + 1 FROM p WHERE {column} < 29");
                    acknowledged(&connection, &sql, 1);
                }
                let copy = format!("COPY p (k, {column}) FROM '{path}'");
                connection.execute(&copy, ()).unwrap();
            })
        };
        let threads = [run("a", &a_file), run("b", &b_file)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(count(&connection, "SELECT count(*) FROM p WHERE a = 30 AND b = 30"), 50, "{store}");
    }
}

/// Each key is inserted once, whoever comes first: by VALUES, by a query, by COPY.
#[test]
fn no_key_is_inserted_twice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    let mut file = std::fs::File::create(&path).unwrap();
    (0..100).for_each(|k| writeln!(file, "{k},1").unwrap());
    let path = path.display().to_string();
    for (store, database) in databases(directory.path()) {
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE i (k INT NOT NULL PRIMARY KEY, a INT)", ()).unwrap();
        connection.execute("CREATE TABLE src (k INT NOT NULL PRIMARY KEY, a INT)", ()).unwrap();
        (0..100).for_each(|k| {
            connection.execute("UPSERT INTO src VALUES (?, 1)", params![k]).unwrap();
        });
        let threads = (0..THREADS).map(|thread| {
            let (connection, path) = (database.connect().blocking(), path.clone());
            std::thread::spawn(move || {
                let mut inserted = 0;
                let tell = |done: Result<saltwing::ExecResult, saltwing::Error>| match done {
                    Ok(result) => result.rows_affected,
                    Err(error) => {
                        let is_known = [ErrorCode::DuplicateKey, ErrorCode::Conflict].contains(&error.code());
                        assert!(is_known, "{error}");
                        error.rows_committed()
                    }
                };
                for k in 0..100 {
                    inserted += match thread % 3 {
                        0 => tell(connection.execute("INSERT INTO i VALUES (?, 1)", params![k])),
                        1 => tell(connection.execute("INSERT INTO i SELECT k, a FROM src WHERE k = ?", params![k])),
                        _ => tell(connection.execute(&format!("COPY i FROM '{path}' WITH (ON_CONFLICT IGNORE)"), ())),
                    };
                }
                inserted
            })
        });
        let threads: Vec<_> = threads.collect();
        let sum: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 100, "{store}");
        assert_eq!(count(&connection, "SELECT count(*) FROM i"), 100, "{store}");
    }
}

/// Rows that are moved away one by one, by a DELETE of what was read, are deleted once: direct, relational, with subqueries.
#[test]
fn no_row_is_deleted_twice() {
    let directory = tempfile::tempdir().unwrap();
    let mut ways = vec!["DELETE FROM d WHERE k >= 0 AND k <= 3", "DELETE FROM d WHERE v = 1"];
    if cfg!(feature = "datafusion") {
        ways.extend([
            "DELETE FROM d WHERE k = (SELECT min(k) FROM d)",
            "DELETE FROM d WHERE k IN (SELECT k FROM d ORDER BY k LIMIT 2)",
            "DELETE FROM d WHERE EXISTS (SELECT 1 FROM d AS e WHERE e.k = d.k AND e.v = 1)",
        ]);
    }
    for (store, database) in databases(directory.path()) {
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE d (k INT NOT NULL PRIMARY KEY, v INT)", ()).unwrap();
        for sql in &ways {
            connection.execute("DELETE FROM d", ()).unwrap();
            (0..12).for_each(|k| {
                connection.execute("UPSERT INTO d VALUES (?, 1)", params![k]).unwrap();
            });
            let left = |connection: &blocking::Connection| count(connection, "SELECT count(*) FROM d");
            let threads = (0..THREADS).map(|_| {
                let (connection, sql) = (database.connect().blocking(), (*sql).to_owned());
                std::thread::spawn(move || {
                    (0..8).map(|_| connection.execute(&sql, ()).unwrap().rows_affected).sum::<u64>()
                })
            });
            let threads: Vec<_> = threads.collect();
            let sum: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
            assert_eq!(i64::try_from(sum).unwrap() + left(&connection), 12, "{store}: {sql}");
        }
    }
}
