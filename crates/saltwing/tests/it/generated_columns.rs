//! Generated columns on the ways into a table that are not statements of SQL, and after a reopening.

use saltwing::blocking::Connection;
use saltwing::{Database, StoreKind, params};

use crate::{code, texts};

const TABLE: &str = "CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, twice BIGINT GENERATED ALWAYS AS (a * 2) STORED, b BIGINT DEFAULT 5,
    both BIGINT AS (a + b))";

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(TABLE, ()).unwrap();
    connection
}

fn rows(connection: &Connection) -> Vec<String> {
    texts(connection, "SELECT * FROM t WHERE k >= 0 ORDER BY k").unwrap()
}

#[test]
fn copy_computes_them() {
    let connection = table();
    connection.copy_from_reader("COPY t FROM STDIN", &b"1,10,1\n2,,7\n"[..]).unwrap();
    connection.copy_from_reader("COPY t FROM STDIN WITH (HEADER)", &b"a,k\n11,1\n30,3\n"[..]).unwrap();
    assert_eq!(rows(&connection), ["1|11|22|1|12", "2|NULL|NULL|7|NULL", "3|30|60|5|35"]);
    let refused = connection.copy_from_reader("COPY t FROM STDIN WITH (HEADER)", &b"k,twice\n4,1\n"[..]);
    assert_eq!(code(refused), "generated_column");
    // What COPY TO writes, COPY FROM reads.
    let mut file = Vec::new();
    connection.copy_to_writer("COPY t TO STDOUT WITH (HEADER)", (), &mut file).unwrap();
    assert_eq!(String::from_utf8_lossy(&file), "k,a,b\n1,11,1\n2,,7\n3,30,5\n");
    let before = rows(&connection);
    connection.execute("TRUNCATE t", ()).unwrap();
    connection.copy_from_reader("COPY t FROM STDIN WITH (HEADER)", &*file).unwrap();
    assert_eq!(rows(&connection), before);
}

#[test]
fn appenders_compute_them() {
    let connection = table();
    let mut appender = connection.appender("t").unwrap();
    appender.append_row((1_i64, 10_i64, 1_i64)).unwrap();
    appender.close().unwrap();
    let mut appender = connection.appender_columns("t", &["k", "a"]).unwrap();
    appender.append_row((2_i64, 20_i64)).unwrap();
    appender.append_row((1_i64, 11_i64)).unwrap();
    appender.close().unwrap();
    assert_eq!(rows(&connection), ["1|11|22|1|12", "2|20|40|5|25"]);
    assert_eq!(code(connection.appender_columns("t", &["k", "twice"])), "generated_column");
}

#[test]
fn prepared_statements_compute_them() {
    let connection = table();
    let upsert = connection.prepare("UPSERT INTO t (k, a) VALUES (?, ?)").unwrap();
    upsert.execute(params![1, 10]).unwrap();
    upsert.execute(params![1, 20]).unwrap();
    let insert = connection.prepare("INSERT INTO t (k, twice, a) VALUES (?, DEFAULT, ?)").unwrap();
    insert.execute(params![2, 7]).unwrap();
    assert_eq!(rows(&connection), ["1|20|40|5|25", "2|7|14|5|12"]);
    assert_eq!(code(connection.execute("INSERT INTO t (k, twice) VALUES (?, ?)", params![3, 1])), "generated_column");
}

/// A row that is not written is not computed.
#[test]
fn rows_that_are_left_out_are_not_computed() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT DEFAULT 0, b BIGINT AS (10 / a))", ()).unwrap();
    assert_eq!(code(connection.execute("INSERT INTO t (k) VALUES (1)", ())), "division_by_zero");
    connection.execute("INSERT INTO t (k, a) VALUES (1, 2)", ()).unwrap();
    connection.execute("INSERT INTO t (k) VALUES (1) ON CONFLICT DO NOTHING", ()).unwrap();
    connection.execute("UPSERT INTO t (k) VALUES (1)", ()).unwrap();
    assert_eq!(texts(&connection, "SELECT * FROM t WHERE k = 1").unwrap(), ["1|2|5"]);
}

#[test]
fn they_are_there_after_a_reopening() {
    let folder = tempfile::tempdir().unwrap();
    for store in StoreKind::ALL.into_iter().filter(|store| *store != StoreKind::Memory) {
        let open =
            || Database::builder(folder.path().join(store.as_str())).store(store).open().unwrap().connect().blocking();
        let connection = open();
        connection.execute(TABLE, ()).unwrap();
        connection.execute("UPSERT INTO t (k, a) VALUES (1, 2)", ()).unwrap();
        drop(connection);
        let connection = open();
        connection.execute("UPSERT INTO t (k, b) VALUES (1, 8), (2, 9)", ()).unwrap();
        assert_eq!(rows(&connection), ["1|2|4|8|10", "2|NULL|NULL|9|NULL"], "{store:?}");
    }
}
