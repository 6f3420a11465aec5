//! Statements that run again: what is kept of them changes no answer.

use saltwing::blocking::Connection;
use saltwing::{Database, Params, Value, params};

use crate::{code, texts};

fn filled(salt: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = format!(
        "CREATE TABLE t (a VARCHAR NOT NULL, b INTEGER NOT NULL, d DATE NOT NULL, v DECIMAL(6,2), s VARCHAR, CONSTRAINT pk PRIMARY KEY (a, b DESC, d)) {salt}"
    );
    connection.execute(&sql, ()).unwrap();
    let rows = "('x', 1, '2024-01-01', 1.5, 'p'), ('x', 1, '2024-01-02', 2, 'q'), ('x', 2, '2024-01-01', 3, 'p'), ('', -1, '2024-01-01', 4, NULL), ('x', 2147483647, '1970-01-01', 5, 'r')";
    connection.execute(&format!("UPSERT INTO t VALUES {rows}"), ()).unwrap();
    connection.execute("SET executor = 'direct'", ()).unwrap();
    connection
}

/// The rows of a query with parameters; or the error's code.
fn with(connection: &Connection, sql: &str, values: &[Value]) -> Result<Vec<String>, &'static str> {
    let rows = connection.query(sql, Params::Positional(values.to_vec()));
    let text = |row: Result<saltwing::Row, saltwing::Error>| row.and_then(|row| row.values()).map(|v| format!("{v:?}"));
    rows.and_then(|rows| rows.map(text).collect::<Result<Vec<_>, _>>()).map_err(|error| error.code().as_str())
}

/// Values of all kinds that a caller may pass, with their texts.
fn values() -> Vec<(Value, &'static str)> {
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    vec![
        (Value::Null, "NULL"),
        (Value::from("x"), "'x'"),
        (Value::from(""), "''"),
        (Value::from("1"), "'1'"),
        (Value::from("2024-01-01"), "'2024-01-01'"),
        (Value::Date(1_704_067_200_000), "DATE '2024-01-01'"),
        (Value::Int(1), "1"),
        (Value::Int(-1), "-1"),
        (Value::Int(2_147_483_648), "2147483648"),
        (Value::Double(1.0), "1e0"),
        (decimal("1.5"), "1.5"),
        (decimal("1.0"), "1.0"),
        (Value::Bool(true), "TRUE"),
    ]
}

/// A parameter means what its value in the text would: whatever its type, the first time and again.
#[test]
fn parameters_mean_what_their_texts_mean() {
    let forms = [
        "SELECT v, s FROM t WHERE a = {} AND b = {} AND d = {}",
        "SELECT v FROM t WHERE d = {} AND {} = a AND b = {}",
        "SELECT COUNT(*), SUM(v) FROM t WHERE a = {} AND b >= {} AND b <= {}",
        "SELECT b, s FROM t WHERE a IN ({}, {}) AND (b < {} OR s = 'p') ORDER BY a, b DESC",
        "SELECT b FROM t WHERE a = {} AND NOT (b = {}) AND v <> {} LIMIT 3",
        "SELECT v FROM t WHERE a = {} AND b BETWEEN {} AND {}",
        "SELECT a, b FROM t WHERE (a, b) <= ({}, {}) AND d < {} ORDER BY a, b DESC, d",
        "SELECT b, d FROM t WHERE a = {} AND (b, d) IN (({}, {}))",
        "SELECT v FROM t WHERE a LIKE {} AND b = {} LIMIT {}",
        "SELECT b FROM t WHERE a = {} ORDER BY a, b LIMIT {} OFFSET {}",
        "SELECT DISTINCT a FROM t WHERE a >= {} AND b + 1 > {} AND s LIKE {}",
    ];
    for salt in ["", "SALT_BUCKETS = 4", "SALT_BUCKETS = 3, SALT_BY = (a)"] {
        let connection = filled(salt);
        let values = values();
        let (mut rows, mut errors) = (0, 0);
        for form in forms {
            let open = form.replace("{}", "?");
            for (i, (first, first_text)) in values.iter().enumerate() {
                for (j, (second, second_text)) in values.iter().enumerate() {
                    let (third, third_text) = &values[(i * 5 + j * 7 + 4) % values.len()];
                    let told = [first_text, second_text, third_text]
                        .iter()
                        .fold(form.to_owned(), |sql, text| sql.replacen("{}", text, 1));
                    let given = [first.clone(), second.clone(), third.clone()];
                    let found = with(&connection, &open, &given);
                    assert_eq!(found, with(&connection, &told, &[]), "{salt}: {told}");
                    match found {
                        Ok(found) => rows += found.len(),
                        Err(_) => errors += 1,
                    }
                }
            }
        }
        assert!(rows > 50 && errors > 100, "{rows} rows, {errors} errors");
    }
}

#[test]
fn a_point_is_one_key_whatever_was_bound_before() {
    let connection = filled("SALT_BUCKETS = 4");
    let point = connection.prepare("SELECT v FROM t WHERE a = ? AND b = ? AND d = ?").unwrap();
    for (b, found) in [(1, 1), (7, 0), (2, 1)] {
        let mut rows = point.query(params!["x", b, Value::Date(1_704_067_200_000)]).unwrap();
        assert_eq!((&mut rows).count(), found);
        assert_eq!((rows.stats().keys_read, rows.stats().seeks), (found as u64, 1));
    }
}

#[test]
fn a_change_of_the_catalog_is_seen() {
    let connection = filled("");
    let sql = "SELECT * FROM t WHERE a = 'x' AND b = 2";
    let prepared = connection.prepare("SELECT * FROM t WHERE a = ? AND b = ?").unwrap();
    for _ in 0..2 {
        assert_eq!(texts(&connection, sql).unwrap(), ["x|2|2024-01-01|3.00|p"]);
        assert_eq!(prepared.query(params!["x", 2]).unwrap().count(), 1);
    }
    connection.execute("DROP TABLE t", ()).unwrap();
    assert_eq!(code(texts(&connection, sql)), "no_such_table");
    assert_eq!(code(prepared.query(params!["x", 2])), "no_such_table");
    connection
        .execute("CREATE TABLE t (b INTEGER NOT NULL, a VARCHAR NOT NULL, CONSTRAINT pk PRIMARY KEY (a, b))", ())
        .unwrap();
    connection.execute("UPSERT INTO t VALUES (2, 'x')", ()).unwrap();
    assert_eq!(texts(&connection, sql).unwrap(), ["2|x"]);
    assert_eq!(prepared.query(params!["x", 2]).unwrap().columns().len(), 2);
}

#[test]
fn settings_count_each_time() {
    let connection = filled("");
    let sql = "SELECT COUNT(*) FROM t WHERE s = 'p'";
    for _ in 0..2 {
        assert_eq!(code(texts(&connection, sql)), "full_scan_refused");
        connection.execute("SET full_scan = 'allow'", ()).unwrap();
        assert_eq!(texts(&connection, sql).unwrap(), ["2"]);
        connection.execute("SET full_scan = DEFAULT", ()).unwrap();
    }
    let other = "SELECT COUNT(*) FROM t WHERE a = 'x'";
    assert_eq!(texts(&connection, other).unwrap(), ["4"]);
    connection.execute("SET rows_max = 2", ()).unwrap();
    assert_eq!(code(texts(&connection, other)), "budget_exceeded");
    // A plan of the direct path is not used for another executor.
    connection.execute("SET rows_max = DEFAULT", ()).unwrap();
    connection.execute("SET executor = 'datafusion'", ()).unwrap();
    let answer = texts(&connection, other);
    assert!(if cfg!(feature = "datafusion") { answer.unwrap() == ["4"] } else { code(answer) == "not_supported" });
}

#[test]
fn set_takes_what_show_shows() {
    let connection = filled("");
    for (name, value) in
        [("time_warn", "'90s'"), ("autocommit_rows", "7"), ("executor", "direct"), ("full_scan", "warn")]
    {
        connection.execute(&format!("SET {name} = {value}"), ()).unwrap();
    }
    let all = texts(&connection, "SHOW ALL").unwrap();
    assert_eq!(all.len(), saltwing::SETTINGS.len());
    for setting in saltwing::SETTINGS {
        connection.execute(&format!("SET {} = DEFAULT", setting.name), ()).unwrap();
    }
    assert_ne!(texts(&connection, "SHOW ALL").unwrap(), all);
    for line in &all {
        let [name, value, _] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        connection.execute(&format!("SET {name} = '{value}'"), ()).unwrap();
    }
    assert_eq!(texts(&connection, "SHOW ALL").unwrap(), all);
}

#[test]
fn an_unknown_setting_gets_the_nearest_name() {
    let connection = filled("");
    for sql in ["SET row_max = 1", "SHOW row_max"] {
        let error = connection.execute(sql, ()).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.help()),
            ("there is no setting row_max", Some("did you mean rows_max?"))
        );
    }
    let help = connection.execute("SET zzz = 1", ()).unwrap_err().help().unwrap_or_default().to_owned();
    assert!(help.starts_with("there are full_scan, ") && help.ends_with(", memory_limit"), "{help}");
}

/// Also what was written in between is seen: a plan holds no rows.
#[test]
fn writes_are_seen() {
    let connection = filled("");
    let sql = "SELECT COUNT(*), MAX(b) FROM t WHERE a = 'x'";
    assert_eq!(texts(&connection, sql).unwrap(), ["4|2147483647"]);
    connection.execute("DELETE FROM t WHERE a = 'x' AND b > 1", ()).unwrap();
    assert_eq!(texts(&connection, sql).unwrap(), ["2|1"]);
}

#[test]
fn groups_by_a_cast_to_date_get_a_notice() {
    let connection = saltwing::Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE e (k INTEGER PRIMARY KEY, ts TIMESTAMP)", ()).unwrap();
    connection.execute("SET full_scan = 'allow'", ()).unwrap();
    let notices = |sql: &str| connection.execute(sql, ()).unwrap().notices;
    for sql in [
        "SELECT ts::date, count(*) FROM e GROUP BY 1",
        "SELECT CAST(ts AS DATE) AS d, count(*) FROM e GROUP BY d",
        "SELECT count(*) FROM e GROUP BY e.ts::date",
    ] {
        let notices = notices(sql);
        assert!(notices.len() == 1 && notices[0].contains("DATE_TRUNC('day', ..)"), "{sql}: {notices:?}");
    }
    assert!(notices("SELECT DATE_TRUNC('day', ts), count(*) FROM e GROUP BY 1").is_empty());
    assert!(notices("SELECT ts::date FROM e").is_empty());
}

/// The statements of a text run in turn, and each when its result is wanted.
#[test]
fn a_batch_gives_the_result_of_each_statement() {
    use saltwing::blocking::Response;

    let connection = Database::memory().unwrap().connect().blocking();
    let count = |response: Response| match response {
        Response::Done(result) => format!("{} written", result.rows_affected),
        Response::Rows(rows) => {
            format!("{} rows", rows.into_reader().map(|batch| batch.unwrap().num_rows()).sum::<usize>())
        }
    };
    let text = "CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2); SELECT k FROM t WHERE k > 0; DELETE FROM t WHERE k = 1";
    let mut responses = connection.run_batch(text).unwrap();
    let mut next = || responses.next().map(|response| count(response.unwrap()));
    assert_eq!([next(), next(), next()].map(Option::unwrap), ["0 written", "2 written", "2 rows"]);
    let left = "SELECT count(*) FROM t WHERE k > 0";
    assert_eq!(connection.query_one::<(i64,)>(left, ()).unwrap(), (2,), "the DELETE has not run yet");
    assert_eq!([next(), next()], [Some("1 written".to_owned()), None]);
    assert_eq!(connection.query_one::<(i64,)>(left, ()).unwrap(), (1,));
    // A text that is wrong anywhere runs no statement.
    assert!(connection.run_batch("DELETE FROM t WHERE k > 0; SELECT FROM WHERE").is_err());
    assert_eq!(connection.query_one::<(i64,)>(left, ()).unwrap(), (1,));
    // After an error, nothing runs.
    let mut responses = connection.run_batch("SELECT x FROM t WHERE k = 1; DELETE FROM t WHERE k > 0").unwrap();
    assert!(responses.next().is_some_and(|response| response.is_err()));
    assert!(responses.next().is_none());
    assert_eq!(connection.query_one::<(i64,)>(left, ()).unwrap(), (1,));
    // What comes after SET dialect is in the other language, and its errors have their places in the whole text.
    let text = "SET dialect = 'phoenix'; UPSERT INTO t VALUES (TO_NUMBER('7')); SET dialect = DEFAULT; SELECT ? FROM t";
    let results: Vec<_> = connection.run_batch(text).unwrap().map(|response| response.map(count)).collect();
    assert_eq!(results.len(), 4);
    assert_eq!(results[1].as_ref().unwrap(), "1 written");
    assert!(results[3].is_err());
}

#[tokio::test]
async fn any_statement_runs_by_the_async_api() {
    use saltwing::Response;

    let connection = Database::memory().unwrap().connect();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).await.unwrap();
    let written = connection.run("UPSERT INTO t VALUES (?), (2)", (1,)).await.unwrap();
    assert!(matches!(written, Response::Done(result) if result.rows_affected == 2));
    let select = connection.prepare("SELECT k FROM t WHERE k >= ?").await.unwrap();
    let Response::Rows(mut rows) = select.run((0,)).await.unwrap() else { panic!("a query gives rows") };
    assert_eq!(rows.next().await.unwrap().unwrap().num_rows(), 2);
    let mut responses =
        connection.run_batch("DELETE FROM t WHERE k = 1; SELECT k FROM t WHERE k > 0; SELECT x").await.unwrap();
    assert!(matches!(responses.next().await.unwrap(), Some(Response::Done(_))));
    let Some(Response::Rows(mut rows)) = responses.next().await.unwrap() else { panic!("a query gives rows") };
    assert!(responses.next().await.is_err());
    assert!(responses.next().await.unwrap().is_none());
    // The rows of a result are there after later statements.
    assert_eq!(rows.next().await.unwrap().unwrap().num_rows(), 1);
}
