//! COPY over keys that are there, in the file or in the table.

use std::path::PathBuf;

use saltwing::{Database, ErrorCode, ExecResult, blocking};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("rows.csv")
    }

    fn copy(
        &self,
        connection: &blocking::Connection,
        lines: &str,
        options: &str,
    ) -> Result<ExecResult, saltwing::Error> {
        std::fs::write(self.path(), lines).unwrap();
        connection.execute(&format!("COPY t {options}", options = options.replace("FILE", &self.name())), ())
    }

    fn name(&self) -> String {
        format!("'{}'", self.path().display())
    }
}

fn connection(layout: &str) -> blocking::Connection {
    let builder = Database::memory_builder().full_scan("allow").unwrap();
    let builder = if layout == "tiny" { builder.tiny_layout() } else { builder };
    let connection = builder.open().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INT NOT NULL PRIMARY KEY, a VARCHAR, b INT)", ()).unwrap();
    connection
}

fn rows(connection: &blocking::Connection) -> String {
    let rows = connection.query("SELECT k, a, b FROM t ORDER BY k", ()).unwrap();
    let line = |row: saltwing::Row| {
        let (k, a, b): (i32, Option<String>, Option<i32>) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        format!("{k}{}{}", a.unwrap_or_default(), b.map(|b| b.to_string()).unwrap_or_default())
    };
    rows.map(|row| line(row.unwrap())).collect::<Vec<_>>().join(" ")
}

const REPEATED: &str = "1,x,1\n2,x,2\n1,y,3\n3,x,4\n1,z,5\n2,y,6\n";

#[test]
fn rows_that_replace_others_of_the_file_are_counted() {
    let files = Files::new();
    for layout in ["", "tiny"] {
        for batch in [0, 1, 2, 5] {
            let connection = connection(layout);
            connection.execute("UPSERT INTO t VALUES (2, 'old', 0), (3, 'old', 0)", ()).unwrap();
            connection.execute(&format!("SET autocommit_rows = {batch}"), ()).unwrap();
            for options in ["FROM FILE", "FROM FILE WITH (ON_CONFLICT REPLACE)", "FROM FILE ON CONFLICT REPLACE"] {
                let done = files.copy(&connection, REPEATED, options).unwrap();
                assert_eq!(done.rows_affected, 6);
                let notice = "3 rows replaced earlier rows of the file, which had the same keys; \
                              WITH (ON_CONFLICT ERROR) stops at such a row";
                assert_eq!(done.notices, [notice], "what was in the table before counts for nothing");
                assert_eq!(rows(&connection), "1z5 2y6 3x4");
            }
            let done = files.copy(&connection, "7,p\n8,q\n7,r\n", "(k, a) FROM FILE").unwrap();
            assert_eq!(done.notices.len(), 1);
            assert!(done.notices[0].starts_with("1 row was written over an earlier row"), "{:?}", done.notices);
            assert_eq!(files.copy(&connection, "7,p\n8,q\n9,r\n", "(k, a) FROM FILE").unwrap().notices, [""; 0]);
        }
    }
}

#[test]
fn rows_with_known_keys_are_left_out() {
    let files = Files::new();
    for batch in [0, 1, 2, 5] {
        let connection = connection("tiny");
        connection.execute("UPSERT INTO t VALUES (3, 'old', 0)", ()).unwrap();
        connection.execute(&format!("SET autocommit_rows = {batch}"), ()).unwrap();
        let done = files.copy(&connection, REPEATED, "FROM FILE WITH (ON_CONFLICT IGNORE)").unwrap();
        assert_eq!(done.rows_affected, 2);
        assert_eq!(done.notices, ["4 rows were left out: rows with their keys were there"]);
        assert_eq!(rows(&connection), "1x1 2x2 3old0");
        // Columns that the file has not are DEFAULTs, as for an INSERT.
        let done = files.copy(&connection, "3,n\n4,n\n", "(k, a) FROM FILE ON CONFLICT IGNORE").unwrap();
        assert_eq!((done.rows_affected, rows(&connection).as_str()), (1, "1x1 2x2 3old0 4n"));
    }
}

#[test]
fn a_known_key_can_be_an_error() {
    let files = Files::new();
    for batch in [0, 1, 2, 5] {
        let connection = connection("");
        connection.execute(&format!("SET autocommit_rows = {batch}"), ()).unwrap();
        let error = files.copy(&connection, REPEATED, "FROM FILE WITH (ON_CONFLICT ERROR)").unwrap_err();
        assert_eq!((error.code(), error.rows_committed()), (ErrorCode::DuplicateKey, 2));
        let text = error.to_string();
        assert!(
            text.ends_with("line 3: t has a row with the key (1) already; 2 rows are committed and stay"),
            "{text}"
        );
        assert!(error.help().unwrap().contains("ON_CONFLICT IGNORE"), "{error:?}");
        assert_eq!(rows(&connection), "1x1 2x2");
        // Lines that are left out are told.
        let options = "FROM FILE WITH (ON_CONFLICT ERROR, ON_ERROR SKIP)";
        let done = files.copy(&connection, "1,n,1\n5,n,1\n6,n,1\n5,n,2\n7,n,1\n", options).unwrap();
        assert_eq!(done.rows_affected, 3);
        assert_eq!(
            done.notices,
            [
                "2 lines were left out",
                "line 1: t has a row with the key (1) already",
                "line 4: t has a row with the key (5) already"
            ]
        );
        assert_eq!(rows(&connection), "1x1 2x2 5n1 6n1 7n1");
    }
}

#[test]
fn rows_without_a_key_are_never_in_conflict() {
    let files = Files::new();
    let connection = connection("");
    connection.execute("DROP TABLE t", ()).unwrap();
    connection.execute("CREATE TABLE t (k INT, a VARCHAR, b INT)", ()).unwrap();
    for options in ["FROM FILE", "FROM FILE ON CONFLICT ERROR", "FROM FILE ON CONFLICT IGNORE"] {
        let done = files.copy(&connection, REPEATED, options).unwrap();
        assert_eq!((done.rows_affected, done.notices), (6, Vec::new()));
    }
}

/// A batch is smaller where its rows would be more than a commit may hold.
#[test]
fn batches_keep_to_the_limit_of_a_commit() {
    let files = Files::new();
    let connection = connection("");
    connection.execute("SET commit_bytes_max = 300", ()).unwrap();
    let lines: String = (0..200).map(|k| format!("{k},{},{k}\n", "x".repeat(k % 90))).collect();
    for batch in [0, 100] {
        connection.execute(&format!("SET autocommit_rows = {batch}"), ()).unwrap();
        assert_eq!(files.copy(&connection, &lines, "FROM FILE").unwrap().rows_affected, 200);
    }
    let error = files.copy(&connection, &format!("1,{},1\n", "x".repeat(400)), "FROM FILE").unwrap_err();
    assert_eq!(error.code(), ErrorCode::StatementTooLarge);
}
