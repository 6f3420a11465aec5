//! Files in the place of tables.

use std::fs;
use std::path::PathBuf;

use saltwing::blocking::Connection;
use saltwing::{Database, FileAccess};
use tempfile::TempDir;

use crate::{code, texts};

struct Files {
    folder: TempDir,
    connection: Connection,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, connection: Database::memory().unwrap().connect().blocking() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file; its name in quotes.
    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.name(name)
    }

    fn name(&self, name: &str) -> String {
        format!("'{}'", self.path(name).display())
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        texts(&self.connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn error(&self, sql: &str) -> saltwing::Error {
        texts(&self.connection, sql).err().unwrap_or_else(|| panic!("{sql} gave rows"))
    }
}

const LOG: &str = "host,ts,up\na,2024-05-01,7\nb,2024-05-02,\na,2024-05-03,9\n";

#[test]
fn files_of_all_formats_are_queried() {
    let files = Files::new();
    let csv = files.file("log.csv", LOG);
    files.connection.execute("CREATE TABLE known (host VARCHAR PRIMARY KEY, city VARCHAR)", ()).unwrap();
    files.connection.execute("UPSERT INTO known VALUES ('a', 'Rome')", ()).unwrap();
    for name in ["Log.PARQUET.parquet", "log.arrow", "log.arrows.gz", "log.jsonl", "log.csv.zst"] {
        if !cfg!(feature = "parquet") && name.contains("parquet") {
            continue;
        }
        let options = if name.contains("csv") { "(HEADER)" } else { "" };
        let copied =
            files.connection.execute(&format!("COPY (SELECT * FROM {csv}) TO {} {options}", files.name(name)), ());
        assert_eq!(copied.unwrap().rows_affected, 3, "{name}");
        let file = files.name(name);
        assert_eq!(
            files.rows(&format!("SELECT host, sum(up) FROM {file} GROUP BY host ORDER BY host")),
            ["a|16", "b|NULL"],
            "{name}"
        );
        let joined = format!("SELECT city, f.UP FROM {file} AS f JOIN known k ON k.host = f.host ORDER BY up");
        assert_eq!(files.rows(&joined), ["Rome|7", "Rome|9"], "{name}");
        assert_eq!(files.rows(&format!("SELECT (SELECT count(*) FROM {file}) AS n")), ["3"], "{name}");
        let in_file = format!("SELECT city FROM known WHERE host IN (SELECT host FROM {file})");
        assert_eq!(texts(&files.connection, &format!("{in_file} AND host >= 'a'")).unwrap(), ["Rome"], "{name}");
        let explained = files.rows(&format!("EXPLAIN SELECT * FROM {file}"));
        assert!(!explained.is_empty(), "{name}");
        // The same statement reads the file of the moment.
        assert_eq!(files.rows(&format!("SELECT count(*) FROM {file}")), ["3"]);
        assert_eq!(files.rows(&format!("SELECT count(*) FROM {file}")), ["3"]);
    }
    files.file("log.csv", "other\n1\n");
    assert_eq!(files.rows(&format!("SELECT * FROM {csv}")), ["1"]);
}

#[test]
fn tables_are_made_of_files() {
    let files = Files::new();
    let csv = files.file("log.csv", LOG);
    let made = |sql: &str| files.connection.execute(sql, ());
    // Without a key the table has a hidden one.
    assert_eq!(made(&format!("CREATE TABLE plain AS SELECT * FROM {csv}")).unwrap().rows_affected, 3);
    assert_eq!(files.rows("SELECT /*+ FULL_SCAN(plain) */ COUNT(*) FROM plain"), ["3"]);
    assert_eq!(
        made(&format!("CREATE TABLE log PRIMARY KEY (host, ts) AS SELECT * FROM {csv}")).unwrap().rows_affected,
        3
    );
    let described = files.rows("DESCRIBE log");
    assert_eq!(
        &described[..3],
        ["host|VARCHAR|yes|1|NULL|NULL", "ts|DATE|no|2|NULL|NULL", "up|BIGINT|yes|NULL|NULL|NULL"]
    );
    assert_eq!(files.rows("SELECT up FROM log WHERE host = 'a'"), ["7", "9"]);
    assert_eq!(made(&format!("UPSERT INTO log SELECT host, ts, up + 1 FROM {csv}")).unwrap().rows_affected, 3);
    assert_eq!(files.rows("SELECT up FROM log WHERE host = 'a'"), ["8", "10"]);
    let twins = files.file("twins.csv", "a,b\n1,1\n1,1\n");
    assert_eq!(made(&format!("CREATE TABLE p AS SELECT * FROM {twins}")).unwrap().rows_affected, 2);
}

#[test]
fn several_files_are_one_table() {
    let files = Files::new();
    files.file("part1.csv", LOG);
    files.file("part2.csv", "up;host;ts\n1;c;2024-06-01\n".replace(';', ",").as_str());
    let parts = files.name("part*.csv");
    let error = files.error(&format!("SELECT host, up FROM {parts} ORDER BY ts"));
    assert!(error.to_string().contains("part2.csv, line"), "{error}");
    files.file("part2.csv", "host,ts,up\nc,2024-06-01,1\n");
    assert_eq!(files.rows(&format!("SELECT host, up FROM {parts} ORDER BY ts")), ["a|7", "b|NULL", "a|9", "c|1"]);
    assert_eq!(code(texts(&files.connection, &format!("SELECT 1 FROM {}", files.name("none*.csv")))), "io");
}

#[test]
fn errors_name_the_file_the_line_and_the_column() {
    let files = Files::new();
    let mut text = "k,v\n".to_owned();
    (0..30_000)
        .for_each(|k| text.push_str(&format!("{k},{}\n", if k == 25_000 { "x".to_owned() } else { k.to_string() })));
    let late = files.file("late.csv", &text);
    let error = files.error(&format!("SELECT sum(v) FROM {late}"));
    assert!(error.to_string().contains("late.csv, line 25002, column v: "), "{error}");
    assert!(error.help().unwrap().contains("the first 20480 lines decide"), "{error}");
    let few = files.file("few.csv", "a,b\n1,2\n3\n");
    assert!(
        files.error(&format!("SELECT a FROM {few}")).to_string().contains("few.csv, line 3: 1 fields for 2 columns")
    );
    let json = files.file("bad.jsonl", "{\"a\": 1}\n[]\n");
    assert!(files.error(&format!("SELECT a FROM {json}")).to_string().contains("bad.jsonl, line 2: "));
    let parquet = files.file("bad.parquet", "PAR1 and no more PAR1");
    let damaged = if cfg!(feature = "parquet") { "bad_text" } else { "not_supported" };
    assert_eq!(files.error(&format!("SELECT a FROM {parquet}")).code().as_str(), damaged);
    let missing = files.error(&format!("SELECT a FROM {}", files.name("missing.csv")));
    assert!(missing.to_string().contains("missing.csv cannot be read: "), "{missing}");
    assert_eq!(files.error("SELECT a FROM 'nothing'").code().as_str(), "syntax");
    let twice = files.file("twice.jsonl", "{\"a\": 1, \"A\": 2}\n");
    assert_eq!(files.error(&format!("SELECT a FROM {twice}")).code().as_str(), "duplicate_column");
    assert_eq!(files.error(&format!("SELECT nope FROM {few}")).code().as_str(), "no_such_column");
}

#[test]
fn files_that_may_not_be_read_are_not() {
    let files = Files::new();
    let csv = files.file("log.csv", LOG);
    let none = Database::memory_builder().file_access(FileAccess::None).open().unwrap().connect().blocking();
    assert_eq!(code(texts(&none, &format!("SELECT * FROM {csv}"))), "file_access_refused");
    let below = FileAccess::Below(files.path("inside"));
    fs::create_dir(files.path("inside")).unwrap();
    let below = Database::memory_builder().file_access(below).open().unwrap().connect().blocking();
    assert_eq!(code(texts(&below, &format!("SELECT * FROM {csv}"))), "file_access_refused");
    let inside = files.file("inside/log.csv", LOG);
    assert_eq!(texts(&below, &format!("SELECT count(*) FROM {inside}")).unwrap(), ["3"]);
    // A table comes before a file of its name.
    files.connection.execute("CREATE TABLE \"a.csv\" (k INTEGER PRIMARY KEY)", ()).unwrap();
    assert_eq!(files.rows("SELECT count(*) FROM 'a.csv' WHERE k > 0"), ["0"]);
}
