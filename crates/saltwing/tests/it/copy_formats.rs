//! COPY of compressed files, JSON lines and several files at once.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use saltwing::blocking::Connection;
use saltwing::{Database, Error, FileAccess};

use crate::{code, texts};

const TABLE: &str =
    "CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR, n DECIMAL(38, 20), d DATE, f DOUBLE, b BOOLEAN, x VARBINARY)";

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(TABLE, ()).unwrap();
    connection
}

fn copy(connection: &Connection, from: bool, path: &Path, options: &str) -> Result<u64, Error> {
    let verb = if from { "FROM" } else { "TO" };
    let sql = format!("COPY t {verb} '{}' {options}", path.display());
    connection.execute(&sql, ()).map(|result| result.rows_affected)
}

fn rows(connection: &Connection) -> Vec<String> {
    texts(connection, "SELECT * FROM t WHERE k >= 0").unwrap()
}

/// Rows whose values are hard to write.
fn filled(rows: i64) -> Connection {
    let connection = table();
    let mut appender = connection.appender("t").unwrap();
    for k in 0..rows {
        let s = ["", "a,\"b\"\n\\", "NULL", "tab\tü\u{1}"][k as usize % 4];
        appender
            .append_row(saltwing::params![
                k,
                s,
                "-123456789012345678.01234567890123456789",
                "2024-05-01 10:11:12.013",
                0.1,
                true,
                &[0u8, 255][..]
            ])
            .unwrap();
    }
    appender
        .append_row((rows, None::<i64>, None::<i64>, None::<i64>, f64::NAN, None::<bool>, None::<Vec<u8>>))
        .unwrap();
    appender.close().unwrap();
    connection
}

#[test]
fn every_format_and_compression_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let source = filled(7_000);
    for format in ["csv", "jsonl", "json", "ndjson"] {
        for (end, signature) in [("", &b""[..]), (".gz", b"\x1f\x8b"), (".zst", b"\x28\xb5\x2f\xfd")] {
            let path = folder.path().join(format!("t.{format}{end}"));
            assert_eq!(copy(&source, false, &path, "").unwrap(), 7_001);
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.starts_with(signature), "{path:?}");
            assert!(end.is_empty() || bytes.len() < 100_000, "{path:?} has {} bytes", bytes.len());
            let target = table();
            assert_eq!(copy(&target, true, &path, "").unwrap(), 7_001);
            assert_eq!(rows(&target), rows(&source), "{path:?}");
        }
    }
}

#[test]
fn options_say_what_names_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let source = filled(10);
    for options in
        ["FORMAT json COMPRESSION gzip", "FORMAT csv, COMPRESSION zstd", "WITH (FORMAT 'ndjson', COMPRESSION none)"]
    {
        let path = folder.path().join("data");
        copy(&source, false, &path, &format!("{options} OVERWRITE")).unwrap();
        let format = if options.contains("csv") { "FORMAT csv" } else { "FORMAT json" };
        let target = table();
        // The compression of a file that is read shows in its first bytes.
        assert_eq!(copy(&target, true, &path, format).unwrap(), 11, "{options}");
        assert_eq!(rows(&target), rows(&source), "{options}");
    }
    let (connection, path) = (table(), folder.path().join("x.json"));
    for options in ["HEADER", "DELIMITER ';'", "NULL 'x'", "QUOTE ''''", "ESCAPE '\\'"] {
        assert_eq!(code(copy(&connection, false, &path, options)), "syntax", "{options}");
        assert_eq!(
            code(copy(&connection, true, &folder.path().join("data"), &format!("{options} FORMAT json"))),
            "syntax"
        );
        assert!(!path.exists());
    }
    for options in ["FORMAT orc", "COMPRESSION lz4", "COMPRESSION snappy"] {
        assert!(copy(&connection, false, &path, options).is_err(), "{options}");
    }
}

#[test]
fn streams_are_decompressed_and_compressed_too() {
    let connection = table();
    let mut gz = Vec::new();
    // Two streams, one behind the other, as `cat a.gz b.gz` makes them.
    for line in ["1,one\n2,tw", "o\n3,three\n"] {
        let mut encoder = flate2::write::GzEncoder::new(&mut gz, flate2::Compression::default());
        encoder.write_all(line.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    let loaded = connection.copy_from_reader("COPY t (k, s) FROM STDIN", &gz[..]).unwrap();
    assert_eq!(loaded.rows_affected, 3);
    let mut out = Vec::new();
    let sql = "COPY (SELECT k, s FROM t WHERE k > 1) TO STDOUT WITH (FORMAT json, COMPRESSION gzip)";
    connection.copy_to_writer(sql, (), &mut out).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&out[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, "{\"k\":2,\"s\":\"two\"}\n{\"k\":3,\"s\":\"three\"}\n");
    // A file that ends early is an error, and whole parts before it stay.
    gz.truncate(gz.len() - 4);
    let error = connection.copy_from_reader("COPY t (k, s) FROM STDIN", &gz[..]).unwrap_err();
    assert_eq!(error.code(), saltwing::ErrorCode::Io, "{error}");
}

#[test]
fn json_lines_name_their_columns() {
    let connection = table();
    let lines = r#"{"K": 1, "S": "one", "n": 12345678901234567.12345678901234567890}

{"s": null, "k": "2", "f": 1e3, "b": true}
{"k":3,"d":"2024-05-01","x":"00ff","s":"\u00fc\n"}
"#;
    let sql = "COPY t FROM STDIN WITH (FORMAT json)";
    assert_eq!(connection.copy_from_reader(sql, lines.as_bytes()).unwrap().rows_affected, 3);
    assert_eq!(
        rows(&connection),
        [
            "1|one|12345678901234567.12345678901234567890|NULL|NULL|NULL|NULL",
            "2|NULL|NULL|NULL|1000.0|true|NULL",
            "3|ü\n|NULL|2024-05-01|NULL|NULL|00ff",
        ]
    );
    // A list of columns: the others keep their values.
    let some = "COPY t (k, s) FROM STDIN WITH (FORMAT json)";
    connection.copy_from_reader(some, r#"{"k":2,"s":"two"}"#.as_bytes()).unwrap();
    assert_eq!(rows(&connection)[1], "2|two|NULL|NULL|1000.0|true|NULL");
}

#[test]
fn bad_lines_are_named_or_left_out() {
    for (line, part) in [
        (r#"{"k": 1, "y": 2}"#, "STDIN, line 2: t has no column y"),
        (r#"{"k": "x"}"#, "STDIN, line 2, column k: 'x' is not a valid BIGINT"),
        (r#"{"s": "x"}"#, "STDIN, line 2, column k: k is NOT NULL"),
        (r#"{"k": 1, "s": {"a": 1}}"#, "STDIN, line 2: the value of s is a list or an object"),
        (r#"{"k": 1, "s": [1]}"#, "STDIN, line 2: the value of s is a list or an object"),
        (r#"{"k": 1, "nope": [1]}"#, "STDIN, line 2: t has no column nope"),
        (r#"[{"k": 1}]"#, "STDIN, line 2: the line is no JSON object"),
        (r#"{"k": 1} {"k": 2}"#, "STDIN, line 2: the line is no JSON object"),
        (r#"{"k": 1"#, "STDIN, line 2: the line is no JSON object"),
        ("k,s", "STDIN, line 2: the line is no JSON object"),
        ("{}", "STDIN, line 2"),
    ] {
        let connection = table();
        let lines = format!("{{\"k\": 7}}\n{line}\n{{\"k\": 8, \"s\": \"after\"}}\n");
        let error = connection.copy_from_reader("COPY t FROM STDIN FORMAT json", lines.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(part), "{line}: {error}");
        let sql = "COPY t FROM STDIN FORMAT json ON ERROR SKIP";
        let loaded = connection.copy_from_reader(sql, lines.as_bytes()).unwrap();
        assert_eq!((loaded.rows_affected, loaded.notices[0].as_str()), (2, "1 line was left out"), "{line}");
        assert_eq!(texts(&connection, "SELECT k, s FROM t WHERE k >= 0").unwrap(), ["7|NULL", "8|after"], "{line}");
    }
}

#[test]
fn a_pattern_names_several_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("c.csv")).unwrap();
    write("a.csv", "k,s\n1,one\n2,two\n");
    write("b.csv", "s,k\nthree,3\ntwo again,2\n");
    write("d.jsonl", "{\"k\":4}\n");
    write("[x].csv", "s,k\nten,10\n");
    let connection = table();
    let from = |pattern: &str, options: &str| copy(&connection, true, &folder.path().join(pattern), options);
    assert_eq!(from("?.csv", "HEADER").unwrap(), 4);
    assert_eq!(texts(&connection, "SELECT k, s FROM t WHERE k >= 0").unwrap(), ["1|one", "2|two again", "3|three"]);
    assert_eq!(from("*.jsonl", "").unwrap(), 1);
    // A file of that very name comes first.
    assert_eq!(from("[x].csv", "HEADER").unwrap(), 1);
    assert_eq!(texts(&connection, "SELECT k FROM t WHERE k >= 4").unwrap(), ["4", "10"]);
    let error = from("*.parquet", "").unwrap_err();
    assert_eq!((error.code().as_str(), error.to_string().contains("no file matches")), ("io", true), "{error}");
    assert_eq!(code(from("a***", "")), "bad_argument");
    // An error names its file; the files before it are there.
    write("b.csv", "s,k\nthree,x\n");
    connection.execute("DELETE FROM t WHERE k >= 0", ()).unwrap();
    let error = from("?.csv", "HEADER").unwrap_err();
    assert!(error.to_string().contains("b.csv, line 2, column k"), "{error}");
    assert_eq!((error.rows_committed(), rows(&connection).len()), (2, 2));
}

#[test]
fn patterns_obey_the_access_to_files() {
    let folder = tempfile::tempdir().unwrap();
    let (below, outside) = (folder.path().join("below"), folder.path().join("outside"));
    for directory in [&below, &outside] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("a.csv"), "1,one\n").unwrap();
    }
    let open = |access| {
        let connection = Database::memory_builder().file_access(access).open().unwrap().connect().blocking();
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR)", ()).unwrap();
        connection
    };
    let connection = open(FileAccess::Below(below.clone()));
    assert_eq!(copy(&connection, true, &below.join("*.csv"), "").unwrap(), 1);
    for pattern in [
        outside.join("*.csv"),
        folder.path().join("*/a.csv"),
        below.join("../outside/*"),
        below.join("*/../../outside/a.csv"),
    ] {
        assert_eq!(code(copy(&connection, true, &pattern, "")), "file_access_refused", "{pattern:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.join("a.csv"), below.join("b.csv")).unwrap();
        assert_eq!(code(copy(&connection, true, &below.join("*.csv"), "")), "file_access_refused");
    }
    assert_eq!(code(copy(&open(FileAccess::None), true, &below.join("*.csv"), "")), "file_access_refused");
}
