//! Sorts, joins and groups beyond the memory limit go to temporary files in the database's directory.

use std::fs;
use std::path::{Path, PathBuf};

use saltwing::Database;
use saltwing::blocking::Connection;

const ROWS: i64 = 200_000;

fn filled(path: &Path) -> Connection {
    let database = Database::builder(path).memory_limit(16 << 20).open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE IF NOT EXISTS t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    for k in 0..ROWS {
        // Another order than that of the keys: 7,919 is prime.
        appender
            .append_row((k, format!("{:010} and some more bytes to carry along with each row of it", k * 7_919 % ROWS)))
            .unwrap();
    }
    appender.close().unwrap();
    connection.execute("SET executor = 'datafusion'", ()).unwrap();
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
