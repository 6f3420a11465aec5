//! Sorts, joins and groups beyond the memory limit go to temporary files in the database's directory.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use saltwing::Database;
use saltwing::blocking::Connection;

const ROWS: i64 = 200_000;
/// Each thread has a part of the memory limit.
const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

fn filled(path: &Path) -> Connection {
    let connection = filled_with(path, 16 << 20, ROWS);
    connection.execute("SET executor = 'datafusion'", ()).unwrap();
    connection
}

fn filled_with(path: &Path, memory_limit: usize, rows: i64) -> Connection {
    let database = Database::builder(path).memory_limit(memory_limit).threads(THREADS).open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE IF NOT EXISTS t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    for k in 0..rows {
        // Another order than that of the keys: 7,919 is prime.
        appender
            .append_row((k, format!("{:010} and some more bytes to carry along with each row of it", k * 7_919 % rows)))
            .unwrap();
    }
    appender.close().unwrap();
    connection
}

/// The files below a directory.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_sort_spills_into_the_directory_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let spill = path.join("spill");
    let connection = filled(&path);
    assert!(!spill.exists(), "nothing was spilled yet");
    let sql = "SELECT v, k FROM t WHERE k >= 0 ORDER BY v";
    let mut rows = connection.query(sql, ()).unwrap();
    let first = rows.next().unwrap().unwrap();
    assert!(first.get::<String>(0).unwrap().starts_with("0000000000 "));
    assert!(!files(&spill).is_empty(), "16 MB do not hold the rows");
    let mut expected = 1;
    for row in rows {
        let v: String = row.unwrap().get(0).unwrap();
        assert_eq!(v[..10].parse::<i64>().unwrap(), expected);
        expected += 1;
    }
    assert_eq!(expected, ROWS);
    let groups = "SELECT count(*), min(n) FROM (SELECT v, count(*) AS n FROM t WHERE k >= 0 GROUP BY v)";
    assert_eq!(connection.query_one::<(i64, i64)>(groups, ()).unwrap(), (ROWS, 1));
    // What OFFSET passes over is not held in memory.
    let last = "SELECT v FROM t WHERE k >= 0 ORDER BY v LIMIT 1 OFFSET 190000";
    assert!(connection.query_one::<(String,)>(last, ()).unwrap().0.starts_with("0000190000 "));
    // A statement that is given up leaves nothing, either.
    drop(connection.query(sql, ()).unwrap().next());
    drop(connection);
    // Threads of the library may still be about to let their files go.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !files(&spill).is_empty() && std::time::Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert_eq!(files(&spill), Vec::<PathBuf>::new());
}

/// The direct path keeps groups and different values in memory: beyond the limit the statement begins again in the relational engine.
#[test]
fn groups_and_distinct_calls_of_the_direct_path_spill() {
    const ROWS: i64 = 300_000;
    let folder = tempfile::tempdir().unwrap();
    let connection = filled_with(&folder.path().join("db"), 20 << 20, ROWS);
    let set = |executor: &str| drop(connection.execute(&format!("SET executor = '{executor}'"), ()).unwrap());
    let one = "SELECT count(DISTINCT v) FROM t WHERE k >= 0";
    let many = "SELECT count(DISTINCT v), count(DISTINCT k), count(*), sum(k) FROM t WHERE k >= 0";
    let groups = "SELECT v || ' and more', count(*) FROM t WHERE k >= 0 GROUP BY v || ' and more'";
    set("direct");
    for sql in [one, many, groups] {
        let error = connection.execute(sql, ()).unwrap_err();
        assert_eq!(error.code(), saltwing::ErrorCode::OutOfMemory, "{sql}: {error}");
    }
    for executor in ["auto", "datafusion"] {
        set(executor);
        // From the second time on there is a plan.
        for _ in 0..2 {
            assert_eq!(connection.query_one::<(i64,)>(one, ()).unwrap(), (ROWS,), "{executor}");
        }
        let with_values = "SELECT count(DISTINCT v || 'x') FROM t WHERE k >= ?";
        for from in [0, 1] {
            assert_eq!(connection.query_one::<(i64,)>(with_values, (from,)).unwrap(), (ROWS - from,), "{executor}");
        }
        let expected = (ROWS, ROWS, ROWS, ROWS * (ROWS - 1) / 2);
        assert_eq!(connection.query_one::<(i64, i64, i64, i64)>(many, ()).unwrap(), expected, "{executor}");
        let mut rows = connection.query(groups, ()).unwrap();
        let (mut count, mut sum) = (0, 0);
        for row in rows.by_ref() {
            let row = row.unwrap();
            sum += row.get::<String>(0).unwrap()[..10].parse::<i64>().unwrap();
            count += row.get::<i64>(1).unwrap();
        }
        assert_eq!((count, sum), (ROWS, ROWS * (ROWS - 1) / 2), "{executor}");
        // Rows that were read twice are counted twice.
        let read = rows.stats().keys_read;
        assert!(if executor == "auto" { read > ROWS as u64 } else { read == ROWS as u64 }, "{executor}: {read}");
    }
    set("auto");
    let inner = "SELECT k FROM t WHERE k = 0 AND 1 < (SELECT count(DISTINCT v) FROM t WHERE k >= 0)";
    assert_eq!(connection.query_one::<(i64,)>(inner, ()).unwrap(), (0,));
    connection.execute("CREATE TABLE counted (n BIGINT PRIMARY KEY)", ()).unwrap();
    connection.execute(&format!("INSERT INTO counted {one}"), ()).unwrap();
    assert_eq!(connection.query_one::<(i64,)>("SELECT n FROM counted WHERE n > 0", ()).unwrap(), (ROWS,));
    // A transaction's own rows are read again, too.
    let transaction = connection.begin().unwrap();
    transaction.execute("UPSERT INTO t VALUES (-1, 'own')", ()).unwrap();
    let own = "SELECT count(DISTINCT v) FROM t WHERE k >= -1";
    assert_eq!(transaction.query_one::<(i64,)>(own, ()).unwrap(), (ROWS + 1,));
}

#[test]
fn files_of_a_killed_process_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    drop(Database::open(&path).unwrap());
    let left = path.join("spill/datafusion-x1/.tmp1");
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    fs::write(&left, "rows").unwrap();
    // A reader writes nothing, and removes nothing.
    drop(Database::builder(&path).readonly(true).open().unwrap());
    assert!(left.exists());
    drop(Database::open(&path).unwrap());
    assert!(!left.exists());
}
