//! Arrays as parameters, in rows, in CSV, and in plans of statements that are only prepared.

use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode, Value};

use crate::{code, texts};

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, i INTEGER ARRAY, s VARCHAR ARRAY, d DECIMAL(6,2)[])";
    connection.execute(sql, ()).unwrap();
    connection
}

#[test]
fn vectors_are_parameters_and_come_back() {
    let connection = table();
    let upsert = "UPSERT INTO t (k, i, s) VALUES (?, ?, ?)";
    connection.execute(upsert, (1, vec![1, 2], &["a", ""][..])).unwrap();
    connection.execute(upsert, (2, vec![Some(7), None], Vec::<String>::new())).unwrap();
    connection.execute(upsert, (3, None::<Vec<i32>>, "{x,NULL}")).unwrap();
    let select = "SELECT i, s FROM t WHERE k = ?";
    let row: (Vec<i32>, Vec<String>) = connection.query_one(select, (1,)).unwrap();
    assert_eq!(row, (vec![1, 2], vec!["a".to_owned(), String::new()]));
    let row: (Vec<Option<i64>>, Vec<String>) = connection.query_one(select, (2,)).unwrap();
    assert_eq!(row, (vec![Some(7), None], vec![]));
    let row: (Option<Vec<i32>>, Vec<Option<String>>) = connection.query_one(select, (3,)).unwrap();
    assert_eq!(row, (None, vec![Some("x".to_owned()), None]));
    let (value,): (Value,) = connection.query_one("SELECT i FROM t WHERE k = ?", (1,)).unwrap();
    assert_eq!(value, Value::from(vec![1, 2]));
    // NULL is no i32, and a number no array.
    let error = connection.query_one::<(Vec<i32>,)>("SELECT i FROM t WHERE k = 2", ()).unwrap_err();
    assert!(error.to_string().contains("an array without NULL, of elements that are i32"), "{error}");
    assert!(connection.query_one::<(Vec<i32>,)>("SELECT k FROM t WHERE k = 2", ()).is_err());
    let found = connection.query_one::<(i32,)>("SELECT k FROM t WHERE k < 9 AND i = ?", (vec![1, 2],));
    assert_eq!(found.unwrap(), (1,));
    assert_eq!(code(connection.execute(upsert, (4, vec!["a"], "{}"))), "bad_text");
}

/// The keys are those of the array, for a statement that was prepared without one, too.
#[test]
fn any_of_a_parameter_bounds_the_key() {
    let connection = table();
    connection.execute("UPSERT INTO t (k) VALUES (1), (2), (3), (4)", ()).unwrap();
    let statement = connection.prepare("SELECT k FROM t WHERE k = ANY(?) ORDER BY k").unwrap();
    for (keys, expected) in [(vec![3, 1, 9], vec![1, 3]), (vec![], vec![]), (vec![2], vec![2])] {
        let rows = statement.query((keys,)).unwrap();
        let found: Vec<i32> = rows.map(|row| row.unwrap().get(0).unwrap()).collect();
        assert_eq!(found, expected);
    }
    let refused = connection.prepare("SELECT k FROM t WHERE k > ANY(?)").map(drop).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FullScanRefused);
    let refused = connection.query("SELECT k FROM t WHERE k > ANY(?)", (vec![1],)).map(drop).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FullScanRefused);
}

#[test]
fn csv_goes_out_and_comes_in() {
    let connection = table();
    let rows = "(1, ARRAY[1, NULL], ARRAY['a,b', '\"', NULL, ''], ARRAY[1.5]), (2, ARRAY[], NULL, NULL)";
    connection.execute(&format!("UPSERT INTO t VALUES {rows}"), ()).unwrap();
    let mut out = Vec::new();
    connection.copy_to_writer("COPY (SELECT * FROM t WHERE k > 0 ORDER BY k) TO STDOUT", (), &mut out).unwrap();
    let written = String::from_utf8(out).unwrap();
    let first = r#"1,"[1,null]","[""a,b"",""\"""",null,""""]",[1.50]"#;
    assert_eq!(written.lines().collect::<Vec<_>>(), [first, "2,[],,"]);
    let all = "SELECT * FROM t WHERE k > 0 ORDER BY k";
    let before = texts(&connection, all).unwrap();
    connection.execute("TRUNCATE t", ()).unwrap();
    connection.copy_from_reader("COPY t FROM STDIN", written.as_bytes()).unwrap();
    assert_eq!(texts(&connection, all).unwrap(), before);
    connection.copy_from_reader("COPY t FROM STDIN", &b"3,\"{4,5}\",\"{x,NULL}\",\n"[..]).unwrap();
    assert_eq!(texts(&connection, "SELECT i, s FROM t WHERE k = 3").unwrap(), ["[4,5]|[\"x\",null]"]);
    let error = connection.copy_from_reader("COPY t FROM STDIN", &b"4,\"{4\",,\n"[..]);
    assert_eq!(code(error), "bad_text");
}

#[test]
fn arrays_are_altered_and_merged_like_other_values() {
    let connection = table();
    connection.execute("UPSERT INTO t (k, i) VALUES (1, ARRAY[1])", ()).unwrap();
    connection.execute("ALTER TABLE t ADD x VARCHAR ARRAY[3] DEFAULT ARRAY['a', NULL]", ()).unwrap();
    connection.execute("UPSERT INTO t (k, x) VALUES (2, ARRAY['b'])", ()).unwrap();
    connection.execute("COMPACT t", ()).unwrap();
    let rows = texts(&connection, "SELECT k, i, x FROM t WHERE k > 0 ORDER BY k").unwrap();
    assert_eq!(rows, ["1|[1]|[\"a\",null]", "2|NULL|[\"b\"]"]);
    let types = "SELECT data_type, column_default FROM information_schema.columns WHERE column_name = 'x'";
    assert_eq!(texts(&connection, types).unwrap(), ["VARCHAR ARRAY[3]|ARRAY['a', NULL]"]);
    let shown = texts(&connection, "SHOW CREATE TABLE t").unwrap().concat();
    let again = Database::memory().unwrap().connect().blocking();
    again.execute(&shown, ()).unwrap();
    assert_eq!(texts(&again, "SHOW CREATE TABLE t").unwrap().concat(), shown);
    assert_eq!(texts(&again, types).unwrap(), texts(&connection, types).unwrap());
}
