//! JSON outside SQL: parameters, rows, and files.

use saltwing::Database;
use saltwing::blocking::Connection;

use crate::{code, texts};

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v JSON, s VARCHAR)", ()).unwrap();
    connection
}

#[test]
fn parameters_and_rows_are_texts() {
    let connection = table();
    let upsert = "UPSERT INTO t VALUES (?, ?, ?)";
    connection.execute(upsert, (1, r#"{"a": [1, 2]}"#, "x")).unwrap();
    connection.execute(upsert, (2, None::<&str>, "x")).unwrap();
    assert_eq!(code(connection.execute(upsert, (3, "{", "x"))), "bad_text");
    let select = "SELECT v, v -> ? FROM t WHERE k = 1";
    let row: (String, Option<String>) = connection.query_one(select, ("a",)).unwrap();
    assert_eq!(row, (r#"{"a": [1, 2]}"#.to_owned(), Some("[1, 2]".to_owned())));
    assert_eq!(
        connection.query_one::<(i32,)>("SELECT k FROM t WHERE k IN (1, 2) AND v = ?", (r#"{"a": [1, 2]}"#,)).unwrap(),
        (1,)
    );
    assert_eq!(code(connection.query("SELECT k FROM t WHERE k = 1 AND v = ?", ("{",)).map(drop)), "bad_text");
    let by_path = "SELECT k FROM t WHERE k = 1 AND JSON_VALUE(v, ?) = ?";
    assert_eq!(connection.query_one::<(i32,)>(by_path, ("$.a[1]", "2")).unwrap(), (1,));
    assert_eq!(code(connection.query_one::<(i32,)>(by_path, ("$.*", "2"))), "bad_argument");
}

#[test]
fn files_have_the_values_themselves() {
    let connection = table();
    let lines = concat!(
        r#"{"k":1,"v":{"a": ["x", null], "b": 1.50},"s":"{}"}"#,
        "\n",
        r#"{"k":2,"v":"text","s":null}"#,
        "\n",
        r#"{"k":3,"v":null,"s":"a"}"#,
        "\n",
        r#"{"k":4,"v":[],"s":"a"}"#,
        "\n",
    );
    let from = "COPY t FROM STDIN WITH (FORMAT json)";
    assert_eq!(connection.copy_from_reader(from, lines.as_bytes()).unwrap().rows_affected, 4);
    let all = "SELECT * FROM t WHERE k > 0 ORDER BY k";
    let rows = [r#"1|{"a": ["x", null], "b": 1.50}|{}"#, r#"2|"text"|NULL"#, "3|NULL|a", "4|[]|a"];
    assert_eq!(texts(&connection, all).unwrap(), rows);
    let written = |format: &str| {
        let mut out = Vec::new();
        connection.copy_to_writer(&format!("COPY ({all}) TO STDOUT WITH ({format})"), (), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written("FORMAT json"), lines);
    let csv = written("FORMAT csv");
    connection.execute("TRUNCATE t", ()).unwrap();
    connection.copy_from_reader("COPY t FROM STDIN", csv.as_bytes()).unwrap();
    assert_eq!(texts(&connection, all).unwrap(), rows);
    let error = connection.copy_from_reader(from, &br#"{"k": 5, "s": {"a": 1}}"#[..]).unwrap_err();
    assert!(error.to_string().contains("the value of s is a list or an object"), "{error}");
    let error = connection.copy_from_reader("COPY t FROM STDIN", &b"5,{,x\n"[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "STDIN, line 1, column v: '{' is not a valid JSON: a member's name in quotes is expected at character 2"
    );
    // A value of several lines is one line of an object.
    connection.execute("UPSERT INTO t (k, v) VALUES (6, E'[1,\\n2]')", ()).unwrap();
    let mut out = Vec::new();
    connection.copy_to_writer("COPY (SELECT v FROM t WHERE k = 6) TO STDOUT WITH (FORMAT json)", (), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "{\"v\":[1, 2]}\n");
}

#[test]
#[cfg_attr(not(feature = "datafusion"), ignore = "set operations are relational")]
fn results_of_the_relational_engine_have_the_type() {
    let connection = table();
    connection.execute("UPSERT INTO t VALUES (1, '[1]', '[2]')", ()).unwrap();
    for sql in [
        "SELECT v FROM t WHERE k = 1 UNION ALL SELECT v FROM t WHERE k = 1",
        "SELECT x.v FROM (SELECT v, k FROM t WHERE k = 1) x JOIN t ON t.k = x.k",
        "SELECT v -> 0 FROM t WHERE k = 1 UNION SELECT v FROM t WHERE k = 1",
        "SELECT max(v) FROM t WHERE k = 1",
    ] {
        let rows = connection.query(sql, ()).unwrap();
        assert_eq!(rows.columns()[0].ty.to_string(), "JSON", "{sql}");
    }
}
