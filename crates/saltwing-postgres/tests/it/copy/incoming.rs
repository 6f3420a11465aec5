//! COPY FROM STDIN in PostgreSQL's formats.

use super::{copy_in, copy_out, error_field};
use crate::raw::{Raw, first_state, kinds, tags};
use crate::{Server, rows, state};

#[tokio::test(flavor = "multi_thread")]
async fn public_is_a_name_of_the_default_schema() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let mut raw = Raw::log_in(&server).await;
    let messages = copy_in(&mut raw, "COPY \"public\".\"t\" FROM STDIN", &[b"1\ta\n"]).await;
    assert_eq!(tags(&messages), ["COPY 1"]);
    assert_eq!(copy_out(&mut raw, "COPY Public.t TO STDOUT").await.1.last().unwrap().0, 'Z');
    assert_eq!(rows(&server.client().await, "SELECT v FROM t WHERE k = 1").await, ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_every_format_arrive() {
    let server = Server::start().await;
    server.run(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, b BOOLEAN, y VARBINARY, ts TIMESTAMP, d DECIMAL(10, 2), a BIGINT ARRAY, f DOUBLE)",
    );
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    let all = "SELECT k, v, b, y, ts, d, a, f FROM t WHERE k > 0 ORDER BY k";
    let wanted =
        ["1,tab\tor \"q\",t,\\x00ff,2024-05-01 12:30:00.5,1.50,{1,NULL},Infinity", "2,,f,-,-,-,-,-", "3,-,-,-,-,-,-,-"];
    let text = b"1\ttab\\tor \"q\"\tt\t\\\\x00ff\t2024-05-01 12:30:00.5\t1.5\t{1,NULL}\tInfinity\n\
        2\t\tf\t\\N\t\\N\t\\N\t\\N\t\\N\n3\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N";
    // Messages begin and end anywhere in a row.
    let parts: Vec<&[u8]> = text.chunks(7).collect();
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &parts).await;
    assert_eq!((kinds(&messages).as_str(), tags(&messages)), ("GCZ", vec!["COPY 3".to_owned()]));
    assert_eq!(messages[0].1, b"\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(rows(&client, all).await, wanted);
    // What one format gives, the same format takes.
    for (format, codes) in
        [("csv", 0_u8), ("text", 0), ("binary", 1), ("csv, HEADER", 0), ("csv, HEADER match, QUOTE '''', NULL 'NA'", 0)]
    {
        let (bytes, messages) =
            copy_out(&mut raw, &format!("COPY t TO STDOUT (FORMAT {})", format.replace(" match", ""))).await;
        assert_eq!((messages[0].0, messages[0].1[0]), ('H', codes), "{format}");
        server.run("DELETE /*+ FULL_SCAN */ FROM t");
        let parts: Vec<&[u8]> = bytes.chunks(5).collect();
        let messages = copy_in(&mut raw, &format!("COPY t FROM STDIN WITH (FORMAT {format})"), &parts).await;
        assert_eq!(tags(&messages), ["COPY 3"], "{format}: {messages:?}");
        assert_eq!(rows(&client, all).await, wanted, "{format}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_names_the_columns() {
    let server = Server::start().await;
    server.run(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR DEFAULT 'none', a.x BIGINT, b.x BIGINT, twice BIGINT GENERATED ALWAYS AS (k * 2))",
    );
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    assert_eq!(tags(&copy_in(&mut raw, "COPY t (b.x, k) FROM STDIN", &[b"7\t1\n"]).await), ["COPY 1"]);
    // Without a list: all columns that are not computed.
    assert_eq!(tags(&copy_in(&mut raw, "copy T from stdin", &[b"2\ttwo\t3\t4\n"]).await), ["COPY 1"]);
    let all = "SELECT k, v, a.x, b.x, twice FROM t WHERE k > 0 ORDER BY k";
    assert_eq!(rows(&client, all).await, ["1,none,-,7,2", "2,two,3,4,4"]);
    assert_eq!(copy_out(&mut raw, "COPY t TO STDOUT").await.0, b"1\tnone\t\\N\t7\n2\ttwo\t3\t4\n");
    assert_eq!(copy_out(&mut raw, "COPY t (twice, b.x) TO STDOUT CSV HEADER").await.0, b"twice,x\n2,7\n4,4\n");
    // A dynamic column.
    assert_eq!(tags(&copy_in(&mut raw, "COPY t (k, note VARCHAR) FROM STDIN", &[b"3\textra\n"]).await), ["COPY 1"]);
    assert_eq!(copy_out(&mut raw, "COPY t (k, note VARCHAR) TO STDOUT").await.0, b"1\t\\N\n2\t\\N\n3\textra\n");
    server.run("CREATE SCHEMA s; CREATE TABLE s.\"T u\" (\"K k\" BIGINT PRIMARY KEY)");
    assert_eq!(tags(&copy_in(&mut raw, "COPY s.\"T u\" FROM STDIN", &[b"5\n"]).await), ["COPY 1"]);
    assert_eq!(copy_out(&mut raw, "COPY s.\"T u\" TO STDOUT (HEADER)").await.0, b"K k\n5\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_leaves_no_row_and_names_its_place() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, n INTEGER NOT NULL)");
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    for (data, code, place) in [
        (&b"1\t2\n2\tx\n3\t4\n"[..], "22P02", "COPY t, line 2, column n: \"x\""),
        (b"1\t2\n2\t99999999999\n", "22003", "COPY t, line 2, column n: \"99999999999\""),
        (b"1\t2\n2\n", "22P04", "COPY t, line 2"),
        (b"1\t2\n2\t\\N\n", "23502", "COPY t, line 2"),
        (b"1\t2\n\\N\t2\n", "23502", "COPY t, line 2"),
    ] {
        let messages = copy_in(&mut raw, "COPY t FROM STDIN", &[data]).await;
        assert_eq!((kinds(&messages).as_str(), first_state(&messages).as_str()), ("GEZ", code));
        assert_eq!(error_field(&messages, 'W'), place);
        assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
    }
    // The session goes on, and the rest of the data is passed over.
    raw.send(&[(b'Q', b"COPY t FROM STDIN\0"), (b'd', b"x\n")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "GEZ");
    raw.send(&[(b'd', b"1\t2\n"), (b'c', b""), (b'Q', b"COPY t FROM STDIN\0"), (b'd', b"7\t8\n"), (b'c', b"")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "GCZ");
    assert_eq!(rows(&client, "SELECT k, n FROM t WHERE k > 0").await, ["7,8"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_needs_no_rows_is_checked_first() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let mut raw = Raw::log_in(&server).await;
    let cases = [
        ("COPY missing FROM STDIN", "42P01"),
        ("COPY t (k, missing) FROM STDIN", "42703"),
        ("COPY t (k, k) FROM STDIN", "42701"),
        ("COPY t FROM STDIN (FORMAT csv, FORCE_NULL (missing))", "42P10"),
        ("COPY t FROM STDIN (FORMAT xml)", "22023"),
        ("BEGIN READ ONLY; COPY t FROM STDIN", "25006"),
        ("COPY t FROM STDIN", "25P02"),
        ("ROLLBACK; SET default_transaction_read_only = on; COPY t FROM STDIN", "25006"),
    ];
    for (sql, code) in cases {
        raw.send(&[(b'Q', format!("{sql}\0").as_bytes())]).await;
        let messages = raw.until('Z').await;
        assert_eq!(first_state(&messages), code, "{sql}");
        assert!(!kinds(&messages).contains('G'), "{sql}: {messages:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_gives_up_writes_nothing() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', b"COPY t FROM STDIN\0"), (b'd', b"1\n2\n"), (b'f', b"no more\0")]).await;
    let messages = raw.until('Z').await;
    assert_eq!(
        (first_state(&messages).as_str(), &*error_field(&messages, 'M')),
        ("57014", "COPY from stdin failed: no more")
    );
    // Another message does not belong here.
    raw.send(&[(b'Q', b"COPY t FROM STDIN\0"), (b'd', b"1\n"), (b'Q', b"SELECT 1\0")]).await;
    assert_eq!(first_state(&raw.until('Z').await), "08P01");
    raw.send(&[(b'Q', b"COPY t FROM STDIN\0"), (b'd', b"1\n"), (b'X', b"")]).await;
    while raw.next().await.is_some() {}
    server.has_connections(0).await;
    let mut gone = Raw::log_in(&server).await;
    gone.send(&[(b'Q', b"COPY t FROM STDIN\0"), (b'd', b"1\n")]).await;
    gone.until('G').await;
    drop(gone);
    server.has_connections(0).await;
    assert_eq!(rows(&server.client().await, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_belong_to_the_transaction() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    let run = |sql: &str| format!("{sql}\0").into_bytes();
    for (after, wanted) in [("ROLLBACK", "0"), ("ROLLBACK TO a; COMMIT", "1"), ("COMMIT", "3")] {
        raw.send(&[(b'Q', &run("BEGIN; UPSERT INTO t VALUES (9); SAVEPOINT a"))]).await;
        raw.until('Z').await;
        assert_eq!(tags(&copy_in(&mut raw, "COPY t FROM STDIN", &[b"1\n2\n"]).await), ["COPY 2"]);
        assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
        raw.send(&[(b'Q', &run(after))]).await;
        raw.until('Z').await;
        assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, [wanted], "{after}");
        server.run("DELETE /*+ FULL_SCAN */ FROM t");
    }
    // An error fails the transaction, which goes on from a savepoint.
    raw.send(&[(b'Q', &run("BEGIN; SAVEPOINT a"))]).await;
    raw.until('Z').await;
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &[b"1\nx\n"]).await;
    assert_eq!(messages.last().unwrap().1, b"E");
    raw.send(&[(b'Q', &run("ROLLBACK TO a"))]).await;
    assert_eq!(raw.until('Z').await.last().unwrap().1, b"T");
    assert_eq!(tags(&copy_in(&mut raw, "COPY t FROM STDIN; COMMIT", &[b"5\n"]).await), ["COPY 1", "COMMIT"]);
    assert_eq!(rows(&client, "SELECT k FROM t WHERE k > 0").await, ["5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_portal_copies_too() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    // Drivers send Sync with Execute, and once more after the data.
    let execute = [
        (b'P', &b"\0COPY t FROM STDIN\0\0\0"[..]),
        (b'B', b"\0\0\0\0\0\0\0\0"),
        (b'D', b"P\0"),
        (b'E', b"\0\0\0\0\0"),
        (b'S', b""),
    ];
    raw.send(&execute).await;
    assert_eq!(kinds(&raw.until('G').await), "12nG");
    raw.send(&[(b'd', b"1\n"), (b'H', b""), (b'd', b"2\n"), (b'c', b""), (b'S', b"")]).await;
    let messages = raw.until('Z').await;
    assert_eq!((kinds(&messages).as_str(), tags(&messages)), ("CZ", vec!["COPY 2".to_owned()]));
    // After an error messages are passed over up to Sync.
    raw.send(&execute).await;
    raw.until('G').await;
    raw.send(&[(b'd', b"x\n"), (b'd', b"3\n"), (b'c', b""), (b'S', b"")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "EZ");
    assert_eq!(copy_out(&mut raw, "COPY t TO STDOUT").await.0, b"1\n2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_keys_are_treated_as_the_statement_says() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'old')");
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    for (options, answer, wanted) in [
        ("(ON_CONFLICT error)", "23505", ["1,old", ""]),
        ("(ON_CONFLICT ignore)", "COPY 1", ["1,old", "2,b"]),
        ("", "COPY 2", ["1,a", "2,b"]),
    ] {
        let messages = copy_in(&mut raw, &format!("COPY t FROM STDIN {options}"), &[b"2\tb\n1\ta\n"]).await;
        let found = tags(&messages).pop().unwrap_or_else(|| first_state(&messages));
        assert_eq!(found, answer, "{options}");
        let wanted: Vec<&str> = wanted.into_iter().filter(|row| !row.is_empty()).collect();
        assert_eq!(rows(&client, "SELECT k, v FROM t WHERE k > 0 ORDER BY k").await, wanted, "{options}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_needs_the_right_to_write_alone() {
    let server = Server::start().await;
    server.run(
        "CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE USER ann PASSWORD 'horse battery'; GRANT UPSERT ON t TO ann",
    );
    let client = server.connect("user=ann password='horse battery'").await.unwrap();
    // The client sends no data by itself, so the COPY fails, after its checks.
    assert_eq!(state(&client, "COPY t TO STDOUT").await, "42501");
    assert!(client.copy_in::<_, bytes::Bytes>("COPY t FROM STDIN").await.is_ok());
    server.run("REVOKE UPSERT ON t FROM ann");
    let refused = client.copy_in::<_, bytes::Bytes>("COPY t FROM STDIN").await;
    assert_eq!(refused.err().unwrap().code().unwrap().code(), "42501");
}
