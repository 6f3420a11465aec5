//! The extended protocol.

use saltwing_sessions::Limits;
use tokio_postgres::types::Type;

use crate::raw::{Raw, first_state, kinds};
use crate::{Server, state, state_and_text};

#[tokio::test(flavor = "multi_thread")]
async fn values_go_both_ways_in_binary_form() {
    let server = Server::start().await;
    server.run(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, d DOUBLE, b BOOLEAN, n INTEGER, y VARBINARY, a BIGINT ARRAY)",
    );
    let client = server.client().await;
    let insert = client.prepare("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)").await.unwrap();
    assert_eq!(
        insert.params(),
        [Type::INT8, Type::VARCHAR, Type::FLOAT8, Type::BOOL, Type::INT4, Type::BYTEA, Type::INT8_ARRAY]
    );
    let (text, bytes, list) = ("one", vec![1_u8, 2], vec![Some(7_i64), None]);
    assert_eq!(client.execute(&insert, &[&1_i64, &text, &0.5_f64, &true, &7_i32, &bytes, &list]).await.unwrap(), 1);
    let none: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
        [&2_i64, &None::<String>, &None::<f64>, &None::<bool>, &None::<i32>, &None::<Vec<u8>>, &None::<Vec<i64>>];
    assert_eq!(client.execute(&insert, &none).await.unwrap(), 1);
    let row = client.query_one("SELECT * FROM t WHERE k = $1", &[&1_i64]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, &str>("v"), row.get::<_, f64>(2)), (1, "one", 0.5));
    assert_eq!((row.get::<_, bool>(3), row.get::<_, i32>(4)), (true, 7));
    assert_eq!((row.get::<_, Vec<u8>>(5), row.get::<_, Vec<Option<i64>>>(6)), (bytes, list));
    let row = client.query_one("SELECT * FROM t WHERE k = $1", &[&2_i64]).await.unwrap();
    assert!((1..7).all(|column| row.columns().len() == 7
        && row.try_get::<_, Option<&str>>(1).is_ok_and(|v| v.is_none())
        && column < 7));
    assert_eq!(client.query("SELECT k FROM t WHERE k > $1 AND k < $2", &[&0_i64, &9_i64]).await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_passes_over_messages_up_to_sync() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[
        (b'P', b"\0SELEKT\0\0\0"),
        (b'B', b"\0\0\0\0\0\0\0\0"),
        (b'E', b"\0\0\0\0\0"),
        (b'Q', b"SELECT 1\0"),
        (b'S', b""),
    ])
    .await;
    let messages = raw.until('Z').await;
    assert_eq!((kinds(&messages).as_str(), first_state(&messages).as_str()), ("EZ", "42601"));
    raw.send(&[
        (b'P', b"\0SELECT 1\0\0\0"),
        (b'B', b"\0\0\0\0\0\0\0\0"),
        (b'D', b"P\0"),
        (b'E', b"\0\0\0\0\0"),
        (b'S', b""),
    ])
    .await;
    assert_eq!(kinds(&raw.until('Z').await), "12TDCZ");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_statements_and_portals_are_checked() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    type Sent<'a> = &'a [(u8, &'a [u8])];
    let cases: [(Sent<'_>, &str); 6] = [
        (&[(b'P', b"a\0SELECT 1\0\0\0"), (b'P', b"a\0SELECT 1\0\0\0")], "42P05"),
        (&[(b'B', b"\0missing\0\0\0\0\0\0\0")], "26000"),
        (&[(b'E', b"missing\0\0\0\0\0")], "34000"),
        (&[(b'D', b"Smissing\0")], "26000"),
        (&[(b'B', b"\0a\0\0\0\0\x01\xff\xff\xff\xff\0\0")], "08P01"),
        // Two formats for a column.
        (&[(b'B', b"\0a\0\0\0\0\0\0\x02\0\0\0\0")], "08P01"),
    ];
    for (messages, wanted) in cases {
        let messages: Vec<(u8, &[u8])> = messages.iter().copied().chain([(b'S', &b""[..])]).collect();
        raw.send(&messages).await;
        assert_eq!(first_state(&raw.until('Z').await), wanted);
    }
    // Closing what is not there is no error.
    raw.send(&[(b'C', b"Sa\0"), (b'C', b"Sa\0"), (b'C', b"Pnothing\0"), (b'S', b"")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "333Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_table_is_told() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'one')");
    let client = server.client().await;
    let all = client.prepare("SELECT * FROM t WHERE k = $1").await.unwrap();
    server.run("ALTER TABLE t ADD w BIGINT");
    let error = client.query(&all, &[&1_i64]).await.unwrap_err();
    assert_eq!(state_and_text(&error), "0A000 cached plan must not change result type");
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_of_the_session_can_be_prepared() {
    let server = Server::start().await;
    let client = server.client().await;
    let shown = client.query_one("SHOW application_name", &[]).await.unwrap();
    assert_eq!(shown.columns()[0].name(), "application_name");
    client.execute("SET application_name = 'x'", &[]).await.unwrap();
    assert_eq!(client.query_one("SHOW application_name", &[]).await.unwrap().get::<_, &str>(0), "x");
    client.simple_query("PREPARE q (BIGINT) AS SELECT $1 + 1 AS next").await.unwrap();
    assert_eq!(crate::rows(&client, "EXECUTE q (41)").await, ["42"]);
    assert_eq!(crate::state(&client, "EXECUTE q").await, "42601");
    client.simple_query("DEALLOCATE q").await.unwrap();
    assert_eq!(crate::state(&client, "EXECUTE q (1)").await, "26000");
    client.simple_query("DISCARD ALL").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_execute_may_name_itself() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[
        (b'P', b"a\0EXECUTE b\0\0\0"),
        (b'P', b"b\0EXECUTE a\0\0\0"),
        (b'D', b"Sa\0"),
        (b'B', b"\0a\0\0\0\0\0\0\0"),
        (b'D', b"P\0"),
        (b'E', b"\0\0\0\0\0"),
        (b'S', b""),
    ])
    .await;
    let messages = raw.until('Z').await;
    assert_eq!((kinds(&messages).as_str(), first_state(&messages).as_str()), ("11tn2nEZ", "0A000"));
    // A statement that did not run is no success.
    for sql in ["BEGIN", "DECLARE c CURSOR FOR SELECT 1", "SHOW application_name"] {
        let parse = [b"s\0", sql.as_bytes(), b"\0\0\0"].concat();
        raw.send(&[(b'P', &parse), (b'S', b""), (b'Q', b"EXECUTE s\0"), (b'Q', b"DEALLOCATE s\0")]).await;
        raw.until('Z').await;
        assert_eq!(first_state(&raw.until('Z').await), "0A000", "{sql}");
        raw.until('Z').await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_does_not_run_twice() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', b"BEGIN\0")]).await;
    raw.until('Z').await;
    raw.send(&[
        (b'P', b"\0INSERT INTO t VALUES (1)\0\0\0"),
        (b'B', b"p\0\0\0\0\0\0\0\0"),
        (b'E', b"p\0\0\0\0\0"),
        (b'E', b"p\0\0\0\0\0"),
        (b'S', b""),
    ])
    .await;
    assert_eq!(first_state(&raw.until('Z').await), "55000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_of_no_type_is_a_text() {
    let server = Server::start().await;
    let client = server.client().await;
    let row = client.query_one("SELECT $1, $2::BIGINT + 1", &[&"a", &1_i64]).await.unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, i64>(1)), ("a", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_comes_before_sync() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'P', b"\0SELEC 1\0\0\0"), (b'H', b"")]).await;
    assert_eq!(first_state(&raw.until('E').await), "42601");
    raw.send(&[(b'S', b"")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_judges_runs_alone() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT); UPSERT INTO t VALUES (1, 10), (2, 20)");
    let client = server.client().await;
    // Drivers prepare such a statement for the types of the columns.
    let whole = client.prepare("SELECT k, v FROM t").await.unwrap();
    assert_eq!(whole.columns().len(), 2);
    assert_eq!(client.query(&whole, &[]).await.unwrap_err().code().unwrap().code(), "54F01");
    let listed = client.query("SELECT v FROM t WHERE k = ANY($1)", &[&vec![2_i64, 9]]).await.unwrap();
    assert_eq!(listed.iter().map(|row| row.get(0)).collect::<Vec<i64>>(), [20]);
    client.simple_query("SET full_scan = 'allow'").await.unwrap();
    assert_eq!(client.query(&whole, &[]).await.unwrap().len(), 2);
}

/// A thousand statements of a megabyte each would be the server's memory.
#[tokio::test(flavor = "multi_thread")]
async fn the_texts_of_prepared_statements_have_a_limit_together() {
    let limits = Limits { message_bytes_max: 100_000, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let client = server.client().await;
    let long = format!("SELECT '{}'", "x".repeat(30_000));
    let mut kept = Vec::new();
    for _ in 0..3 {
        kept.push(client.prepare(&long).await.unwrap());
    }
    let refused = client.prepare(&long).await.err().unwrap();
    assert_eq!(refused.code().unwrap().code(), "53400", "{}", state_and_text(&refused));
    assert_eq!(state(&client, &format!("PREPARE p AS {long}")).await, "53400");
    client.simple_query("DEALLOCATE ALL").await.unwrap();
    client.prepare(&long).await.unwrap();
}

/// So would the values of a hundred portals.
#[tokio::test(flavor = "multi_thread")]
async fn the_values_of_portals_have_a_limit_together() {
    let server = Server::with_limits(Limits { message_bytes_max: 100_000, ..Limits::default() }).await;
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', b"BEGIN\0"), (b'P', b"s\0SELECT $1\0\0\0")]).await;
    let value = vec![b'x'; 30_000];
    for name in ["a", "b", "c", "d"] {
        let head = [name.as_bytes(), b"\0s\0\0\0\0\x01", &30_000_u32.to_be_bytes()].concat();
        raw.send(&[(b'B', &[head, value.clone(), b"\0\0".to_vec()].concat())]).await;
    }
    raw.send(&[(b'S', b"")]).await;
    raw.until('Z').await;
    let messages = raw.until('Z').await;
    assert_eq!((kinds(&messages).as_str(), first_state(&messages).as_str()), ("1222EZ", "53400"));
}
