//! What COPY FROM advises for files that it cannot take.

use saltwing::{Database, ErrorCode};

fn advised(file: &str, content: &[u8], options: &str) -> (ErrorCode, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(file);
    std::fs::write(&path, content).unwrap();
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, v INTEGER, s VARCHAR)", ()).unwrap();
    let sql = format!("COPY t FROM '{}' {options}", path.display());
    let error = connection.execute(&sql, ()).unwrap_err();
    assert!(error.to_string().contains(file), "the file is named: {error}");
    (error.code(), format!("{error}\n{}", error.help().unwrap_or_default()))
}

#[test]
fn advice_loses_no_rows() {
    for (content, options, parts) in [
        (&b"1,NA,x\n"[..], "", &["line 1, column v", "WITH (NULL 'NA')"][..]),
        (b"k,v,s\n1,NA,x\n", "WITH (HEADER)", &["line 2, column v", "WITH (NULL 'NA')"]),
        (b"k,v,s\n1,2,x\n", "", &["the first line seems to hold the columns' names: WITH (HEADER)"]),
        (b"k;v;s\n1;2;x\n", "WITH (HEADER)", &["no column k;v;s", "DELIMITER ';'"]),
        (b"k\tv\ts\n1\t2\tx\n", "WITH (HEADER)", &["DELIMITER '\\t'"]),
        (b"1;2;x\n", "", &["1 field for 3 columns", "DELIMITER ';'"]),
        (b"1|2|x\n", "", &["DELIMITER '|'"]),
        (b"BZh91AY&SY", "WITH (HEADER)", &["compressed by bzip2", "bzcat"]),
        (b"PAR1\x15\x04", "", &["a Parquet file"]),
        (b"\xff\xfek\0,\0", "", &["is UTF-16", "iconv"]),
    ] {
        let (_, text) = advised("planes.csv", content, options);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains("SKIP"), "{text}");
    }
    // Nothing better is known of these.
    let (_, text) = advised("planes.csv", b"1,2,x\n2,many,y\n", "");
    assert!(text.contains("line 2, column v") && text.contains("ON ERROR SKIP"), "{text}");
}

#[test]
fn a_directory_is_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY)", ()).unwrap();
    let error = connection.execute(&format!("COPY t FROM '{}'", directory.path().display()), ()).unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (ErrorCode::Io, "58030"));
    assert!(error.to_string().contains("it is a directory") && error.help().is_none(), "{error:?}");
}
