//! Prepared statements that read few rows at once: their rows and counts are those of a scan.

use saltwing::blocking::Connection;
use saltwing::{Database, Stats, Value, params};

use crate::index_access::run;

/// 600 rows by (user, time): 200 of the user `much`, 8 of each of 50 others. The first 500 are in blocks, the last 100 are not.
fn filled(salt: &str) -> (Database, Connection) {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    let create = format!(
        "CREATE TABLE m (u VARCHAR NOT NULL, t BIGINT NOT NULL, a INTEGER, s VARCHAR, v VARCHAR, CONSTRAINT pk PRIMARY KEY (u, t DESC)) {salt}"
    );
    let index_salt = if salt.is_empty() { "" } else { "SALT_BY = (a)" };
    run(
        &connection,
        &[&create, &format!("CREATE INDEX m_a ON m (a) INCLUDE (s) {index_salt}"), "CREATE INDEX m_s ON m (s, a)"],
    );
    for number in 0..600 {
        if number == 500 {
            run(&connection, &["COMPACT m"]);
        }
        let user = if number % 3 == 0 { "much".to_owned() } else { format!("u{}", number % 50) };
        let (a, s) = (number % 97, format!("text {}", number % 7));
        connection
            .execute("UPSERT INTO m VALUES (?, ?, ?, ?, ?)", params![user, number, a, s, format!("value {number}")])
            .unwrap();
    }
    run(&connection, &["DELETE FROM m WHERE u = 'u1' AND t > 300"]);
    (database, connection)
}

/// All values of a statement, and the counts of its reads.
fn read(connection: &Connection, sql: &str, values: &[Value]) -> (Vec<Vec<Value>>, Stats) {
    let statement = connection.prepare(sql).unwrap();
    let mut rows = statement.query(values.to_vec()).unwrap();
    let found = rows.by_ref().map(|row| row.unwrap().values().unwrap()).collect();
    assert_eq!(rows.notices(), &[] as &[String]);
    (found, rows.stats())
}

/// Statements that may read few rows, with their values.
fn statements() -> Vec<(&'static str, Vec<Vec<Value>>)> {
    let users = ["much", "u1", "u4", "nobody", ""].map(|user| vec![Value::text(user)]);
    let numbers = [0i64, 5, 96, 97, -1].map(|a| vec![Value::Int(a)]);
    let between = [("u4", 0, 1000), ("much", 300, 320), ("much", 0, 1000), ("u1", 290, 310)];
    let between = between.map(|(user, from, to)| vec![Value::text(user), Value::Int(from), Value::Int(to)]);
    vec![
        ("SELECT u, t, a, s, v FROM m WHERE a = ?", numbers.to_vec()),
        ("SELECT s FROM m WHERE a = ?", numbers.to_vec()),
        ("SELECT v, u FROM m WHERE a = ? LIMIT 2", numbers.to_vec()),
        ("SELECT t, s FROM m WHERE u = ?", users.to_vec()),
        ("SELECT t, s FROM m WHERE u = ? ORDER BY t DESC LIMIT 3", users.to_vec()),
        ("SELECT t, s FROM m WHERE u = ? ORDER BY t LIMIT 3", users.to_vec()),
        ("SELECT t, a FROM m WHERE u = ? AND t >= ? AND t < ?", between.to_vec()),
        ("SELECT count(*), sum(a) FROM m WHERE u = ? AND t >= ? AND t < ?", between.to_vec()),
        ("SELECT u, t FROM m WHERE s = ? AND a = 3", vec![vec![Value::text("text 3")], vec![Value::text("none")]]),
    ]
}

#[test]
fn rows_read_at_once_and_their_counts_are_those_of_a_scan() {
    for salt in ["", "SALT_BUCKETS = 4, SALT_BY = (u)", "SALT_BUCKETS = 4"] {
        let (_database, connection) = filled(salt);
        // Each statement with a limit on bytes is scanned: it counts them.
        let scanning = connection.with_settings(|settings| settings.bytes_max = Some(u64::MAX));
        for compacted in [false, true] {
            if compacted {
                run(&connection, &["COMPACT m"]);
            }
            for (sql, values) in statements() {
                for values in values {
                    let (found, stats) = read(&connection, sql, &values);
                    assert_eq!(connection.stats(), stats, "{sql} {values:?}: those of the last statement");
                    assert_eq!((found, stats), read(&scanning, sql, &values), "{salt}, {compacted}: {sql} {values:?}");
                }
            }
        }
    }
}

#[test]
fn limits_hold_where_rows_are_few() {
    let (_database, connection) = filled("");
    run(&connection, &["COMPACT m"]);
    let sql = "SELECT u, v FROM m WHERE a = ?";
    let (found, stats) = read(&connection, sql, &[Value::Int(5)]);
    assert!(found.len() > 5 && stats.keys_read == 2 * found.len() as u64, "{stats:?}");
    connection.execute("SET rows_max = 5", ()).unwrap();
    let statement = connection.prepare(sql).unwrap();
    let error = statement.query([Value::Int(5)]).and_then(|rows| rows.collect::<Result<Vec<_>, _>>());
    assert_eq!(crate::code(error), "budget_exceeded");
    run(&connection, &["SET rows_max = DEFAULT", "SET rows_warn = 5"]);
    let mut rows = statement.query([Value::Int(5)]).unwrap();
    assert_eq!(rows.by_ref().count(), found.len());
    assert!(rows.notices().concat().contains("rows were scanned"), "{:?}", rows.notices());
}

#[test]
fn a_transaction_sees_its_own_few_rows() {
    let (database, connection) = filled("SALT_BUCKETS = 4, SALT_BY = (u)");
    run(&connection, &["COMPACT m", "BEGIN", "UPSERT INTO m VALUES ('u4', 9000, 96, 'own', 'value')"]);
    let own = |connection: &Connection| {
        let (found, _) = read(connection, "SELECT s FROM m WHERE a = ?", &[Value::Int(96)]);
        found.iter().filter(|row| row[0] == Value::text("own")).count()
    };
    assert_eq!((own(&connection), own(&database.connect().blocking())), (1, 0));
    run(&connection, &["ROLLBACK"]);
    assert_eq!(own(&connection), 0);
}
