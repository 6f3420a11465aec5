//! Rows as structs, structs as parameters, and rows as streams.

use futures_util::TryStreamExt as _;
use saltwing::{Database, ErrorCode, FromRow, FromValue, IntoParams, Params, Value, blocking};

#[derive(Clone, Debug, PartialEq, FromRow, IntoParams)]
struct Session {
    phone: String,
    #[saltwing(rename = "ts")]
    start: i64,
    up: Option<i64>,
    #[saltwing(skip)]
    seen: u8,
    r#type: String,
}

#[derive(Debug, PartialEq, FromRow, IntoParams)]
struct Pair<T>(i64, T);

#[derive(Debug, PartialEq, FromRow)]
struct Sparse<T> {
    #[saltwing(rename = "TS")]
    ts: T,
    #[saltwing(default)]
    missing: Option<String>,
}

fn connection() -> blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let create =
        "CREATE TABLE log (phone VARCHAR, ts BIGINT, up BIGINT, type VARCHAR, CONSTRAINT pk PRIMARY KEY (phone, ts))";
    connection.execute(create, ()).unwrap();
    connection
}

fn session(start: i64) -> Session {
    Session { phone: "1".into(), start, up: (start > 1).then_some(start * 10), seen: 0, r#type: "t".into() }
}

#[test]
fn structs_go_in_by_reference_and_by_value_and_come_out() {
    let connection = connection();
    let upsert = connection.prepare("UPSERT INTO log VALUES (:phone, :ts, :up, :type)").unwrap();
    for start in 1..4 {
        upsert.execute(&Session { seen: 9, ..session(start) }).unwrap();
        upsert.execute(session(start)).unwrap();
    }
    let all = connection.query_as::<Session>("SELECT * FROM log WHERE phone = ?", ("1",)).unwrap();
    assert_eq!(all.collect::<Result<Vec<_>, _>>().unwrap(), (1..4).map(session).collect::<Vec<_>>());
    let one: Session =
        connection.query_one("SELECT type, up, ts, phone FROM log WHERE phone = '1' AND ts = 2", ()).unwrap();
    assert_eq!(one, session(2));
}

#[test]
#[cfg_attr(not(feature = "datafusion"), ignore = "a SELECT without a table is relational")]
fn tuple_structs_go_by_place() {
    let connection = connection();
    assert_eq!(Pair(1, "x").into_params(), Params::Positional(vec![Value::Int(1), Value::Text("x".into())]));
    let pair: Pair<String> = connection.query_one("SELECT ?, ?", Pair(1, "x".to_owned())).unwrap();
    assert_eq!(pair, Pair(1, "x".to_owned()));
    let error = connection.query_one::<Pair<i64>>("SELECT 1, 2, 3", ()).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("3 columns")), (ErrorCode::TypeMismatch, true));
}

#[test]
#[cfg_attr(not(feature = "datafusion"), ignore = "a SELECT without a table is relational")]
fn columns_that_are_not_there() {
    let connection = connection();
    let sparse: Sparse<i64> = connection.query_one("SELECT 7 AS ts", ()).unwrap();
    assert_eq!(sparse, Sparse { ts: 7, missing: None });
    let sparse: Sparse<i64> = connection.query_one("SELECT 7 AS Ts, 'm' AS missing", ()).unwrap();
    assert_eq!(sparse, Sparse { ts: 7, missing: Some("m".into()) });
    let error = connection.query_one::<Sparse<i64>>("SELECT 7 AS other", ()).unwrap_err();
    assert!(error.to_string().contains("column TS"), "{error}");
    let error = connection.query_one::<Sparse<i64>>("SELECT 'x' AS ts", ()).unwrap_err();
    assert!(error.to_string().contains(i64::EXPECTED), "{error}");
}

#[test]
fn rows_are_streams() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let connection = Database::memory().unwrap().connect();
    runtime.block_on(async {
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).await.unwrap();
        connection.execute("UPSERT INTO t VALUES (1), (2), (3)", ()).await.unwrap();
        let select = "SELECT k FROM t WHERE k >= 1";
        let typed = connection.query_as::<(i64,)>(select, ()).await.unwrap();
        assert_eq!(typed.into_stream().try_collect::<Vec<_>>().await.unwrap(), [(1,), (2,), (3,)]);
        let rows = connection.query(select, ()).await.unwrap().into_stream();
        let sum = rows.try_fold(0, |sum, row| async move { Ok(sum + row.get::<i64>("k")?) }).await.unwrap();
        assert_eq!(sum, 6);
        let typed = connection.query_as::<(bool,)>(select, ()).await.unwrap();
        assert_eq!(typed.collect().await.unwrap_err().code(), ErrorCode::TypeMismatch);
        let statement = connection.prepare(select).await.unwrap();
        assert_eq!(statement.query_as::<(i64,)>(()).await.unwrap().collect().await.unwrap().len(), 3);
    });
}
