//! COPY TO STDOUT in PostgreSQL's formats.

use std::time::{Duration, Instant};

use super::{copy_out, error_field};
use crate::raw::{Raw, first_state, kinds, tags};
use crate::{Server, rows};

#[tokio::test(flavor = "multi_thread")]
async fn each_row_is_a_message() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'one'), (2, NULL)");
    let mut raw = Raw::log_in(&server).await;
    let (bytes, messages) = copy_out(&mut raw, "COPY t TO STDOUT").await;
    assert_eq!((kinds(&messages).as_str(), tags(&messages)), ("HddcCZ", vec!["COPY 2".to_owned()]));
    assert_eq!(messages[0].1, b"\0\0\x02\0\0\0\0");
    assert_eq!(bytes, b"1\tone\n2\t\\N\n");
    let (bytes, messages) = copy_out(&mut raw, "COPY t TO STDOUT (FORMAT binary)").await;
    assert_eq!(kinds(&messages), "HdddcCZ");
    assert_eq!(messages[0].1, b"\x01\0\x02\0\x01\0\x01");
    let rows =
        b"\0\x02\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\0\x03one\0\x02\0\0\0\x08\0\0\0\0\0\0\0\x02\xff\xff\xff\xff\xff\xff";
    assert_eq!(bytes, [&b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"[..], rows].concat());
    // No rows.
    server.run("CREATE TABLE empty (k BIGINT PRIMARY KEY)");
    let (bytes, messages) = copy_out(&mut raw, "COPY empty TO STDOUT CSV HEADER").await;
    assert_eq!((bytes, tags(&messages)), (b"k\n".to_vec(), vec!["COPY 0".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_gives_the_rows() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'one'), (2, NULL)");
    let mut raw = Raw::log_in(&server).await;
    for (sql, wanted) in [
        (
            "COPY (SELECT k + 1 AS n, v FROM t WHERE k > 0 ORDER BY k DESC) TO STDOUT CSV HEADER",
            &b"n,v\n3,\n2,one\n"[..],
        ),
        ("COPY (SELECT v FROM t WHERE k = 1) TO STDOUT (FORMAT csv, FORCE_QUOTE *)", b"\"one\"\n"),
        ("COPY (UPSERT INTO t VALUES (5, 'five') RETURNING k) TO STDOUT", b"5\n"),
        ("COPY (SELECT 1, NULL, 'a|b') TO STDOUT DELIMITER '|' NULL 'nil'", b"1|nil|a\\|b\n"),
        ("COPY (SELECT datname FROM pg_database WHERE false) TO STDOUT", b""),
        ("COPY information_schema.schemata TO STDOUT", b""),
    ] {
        let (bytes, messages) = copy_out(&mut raw, sql).await;
        assert!(messages.iter().all(|(kind, _)| *kind != 'E'), "{sql}: {messages:?}");
        if !wanted.is_empty() {
            assert_eq!(bytes, wanted, "{sql}");
        }
    }
    assert_eq!(rows(&server.client().await, "SELECT v FROM t WHERE k = 5").await, ["five"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_comes_in_place_of_the_rows() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'one')");
    let mut raw = Raw::log_in(&server).await;
    for (sql, code, position) in [
        ("COPY missing TO STDOUT", "42P01", ""),
        ("COPY t (missing) TO STDOUT", "42703", ""),
        ("COPY (SELECT missing FROM t) TO STDOUT", "42703", "14"),
        ("SELECT 1; COPY (SELECT missing FROM t) TO STDOUT", "42703", "24"),
        ("COPY (UPSERT INTO t VALUES (5, 'five')) TO STDOUT", "0A000", ""),
        ("COPY (SELECT v FROM t WHERE v = 'x') TO STDOUT", "", ""),
        ("COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE (missing))", "42P10", ""),
    ] {
        let (_, messages) = copy_out(&mut raw, sql).await;
        let found = first_state(&messages);
        assert!(code.is_empty() || found == code, "{sql}: {found}");
        assert!(!kinds(&messages).contains('H'), "{sql}: {messages:?}");
        if !code.is_empty() {
            assert_eq!(error_field(&messages, 'P'), position, "{sql}");
        }
    }
    // An error of a later row ends the stream.
    let (_, messages) = copy_out(&mut raw, "COPY (SELECT 10 / (5 - value) FROM generate_series(1, 5)) TO STDOUT").await;
    assert!(kinds(&messages).ends_with("EZ"), "{messages:?}");
    let (_, messages) = copy_out(&mut raw, "BEGIN; SELECT missing; COPY t TO STDOUT").await;
    assert_eq!(messages.last().unwrap().1, b"E");
    assert_eq!(first_state(&copy_out(&mut raw, "COPY t TO STDOUT").await.1), "25P02");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_stopped() {
    let server = Server::start().await;
    for format in ["text", "json"] {
        let copy = format!("COPY (SELECT value FROM generate_series(1, 10000000000)) TO STDOUT (FORMAT {format})\0");
        let mut raw = Raw::log_in(&server).await;
        raw.send(&[(b'Q', b"SET statement_timeout = 300\0")]).await;
        raw.until('Z').await;
        raw.send(&[(b'Q', copy.as_bytes())]).await;
        let start = Instant::now();
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(first_state(&raw.until('Z').await), "57014", "{format}");
        assert!(start.elapsed() < Duration::from_secs(10), "{format}");
        raw.send(&[(b'Q', b"SET statement_timeout = 0\0"), (b'Q', copy.as_bytes())]).await;
        raw.until('d').await;
        drop(raw);
        server.has_connections(0).await;
    }
}
