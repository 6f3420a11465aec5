//! Cursors of SQL, and portals that give some rows at a time.

use crate::raw::{Raw, kinds, tags};
use crate::{Server, rows, state};

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_gives_rows_in_parts() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2), (3), (4), (5), (6)");
    let client = server.client().await;
    assert_eq!(state(&client, "DECLARE c CURSOR FOR SELECT k FROM t WHERE k > 0").await, "25P01");
    client.simple_query("BEGIN").await.unwrap();
    client.simple_query("DECLARE c CURSOR FOR SELECT k FROM t WHERE k > 0 ORDER BY k").await.unwrap();
    // Rows that come later are not the cursor's.
    client.simple_query("INSERT INTO t VALUES (7)").await.unwrap();
    assert_eq!(rows(&client, "FETCH 2 FROM c").await, ["1", "2"]);
    assert_eq!(rows(&client, "FETCH NEXT FROM c").await, ["3"]);
    client.simple_query("MOVE 1 IN c").await.unwrap();
    assert_eq!(rows(&client, "FETCH ALL FROM c").await, ["5", "6"]);
    assert_eq!(rows(&client, "FETCH 5 c").await, [""; 0]);
    client.simple_query("CLOSE c").await.unwrap();
    assert_eq!(state(&client, "FETCH c").await, "34000");
    client.simple_query("ROLLBACK").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_query_of_a_cursor_takes_parameters() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2), (3), (4)");
    let client = server.client().await;
    assert_eq!(state(&client, "BEGIN; DECLARE c CURSOR FOR SELECT k FROM t WHERE k > $1").await, "42P02");
    client.simple_query("ROLLBACK; BEGIN").await.unwrap();
    client.execute("DECLARE c CURSOR FOR SELECT k FROM t WHERE k > $1 ORDER BY k", &[&2_i64]).await.unwrap();
    assert_eq!(rows(&client, "FETCH ALL FROM c").await, ["3", "4"]);
    client.simple_query("COMMIT").await.unwrap();
    let outside = client.execute("DECLARE c CURSOR FOR SELECT $1::BIGINT", &[&1_i64]).await.unwrap_err();
    assert_eq!(outside.code().unwrap().code(), "25P01");
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_end_with_their_transaction() {
    let server = Server::start().await;
    let client = server.client().await;
    client.simple_query("BEGIN").await.unwrap();
    client.simple_query("DECLARE c CURSOR FOR SELECT 1").await.unwrap();
    assert_eq!(state(&client, "DECLARE c CURSOR FOR SELECT 1").await, "42P03");
    client.simple_query("ROLLBACK").await.unwrap();
    client.simple_query("BEGIN").await.unwrap();
    assert_eq!(state(&client, "FETCH c").await, "34000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_portal_is_suspended_after_its_rows() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2), (3), (4)");
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', b"BEGIN\0")]).await;
    raw.until('Z').await;
    raw.send(&[
        (b'P', b"\0SELECT k FROM t WHERE k > 0\0\0\0"),
        (b'B', b"p\0\0\0\0\0\0\0\0"),
        (b'E', b"p\0\0\0\0\x02"),
        (b'E', b"p\0\0\0\0\x02"),
        (b'E', b"p\0\0\0\0\x02"),
        (b'S', b""),
    ])
    .await;
    let messages = raw.until('Z').await;
    // Two rows, two rows, and then none: as many rows as wanted suspend the portal even if they are the last ones.
    assert_eq!(kinds(&messages), "12DDsDDsCZ");
    assert_eq!(tags(&messages), ["SELECT 0"]);
    raw.send(&[(b'Q', b"COMMIT\0")]).await;
    raw.until('Z').await;
    raw.send(&[(b'E', b"p\0\0\0\0\0"), (b'S', b"")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "EZ");
}
