//! Files that other programs wrote, or that are damaged: Arrow IPC and Parquet.

use std::fs;
use std::path::Path;

use saltwing::Database;
use saltwing::blocking::Connection;

use crate::texts;

fn memory() -> Connection {
    Database::memory().unwrap().connect().blocking()
}

/// Set in the process that reads damaged files.
const CHILD: &str = "SALTWING_TEST_DAMAGED_FILES";

/// Reads a file with each byte changed, one after the other. Every answer is rows or an error.
fn damaged_everywhere(path: &Path) {
    let connection = memory();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR, d DATE)", ()).unwrap();
    let whole = fs::read(path).unwrap();
    for place in 0..whole.len() {
        for change in [0x01, 0xff] {
            let mut bytes = whole.clone();
            bytes[place] ^= change;
            fs::write(path, bytes).unwrap();
            let (copied, queried) = match (place + change as usize) % 2 {
                0 => (connection.execute(&format!("COPY t FROM '{}'", path.display()), ()).err(), None),
                _ => (None, texts(&connection, &format!("SELECT * FROM '{}'", path.display())).err()),
            };
            for error in copied.into_iter().chain(queried) {
                let text = error.to_string();
                assert!(!text.contains("assertion") && !text.contains("unwrap"), "{place}: {text}");
            }
        }
    }
}

/// The hook that prints panics is the process's, so that this runs in a process of its own.
#[test]
fn damaged_files_leave_no_trace_on_stderr() {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "foreign_files::damaged_files_are_errors", "--nocapture"]).env(CHILD, "1");
    let output = child.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    assert!(!errors.contains("panicked"), "{errors}");
}

#[test]
fn damaged_files_are_errors() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = memory();
    source.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR, d DATE)", ()).unwrap();
    source.execute("UPSERT INTO t VALUES (1, 'a', DATE '2024-05-01'), (2, 'b', NULL), (3, 'a', NULL)", ()).unwrap();
    for name in ["t.arrow", "t.arrows", "t.parquet"] {
        if !cfg!(feature = "parquet") && name.contains("parquet") {
            continue;
        }
        let path = folder.path().join(name);
        source.execute(&format!("COPY t TO '{}'", path.display()), ()).unwrap();
        damaged_everywhere(&path);
    }
}

#[cfg(all(feature = "datafusion", feature = "parquet"))]
mod int96 {
    use std::sync::Arc;

    use parquet::data_type::{Int32Type, Int96, Int96Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// A file of timestamps as Spark writes them: days since 4713 BC, and nanoseconds of the day.
    fn file(path: &Path, instants: &[(u32, u64)]) {
        let schema = parse_message_type("message m { required int32 k; optional int96 ts; }").unwrap();
        let properties = Arc::new(WriterProperties::builder().build());
        let out = fs::File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let keys: Vec<i32> = (1..=instants.len() as i32 + 1).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&keys, None, None).unwrap();
        column.close().unwrap();
        let values: Vec<Int96> = instants
            .iter()
            .map(|(day, nanoseconds)| {
                let mut value = Int96::new();
                value.set_data(*nanoseconds as u32, (*nanoseconds >> 32) as u32, *day);
                value
            })
            .collect();
        // The last row is NULL.
        let mut levels = vec![1; instants.len()];
        levels.push(0);
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int96Type>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
    }

    const LATE: (u32, u64) = (5_373_484, 86_399_000_000_000); // 9999-12-31 23:59:59
    const EARLY: (u32, u64) = (2_086_303, 0); // 1000-01-01
    const NEAR: (u32, u64) = (2_460_432, 36_000_000_000_000); // 2024-05-01 10:00:00

    #[test]
    fn timestamps_do_not_wrap_around() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("int96.parquet");
        file(&path, &[LATE, EARLY, NEAR]);
        let connection = memory();
        let error = texts(&connection, &format!("SELECT * FROM '{}'", path.display())).unwrap_err();
        assert_eq!(error.sqlstate(), "22008", "{error}");
        assert!(error.to_string().contains("row 1, column ts"), "{error}");
        // Only the columns that are read matter.
        for ty in ["DATE", "TIMESTAMP"] {
            let connection = memory();
            connection.execute(&format!("CREATE TABLE t (k INTEGER PRIMARY KEY, ts {ty})"), ()).unwrap();
            connection.execute(&format!("COPY t FROM '{}'", path.display()), ()).unwrap();
            // What TIMESTAMP cannot put out is stored all the same.
            let (years, expected) = match ty {
                "DATE" => {
                    ("YEAR(ts), SECOND(ts) FROM t WHERE k >= 1", &["9999|59", "1000|0", "2024|0", "NULL|NULL"][..])
                }
                _ => ("k, YEAR(ts) FROM t WHERE k > 2", &["3|2024", "4|NULL"][..]),
            };
            assert_eq!(texts(&connection, &format!("SELECT {years}")).unwrap(), expected, "{ty}");
            connection.execute(&format!("COPY t (k) FROM '{}'", path.display()), ()).unwrap();
        }
    }

    #[test]
    fn nanoseconds_are_kept_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("int96.parquet");
        let (day, time) = NEAR;
        file(&path, &[(day, time + 123_456_789)]);
        let connection = memory();
        let rows = texts(&connection, &format!("SELECT ts FROM '{}' WHERE k = 1", path.display())).unwrap();
        assert_eq!(rows, ["2024-05-01 10:00:00.123456789"]);
        file(&path, &[LATE, (day, time + 1)]);
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, ts TIMESTAMP)", ()).unwrap();
        let error = connection.execute(&format!("COPY t FROM '{}'", path.display()), ()).unwrap_err();
        assert!(error.sqlstate() == "22008" && error.to_string().contains("column ts"), "{error}");
    }
}
